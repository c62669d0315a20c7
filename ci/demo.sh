#!/usr/bin/env bash
# Shows what scanns does with files that every machine has: documentation, headers, programs in scripting languages.
# Usage: ci/demo.sh PATH_OF_SCANNS DIRECTORY_FOR_INDEXES
set -euo pipefail
scanns=$(realpath "$1")
mkdir -p "$2"
cd "$2"
rm -rf demo.scanns damaged.scanns large.csv

if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; else bold='' plain=''; fi
say() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }

# Shows and runs a command. An exit status of 1 says that inputs failed or that nothing matched, and ends nothing here.
show() {
    printf '\n$ scanns'
    printf ' %q' "$@"
    printf '\n'
    "$scanns" "$@" || [ $? -eq 1 ]
}

# Prints the milliseconds that a command takes.
milliseconds() {
    local begun
    begun=$(date +%s%N)
    "$@" >/dev/null 2>&1 || true
    echo $((($(date +%s%N) - begun) / 1000000))
}

trees=()
for tree in /usr/share/doc /usr/include /usr/src /usr/share/perl /usr/lib/python3 "${CARGO_HOME:-$HOME/.cargo}/registry/src"; do
    if [ -d "$tree" ]; then trees+=("$(realpath "$tree")"); fi
done
if [ ${#trees[@]} -eq 0 ]; then
    echo "this machine has no documentation, headers or sources to search: scanns index -o mine.scanns DIRECTORY" >&2
    exit 1
fi

say "Every file is read once: text, also compressed text, and what the file system says of each"
show index -o demo.scanns --store reference --positions "${trees[@]}"

say "A question about metadata, beside find"
show search demo.scanns --count 'size:>100k mtime:<now-30d'
printf '\n$ find %s -type f -size +100k -mtime +30 | wc -l\n' "${trees[*]}"
find "${trees[@]}" -type f -size +100k -mtime +30 | wc -l
printf 'scanns %s ms, find %s ms (both with a warm cache; find rounds sizes and days up)\n' \
    "$(milliseconds "$scanns" search demo.scanns --count 'size:>100k mtime:<now-30d')" \
    "$(milliseconds find "${trees[@]}" -type f -size +100k -mtime +30)"

say "Ranked text, with the parts that match"
show search demo.scanns -k 3 --snippets '"memory leak" license'
show search demo.scanns -k 3 'socket AND bind AND listen ext:h'

say "Where the space goes"
show search demo.scanns '*' --count --facet 'ext:6:by=sum(size)'

say "An export, read back by another program"
show export demo.scanns 'size:>1M' --fields path,size -o large.csv
printf '\n$ awk -F, '\''NR > 1 { files++; sum += $NF } END { print files + 0, sum + 0 }'\'' large.csv\n'
awk -F, 'NR > 1 { files++; sum += $NF } END { print files + 0, sum + 0 }' large.csv
show search demo.scanns 'size:>1M' --count --stats size

say "One damaged byte is found, not believed"
cp -r demo.scanns damaged.scanns
segment=$(ls -S damaged.scanns/* | head -n 1)
place=$(($(stat -c %s "$segment") / 2))
byte=$(od -An -tu1 -j "$place" -N 1 "$segment")
printf '\n$ (byte %s of %s becomes another one)\n' "$place" "$segment"
printf '%b' "\\x$(printf '%02x' $((byte ^ 1)))" | dd of="$segment" bs=1 seek="$place" conv=notrunc status=none
printf '$ scanns check damaged.scanns\n'
if "$scanns" check damaged.scanns; then
    echo "the damage was not found" >&2
    exit 1
fi
