#!/usr/bin/env bash
# Packs a folder into a container image, without a container engine.
#
# Usage: pack.sh ROOT CONFIG LAYOUT NAME...
#
#   ROOT    the folder that becomes the image's file system
#   CONFIG  what a container of it runs, as the object `config` of an OCI image, in JSON
#   LAYOUT  a new folder for the result, an OCI image layout; a tar archive of it is what `ctr images import` reads
#   NAME    REPOSITORY:TAG that an import of the layout gives to the image
#
# COMPRESSION is `gzip` by default; `none` is for images that do not travel.
# The same content gives the same bytes: names are sorted, times are zero, everything belongs to root. The digest of
# the image is printed.
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C

[ $# -ge 4 ] || {
    echo "usage: pack.sh ROOT CONFIG LAYOUT NAME..." >&2
    exit 2
}
root=$1 config=$2 layout=$3
shift 3

case $(uname -m) in
x86_64) architecture=amd64 ;;
aarch64) architecture=arm64 ;;
*)
    echo "pack.sh: OCI has other names for architectures than uname, and that of $(uname -m) is not known here" >&2
    exit 1
    ;;
esac

# blob FILE: moves a file to where its digest says, and sets $digest and $size.
blob() {
    digest=$(sha256sum "$1" | cut -c1-64)
    size=$(stat -c %s "$1")
    mv "$1" "$layout/blobs/sha256/$digest"
}

mkdir -p "$layout/blobs/sha256"
part=$layout/part
tar --create --directory "$root" --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner . >"$part"
uncompressed=$(sha256sum "$part" | cut -c1-64)
media_type=application/vnd.oci.image.layer.v1.tar
case ${COMPRESSION:-gzip} in
gzip)
    gzip --no-name <"$part" >"$part.gz"
    mv "$part.gz" "$part"
    media_type+=+gzip
    ;;
none) ;;
*)
    echo "pack.sh: COMPRESSION is '$COMPRESSION': use gzip or none" >&2
    exit 2
    ;;
esac
blob "$part"
layer="{\"mediaType\":\"$media_type\",\"digest\":\"sha256:$digest\",\"size\":$size}"

printf '{"architecture":"%s","os":"linux","created":"1970-01-01T00:00:00Z","config":%s,%s}' "$architecture" "$config" \
    "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:$uncompressed\"]},\"history\":[{}]" >"$part"
blob "$part"
configuration="{\"mediaType\":\"application/vnd.oci.image.config.v1+json\",\"digest\":\"sha256:$digest\",\"size\":$size}"

manifest=application/vnd.oci.image.manifest.v1+json
printf '{"schemaVersion":2,"mediaType":"%s","config":%s,"layers":[%s]}' "$manifest" "$configuration" "$layer" >"$part"
blob "$part"

entries=
for name in "$@"; do
    names="\"io.containerd.image.name\":\"$name\",\"org.opencontainers.image.ref.name\":\"${name##*:}\""
    platform="{\"architecture\":\"$architecture\",\"os\":\"linux\"}"
    entries+="${entries:+,}{\"mediaType\":\"$manifest\",\"digest\":\"sha256:$digest\",\"size\":$size,"
    entries+="\"platform\":$platform,\"annotations\":{$names}}"
done
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s]}' "$entries" \
    >"$layout/index.json"
printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
echo "sha256:$digest"
