package main

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"time"
)

// A layer is one signature under a tag: what was signed, and the annotations.
type layer struct {
	Payload     string            `json:"payload"`
	Annotations map[string]string `json:"annotations"`
}

const (
	signatureAnnotation   = "dev.cosignproject.cosign/signature"
	certificateAnnotation = "dev.sigstore.cosign/certificate"
	chainAnnotation       = "dev.sigstore.cosign/chain"
	bundleAnnotation      = "dev.sigstore.cosign/bundle"
	timestampAnnotation   = "dev.sigstore.cosign/rfc3161timestamp"
)

// tag signs as cosign 2 does.
func (s *service) tag(order order) layer {
	payload := must(json.Marshal(object{
		"critical": object{
			"identity": object{"docker-reference": "registry.test/flux"},
			"image":    object{"docker-manifest-digest": "sha256:" + order.artifact},
			"type":     "cosign container image signature",
		},
		"optional": nil,
	}))
	key, annotations := order.key, map[string]string{}
	var verifier string
	if key == nil {
		leaf, leafKey := s.issue(order.who)
		key, verifier = leafKey, certificatePEM(leaf)
		annotations[certificateAnnotation] = verifier
		annotations[chainAnnotation] = certificatePEM(s.intermediate) + certificatePEM(s.root)
	} else {
		verifier = publicPEM(key.Public())
	}
	digest := sha256.Sum256(payload)
	signature := must(key.Sign(rand.Reader, digest[:], crypto.SHA256))
	annotations[signatureAnnotation] = base64.StdEncoding.EncodeToString(signature)

	by := s
	if order.log != nil {
		by = order.log
	}
	record := hashedRecord(hex.EncodeToString(digest[:]), signature, verifier)
	annotations[bundleAnnotation] = by.annotation(record, signing.Add(order.logged))
	if order.withStamp {
		token := s.timestamp(signature, signing.Add(order.stamped))
		annotations[timestampAnnotation] = string(must(json.Marshal(object{"SignedRFC3161Timestamp": token})))
	}
	return layer{base64.StdEncoding.EncodeToString(payload), annotations}
}

func (s *service) annotation(record object, at time.Time) string {
	body := must(json.Marshal(record))
	return string(must(json.Marshal(object{
		"SignedEntryTimestamp": s.logPromise(body, at),
		"Payload": object{
			"body": body, "integratedTime": at.Unix(), "logIndex": logIndex, "logID": hex.EncodeToString(s.logID()),
		},
	})))
}
