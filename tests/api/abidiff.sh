#!/bin/sh
# abidiff.sh INCLUDE LIST BASELINE [--write]: whether the functions of LIST (abi.txt) have, in
# the header in INCLUDE, the types that they had when BASELINE was written, down to the
# members of structs, which names and sizes do not tell. Additions are no difference. What
# is meant is accepted with --write. Skipped (77) where libabigail or gcc is missing.
set -eu
include=$1 list=$2 baseline=$3
for tool in abidw abidiff gcc; do
    command -v "$tool" >/dev/null || { echo "$tool is missing"; exit 77; }
done
[ "$(uname -m)" = x86_64 ] || { echo "the baseline is of x86_64"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
    echo '#define BILLBOARD_EXPERIMENTAL'
    echo '#include <billboard/billboard.h>'
    sed -n 's/^function \([a-z_]*\)@@.*/__typeof__(\1) *const type_of_\1 = \1;/p' "$list"
} >"$work/types.c"
gcc -std=c17 -g -fPIC -shared -nostdlib -I "$include" "$work/types.c" -o "$work/types.so"
abidw --no-show-locs --no-corpus-path --no-comp-dir-path "$work/types.so" |
    sed "s, path='[^']*',,; s, language='[^']*',," >"$work/found.xml"
if [ "${4:-}" = --write ]; then
    cp "$work/found.xml" "$baseline"
elif ! abidiff --no-added-syms --no-show-locs "$baseline" "$work/types.so"; then
    echo "types of the public interface have changed; if that is meant (and allowed by" \
        "BILLBOARD_ABI):"
    echo "tests/api/abidiff.sh include tests/api/abi.txt tests/api/abi.xml --write"
    exit 1
fi
