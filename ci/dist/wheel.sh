#!/usr/bin/env bash
# Makes the wheel of the Python package for glibc 2.17 and newer, with this program as its command, and one more for each
# free-threaded Python in PATH, which cannot load the first. Their files are compressed again by zopfli, where advzip is
# there: a wheel is made once and fetched often.
# Usage: ci/dist/wheel.sh PROGRAM DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/../.."
. ci/dist/versions.sh
program=$1 out=$(realpath "$2")
python=$tools/python/bin/python3
scripts=target/wheel/scanns.data/scripts
rm -rf "$scripts"
install -D -m 755 "$program" "$scripts/scanns"

# Maturin finds zig as a module of the Python in PATH.
build() {
    PATH=$tools/python/bin:$PATH "$tools/python/bin/maturin" build --locked --zig --target "$triple" \
        --compatibility "manylinux_${oldest_glibc/./_}" --out "$out" "$@"
}
build --interpreter "$python"
for version in 3.14t 3.15t; do
    if command -v "python$version" >/dev/null; then
        build --interpreter "$(command -v "python$version")"
    else
        echo "SKIPPED dist: no wheel for free-threaded Python, install python$version"
    fi
done
rm -rf "$scripts"
if command -v advzip >/dev/null; then
    advzip -z -4 -i 1 "$out"/*.whl
else
    echo "SKIPPED dist: wheels are not compressed again, install advancecomp"
fi
