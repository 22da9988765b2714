#!/bin/sh
# An epoch of minibatch SGD on ten thousand clients: one thread, two, and NumPy with one, in one
# run, with the same clients and minibatches.
#   bench/clients.sh BUILD [CLIENTS]
set -eu
build=$1 clients=${2:-10000} here=$(dirname "$0")
orders=$(mktemp)
trap 'rm -f "$orders"' EXIT
one=$("$build/bench/bench_clients" 1 "$clients" "$orders")
two=$("$build/bench/bench_clients" 2 "$clients")
peer=$(OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python3 "$here/clients.py" "$orders")
echo "$one $two $peer" | awk '{
    printf "descents, seconds: one thread %.3f, two %.3f; NumPy %.3f, %.1f times one thread\n",
        $2, $7, $11, $11 / $2
    printf "processor seconds: one thread %.3f, two %.3f; NumPy %.3f, %.1f times one thread\n",
        $3, $8, $12, $12 / $3
    printf "opening the problems, seconds: one thread %.3f, two %.3f\n", $4, $9
    printf "sum of all parameters: %s, %s, NumPy %s\n", $5, $10, $13 }'
