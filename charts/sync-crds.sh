#!/usr/bin/env bash
# Copies the definitions of the API into the chart flux-operator: helm packages no files from outside a chart,
# and a chart that is read from Git may not contain links that lead out of it.
#
# Usage: sync-crds.sh [--check]
#
# With --check nothing is written, and the exit status is 1 if the copies differ from crds/yaml.
set -euo pipefail

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source=$(realpath "$here/../crds/yaml")
copies=$here/flux-operator/files/crds

case ${1:-} in
--check)
    diff -r "$source" "$copies" >&2 || {
        echo "sync-crds.sh: $copies is stale: run charts/sync-crds.sh" >&2
        exit 1
    }
    ;;
"")
    mkdir -p "$copies"
    rm -f "$copies"/*.yaml
    cp "$source"/*.yaml "$copies/"
    ;;
*)
    echo "usage: sync-crds.sh [--check]" >&2
    exit 2
    ;;
esac
