#!/usr/bin/env bash
# Compiles every combination of the features of the library, the command and its extractors: without any, each alone, and all.
set -euo pipefail
cd "$(dirname "$0")/.."
for crate in scanns scanns-cli scanns-extract; do
    features=$(cargo metadata --no-deps --format-version 1 --locked | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == sys.argv[1]:
        print(*sorted(name for name in package["features"] if name != "default"))' "$crate")
    cargo check -q --locked -p "$crate" --no-default-features
    for feature in $features; do
        echo "$crate with $feature"
        cargo check -q --locked -p "$crate" --no-default-features --features "$feature"
    done
    # With one feature, all are those of the step before.
    [ "$(wc -w <<<"$features")" -lt 2 ] || cargo check -q --locked -p "$crate" --all-features
done
