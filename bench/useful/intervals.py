#!/usr/bin/env python3
"""Do 95 % intervals hold 95 % of new rows, on tables without ranges?

    bench/useful/intervals.py [BILLBOARD] [CACHE] [EPSILON]

Of every table of numbers of tables.py half of each task's rows train (--intervals), and the
others are predicted (--intervals 0.95); two splits. Prints the share that was held, of each table
and over all of them. Needs Python 3 and nothing else."""
import csv
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
from tables import Place, TABLES  # noqa: E402

SPLITS = (1, 2)


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def split(path, task, seed):
    """The header; of every task half of its rows, and the others."""
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    at, tasks = head.index(task), {}
    for row in rows:
        tasks.setdefault(row[at], []).append(row)
    drawn, halves = random.Random(seed), ([], [])
    for rows in tasks.values():
        drawn.shuffle(rows)
        for k, row in enumerate(rows):
            halves[2 * k >= len(rows)].append(row)
    return head, *halves


def held(program, one, path, epsilon, seed, scratch):
    head, train, test = split(path, one.task, seed)
    write(f"{scratch}/train.csv", [head, *train])
    write(f"{scratch}/test.csv", [head, *test])
    for words in (["train", "train.csv", "--task", one.task, "--target", one.target, "--epsilon",
                   epsilon, "--seed", str(seed), "--threads", "1", "--intervals", "--force",
                   "-o", "run"],
                  ["predict", "run", "test.csv", "--intervals", "0.95", "-o", "out.csv"]):
        subprocess.run([program, *words], cwd=scratch, check=True, capture_output=True)
    with open(f"{scratch}/out.csv", newline="", encoding="utf-8") as file:
        said = list(csv.DictReader(file))
    at = head.index(one.target)
    hits = [float(s["lower"]) <= float(row[at]) <= float(s["upper"])
            for s, row in zip(said, test) if s["lower"]]
    return sum(hits) / len(hits)


def main():
    usual = [f"{HERE}/../../build/billboard", f"{HERE}/../../build/useful", "1"]
    program, cache, epsilon = sys.argv[1:4] + usual[len(sys.argv) - 1:]
    os.makedirs(cache, exist_ok=True)
    shares = {}
    for one in TABLES:
        if one.loss != "squared":
            continue
        with tempfile.TemporaryDirectory() as scratch:
            path = Place(one, None, None, cache, scratch).table()
            shares[one.name] = sum(held(os.path.abspath(program), one, os.path.abspath(path),
                                        epsilon, s, scratch) for s in SPLITS) / len(SPLITS)
            print(f"{one.name:24s} {shares[one.name]:.3f}", flush=True)
    values = shares.values()
    print(f"{len(shares)} tables, epsilon {epsilon}: mean {sum(values) / len(shares):.3f}, "
          f"least {min(values):.3f}, most {max(values):.3f}")


if __name__ == "__main__":
    main()
