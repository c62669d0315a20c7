#!/usr/bin/env bash
# Copies the recipes of packaging/ to DIRECTORY/recipes, with the version, the checksum of the source that lies in
# DIRECTORY, and its address: URL, or else the file itself.
# Usage: [URL=https://…/scanns-VERSION-source.tar.gz] ci/dist/recipes.sh DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/../.."
. ci/dist/versions.sh
out=$(realpath "$1")
source=$out/scanns-$version-source.tar.gz
[ -e "$source" ] || { echo "SKIPPED dist: recipes need the source, and this is not a checkout of git" && exit 0; }
sum=$(sha256sum "$source" | cut -d ' ' -f 1)
url=${URL:-file://$source}
rm -rf "$out/recipes"
mkdir -p "$out/recipes"
cp -r packaging/* "$out/recipes/"
find "$out/recipes" -type f ! -name README.md -exec \
    sed -i "s|@VERSION@|$version|g; s|@SHA256@|$sum|g; s|@URL@|$url|g; s|@DIRECTORY@|${url%/*}|g; s|@FILE@|${url##*/}|g" {} +
find "$out/recipes" -name '*VERSION*' | while read -r file; do mv "$file" "${file//VERSION/$version}"; done
