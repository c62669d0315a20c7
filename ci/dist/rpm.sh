#!/usr/bin/env bash
# Packs a tree of bin/ and share/ as a package of RPM, with rpmbuild.
# Usage: ci/dist/rpm.sh TREE DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/../.."
. ci/dist/versions.sh
tree=$(realpath "$1") out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/scanns.spec" <<EOF
Name: scanns
Version: $version
Release: 1
Summary: $(sed -n 's/^description = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
License: $(sed -n 's/^license = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
BuildArch: x86_64
AutoReqProv: no
Requires: libc.so.6(GLIBC_$oldest_glibc)(64bit)
Provides: scanns(x86-64) = $version-1
%description
scanns indexes file systems, the text of files, and records, and answers
questions about them: with queries, or in the words of find, du, ls and stat.
%install
mkdir -p %{buildroot}/usr
cp -r $tree/bin $tree/share %{buildroot}/usr/
gzip -9n %{buildroot}/usr/share/man/man1/*.1
%files
%defattr(-,root,root)
/usr/bin/scanns
/usr/share/man/man1/*.1.gz
/usr/share/bash-completion/completions/scanns
/usr/share/zsh/site-functions/_scanns
/usr/share/fish/vendor_completions.d/scanns.fish
%doc /usr/share/doc/scanns
EOF
# The program is finished: nothing is stripped or compressed again. xz can be read by RPM of old systems.
rpmbuild -bb --quiet --target x86_64-linux --define "_topdir $work" --define '__os_install_post %{nil}' \
    --define 'debug_package %{nil}' --define '_build_id_links none' --define "_binary_payload w$level.xzdio" \
    --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' \
    --define '_buildhost localhost' --define '_source_filedigest_algorithm 8' --define '_binary_filedigest_algorithm 8' \
    --dbpath "$work/db" "$work/scanns.spec" >/dev/null
cp "$work"/RPMS/x86_64/*.rpm "$out/"
