package main

import "slices"

// writeShard writes the sub-kustomization of one shard: copies of the controllers that share all but their
// Deployment and Service with the main ones.
func (i *install) writeShard(shard string) {
	folder := "shard-" + shard + "/"
	var resources []string
	var patches patchList
	for _, kind := range []string{
		"Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "ServiceAccount", "NetworkPolicy", "ResourceQuota",
	} {
		patches.merge(target{Kind: kind}, map[string]any{
			"$patch": "delete", "apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "all"},
		})
	}
	for _, component := range i.shardable() {
		resources = append(resources, "../"+component+".yaml")
		name := component + "-" + shard
		patches.json(target{Kind: "Service", Name: component}, replace("/spec/selector/app", name))
		patches.json(target{Kind: "Deployment", Name: component},
			replace("/spec/selector/matchLabels/app", name),
			replace("/spec/template/metadata/labels/app", name))
		if component == "source-controller" || component == "source-watcher" {
			patches.appendArguments(component, i.storageAddress(name))
		}
	}
	if i.persistentShards() && slices.Contains(i.shardable(), "source-controller") {
		i.put(folder+"pvc.yaml", i.volumeClaim())
		resources = append(resources, "pvc.yaml")
		volume := "persistent-data-" + shard
		patches.json(target{Kind: "Deployment", Name: "source-controller"},
			replace("/spec/template/spec/volumes/0", claimedVolume(volume, "source-controller-"+shard)),
			replace("/spec/template/spec/containers/0/volumeMounts/0", dataMount(volume)))
	}
	patches.appendArguments(".*", "--watch-label-selector="+i.shardKey()+"="+shard)
	i.put(folder+"kustomization.yaml", map[string]any{
		"resources":         resources,
		"nameSuffix":        "-" + shard,
		"commonAnnotations": map[string]any{shardRole: "shard"},
		"patches":           patches,
	})
}

// shardRole is the annotation that tells the objects of shards from the main ones.
const shardRole = "sharding.fluxcd.io/role"

func claimedVolume(name, claim string) map[string]any {
	return map[string]any{"name": name, "persistentVolumeClaim": map[string]any{"claimName": claim}}
}

func dataMount(volume string) map[string]any {
	return map[string]any{"name": volume, "mountPath": "/data"}
}
