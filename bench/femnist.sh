#!/bin/bash
# The figures of docs/experiments/femnist.md: handwriting of 105 writers, small networks.
#   bench/femnist.sh BILLBOARD FEMNIST105 [PART...]
# FEMNIST105 is the folder with data.csv.gz. Parts: open (without noise; a quarter of an hour),
# private (eps .5, 2 and 8, seeds 1 to 3), trunk (fedper), noguard, curve (larger eps), leaf (90 %
# for training); all of them if none is named. A line a run: name, test accuracy, noise multiplier,
# seconds. Noise comes from seeds, so that the figures can be had again on the same type of
# processor: such runs are simulations, and not private.
set -euo pipefail
billboard=$1 data=$2/data.csv.gz
shift 2
[ $# -gt 0 ] || set -- open private trunk noguard curve leaf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
printf '{"others": 255}' > "$work/scale.json"
large=conv5x32,pool2,conv5x64,pool2,dense62
small=conv5x8,pool2,conv5x16,pool2,dense62

# run NAME NET METHOD FLAGS...
run() {
    local name=$1 net=$2 method=$3
    shift 3
    "$billboard" train "$data" --target label --loss softmax --net "$net" --image 28x28x1 \
        --scale "$work/scale.json" --method "$method" --set momentum=.9 "$@" \
        --force --json -o "$work/run" > "$work/json"
    python3 -c 'import json, sys
r = json.load(open(sys.argv[2]))
z = r["privacy"]["noise_multiplier"]
print(sys.argv[1], "%.4f" % r["test"]["accuracy"], "-" if z is None else "%.3g" % z,
      "%.0f" % r["seconds"]["total"], sep="\t", flush=True)' "$name" "$work/json"
}

alone="--mechanism none --set rate=.02"
shared="--mechanism none --rounds 20 --set epochs=2 --set rate=.1"
then_pmtl="pmtl,rounds=5,epochs=2,lambda=.1,rate=.005"
at_home="mean,penalty=.1,epochs=10,rate=.005"

open() {
    local net
    for size in small large; do
        net=${!size}
        run "$size, alone" "$net" stl $alone --set epochs=20 --train-fraction .3
        run "$size, fedavg" "$net" fedavg $shared --finetune none --train-fraction .3
        run "$size, fedavg, mean" "$net" fedavg $shared --finetune $at_home --train-fraction .3
        run "$size, fedavg then pmtl" "$net" fedavg $shared --phase $then_pmtl --train-fraction .3
        run "$size, fedavg then pmtl, mean" "$net" fedavg $shared --phase $then_pmtl \
            --finetune $at_home --train-fraction .3
    done
    run "small, pmtl" $small pmtl --mechanism none --rounds 60 --set rate=.05 --set lambda=2 \
        --train-fraction .3
}

# noisy NAME METHOD EPSILON SEED FLAGS...
home="vanilla,epochs=20,rate=.02,momentum=.9"
noisy() {
    local name=$1 method=$2 epsilon=$3 seed=$4
    shift 4
    run "$name, eps $epsilon, seed $seed" $small $method --epsilon $epsilon --delta 1e-5 \
        --seed $seed --split-seed $seed --train-fraction .3 --set rate=.05 --rounds 20 "$@"
}

private() {
    local seed epsilon
    declare -A clip=([.5]=.01 [2]=.04 [8]=.1)
    for seed in 1 2 3; do
        run "alone, seed $seed" $small stl $alone --set epochs=20 --train-fraction .3 \
            --split-seed $seed --seed $seed
        for epsilon in .5 2 8; do
            noisy "fedavg, guard" fedavg $epsilon $seed --set clip=.4 --finetune $home
            noisy pmtl pmtl $epsilon $seed --set clip=${clip[$epsilon]} --set lambda=1 \
                --finetune $home
        done
        noisy fedavg fedavg .5 $seed --set clip=.03 --set guard=off --finetune $home
        noisy fedavg fedavg 2 $seed --set clip=.1 --set guard=off --finetune $home
        noisy fedavg fedavg 8 $seed --set clip=.4 --set guard=off --finetune $home
        noisy "fedavg, one model" fedavg 8 $seed --set clip=.4 --set guard=off --finetune none
        noisy "fedavg then pmtl" fedavg 8 $seed --set clip=.4 --set guard=off --phase \
            pmtl,rounds=5,share=.15,epochs=4,clip=.4,lambda=.01,rate=.02,momentum=.9
    done
}

# Last layers of their own.
trunk() {
    local seed epsilon
    declare -A clip=([.5]=.01 [2]=.03 [8]=.2)
    for seed in 1 2 3; do
        for epsilon in .5 2 8; do
            noisy "fedper, guard" fedper $epsilon $seed --set clip=.2 --finetune $home
            noisy fedper fedper $epsilon $seed --set clip=${clip[$epsilon]} --set guard=off \
                --finetune $home
        done
        noisy "fedper, nothing shared" fedper .5 $seed --set clip=1e-9 --set guard=off \
            --finetune $home
        noisy "fedavg then fedper" fedavg 8 $seed --set clip=.4 --set guard=off --phase \
            fedper,rounds=5,share=.15,epochs=4,clip=.4,rate=.02,momentum=.9,guard=off
    done
    run "fedper" $small fedper --mechanism none --rounds 20 --set rate=.05 --finetune $home \
        --train-fraction .3 --split-seed 1 --seed 1
}

# What becomes of networks full of noise.
noguard() {
    local epsilon
    for epsilon in .5 2; do
        noisy "fedavg, clip .4" fedavg $epsilon 1 --set clip=.4 --set guard=off --finetune $home
        noisy "pmtl, clip .4" pmtl $epsilon 1 --set clip=.4 --set lambda=1 --finetune $home
    done
}

curve() {
    noisy "fedavg, guard" fedavg 4 1 --set clip=.4 --finetune $home
    noisy "fedavg, guard" fedavg 30 1 --set clip=.8 --finetune $home
    noisy "fedavg, guard" fedavg 100 1 --set clip=1.6 --set epochs=2 --finetune $home
    noisy "fedavg, guard" fedavg 1000 1 --set clip=1.6 --set epochs=2 --finetune $home
}

leaf() {
    run "small, alone, .9" $small stl $alone --set epochs=20 --train-fraction .9
    run "small, fedavg, mean, .9" $small fedavg $shared --finetune $at_home --train-fraction .9
    run "small, fedavg then pmtl, .9" $small fedavg $shared --phase $then_pmtl --train-fraction .9
}

for part; do $part; done
