#!/usr/bin/env bash
# Runs each argument as a command, showing what it prints, and ends with one line "N passed, N failed" that sums
# the test results of all of them. A command that fails without a failed test counts as one failure. The exit
# status is 0 only if nothing failed and something passed.
set -uo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0
for step in "$@"; do
    echo "== $step"
    begun=$SECONDS
    bash -c "$step" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    read -r ok bad < <(awk '/^test result: / { ok += $4; bad += $6 } END { print ok + 0, bad + 0 }' "$log")
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        echo "== failed with status $status: $step"
        bad=1
    fi
    echo "== $((SECONDS - begun)) s: $step"
    passed=$((passed + ok))
    failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
