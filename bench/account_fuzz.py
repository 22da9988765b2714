#!/usr/bin/env python3
"""How `billboard account` does on plans that nobody would make: how far apart its bounds
are, and how long it takes, over random lists of events.

    bench/account_fuzz.py build/billboard [PLANS [SEED [OTHER-BILLBOARD]]]

From 1 to 5000 different rounds of one to three kinds (all tasks, Poisson samples, samples
of fixed size, visible or hidden), each repeated up to 2^40 times in all, with rates from
10^-6 to 1/2 and from hardly any to very large losses, alone or with selections and steps;
asked for epsilon, delta or noise; delta from 10^-12 to 10^-3, all uniform in the
logarithm.

Prints each plan whose bounds are more than 10^-3 of epsilon apart where it is from 10^-3
to 200, each that takes more than 2 s of processor time (10 s for noise), each refused one
that takes more than .2 s, and the worst of all. With a second program both are asked, and
plans on which their bounds contradict each other are printed, too. Standard Python only.
"""
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile

TASKS = 1000000


def draw_rounds(events):
    """Rounds of one kind, whose noise is a power of their place, or random."""
    different = int(10 ** random.uniform(0, math.log10(5000)))
    kind = random.choice(["all", "poisson", "poisson", "poisson", "visible", "hidden"])
    rate = 10 ** random.uniform(-6, -0.3)
    top = 10 ** random.uniform(-2, 0.9)
    if kind == "all":
        top /= math.sqrt(different)
    power = random.choice([0.01, 0.1, 0.3, 1.0, 3.0])
    scattered = random.random() < 0.3
    most = 10 ** random.choice([0, 0, random.uniform(0, 3), random.uniform(0, 12)])
    if most > 1e3:
        top = min(top, 3 / math.sqrt(most * rate))
    for place in range(different):
        share = random.random() if scattered else (place + 1) / different
        mu = max(1e-5, top * max(share, 1e-4) ** power)
        event = {"kind": "round", "noise_multiplier": 1 / mu,
                 "rounds": max(1, int(most * random.random()))}
        if kind == "poisson":
            event["sampling"] = f"poisson:{rate:.9g}"
        elif kind != "all":
            event["sampling"] = f"fixed:{max(1, int(rate * TASKS))}"
            event["cohort"] = kind
        events.append(event)


def draw_search():
    """Noise is found for rounds by a schedule only."""
    rounds = int(10 ** random.uniform(0, math.log10(5000)))
    rate = 10 ** random.uniform(-6, -0.3)
    cohort = random.choice(["visible", "hidden"])
    sampling = random.choice([["--sampling", f"poisson:{rate:.6g}"],
                              ["--sampling", f"fixed:{max(1, int(rate * TASKS))}",
                               "--cohort", cohort]])
    schedule = random.choice([f"power:{random.uniform(-2, 2):.3g}",
                              f"geometric:{math.exp(random.uniform(-20, 20) / rounds):.6g}"])
    return ["--rounds", str(rounds), "--schedule", schedule,
            "--epsilon", f"{10 ** random.uniform(-1, 1):.6g}"] + sampling


def draw():
    events = []
    if random.random() < 0.12:
        adjacency = random.choice(["add-remove", "replace-one"])
        return "noise", [], draw_search() + [
            "--delta", f"{10 ** random.uniform(-12, -3):.6g}", "--tasks", str(TASKS),
            "--adjacency", adjacency]
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        draw_rounds(events)
    if random.random() < 0.25:
        for _ in range(int(10 ** random.uniform(0, 2))):
            epsilon = 10 ** random.uniform(-4, -0.5)
            event = {"kind": "selection", "epsilon": epsilon,
                     "rounds": int(10 ** random.uniform(0, 2))}
            if random.random() < 0.3:
                event.update(kind="step", delta=10 ** random.uniform(-20, -15))
            events.append(event)
    ask = random.choice(["epsilon"] * 6 + ["delta"])
    words = ["--tasks", str(TASKS),
             "--adjacency", random.choice(["add-remove", "replace-one"])]
    if ask != "delta":
        words += ["--delta", f"{10 ** random.uniform(-12, -3):.6g}"]
    if ask == "delta":
        words += ["--epsilon", f"{10 ** random.uniform(-2, 1.5):.6g}"]
    return ask, events, words


def call(program, words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "account", "--json"] + words, capture_output=True,
                          text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done, seconds


def bounds(ask, done):
    if done.returncode:
        return None, None
    answer = json.loads(done.stdout)
    what = "delta" if ask == "delta" else "epsilon"
    return answer[what], answer[what + "_lower"]


def apart(ask, upper, lower):
    """Relative, of what counts; None if there is nothing to compare."""
    if ask == "delta" or upper is None or lower is None or not 1e-3 <= upper <= 200:
        return None
    return (upper - lower) / upper


def main():
    program = sys.argv[1]
    plans = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    other = sys.argv[4] if len(sys.argv) > 4 else None
    farthest, longest, refusals, slowest_refusal, unknown = 0.0, {}, 0, 0.0, 0
    contradictions, counted = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan.json")
        for number in range(plans):
            random.seed(f"{seed} {number}")
            ask, events, words = draw()
            with open(path, "w", encoding="utf-8") as file:
                json.dump(events, file)
            if events:
                words = ["--events", path] + words
            done, seconds = call(program, words)
            upper, lower = bounds(ask, done)
            what = f"plan {number}: {ask}, {len(events)} events, {' '.join(words)}"
            if done.returncode:
                message = done.stderr.strip()
                print(f"refused ({done.returncode}), {seconds:.2f} s, {what}: {message}")
                if done.returncode == 2:
                    refusals += 1
                    slowest_refusal = max(slowest_refusal, seconds)
            else:
                longest[ask] = max(longest.get(ask, 0.0), seconds)
                if seconds > (10 if ask == "noise" else 2):
                    print(f"{seconds:.2f} s, {what}")
            distance = apart(ask, upper, lower)
            if distance is not None:
                counted += 1
                farthest = max(farthest, distance)
                if distance > 1e-3:
                    print(f"{distance:.2e} apart, epsilon {upper:.6g}, {what}")
            unknown += upper is not None and lower is None
            if other and ask != "noise":
                high, low = bounds(ask, call(other, words)[0])
                wrong = low is not None and upper is not None and upper < low
                wrong = wrong or lower is not None and high is not None and high < lower
                contradictions += wrong
                if wrong:
                    print(f"contradiction: {lower}..{upper} and {low}..{high}, {what}")
    print(f"{plans} plans, {counted} with two bounds: at most {farthest:.2e} apart; "
          f"{unknown} without a lower bound; {refusals} refused, the slowest in "
          f"{slowest_refusal:.2f} s; longest "
          + ", ".join(f"{ask} {s:.2f} s" for ask, s in sorted(longest.items()))
          + (f"; {contradictions} contradictions" if other else ""))


if __name__ == "__main__":
    main()
