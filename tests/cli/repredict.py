"""Predicts again what `billboard predict` said, from models.csv, limits.csv and the formula in
docs/run-directory.md alone: repredict.py DATA TASK_COLUMN RUN... where RUN.out are the
predictions of RUN for DATA. Needs nothing but Python's standard library."""

import csv
import json
import math
import os
import sys


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def folder_of(run):
    part = os.path.join(run, "task")
    return part if os.path.isdir(part) else os.path.join(run, "operator")


def score(model, row, steps):
    names = [name for name in model if name not in ("task", "intercept")]
    ranges = steps["scale"]["columns"] if steps["scale"] else {}
    value = {"(intercept)": 1.0}
    for name in names:
        if name == "(intercept)":
            continue
        value[name] = float(row[name])
        if name in ranges:
            low, high = ranges[name]
            middle, half = (low + high) / 2, (high - low) / 2
            most = steps["reach"] * half
            value[name] = min(max(value[name], middle - most), middle + most)
            if steps["rows"] == "unit-norm":
                value[name] = (value[name] - low) / half - 1 if half > 0 else 0.0
    total = math.fsum(float(model[name]) * value[name] for name in names)
    if steps["rows"] == "unit-norm":
        total /= math.sqrt(math.fsum(value[name] ** 2 for name in names)) or 1.0
    return float(model["intercept"]) + total


def limited(score, limits):
    low, high = float(limits["low"] or "-inf"), float(limits["high"] or "inf")
    return min(max(score, low), high)


def check(run, data, task):
    folder = folder_of(run)
    with open(os.path.join(folder, "models.csv"), "rb") as file:
        assert file.read(15) == b"task,intercept,", run + ": no header in front"
    model = {m["task"]: m for m in read(os.path.join(folder, "models.csv"))}
    limits = {}
    if os.path.exists(os.path.join(folder, "limits.csv")):
        limits = {m["task"]: m for m in read(os.path.join(folder, "limits.csv"))}
    with open(os.path.join(folder, "preprocessing.json"), encoding="utf-8") as file:
        steps = json.load(file)
    with open(os.path.join(folder, "models.json"), encoding="utf-8") as file:
        about = json.load(file)
    assert "its task alone" in about["statement"] and about["score"], run
    said = read(run + ".out")
    assert len(said) == len(data) > 0, run
    for row, answer in zip(data, said):
        assert row[task] == answer["task"], run
        mine = score(model[row[task]], row, steps)
        if about["loss"] == "logistic":
            mine, theirs = 1 / (1 + math.exp(-mine)), float(answer["probability"])
        else:
            mine, theirs = limited(mine, limits[row[task]]), float(answer["prediction"])
        if abs(mine - theirs) > 1e-9 * max(1.0, abs(theirs)):
            sys.exit(f"{run}: task {row[task]}: by hand {mine!r}, predict says {theirs!r}")


def main():
    data = read(sys.argv[1])
    for run in sys.argv[3:]:
        check(run, data, sys.argv[2])


main()
