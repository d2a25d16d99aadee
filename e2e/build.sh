#!/usr/bin/env bash
# Builds the programs of the test bed (control-plane and kwok) into a cache outside the tree, once.
#
# Usage: build.sh [1.36|1.34]
#
# The last line on stdout is the folder that holds the programs; everything else goes to stderr.
# The folder's name is a hash of what goes into the programs, so a change of any of it builds anew.
# Callers that run at the same time wait for one build: two linkers at once would need 5 GB of memory.
set -euo pipefail

minor=${1:-1.36}
case $minor in
1.36) patch=1.36.3 modfile=go.mod ;;
1.34) patch=1.34.4 modfile=go-1.34.mod ;;
*)
    echo "build.sh: Kubernetes '$minor' is not known: use 1.36 or 1.34" >&2
    exit 2
    ;;
esac
kwok=v0.8.0
# Free space below which a first build is not begun: sources, objects and the linker's files, with room to spare.
disk_megabytes=6000
# What the linker of the control plane takes at its peak.
memory_megabytes=2500

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=${XDG_CACHE_HOME:-$HOME/.cache}/flux-operator/bed

say() { echo "bed: $*" >&2; }
stop() {
    say "$*"
    exit 1
}
need() { command -v "$1" >/dev/null || stop "'$1' is missing: $2"; }
free_megabytes() { df -Pm "$1" | awk 'NR == 2 { print $4 }'; }

need flock "it is part of util-linux"
need setpriv "it is part of util-linux; the tests use it so that no process outlives them"
need openssl "it makes the keys and the certificate of a control plane"
need sha256sum "it is part of coreutils"
need go "Go builds the control plane: install the version that $here/control-plane/$modfile names, or a later one"
cd "$here/control-plane"
go_version=$(go env GOVERSION) ||
    stop "$(go version) is too old: $modfile asks for go $(awk '$1 == "go" { print $2 }' "$modfile")"
key=$({
    echo "$go_version $(go env GOOS GOARCH CGO_ENABLED) $minor"
    cat "$here/build.sh" main.go "$modfile" "${modfile%.mod}.sum"
} | sha256sum | cut -c1-16)
bin=$root/$key

# Runs a long step and says how long it took: timed WHAT COMMAND...
timed() {
    local what=$1 started=$SECONDS
    shift
    "$@" >&2 || stop "$what: failed; the output above says why"
    say "$what: done in $((SECONDS - started)) s"
}

build() {
    local available temporary
    for folder in "$root" "$(go env GOCACHE)" "$(go env GOMODCACHE)"; do
        mkdir -p "$folder"
        available=$(free_megabytes "$folder")
        [ "$available" -ge "$disk_megabytes" ] ||
            stop "$folder has $available MB free, a first build needs $disk_megabytes MB"
    done
    available=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
    [ "$available" -ge "$memory_megabytes" ] ||
        say "only $available MB of memory are available, the linker needs about $memory_megabytes MB"

    temporary=$(mktemp -d "$root/building-XXXXXXXX")
    # shellcheck disable=SC2064 # the value of now is meant
    trap "rm -rf '$temporary'" EXIT
    say "building the Kubernetes $patch control plane: about 6 minutes on 2 cores the first time, half a minute later"
    local version=k8s.io/component-base/version
    timed "the Kubernetes $patch control plane" \
        go build -modfile="$modfile" -buildvcs=false -trimpath \
        -ldflags "-s -w -X $version.gitVersion=v$patch -X $version.gitMajor=1 -X $version.gitMinor=${minor#1.}" \
        -o "$temporary/control-plane" .
    say "building kwok $kwok, which simulates nodes and pods: about 4 minutes the first time"
    # Outside the module, so that kwok's own module file decides about its dependencies.
    cd "$root"
    timed "kwok $kwok" env GOBIN="$temporary" go install -buildvcs=false -trimpath -ldflags "-s -w" \
        "sigs.k8s.io/kwok/cmd/kwok@$kwok"
    mv "$temporary" "$bin"
    trap - EXIT
}

if [ ! -d "$bin" ]; then
    mkdir -p "$root"
    exec 9>"$root/lock"
    if ! flock --nonblock 9; then
        say "another build is running, waiting for it"
        flock 9
    fi
    [ -d "$bin" ] || build
fi
echo "$bin"
