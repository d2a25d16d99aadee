package main

import (
	"sigs.k8s.io/kustomize/api/types"
)

// fluxInstance holds the fields that the objects depend on.
type fluxInstance struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       spec     `json:"spec"`
}

type metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

type spec struct {
	Distribution   distribution    `json:"distribution"`
	Components     []string        `json:"components"`
	CommonMetadata *commonMetadata `json:"commonMetadata"`
	Cluster        cluster         `json:"cluster"`
	Sharding       *sharding       `json:"sharding"`
	Storage        *storage        `json:"storage"`
	Kustomize      kustomize       `json:"kustomize"`
	Sync           *sync           `json:"sync"`
	Wait           *bool           `json:"wait"`
	Migrate        *bool           `json:"migrateResources"`
}

type distribution struct {
	Version         string `json:"version"`
	Registry        string `json:"registry"`
	Variant         string `json:"variant"`
	ImagePullSecret string `json:"imagePullSecret"`
}

type commonMetadata struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type cluster struct {
	Domain                                string `json:"domain"`
	Type                                  string `json:"type"`
	Size                                  string `json:"size"`
	NetworkPolicy                         bool   `json:"networkPolicy"`
	Multitenant                           bool   `json:"multitenant"`
	TenantDefaultServiceAccount           string `json:"tenantDefaultServiceAccount"`
	ObjectLevelWorkloadIdentity           bool   `json:"objectLevelWorkloadIdentity"`
	MultitenantWorkloadIdentity           bool   `json:"multitenantWorkloadIdentity"`
	TenantDefaultDecryptionServiceAccount string `json:"tenantDefaultDecryptionServiceAccount"`
	TenantDefaultKubeConfigServiceAccount string `json:"tenantDefaultKubeConfigServiceAccount"`
}

type sharding struct {
	Key     string   `json:"key"`
	Shards  []string `json:"shards"`
	Storage string   `json:"storage"`
}

type storage struct {
	Class string `json:"class"`
	Size  string `json:"size"`
}

type kustomize struct {
	Patches []types.Patch `json:"patches"`
}

type sync struct {
	Name       string `json:"name"`
	Interval   string `json:"interval"`
	Kind       string `json:"kind"`
	URL        string `json:"url"`
	Ref        string `json:"ref"`
	Path       string `json:"path"`
	PullSecret string `json:"pullSecret"`
	Provider   string `json:"provider"`
}

// newInstance has the defaults of the API; what a document names replaces them.
func newInstance() *fluxInstance {
	return &fluxInstance{Spec: spec{
		Components: []string{"source-controller", "kustomize-controller", "helm-controller", "notification-controller"},
		Cluster: cluster{
			Domain:                                "cluster.local",
			Type:                                  "kubernetes",
			NetworkPolicy:                         true,
			TenantDefaultServiceAccount:           "default",
			TenantDefaultDecryptionServiceAccount: "default",
			TenantDefaultKubeConfigServiceAccount: "default",
		},
	}}
}
