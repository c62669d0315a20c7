#!/usr/bin/env bash
# Runs each argument as a command, one after another, showing what it prints, and ends with one line "N passed, N
# failed" that sums the test results of all of them. Commands after the argument --beside run one after another too,
# but at the same time as the first ones, whose output comes first. A command that fails without a failed test counts
# as one failure. Before the last line everything that failed is named. The exit status is 0 only if nothing failed and something passed.
set -uo pipefail
cd "$(dirname "$0")/.."

# Sets `processors` to the seconds that processors worked for the commands that have ended. Other work on the machine
# hardly changes them.
read_processors() {
    times >"$1"
    processors=$(awk 'NR == 2 { split($0, t, /[ms ]+/); print int(60 * (t[1] + t[3]) + t[2] + t[4]) }' "$1")
}

# Runs commands in turn, and appends the numbers of passed and failed tests of each to the file $1.
run() {
    local sums=$1 step begun worked processors log clock ok bad status
    shift
    log=$(mktemp -p "$work")
    clock=$(mktemp -p "$work")
    for step in "$@"; do
        echo "== $step"
        begun=$SECONDS
        read_processors "$clock"
        worked=$processors
        bash -c "$step" 2>&1 | tee "$log"
        status=${PIPESTATUS[0]}
        sed -n 's/^test \(.*\) \.\.\. FAILED$/failed: \1/p' "$log" >>"$work/failed"
        read -r ok bad < <(awk '/^test result: / { ok += $4; bad += $6 } END { print ok + 0, bad + 0 }' "$log")
        if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
            echo "== failed with status $status: $step" | tee -a "$work/failed"
            bad=1
        fi
        read_processors "$clock"
        echo "== $((SECONDS - begun)) s, $((processors - worked)) s of processors: $step"
        echo "$ok $bad" >>"$sums"
    done
}

first=()
beside=()
while [ $# -gt 0 ] && [ "$1" != --beside ]; do
    first+=("$1")
    shift
done
[ $# -eq 0 ] || beside=("${@:2}")

work=$(mktemp -d)
touch "$work/sums" "$work/sums.beside" "$work/failed"
# A process group of its own, so that all of it can be stopped.
set -m
run "$work/sums.beside" "${beside[@]}" >"$work/shown" 2>&1 &
background=$!
set +m
trap 'kill -- -$background 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# A subshell, so that its times leave out those of the commands beside.
(run "$work/sums" "${first[@]}")
tail -n +1 -f --pid=$background "$work/shown"
wait $background

read -r steps passed failed < <(cat "$work"/sums* | awk '{ ok += $1; bad += $2 } END { print NR, ok + 0, bad + 0 }')
if [ "$steps" -ne $((${#first[@]} + ${#beside[@]})) ]; then
    echo "== some steps did not end"
    failed=$((failed + 1))
fi
cat "$work/failed"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
