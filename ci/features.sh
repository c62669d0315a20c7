#!/usr/bin/env bash
# Compiles every combination of the features of the library and of the command: without any, each alone, and all.
# A feature that is all there is by default is compiled as the default, which the command needs of the library too,
# so that it is compiled once.
set -euo pipefail
cd "$(dirname "$0")/.."
for crate in scanns scanns-cli; do
    combinations=$(cargo metadata --no-deps --format-version 1 --locked | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == sys.argv[1]:
        features = package["features"]
        alone = sorted(name for name in features if features.get("default") != [name])
        print("", *alone, *([",".join(alone)] if len(alone) > 1 else []), sep="\n")' "$crate")
    while read -r features; do
        echo "$crate with ${features:-no feature}"
        cargo check -q --locked -p "$crate" --no-default-features --features "$features"
    done <<<"$combinations"
done
