#!/usr/bin/env bash
# Packs a program with its man pages, completions and documents: as a tar.gz, for Debian, and of RPM where rpmbuild is
# there. Also packs the source, fills in the recipes of packaging/, and writes checksums.
# Usage: ci/dist/pack.sh PROGRAM DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/../.."
. ci/dist/versions.sh
program=$1 out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Files are for everyone to read, whatever the umask of this shell.
umask 022

# A tar archive of directory $1 in directory $2 that depends on nothing but the content.
archive() {
    tar -C "$2" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu -c "$1" | gzip -n "-$level"
}

# The source, of the commit and not of the working tree.
source=scanns-$version
if git rev-parse --verify -q HEAD >/dev/null; then
    git archive --format=tar --prefix="$source/" HEAD | gzip -n "-$level" >"$out/$source-source.tar.gz"
fi

# What every package has.
made=$work/made
mkdir -p "$made/completions"
"$program" generate man "$made/man"
for shell in bash zsh fish; do "$program" completions $shell >"$made/completions/$shell"; done

# The archive, which needs no rights: unpack it, and call scanns by its path or a link to it.
name=scanns-$version-$triple
tree=$work/$name
install -D -m 755 "$program" "$tree/bin/scanns"
mkdir -p "$tree/share/man/man1"
install -m 644 "$made"/man/*.1 "$tree/share/man/man1/"
install -D -m 644 "$made/completions/bash" "$tree/share/bash-completion/completions/scanns"
install -D -m 644 "$made/completions/zsh" "$tree/share/zsh/site-functions/_scanns"
install -D -m 644 "$made/completions/fish" "$tree/share/fish/vendor_completions.d/scanns.fish"
documents=$tree/share/doc/scanns
mkdir -p "$documents"
install -m 644 README.md CHANGELOG.md LICENSE LICENSE-APACHE LICENSE-MIT "$documents/"
install -m 644 docs/*.md "$documents/"
[ ! -e "$out/$name.cdx.json" ] || install -m 644 "$out/$name.cdx.json" "$documents/scanns.cdx.json"
archive "$name" "$work" >"$out/$name.tar.gz"

ci/dist/deb.sh "$tree" "$out"
if command -v rpmbuild >/dev/null; then
    ci/dist/rpm.sh "$tree" "$out"
else
    echo "SKIPPED dist: no package of RPM, install rpm (rpmbuild)"
fi
ci/dist/recipes.sh "$out"
(cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
ls -l "$out"
