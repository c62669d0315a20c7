#!/usr/bin/env bash
# Finds changes of the library's public interface that break programs, compared with a revision of git. Needs
# cargo-semver-checks: `cargo install --locked cargo-semver-checks`.
# Usage: ci/semver.sh [REVISION]    by default the newest tag
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
command -v cargo-semver-checks >/dev/null || skip "run cargo install --locked cargo-semver-checks"
revision=${1:-$(git describe --tags --abbrev=0 2>/dev/null || true)}
[ -n "$revision" ] || skip "there is no release to compare with: give a revision"
exec cargo semver-checks check-release -p scanns --baseline-rev "$revision"
