#!/usr/bin/env bash
# Packs a tree of bin/ and share/ for Debian and its kin, with dpkg-deb.
# Usage: ci/dist/deb.sh TREE DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/../.."
. ci/dist/versions.sh
tree=$1 out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/usr" "$root/DEBIAN"
cp -r "$tree/bin" "$tree/share" "$root/usr/"
# Where Debian's zsh looks; it reads site-functions only below /usr/local.
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
gzip -9n "$root"/usr/share/man/man1/*.1
documents=$root/usr/share/doc/scanns
mv "$documents/CHANGELOG.md" "$documents/changelog" && gzip -9n "$documents/changelog"
{
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    printf '\nFiles: *\nCopyright: the authors of scanns\nLicense: Apache-2.0 or Expat\n'
    printf '\nLicense: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n'
    printf '\nLicense: Expat\n'
    sed 's/^$/./; s/^/ /' LICENSE-MIT
} >"$documents/copyright"
rm "$documents"/LICENSE*

# A program with the unwinder of GCC, as builds other than `make dist` makes are, needs its library.
depends="libc6 (>= $oldest_glibc)"
! objdump -p "$root/usr/bin/scanns" | grep -q 'NEEDED *libgcc_s' || depends="libc6 (>= 2.34), libgcc-s1"
cat >"$root/DEBIAN/control" <<EOF
Package: scanns
Version: $version-1
Architecture: amd64
Maintainer: ${MAINTAINER:-The scanns project <packages@scanns.invalid>}
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f 1)
Depends: $depends
Section: utils
Priority: optional
Description: $(sed -n 's/^description = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
 scanns indexes file systems, the text of files, and records, and answers
 questions about them: with queries, or in the words of find, du, ls and stat.
EOF
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz "-z$level" --build "$root" "$out/scanns_$version-1_amd64.deb" >/dev/null
