# shellcheck shell=bash
# Programs that are built once a machine, into a cache outside the tree. Sourced by the scripts called build.sh.
#
#   folder=$(once NAME COMMAND ARGUMENT...)
#
# gives the folder that `COMMAND ARGUMENT...` filled, now or earlier. COMMAND is a function that builds into the
# folder $into; what it writes to stdout is shown on stderr. Before the call are set:
#
#   what              what is built and how long that takes, for people
#   inputs            files that go into the programs, as an array of paths
#   disk_megabytes    free space below which a first build is not begun: sources, objects and the linker's files
#   memory_megabytes  what the linker takes at its peak
#
# The folder's name has a hash of the function, its arguments, the inputs, and Go's version and target: a change of
# any of them builds anew. Callers that run at the same time wait for each other: two linkers at once may need 5 GB
# of memory, and two compilers at once are not faster.
set -euo pipefail
shopt -s inherit_errexit

cache=${XDG_CACHE_HOME:-$HOME/.cache}/flux-operator/programs
inputs=()
# Modules decide about their dependencies by themselves, wherever the cache is.
export GOWORK=off

say() { echo "programs: $*" >&2; }
stop() {
    say "$*"
    exit 1
}
need() { command -v "$1" >/dev/null || stop "'$1' is missing: $2"; }

once() {
    local name=$1 key folder
    shift
    need flock "it is part of util-linux"
    need sha256sum "it is part of coreutils"
    need go "Go builds $name: install the version that e2e/control-plane/go.mod names, or a later one"
    key=$(key "$@")
    folder=$cache/$name-$key
    if [ ! -d "$folder" ]; then
        mkdir -p "$cache"
        exec 9>"$cache/lock"
        if ! flock --nonblock 9; then
            say "$name has to be built; another build is running, waiting for it"
            flock 9
        fi
        [ -d "$folder" ] || build "$name" "$folder" "$@"
    fi
    echo "$folder"
}

key() {
    local go
    go=$(go env GOVERSION GOOS GOARCH CGO_ENABLED) ||
        stop "$(go version) is too old: install the version that e2e/control-plane/go.mod names, or a later one"
    {
        echo "$go"
        declare -f "$1" go_build go_install
        printf '%s\n' "$@"
        [ ${#inputs[@]} -eq 0 ] || sha256sum "${inputs[@]}"
    } | sha256sum | cut -c1-16
}

build() {
    local name=$1 folder=$2 started=$SECONDS
    shift 2
    check_space
    # Only the holder of the lock builds, so these were left by builds that were killed.
    rm -rf "$cache"/building-*
    into=$(mktemp -d "$cache/building-XXXXXXXX")
    # shellcheck disable=SC2064 # the value of now is meant
    trap "rm -rf '$into'" EXIT
    say "building $what"
    ("$@" >&2)
    mv "$into" "$folder"
    trap - EXIT
    say "$name: done in $((SECONDS - started)) s"
}

check_space() {
    local available folder
    for folder in "$cache" "$(go env GOCACHE)" "$(go env GOMODCACHE)"; do
        mkdir -p "$folder"
        available=$(df -Pm "$folder" | awk 'NR == 2 { print $4 }')
        [ "$available" -ge "$disk_megabytes" ] ||
            stop "$folder has $available MB free, a first build of $name needs $disk_megabytes MB"
    done
    available=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
    [ "$available" -ge "$memory_megabytes" ] ||
        say "only $available MB of memory are available, the linker needs about $memory_megabytes MB"
}

# go_build PROGRAM PACKAGE LINKER_FLAGS [FLAG...]: builds a package of the module in this folder.
go_build() {
    local program=$1 package=$2 linker_flags=$3 started=$SECONDS
    shift 3
    nice go build -buildvcs=false -trimpath -ldflags "-s -w $linker_flags" "$@" -o "$into/$program" "$package" ||
        stop "$program: failed; the output above says why"
    say "$program: built in $((SECONDS - started)) s"
}

# go_install PROGRAM PACKAGE@VERSION LINKER_FLAGS: builds a released program outside of any module of ours, so that
# its own module file decides about Go and its dependencies.
go_install() {
    local started=$SECONDS
    (cd "$cache" && GOBIN=$into nice go install -buildvcs=false -trimpath -ldflags "-s -w $3" "$2") ||
        stop "$1: failed; the output above says why"
    say "$1 ${2##*@}: built in $((SECONDS - started)) s"
}
