#!/usr/bin/env bash
# Runs tests of codecs and files under Miri, which finds undefined behaviour in unsafe code. Miri takes a thousand times
# as long as a processor, so only small tests are chosen, of code that neither maps memory nor uses vector instructions,
# which Miri has not. A test process that takes over ten minutes of a processor fails.
# Usage: ci/miri.sh TARGET_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
toolchain toolchain install nightly --profile minimal --component miri --component rust-src
export MIRIFLAGS="-Zmiri-disable-isolation" CARGO_TARGET_DIR=$1
ulimit -t 600
exec timeout 1800 cargo +nightly miri test --locked -p scanns --lib -- \
    codec::varint codec::bitpack store::commit sys::helpers::tests::a_panic sys::helpers::tests::all_work
