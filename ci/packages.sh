#!/usr/bin/env bash
# Packs a build without optimisation, and checks the packages: all of `make dist` but its build for an old glibc. Then
# makes the documentation as a web site, and checks its links.
# Usage: ci/packages.sh TARGET
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
# Without them a part of the checks is left out. A subshell, which alone ends then.
(debian rpm cpio mandoc man-db groff zsh fish)
# As ci/python.sh does, so that it is compiled once.
cargo build -q --locked --workspace
ci/dist.sh "$1/quick" --quick "$1/debug/scanns"
ci/setup-dist.sh --site || skip "the site: mdBook cannot be installed"
ci/site.sh "$1"
