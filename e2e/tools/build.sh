#!/usr/bin/env bash
# Builds a program that tests use into a cache outside the tree, once.
#
# Usage: build.sh helm
#
# The last line on stdout is the path of the program; everything else goes to stderr.
# The folder's name is a hash of what goes into the program, so a change of any of it builds anew.
# Callers that run at the same time wait for one build.
set -euo pipefail

program=${1:-}
case $program in
helm) package=helm.sh/helm/v4/cmd/helm version=v4.3.1 minutes=2 ;;
*)
    echo "build.sh: program '$program' is not known: use helm" >&2
    exit 2
    ;;
esac
# A first build leaves this much in Go's caches and in ours.
disk_megabytes=2000

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=${XDG_CACHE_HOME:-$HOME/.cache}/flux-operator/tools

say() { echo "tools: $*" >&2; }
stop() {
    say "$*"
    exit 1
}
need() { command -v "$1" >/dev/null || stop "'$1' is missing: $2"; }
free_megabytes() { df -Pm "$1" | awk 'NR == 2 { print $4 }'; }

need flock "it is part of util-linux"
need sha256sum "it is part of coreutils"
need go "Go builds $program: install a recent version"
# Outside every module, so that the program's own module file decides about Go and its dependencies.
mkdir -p "$root"
cd "$root"
key=$({
    echo "$package@$version $(go env GOVERSION GOOS GOARCH CGO_ENABLED)"
    cat "$here/build.sh"
} | sha256sum | cut -c1-16)
bin=$root/$program-$version-$key

build() {
    local available temporary started=$SECONDS
    for folder in "$root" "$(go env GOCACHE)" "$(go env GOMODCACHE)"; do
        mkdir -p "$folder"
        available=$(free_megabytes "$folder")
        [ "$available" -ge "$disk_megabytes" ] ||
            stop "$folder has $available MB free, a first build needs $disk_megabytes MB"
    done
    temporary=$(mktemp -d "$root/building-XXXXXXXX")
    # shellcheck disable=SC2064 # the value of now is meant
    trap "rm -rf '$temporary'" EXIT
    say "building $program $version: about $minutes minutes on 2 cores the first time"
    # The version that the program reports is part of how its own release is built.
    GOBIN="$temporary" nice go install -buildvcs=false -trimpath \
        -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$version" "$package@$version" >&2 ||
        stop "$program $version: failed; the output above says why"
    say "$program $version: done in $((SECONDS - started)) s"
    mv "$temporary" "$bin"
    trap - EXIT
}

if [ ! -d "$bin" ]; then
    exec 9>"$root/$program.lock"
    if ! flock --nonblock 9; then
        say "another build is running, waiting for it"
        flock 9
    fi
    [ -d "$bin" ] || build
fi
echo "$bin/$program"
