#!/usr/bin/env bash
# The tables of whole runs in docs/audit.md: `bench/audit.sh [BILLBOARD [TABLE]...]`.
#   canaries    what is found in one run (seed 1)
#   spends      honest runs and wrong claims: every method that claims something (seed 2)
#   membership  one target in 1,000 runs (seed 11), some ten minutes
# Without TABLE the first two, some minutes each; METHODS names some methods.
set -u
billboard=${1:-build/billboard}
shift
cell() { # METHOD LOSS and further arguments
    local out
    out=$("$billboard" audit --method "$1" --loss "$2" "${@:3}" 2>/dev/null)
    case $? in 0 | 4) ;; *) echo -n "-"; return ;; esac
    sed -n 's/^guessed *\([0-9]*\), right \([0-9]*\)/\2 of \1/p
            s/^guessed *AUC \([^;]*\).*/\1/p; s/^found *epsilon at least \([^ ]*\).*/, \1/p' \
        <<<"$out" | tr -d '\n'
    if grep -q '^verdict *violated' <<<"$out"; then echo -n " **caught**"; fi
}
none=(--mechanism none)
clear=(mtl-trace mtl-l21 stl) # claim nothing
private=(mp-lowrank mp-groupsparse mp-lrsp mp-instance mp-prior)
shown=(mp-mixed mp-centre fedavg fedprox pmtl pmtl-clusters pmtl-graph ppsgd dp-aggr dp-mtrl)
# The rows' own noise of mp-instance hides models from each other.
own() { if [ "$1" = mp-instance ]; then echo "--set instance-epsilon=1000 --set gradient-clip=1 --set clip=1"; fi; }

canaries() {
    echo "| canaries | squared, ε = 1 | squared, ε = 10 | logistic, ε = 1 | logistic, ε = 10 |"
    echo "|---|---|---|---|---|"
    for method in ${METHODS:-${private[@]}}; do
        printf '| `%s` ' "$method"
        for loss in squared logistic; do
            for epsilon in 1 10; do
                printf '| %s ' "$(cell "$method" $loss --epsilon $epsilon --seed 1)"
            done
        done
        echo "|"
    done
    for method in ${METHODS:-${clear[@]}}; do
        printf '| `%s` | %s | | %s | |\n' "$method" "$(cell "$method" squared --seed 1)" \
            "$(cell "$method" logistic --seed 1)"
    done
}
spends() {
    echo "| method | squared, honest | squared, spends 30 | logistic, honest | logistic, spends 30 |"
    echo "|---|---|---|---|---|"
    for method in ${METHODS:-${private[@]} ${shown[@]}}; do
        printf '| `%s` ' "$method"
        for loss in squared logistic; do
            for spent in "" "--run-epsilon 30"; do
                printf '| %s ' "$(cell "$method" $loss --epsilon 1 --seed 2 $spent $(own "$method"))"
            done
        done
        echo "|"
    done
}
membership() {
    echo "| membership, 1,000 runs | ε = 1 | ε = 6 | none | claim 1, spends 10 |"
    echo "|---|---|---|---|---|"
    for method in ${METHODS:-${private[@]}}; do
        for loss in squared logistic; do
            printf '| `%s` %s ' "$method" $loss
            for how in "--epsilon 1" "--epsilon 6" "${none[*]}" "--epsilon 1 --run-epsilon 10"; do
                printf '| %s ' "$(cell "$method" $loss --attack membership --seed 11 $how)"
            done
            echo "|"
        done
    done
}
if [ $# = 0 ]; then set -- canaries spends; fi
for table; do "$table"; done
