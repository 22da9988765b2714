#!/bin/sh
# Trains a personal model for each of 2,410 schools, privately, and shows what it buys.
# 30 % of every school's pupils train, the others test. BILLBOARD names another program; with a
# file's name (PAGE.html) the run's report is written there, and the run stays beside it (PAGE.run).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
billboard=${BILLBOARD:-$here/../../build/billboard}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
run=$work/run
[ -z "${1:-}" ] || run=${1%.html}.run

echo "A-level chemistry, England 1997: what each school can learn about its own pupils,"
echo "when no school may learn anything about another (examples/schools/SOURCE.md)"
echo
"$billboard" train "$here/chem97.csv" --task task --target y --epsilon 1 \
    --adjacency replace-one --scale "$here/ranges.json" \
    --train-fraction 0.3 --compare stl,no-privacy --output "$run" --force
if [ -n "${1:-}" ]; then
    echo
    "$billboard" report "$run" --output "$1"
fi
