#!/usr/bin/env bash
# Tests the Python package: builds the native module and the command as the tests before it do, so that little is compiled
# again, puts the package into a virtual environment beside the build, and runs the tests of crates/scanns-python/tests,
# type checkers included. Arguments are passed to pytest. ci/wheel.sh tests what `pip install .` makes.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
. ci/python-environment.sh

python_environment "$(realpath -m "${CARGO_TARGET_DIR:-target}")"
cargo build --workspace --locked
site=$(python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
rm -rf "$site/scanns"
cp -r crates/scanns-python/scanns "$site/scanns"
cp "$target/debug/libscanns_native.so" "$site/scanns/_native.abi3.so"
cp --remove-destination "$target/debug/scanns" "$environment/bin/scanns"
run_pytest "$@"
