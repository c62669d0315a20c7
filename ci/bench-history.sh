#!/usr/bin/env bash
# Measures earlier commits of this repository in turns with the current one, Lucene and tantivy, and adds the figures of
# each commit to the history. The adapter of each commit is built from its own sources, in a work tree of its own below
# TARGET/history. A commit that cannot be built is named at the end and changes the exit code; the others are measured.
# Usage: ci/bench-history.sh TARGET COMMIT... [-- options of scanns-peers, such as --quick]
set -uo pipefail
cd "$(dirname "$0")/.."

target=$1
shift
commits=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    commits+=("$1")
    shift
done
[ $# -gt 0 ] && shift
if [ ${#commits[@]} -eq 0 ]; then
    echo "name the commits to measure: make bench-history ARGS='COMMIT...'" >&2
    exit 1
fi

mkdir -p "$target/history"
home=$(cd "$target/history" && pwd)
trap 'rm -rf "$home/tree"; git worktree prune' EXIT
failed=()
earlier=()
for commit in "${commits[@]}"; do
    name=$(git rev-parse --short=10 --verify "$commit^{commit}") || { failed+=("$commit"); continue; }
    adapter=$home/adapters/$name
    if [ ! -x "$adapter" ]; then
        echo "== building $name"
        rm -rf "$home/tree" && git worktree prune
        mkdir -p "$home/adapters"
        if ! git worktree add --quiet --force --detach "$home/tree" "$name" || ! (cd "$home/tree" &&
            CARGO_TARGET_DIR=$home/target cargo build --release --locked -p scanns-peers --bin peer-scanns) ||
            ! cp "$home/target/release/peer-scanns" "$adapter"; then
            failed+=("$name")
            continue
        fi
    fi
    earlier+=(--earlier "$name=$adapter")
done

# Early adapters split text at delimiters only, which suits a dump.
results=$target/peers/history
if [ ${#earlier[@]} -gt 0 ]; then
    rm -rf "$results"
    if "$target/release/scanns-peers" --work "$target/peers" --report "$results" --corpus dump --models bm25 "${earlier[@]}" "$@"; then
        "$target/release/scanns-bench" history --page "$target/bench/history.html" "$results/results.json" || failed+=("history")
    else
        failed+=("comparison")
    fi
fi
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
