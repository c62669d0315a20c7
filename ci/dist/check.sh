#!/usr/bin/env bash
# Checks a directory of packages: checksums, the archive's command, man pages, completions, installing and removing the
# package for Debian in a directory, the files of the package of RPM, wheels, the list of crates, and recipes. What cannot be
# checked here prints SKIPPED.
# Usage: ci/dist/check.sh DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/../.."
. ci/dist/versions.sh
out=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "dist: $*" >&2 && exit 1; }
skip() { echo "SKIPPED dist: $*"; }

(cd "$out" && sha256sum --quiet -c SHA256SUMS)

# The archive, unpacked anywhere and called by its path.
tar -C "$work" -xzf "$out/scanns-$version-$triple.tar.gz"
tree=$work/scanns-$version-$triple
runs() {
    local scanns=$1 place
    place=$(mktemp -d -p "$work")
    [ "$("$scanns" --version)" = "scanns $version" ] || fail "$scanns has another version than $version"
    echo 'a red rose' >"$place/rose.txt"
    "$scanns" index -q -o "$place/a.scanns" "$place/rose.txt"
    "$scanns" search "$place/a.scanns" rose --fields owner | grep -qw "$(id -un)" || fail "$scanns finds no owner"
}
runs "$tree/bin/scanns"
(cd "$tree" && find . -type f -o -type l) | sed 's|^\./|/usr/|' | sort >"$work/files"

# Man pages, by both programs that show them.
pages=$(echo "$tree"/share/man/man1/*.1)
if command -v mandoc >/dev/null; then
    # shellcheck disable=SC2086
    mandoc -T lint -W warning $pages >"$work/lint" || fail "man pages: $(cat "$work/lint")"
else
    skip "man pages with mandoc, install mandoc"
fi
if command -v man >/dev/null && command -v groff >/dev/null; then
    for page in $pages; do
        # Lines of examples keep their form, however wide the terminal is.
        MANWIDTH=130 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null | sed "s|^|$page: |"
    done >"$work/warnings"
    [ ! -s "$work/warnings" ] || fail "man pages: $(cat "$work/warnings")"
else
    skip "man pages with groff, install man-db and groff"
fi
ci/dist/completions.sh "$tree"

# Debian: installed into a directory with a database of its own, and removed again.
deb=$out/scanns_$version-1_amd64.deb
if command -v dpkg >/dev/null && [ "$(id -u)" = 0 ]; then
    root=$work/root
    mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/log"
    touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
    into=(dpkg "--root=$root" --force-depends --log=/dev/null)
    "${into[@]}" -i "$deb" >"$work/log" 2>&1 || fail "dpkg -i: $(cat "$work/log")"
    runs "$root/usr/bin/scanns"
    (cd "$root/usr" && md5sum --quiet -c <(sed 's|  usr/|  |' "$root/var/lib/dpkg/info/scanns.md5sums"))
    find "$root/usr" \( ! -uid 0 -o ! -gid 0 -o -perm /022 \) ! -type l | grep . && fail "the package has files of others"
    "${into[@]}" --purge scanns >"$work/log" 2>&1 || fail "dpkg --purge: $(cat "$work/log")"
    [ ! -e "$root/usr" ] || fail "removing the package leaves $(find "$root/usr")"
    # Whether the packages that it needs can be had here, without a change of the machine.
    if command -v apt-get >/dev/null; then
        apt-get install -s "$deb" >"$work/log" 2>&1 || fail "apt-get install: $(cat "$work/log")"
    fi
else
    skip "installing the package for Debian, which needs dpkg and root"
fi

# RPM: exactly the files of the archive, for all to read, by root.
if command -v rpm >/dev/null && ls "$out"/*.rpm >/dev/null 2>&1; then
    package=$(ls "$out"/*.rpm)
    query=(rpm --dbpath "$work/rpmdb" -qp)
    "${query[@]}" --qf '[%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME}\n]' "$package" >"$work/listed"
    awk '$2 !~ /^d/ { print $1 }' "$work/listed" | sed 's|\(/man1/.*\)\.gz$|\1|' | sort >"$work/packed"
    diff "$work/files" "$work/packed" || fail "the package of RPM has other files than the archive"
    awk '$2 !~ /^[-d]rw[-x]r-[-x]r-[-x]$/ || $3 $4 != "rootroot"' "$work/listed" | grep . && fail "files of others in RPM"
    "${query[@]}" --requires "$package" | grep -qF "GLIBC_$oldest_glibc" || fail "the package of RPM does not need glibc"
    if command -v cpio >/dev/null; then
        mkdir "$work/rpm" && (cd "$work/rpm" && rpm2cpio "$package" | cpio -id --quiet)
        runs "$work/rpm/usr/bin/scanns"
    fi
else
    skip "the package of RPM, install rpm"
fi

# Wheels: installed into an environment, both the module and the command, which need no newer glibc than promised.
python=$tools/python/bin/python3
for wheel in "$out"/*.whl; do
    [ -e "$wheel" ] || { skip "wheels, which only a build of make dist has" && break; }
    interpreter=python3
    case $wheel in *-cp3??-cp3??t-*) interpreter=$(sed 's/.*-cp3\([0-9]*\)-.*/python3.\1t/' <<<"$wheel") ;; esac
    "$interpreter" -m venv "$work/environment"
    "$work/environment/bin/pip" install -q --disable-pip-version-check --no-index "$wheel"
    runs "$work/environment/bin/scanns"
    mkdir "$work/wheel" && echo 'a red rose' >"$work/wheel/rose.txt"
    (cd "$work/wheel" && "$work/environment/bin/python" -c 'if True:
        import scanns
        scanns.build("rose.txt", "rose.scanns", progress=False)
        assert scanns.open("rose.scanns").search("red")[0].key.endswith("rose.txt")')
    for file in "$work"/environment/bin/scanns "$work"/environment/lib/python3*/site-packages/scanns/*.so; do
        ci/dist/glibc.sh "$file" "$oldest_glibc"
    done
    rm -r "$work/environment" "$work/wheel"
    echo "wheel: $(basename "$wheel"), $(stat -c %s "$wheel") bytes"
done

list=$out/scanns-$version-$triple.cdx.json
if [ ! -e "$list" ]; then
    skip "the list of crates, which only a build of make dist has"
elif ! "$python" -c 'import cyclonedx.validation.json' 2>/dev/null; then
    skip "the list of crates, run ci/setup-dist.sh"
else
    "$python" - "$list" <<'EOF'
import json, sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
text = open(sys.argv[1]).read()
fault = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
names = {found["name"] for found in json.loads(text)["components"]}
if fault or not {"scanns", "clap", "zstd"} <= names:
    sys.exit(f"the list of crates is not as CycloneDX wants it: {fault or names}")
print(f"list of crates: {len(names)} names")
EOF
fi
if [ -d "$out/recipes" ]; then
    "$([ -x "$python" ] && echo "$python" || echo python3)" ci/dist/check-recipes.py "$out/recipes"
fi
echo "dist: checked $out"
