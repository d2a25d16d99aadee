package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"go.uber.org/zap/zapcore"
	ctrlzap "sigs.k8s.io/controller-runtime/pkg/log/zap"
)

var texts = []string{
	"plain",
	"",
	" ",
	`"quoted" and \escaped\`,
	"two\nlines\r\nand\ttabs",
	"control \x00\x01\x07\x08\x0b\x0c\x1b[31mred\x1b[0m\x7f",
	"c1 controls \u0080\u0085\u009b",
	"separators \u2028\u2029 and directions \u202e\u2066",
	"übergrößenträger 日本語 🦀 👩‍👩‍👧 \ufeff",
	"<b>&amp;</b> ' ` $ {}",
	`{"json": ["inside"]}`,
	"\ufffd\U0010ffff",
}

// writeLines writes one line for each odd text, with the text as message, as error and as a value. The
// logger is set up as the controllers of Flux do.
func writeLines(out io.Writer) error {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for _, text := range texts {
		var line bytes.Buffer
		logger := ctrlzap.New(
			ctrlzap.WriteTo(&line),
			ctrlzap.StacktraceLevel(zapcore.PanicLevel),
			ctrlzap.JSONEncoder(func(config *zapcore.EncoderConfig) {
				config.EncodeTime = zapcore.ISO8601TimeEncoder
			}),
		)
		logger.WithName("flux_operator").WithValues(
			"controller", "fluxinstance", "namespace", "flux-system", "name", text,
		).Error(errors.New(text), text, "count", -3, "size", uint64(18446744073709551615), "ratio", 0.25, "forced", true)
		if err := lines.Encode(map[string]string{"text": text, "line": line.String()}); err != nil {
			return err
		}
	}
	return nil
}
