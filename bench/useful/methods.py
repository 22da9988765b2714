#!/usr/bin/env python3
"""Every method with no options: where is it worse than every task alone?

    bench/useful/methods.py [--methods A,B,...] [options of useful.py] [-o TABLE.md]

Trains with every method of `billboard methods' on sets of sets.py, as useful.py does, and says how
much worse than alone (--method stl, one penalty for all that looks at all tasks' rows) the mean
over seeds is at each epsilon: for numbers in % of nMSE, for classes in thousandths of AUC or
accuracy. A method that refuses to guess an option is "asks". Sets: quick ones, most of them real
(--sets says others); epsilons .3, 1, 3; three seeds from 2001 on, by which nothing was chosen.
"""
import re
import subprocess
import sys

import useful

SETS = "school,chem97,landmine,chem97-lea,bank_conjoint,heart4,growth"
EPSILONS = "0.3,1,3"
ASKS = "asks"
useful.seeds_of = lambda one, count: range(2001, 2001 + count)


def methods_of(program):
    """[(name, kind)] but for what is alone, and for phases that follow others."""
    text = subprocess.run([program, "methods"], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^(\S+) \((open|private); (.*)\)$", text, re.M)
    left = ("pmtl-clusters", "pmtl-graph", "vote")
    return [(name, kind) for name, kind, _ in found if name not in left]


def measured(arguments, chosen, name, kind):
    """{set: [summary for each epsilon]}."""
    arguments.method = ["--method", name]
    asked = arguments.epsilons
    epsilons = arguments.epsilons = (useful.OPEN,) if kind == "open" else asked
    cache = useful.Cache(arguments)
    useful.make(arguments, cache, chosen)
    arguments.epsilons = asked
    return {useful.SETS[n].name: [useful.summary(useful.SETS[n], cache, arguments, e)
                                  for e in epsilons] for n in chosen}


def shown(row):
    if "error" in row:
        why = row["error"]
        if "loss" in why or "network" in why:
            return "–"
        return ASKS if "--set" in why else "**fails**"
    figure = 100 * row["lost"] if row["loss"] == "squared" else 1000 * row["lost"]
    text = f"{figure:+.1f}" if abs(figure) < 1000 else f"{figure:+.1e}"
    return f"**{text}**" if row["mean_is_worse"] else text


def main():
    own = []
    if "--methods" in sys.argv:
        at = sys.argv.index("--methods")
        own = sys.argv[at + 1].split(",")
        del sys.argv[at:at + 2]
    for flag, value in (("--sets", SETS), ("--epsilons", EPSILONS), ("--seeds", "3")):
        if flag not in sys.argv:
            sys.argv += [flag, value]
    arguments = useful.parse()
    chosen = useful.choose(arguments)
    names = [useful.SETS[n].name for n in chosen]
    text = useful.line(["method", *names]) + useful.line(["---"] * (1 + len(names)))
    bad = cells = 0
    for name, kind in methods_of(arguments.billboard):
        if own and name not in own:
            continue
        print(name, file=sys.stderr)
        found = measured(arguments, chosen, name, kind)
        text += useful.line([f"`{name}`", *(" / ".join(map(shown, found[s])) for s in names)])
        cells += sum("error" not in row for rows in found.values() for row in rows)
        bad += sum(row.get("mean_is_worse", False) for rows in found.values() for row in rows)
    text += f"\n{bad} of {cells} cells are worse than alone by more than 1 % (.003).\n"
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
