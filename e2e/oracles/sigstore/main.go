// Command sigstore makes signatures, good ones and bad ones, with a Sigstore of its own, and writes them down together
// with the answers of sigstore-go and cosign.
//
//	go run . identities FOLDER                                        by holders of certificates, and with logged keys
//	go run . cosign FOLDER COSIGN LEGACY_COSIGN                       with keys, by the released programs
//	go run . public FOLDER ROOT BUNDLE                                with Sigstore's public service, by somebody
//	go run . patterns FILE                                            what patterns match, by Go's regexp, into FILE.json
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	switch command := append(os.Args[1:], "")[0]; {
	case command == "identities" && len(os.Args) == 3:
		writeSuite(os.Args[2])
	case command == "cosign" && len(os.Args) == 5:
		writePrograms(os.Args[2], os.Args[3], os.Args[4])
	case command == "public" && len(os.Args) == 5:
		writePublic(os.Args[2], os.Args[3], os.Args[4])
	case command == "patterns" && len(os.Args) == 3:
		write(".", os.Args[2], patternRows())
	default:
		fmt.Fprintln(os.Stderr, "usage: sigstore identities FOLDER | cosign FOLDER COSIGN LEGACY_COSIGN | public FOLDER ROOT BUNDLE | patterns FILE")
		os.Exit(2)
	}
}

func writeSuite(folder string) {
	s := &suite{folder: folder, service: newService(nil), elsewhere: newService(nil)}
	write(folder+"/roots", "root", s.trustedRoot())
	s.identities()
	s.certificates()
	s.contents()
	s.tags()
	s.keys()

	ended := newService(func(s *service) { s.intermediateEnd = signing.Add(-time.Hour) })
	(&suite{folder: folder, service: ended}).alone("ended-authority", "CertificateExpired", "the authority above the certificate had ended", order{who: release})
	stamps := newService(func(s *service) { s.stampEnd = signing.Add(-time.Hour) })
	(&suite{folder: folder, service: stamps}).alone("ended-stamper", "TimestampOutside", "the timestamp authority was not trusted any more", order{who: release, withStamp: true})
	old := newService(func(s *service) { s.newest = opening })
	older := &suite{folder: folder, service: old}
	older.alone("old-root", "TrustedRootTooOld", "a log that came into use after the root was made", order{who: release, log: newService(nil)})
	(&suite{folder: folder, service: newService(nil)}).alone("far-future", "FromTheFuture", "logged at a time that no clock has seen", order{who: release, logged: 130000 * time.Hour})
	unlogged := newService(func(s *service) { s.withoutCertificateLogKey = true })
	(&suite{folder: folder, service: unlogged}).alone("unknown-certificate-log", "CertificateNotLogged", "a certificate log that the root does not have", order{who: release})
}

// alone writes a case with a trusted root of its own.
func (s *suite) alone(name, expected, about string, order order) {
	order.artifact = artifact
	write(s.folder+"/roots", name, s.trustedRoot())
	s.write(name, fixture{About: about, Policy: anyTag, Root: name, Expected: expected, Signatures: []signed{{Bundle: s.service.bundle(order)}}})
}
