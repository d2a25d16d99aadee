// Writes the answers of Go's YAML to the vector files that the tests of `manifests-yaml` read.
//
//	go run . -cases cases.json -out ../../../manifests/yaml/tests/vectors
//
// cases.json holds the documents written by hand; the families in families.go are made here, from fixed
// lists and a fixed seed, so that two runs write the same bytes.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	apimachinery "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// inputs are the documents of cases.json.
type inputs struct {
	Read   []string `json:"read"`
	Stream []string `json:"stream"`
	Write  []any    `json:"write"`
}

// readCase is one text, what Go reads from it, and whether the strict reader takes it.
type readCase struct {
	Input   string          `json:"input"`
	Result  string          `json:"result"`
	Strict  string          `json:"strict"`
	Output  json.RawMessage `json:"output,omitempty"`
	Message string          `json:"message,omitempty"`
}

// streamCase is one stream of documents and what Go's decoder takes out of it.
type streamCase struct {
	Input   string           `json:"input"`
	Result  string           `json:"result"`
	Output  []streamDocument `json:"output"`
	Message string           `json:"message,omitempty"`
}

// streamDocument is one document; line is that of its first line that is no comment, separator or blank.
type streamDocument struct {
	Value json.RawMessage `json:"value"`
	Line  int             `json:"line,omitempty"`
}

// writeCase is one JSON value and the YAML that Go prints for it.
type writeCase struct {
	Input  json.RawMessage `json:"input"`
	Output string          `json:"output"`
}

func main() {
	casesPath := flag.String("cases", "cases.json", "documents written by hand")
	out := flag.String("out", "../../../manifests/yaml/tests/vectors", "folder of the vector files")
	random := flag.Int("random", 400, "number of random documents")
	seed := flag.Int64("seed", 1, "seed of the random documents")
	flag.Parse()

	text, err := os.ReadFile(*casesPath)
	check(err)
	var byHand inputs
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	check(decoder.Decode(&byHand))

	reads := append(byHand.Read, readFamilies(*random, *seed)...)
	streams := append(byHand.Stream, streamFamilies(*random/4, *seed)...)
	writes := append(byHand.Write, writeFamilies(*random, *seed)...)

	check(save(*out, "read.json", answers(unique(reads), read)))
	check(save(*out, "stream.json", answers(unique(streams), stream)))
	check(save(*out, "write.json", answers(unique(texts(writes)), write)))
}

// tries is how often a question is asked: maps are random in Go, and with them the answer to some questions (keys
// that become equal, keys in an order that is not transitive). These are no cases.
const tries = 30

// read asks for one document; false if Go has several answers.
func read(input string) (readCase, bool) {
	result := readCase{Input: input, Result: "OK", Strict: "OK"}
	output, err := yaml.YAMLToJSON([]byte(input))
	if err != nil {
		result.Result, result.Message = "ERR", err.Error()
	} else {
		result.Output = output
		for range tries {
			again, err := yaml.YAMLToJSON([]byte(input))
			if err != nil || !bytes.Equal(again, output) {
				return result, false
			}
		}
	}
	if _, err := yaml.YAMLToJSONStrict([]byte(input)); err != nil {
		result.Strict = "ERR"
	}
	return result, true
}

// stream asks for all documents; empty ones are left out.
func stream(input string) (streamCase, bool) {
	result := streamCase{Input: input, Result: "OK", Output: []streamDocument{}}
	decoder := apimachinery.NewYAMLOrJSONDecoder(strings.NewReader(input), 4096)
	for {
		var value json.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return streamCase{Input: input, Result: "ERR", Output: []streamDocument{}, Message: err.Error()}, true
		}
		if len(value) > 0 && string(value) != "null" {
			result.Output = append(result.Output, streamDocument{Value: value})
		}
	}
	addLines(input, result.Output)
	return result, true
}

// write asks for the YAML of a JSON text; false if Go has no answer, or several.
func write(input string) (writeCase, bool) {
	output, err := yaml.JSONToYAML([]byte(input))
	if err != nil {
		return writeCase{}, false
	}
	for range tries {
		again, err := yaml.JSONToYAML([]byte(input))
		if err != nil || !bytes.Equal(again, output) {
			return writeCase{}, false
		}
	}
	return writeCase{Input: json.RawMessage(input), Output: string(output)}, true
}

// texts are the values as JSON.
func texts(values []any) []string {
	lines := make([]string, 0, len(values))
	for _, value := range values {
		line, err := json.Marshal(value)
		check(err)
		lines = append(lines, string(line))
	}
	return lines
}

// addLines finds the lines by splitting once more; it gives up where the stream is JSON, or
// has a byte order mark that hides a separator.
func addLines(input string, documents []streamDocument) {
	if strings.HasPrefix(strings.TrimSpace(input), "{") || strings.Contains(input, "\ufeff") {
		return
	}
	lines, found, open := strings.Split(input, "\n"), []int{}, true
	for number, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "---"):
			open = true
		case open && trimmed != "" && trimmed[0] != '#' && trimmed != "---" && strings.TrimRight(line, " \t\r") != "...":
			found, open = append(found, number+1), false
		}
	}
	if len(found) != len(documents) {
		return
	}
	for index := range documents {
		documents[index].Line = found[index]
	}
}

func answers[T any](inputs []string, answer func(string) (T, bool)) []any {
	cases := make([]any, 0, len(inputs))
	for _, input := range inputs {
		if one, ok := answer(input); ok {
			cases = append(cases, one)
		}
	}
	return cases
}

func unique(values []string) []string {
	seen, kept := map[string]bool{}, []string{}
	for _, value := range values {
		if !seen[value] {
			seen[value] = true
			kept = append(kept, value)
		}
	}
	return kept
}

// save writes one case a line, so that a change of one answer is a change of one line.
func save(folder, name string, cases []any) error {
	var text bytes.Buffer
	text.WriteString("{\"cases\": [\n")
	for index, one := range cases {
		line, err := json.Marshal(one)
		if err != nil {
			return err
		}
		text.Write(line)
		if index < len(cases)-1 {
			text.WriteByte(',')
		}
		text.WriteByte('\n')
	}
	text.WriteString("]}\n")
	fmt.Printf("%s: %d cases\n", name, len(cases))
	return os.WriteFile(filepath.Join(folder, name), text.Bytes(), 0o644)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
