// Command builder answers which objects a FluxInstance stands for, by writing the equivalent kustomize overlay
// and running kustomize on it.
//
//	go run . vectors SPECS DISTRIBUTION OUTPUT    a digest a spec and object, one file a version
//	go run . print SPEC DISTRIBUTION [VERSION]    the objects of one spec as JSON; default the highest version
//
// A distribution is a directory with flux/<version>/*.yaml and flux-images/<version>/<variant>.yaml.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"
)

// Hex digits of an object's digest in the vectors.
const digestLength = 16

func main() {
	arguments := os.Args[1:]
	switch {
	case len(arguments) == 4 && arguments[0] == "vectors":
		check(writeVectors(arguments[1], arguments[2], arguments[3]))
	case len(arguments) >= 3 && len(arguments) <= 4 && arguments[0] == "print":
		check(printObjects(arguments[1], arguments[2], arguments[3:]))
	default:
		check(fmt.Errorf("usage: builder vectors SPECS DISTRIBUTION OUTPUT | builder print SPEC DISTRIBUTION [VERSION]"))
	}
}

func writeVectors(specs, distribution, output string) error {
	files, err := filepath.Glob(filepath.Join(specs, "*.yaml"))
	if err != nil {
		return err
	}
	versions, err := versionsOf(distribution)
	if err != nil {
		return err
	}
	if len(files) == 0 || len(versions) == 0 {
		return fmt.Errorf("no specs in %s or no versions in %s", specs, distribution)
	}
	for _, version := range versions {
		var lines strings.Builder
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			instance, err := readInstance(file)
			if err != nil {
				return err
			}
			objects, err := build(instance, distribution, []string{version})
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s %s: %v\n", version, name, firstLine(err))
				fmt.Fprintf(&lines, "%s\tERROR\n", name)
				continue
			}
			for _, o := range objects {
				fmt.Fprintf(&lines, "%s\t%s\t%s\n", name, o.id(), digest(o))
			}
		}
		path := filepath.Join(output, version+".txt")
		if err := os.WriteFile(path, []byte(lines.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func printObjects(file, distribution string, versions []string) error {
	instance, err := readInstance(file)
	if err != nil {
		return err
	}
	if len(versions) == 0 {
		if versions, err = versionsOf(distribution); err != nil {
			return err
		}
	}
	objects, err := build(instance, distribution, versions)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(objects)
}

// build runs the whole way from an instance to the objects that it stands for.
func build(instance *fluxInstance, distribution string, candidates []string) ([]object, error) {
	version, err := highest(instance.Spec.Distribution.Version, candidates)
	if err != nil {
		return nil, err
	}
	install, err := newInstall(instance, distribution, version)
	if err != nil {
		return nil, err
	}
	objects, err := install.kustomize()
	if err != nil {
		return nil, err
	}
	return finish(objects, instance), nil
}

func highest(constraint string, candidates []string) (string, error) {
	wanted, err := semver.NewConstraint(constraint)
	if err != nil {
		return "", err
	}
	var best *semver.Version
	for _, candidate := range candidates {
		version, err := semver.NewVersion(candidate)
		if err == nil && wanted.Check(version) && (best == nil || version.GreaterThan(best)) {
			best = version
		}
	}
	if best == nil {
		return "", fmt.Errorf("no version matches %q", constraint)
	}
	return best.Original(), nil
}

func versionsOf(distribution string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(distribution, "flux"))
	var versions []string
	for _, entry := range entries {
		versions = append(versions, entry.Name())
	}
	slices.Sort(versions)
	return versions, err
}

func readInstance(file string) (*fluxInstance, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	instance := newInstance()
	if err := yaml.UnmarshalStrict(text, instance); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return instance, nil
}

func digest(o object) string {
	sum := sha256.Sum256(canonical(o))
	return hex.EncodeToString(sum[:])[:digestLength]
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
