#!/usr/bin/env bash
# Runs the tests whose names begin with loom_, which try the interleavings of the threads of a small model: all with
# up to three preemptions, which find nearly every fault and take seconds, where all there are take minutes to hours.
# They compile the library with loom's stand-ins for the standard synchronisation, hence a target directory of
# their own. Optimised, since there are many interleavings; not linked as a whole, since that takes longest.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="--cfg loom" CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-3}"
exec cargo test -p scanns --lib --release --locked --target-dir "${1:-target/loom}" loom_
