package main

import (
	"context"
	"crypto"
	"crypto/rsa"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/sigstore/cosign/v3/pkg/cosign"
	cosignbundle "github.com/sigstore/cosign/v3/pkg/cosign/bundle"
	"github.com/sigstore/cosign/v3/pkg/oci/static"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/options"
)

// ask gets the answer of the programs that define these formats: sigstore-go for bundles, cosign for tags.
func ask(fixture fixture, trusted object) *answer {
	var material root.TrustedMaterial = &root.BaseTrustedMaterial{}
	if trusted != nil {
		material = must(root.NewTrustedRootFromJSON(must(json.Marshal(trusted))))
	}
	var err error
	result := &answer{Program: "sigstore-go"}
	if fixture.Signatures[0].Tag != nil {
		result.Program = "cosign"
	}
	for _, signed := range fixture.Signatures {
		err = nil
		for _, alternative := range alternatives(fixture.Policy) {
			if signed.Tag != nil {
				err = askCosign(fixture.Artifact, alternative, signed.Tag, material)
			} else {
				err = askSigstore(fixture.Artifact, alternative, signed.Bundle, material)
			}
			if err == nil {
				return &answer{Program: result.Program, Accepts: true}
			}
		}
		result.Says = shortened(err)
	}
	return result
}

// An alternative is a policy as one call can check it: with one way to use one key.
type alternative struct {
	policy
	verifier signature.Verifier
}

func alternatives(all policy) []alternative {
	if len(all.Keys) == 0 {
		return []alternative{{policy: all}}
	}
	var single []alternative
	for _, text := range all.Keys {
		key := must(cryptoutils.UnmarshalPEMToPublicKey([]byte(text)))
		// cosign's own releases differ in the hash that goes with a key.
		verifiers := []signature.Verifier{
			must(signature.LoadDefaultVerifier(key)),
			must(signature.LoadDefaultVerifier(key, options.WithED25519ph())),
			must(signature.LoadVerifier(key, crypto.SHA256)),
		}
		if key, ok := key.(*rsa.PublicKey); ok {
			verifiers = append(verifiers, must(signature.LoadRSAPSSVerifier(key, crypto.SHA256, nil)))
		}
		for _, verifier := range verifiers {
			single = append(single, alternative{all, verifier})
		}
	}
	return single
}

func askSigstore(artifact string, policy alternative, value any, material root.TrustedMaterial) error {
	var entity bundle.Bundle
	if err := entity.UnmarshalJSON(must(json.Marshal(value))); err != nil {
		return err
	}
	digest := verify.WithArtifactDigest("sha256", must(hex.DecodeString(strings.TrimPrefix(artifact, "sha256:"))))
	var checks []verify.VerifierOption
	if !policy.IgnoreTlog {
		checks = append(checks, verify.WithTransparencyLog(1))
	}
	if len(policy.Keys) > 0 {
		key := keyMaterial{TrustedMaterial: material, verifier: policy.verifier}
		verifier, err := verify.NewVerifier(key, append(checks, verify.WithNoObserverTimestamps())...)
		if err != nil {
			return err
		}
		_, err = verifier.Verify(&entity, verify.NewPolicy(digest, verify.WithKey()))
		return err
	}
	checks = append(checks, verify.WithSignedCertificateTimestamps(1))
	if policy.IgnoreTlog {
		checks = append(checks, verify.WithSignedTimestamps(1))
	} else {
		checks = append(checks, verify.WithObserverTimestamps(1))
	}
	verifier, err := verify.NewVerifier(material, checks...)
	if err != nil {
		return err
	}
	var identities []verify.PolicyOption
	for _, who := range policy.Identities {
		identity := must(verify.NewShortCertificateIdentity("", whole(who.Issuer), "", whole(who.Subject)))
		identities = append(identities, verify.WithCertificateIdentity(identity))
	}
	_, err = verifier.Verify(&entity, verify.NewPolicy(digest, identities...))
	return err
}

func askCosign(artifact string, policy alternative, layer *layer, material root.TrustedMaterial) error {
	var parts []static.Option
	if certificate := layer.Annotations[certificateAnnotation]; certificate != "" {
		parts = append(parts, static.WithCertChain([]byte(certificate), []byte(layer.Annotations[chainAnnotation])))
	}
	if text := layer.Annotations[bundleAnnotation]; text != "" {
		var entry cosignbundle.RekorBundle
		if err := json.Unmarshal([]byte(text), &entry); err != nil {
			return err
		}
		parts = append(parts, static.WithBundle(&entry))
	}
	if text := layer.Annotations[timestampAnnotation]; text != "" {
		var stamp cosignbundle.RFC3161Timestamp
		if err := json.Unmarshal([]byte(text), &stamp); err != nil {
			return err
		}
		parts = append(parts, static.WithRFC3161Timestamp(&stamp))
	}
	payload := must(base64.StdEncoding.DecodeString(layer.Payload))
	text := layer.Annotations[signatureAnnotation]
	if text == "" || len(payload) == 0 {
		return errors.New("cosign was not asked: there is nothing to check")
	}
	signature, err := static.NewSignature(payload, text, parts...)
	if err != nil {
		return err
	}
	check := &cosign.CheckOpts{
		TrustedMaterial:     material,
		Offline:             true,
		IgnoreTlog:          policy.IgnoreTlog,
		UseSignedTimestamps: true,
		ClaimVerifier:       cosign.SimpleClaimVerifier,
	}
	if len(policy.Keys) > 0 {
		check.SigVerifier = policy.verifier
	}
	for _, who := range policy.Identities {
		check.Identities = append(check.Identities, cosign.Identity{IssuerRegExp: whole(who.Issuer), SubjectRegExp: whole(who.Subject)})
	}
	_, err = cosign.VerifyImageSignature(context.Background(), signature, must(v1.NewHash(artifact)), check)
	return err
}

// keyMaterial adds one key to a trusted root, whatever the hint.
type keyMaterial struct {
	root.TrustedMaterial
	verifier signature.Verifier
}

func (m keyMaterial) PublicKeyVerifier(string) (root.TimeConstrainedVerifier, error) {
	return root.NewExpiringKey(m.verifier, time.Time{}, time.Time{}), nil
}

func whole(pattern string) string { return "^(?:" + pattern + ")$" }

func shortened(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text[:min(len(text), 200)]
}
