#!/usr/bin/env bash
# Tests the Python package: builds it with the command as `pip install .` does, but with little optimisation, and runs
# the tests of crates/scanns-python/tests and the type checkers. Its packages go into a virtual environment beside the
# build. Arguments are passed to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
environment=$target/python-package
python=${SCANNS_PYTHON:-}
for candidate in $python python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
    python=
done
[ -n "$python" ] || skip "install Python 3.11 or newer, with venv"
[ -x "$environment/bin/pip" ] || "$python" -m venv "$environment" >/dev/null 2>&1 || skip "cannot make a virtual environment"

packages=crates/scanns-python/tests/requirements.txt
if ! cmp -s "$packages" "$environment/installed.txt"; then
    echo "installing the packages of $packages"
    "$environment/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 15 -r "$packages" ||
        skip "cannot install the packages of $packages"
    cp "$packages" "$environment/installed.txt"
fi

export PATH="$environment/bin:$PATH" SCANNS_WHEEL_PROFILE=dev CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-0}
export CARGO_TARGET_DIR=$target
export SCANNS_TEST_DATA=${SCANNS_TEST_DATA:-$PWD/../shared/data}
pip install -q --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .

status=0
report=$(mktemp)
trap 'rm -f "$report"' EXIT
python -m pytest -q "$@" | tee "$report" || status=$?
# As Cargo says it, for ci/sum-tests.sh.
sed -n 's/^FAILED \([^ ]*\).*/test \1 ... FAILED/p' "$report"
tail -n 1 "$report" | awk '{
    for (at = 1; at < NF; at++) { if ($(at + 1) ~ /^passed/) ok = $at; if ($(at + 1) ~ /^(failed|errors?)/) bad += $at }
    printf "test result: %s. %d passed; %d failed;\n", bad ? "FAILED" : "ok", ok, bad
}'
exit "$status"
