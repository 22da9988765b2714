#!/usr/bin/env python3
"""Runs of several places, one behind the other, for so many minutes: each by a carrier, with doors,
a method and keys that are drawn, and with processes of all places killed at random and started
again. Of every run the models are those of one process, or, where noise is secret, every ledger is
charged once; and all places have the same billboard. The first run that is not so ends it, with
what all places have said and the seed that draws it again (when who is killed is not drawn).

    bench/soak.py BILLBOARD [MINUTES [SEED]]        (5 minutes, seed 1)
"""
import os, random, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/cli"))
from spoil import *  # noqa: E402

METHODS = [{"method": "fedprox"}, {"method": "fedavg"}, {"method": "mp-mixed", "rounds": None},
           {"method": "mp-lowrank", "set": {"clip": 1}}]


def ledger_of(who):
    return ["--ledger", f"{who}.ledger", "--population", who, "--budget-epsilon", "4",
            "--budget-delta", "1e-5"]


def one_run(draw, seen):
    doors, way = draw.choice([1, 1, 2]), draw.choice(["socket", "socket", "folder"])
    secret, method = draw.random() < 0.5, draw.choice(METHODS)
    signed = doors == 2 or draw.random() < 0.5
    names = ["curator", *SILOS, *(["helper"] if doors == 2 else [])]
    what = f"{doors} door{'s' if doors > 1 else ''}, {way}, {method['method']}, " \
        f"{'secret noise' if secret else 'seeded'}, {'signed' if signed else 'not signed'}"
    with folder():
        plan(doors=doors, **{"rounds": 20, **method, "seed": None if secret else 3})
        if signed:
            make_keys(["helper"] if doors == 2 else [])
        for who in SILOS:
            policy(f"{who}.json", **({"ledger": f"{who}.ledger", "population": who,
                                      "budget-epsilon": 4, "budget-delta": 1e-5,
                                      "allow-open": False} if secret else {}))

        def begin(who):
            more = signs(who) if signed else []
            if secret and who not in SILOS:
                more = [*more, *ledger_of(who)]
            return start(who, way, more=more, policy=f"{who}.json")

        places = {who: begin(who) for who in names}
        killed = until_all_have_ended(places, begin, draw, draw.randint(0, 25))
        if secret:
            charged_once(*(f"{who}.ledger" for who in names))
            one_billboard()
        else:
            check_as_one()
    seen[what] = seen.get(what, 0) + 1
    return killed, what


def main():
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    began, runs, kills, longest, seen = time.monotonic(), 0, 0, 0.0, {}
    while time.monotonic() - began < 60 * minutes:
        at = time.monotonic()
        try:
            killed, what = one_run(random.Random(seed + runs), seen)
        except AssertionError:
            print(f"seed {seed + runs} failed", flush=True)
            raise
        runs, kills, longest = runs + 1, kills + killed, max(longest, time.monotonic() - at)
        print(f"seed {seed + runs - 1}: {what}: {killed} kills, "
              f"{time.monotonic() - at:.1f} s", flush=True)
    print(f"{runs} runs of {len(seen)} kinds, {kills} kills, {time.monotonic() - began:.0f} s, the "
          f"longest run {longest:.0f} s: models and billboards of one process, ledgers charged once")


main()
