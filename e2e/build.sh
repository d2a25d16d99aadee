#!/usr/bin/env bash
# Builds the programs of the test bed (control-plane and kwok) into a cache outside the tree, once.
#
# Usage: build.sh [1.36|1.34]
#
# The last line on stdout is the folder that holds the programs; everything else goes to stderr.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source-path=SCRIPTDIR source=tools/once.sh
source "$here/tools/once.sh"

case ${1:-1.36} in
1.36) patch=1.36.3 module=go ;;
1.34) patch=1.34.4 module=go-1.34 ;;
*)
    echo "build.sh: Kubernetes '$1' is not known: use 1.36 or 1.34" >&2
    exit 2
    ;;
esac

need setpriv "it is part of util-linux; the tests use it so that no process outlives them"
need openssl "it makes the keys and the certificate of a control plane"

# bed PATCH MODULE_FILE KWOK
bed() {
    local version=k8s.io/component-base/version minor
    minor=$(cut -d. -f2 <<<"$1")
    go_build control-plane . "-X $version.gitVersion=v$1 -X $version.gitMajor=1 -X $version.gitMinor=$minor" \
        -modfile="$2"
    go_install kwok "sigs.k8s.io/kwok/cmd/kwok@$3" ""
}

cd "$here/control-plane"
what="the Kubernetes $patch control plane, and kwok, which simulates nodes and pods: about 10 minutes on 2 cores \
the first time, a minute later"
inputs=(main.go "$module.mod" "$module.sum")
disk_megabytes=6000
memory_megabytes=2500
once "kubernetes-$patch" bed "$patch" "$module.mod" v0.8.0
