#!/usr/bin/env bash
# Checks the licences and sources of all dependencies against deny.toml, and known vulnerabilities where the advisory
# database can be had. Needs cargo-deny: `cargo install --locked cargo-deny`.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
command -v cargo-deny >/dev/null || skip "run cargo install --locked cargo-deny"
cargo deny --all-features --locked check --hide-inclusion-graph licenses bans sources
if ! timeout 60 cargo deny fetch db >/dev/null 2>&1; then skip "advisories: the database cannot be fetched"; fi
cargo deny --all-features --locked check --hide-inclusion-graph advisories
