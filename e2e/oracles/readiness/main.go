// Command readiness-oracle prints what kstatus answers about objects of all kinds and shapes.
//
//	go run . > ../../../operator/cluster/tests/vectors/readiness.json     the committed answers
//	go run . random SEED COUNT                                            more of them, one a line, for a campaign
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// A vector is one object and the answer.
type vector struct {
	Name   string          `json:"name"`
	Object json.RawMessage `json:"object"`
	Want   string          `json:"want"`
}

func main() {
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	if len(os.Args) == 4 && os.Args[1] == "random" {
		seed, err := strconv.ParseUint(os.Args[2], 10, 64)
		check(err)
		count, err := strconv.Atoi(os.Args[3])
		check(err)
		for _, c := range randomCases(seed, count) {
			if v, ok := answered(c); ok {
				fmt.Fprintln(output, line(v))
			}
		}
		return
	}
	seen := map[string]bool{}
	separator := "[\n"
	for _, c := range allCases() {
		if seen[c.name] {
			check(fmt.Errorf("two cases are named %q", c.name))
		}
		seen[c.name] = true
		v, ok := answered(c)
		if !ok {
			check(fmt.Errorf("kstatus panics on %q", c.name))
		}
		fmt.Fprint(output, separator, line(v))
		separator = ",\n"
	}
	fmt.Fprintln(output, "\n]")
}

// answered asks kstatus; false when it panics, which it does on malformed container statuses.
func answered(c testCase) (v vector, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	text := encode(c.object)
	return vector{Name: c.name, Object: text, Want: answer(text)}, true
}

// answer reads the object as clients of Kubernetes do. Where kstatus returns an error, its pollers report the
// status Unknown and keep waiting, hence InProgress.
func answer(text []byte) string {
	var object map[string]any
	check(kjson.Unmarshal(text, &object))
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		return "InProgress"
	}
	switch result.Status {
	case status.CurrentStatus:
		return "Ready"
	case status.InProgressStatus:
		return "InProgress"
	case status.FailedStatus:
		return "Failed"
	case status.TerminatingStatus:
		return "Deleted"
	default:
		check(fmt.Errorf("kstatus answers %q", result.Status))
		return ""
	}
}

func encode(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(value))
	return bytes.TrimSpace(text.Bytes())
}

func line(value any) string { return string(encode(value)) }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "readiness-oracle:", err)
		os.Exit(1)
	}
}
