#!/usr/bin/env bash
# How long plans with many different rounds, with very many events, and the hardest that a
# search found take: `bench/account_plans.sh [BILLBOARD]` prints seconds of processor time
# beside each. Standard Python makes lists of events.
set -u
billboard=${1:-build/billboard}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
plan() {
    TIMEFORMAT="%U + %S s  $*"
    time "$billboard" account --delta 1e-5 --tasks 1000000 "$@" >/dev/null
}
# COUNT rounds of noise 1 / (TOP (k / COUNT)^POWER), each TIMES times, and what JSON they have
# in common, as a file of which the name is printed.
events() {
    python3 - "$@" >"$folder/$1-$2.json" <<'EOF'
import json, sys
count, top, power, times, common = sys.argv[1:]
print(json.dumps([dict(json.loads(common), rounds=int(times), kind="round",
    noise_multiplier=1 / (float(top) * ((k + 1) / int(count))**float(power)))
    for k in range(int(count))]))
EOF
    echo "$folder/$1-$2.json"
}
different=(--noise-multiplier 0.8 --sampling poisson:0.002 --schedule geometric:0.9995)
for rounds in 300 1000 3000 100000; do plan --rounds $rounds "${different[@]}"; done
plan --rounds 600 --epsilon 1 --sampling poisson:0.003 --schedule geometric:0.999
plan --rounds 1099511627776 --sampling fixed:100000 --noise-multiplier 1e6
plan --selection 1e-5:1e9
plan --selection 0.1:30
rare=(--sampling fixed:1000 --cohort hidden --schedule geometric:0.999)
plan --rounds 300 --noise-multiplier 0.5 "${rare[@]}"
plan --rounds 300 --epsilon 1 "${rare[@]}"
echo "the hardest" >&2
plan --events "$(events 763 0.128 3 675 '{"sampling":"fixed:21","cohort":"hidden","form":"outer"}')" \
    --adjacency add-remove --delta 1.3e-4
plan --events "$(events 1000 6.977 0.3 165 '{"sampling":"poisson:8.4e-6"}')" --delta 1e-6
plan --rounds 1621 --epsilon 0.0489853 --delta 3.7e-4 --adjacency add-remove \
    --schedule power:0.1 --sampling poisson:2.3e-6
plan --rounds 72 --epsilon 0.978434 --delta 1.5e-8 --schedule power:0.1 \
    --sampling poisson:1.388e-5 --selection 0.0139776:7
plan --rounds 100000 --epsilon 3 --delta 1e-9 --schedule power:1 --form outer,vector \
    --sampling fixed:1000 --cohort hidden --adjacency add-remove
