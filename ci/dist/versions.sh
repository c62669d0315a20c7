# Sourced by the scripts of distributions: versions of tools, where they are, and the oldest glibc that is supported.
# shellcheck disable=SC2034
zig_version=0.17.1 zigbuild_version=0.24.1 auditable_version=0.7.7 maturin_version=1.16.0 mdbook_version=0.5.4
cyclonedx_version=11.12.0 rattler_version=0.73.0 easybuild_version=5.4.1
tools=${XDG_CACHE_HOME:-$HOME/.cache}/scanns/tools
oldest_glibc=2.17
triple=x86_64-unknown-linux-gnu
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# The time of all files in packages, so that the same commit gives the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
# How hard to compress; ci/dist.sh --quick is in a hurry.
level=${DIST_LEVEL:-6}
