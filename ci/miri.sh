#!/usr/bin/env bash
# Runs tests of codecs and files under Miri, which finds undefined behaviour in unsafe code. The tests that it runs are small:
# it takes a thousand times as long as a processor. Others are left out by `#[cfg_attr(miri, ignore)]`.
# Usage: ci/miri.sh TARGET_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
toolchain toolchain install nightly --profile minimal --component miri --component rust-src
export MIRIFLAGS="-Zmiri-disable-isolation" CARGO_TARGET_DIR=$1
exec cargo +nightly miri test --locked -p scanns --lib -- codec::varint codec::bitpack codec::bits codec::gather codec::pick store::
