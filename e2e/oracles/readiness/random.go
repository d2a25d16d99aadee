package main

import (
	"fmt"
	"math/rand/v2"
)

// Values that any field may be set to.
var randomValues = []any{
	nil, "", "text", "1", true, false, 0, 1, 2, 3, -1, number("1.0"), number("2.5"), number("9223372036854775807"), number("9223372036854775808"), []any{},
	[]any{nil}, map[string]any{}, "True", "False", "Running", "Pending", "Failed", "OnDelete", "LoadBalancer", "2020-01-02T03:04:05Z",
}

// randomCases takes any case and applies edits of any family to it, some with a value that is no good.
func randomCases(seed uint64, count int) []testCase {
	random := rand.New(rand.NewPCG(seed, 0))
	bases := allCases()
	var edits []edit
	for _, f := range families() {
		edits = append(append(edits, f.edits...), f.pairs...)
	}
	var cases []testCase
	for i := range count {
		object := bases[random.IntN(len(bases))].object
		for range 1 + random.IntN(5) {
			change := edits[random.IntN(len(edits))]
			if random.IntN(4) == 0 {
				change = edit{path: change.path, value: randomValues[random.IntN(len(randomValues))]}
			}
			if changed, ok := change.apply(object); ok {
				object = changed
			}
		}
		cases = append(cases, testCase{fmt.Sprintf("random %d/%d", seed, i), object})
	}
	return cases
}
