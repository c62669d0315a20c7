#!/usr/bin/env bash
# Makes the wheel as `pip install .` does, but with little optimisation, installs it, and runs the tests that look at the
# package as it is installed.
# Usage: ci/wheel.sh TARGET_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
. ci/python-environment.sh

python_environment "$(realpath -m "$1")"
export CARGO_TARGET_DIR=$target SCANNS_WHEEL_PROFILE=dev CARGO_PROFILE_DEV_DEBUG=0
pip install -q --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .
run_pytest crates/scanns-python/tests/test_package.py crates/scanns-python/tests/test_work.py
