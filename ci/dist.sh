#!/usr/bin/env bash
# Makes what users install, in TARGET/dist: a tar.gz for glibc 2.17 and newer on x86-64, packages for Debian and of RPM,
# wheels of the Python package, the source, recipes for package managers of clusters, the list of crates, and checksums. Then
# checks all of it.
# URL is where the source will be had, for the recipes; without it they take the file in TARGET/dist.
# With --quick PROGRAM, packs that program instead of a new build, as far as it can be packed, and checks that.
# Usage: ci/dist.sh TARGET [--quick PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/dist/versions.sh
target=$1 out=$1/dist
rm -rf "$out"
mkdir -p "$out"
if [ "${2:-}" = --quick ]; then
    export DIST_LEVEL=1
    ci/dist/pack.sh "$3" "$out"
else
    # Cargo finds zigbuild in PATH; zig is a module of that Python. Tables of lines are of no use without sources.
    PATH=$tools/bin:$tools/python/bin:$PATH CARGO_ZIGBUILD_PYTHON_PATH=$tools/python/bin/python3 \
        CARGO_PROFILE_RELEASE_DEBUG=none CARGO_PROFILE_RELEASE_STRIP=debuginfo \
        cargo auditable zigbuild --release --locked -p scanns-cli --target "$triple.$oldest_glibc"
    program=$target/$triple/release/scanns
    ci/dist/glibc.sh "$program" "$oldest_glibc"
    ci/dist/sbom.py "$program" >"$out/scanns-$version-$triple.cdx.json"
    ci/dist/wheel.sh "$program" "$out"
    ci/dist/pack.sh "$program" "$out"
fi
exec ci/dist/check.sh "$out"
