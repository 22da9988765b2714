#!/usr/bin/env bash
# How long plans with many different rounds, and with very many events, take:
# `bench/account_plans.sh [BILLBOARD]` prints seconds of processor time beside each.
set -u
billboard=${1:-build/billboard}
plan() {
    TIMEFORMAT="%U s  $*"
    time "$billboard" account --delta 1e-5 "$@" >/dev/null
}
different=(--noise-multiplier 0.8 --sampling poisson:0.002 --schedule geometric:0.9995)
for rounds in 300 1000 3000 100000; do plan --rounds $rounds "${different[@]}"; done
plan --rounds 600 --epsilon 1 --sampling poisson:0.003 --schedule geometric:0.999
plan --rounds 1099511627776 --sampling fixed:100 --tasks 1000 --noise-multiplier 1e6
plan --selection 1e-5:1e9
plan --selection 0.1:30
rare=(--sampling fixed:100 --tasks 100000 --cohort hidden --schedule geometric:0.999)
plan --rounds 300 --noise-multiplier 0.5 "${rare[@]}"
plan --rounds 300 --epsilon 1 "${rare[@]}"
