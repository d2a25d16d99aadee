package main

import (
	"fmt"
	"strings"
)

// patches are those of the root kustomization, in the order of application.
func (i *install) patches() patchList {
	var p patchList
	i.patchPods(&p)
	i.patchArguments(&p)
	i.patchStorage(&p)
	if len(i.shards()) > 0 {
		p.appendArgumentsWhere(
			target{Kind: "Deployment", Name: oneOf(i.shardable()...), AnnotationSelector: "!" + shardRole},
			"--watch-label-selector=!"+i.shardKey())
	}
	i.patchClusterType(&p)
	i.patchSize(&p)
	i.patchTenancy(&p)
	if i.selected("source-watcher") {
		p.appendArguments(oneOf("kustomize-controller", "helm-controller"), "--feature-gates=ExternalArtifact=true")
	}
	i.patchNotification(&p)
	i.patchWorkloadIdentity(&p)
	p.user(i.Kustomize.Patches)
	return p
}

func (i *install) patchPods(p *patchList) {
	pod := map[string]any{"nodeSelector": map[string]any{"kubernetes.io/os": "linux"}}
	if secret := i.Distribution.ImagePullSecret; secret != "" {
		pod["imagePullSecrets"] = []any{map[string]any{"name": secret}}
	}
	p.merge(target{Kind: "Deployment"}, deployment(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": pod}}}))
}

func (i *install) patchArguments(p *patchList) {
	const path = "/spec/template/spec/containers/0/args/"
	for _, component := range i.Components {
		arguments := []string{i.eventsAddress(), "--watch-all-namespaces=true", "--log-level=info"}
		if component == "notification-controller" {
			arguments = arguments[1:]
		}
		var operations []operation
		for index, argument := range arguments {
			operations = append(operations, replace(fmt.Sprint(path, index), argument))
		}
		if component == "source-controller" || component == "source-watcher" {
			operations = append(operations, replace(path+"6", i.storageAddress(component)))
		}
		p.json(target{Kind: "Deployment", Name: component}, operations...)
	}
}

func (i *install) patchStorage(p *patchList) {
	if i.Storage == nil {
		return
	}
	const volume = "persistent-data"
	p.json(target{Kind: "Deployment", Name: "source-controller", AnnotationSelector: "!" + shardRole},
		add("/spec/template/spec/volumes/-", claimedVolume(volume, "source-controller")),
		replace("/spec/template/spec/containers/0/volumeMounts/0", dataMount(volume)))
}

func (i *install) patchClusterType(p *patchList) {
	if i.Cluster.Type != "openshift" {
		return
	}
	const container = "/spec/template/spec/containers/0/securityContext/"
	p.json(target{Kind: "Deployment"},
		remove("/spec/template/spec/securityContext"), remove(container+"seccompProfile"), remove(container+"runAsNonRoot"))
	p.json(target{Kind: "Namespace"},
		remove("/metadata/labels/pod-security.kubernetes.io~1warn"), remove("/metadata/labels/pod-security.kubernetes.io~1warn-version"))
}

func (i *install) patchTenancy(p *patchList) {
	if !i.Cluster.Multitenant {
		return
	}
	p.appendArguments(oneOf("kustomize-controller", "helm-controller", "notification-controller", "image-reflector-controller",
		"image-automation-controller", "source-watcher"), "--no-cross-namespace-refs=true")
	p.appendArguments("kustomize-controller", "--no-remote-bases=true")
	p.appendArguments(oneOf("kustomize-controller", "helm-controller"), "--default-service-account="+i.Cluster.TenantDefaultServiceAccount)
	p.json(target{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}, add("/spec/serviceAccountName", "kustomize-controller"))
}

// patchNotification lets alerts and receivers name the kinds of the operator, in all versions of their schemas.
func (i *install) patchNotification(p *patchList) {
	if !i.selected("notification-controller") {
		return
	}
	versions := 1
	if i.minor <= 8 {
		versions = 2
	}
	if i.minor <= 6 {
		versions = 3
	}
	for _, crd := range [][2]string{{"alerts", "eventSources"}, {"receivers", "resources"}} {
		var operations []operation
		for version := range versions {
			path := fmt.Sprintf("/spec/versions/%d/schema/openAPIV3Schema/properties/spec/properties/%s/items/properties/kind/enum/-", version, crd[1])
			for _, kind := range []string{"FluxInstance", "ResourceSet", "ResourceSetInputProvider"} {
				operations = append(operations, add(path, kind))
			}
		}
		p.json(target{Kind: "CustomResourceDefinition", Name: strings.ReplaceAll(crd[0]+".notification.toolkit.fluxcd.io", ".", `\.`)}, operations...)
	}
	p.json(i.controllerRole(), add("/rules/-", map[string]any{
		"apiGroups": []any{"fluxcd.controlplane.io"}, "resources": []any{"*"}, "verbs": []any{"*"},
	}))
}

func (i *install) patchWorkloadIdentity(p *patchList) {
	c := i.Cluster
	if i.minor < 6 {
		return
	}
	gated := []string{"source-controller", "kustomize-controller", "notification-controller", "image-reflector-controller", "image-automation-controller"}
	rule := "/rules/10"
	if i.minor >= 7 {
		gated = append(gated, "helm-controller")
		rule = "/rules/11"
	}
	if c.ObjectLevelWorkloadIdentity || i.minor >= 7 {
		p.appendArguments(oneOf(gated...), fmt.Sprintf("--feature-gates=ObjectLevelWorkloadIdentity=%t", c.ObjectLevelWorkloadIdentity))
	}
	if !c.ObjectLevelWorkloadIdentity {
		p.json(i.controllerRole(), remove(rule))
	}
	if c.MultitenantWorkloadIdentity {
		p.appendArguments(oneOf("source-controller", "notification-controller", "image-reflector-controller", "image-automation-controller"),
			"--default-service-account="+c.TenantDefaultServiceAccount)
		p.appendArguments("kustomize-controller", "--default-decryption-service-account="+c.TenantDefaultDecryptionServiceAccount)
		p.appendArguments(oneOf("kustomize-controller", "helm-controller"), "--default-kubeconfig-service-account="+c.TenantDefaultKubeConfigServiceAccount)
	}
}

func (i *install) controllerRole() target {
	return target{Kind: "ClusterRole", Name: "crd-controller-" + i.namespace}
}

// deployment is a strategic merge patch for all Deployments that its target selects.
func deployment(content map[string]any) map[string]any {
	content["apiVersion"] = "apps/v1"
	content["kind"] = "Deployment"
	if content["metadata"] == nil {
		content["metadata"] = map[string]any{}
	}
	content["metadata"].(map[string]any)["name"] = "all"
	return content
}
