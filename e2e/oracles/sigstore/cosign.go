package main

import (
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// A workshop is a registry with two artifacts, and the two generations of cosign.
type workshop struct {
	folder, scratch  string
	program, legacy  string
	artifact, second name.Digest
}

func writePrograms(folder, program, legacy string) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	defer server.Close()
	scratch := must(os.MkdirTemp("", "cosign-"))
	defer os.RemoveAll(scratch)
	repository := must(name.NewRepository(strings.TrimPrefix(server.URL, "http://") + "/test/flux"))
	w := &workshop{folder: folder, scratch: scratch, program: program, legacy: legacy}
	w.artifact, w.second = push(repository, "first"), push(repository, "second")
	// No service at all: keys alone, as in a network without any way out.
	services := `{"mediaType":"application/vnd.dev.sigstore.signingconfig.v0.2+json"}`
	if err := os.WriteFile(filepath.Join(scratch, "services.json"), []byte(services), 0o600); err != nil {
		panic(err)
	}
	for _, algorithm := range []string{"p256", "p384", "rsa", "ed25519"} {
		w.signWith(algorithm)
	}
}

func push(repository name.Repository, text string) name.Digest {
	image := mutate.Annotations(empty.Image, map[string]string{"text": text}).(v1.Image)
	digest := repository.Digest(must(image.Digest()).String())
	if err := remote.Write(digest, image); err != nil {
		panic(err)
	}
	return digest
}

// signWith signs with a key of one kind by both programs, and asks about it with right and wrong policies.
func (w *workshop) signWith(algorithm string) {
	key := newKey(algorithm)
	prefix := w.importKey(algorithm, key)
	own := policy{Keys: []string{publicPEM(key.Public())}, IgnoreTlog: true}
	other := policy{Keys: []string{publicPEM(newKey(algorithm).Public())}, IgnoreTlog: true}
	logged := policy{Keys: own.Keys}
	for _, layout := range []string{"tag", "bundle"} {
		subject := "cosign-" + layout + "-" + algorithm
		signature := w.sign(layout, prefix, w.artifact)
		w.ask(subject, fixture{About: "signed with a key by cosign", Policy: own, Expected: "Verified", Signatures: []signed{signature}})
		w.ask(subject+"-wrong-key", fixture{About: "another key of the same kind", Policy: other, Expected: "WrongKey", Signatures: []signed{signature}})
		w.ask(subject+"-unlogged", fixture{About: "signed without the log, which is asked for", Policy: logged, Expected: "NotLogged", Signatures: []signed{signature}})
		elsewhere := w.sign(layout, prefix, w.second)
		w.ask(subject+"-other-artifact", fixture{About: "the signature of another artifact", Policy: own, Expected: "OtherArtifact", Signatures: []signed{elsewhere}})
		w.ask(subject+"-second", fixture{About: "the first of two signatures is good", Policy: own, Expected: "Verified", Signatures: []signed{signature, elsewhere}})
		w.ask(subject+"-changed", fixture{About: "one bit of the content is another", Policy: own, Expected: expectedChange(layout), Signatures: []signed{changed(signature)}})
	}
}

// A bundle names its key, so that a change can be told from another key. A tag does not.
func expectedChange(layout string) string {
	if layout == "tag" {
		return "WrongKey"
	}
	return "Tampered"
}

func changed(signature signed) signed {
	if signature.Tag != nil {
		payload := string(must(base64.StdEncoding.DecodeString(signature.Tag.Payload)))
		payload = strings.Replace(payload, `"optional":null`, `"optional":{}`, 1)
		return signed{Tag: &layer{base64.StdEncoding.EncodeToString([]byte(payload)), signature.Tag.Annotations}}
	}
	bundle := copyOf(signature.Bundle.(object))
	envelope := at(bundle, "dsseEnvelope")
	payload := string(must(base64.StdEncoding.DecodeString(envelope["payload"].(string))))
	envelope["payload"] = []byte(strings.Replace(payload, `"predicate":{}`, `"predicate":{"a":1}`, 1))
	return signed{Bundle: copyOf(bundle)}
}

func (w *workshop) ask(name string, fixture fixture) {
	fixture.Artifact, fixture.Root = w.artifact.DigestStr(), "embedded"
	fixture.Others = ask(fixture, nil)
	write(w.folder, name, fixture)
}

func (w *workshop) importKey(algorithm string, key crypto.Signer) string {
	block := &pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(key))}
	file := filepath.Join(w.scratch, algorithm+".pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		panic(err)
	}
	prefix := filepath.Join(w.scratch, algorithm)
	w.run(w.program, "import-key-pair", "--key", file, "--output-key-prefix", prefix)
	return prefix
}

// sign signs and gives what then lies in the registry, the newest last.
func (w *workshop) sign(layout, prefix string, artifact name.Digest) signed {
	if layout == "tag" {
		w.run(w.legacy, "sign", "--key", prefix+".key", "--tlog-upload=false", "--yes", artifact.Name())
		return signed{Tag: newestLayer(artifact)}
	}
	w.run(w.program, "sign", "--key", prefix+".key", "--signing-config", filepath.Join(w.scratch, "services.json"), "--yes", artifact.Name())
	hint := hintOf(must(os.ReadFile(prefix + ".pub")))
	for _, descriptor := range must(must(remote.Referrers(artifact)).IndexManifest()).Manifests {
		bundle := readBundle(artifact.Context().Digest(descriptor.Digest.String()))
		if at(bundle, "verificationMaterial.publicKey")["hint"] == hint {
			return signed{Bundle: bundle}
		}
	}
	panic("cosign left no bundle for " + artifact.Name())
}

func newestLayer(artifact name.Digest) *layer {
	tag := artifact.Context().Tag(strings.Replace(artifact.DigestStr(), ":", "-", 1) + ".sig")
	image := must(remote.Image(tag))
	descriptors := must(image.Manifest()).Layers
	newest := descriptors[len(descriptors)-1]
	content := must(must(image.LayerByDigest(newest.Digest)).Compressed())
	return &layer{base64.StdEncoding.EncodeToString(must(io.ReadAll(content))), newest.Annotations}
}

func readBundle(manifest name.Digest) object {
	layers := must(must(remote.Image(manifest)).Layers())
	var bundle object
	content := must(io.ReadAll(must(layers[0].Compressed())))
	if err := json.Unmarshal(content, &bundle); err != nil {
		panic(err)
	}
	return bundle
}

func hintOf(text []byte) string {
	block, _ := pem.Decode(text)
	return base64.StdEncoding.EncodeToString(sum(block.Bytes))
}

func (w *workshop) run(program string, arguments ...string) {
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), "COSIGN_PASSWORD=", "HOME="+w.scratch)
	if output, err := command.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%s %s: %v\n%s", program, strings.Join(arguments, " "), err, output))
	}
}
