#!/usr/bin/env bash
# Packages both charts with the repository of the operator's image in their values.
#
# Usage: package.sh IMAGE_REPOSITORY FOLDER
#
# HELM names the program, `helm` by default. The paths of the packages are printed, one a line.
set -euo pipefail

[ $# -eq 2 ] || {
    echo "usage: package.sh IMAGE_REPOSITORY FOLDER" >&2
    exit 2
}
repository=$1 folder=$2
helm=${HELM:-helm}
# What a reference to an image may consist of, so that it can stand between quotes in YAML.
[[ $repository =~ ^[a-z0-9._/:-]+$ ]] || {
    echo "package.sh: '$repository' is not a repository: lower-case letters, digits and . _ - / : are allowed" >&2
    exit 2
}

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
"$here/sync-crds.sh" --check
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir -p "$folder"
for chart in flux-operator flux-instance; do
    cp -r "$here/$chart" "$temporary/"
    values=$temporary/$chart/values.yaml
    sed -i -E "s|^( +repository: )\"\"\$|\\1\"$repository\"|" "$values"
    grep -q "repository: \"$repository\"" "$values" || {
        echo "package.sh: $chart/values.yaml has no empty image repository to fill in" >&2
        exit 1
    }
    "$helm" package "$temporary/$chart" --destination "$folder" >/dev/null
    version=$(awk '$1 == "version:" { print $2 }' "$here/$chart/Chart.yaml")
    echo "$folder/$chart-$version.tgz"
done
