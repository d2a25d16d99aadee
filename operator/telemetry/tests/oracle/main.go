// Command oracle prints what controllers that are built on controller-runtime log and expose.
//
//	go run . lines > ../data/lines.jsonl
//	go run . metrics > ../data/metrics.txt
//	go run . check < EXPOSITION     whether Prometheus' own parser and linter take an exposition
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: oracle lines|metrics|check")
	}
	switch args[0] {
	case "lines":
		return writeLines(os.Stdout)
	case "metrics":
		return writeMetrics(os.Stdout)
	case "check":
		return check(os.Stdin)
	default:
		return fmt.Errorf("unknown command %q", args[0])
	}
}

func check(exposition io.ReadSeeker) error {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(exposition)
	if err != nil {
		return err
	}
	if _, err := exposition.Seek(0, io.SeekStart); err != nil {
		return err
	}
	problems, err := promlint.New(exposition).Lint()
	for _, problem := range problems {
		fmt.Println(problem.Metric, problem.Text)
	}
	fmt.Println(len(families), "families")
	return err
}
