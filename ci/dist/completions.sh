#!/usr/bin/env bash
# Checks that the completions in a tree of share/ complete a command, an option and a value, in each shell that is there.
# Usage: ci/dist/completions.sh PREFIX
set -euo pipefail
prefix=$(realpath "$1")
cd "$(dirname "$0")/../.."
export PATH=$prefix/bin:$PATH
# What is typed, and a completion that must be offered. The last one must not be: the canary.
cases=('scanns comp:completions' 'scanns index --near:--near-duplicates' 'scanns check --level che:checksums')
canary='scanns gen:generate'

in_bash() {
    bash --norc --noprofile -c '
        set -u
        source "$1/share/bash-completion/completions/scanns"
        read -ra COMP_WORDS <<<"$2"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
        handler=$(complete -p scanns | sed "s/.* -F \([^ ]*\).*/\1/")
        "$handler" scanns "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' - "$prefix" "$1"
}

in_fish() {
    # Fish must not find another script of the user.
    HOME=$work XDG_CONFIG_HOME=$work fish --no-config -c '
        source $argv[1]/share/fish/vendor_completions.d/scanns.fish
        complete -C $argv[2]' "$prefix" "$1" | cut -f 1
}

in_zsh() {
    HOME=$work ZDOTDIR=$work ci/dist/zsh-complete.py "$prefix/share/zsh/site-functions" "$1" | tr ' ' '\n'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null; then
        echo "SKIPPED completions in $shell: install $shell"
        continue
    fi
    for case in "${cases[@]}" "$canary"; do
        typed=${case%%:*} expected=${case##*:}
        offered=$(timeout 60 bash -c "$(declare -f in_$shell); $(declare -p prefix work); in_$shell \"\$1\"" - "$typed")
        found=no
        grep -qxF -- "$expected" <<<"$offered" && found=yes
        if [ "$case" = "$canary" ]; then wanted=no; else wanted=yes; fi
        if [ $found != $wanted ]; then
            printf '%s: completing "%s", offers %s: %s, and not %s. It offers:\n%s\n' \
                "$shell" "$typed" "$expected" $found $wanted "$offered" >&2
            exit 1
        fi
    done
    echo "completions in $shell: ${#cases[@]} cases"
done
