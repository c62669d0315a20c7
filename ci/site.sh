#!/usr/bin/env bash
# Makes the documentation as a web site in TARGET/site/html, with the reference of TARGET/debug/scanns, and checks all
# links within it. mdBook was chosen because it is kept by the Rust project, is one program, and its sites need neither
# other sites nor a server; MkDocs has had no release since August 2024.
# Usage: ci/site.sh TARGET
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/dist/versions.sh
place=$(realpath "$1")/site
rm -rf "$place"
mkdir -p "$place/src"
"$1/debug/scanns" generate markdown "$place/src/commands"
ci/site/stage.py "$place"
"$tools/bin/mdbook" build "$place" --dest-dir "$place/html" 2>"$place/log" || { cat "$place/log" >&2; exit 1; }
# mdBook warns of what it cannot show, and goes on.
if grep -E 'WARN|ERROR' "$place/log" >&2; then exit 1; fi
ci/site/links.py "$place/html"
echo "site: $place/html/index.html"
