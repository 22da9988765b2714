#!/usr/bin/env python3
"""bench/useful on two small worlds: useful.py BILLBOARD SOURCE. The same table again, from the
cache and without it, and every seed and epsilon in it."""
import csv
import json
import os
import subprocess
import sys
import tempfile

program, source = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, f"{source}/bench/useful")
sys.dont_write_bytecode = True
import useful  # noqa: E402


def run(folder, cache):
    subprocess.run([sys.executable, f"{source}/bench/useful/useful.py", "--billboard", program,
                    "--sets", "growth,logit-nothing", "--seeds", "2", "--epsilons", "1,3",
                    "--method", "dp-aggr", "--data", "nowhere", "--cache", f"{folder}/{cache}",
                    "-o", f"{folder}/t.md", "--csv", f"{folder}/t.csv"], check=True)
    with open(f"{folder}/t.md", encoding="utf-8") as text, open(f"{folder}/t.csv") as rows:
        return text.read(), list(csv.DictReader(rows))


for epsilon in ("0.1", "1", "10"):  # the noise of one round with all tasks is 2 / mu
    text = subprocess.run([program, "account", "--rounds", "1", "--epsilon", epsilon, "--tasks",
                           "100", "--delta", "1e-5", "--json"], check=True, capture_output=True)
    noise = json.loads(text.stdout)["noise_multiplier"]
    assert abs(useful.gdp(float(epsilon), 1e-5) * noise / 2 - 1) < 1e-6, epsilon

with tempfile.TemporaryDirectory() as folder:
    first = run(folder, "a")
    runs = os.path.getmtime(f"{folder}/a/runs.jsonl"), os.path.getsize(f"{folder}/a/runs.jsonl")
    assert run(folder, "a") == first, "another table from the cache"
    assert runs == (os.path.getmtime(f"{folder}/a/runs.jsonl"),
                    os.path.getsize(f"{folder}/a/runs.jsonl")), "runs were made again"
    again = run(folder, "b")
    for row in first[1] + again[1]:
        row.pop("seconds")
    assert again[1] == first[1], "other figures from the same program"
    assert [(r["set"], r["epsilon"]) for r in first[1]] == [
        (s, e) for s in ("growth", "logit-nothing") for e in ("1.0", "3.0")], first[1]
    for row in first[1]:
        assert row["error"] == "" and int(row["seeds"]) == 2, row
        assert 0 < float(row["alone"]) < 1.5 and 0 < float(row["mean"]), row
