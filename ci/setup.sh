#!/usr/bin/env bash
# Installs what building and testing need and is missing. Changes nothing, and needs no rights, where all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

if ! command -v cargo >/dev/null; then
    echo "cargo is missing: install Rust $oldest or newer, see https://rustup.rs" >&2
    exit 1
fi
found=$(rustc --version | awk '{ print $2 }')
if [ "$(printf '%s\n' "$oldest" "$found" | sort -V | head -n 1)" != "$oldest" ]; then
    echo "Rust $found is too old: $oldest or newer is needed, see https://rustup.rs" >&2
    exit 1
fi

# Formatter and linter come with most toolchains; minimal ones, and Debian's, have them apart.
component() {
    local subcommand=$1 rustup_name=$2 debian_name=$3
    if cargo "$subcommand" --version >/dev/null 2>&1; then
        return
    fi
    echo "installing $rustup_name"
    if command -v rustup >/dev/null; then
        rustup component add "$rustup_name"
    elif command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        apt-get install -y "$debian_name"
    else
        echo "cargo $subcommand is missing: install $rustup_name as the toolchain was installed" >&2
        exit 1
    fi
}
component fmt rustfmt rustfmt
component clippy clippy rust-clippy

# Rust links with the C toolchain's linker, and Zstandard is compiled by its compiler.
if ! command -v cc >/dev/null; then
    if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        apt-get install -y gcc libc6-dev
    else
        echo "a C compiler is missing: install gcc" >&2
        exit 1
    fi
fi

cargo fetch --locked --target "$(rustc -vV | sed -n "s/^host: //p")"
echo "ready: Rust $found"
