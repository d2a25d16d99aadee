package main

import (
	"encoding/json"

	"sigs.k8s.io/kustomize/api/types"
)

// patchList is the `patches` of a kustomization, in order.
type patchList []any

// target selects the objects of a patch; names are anchored regular expressions.
type target struct {
	Group              string `json:"group,omitempty"`
	Kind               string `json:"kind,omitempty"`
	Name               string `json:"name,omitempty"`
	AnnotationSelector string `json:"annotationSelector,omitempty"`
}

// operation is one step of a JSON 6902 patch.
type operation map[string]any

func add(path string, value any) operation {
	return operation{"op": "add", "path": path, "value": value}
}

func replace(path string, value any) operation {
	return operation{"op": "replace", "path": path, "value": value}
}

func remove(path string) operation {
	return operation{"op": "remove", "path": path}
}

func (p *patchList) json(where target, operations ...operation) {
	p.append(where, operations)
}

func (p *patchList) merge(where target, patch map[string]any) {
	p.append(where, patch)
}

// appendArguments appends to the arguments of the Deployments with that name, those of shards included: kustomize
// matches original names too.
func (p *patchList) appendArguments(name string, arguments ...string) {
	p.appendArgumentsWhere(target{Kind: "Deployment", Name: name}, arguments...)
}

func (p *patchList) appendArgumentsWhere(where target, arguments ...string) {
	var operations []operation
	for _, argument := range arguments {
		operations = append(operations, add("/spec/template/spec/containers/0/args/-", argument))
	}
	p.json(where, operations...)
}

func (p *patchList) user(patches []types.Patch) {
	for _, patch := range patches {
		*p = append(*p, patch)
	}
}

func (p *patchList) append(where target, patch any) {
	text, err := json.Marshal(patch)
	check(err)
	*p = append(*p, map[string]any{"target": where, "patch": string(text)})
}
