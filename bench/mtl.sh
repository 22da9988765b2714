#!/bin/sh
# Certified optima against MALSAR's algorithm with its default stop, in one run, one thread each.
#   bench/mtl.sh BUILD SCHOOL.csv
set -eu
build=$1 data=$2 here=$(dirname "$0")
ours=$(mktemp)
trap 'rm -f "$ours"' EXIT
"$build/bench/bench_mtl" "$data" 1 > "$ours"
echo "processor milliseconds; in brackets rounds or iterations, and the relative distance from the"
echo "optimum: certified, and for MALSAR's algorithm in NumPy, that of its last objective."
echo "At the end: the original MALSAR, measured on another machine."
OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python3 "$here/mtl.py" "$data" | awk -v ours="$ours" '
{ getline line < ours; split(line, b, " ")
  printf "%-28s %6.1f (%3d, %7.1e)  NumPy %6.1f (%2d, %7.1e) %5.1f times  MALSAR %4.0f %5.1f times\n", \
      $1, 1000 * b[3], b[5], b[7], 1000 * $2, $3, $4 / b[6] - 1, $2 / b[3], 1000 * b[2], b[2] / b[3] }'
