#!/bin/sh
# The accountant against dp-accounting (PyPI) in one run, one thread each.
#   python3 -m venv VENV && VENV/bin/pip install dp-accounting
#   bench/account.sh BUILD [VENV/bin/python]
set -eu
build=$1 python=${2:-python3} here=$(dirname "$0")
ours=$(mktemp)
trap 'rm -f "$ours"' EXIT
"$build/bench/bench_account" > "$ours"
echo "processor milliseconds, medians of 51 (ours) and 3 (the peer's)"
OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$python" "$here/account.py" < "$ours"
