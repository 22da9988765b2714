#!/bin/sh
# Wall time of a whole `billboard train DATA --method mp-prior --epsilon 1`: start, read, learn,
# test, write the run. Milliseconds: the median of 9, the least and the most.
#   bench/whole.sh BILLBOARD DATA [FLAGS...]
set -eu
billboard=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
for k in 1 2 3 4 5 6 7 8 9; do
    start=$(date +%s%N)
    "$billboard" train "$@" --method mp-prior --epsilon 1 --json --force -o "$work/run" \
        > /dev/null 2> "$work/errors" || { cat "$work/errors" >&2; exit 1; }
    echo $((($(date +%s%N) - start) / 10000))
done | sort -n | awk '{v[NR] = $1 / 100}
    END {if (NR < 9) exit 1; printf "%.0f ms (%.0f to %.0f)\n", v[5], v[1], v[9]}'
