package main

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"time"
)

const (
	logOrigin   = "log.test"
	tilesOrigin = "tiles.test"
)

type object = map[string]any

// trustedRoot is what a verifier is given to trust a service.
func (s *service) trustedRoot() object {
	certificateLogs := []any{logMember("https://certificates.test", s.certificateLog.Public(), opening)}
	if s.withoutCertificateLogKey {
		certificateLogs = []any{}
	}
	return object{
		"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
		"tlogs":     []any{logMember("https://"+logOrigin, s.log.Public(), opening), s.tilesMember()},
		"certificateAuthorities": []any{object{
			"subject":   object{"organization": "test", "commonName": "test"},
			"uri":       "https://authority.test",
			"certChain": chain(s.intermediate, s.root),
			"validFor":  object{"start": stamp(opening)},
		}},
		"ctlogs": certificateLogs,
		"timestampAuthorities": []any{object{
			"subject":   object{"organization": "test", "commonName": "test"},
			"uri":       "https://timestamps.test",
			"certChain": chain(s.stamp, s.stampRoot),
			"validFor":  object{"start": stamp(s.stampStart), "end": stamp(s.stampEnd)},
		}, object{
			// A root is as young as its newest member.
			"subject":   object{"organization": "test", "commonName": "test"},
			"uri":       "https://timestamps-of-tomorrow.test",
			"certChain": chain(s.stamp, s.stampRoot),
			"validFor":  object{"start": stamp(s.newest)},
		}},
	}
}

func logMember(url string, key crypto.PublicKey, start time.Time) object {
	spki := must(x509.MarshalPKIXPublicKey(key))
	id := sha256.Sum256(spki)
	return object{
		"baseUrl":       url,
		"hashAlgorithm": "SHA2_256",
		"publicKey": object{
			"rawBytes": spki, "keyDetails": "PKIX_ECDSA_P256_SHA_256", "validFor": object{"start": stamp(start)},
		},
		"logId": object{"keyId": id[:]},
	}
}

func (s *service) tilesMember() object {
	return object{
		"baseUrl":       "https://" + tilesOrigin,
		"hashAlgorithm": "SHA2_256",
		"publicKey": object{
			"rawBytes":   must(x509.MarshalPKIXPublicKey(s.tiles.Public())),
			"keyDetails": "PKIX_ED25519",
			"validFor":   object{"start": stamp(opening)},
		},
		"logId": object{"keyId": s.tilesID()},
	}
}

func chain(certificates ...*x509.Certificate) object {
	var members []any
	for _, certificate := range certificates {
		members = append(members, object{"rawBytes": certificate.Raw})
	}
	return object{"certificates": members}
}

func stamp(time time.Time) string { return time.Format("2006-01-02T15:04:05Z") }
