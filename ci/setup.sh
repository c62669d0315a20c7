#!/usr/bin/env bash
# Installs what building and testing need and is missing. Changes nothing, and needs no rights, where all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

if ! command -v cargo >/dev/null; then
    echo "Rust $oldest or newer is missing: curl -sSf https://sh.rustup.rs | sh -s -- -y && . ~/.cargo/env" >&2
    exit 1
fi
found=$(rustc --version | awk '{ print $2 }')
if [ "$(printf '%s\n' "$oldest" "$found" | sort -V | head -n 1)" != "$oldest" ]; then
    echo "Rust $found is too old, $oldest or newer is needed: rustup update stable, or see https://rustup.rs" >&2
    exit 1
fi

# Installs a Debian package, with a fresh list of packages.
debian() {
    if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
        echo "$1 is missing: install it, for example with sudo apt-get install -y $1" >&2
        exit 1
    fi
    echo "installing $1"
    if [ -z "${updated:-}" ]; then
        apt-get update -q
        updated=yes
    fi
    apt-get install -qy "$@"
}

# Formatter and linter come with most toolchains; minimal ones, and Debian's, have them apart.
component() {
    local subcommand=$1 rustup_name=$2 debian_name=$3
    if cargo "$subcommand" --version >/dev/null 2>&1; then
        return
    fi
    if command -v rustup >/dev/null; then
        rustup component add "$rustup_name"
    else
        debian "$debian_name"
    fi
}
component fmt rustfmt rustfmt
component clippy clippy rust-clippy

# Rust links with the C toolchain's linker, and Zstandard is compiled by its compiler.
if ! command -v cc >/dev/null; then
    debian gcc libc6-dev
fi

if ! cargo fetch --locked --target "$(rustc -vV | sed -n "s/^host: //p")"; then
    echo "the crates that scanns is built from cannot be fetched: the first build needs the network" >&2
    exit 1
fi
# Some tests compare answers with those of DuckDB, pytrec_eval, warcio and html5lib, and say SKIPPED without them.
# What Python lacks goes into a virtual environment beside the build, once; a file remembers what could not be installed.
python=${CARGO_TARGET_DIR:-target}/python
module() {
    local name=$1 package=$2
    if { [ -x "$python/bin/python3" ] && "$python/bin/python3" -c "import $name"; } 2>/dev/null ||
        { [ ! -e "$python" ] && python3 -c "import $name" 2>/dev/null; }; then
        return
    fi
    if [ -e "$python/no-$name" ] || ! command -v python3 >/dev/null; then
        return
    fi
    if { [ -x "$python/bin/pip" ] || python3 -m venv --system-site-packages "$python"; } >/dev/null 2>&1 &&
        "$python/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 15 "$package" >/dev/null 2>&1; then
        echo "installed $package for tests in $python"
    else
        echo "tests that need the Python module $name are skipped: it cannot be installed"
        mkdir -p "$python" && touch "$python/no-$name"
    fi
}
module duckdb duckdb
module pytrec_eval pytrec-eval-terrier
module warcio warcio
module brotli brotli
module html5lib html5lib

echo "ready: Rust $found"
