package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"encoding/pem"
	"math/big"
	"net/url"
	"strings"
	"time"
)

// signing is when everything is signed: long ago, so that no clock is before it.
var signing = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

var (
	opening = signing.AddDate(-1, 0, 0)
	closing = signing.AddDate(20, 0, 0)
)

// A service is a Sigstore of its own: a certificate authority, a certificate log, transparency logs of both
// generations and a timestamp authority.
type service struct {
	root, intermediate       *x509.Certificate
	intermediateKey          *ecdsa.PrivateKey
	certificateLog           *ecdsa.PrivateKey
	log                      *ecdsa.PrivateKey
	tiles                    ed25519.PrivateKey
	stampRoot, stamp         *x509.Certificate
	stampKey                 *ecdsa.PrivateKey
	intermediateEnd          time.Time
	stampStart, stampEnd     time.Time
	newest                   time.Time
	withoutCertificateLogKey bool
}

func newService(change func(*service)) *service {
	s := &service{intermediateEnd: closing, stampStart: opening, stampEnd: closing, newest: signing.AddDate(0, 3, 0)}
	if change != nil {
		change(s)
	}
	s.certificateLog, s.log, s.stampKey = curveKey(elliptic.P256()), curveKey(elliptic.P256()), curveKey(elliptic.P256())
	s.tiles = must2(ed25519.GenerateKey(rand.Reader))

	rootKey := curveKey(elliptic.P384())
	s.root = certificate(authority("test root", opening, closing), nil, rootKey.Public(), rootKey)
	s.intermediateKey = curveKey(elliptic.P384())
	template := authority("test intermediate", opening, s.intermediateEnd)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
	s.intermediate = certificate(template, s.root, s.intermediateKey.Public(), rootKey)

	stampRootKey := curveKey(elliptic.P256())
	s.stampRoot = certificate(authority("test timestamp root", opening, closing), nil, stampRootKey.Public(), stampRootKey)
	usage := must(asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}}))
	s.stamp = certificate(&x509.Certificate{
		Subject:         pkix.Name{CommonName: "test timestamps"},
		NotBefore:       opening,
		NotAfter:        closing,
		KeyUsage:        x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: usage}},
	}, s.stampRoot, s.stampKey.Public(), stampRootKey)
	return s
}

func authority(name string, start, end time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: name, Organization: []string{"test"}},
		NotBefore:             start,
		NotAfter:              end,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
}

var serial int64

// certificate signs template; without a parent it signs itself.
func certificate(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) *x509.Certificate {
	if template.SerialNumber == nil {
		serial++
		template.SerialNumber = big.NewInt(serial)
	}
	if parent == nil {
		parent = template
	}
	return must(x509.ParseCertificate(must(x509.CreateCertificate(rand.Reader, template, parent, public, key))))
}

// An identity is what a certificate says, and how it departs from what Fulcio issues.
type identity struct {
	subject, issuer string
	algorithm       string
	withoutUsage    bool
	withoutLog      bool
}

// Fulcio writes the issuer twice: as bare text, and in the newer extension as a string of ASN.1.
var (
	bareIssuer = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 1}
	issuer     = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}
)

// issue gives a certificate that lives for ten minutes, with the promise of the certificate log inside.
func (s *service) issue(who identity) (*x509.Certificate, crypto.Signer) {
	key := newKey(who.algorithm)
	serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		NotBefore:    signing,
		NotAfter:     signing.Add(10 * time.Minute),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	if !who.withoutUsage {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
	}
	if strings.Contains(who.subject, "://") {
		template.URIs = []*url.URL{must(url.Parse(who.subject))}
	} else {
		template.EmailAddresses = []string{who.subject}
	}
	if who.issuer != "" {
		value := must(asn1.MarshalWithParams(who.issuer, "utf8"))
		template.ExtraExtensions = append(template.ExtraExtensions,
			pkix.Extension{Id: bareIssuer, Value: []byte(who.issuer)}, pkix.Extension{Id: issuer, Value: value})
	}
	leaf := certificate(template, s.intermediate, key.Public(), s.intermediateKey)
	if who.withoutLog {
		return leaf, key
	}
	template.ExtraExtensions = append(template.ExtraExtensions, s.promise(leaf))
	return certificate(template, s.intermediate, key.Public(), s.intermediateKey), key
}

// promise is the certificate log's answer to a certificate that does not have it yet (RFC 6962).
func (s *service) promise(leaf *x509.Certificate) pkix.Extension {
	spki := must(x509.MarshalPKIXPublicKey(s.certificateLog.Public()))
	milliseconds := binary.BigEndian.AppendUint64(nil, uint64(signing.UnixMilli()))

	signed := append([]byte{0, 0}, milliseconds...)
	signed = append(signed, 0, 1)
	signed = append(signed, sum(s.intermediate.RawSubjectPublicKeyInfo)...)
	length := len(leaf.RawTBSCertificate)
	signed = append(signed, byte(length>>16), byte(length>>8), byte(length))
	signed = append(append(signed, leaf.RawTBSCertificate...), 0, 0)
	digest := sha256.Sum256(signed)
	signature := must(s.certificateLog.Sign(rand.Reader, digest[:], crypto.SHA256))

	entry := append([]byte{0}, sum(spki)...)
	entry = append(append(entry, milliseconds...), 0, 0, 4, 3)
	entry = append(prefixed(entry, len(signature)), signature...)
	list := append(prefixed(nil, len(entry)), entry...)
	list = append(prefixed(nil, len(list)), list...)
	return pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2}, Value: must(asn1.Marshal(list))}
}

func prefixed(bytes []byte, length int) []byte { return append(bytes, byte(length>>8), byte(length)) }

func curveKey(curve elliptic.Curve) *ecdsa.PrivateKey {
	return must(ecdsa.GenerateKey(curve, rand.Reader))
}

func newKey(algorithm string) crypto.Signer {
	switch algorithm {
	case "", "p256":
		return curveKey(elliptic.P256())
	case "p384":
		return curveKey(elliptic.P384())
	case "rsa":
		return must(rsa.GenerateKey(rand.Reader, 2048))
	case "ed25519":
		return must2(ed25519.GenerateKey(rand.Reader))
	}
	panic("unknown algorithm " + algorithm)
}

func publicPEM(key crypto.PublicKey) string {
	block := &pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(key))}
	return string(pem.EncodeToMemory(block))
}

func certificatePEM(certificate *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func sum(bytes []byte) []byte {
	digest := sha256.Sum256(bytes)
	return digest[:]
}

func must2[S, T any](_ S, value T, err error) T { return must(value, err) }
