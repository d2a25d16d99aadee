#!/usr/bin/env bash
# Makes the operator's image from its binary, without a container engine, and pushes it or writes it to a file.
#
# Usage: build.sh BINARY REPOSITORY [TAR]
#
#   BINARY      flux-operator, built on this machine
#   REPOSITORY  where the image belongs, such as registry.example.com/team/flux-operator; its tags are the version
#               with and without a `v`
#   TAR         a file for `ctr images import`; without it the image is pushed. On loopback plain HTTP is spoken
#
# CRANE names the program that pushes, `crane` by default; credentials are those of `crane auth login`.
# SOURCE is the URL of the source code, for the label org.opencontainers.image.source; no label without it.
#
# The image holds the binary, the C library that it is linked with, certificates of authorities, and an empty /tmp.
# It runs as user 65532 and needs nothing writable. The last line on stdout is the image's name with its digest.
set -euo pipefail
shopt -s inherit_errexit

stop() {
    echo "image: $*" >&2
    exit 1
}
[ $# -eq 2 ] || [ $# -eq 3 ] || {
    echo "usage: build.sh BINARY REPOSITORY [TAR]" >&2
    exit 2
}
binary=$1 repository=$2 tar=${3:-}
# The host is where a registry's name has capitals or a port; a tag is ours to give.
[[ $repository =~ ^([A-Za-z0-9.-]+(:[0-9]+)?/)?[a-z0-9._/-]+$ ]] ||
    stop "'$repository' is not a repository: use HOST[:PORT]/NAME in lower case and without a tag"
[[ ${SOURCE:-} =~ ^[^[:space:]\"\\]*$ ]] || stop "SOURCE is '$SOURCE', which is not a URL"
authorities=/etc/ssl/certs/ca-certificates.crt
[ -f "$authorities" ] || stop "$authorities is missing: install the package ca-certificates"

version=$("$binary" version | sed -n 's/^client: //p')
[ -n "$version" ] || stop "$binary does not say its version"
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
root=$temporary/root

# put MODE FILE PATH: copies a file, not a link to it.
put() { install -D --mode="$1" "$(realpath "$2")" "$root$3"; }

umask 022
put 755 "$binary" /usr/local/bin/flux-operator
put 644 "$authorities" "$authorities"
install -d --mode=1777 "$root/tmp"
# Where names come from; without this file it depends on the C library.
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
# Lines are `name => path (address)` and, for the loader, `path (address)`.
libraries=$(ldd "$binary" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }')
[ -n "$libraries" ] || stop "ldd names no libraries of $binary"
for library in $libraries; do
    [ -f "$library" ] || stop "$binary needs a library that is not here: see ldd $binary"
    put 755 "$library" "$library"
    # glibc loads these when a name is looked up; ldd does not know them. Since 2.34 it holds them itself.
    if [ "${library##*/}" = libc.so.6 ]; then
        for late in libnss_files.so.2 libnss_dns.so.2 libresolv.so.2; do
            [ ! -f "${library%/*}/$late" ] || put 755 "${library%/*}/$late" "${library%/*}/$late"
        done
    fi
done

labels="\"org.opencontainers.image.title\":\"flux-operator\""
labels+=",\"org.opencontainers.image.description\":\"The operator that installs Flux, keeps it as declared and upgrades it\""
labels+=",\"org.opencontainers.image.version\":\"$version\",\"org.opencontainers.image.licenses\":\"Apache-2.0\""
[ -z "${SOURCE:-}" ] || labels+=",\"org.opencontainers.image.source\":\"$SOURCE\""
# The arguments of a pod follow the entrypoint.
config="{\"User\":\"65532:65532\",\"Entrypoint\":[\"/usr/local/bin/flux-operator\",\"serve\"],\"WorkingDir\":\"/\""
config+=",\"Env\":[\"PATH=/usr/local/bin\",\"SSL_CERT_FILE=$authorities\"],\"Labels\":{$labels}}"

if [ -n "$tar" ]; then
    names=("$repository:v$version" "$repository:$version")
else
    names=("$repository:v$version")
fi
digest=$("$here/pack.sh" "$root" "$config" "$temporary/layout" "${names[@]}")
if [ -n "$tar" ]; then
    tar --create --directory "$temporary/layout" --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 \
        --numeric-owner . >"$tar"
else
    "${CRANE:-crane}" push "$temporary/layout" "$repository:v$version" >&2
    "${CRANE:-crane}" tag "$repository:v$version" "$version" >&2
fi
echo "$repository:v$version@$digest"
