// Command kustomize writes kustomize's own answers for crate `manifests-kustomize`.
//
//	go run . vectors cases ../../../manifests/kustomize/tests/vectors    answers for every case file
//	go run . tables ../../../manifests/kustomize/src                     merge keys, field specs and scopes as Rust
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "vectors":
		return writeVectors(args[1], args[2])
	case len(args) == 2 && args[0] == "tables":
		if err := writeSchema(args[1]); err != nil {
			return err
		}
		return writeFieldSpecs(args[1])
	default:
		return fmt.Errorf("usage: kustomize vectors <cases> <out> | kustomize tables <out>")
	}
}
