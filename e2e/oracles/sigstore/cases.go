package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

const (
	github   = "https://token.actions.githubusercontent.com"
	workflow = "https://github.com/org/app/.github/workflows/release.yaml@refs/tags/v1.0.0"
)

var (
	artifact = hexSum("the artifact")
	another  = hexSum("another artifact")
	release  = identity{subject: workflow, issuer: github}
	anyTag   = policy{Identities: []who{{`https://token\.actions\.githubusercontent\.com`, `https://github\.com/org/app/\.github/workflows/release\.yaml@refs/tags/v.*`}}}
)

// A suite collects the fixtures of one service.
type suite struct {
	folder string
	*service
	entry, elsewhere *service
}

func (s *suite) bundle(name, about, expected string, policy policy, order order, change func(object)) {
	if order.artifact == "" {
		order.artifact = artifact
	}
	bundle := s.service.bundle(order)
	if change != nil {
		change(bundle)
	}
	s.write(name, fixture{About: about, Policy: policy, Expected: expected, Signatures: []signed{{Bundle: bundle}}})
}

func (s *suite) tag(name, about, expected string, policy policy, order order, change func(*layer)) {
	if order.artifact == "" {
		order.artifact = artifact
	}
	layer := s.service.tag(order)
	if change != nil {
		change(&layer)
	}
	s.write(name, fixture{About: about, Policy: policy, Expected: expected, Signatures: []signed{{Tag: &layer}}})
}

// stricter tells why we refuse what others accept.
var stricter = map[string]string{
	"ended-stamper": "a timestamp that is there has to be good, even where the log proves the time",
	"other-stamper": "a timestamp that is there has to be good, even where the log proves the time",
	"future":        "the others take no time to compare with",
	"no-issuer":     "a pattern never means that there is nothing",
	"no-usage":      "a certificate for something else signs nothing",
	"provenance":    "other statements come from the same signers and approve of nothing",
}

func (s *suite) write(name string, fixture fixture) {
	fixture.Stricter = stricter[name]
	fixture.Artifact = "sha256:" + artifact
	if fixture.Root == "" {
		fixture.Root = "root"
	}
	fixture.Others = ask(fixture, s.trustedRoot())
	write(s.folder, name, fixture)
}

// identities: bundles of version 0.3 by holders of certificates.
func (s *suite) identities() {
	unlogged := policy{Identities: anyTag.Identities, IgnoreTlog: true}
	for _, algorithm := range []string{"p256", "p384", "rsa", "ed25519"} {
		who := release
		who.algorithm = algorithm
		s.bundle("identity-"+algorithm, "a statement signed with a certificate for a key of this kind", "Verified", anyTag, order{who: who}, nil)
	}
	s.bundle("identity-tiles", "the log of the second generation, which needs a timestamp", "Verified", anyTag, order{who: release, tiles: true}, nil)
	s.bundle("identity-message", "a signature of the manifest itself", "Verified", anyTag, order{who: release, message: true}, nil)
	s.bundle("identity-stamped", "log and timestamp", "Verified", anyTag, order{who: release, withStamp: true}, nil)
	s.bundle("identity-address", "the subject is an address", "Verified",
		policy{Identities: []who{{`https://accounts\.test`, `.*@example\.com`}}},
		order{who: identity{subject: "somebody@example.com", issuer: "https://accounts.test"}}, nil)
	s.bundle("identity-second", "the second of two identities", "Verified",
		policy{Identities: append([]who{{"https://other", ".*"}}, anyTag.Identities...)}, order{who: release}, nil)
	s.bundle("unlogged-stamped", "the log is ignored, the timestamp proves the time", "Verified", unlogged,
		order{who: release, withStamp: true}, func(b object) { at(b, "verificationMaterial")["tlogEntries"] = []any{} })
	s.bundle("unlogged-unstamped", "the log is ignored, and its time does not count", "NoSigningTime", unlogged, order{who: release}, nil)

	s.bundle("other-workflow", "another workflow of the same repository", "WrongIdentity", anyTag,
		order{who: identity{subject: "https://github.com/org/app/.github/workflows/test.yaml@refs/heads/main", issuer: github}}, nil)
	s.bundle("other-issuer", "the right subject by another issuer", "WrongIdentity", anyTag, order{who: identity{subject: workflow, issuer: "https://accounts.test"}}, nil)
	org := policy{Identities: []who{{github, "https://github.com/org/.*"}}}
	for name, subject := range map[string]string{
		"look-alike-suffix": "https://github.com/org-evil/app/.github/workflows/release.yaml@refs/tags/v1.0.0",
		"look-alike-case":   "https://github.com/Org/app/.github/workflows/release.yaml@refs/tags/v1.0.0",
		"look-alike-digit":  "https://github.com/0rg/app/.github/workflows/release.yaml@refs/tags/v1.0.0",
		"look-alike-prefix": "https://evil.test/https://github.com/org/app",
	} {
		s.bundle(name, "a subject that resembles the one that is meant", "LookAlikeIdentity", org, order{who: identity{subject: subject, issuer: github}}, nil)
	}
	s.bundle("look-alike-issuer", "an issuer whose name begins like the one that is meant", "LookAlikeIdentity",
		policy{Identities: []who{{github, ".*"}}}, order{who: identity{subject: workflow, issuer: github + ".evil.test"}}, nil)
	s.bundle("no-issuer", "a certificate without an issuer, which even .* does not mean", "WrongIdentity",
		policy{Identities: []who{{".*", ".*"}}}, order{who: identity{subject: workflow}}, nil)
}

// certificates: what is wrong with a certificate, and with the time at which it was used.
func (s *suite) certificates() {
	s.bundle("late", "the log got it an hour after the certificate had ended", "CertificateExpired", anyTag, order{who: release, logged: time.Hour}, nil)
	s.bundle("early", "the log got it before the certificate began", "CertificateExpired", anyTag, order{who: release, logged: -time.Hour}, nil)
	s.bundle("stamped-late", "the timestamp is of an hour after the certificate had ended", "CertificateExpired", anyTag,
		order{who: release, withStamp: true, stamped: time.Hour}, nil)
	s.bundle("no-usage", "the certificate is not for signing", "UnknownAuthority", anyTag, order{who: identity{subject: workflow, issuer: github, withoutUsage: true}}, nil)
	s.bundle("no-certificate-log", "the certificate was never logged", "CertificateNotLogged", anyTag, order{who: identity{subject: workflow, issuer: github, withoutLog: true}}, nil)
	s.bundle("changed-certificate", "one bit of the certificate is another", "UnknownAuthority", anyTag, order{who: release},
		func(b object) {
			certificate := at(b, "verificationMaterial.certificate")
			bytes := must(base64.StdEncoding.DecodeString(certificate["rawBytes"].(string)))
			bytes[len(bytes)-1] ^= 1
			certificate["rawBytes"] = bytes
		})
	foreign := s.elsewhere.bundle(order{who: release, artifact: artifact})
	s.write("other-service", fixture{About: "all of it is of another Sigstore", Policy: anyTag, Expected: "UnknownLog", Signatures: []signed{{Bundle: foreign}}})
	foreign = s.elsewhere.bundle(order{who: release, artifact: artifact, log: s.service})
	s.write("other-authority", fixture{About: "an authority that nobody trusts", Policy: anyTag, Expected: "UnknownAuthority", Signatures: []signed{{Bundle: foreign}}})
	s.bundle("other-stamper", "a timestamp by somebody else", "UnknownTimestamp", anyTag, order{who: release, withStamp: true, stamper: s.elsewhere}, nil)
	s.write("future", fixture{About: "signed in a year to come, as far as this clock knows", Policy: anyTag, Now: "2024-06-01T00:00:00Z", Expected: "FromTheFuture",
		Signatures: []signed{{Bundle: s.service.bundle(order{who: release, artifact: artifact})}}})
}

// contents: what was changed, left out or put elsewhere.
func (s *suite) contents() {
	s.bundle("changed-statement", "the statement was changed after signing", "Tampered", anyTag, order{who: release}, func(b object) {
		envelope := at(b, "dsseEnvelope")
		text := string(must(base64.StdEncoding.DecodeString(envelope["payload"].(string))))
		envelope["payload"] = []byte(strings.Replace(text, `"name":""`, `"name":"x"`, 1))
	})
	s.bundle("changed-signature", "one bit of the signature is another", "Tampered", anyTag, order{who: release}, func(b object) {
		signature := at(b, "dsseEnvelope.signatures.0")
		signature["sig"] = flip(signature["sig"])
	})
	s.bundle("other-artifact", "the signature of another artifact", "OtherArtifact", anyTag, order{who: release, artifact: another}, nil)
	s.bundle("other-artifact-message", "the signature of another artifact", "OtherArtifact", anyTag, order{who: release, artifact: another, message: true}, nil)
	s.bundle("redirected-statement", "a statement of another artifact, made to name this one", "Tampered", anyTag, order{who: release, artifact: another}, func(b object) {
		envelope := at(b, "dsseEnvelope")
		text := string(must(base64.StdEncoding.DecodeString(envelope["payload"].(string))))
		envelope["payload"] = []byte(strings.Replace(text, another, artifact, 1))
	})
	s.bundle("no-signature", "the signature is empty", "SignatureStripped", anyTag, order{who: release}, func(b object) {
		at(b, "dsseEnvelope.signatures.0")["sig"] = ""
	})
	s.bundle("provenance", "a statement by the same signer that is no signature", "NotASignature", anyTag,
		order{who: release, predicate: "https://slsa.dev/provenance/v1"}, nil)
	s.bundle("no-entry", "the log entry was taken out", "NotLogged", anyTag, order{who: release, withStamp: true}, func(b object) {
		at(b, "verificationMaterial")["tlogEntries"] = []any{}
	})
	s.bundle("no-proof", "the log entry has only a promise", "NotLogged", anyTag, order{who: release}, func(b object) {
		delete(at(b, "verificationMaterial.tlogEntries.0"), "inclusionProof")
	})
	s.bundle("other-entry", "the log entry of another signature by the same signer", "OtherLogEntry", anyTag, order{who: release}, func(b object) {
		other := s.service.bundle(order{who: release, artifact: another})
		at(b, "verificationMaterial")["tlogEntries"] = at(other, "verificationMaterial")["tlogEntries"]
	})
	s.bundle("changed-time", "the time of the log entry was changed", "UnprovenLogEntry", anyTag, order{who: release}, func(b object) {
		at(b, "verificationMaterial.tlogEntries.0")["integratedTime"] = number(signing.Add(time.Minute).Unix())
	})
	s.bundle("changed-proof", "a hash of the proof was changed", "UnprovenLogEntry", anyTag, order{who: release}, func(b object) {
		proof := at(b, "verificationMaterial.tlogEntries.0.inclusionProof")
		proof["hashes"] = []any{flip(proof["hashes"].([]any)[0])}
	})
	s.bundle("changed-promise", "the promise of the log was changed", "UnprovenLogEntry", anyTag, order{who: release}, func(b object) {
		promise := at(b, "verificationMaterial.tlogEntries.0.inclusionPromise")
		promise["signedEntryTimestamp"] = flip(promise["signedEntryTimestamp"])
	})
	s.bundle("other-log", "logged somewhere else", "UnknownLog", anyTag, order{who: release, log: s.elsewhere}, nil)
	s.bundle("tiles-unstamped", "the log of the second generation without a timestamp", "NoSigningTime", anyTag, order{who: release, tiles: true}, func(b object) {
		delete(at(b, "verificationMaterial"), "timestampVerificationData")
	})
}

// tags: the layout with a tag.
func (s *suite) tags() {
	unlogged := policy{Identities: anyTag.Identities, IgnoreTlog: true}
	unlog := func(l *layer) { delete(l.Annotations, bundleAnnotation) }
	s.tag("tag-identity", "signed as cosign 2 does", "Verified", anyTag, order{who: release}, nil)
	s.tag("tag-stamped", "a timestamp instead of the log", "Verified", unlogged, order{who: release, withStamp: true}, unlog)
	s.tag("tag-unstamped", "neither log nor timestamp", "NoSigningTime", unlogged, order{who: release}, unlog)
	s.tag("tag-unlogged", "the log entry was taken out", "NotLogged", anyTag, order{who: release, withStamp: true}, unlog)
	s.tag("tag-look-alike", "another organization whose name begins alike", "LookAlikeIdentity", policy{Identities: []who{{github, "https://github.com/org/.*"}}},
		order{who: identity{subject: strings.Replace(workflow, "/org/", "/org-evil/", 1), issuer: github}}, nil)
	s.tag("tag-late", "logged after the certificate had ended", "CertificateExpired", anyTag, order{who: release, logged: time.Hour}, nil)
	s.tag("tag-other-artifact", "the signature of another artifact", "OtherArtifact", anyTag, order{who: release, artifact: another}, nil)
	s.tag("tag-other-log", "logged somewhere else", "UnknownLog", anyTag, order{who: release, log: s.elsewhere}, nil)
	s.tag("tag-redirected", "a payload of another artifact, made to name this one", "Tampered", anyTag, order{who: release, artifact: another}, func(l *layer) {
		payload := string(must(base64.StdEncoding.DecodeString(l.Payload)))
		l.Payload = base64.StdEncoding.EncodeToString([]byte(strings.Replace(payload, another, artifact, 1)))
	})
	s.tag("tag-no-signature", "the annotation with the signature was taken out", "SignatureStripped", anyTag, order{who: release}, func(l *layer) { delete(l.Annotations, signatureAnnotation) })
	s.tag("tag-no-certificate", "the annotation with the certificate was taken out", "NoIdentity", anyTag, order{who: release}, func(l *layer) { delete(l.Annotations, certificateAnnotation) })
	s.tag("tag-no-payload", "the layer is empty", "SignatureStripped", anyTag, order{who: release}, func(l *layer) { l.Payload = "" })
	s.tag("tag-other-entry", "the log entry of another signature", "OtherLogEntry", anyTag, order{who: release}, func(l *layer) {
		other := s.service.tag(order{who: release, artifact: another})
		l.Annotations[bundleAnnotation] = other.Annotations[bundleAnnotation]
	})
	s.tag("tag-changed-time", "the time of the log entry was changed", "UnprovenLogEntry", anyTag, order{who: release}, func(l *layer) {
		var entry object
		if err := json.Unmarshal([]byte(l.Annotations[bundleAnnotation]), &entry); err != nil {
			panic(err)
		}
		at(entry, "Payload")["integratedTime"] = signing.Add(time.Minute).Unix()
		l.Annotations[bundleAnnotation] = string(must(json.Marshal(entry)))
	})
}

// keys: signatures with keys that the log knows of.
func (s *suite) keys() {
	for _, algorithm := range []string{"p256", "rsa", "p384"} {
		key := newKey(algorithm)
		keys := policy{Keys: []string{publicPEM(newKey("").Public()), publicPEM(key.Public())}}
		s.bundle("key-logged-"+algorithm, "the second of two keys, with the log", "Verified", keys, order{key: key}, nil)
		s.tag("tag-key-logged-"+algorithm, "the second of two keys, with the log", "Verified", keys, order{key: key}, nil)
	}
	for name, algorithm := range map[string]string{"ed25519": "ed25519", "pss": "rsa"} {
		key := newKey(algorithm)
		keys := policy{Keys: []string{publicPEM(key.Public())}, IgnoreTlog: true}
		s.bundle("key-unlogged-"+name, "a way to sign that cosign has with some keys and services", "Verified", keys,
			order{key: key, pss: name == "pss"}, func(b object) { at(b, "verificationMaterial")["tlogEntries"] = []any{} })
	}
	key := newKey("ed25519")
	s.bundle("key-logged-ed25519", "a key of Ed25519, with the log", "Verified", policy{Keys: []string{publicPEM(key.Public())}}, order{key: key}, nil)
	key = newKey("")
	own := policy{Keys: []string{publicPEM(key.Public())}}
	s.bundle("key-other-entry", "the log entry of another signature", "OtherLogEntry", own, order{key: key}, func(b object) {
		other := s.service.bundle(order{key: key, artifact: another})
		at(b, "verificationMaterial")["tlogEntries"] = at(other, "verificationMaterial")["tlogEntries"]
	})
	s.bundle("key-other-log", "logged somewhere else", "UnknownLog", own, order{key: key, log: s.elsewhere}, nil)
	s.bundle("key-wrong", "another key", "WrongKey", own, order{key: newKey("")}, nil)
	s.tag("tag-key-wrong", "another key", "WrongKey", own, order{key: newKey("")}, nil)
	s.tag("tag-key-redirected", "a payload of another artifact, made to name this one", "Tampered", own, order{key: key, artifact: another}, func(l *layer) {
		payload := string(must(base64.StdEncoding.DecodeString(l.Payload)))
		l.Payload = base64.StdEncoding.EncodeToString([]byte(strings.Replace(payload, another, artifact, 1)))
	})
	s.bundle("key-wanted", "a certificate where a key is wanted", "WrongKey", own, order{who: release}, nil)
	s.bundle("identity-wanted", "a key where an identity is wanted", "NoIdentity", anyTag, order{key: key}, nil)
}

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
