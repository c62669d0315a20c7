#!/usr/bin/env bash
# Fuzzes decoders and parsers with coverage guidance. Needs a nightly toolchain and cargo-fuzz:
# `cargo install --locked cargo-fuzz`. What it finds becomes a file in fuzz/artifacts, and should become a test.
# Usage: ci/fuzz.sh [TARGET|all] [SECONDS]    seconds for each target; 60 seconds by default
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-all} seconds=${2:-60}
command -v cargo-fuzz >/dev/null || { echo "run cargo install --locked cargo-fuzz" >&2; exit 1; }
if [ "$target" = all ]; then targets=$(cargo +nightly fuzz list); else targets=$target; fi
for target in $targets; do
    echo "== $target"
    cargo +nightly fuzz run --sanitizer none "$target" -- -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20
done
