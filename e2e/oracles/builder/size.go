package main

import "fmt"

// profile is a row of the table of sizes.
type profile struct {
	concurrency       int
	requeueDependency string
	cacheSize         int
	sourceConcurrency int
	resources         []podResources
}

// podResources are those of the containers of some controllers.
type podResources struct {
	name                      string
	requestCPU, requestMemory string
	limitCPU, limitMemory     string
}

var profiles = map[string]profile{
	"small": {5, "10s", 10, 0, []podResources{
		{".*", "100m", "64Mi", "1000m", "512Mi"},
	}},
	"medium": {10, "5s", 50, 5, []podResources{
		{oneOf("kustomize-controller", "helm-controller", "source-controller"), "100m", "128Mi", "2000m", "1Gi"},
	}},
	"large": {20, "5s", 100, 10, []podResources{
		{oneOf("kustomize-controller", "helm-controller"), "100m", "256Mi", "3000m", "3Gi"},
		{"source-controller", "100m", "256Mi", "2000m", "2Gi"},
	}},
}

func (i *install) patchSize(p *patchList) {
	p.merge(target{Kind: "Deployment"}, deployment(map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{
		"labels":      map[string]any{"app.kubernetes.io/part-of": "flux"},
		"annotations": map[string]any{"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
	}}}}))
	size, ok := profiles[i.Cluster.Size]
	if !ok {
		return
	}
	p.merge(target{Kind: "Deployment"}, deployment(map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{"fluxcd.controlplane.io/profile": i.Cluster.Size},
	}}))
	for _, r := range size.resources {
		p.json(target{Kind: "Deployment", Name: r.name}, replace("/spec/template/spec/containers/0/resources", map[string]any{
			"requests": map[string]any{"cpu": r.requestCPU, "memory": r.requestMemory},
			"limits":   map[string]any{"cpu": r.limitCPU, "memory": r.limitMemory},
		}))
	}
	p.appendArguments(oneOf("kustomize-controller", "helm-controller"),
		fmt.Sprintf("--concurrent=%d", size.concurrency), "--requeue-dependency="+size.requeueDependency)
	arguments := []string{fmt.Sprintf("--helm-cache-max-size=%d", size.cacheSize), "--helm-cache-ttl=720m", "--helm-cache-purge-interval=60m"}
	if size.sourceConcurrency > 0 {
		arguments = append(arguments, fmt.Sprintf("--concurrent=%d", size.sourceConcurrency))
	}
	p.appendArguments("source-controller", arguments...)
}
