#!/usr/bin/env bash
# The table of whole runs in docs/audit.md: every method that claims something, audited
# honestly and with a wrong claim: `bench/audit.sh [BILLBOARD]`. Some minutes; METHODS
# names some of them.
set -u
billboard=${1:-build/billboard}
cell() { # METHOD LOSS and further arguments
    local out
    out=$("$billboard" audit --method "$1" --loss "$2" --epsilon 1 --seed 2 "${@:3}" 2>/dev/null)
    case $? in 0 | 4) ;; *) echo "-"; return ;; esac
    sed -n 's/^guessed *\([0-9]*\), right \([0-9]*\)/\2 of \1/p; s/^found *epsilon at least \([^ ]*\).*/, \1/p' \
        <<<"$out" | tr -d '\n'
    grep -q '^verdict *violated' <<<"$out" && echo -n " **caught**"
    echo
}
echo "| method | squared, honest | squared, spends 30 | logistic, honest | logistic, spends 30 |"
echo "|---|---|---|---|---|"
for method in ${METHODS:-mp-lowrank mp-groupsparse mp-lrsp mp-instance mp-prior mp-mixed mp-centre fedavg fedprox pmtl pmtl-clusters pmtl-graph ppsgd dp-aggr dp-mtrl}; do
    printf '| `%s` ' "$method"
    set --
    [ $method = mp-instance ] && set -- --set instance-epsilon=1000
    for loss in squared logistic; do
        printf '| %s | %s ' "$(cell $method $loss "$@")" "$(cell $method $loss --run-epsilon 30 "$@")"
    done
    echo "|"
done
