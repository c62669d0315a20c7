#!/usr/bin/env bash
# Packages the library as a registry would get it: metadata, versions on path dependencies, no missing file.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo package -p scanns --locked --allow-dirty --no-verify
