#!/usr/bin/env bash
# Compiles each crate that has features without any of them; the tests compile it with its usual ones, and clippy with those
# that others need. SCANNS_LONG=1: also with each feature alone, and with all.
set -euo pipefail
cd "$(dirname "$0")/.."
for crate in scanns scanns-cli scanns-export scanns-extract scanns-server; do
    echo "$crate without features"
    cargo check -q --locked -p "$crate" --no-default-features
    [ -n "${SCANNS_LONG:-}" ] || continue
    features=$(cargo metadata --no-deps --format-version 1 --locked | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == sys.argv[1]:
        print(*sorted(name for name in package["features"] if name != "default"))' "$crate")
    for feature in $features; do
        echo "$crate with $feature"
        cargo check -q --locked -p "$crate" --no-default-features --features "$feature"
    done
    cargo check -q --locked -p "$crate" --all-features
done
