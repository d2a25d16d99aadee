// Command semver-oracle prints the answers of Masterminds/semver to version ranges, versions and their order.
//
//	go run . > ../../../manifests/tests/vectors/semver.json     the committed answers
//	go run . random SEED COUNT                                  more (range, version, answer) lines, for a campaign
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/Masterminds/semver/v3"
)

// Answers of one range to one version.
const (
	in         = '+'
	out        = '-'
	badRange   = 'r'
	badVersion = 'v'
)

// A table crosses ranges with versions: one answer a version in each row.
type table struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions"`
	Rows     []row    `json:"rows"`
}

type row struct {
	Range   string `json:"range"`
	Answers string `json:"answers"`
}

type pair struct {
	Range   string `json:"range"`
	Version string `json:"version"`
	Answer  string `json:"answer"`
}

type version struct {
	Text       string `json:"text"`
	Valid      bool   `json:"valid"`
	Major      uint64 `json:"major"`
	Minor      uint64 `json:"minor"`
	Patch      uint64 `json:"patch"`
	Prerelease string `json:"prerelease"`
	Metadata   string `json:"metadata"`
}

func main() {
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	if len(os.Args) == 4 && os.Args[1] == "random" {
		seed, err := strconv.ParseUint(os.Args[2], 10, 64)
		check(err)
		count, err := strconv.Atoi(os.Args[3])
		check(err)
		for _, p := range randomPairs(seed, count) {
			fmt.Fprintln(output, line(p))
		}
		return
	}
	fmt.Fprintln(output, `{`)
	section(output, "versions", versions(), ",")
	section(output, "ascending", ascending(), ",")
	fmt.Fprintln(output, `"tables": [`)
	tables := tables()
	for i, t := range tables {
		fmt.Fprintf(output, "{\"name\": %s, \"versions\": %s,\n", line(t.Name), line(t.Versions))
		section(output, "rows", t.Rows, "")
		fmt.Fprintln(output, "}"+comma(i, len(tables)))
	}
	fmt.Fprintln(output, `],`)
	section(output, "random", randomPairs(1, 1000), "")
	fmt.Fprintln(output, `}`)
}

// answer is what the library says to one pair.
func answer(rangeText, versionText string) string {
	constraint, err := semver.NewConstraint(rangeText)
	if err != nil {
		return string(badRange)
	}
	parsed, err := semver.NewVersion(versionText)
	if err != nil {
		return string(badVersion)
	}
	if constraint.Check(parsed) {
		return string(in)
	}
	return string(out)
}

func tables() []table {
	var tables []table
	for _, t := range []struct {
		name             string
		ranges, versions []string
	}{
		{"releases", releaseRanges, releaseVersions},
		{"operators", operatorRanges(), operatorVersions},
		{"lists", listRanges, listVersions},
		{"blanks", blankRanges(), blankVersions},
		{"malformed", malformedRanges, malformedVersions},
		{"limits", limitRanges(), limitVersions()},
	} {
		result := table{Name: t.name, Versions: t.versions}
		for _, r := range t.ranges {
			answers := ""
			for _, v := range t.versions {
				answers += answer(r, v)
			}
			result.Rows = append(result.Rows, row{r, answers})
		}
		tables = append(tables, result)
	}
	return tables
}

func versions() []version {
	var result []version
	for _, text := range versionTexts() {
		v := version{Text: text}
		if parsed, err := semver.NewVersion(text); err == nil {
			v = version{text, true, parsed.Major(), parsed.Minor(), parsed.Patch(), parsed.Prerelease(), parsed.Metadata()}
		}
		result = append(result, v)
	}
	return result
}

// ascending sorts the valid versions; those that compare equal share a list.
func ascending() [][]string {
	var all semver.Collection
	for _, text := range versionTexts() {
		if parsed, err := semver.NewVersion(text); err == nil {
			all = append(all, parsed)
		}
	}
	slices.SortStableFunc(all, func(a, b *semver.Version) int { return a.Compare(b) })
	var groups [][]string
	for i, v := range all {
		if i == 0 || !v.Equal(all[i-1]) {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], v.Original())
	}
	return groups
}

func section[T any](output io.Writer, name string, items []T, end string) {
	fmt.Fprintf(output, "%q: [\n", name)
	for i, item := range items {
		fmt.Fprintln(output, line(item)+comma(i, len(items)))
	}
	fmt.Fprintln(output, "]"+end)
}

func comma(i, length int) string {
	if i+1 == length {
		return ""
	}
	return ","
}

func line(value any) string {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(value))
	return string(bytes.TrimSpace(buffer.Bytes()))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
