#!/usr/bin/env bash
# Checks that the lock files of the packages outside the workspace fit their manifests, so that --locked builds them.
set -euo pipefail
cd "$(dirname "$0")/.."
for manifest in fuzz/Cargo.toml crates/scanns-peers/{tantivy,seekstorm,warc}/Cargo.toml; do
    echo "$manifest"
    cargo metadata --locked --format-version 1 --manifest-path "$manifest" >/dev/null
done
