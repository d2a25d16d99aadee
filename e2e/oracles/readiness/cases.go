package main

import (
	"encoding/json"
	"maps"
	"strings"
)

// An object with its name in the vectors.
type testCase struct {
	name   string
	object map[string]any
}

// A family is a base object, and edits of it: some alone, some also in pairs of different fields.
type family struct {
	name  string
	base  string
	edits []edit
	pairs []edit
}

// An edit sets a field, or removes it. Its short name stands for the path and the value.
type edit struct {
	path    string
	value   any
	removes bool
	short   string
}

func set(path string, values ...any) []edit {
	var edits []edit
	for _, value := range values {
		edits = append(edits, edit{path: path, value: value})
	}
	return edits
}

func unset(path string) []edit { return []edit{{path: path, removes: true}} }

// number is written as it stands, so that 1.0 stays apart from 1.
func number(text string) json.Number { return json.Number(text) }

// conditions sets status.conditions once for each text, as "Type=Status/Reason/Message, Type=Status".
func conditions(texts ...string) []edit {
	var edits []edit
	for _, text := range texts {
		list := []any{}
		for one := range strings.SplitSeq(text, ", ") {
			if one == "" {
				continue
			}
			kind, rest, _ := strings.Cut(one, "=")
			parts := strings.SplitN(rest, "/", 3)
			condition := map[string]any{"type": kind}
			for i, key := range []string{"status", "reason", "message"} {
				if i < len(parts) && parts[i] != "" {
					condition[key] = parts[i]
				}
			}
			list = append(list, condition)
		}
		edits = append(edits, edit{path: "status.conditions", value: list, short: "conditions [" + text + "]"})
	}
	return edits
}

func join(groups ...[]edit) []edit {
	var all []edit
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}

func (e edit) String() string {
	switch {
	case e.removes:
		return e.path + " removed"
	case e.short != "":
		return e.short
	default:
		return e.path + "=" + line(e.value)
	}
}

// apply edits a copy; false when a parent of the field is no map.
func (e edit) apply(object map[string]any) (map[string]any, bool) {
	return setPath(object, strings.Split(e.path, "."), e)
}

func setPath(object map[string]any, path []string, e edit) (map[string]any, bool) {
	copied := maps.Clone(object)
	if copied == nil {
		copied = map[string]any{}
	}
	if len(path) == 1 {
		if e.removes {
			delete(copied, path[0])
		} else {
			copied[path[0]] = e.value
		}
		return copied, true
	}
	child, isMap := copied[path[0]].(map[string]any)
	if _, found := copied[path[0]]; found && !isMap {
		return nil, false
	}
	child, ok := setPath(child, path[1:], e)
	copied[path[0]] = child
	return copied, ok
}

func (f family) object() map[string]any {
	decoder := json.NewDecoder(strings.NewReader(f.base))
	decoder.UseNumber()
	var object map[string]any
	check(decoder.Decode(&object))
	return object
}

func (f family) cases() []testCase {
	base := f.object()
	cases := []testCase{{f.name, base}}
	for _, one := range f.edits {
		if once, ok := one.apply(base); ok {
			cases = append(cases, testCase{f.name + ": " + one.String(), once})
		}
	}
	for i, first := range f.pairs {
		once, ok := first.apply(base)
		if !ok {
			continue
		}
		cases = append(cases, testCase{f.name + ": " + first.String(), once})
		for _, second := range f.pairs[i+1:] {
			if strings.HasPrefix(second.path+".", first.path+".") || strings.HasPrefix(first.path+".", second.path+".") {
				continue
			}
			if twice, ok := second.apply(once); ok {
				cases = append(cases, testCase{f.name + ": " + first.String() + ", " + second.String(), twice})
			}
		}
	}
	return cases
}

func allCases() []testCase {
	var cases []testCase
	for _, f := range families() {
		cases = append(cases, f.cases()...)
	}
	return append(cases, kindCases()...)
}
