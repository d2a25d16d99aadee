package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
)

// object is a Kubernetes object; numbers keep their text.
type object map[string]any

func decode(text []byte) object {
	var o object
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	check(decoder.Decode(&o))
	return o
}

// canonical is JSON with sorted keys and without blanks.
func canonical(o object) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(o))
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}

func (o object) kind() string { return o["kind"].(string) }

func (o object) metadata(field string) string {
	value, _ := o["metadata"].(map[string]any)[field].(string)
	return value
}

func (o object) id() string {
	return o.kind() + "/" + o.metadata("namespace") + "/" + o.metadata("name")
}

// finish does what follows kustomize: the labels of the owner, then the common metadata over all else.
func finish(objects []object, instance *fluxInstance) []object {
	for _, o := range objects {
		o.merge("labels", map[string]string{
			"fluxcd.controlplane.io/name":      instance.Metadata.Name,
			"fluxcd.controlplane.io/namespace": instance.Metadata.Namespace,
		})
		if common := instance.Spec.CommonMetadata; common != nil {
			o.merge("labels", common.Labels)
			o.merge("annotations", common.Annotations)
		}
		if o.kind() == "CustomResourceDefinition" {
			o.dropDescriptions()
		}
	}
	slices.SortFunc(objects, func(a, b object) int {
		return cmp.Or(cmp.Compare(a.kind(), b.kind()),
			cmp.Compare(a.metadata("namespace"), b.metadata("namespace")), cmp.Compare(a.metadata("name"), b.metadata("name")))
	})
	return objects
}

func (o object) merge(field string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	metadata := o["metadata"].(map[string]any)
	entries, ok := metadata[field].(map[string]any)
	if !ok {
		entries = map[string]any{}
		metadata[field] = entries
	}
	for key, value := range values {
		entries[key] = value
	}
}

// dropDescriptions drops the prose of the schemas: it is not compared.
func (o object) dropDescriptions() {
	versions, _ := o["spec"].(map[string]any)["versions"].([]any)
	for _, version := range versions {
		if schema, ok := version.(map[string]any)["schema"].(map[string]any); ok {
			dropDescription(schema["openAPIV3Schema"])
		}
	}
}

// dropDescription walks what is a schema; a property may well be called `description`.
func dropDescription(schema any) {
	fields, ok := schema.(map[string]any)
	if !ok {
		return
	}
	delete(fields, "description")
	for name, value := range fields {
		switch name {
		case "properties", "patternProperties", "definitions", "dependencies":
			named, _ := value.(map[string]any)
			for _, inner := range named {
				dropDescription(inner)
			}
		case "allOf", "anyOf", "oneOf":
			for _, inner := range value.([]any) {
				dropDescription(inner)
			}
		case "items":
			if list, ok := value.([]any); ok {
				for _, inner := range list {
					dropDescription(inner)
				}
				continue
			}
			dropDescription(value)
		case "additionalProperties", "additionalItems", "not":
			dropDescription(value)
		}
	}
}
