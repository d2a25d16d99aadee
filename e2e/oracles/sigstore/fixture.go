package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// A fixture is one question: is this artifact signed as the policy wants?
type fixture struct {
	About      string   `json:"about"`
	Artifact   string   `json:"artifact"`
	Policy     policy   `json:"policy"`
	Root       string   `json:"root"`
	Now        string   `json:"now,omitempty"`
	Signatures []signed `json:"signatures"`
	// Expected is the word for our answer. A program can only say whether it accepts.
	Expected string `json:"expected"`
	// Stricter says why we refuse what the others accept.
	Stricter string  `json:"stricter,omitempty"`
	Others   *answer `json:"others,omitempty"`
}

type policy struct {
	Keys       []string `json:"keys,omitempty"`
	Identities []who    `json:"identities,omitempty"`
	IgnoreTlog bool     `json:"ignoreTlog,omitempty"`
}

type who struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

type signed struct {
	Tag    *layer `json:"tag,omitempty"`
	Bundle any    `json:"bundle,omitempty"`
}

type answer struct {
	Program string `json:"program"`
	Accepts bool   `json:"accepts"`
	Says    string `json:"says,omitempty"`
}

func write(folder, name string, value any) {
	text := must(json.MarshalIndent(value, "", " "))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), append(text, '\n'), 0o644); err != nil {
		panic(err)
	}
}

// at follows a path of keys and indices, 0 being the first of a list.
func at(value any, path string) object {
	for step := range strings.SplitSeq(path, ".") {
		if list, ok := value.([]any); ok && step == "0" {
			value = list[0]
			continue
		}
		value = value.(object)[step]
	}
	return value.(object)
}

// flip changes one bit in the middle of some bytes in base64.
func flip(text any) string {
	bytes := must(base64.StdEncoding.DecodeString(text.(string)))
	bytes[len(bytes)/2] ^= 1
	return base64.StdEncoding.EncodeToString(bytes)
}
