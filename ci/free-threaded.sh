#!/usr/bin/env bash
# Tests the Python package with a free-threaded Python, where one is in PATH (python3.14t or newer, or SCANNS_PYTHON): the
# native module is built for that interpreter alone. Tests whose packages have no wheels for it are skipped.
# Usage: ci/free-threaded.sh TARGET_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
. ci/python-environment.sh

python=
for candidate in ${SCANNS_PYTHON:-} python3.15t python3.14t; do
    if "$candidate" -c 'import sys; sys.exit(sys._is_gil_enabled())' 2>/dev/null; then
        python=$(command -v "$candidate")
        break
    fi
done
[ -n "$python" ] || skip "install a free-threaded Python, such as python3.14t"
target=$(realpath -m "$1")
environment=$target/environment
[ -x "$environment/bin/pip" ] || "$python" -m venv "$environment"
"$environment/bin/pip" install -q --disable-pip-version-check pytest joblib typing_extensions
for package in numpy pandas pyarrow polars duckdb; do
    "$environment/bin/pip" install -q --disable-pip-version-check --only-binary :all: "$package" 2>/dev/null ||
        echo "$package has no wheel for $(basename "$python")"
done
export PATH="$environment/bin:$PATH" SCANNS_TEST_DATA=${SCANNS_TEST_DATA:-$PWD/../shared/data}
CARGO_TARGET_DIR=$target PYO3_PYTHON=$environment/bin/python cargo build --locked -p scanns-python -p scanns-cli
site=$(python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
suffix=$(python -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
rm -rf "$site/scanns"
cp -r crates/scanns-python/scanns "$site/scanns"
cp "$target/debug/libscanns_native.so" "$site/scanns/_native$suffix"
cp --remove-destination "$target/debug/scanns" "$environment/bin/scanns"
tests=crates/scanns-python/tests
run_pytest $tests/test_search.py $tests/test_writer.py $tests/test_tables.py $tests/test_safety.py $tests/test_work.py
