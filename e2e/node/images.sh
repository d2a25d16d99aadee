#!/usr/bin/env bash
# Makes the images that a node of ours runs, as archives for `ctr images import`.
#
# Usage: images.sh OPERATOR FOLDER
#
#   OPERATOR  the binary of the operator
#   FOLDER    gets operator.tar, pause.tar, hello.tar, and one archive for each controller of Flux that can be built
#             from its Go module
#
# The controllers have the names that the operator gives them: those of the release inside it.
# NODE and CONTROLLERS are the folders of the programs, as e2e/tools/build.sh prints them.
set -euo pipefail
shopt -s inherit_errexit

[ $# -eq 2 ] || {
    echo "usage: images.sh OPERATOR FOLDER" >&2
    exit 2
}
operator=$(realpath "$1") folder=$2
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
image=$here/../../operator/flux-operator/image
example=$here/../../examples/smallest/flux.yaml
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
# They go no further than into the next folder.
export COMPRESSION=none

# pack PROGRAM USER NAME FILE: an image that holds nothing but one program without a libc.
pack() {
    local root=$temporary/root layout=$temporary/layout config
    rm -rf "$root" "$layout"
    install -D --mode=755 "$1" "$root/usr/local/bin/${1##*/}"
    config="{\"User\":\"$2\",\"Entrypoint\":[\"/usr/local/bin/${1##*/}\"],\"Env\":[\"PATH=/usr/local/bin\"]}"
    "$image/pack.sh" "$root" "$config" "$layout" "$3" >/dev/null
    tar --create --directory "$layout" . >"$folder/$4"
}

mkdir -p "$folder"
"$image/build.sh" "$operator" localhost/flux-operator "$folder/operator.tar" >/dev/null
pack "$NODE/pause" 65535:65535 localhost/pause:1 pause.tar
pack "$NODE/pause" 65535:65535 localhost/hello:1 hello.tar

"$operator" build instance --filename "$example" >"$temporary/flux.yaml"
names=$(sed -n 's|^ *image: ||p' "$temporary/flux.yaml" | sort -u)
for program in "$CONTROLLERS"/*; do
    name=$(grep "/${program##*/}:" <<<"$names") || {
        echo "images.sh: Flux as $example describes it has no image of ${program##*/}" >&2
        exit 1
    }
    pack "$program" 65534:65534 "$name" "${program##*/}.tar"
done
