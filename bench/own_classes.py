#!/usr/bin/env python3
"""The table of docs/methods/fedper.md: tasks whose classes are their own, but follow from few
directions of the rows that all tasks share.

    bench/own_classes.py [--billboard build/billboard] [--seeds 11-13] [common|nothing]

`common`: 1,000 tasks x 60 rows x 30 features; a task's class of a row is drawn by a softmax of 5
scores, three times a random matrix of its own times 3 common directions of the row. `nothing`: 300
tasks x 40 rows x 10 features, and the matrix is of all 10. 20 test rows a task. A line a run: name,
epsilon, world, test accuracy. Options were chosen on the world of seed 1. Needs Python 3 and
nothing else.
"""
import argparse
import json
import math
import os
import random
import subprocess
import tempfile

CLASSES = 5
COMMON = {"tasks": 1000, "rows": 60, "features": 30, "directions": 3}
NOTHING = {"tasks": 300, "rows": 40, "features": 10, "directions": 10}
STEPS = "--set momentum=.9 --set rate=.1"
HOME = "--finetune vanilla,epochs=20,rate=.1,momentum=.9"
LINEAR, NET = f"--classes {CLASSES}", f"--net dense12,dense{CLASSES} --image {{features}}x1x1"
ALONE = "--mechanism none"
RUNS = [("stl", None, f"--method stl {ALONE} {LINEAR}"),
        ("stl, network", None, f"--method stl {ALONE} {NET} {STEPS} --set epochs=40"),
        ("fedper", None, f"--method fedper {ALONE} {NET} {STEPS} --set epochs=2"),
        ("fedper, short at home", None,
         f"--method fedper {ALONE} {NET} {STEPS} --set epochs=2 --finetune vanilla")]
for epsilon in (.5, 1, 3):
    RUNS += [("mp-centre", epsilon, f"--method mp-centre {LINEAR}"),
             ("fedper", epsilon, f"--method fedper {NET} {STEPS} --set epochs=2"),
             ("fedper, short at home", epsilon,
              f"--method fedper {NET} {STEPS} --set epochs=2 --finetune vanilla"),
             ("fedper, long at home", epsilon,
              f"--method fedper {NET} {STEPS} --set epochs=2 {HOME}")]
    RUNS += [(f"{name}, network", epsilon,
              f"--method {name} {NET} {STEPS} --rounds 20 --set epochs=2 {HOME}")
             for name in ("fedavg", "pmtl", "ppsgd")]


def directions(draw, count, features):
    found = []
    for _ in range(count):
        v = [draw.gauss(0, 1) for _ in range(features)]
        for u in found:
            along = sum(a * b for a, b in zip(u, v))
            v = [b - along * a for a, b in zip(u, v)]
        length = math.sqrt(sum(a * a for a in v))
        found.append([a / length for a in v])
    return found


def write(path, rows, world, draw, common, own):
    with open(path, "w", encoding="utf-8") as file:
        file.write("task,label," + ",".join(f"x{k}" for k in range(world["features"])) + "\n")
        for task, matrix in enumerate(own):
            for _ in range(rows):
                x = [draw.gauss(0, 1) for _ in range(world["features"])]
                z = [sum(a * b for a, b in zip(u, x)) for u in common]
                score = [3 * sum(a * b for a, b in zip(z, column))
                         - math.log(-math.log(draw.random())) for column in matrix]
                file.write(f"t{task},{score.index(max(score))},"
                           + ",".join(f"{a:.4g}" for a in x) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--billboard", default="build/billboard")
    parser.add_argument("--seeds", default="11-13")
    parser.add_argument("world", nargs="?", default="common", choices=["common", "nothing"])
    args = parser.parse_args()
    world = COMMON if args.world == "common" else NOTHING
    first, last = (args.seeds.split("-") * 2)[:2]
    with tempfile.TemporaryDirectory() as here:
        data, test = os.path.join(here, "data.csv"), os.path.join(here, "test.csv")
        for seed in range(int(first), int(last) + 1):
            draw = random.Random(seed)
            common = directions(draw, world["directions"], world["features"])
            own = [[[draw.gauss(0, 1) for _ in common] for _ in range(CLASSES)]
                   for _ in range(world["tasks"])]
            write(data, world["rows"], world, draw, common, own)
            write(test, 20, world, draw, common, own)
            for name, epsilon, flags in RUNS:
                command = [args.billboard, "train", data, "--test", test, "--target", "label",
                           "--loss", "softmax", "--scale", '{"others": 4}', "--seed", str(seed),
                           *flags.format(**world).split(), "--force", "--json",
                           "-o", os.path.join(here, "run")]
                command += ["--epsilon", str(epsilon)] if epsilon else []
                made = subprocess.run(command, check=True, capture_output=True, text=True)
                accuracy = json.loads(made.stdout)["test"]["accuracy"]
                print(name, epsilon or "-", seed, f"{accuracy:.4f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()
