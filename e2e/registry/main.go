// Command registry is a registry in memory that knows what refers to an artifact.
//
// It writes its address to stdout once it listens, and ends when its stdin does.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	certificate := flag.String("certificate", "", "file with the certificate; without it the registry speaks plain HTTP")
	key := flag.String("key", "", "file with the key of the certificate")
	flag.Parse()
	if err := run(*certificate, *key); err != nil {
		log.Fatal(err)
	}
}

func run(certificate, key string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server := &http.Server{
		Handler:           registry.New(registry.WithReferrersSupport(true)),
		ReadHeaderTimeout: 10 * time.Second,
	}
	fmt.Println(listener.Addr())
	if certificate == "" {
		return server.Serve(listener)
	}
	return server.ServeTLS(listener, certificate, key)
}
