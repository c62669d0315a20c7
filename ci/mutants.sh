#!/usr/bin/env bash
# Tries whether the tests notice faults: changes one thing in the code at a time, for a random sample of the possible changes in
# the rooms where a fault would go unseen, and runs the tests of that room. Takes hours. Needs cargo-mutants:
# `cargo install --locked cargo-mutants`.
# Usage: ci/mutants.sh [SAMPLE] [SEED]    how many changes to try (300), and which (1)
set -euo pipefail
cd "$(dirname "$0")/.."
sample=${1:-300} seed=${2:-1}
command -v cargo-mutants >/dev/null || { echo "run cargo install --locked cargo-mutants" >&2; exit 1; }
exec ci/mutants.py "$sample" "$seed"
