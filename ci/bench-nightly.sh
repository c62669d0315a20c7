#!/usr/bin/env bash
# Runs the standard comparisons with Lucene and tantivy, and adds their figures to the history. A comparison that fails is
# named at the end and changes the exit code; the others are kept.
# Usage: ci/bench-nightly.sh TARGET [options of scanns-peers for all comparisons, such as --quick]
set -uo pipefail
cd "$(dirname "$0")/.."

target=$1
shift
results=$target/peers/nightly
failed=()
rm -rf "$results"

# Runs one comparison: its name, then options of scanns-peers.
compare() {
    local name=$1
    shift
    echo "== $name"
    if ! "$target/release/scanns-peers" --work "$target/peers" --report "$results/$name" "$@"; then
        failed+=("$name")
    fi
}

compare dump-files --corpus dump --records file "$@"
compare dump-lines --corpus dump --records line "$@"
compare manuals-standard --corpus manuals --records file --analyzer standard "$@"
compare manuals-english --corpus manuals --records file --analyzer english "$@"
compare source-code --corpus source --records file --analyzer code "$@"
compare languages --corpus languages --records file --analyzer standard "$@"

shopt -s nullglob
"$target/release/scanns-bench" history --page "$target/bench/history.html" "$results"/*/results.json || failed+=("history")
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
