#!/bin/sh
# A step of gradient descent with a convolutional network against the bare oneDNN
# primitives and against PyTorch, in one run, in turn, on one processor.
#   python3 -m venv VENV && VENV/bin/pip install torch
#   bench/cnn.sh BUILD [VENV/bin/python]
set -eu
build=$1 python=${2:-python3} here=$(dirname "$0")
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
echo "processor microseconds a step, medians; see bench/cnn.c"
for round in 1 2 3; do
    taskset -c 0 "$build/bench/bench_cnn" 15
    taskset -c 0 "$python" "$here/cnn.py" 11
    taskset -c 0 "$python" "$here/cnn.py" 11 --nhwc | sed 's/torch/nhwc/'
done | sort -k 1,1 -k 2,2n | awk '
{ all[$1, ++n[$1]] = $2 }
END {
    for (name in n) middle[name] = all[name, int((n[name] + 1) / 2)]
    printf "ours %d, bare oneDNN %d, its floor %d, PyTorch %d, PyTorch channels_last %d\n",
        middle["ours"], middle["bare"], middle["floor"], middle["torch"], middle["nhwc"]
    printf "ours / bare %.2f, PyTorch / ours %.2f, PyTorch channels_last / ours %.2f\n",
        middle["ours"] / middle["bare"], middle["torch"] / middle["ours"],
        middle["nhwc"] / middle["ours"]
}'
