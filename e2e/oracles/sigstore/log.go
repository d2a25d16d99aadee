package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/transparency-dev/merkle/rfc6962"
)

// hashFor is what cosign and sigstore-go hash with where nothing says otherwise.
func hashFor(key crypto.Signer) crypto.Hash {
	if public, ok := key.Public().(*ecdsa.PublicKey); ok && public.Curve == elliptic.P384() {
		return crypto.SHA384
	}
	return crypto.SHA256
}

func hashedRecord(hash string, signature []byte, verifier string) object {
	return object{"apiVersion": "0.0.1", "kind": "hashedrekord", "spec": object{
		"data":      object{"hash": object{"algorithm": "sha256", "value": hash}},
		"signature": object{"content": signature, "publicKey": object{"content": []byte(verifier)}},
	}}
}

func envelopeRecord(payload, signature []byte, verifier string) object {
	sum := func(bytes []byte) object {
		digest := sha256.Sum256(bytes)
		return object{"algorithm": "sha256", "value": hex.EncodeToString(digest[:])}
	}
	return object{"apiVersion": "0.0.1", "kind": "dsse", "spec": object{
		"envelopeHash": sum(must(json.Marshal(envelope(payload, signature)))),
		"payloadHash":  sum(payload),
		"signatures":   []any{object{"signature": signature, "verifier": []byte(verifier)}},
	}}
}

func tilesRecord(encoded, signature []byte, material object) object {
	digest := sha256.Sum256(encoded)
	return object{"apiVersion": "0.0.2", "kind": "hashedrekord", "spec": object{"hashedRekordV002": object{
		"data": object{"algorithm": "SHA2_256", "digest": digest[:]},
		"signature": object{"content": signature, "verifier": object{
			"keyDetails":      "PKIX_ECDSA_P256_SHA_256",
			"x509Certificate": material["certificate"],
		}},
	}}}
}

const logIndex = 1

// entry is what the log of the first generation answers: a promise and a proof, for the second of two leaves.
func (s *service) entry(record object, at time.Time) object {
	body := must(json.Marshal(record))
	hasher := rfc6962.DefaultHasher
	sibling := hasher.HashLeaf([]byte("somebody else's entry"))
	root := hasher.HashChildren(sibling, hasher.HashLeaf(body))
	return object{
		"logIndex":          number(logIndex),
		"logId":             object{"keyId": s.logID()},
		"kindVersion":       object{"kind": record["kind"], "version": record["apiVersion"]},
		"integratedTime":    number(at.Unix()),
		"inclusionPromise":  object{"signedEntryTimestamp": s.logPromise(body, at)},
		"canonicalizedBody": body,
		"inclusionProof": object{
			"logIndex": number(logIndex), "treeSize": "2", "rootHash": root, "hashes": []any{sibling},
			"checkpoint": object{"envelope": s.checkpoint(root)},
		},
	}
}

func (s *service) logID() []byte {
	id := sha256.Sum256(must(x509.MarshalPKIXPublicKey(s.log.Public())))
	return id[:]
}

func (s *service) logPromise(body []byte, at time.Time) []byte {
	// json.Marshal sorts the keys of a map and adds no space, which is the canonical form.
	payload := must(json.Marshal(object{
		"body": body, "integratedTime": at.Unix(), "logID": hex.EncodeToString(s.logID()), "logIndex": logIndex,
	}))
	digest := sha256.Sum256(payload)
	return must(s.log.Sign(rand.Reader, digest[:], crypto.SHA256))
}

func (s *service) checkpoint(root []byte) string {
	text := fmt.Sprintf("%s - 123\n2\n%s\n", logOrigin, base64.StdEncoding.EncodeToString(root))
	digest := sha256.Sum256([]byte(text))
	return note(text, logOrigin, s.logID()[:4], must(s.log.Sign(rand.Reader, digest[:], crypto.SHA256)))
}

// tilesEntry is what the log of the second generation answers: a proof without any time.
func (s *service) tilesEntry(record object) object {
	body := must(json.Marshal(record))
	root := rfc6962.DefaultHasher.HashLeaf(body)
	text := fmt.Sprintf("%s\n1\n%s\n", tilesOrigin, base64.StdEncoding.EncodeToString(root))
	signature := ed25519.Sign(s.tiles, []byte(text))
	return object{
		"logIndex":          "0",
		"logId":             object{"keyId": s.tilesID()},
		"kindVersion":       object{"kind": "hashedrekord", "version": "0.0.2"},
		"canonicalizedBody": body,
		"inclusionProof": object{
			"logIndex": "0", "treeSize": "1", "rootHash": root, "hashes": []any{},
			"checkpoint": object{"envelope": note(text, tilesOrigin, s.tilesID()[:4], signature)},
		},
	}
}

func (s *service) tilesID() []byte {
	key := s.tiles.Public().(ed25519.PublicKey)
	id := sha256.Sum256(append([]byte(tilesOrigin+"\n\x01"), key...))
	return id[:]
}

func note(text, name string, hint, signature []byte) string {
	return text + "\n— " + name + " " + base64.StdEncoding.EncodeToString(append(hint, signature...)) + "\n"
}
