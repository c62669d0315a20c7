# Sourced by the checks that need more than a Rust toolchain. `skip REASON` ends a check that cannot run here, and says so.
skip() {
    echo "SKIPPED $(basename "$0"): $1"
    exit 0
}

# Installs packages of Debian that are missing; the check is skipped where that is not possible.
debian() {
    dpkg -s "$@" >/dev/null 2>&1 && return
    if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then skip "install $*"; fi
    apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1 || skip "cannot install $*"
}

# Installs a toolchain, a component or a target; the check is skipped where rustup or its server is missing.
toolchain() {
    command -v rustup >/dev/null || skip "install rustup"
    timeout 300 rustup "$@" >/dev/null 2>&1 || skip "cannot run rustup $*"
}
