# Sourced by the checks of the Python package. `python_environment TARGET` makes a virtual environment in TARGET with the
# packages that its tests need, and puts it first in PATH; the check is skipped where PyPI cannot be reached.
python_environment() {
    target=$1
    environment=$target/python-package
    local packages=crates/scanns-python/tests/requirements.txt candidate python=
    for candidate in ${SCANNS_PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            python=$candidate
            break
        fi
    done
    [ -n "$python" ] || skip "install Python 3.11 or newer, with venv"
    [ -x "$environment/bin/pip" ] || "$python" -m venv "$environment" >/dev/null 2>&1 ||
        skip "cannot make a virtual environment"
    if ! cmp -s "$packages" "$environment/installed.txt"; then
        echo "installing the packages of $packages"
        timeout 600 "$environment/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 15 -r "$packages" \
            </dev/null || skip "cannot install the packages of $packages"
        cp "$packages" "$environment/installed.txt"
    fi
    export PATH="$environment/bin:$PATH" SCANNS_TEST_DATA=${SCANNS_TEST_DATA:-$PWD/../shared/data}
}

# Runs pytest, and ends with a line as Cargo writes it, for ci/sum-tests.sh.
run_pytest() {
    local report status=0
    report=$(mktemp)
    python -m pytest -q "$@" | tee "$report" || status=$?
    sed -n 's/^FAILED \([^ ]*\).*/test \1 ... FAILED/p' "$report"
    tail -n 1 "$report" | awk '{
        for (at = 1; at < NF; at++) {
            if ($(at + 1) ~ /^passed/) ok = $at
            if ($(at + 1) ~ /^(failed|errors?)/) bad += $at
        }
        printf "test result: %s. %d passed; %d failed;\n", bad ? "FAILED" : "ok", ok, bad
    }'
    rm -f "$report"
    return "$status"
}
