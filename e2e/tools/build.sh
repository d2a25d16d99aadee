#!/usr/bin/env bash
# Builds programs that tests use into a cache outside the tree, once.
#
# Usage: build.sh helm | crane | registry | cosign | cosign-legacy | flux-controllers | node
#
#   helm              Helm
#   crane             pushes images to registries, and is one
#   registry          a registry in memory that knows what refers to an artifact
#   cosign            signs artifacts, as bundles that refer to them
#   cosign-legacy     signs artifacts, under a tag that is made of their digest
#   flux-controllers  source-controller, kustomize-controller and helm-controller of Flux 2.9.5
#   node              kubelet, kube-proxy, coredns, and pause, which every pod starts with
#
# The last line on stdout is the path of the program, and for flux-controllers and node the folder that holds them;
# everything else goes to stderr.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source-path=SCRIPTDIR source=once.sh
source "$here/once.sh"

# The version that Helm reports is part of how its own release is built.
helm() { go_install helm "helm.sh/helm/v4/cmd/helm@$1" "-X helm.sh/helm/v4/internal/version.version=$1"; }

crane() { go_install crane "github.com/google/go-containerregistry/cmd/crane@$1" ""; }

cosign() { go_install cosign "github.com/sigstore/cosign/$1/cmd/cosign@$2" ""; }

registry() { go_build registry . ""; }

# They run in images that hold nothing else, so they must not need a libc.
flux_controllers() {
    local program
    export CGO_ENABLED=0
    for program in source-controller kustomize-controller helm-controller; do
        go_build "$program" "github.com/fluxcd/$program" ""
    done
}

# node KUBERNETES COREDNS
node() {
    local version=k8s.io/component-base/version program
    for program in kubelet kube-proxy; do
        go_build "$program" "./$program" "-X $version.gitVersion=v$1" -modfile=node.mod
    done
    go_install coredns "github.com/coredns/coredns@$2" ""
    # The only one that runs in an image, which holds nothing else.
    CGO_ENABLED=0 go_build pause ./pause "" -modfile=node.mod
}

cd "$here"
disk_megabytes=2000
memory_megabytes=1500
case ${1:-} in
helm)
    what="Helm: about 2 minutes on 2 cores the first time"
    echo "$(once helm helm v4.3.1)/helm"
    ;;
crane)
    what="crane, which talks to registries: about a minute on 2 cores the first time"
    echo "$(once crane crane v0.22.1)/crane"
    ;;
cosign)
    what="cosign 3, which signs artifacts: about 4 minutes on 2 cores the first time"
    echo "$(once cosign cosign v3 v3.1.3)/cosign"
    ;;
cosign-legacy)
    what="cosign 2, which signs artifacts the old way: about 4 minutes on 2 cores the first time"
    echo "$(once cosign-legacy cosign v2 v2.6.5)/cosign"
    ;;
registry)
    cd "$here/../registry"
    what="a registry for tests: less than a minute the first time"
    inputs=(main.go go.mod go.sum)
    echo "$(once registry registry)/registry"
    ;;
flux-controllers)
    cd "$here/../flux-controllers"
    what="the controllers of Flux 2.9.5: about 6 minutes on 2 cores the first time"
    inputs=(go.mod go.sum)
    disk_megabytes=4000
    once flux-controllers flux_controllers
    ;;
node)
    cd "$here/../control-plane"
    what="the programs of a node: about 5 minutes on 2 cores the first time, when those of the control plane are there"
    inputs=(kubelet/main.go kube-proxy/main.go pause/main.go node.mod node.sum)
    disk_megabytes=4000
    once node node 1.36.3 v1.14.7
    ;;
*)
    echo "build.sh: program '${1:-}' is not known: use helm, crane, registry, cosign, cosign-legacy, flux-controllers or node" >&2
    exit 2
    ;;
esac
