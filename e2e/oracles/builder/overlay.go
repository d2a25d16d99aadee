package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// root is the folder of the overlay in the in-memory file system.
const root = "/overlay"

// defaultNamespace is the one that the released manifests are written for.
const defaultNamespace = "flux-system"

// install is an instance with a version: all that the overlay is written from.
type install struct {
	spec
	name         string
	namespace    string
	distribution string
	version      string
	minor        uint64
	files        filesys.FileSystem
}

func newInstall(instance *fluxInstance, distribution, version string) (*install, error) {
	parsed, err := semver.NewVersion(version)
	if err != nil {
		return nil, err
	}
	i := &install{
		spec:         instance.Spec,
		name:         instance.Metadata.Name,
		namespace:    instance.Metadata.Namespace,
		distribution: distribution,
		version:      version,
		minor:        parsed.Minor(),
		files:        filesys.MakeFsInMemory(),
	}
	return i, i.refuse()
}

// refuse names what this version cannot do.
func (i *install) refuse() error {
	c := i.Cluster
	switch {
	case c.ObjectLevelWorkloadIdentity && i.minor < 6:
		return fmt.Errorf("objectLevelWorkloadIdentity needs Flux 2.6")
	case c.MultitenantWorkloadIdentity && i.minor < 7:
		return fmt.Errorf("multitenantWorkloadIdentity needs Flux 2.7")
	case c.MultitenantWorkloadIdentity && !c.ObjectLevelWorkloadIdentity:
		return fmt.Errorf("multitenantWorkloadIdentity needs objectLevelWorkloadIdentity")
	case i.Sync != nil && i.Sync.Kind == "GitRepository" && i.Sync.Provider == "aws" && i.minor < 9:
		return fmt.Errorf("provider aws of a GitRepository needs Flux 2.9")
	case i.selected("source-watcher") && i.minor < 7:
		return fmt.Errorf("source-watcher needs Flux 2.7")
	case i.persistentShards() && i.Storage == nil:
		return fmt.Errorf("persistent shards need storage")
	}
	return nil
}

func (i *install) kustomize() ([]object, error) {
	if err := i.write(); err != nil {
		return nil, err
	}
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	result, err := krusty.MakeKustomizer(options).Run(i.files, root)
	if err != nil {
		return nil, err
	}
	var objects []object
	for _, resource := range result.Resources() {
		text, err := resource.MarshalJSON()
		if err != nil {
			return nil, err
		}
		objects = append(objects, decode(text))
	}
	return objects, nil
}

// write puts the whole overlay into the file system.
func (i *install) write() error {
	if err := i.copyManifests(); err != nil {
		return err
	}
	i.put("namespace.yaml", map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{
			"name":        i.namespace,
			"labels":      map[string]any{"pod-security.kubernetes.io/warn": "restricted", "pod-security.kubernetes.io/warn-version": "latest"},
			"annotations": map[string]any{"fluxcd.controlplane.io/prune": "disabled"},
		},
	})
	i.put("labels.yaml", map[string]any{
		"apiVersion": "builtin", "kind": "LabelTransformer", "metadata": map[string]any{"name": "labels"},
		"labels": map[string]any{
			"app.kubernetes.io/managed-by": "flux-operator",
			"app.kubernetes.io/instance":   i.namespace,
			"app.kubernetes.io/version":    i.version,
			"app.kubernetes.io/part-of":    "flux",
		},
		"fieldSpecs": []any{map[string]any{"path": "metadata/labels", "create": true}},
	})
	i.put("annotations.yaml", map[string]any{
		"apiVersion": "builtin", "kind": "AnnotationsTransformer", "metadata": map[string]any{"name": "annotations"},
		"annotations": map[string]any{
			"kustomize.toolkit.fluxcd.io/ssa":   "Ignore",
			"kustomize.toolkit.fluxcd.io/prune": "Disabled",
		},
		"fieldSpecs": []any{map[string]any{"path": "metadata/annotations", "create": true}},
	})
	i.put("roles/kustomization.yaml", map[string]any{
		"resources": []any{"rbac.yaml"}, "nameSuffix": "-" + i.namespace,
	})
	resources := []string{"namespace.yaml"}
	if i.Cluster.NetworkPolicy {
		resources = append(resources, "policies.yaml")
	}
	resources = append(resources, "roles")
	for _, component := range i.Components {
		resources = append(resources, component+".yaml")
	}
	for _, shard := range i.shards() {
		i.writeShard(shard)
		resources = append(resources, "shard-"+shard)
	}
	if i.Storage != nil {
		i.put("pvc.yaml", i.volumeClaim())
		resources = append(resources, "pvc.yaml")
	}
	if i.Sync != nil {
		i.put("sync-source.yaml", i.syncSource())
		i.put("sync-kustomization.yaml", i.syncKustomization())
		resources = append(resources, "sync-source.yaml", "sync-kustomization.yaml")
	}
	i.put("kustomization.yaml", map[string]any{
		"resources":    resources,
		"namespace":    i.namespace,
		"transformers": []any{"annotations.yaml", "labels.yaml"},
		"images":       i.images(),
		"patches":      i.patches(),
	})
	return nil
}

// copyManifests takes the released files; the role bindings name the namespace where kustomize does not look.
func (i *install) copyManifests() error {
	files, err := filepath.Glob(filepath.Join(i.distribution, "flux", i.version, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name := filepath.Base(file)
		if name == "rbac.yaml" {
			text = bytes.ReplaceAll(text, []byte(defaultNamespace), []byte(i.namespace))
			name = "roles/rbac.yaml"
		}
		check(i.files.WriteFile(path.Join(root, name), text))
	}
	return nil
}

func (i *install) put(name string, content any) {
	text, err := json.Marshal(content)
	check(err)
	check(i.files.WriteFile(path.Join(root, name), text))
}

func (i *install) selected(component string) bool {
	return slices.Contains(i.Components, component)
}

// shardable lists the selected controllers that shards have a copy of.
func (i *install) shardable() []string {
	var result []string
	for _, component := range i.Components {
		if component == "notification-controller" || component == "source-watcher" && i.minor < 9 {
			continue
		}
		result = append(result, component)
	}
	return result
}

func (i *install) shards() []string {
	if i.Sharding == nil {
		return nil
	}
	return i.Sharding.Shards
}

func (i *install) shardKey() string {
	if i.Sharding.Key == "" {
		return "sharding.fluxcd.io/key"
	}
	return i.Sharding.Key
}

func (i *install) persistentShards() bool {
	return i.Sharding != nil && i.Sharding.Storage == "persistent"
}

func (i *install) volumeClaim() map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "source-controller"},
		"spec": map[string]any{
			"accessModes":      []any{"ReadWriteOnce"},
			"storageClassName": i.Storage.Class,
			"resources":        map[string]any{"requests": map[string]any{"storage": i.Storage.Size}},
		},
	}
}

func (i *install) storageAddress(service string) string {
	return fmt.Sprintf("--storage-adv-addr=%s.$(RUNTIME_NAMESPACE).svc.%s.", service, i.Cluster.Domain)
}

func (i *install) eventsAddress() string {
	if !i.selected("notification-controller") {
		return "--events-addr="
	}
	return fmt.Sprintf("--events-addr=http://notification-controller.%s.svc.%s./", i.namespace, i.Cluster.Domain)
}

// oneOf is the regular expression of a patch target for several names.
func oneOf(names ...string) string {
	return "(" + strings.Join(names, "|") + ")"
}
