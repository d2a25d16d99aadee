package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// knownVariants are the registries whose variant needs no naming.
var knownVariants = map[string]string{
	"fluxcd":                                        "upstream-alpine",
	"ghcr.io/fluxcd":                                "upstream-alpine",
	"ghcr.io/controlplaneio-fluxcd/alpine":          "enterprise-alpine",
	"ghcr.io/controlplaneio-fluxcd/distroless":      "enterprise-distroless",
	"ghcr.io/controlplaneio-fluxcd/distroless-fips": "enterprise-distroless-fips",
}

type image struct {
	Name    string `json:"name"`
	NewName string `json:"newName,omitempty"`
	NewTag  string `json:"newTag,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// images moves every component to the registry, with the tag and digest of the variant or else with the tag of
// its manifest.
func (i *install) images() []image {
	registry := strings.TrimRight(i.Distribution.Registry, "/")
	if registry == "" {
		return nil
	}
	listed := i.listedImages(registry)
	var images []image
	for _, component := range i.Components {
		entry, ok := listed[component]
		if !ok {
			entry = image{NewTag: i.manifestTag(component)}
		}
		images = append(images, image{Name: "fluxcd/" + component, NewName: registry + "/" + component, NewTag: entry.NewTag, Digest: entry.Digest})
	}
	return images
}

// listedImages is empty unless the list of the variant is there and long enough.
func (i *install) listedImages(registry string) map[string]image {
	variant := i.Distribution.Variant
	if variant == "" {
		variant = knownVariants[registry]
	}
	text, err := os.ReadFile(filepath.Join(i.distribution, "flux-images", i.version, variant+".yaml"))
	if variant == "" || err != nil {
		return nil
	}
	var list struct {
		Images []image `json:"images"`
	}
	check(yaml.Unmarshal(text, &list))
	if len(list.Images) < len(i.Components) {
		return nil
	}
	images := map[string]image{}
	for _, entry := range list.Images {
		images[path.Base(entry.Name)] = entry
	}
	return images
}

func (i *install) manifestTag(component string) string {
	text, err := os.ReadFile(filepath.Join(i.distribution, "flux", i.version, component+".yaml"))
	check(err)
	match := regexp.MustCompile(`image: fluxcd/` + component + `:(\S+)`).FindSubmatch(text)
	return string(match[1])
}
