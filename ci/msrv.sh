#!/usr/bin/env bash
# Compiles the library and the command with the oldest Rust that Cargo.toml promises. Where that toolchain cannot be
# had, clippy's lint `incompatible_msrv`, which `make test` runs anyway, is what checks the promise.
# Usage: ci/msrv.sh TARGET_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
toolchain toolchain install "$oldest" --profile minimal
exec cargo "+$oldest" check --locked -p scanns -p scanns-cli --target-dir "$1"
