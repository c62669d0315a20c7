#!/usr/bin/env bash
# Installs what `make dist` and `make site` need and what is missing, in fixed versions, into
# ${XDG_CACHE_HOME:-~/.cache}/scanns/tools, where other checkouts find them, too. With --site only mdBook, which is
# compiled without optimisation then: that is the faster way to a small book.
# Usage: ci/setup-dist.sh [--site]
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/dist/versions.sh

crate() {
    local name=$1 version=$2
    shift 2
    # Cargo keeps a list of what it has installed.
    if [ -x "$tools/bin/$name" ] && grep -qF "\"$name $version " "$tools/.crates.toml"; then return; fi
    echo "installing $name $version in $tools"
    # A directory of its own, so that the builds of the checkout and of the tool do not wait for each other.
    CARGO_TARGET_DIR=$tools/build CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0 \
        cargo install --quiet --locked --root "$tools" "$name@$version" "$@"
    rm -rf "$tools/build"
}

crate mdbook "$mdbook_version" --debug --no-default-features --features search
[ "${1:-}" != --site ] || exit 0

crate cargo-auditable "$auditable_version" --debug
packages=("ziglang==$zig_version" "cargo-zigbuild==$zigbuild_version" "maturin==$maturin_version")
installed=$("$tools/python/bin/pip" list --format freeze 2>/dev/null || true)
absent=0
for package in "${packages[@]}"; do grep -qx "$package" <<<"$installed" || absent=1; done
if [ $absent = 1 ]; then
    echo "installing ${packages[*]} in $tools"
    python3 -m venv "$tools/python"
    "$tools/python/bin/pip" install -q --disable-pip-version-check "${packages[@]}"
    # These only check what is made.
    "$tools/python/bin/pip" install -q --disable-pip-version-check "cyclonedx-python-lib[json-validation]==$cyclonedx_version" \
        "py-rattler-build==$rattler_version" "easybuild-framework==$easybuild_version" ||
        echo "the list of crates and recipes are not checked: the tools for that cannot be installed"
fi

# Tools of the system, for packages of RPM and for the checks. Without them these are skipped.
missing=()
for pair in advzip:advancecomp rpmbuild:rpm mandoc:mandoc zsh:zsh fish:fish objdump:binutils; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "installing ${missing[*]}"
    apt-get update -q >/dev/null && apt-get install -qy --no-install-recommends "${missing[@]}" >/dev/null
else
    echo "parts that need ${missing[*]} are skipped: install them, for example with sudo apt-get install ${missing[*]}"
fi
