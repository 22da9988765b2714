#!/usr/bin/env python3
"""How far apart the two bounds of `billboard account` are, over random plans.

    bench/account_range.py build/billboard [PLANS [SEED]]

Noise multipliers from .3 to 100, up to 10^6 rounds, sampling rates from 10^-6 to 1/2
(Poisson, and samples of fixed size, visible or hidden), delta from 10^-20 to 10^-3, both
adjacencies, all uniform in the logarithm; plans with epsilon from 10^-3 to 200 and a
lower bound count.
Prints every plan whose bounds are more than 10^-3 of epsilon apart, the largest distance
and the longest processor time. Standard Python only.
"""
import json
import random
import resource
import subprocess
import sys

TASKS = 1000000


def draw():
    rate = 10 ** random.uniform(-6, -0.3)
    kind = random.choice(["poisson", "visible", "hidden"])
    adjacency = "replace-one"
    if kind == "poisson":
        sampling = ["--sampling", f"poisson:{rate:.6g}"]
        adjacency = random.choice(["add-remove", "replace-one"])
    else:
        sampling = ["--sampling", f"fixed:{max(1, int(rate * TASKS))}", "--cohort", kind]
    return sampling + [
        "--noise-multiplier", f"{10 ** random.uniform(-0.523, 2):.6g}",
        "--rounds", str(int(10 ** random.uniform(0, 6))),
        "--delta", f"{10 ** random.uniform(-20, -3):.6g}",
        "--tasks", str(TASKS), "--adjacency", adjacency,
    ]


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    program = sys.argv[1]
    plans = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    counted, farthest, longest = 0, 0.0, 0.0
    for _ in range(plans):
        plan = draw()
        before = processor_seconds()
        done = subprocess.run([program, "account", "--json"] + plan, capture_output=True,
                              text=True, check=True)
        seconds = processor_seconds() - before
        answer = json.loads(done.stdout)
        epsilon, lower = answer["epsilon"], answer["epsilon_lower"]
        if epsilon is None or lower is None or not 1e-3 <= epsilon <= 200:
            continue
        assert lower <= epsilon, plan
        counted += 1
        distance = (epsilon - lower) / epsilon
        farthest, longest = max(farthest, distance), max(longest, seconds)
        if distance > 1e-3:
            print(f"{distance:.2e} apart, epsilon {epsilon:.6g}:", " ".join(plan))
    print(f"{counted} of {plans} plans: at most {farthest:.2e} of epsilon apart, "
          f"longest {longest:.2f} s")


if __name__ == "__main__":
    main()
