package main

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/digitorus/timestamp"
)

const predicate = "https://sigstore.dev/cosign/sign/v1"

// An order says what is to be signed and how it departs from what cosign does.
type order struct {
	who       identity
	key       crypto.Signer // instead of an identity
	artifact  string
	message   bool // a message signature instead of a statement
	pss       bool // the other padding of RSA
	predicate string
	logged    time.Duration // after the certificate was issued
	stamped   time.Duration
	withStamp bool
	tiles     bool // the log of the second generation
	log       *service
	stamper   *service
}

// bundle gives a bundle of version 0.3.
func (s *service) bundle(order order) object {
	signature, material, content, entry := s.sign(order)
	if order.withStamp || order.tiles {
		by := s
		if order.stamper != nil {
			by = order.stamper
		}
		token := by.timestamp(signature, signing.Add(order.stamped))
		material["timestampVerificationData"] = object{"rfc3161Timestamps": []any{object{"signedTimestamp": token}}}
	}
	material["tlogEntries"] = []any{entry}
	content["mediaType"] = "application/vnd.dev.sigstore.bundle.v0.3+json"
	content["verificationMaterial"] = material
	// What comes out is what a reader gets, with bytes as text.
	return copyOf(content)
}

func (s *service) sign(order order) (signature []byte, material, content, entry object) {
	key, verifier := order.key, ""
	if key == nil {
		var leaf *x509.Certificate
		leaf, key = s.issue(order.who)
		verifier = certificatePEM(leaf)
		material = object{"certificate": object{"rawBytes": leaf.Raw}}
	} else {
		verifier = publicPEM(key.Public())
		hint := sha256.Sum256(must(x509.MarshalPKIXPublicKey(key.Public())))
		material = object{"publicKey": object{"hint": base64.StdEncoding.EncodeToString(hint[:])}}
	}
	digest := must(hex.DecodeString(order.artifact))
	by := s
	if order.log != nil {
		by = order.log
	}
	var body object
	if order.message {
		signature = signDigest(key, digest)
		content = object{"messageSignature": object{
			"messageDigest": object{"algorithm": "SHA2_256", "digest": digest}, "signature": signature,
		}}
		body = hashedRecord(order.artifact, signature, verifier)
	} else {
		payload := statement(order)
		encoded := fmt.Appendf(nil, "DSSEv1 28 application/vnd.in-toto+json %d %s", len(payload), payload)
		signature = signBytes(key, encoded, order.pss)
		content = object{"dsseEnvelope": envelope(payload, signature)}
		body = envelopeRecord(payload, signature, verifier)
		if order.tiles {
			body = tilesRecord(encoded, signature, material)
		}
	}
	if order.tiles {
		return signature, material, content, by.tilesEntry(body)
	}
	return signature, material, content, by.entry(body, signing.Add(order.logged))
}

func statement(order order) []byte {
	kind := order.predicate
	if kind == "" {
		kind = predicate
	}
	return must(json.Marshal(object{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       []any{object{"name": "", "digest": object{"sha256": order.artifact}, "annotations": object{}}},
		"predicateType": kind,
		"predicate":     object{},
	}))
}

func envelope(payload, signature []byte) object {
	return object{
		"payload":     payload,
		"payloadType": "application/vnd.in-toto+json",
		"signatures":  []any{object{"sig": signature}},
	}
}

func signBytes(key crypto.Signer, message []byte, pss bool) []byte {
	if _, ok := key.Public().(ed25519.PublicKey); ok {
		return must(key.Sign(rand.Reader, message, crypto.Hash(0)))
	}
	hash := hashFor(key)
	hasher := hash.New()
	hasher.Write(message)
	if pss {
		return must(key.Sign(rand.Reader, hasher.Sum(nil), &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}))
	}
	return must(key.Sign(rand.Reader, hasher.Sum(nil), hash))
}

func signDigest(key crypto.Signer, digest []byte) []byte {
	return must(key.Sign(rand.Reader, digest, crypto.SHA256))
}

// timestamp signs that signature was there at a time (RFC 3161).
func (s *service) timestamp(signature []byte, at time.Time) []byte {
	digest := sha256.Sum256(signature)
	token := timestamp.Timestamp{
		HashAlgorithm: crypto.SHA256,
		HashedMessage: digest[:],
		Time:          at,
		Policy:        []int{1, 3, 6, 1, 4, 1, 57264, 2},
	}
	return must(token.CreateResponseWithOpts(s.stamp, s.stampKey, crypto.SHA256))
}

func copyOf(value object) object {
	var result object
	decoder := json.NewDecoder(bytes.NewReader(must(json.Marshal(value))))
	decoder.UseNumber()
	if err := decoder.Decode(&result); err != nil {
		panic(err)
	}
	return result
}

func number(value int64) string { return strconv.FormatInt(value, 10) }
