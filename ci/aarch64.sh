#!/usr/bin/env bash
# Compiles the library and its tests for aarch64. SCANNS_LONG=1 also runs the tests of its vector code, codecs and
# files in qemu's emulation, which takes half an hour, and SCANNS_LONG=all those of the whole library.
# The emulation cannot tell which pages of a file are cached, so the test of that is left out.
# Usage: ci/aarch64.sh TARGET_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
target=aarch64-unknown-linux-gnu
[ "$(uname -m)" != aarch64 ] || skip "this machine is aarch64: the other tests have run on it"
toolchain target add "$target"
# Nothing is linked, but some dependencies have a part in C.
debian gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
if [ -z "${SCANNS_LONG:-}" ]; then
    exec cargo check --locked -p scanns --lib --tests --target "$target" --target-dir "$1"
fi
# Emulation is slow, and optimised code less of it.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=false
rooms=(sys:: codec:: tokenize:: column:: store::)
if [ "$SCANNS_LONG" = all ]; then rooms=(); fi
exec cargo test --locked -p scanns --lib --target "$target" --target-dir "$1" -- "${rooms[@]}" \
    --skip fresh_files_are_cached_and_can_be_dropped
