#!/bin/sh
# MP-MTL's iteration against the same in NumPy, in one run, one thread each, then two threads.
#   bench/round.sh BUILD DATA.csv
set -eu
build=$1 data=$2 here=$(dirname "$0")
median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
ours=$("$build/bench/bench_round" "$data" 1 | median)
both=$("$build/bench/bench_round" "$data" 2 | median)
peer=$(OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python3 "$here/round.py" "$data" | median)
awk -v a="$ours" -v b="$both" -v p="$peer" 'BEGIN {
    printf "microseconds an iteration (median of 9): billboard %.1f, two threads %.1f; NumPy %.1f\n", a, b, p
    printf "NumPy takes %.1f times as long as one thread\n", p / a }'
