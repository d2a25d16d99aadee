package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// caseFile is one family of cases. A case that names no objects or no target has those of the family.
type caseFile struct {
	Objects []map[string]any `json:"objects"`
	Target  *map[string]any  `json:"target"`
	Cases   []inputCase      `json:"cases"`
}

type inputCase struct {
	Name    string           `json:"name"`
	Objects []map[string]any `json:"objects"`
	// Extra objects after the family's.
	More []map[string]any `json:"more"`
	// Operations of one JSON 6902 patch on the target.
	Ops []any `json:"ops"`
	// Text of one patch on the target; `untargeted` is one without.
	Text       string          `json:"text"`
	Untargeted string          `json:"untargeted"`
	Patches    []patch         `json:"patches"`
	Target     *map[string]any `json:"target"`
	Base       *base           `json:"base"`
	transforms `json:",inline"`
}

// base is a kustomization of its own, whose result is added to the objects of the case.
type base struct {
	Objects []map[string]any `json:"objects"`
	Patches []patch          `json:"patches,omitempty"`
	transforms
}

type transforms struct {
	Namespace         string            `json:"namespace,omitempty"`
	NameSuffix        string            `json:"nameSuffix,omitempty"`
	Labels            []labels          `json:"labels,omitempty"`
	CommonAnnotations map[string]string `json:"commonAnnotations,omitempty"`
	Images            []map[string]any  `json:"images,omitempty"`
}

type labels struct {
	Pairs            map[string]string `json:"pairs"`
	IncludeTemplates bool              `json:"includeTemplates,omitempty"`
}

type patch struct {
	Patch  string          `json:"patch"`
	Target *map[string]any `json:"target,omitempty"`
}

// vectorFile holds the objects of the family once; a vector has its own only if they differ.
type vectorFile struct {
	objects []map[string]any
	vectors []vector
}

type vector struct {
	Name    string           `json:"name"`
	Objects []map[string]any `json:"objects,omitempty"`
	Base    *base            `json:"base,omitempty"`
	Patches []patch          `json:"patches,omitempty"`
	transforms
	// The objects that come out; a number stands for the input object in that place, unchanged.
	Result []any    `json:"result,omitempty"`
	Error  *failure `json:"error,omitempty"`
}

type failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

func writeVectors(cases, out string) error {
	files, err := filepath.Glob(filepath.Join(cases, "*.yaml"))
	if err != nil {
		return err
	}
	total := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var family caseFile
		if err := yaml.UnmarshalStrict(text, &family); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		vectors := vectorFile{objects: family.Objects}
		for _, c := range family.Cases {
			v, err := answer(family, c)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", file, c.Name, err)
			}
			vectors.vectors = append(vectors.vectors, v)
		}
		total += len(vectors.vectors)
		name := strings.TrimSuffix(filepath.Base(file), ".yaml") + ".json"
		if err := os.WriteFile(filepath.Join(out, name), oneALine(vectors), 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d vectors in %d files\n", total, len(files))
	return nil
}

// oneALine keeps a change of one answer a change of one line.
func oneALine(file vectorFile) []byte {
	var b bytes.Buffer
	b.WriteString("{\"objects\": ")
	writeLine(&b, file.objects)
	b.WriteString(", \"vectors\": [\n")
	for i, v := range file.vectors {
		writeLine(&b, v)
		if i+1 < len(file.vectors) {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("]}\n")
	return b.Bytes()
}

func writeLine(b *bytes.Buffer, value any) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	b.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
}

func answer(family caseFile, c inputCase) (vector, error) {
	v := vector{Name: c.Name, Base: c.Base, Patches: c.Patches, transforms: c.transforms}
	objects := c.Objects
	if objects == nil {
		objects = family.Objects
	}
	objects = append(append([]map[string]any{}, objects...), c.More...)
	if c.Objects != nil || c.More != nil {
		v.Objects = objects
	}
	target := c.Target
	if target == nil {
		target = family.Target
	}
	if c.Ops != nil {
		text, err := json.Marshal(c.Ops)
		if err != nil {
			return v, err
		}
		v.Patches = append(v.Patches, patch{Patch: string(text), Target: target})
	}
	if c.Text != "" {
		v.Patches = append(v.Patches, patch{Patch: c.Text, Target: target})
	}
	if c.Untargeted != "" {
		v.Patches = append(v.Patches, patch{Patch: c.Untargeted})
	}
	result, err := build(v, objects)
	if err != nil {
		v.Error = &failure{Kind: kindOf(err.Error()), Message: shorten(err.Error())}
		if v.Error.Kind == "" {
			return v, fmt.Errorf("no kind for this error: %w", err)
		}
		return v, nil
	}
	v.Result, err = abbreviate(result, objects)
	return v, err
}

func build(v vector, objects []map[string]any) (result []map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	files := filesys.MakeFsInMemory()
	resources := []string{"objects.yaml"}
	if v.Base != nil {
		resources = append(resources, "base")
		if err := writeKustomization(files, "base", []string{"objects.yaml"}, *v.Base); err != nil {
			return nil, err
		}
	}
	root := base{Objects: objects, Patches: v.Patches, transforms: v.transforms}
	if err := writeKustomization(files, ".", resources, root); err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, ".")
	if err != nil {
		return nil, err
	}
	result = []map[string]any{}
	for _, resource := range built.Resources() {
		text, err := resource.MarshalJSON()
		if err != nil {
			return nil, err
		}
		var object map[string]any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&object); err != nil {
			return nil, err
		}
		result = append(result, object)
	}
	return result, nil
}

func writeKustomization(files filesys.FileSystem, dir string, resources []string, k base) error {
	var objects bytes.Buffer
	for _, object := range k.Objects {
		// Block YAML, because kustomize keeps quotes that it finds and so the type of what it replaces.
		text, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		objects.WriteString("---\n")
		objects.Write(text)
	}
	if err := files.WriteFile(filepath.Join(dir, "objects.yaml"), objects.Bytes()); err != nil {
		return err
	}
	kustomization, err := json.Marshal(struct {
		Resources []string `json:"resources"`
		Patches   []patch  `json:"patches,omitempty"`
		transforms
	}{resources, k.Patches, k.transforms})
	if err != nil {
		return err
	}
	return files.WriteFile(filepath.Join(dir, "kustomization.yaml"), kustomization)
}

// abbreviate puts the place of an input object where an object is like it.
func abbreviate(result, objects []map[string]any) ([]any, error) {
	places := map[string]int{}
	for i, object := range objects {
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		places[string(text)] = i
	}
	short := []any{}
	for _, object := range result {
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		if place, ok := places[string(text)]; ok {
			short = append(short, place)
		} else {
			short = append(short, object)
		}
	}
	return short, nil
}

// kindOf sorts kustomize's messages into the kinds of failure that the Rust crate tells apart.
func kindOf(message string) string {
	for _, rule := range []struct{ kind, text string }{
		{"not-a-patch", "unable to parse SM or JSON patch"},
		{"not-a-patch", "illegally qualifies"},
		{"not-a-patch", "must specify one of patch and path"},
		{"no-target", "must specify a target for JSON patch"},
		{"several-documents", "Multiple Strategic-Merge Patches"},
		{"no-match", "no resource matches strategic merge patch"},
		{"regex", "error parsing regexp"},
		{"selector", "unable to parse requirement"},
		{"selector", "expected: "},
		{"selector", "invalid label"},
		{"test", "test failed"},
		{"operation", "operation does not apply"},
		{"operation", "operation failed to decode"},
		{"operation", "error in "},
		{"operation", "error while "},
		{"operation", "Unexpected kind"},
		{"operation", "replace operation value must"},
		{"directive", "unknown patch strategy"},
		{"shape", "no 'name' field in node"},
		{"shape", "wrong node kind"},
		{"shape", "expected sequence or mapping node"},
		{"identity", "missing metadata.name"},
		{"identity", "missing kind"},
		{"identity", "missing Resource metadata"},
		{"duplicate", "already registered id"},
		{"duplicate", "namespace transformation produces ID conflict"},
		{"panic", "panic: "},
		{"ambiguous-reference", "found multiple possible referrals"},
	} {
		if strings.Contains(message, rule.text) {
			return rule.kind
		}
	}
	return ""
}

func shorten(message string) string {
	const limit = 300
	if len(message) > limit {
		return message[:limit]
	}
	return message
}
