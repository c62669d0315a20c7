#!/usr/bin/env bash
# Runs the tests whose names begin with loom_, which try the interleavings of the threads of a small model: all with
# up to three preemptions, which find nearly every fault and take seconds, where all there are take minutes to hours.
# They compile the library with loom's stand-ins for the standard synchronisation. Only the packages of the workspace
# are compiled with `--cfg loom`, so that the dependencies are those of the other tests; and the library without
# optimisation, since compiling it takes longer than the models do.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTC_WORKSPACE_WRAPPER="$PWD/ci/loom-rustc.sh" LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-3}"
exec cargo test -p scanns --lib --locked --config profile.dev.package.scanns.opt-level=0 loom_
