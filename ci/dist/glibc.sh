#!/usr/bin/env bash
# Fails, and names the symbols, if a program needs a newer glibc than given, or a library that is not part of glibc.
# Usage: ci/dist/glibc.sh PROGRAM VERSION
set -euo pipefail
program=$1 oldest=$2
[ "$(printf '%s\n' 2.9 2.17 | sort -V | tail -n 1)" = 2.17 ] || { echo "sort -V does not order versions" >&2; exit 1; }
status=0
while read -r needed symbol; do
    if [ "$(printf '%s\n' "$needed" "$oldest" | sort -V | tail -n 1)" != "$oldest" ]; then
        echo "$program needs $symbol of glibc $needed, newer than $oldest" >&2
        status=1
    fi
done < <(objdump -T "$program" | sed -n 's/.*[( ]GLIBC_\([0-9.]*\))\{0,1\} *\([^ ]*\)$/\1 \2/p')
while read -r library; do
    case $library in
    libc.so.6 | libm.so.6 | libpthread.so.0 | libdl.so.2 | librt.so.1 | libutil.so.1 | ld-linux-x86-64.so.2) ;;
    *) echo "$program needs the library $library" >&2 && status=1 ;;
    esac
done < <(objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }')
exit $status
