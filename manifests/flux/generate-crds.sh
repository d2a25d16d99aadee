#!/usr/bin/env bash
# Makes Flux's definitions (CRDs) from the Go modules of its API, the way its controllers make theirs.
#
#   generate-crds.sh OUT_DIR [--without-descriptions]
#       writes OUT_DIR/<Flux version>/<component>.yaml; files that are right already are not touched
#   generate-crds.sh --check
#       compares the committed definitions, image tags and image lists with what the Go modules say
#
# Needs Go and its module proxy. Tools and results are kept in ${XDG_CACHE_HOME:-~/.cache}/flux-operator/flux-crds,
# results under a key over this file, so that a second call only compares files.
set -euo pipefail
export LC_ALL=C # globs and sorts are in byte order everywhere

# Flux version, and the controller-gen that makes its definitions. Flux 2.6.4 was released with v0.16.1, which
# today's Go does not compile; v0.19.0 gives the same definitions but for its own version in the annotation.
releases='v2.6.4 v0.19.0
v2.9.5 v0.21.0'

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
script=$here/$(basename "${BASH_SOURCE[0]}")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/flux-operator/flux-crds

say() { echo "flux definitions: $*" >&2; }
die() { say "$*"; exit 1; }

main() {
    case $# in
        1) if [ "$1" = --check ]; then check; else write "$1" described; fi ;;
        2) [ "$2" = --without-descriptions ] || usage; write "$1" bare ;;
        *) usage ;;
    esac
}

usage() { die "usage: $(basename "$script") OUT_DIR [--without-descriptions] | --check"; }

# write OUT_DIR MODE: brings OUT_DIR in line with the results of MODE, file by file.
write() {
    case $1 in -*) usage ;; esac
    generate "$2"
    local source target written=0
    for source in "$result"/v*/*.yaml; do
        target=$1/${source#"$result"/}
        cmp -s "$source" "$target" && continue
        mkdir -p "$(dirname "$target")"
        cp "$source" "$target.new.$$"
        mv -f "$target.new.$$" "$target"
        written=$((written + 1))
    done
    say "$1 is complete, $written files written"
}

# generate MODE: sets $result to the directory with the definitions of all releases; MODE is described or bare.
generate() {
    result=$cache/$(checksum <"$script")-$1
    [ -d "$result" ] && return
    work_in_scratch
    local version tool_version
    while read -r version tool_version; do
        generate_release "$version" "$tool_version" "$1"
    done <<<"$releases"
    # Another call may have been faster; its result is the same.
    [ -d "$result" ] || mv "$scratch/result" "$result"
}

# generate_release VERSION TOOL_VERSION MODE: one file a component.
generate_release() {
    build_tool "$2"
    local options=crd started=$SECONDS component module module_version
    [ "$3" = described ] || options=crd:maxDescLen=0
    mkdir -p "$scratch/result/$1"
    api_modules "$1" >"$scratch/modules"
    [ -s "$scratch/modules" ] || die "the go.mod of Flux $1 requires no API modules"
    while read -r component module module_version; do
        generate_component "$component" "$module@$module_version" "$options" "$scratch/result/$1/$component.yaml"
    done <"$scratch/modules"
    say "generated Flux $1 ($3) in $((SECONDS - started)) s"
}

# generate_component COMPONENT MODULE@VERSION OPTIONS FILE: each API module is generated inside itself, because
# only there Go picks the dependencies that the controller was released with.
generate_component() {
    local source
    source=$(module_dir "$2")
    rm -rf "$scratch/api" "$scratch/definitions"
    cp -R "$source" "$scratch/api"
    chmod -R u+w "$scratch/api"
    (cd "$scratch/api" && "$tool" "$3" paths=./... output:crd:artifacts:config="$scratch/definitions") ||
        die "controller-gen failed on $2"
    local definition separator=''
    for definition in "$scratch/definitions"/*.yaml; do
        [ -f "$definition" ] || die "$2 has no definitions"
        printf '%s' "$separator"
        label "$1" <"$definition" || die "$definition has no place for the labels: its metadata is not as expected"
        separator=$'---\n'
    done >"$4"
}

# label COMPONENT: adds the labels that Flux's releases have, in sorted position.
label() {
    awk -v component="$1" '
        NR == 1 && /^---$/ { next }
        /^  labels:/ && !labelled { exit }
        /^  name: / && !labelled {
            print "  labels:"
            print "    app.kubernetes.io/component: " component
            print "    app.kubernetes.io/part-of: flux"
            labelled = 1
        }
        { print }
        END { exit !labelled }'
}

# api_modules VERSION: lines "component module version", as the go.mod of that Flux pins them.
api_modules() {
    local flux
    flux=$(module_dir "github.com/fluxcd/flux2/v2@$1")
    awk '$1 ~ /^github\.com\/fluxcd\/[a-z-]+\/api(\/v[0-9]+)?$/ { split($1, path, "/"); print path[3], $1, $2 }' \
        "$flux/go.mod" | sort
}

# released VERSION: lines "component version", as the manifests in that Flux name the controllers' releases.
released() {
    local flux
    flux=$(module_dir "github.com/fluxcd/flux2/v2@$1")
    sed -n 's|.*/releases/download/\([^/]*\)/\(.*\)\.deployment\.yaml$|\2 \1|p' \
        "$flux"/manifests/bases/*/kustomization.yaml | sort
}

# module_dir MODULE@VERSION: downloads a module and prints where it is.
module_dir() {
    local answer directory
    answer=$(cd "$scratch" && go mod download -json "$1") || die "failed to download $1: $answer"
    directory=$(sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p' <<<"$answer")
    [ -d "$directory" ] || die "failed to download $1: go named no directory"
    echo "$directory"
}

# build_tool VERSION: sets $tool to a controller-gen of that version.
build_tool() {
    tool=$cache/controller-gen-$1
    [ -x "$tool" ] && return
    local started=$SECONDS
    say "building controller-gen $1"
    (cd "$scratch" && unset GOOS GOARCH && CGO_ENABLED=0 GOBIN=$scratch \
        go install "sigs.k8s.io/controller-tools/cmd/controller-gen@$1") || die "failed to build controller-gen $1"
    mv -f "$scratch/controller-gen" "$tool"
    say "built controller-gen $1 in $((SECONDS - started)) s"
}

# work_in_scratch: sets $scratch, on the file system of the cache so that moves are atomic.
work_in_scratch() {
    [ -z "${scratch:-}" ] || return 0
    command -v go >/dev/null || die "go is not installed, and these definitions are made from Go modules"
    mkdir -p "$cache"
    scratch=$(mktemp -d "$cache/scratch.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    export GOWORK=off
}

checksum() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c 1-64; }

check() {
    generate bare
    work_in_scratch
    diff -r "$result" "$here/crds" >&2 ||
        die "the committed definitions are not what the modules give: run $script $here/crds --without-descriptions"
    local version list
    while read -r version _; do
        released "$version" >"$scratch/released"
        [ -s "$scratch/released" ] || die "the module of Flux $version names no controller releases"
        api_modules "$version" | sed 's/ .* / /' | same "the API modules of Flux $version"
        sed -n 's|^ *image: fluxcd/\(.*\):\(.*\)$|\1 \2|p' "$here/flux/$version"/*.yaml | sort |
            same "the images in flux/$version"
        for list in "$here/flux-images/$version"/*.yaml; do
            sed -n -e 's|^- name: .*/||p' -e 's|^  newTag: ||p' "$list" | paste -d ' ' - - | sort |
                same "${list#"$here"/}"
        done
    done <<<"$releases"
    say "committed definitions, images and image lists are what the Go modules say"
}

# same WHAT: compares the lines "component version" on stdin with those that Flux names.
same() { diff "$scratch/released" - >&2 || die "$1 (>) differ from the controller releases that Flux names (<)"; }

main "$@"
