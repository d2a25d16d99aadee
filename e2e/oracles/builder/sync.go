package main

// intervals that the API fixes or defaults to.
const (
	defaultSourceInterval = "1m"
	kustomizationInterval = "10m"
)

func (i *install) syncName() string {
	if i.Sync.Name != "" {
		return i.Sync.Name
	}
	return i.namespace
}

func (i *install) syncSource() map[string]any {
	s := i.Sync
	version := "v1"
	if s.Kind != "GitRepository" && i.minor < 6 {
		version = "v1beta2"
	}
	interval := s.Interval
	if interval == "" {
		interval = defaultSourceInterval
	}
	spec := map[string]any{"interval": interval}
	switch s.Kind {
	case "GitRepository":
		spec["url"], spec["ref"] = s.URL, map[string]any{"name": s.Ref}
	case "OCIRepository":
		spec["url"], spec["ref"] = s.URL, map[string]any{"tag": s.Ref}
	case "Bucket":
		spec["endpoint"], spec["bucketName"] = s.URL, s.Ref
	}
	if s.PullSecret != "" {
		spec["secretRef"] = map[string]any{"name": s.PullSecret}
	}
	if s.Provider != "" {
		spec["provider"] = s.Provider
	}
	return map[string]any{
		"apiVersion": "source.toolkit.fluxcd.io/" + version, "kind": s.Kind,
		"metadata": map[string]any{"name": i.syncName(), "namespace": i.namespace}, "spec": spec,
	}
}

func (i *install) syncKustomization() map[string]any {
	return map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": i.syncName(), "namespace": i.namespace},
		"spec": map[string]any{
			"interval": kustomizationInterval, "prune": true, "path": i.Sync.Path,
			"sourceRef": map[string]any{"kind": i.Sync.Kind, "name": i.syncName()},
		},
	}
}
