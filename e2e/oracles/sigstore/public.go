package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	fulcio "github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
)

// writePublic asks about a bundle that somebody made with Sigstore's public service, by the root that is embedded.
func writePublic(folder, rootFile, bundleFile string) {
	var root, value object
	for file, into := range map[string]*object{rootFile: &root, bundleFile: &value} {
		if err := json.Unmarshal(must(os.ReadFile(file)), into); err != nil {
			panic(err)
		}
	}
	var entity bundle.Bundle
	if err := entity.UnmarshalJSON(must(os.ReadFile(bundleFile))); err != nil {
		panic(err)
	}
	summary := must(fulcio.SummarizeCertificate(must(entity.VerificationContent()).Certificate()))
	entries := must(entity.TlogEntries())
	digest := must(base64.StdEncoding.DecodeString(at(value, "messageSignature.messageDigest")["digest"].(string)))
	own := policy{Identities: []who{{regexp.QuoteMeta(summary.Issuer), regexp.QuoteMeta(summary.SubjectAlternativeName)}}}
	other := policy{Identities: []who{{regexp.QuoteMeta(summary.Issuer), `https://github\.com/org/.*`}}}
	question := fixture{
		Artifact:   "sha256:" + hex.EncodeToString(digest),
		Root:       "embedded",
		Now:        stamp(entries[0].IntegratedTime().Add(24 * time.Hour).UTC()),
		Signatures: []signed{{Bundle: value}},
	}
	for name, expected := range map[string]string{"public": "Verified", "public-other": "WrongIdentity"} {
		question.About, question.Policy, question.Expected = "made with Sigstore's public service", own, expected
		if expected != "Verified" {
			question.Policy = other
		}
		question.Others = ask(question, root)
		write(folder, name, question)
	}
}
