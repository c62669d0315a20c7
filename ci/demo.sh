#!/usr/bin/env bash
# Shows what scanns does, on what every machine has: documentation, headers, and the names of its files.
# Usage: ci/demo.sh PATH_OF_SCANNS DIRECTORY_FOR_INDEXES
set -euo pipefail
scanns=$(realpath "$1")
mkdir -p "$2"
cd "$2"

show() {
    printf '\n$ scanns %s\n' "$(printf '%q ' "$@")"
    # Inputs that cannot be read are listed and make the exit status 1, which should not end a demonstration.
    "$scanns" "$@" || [ $? -eq 1 ]
}

trees=()
for tree in /usr/share/doc /usr/include /usr/src /usr/share/perl /usr/lib/python3 "${CARGO_HOME:-$HOME/.cargo}/registry/src"; do
    if [ -d "$tree" ]; then trees+=("$tree"); fi
done

echo "== One document per file: documentation, headers and sources of this machine"
rm -rf files.scanns lines.scanns
show index -o files.scanns --exclude '*.gz' --exclude '*.xz' "${trees[@]}"
show search files.scanns -k 5 'license warranty'
show search files.scanns -k 5 --default-operator and 'socket bind listen'
show search files.scanns --count copyright
show info files.scanns --terms licen --limit 5

echo
echo "== One document per line: a dump of the metadata of every file of this machine"
printf '\n$ find / -xdev -printf "%%p %%s %%u %%g %%m %%TY-%%Tm-%%Td\\n" > metadata.txt\n'
# What is unreadable or changes meanwhile is of no interest here, nor is a disk so large that it takes longer.
timeout 30 find / -xdev -printf '%p %s %u %g %m %TY-%Tm-%Td\n' > metadata.txt 2>/dev/null || true
show index -o lines.scanns --records lines --analyzer paths metadata.txt
show search lines.scanns -k 5 --default-operator and 'root bin'
show search lines.scanns --count --default-operator and 'root 755'
show info lines.scanns --unique
