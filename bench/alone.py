#!/usr/bin/env python3
"""Every task alone and one model for all: `--compare stl' beside scikit-learn.

    bench/alone.py [--billboard build/billboard] [--data ../shared/data] [--seeds 1,2,3]
                   [--sets chem97,heart4,landmine]

For each set and seed 30 % of each task's rows train, the same for both: the program gets two
files. scikit-learn's Ridge or LogisticRegression have one penalty and one way of preparing rows
for all tasks, chosen by 5 folds in each task, as the program has. Needs numpy and scikit-learn.
"""
import argparse
import csv
import json
import os
import subprocess
import tempfile
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score

SETS = {"chem97": "squared", "school": "squared", "heart4": "logistic", "landmine": "logistic"}
PENALTIES = 10.0 ** np.arange(-4, 6.01, 0.5)
warnings.filterwarnings("ignore")


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    head, body = rows[0], rows[1:]
    task = [row[head.index("task")] for row in body]
    y = np.array([float(row[head.index("y")]) for row in body])
    columns = [k for k, name in enumerate(head) if name not in ("task", "y")]
    return task, y, np.array([[float(row[k]) for k in columns] for row in body])


def write(path, task, x, y, rows):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["task", "y"] + [f"x{k}" for k in range(x.shape[1])])
        for row in sorted(rows):
            out.writerow([task[row], repr(float(y[row]))] + [repr(v) for v in x[row].tolist()])


def billboard(program, folder, loss, seed):
    text = subprocess.run([program, "train", os.path.join(folder, "train.csv"), "--method", "stl",
                           "--loss", loss, "--test", os.path.join(folder, "test.csv"),
                           "--split-seed", str(seed), "--compare", "stl", "--json", "-o",
                           os.path.join(folder, f"run{seed}")],
                          check=True, capture_output=True, text=True).stdout
    compare = json.loads(text)["compare"]
    key = "nmse" if loss == "squared" else "auc"
    return compare["stl"]["test"][key], compare["pooled"]["test"][key]


def prepared(x, way):
    if way != "z":
        return np.zeros(x.shape[1]), np.ones(x.shape[1])
    deviation = x.std(0, ddof=1) if len(x) > 1 else np.zeros(x.shape[1])
    return x.mean(0), np.where(deviation > 0, 1 / np.where(deviation > 0, deviation, 1), 0)


def model(x, y, loss, way, penalty):
    """A function from rows to predictions."""
    mean, inverse = prepared(x, way)

    def rows(r):
        z = (r - mean) * inverse
        return np.hstack([z, np.ones((len(z), 1))]) if way == "zero" else z

    if loss == "squared":
        fitted = Ridge(alpha=penalty, fit_intercept=way != "zero").fit(rows(x), y)
        return lambda r: fitted.predict(rows(r))
    if len(set(y)) < 2 and way != "zero":
        return lambda r: np.full(len(r), np.sign(y[0] - .5) * np.log(len(y) + 1))
    if len(set(y)) < 2:
        return lambda r: np.zeros(len(r))
    fitted = LogisticRegression(C=1 / penalty, fit_intercept=way != "zero",
                                solver="newton-cholesky").fit(rows(x), y)
    return lambda r: fitted.decision_function(rows(r))


def error(y, p, loss):
    return ((y - p) ** 2).sum() if loss == "squared" \
        else np.logaddexp(0, np.where(y > 0, -p, p)).sum()


def cross_validated(groups, x, y, loss, ways, random):
    best = (np.inf, None, None)
    folds = [random.permutation(len(g)) % 5 for g in groups]
    for way in ways:
        for penalty in PENALTIES:
            total = sum(error(y[g[f == k]], model(x[g[f != k]], y[g[f != k]], loss, way,
                                                  penalty)(x[g[f == k]]), loss)
                        for g, f in zip(groups, folds) if len(g) > 1
                        for k in range(5) if (f == k).any())
            best = min(best, (total, way, penalty))
    return best[1:]


def figure(groups, y, p, loss):
    if loss == "squared":
        rows = np.concatenate(groups)
        return ((y[rows] - p[rows]) ** 2).mean() / y[rows].var()
    return np.mean([roc_auc_score(y[g], p[g]) for g in groups if len(set(y[g])) == 2])


def split(task, random):
    names = {name: [] for name in task}
    for row, name in enumerate(task):
        names[name].append(row)
    train, test = [], []
    for rows in names.values():
        rows = random.permutation(rows)
        count = max(1, round(.3 * len(rows)))
        train.append(rows[:count])
        test.append(rows[count:])
    return train, test


def peer(train, test, x, y, loss, random):
    p = np.zeros(len(y))
    way, penalty = cross_validated(train, x, y, loss, ("z", "raw", "zero"), random)
    for a, b in zip(train, test):
        if len(b):
            p[b] = model(x[a], y[a], loss, way, penalty)(x[b])
    kept = [g for g in test if len(g)]
    alone = figure(kept, y, p, loss)
    everything = np.concatenate(train)
    way, penalty = cross_validated([everything], x, y, loss, ("z",), random)
    p = model(x[everything], y[everything], loss, way, penalty)(x)
    return alone, figure(kept, y, p, loss)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--billboard", default="build/billboard")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--sets", default="chem97,heart4,landmine")
    o = parser.parse_args()
    for name in o.sets.split(","):
        path, loss = os.path.join(o.data, name, "data.csv"), SETS[name]
        task, y, x = read(path)
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for seed in map(int, o.seeds.split(",")):
                random = np.random.default_rng(seed)
                train, test = split(task, random)
                for part, groups in (("train", train), ("test", test)):
                    write(os.path.join(folder, part + ".csv"), task, x, y,
                          np.concatenate(groups))
                found.append(billboard(o.billboard, folder, loss, seed)
                             + peer(train, test, x, y, loss, random))
        mean, spread = np.mean(found, 0), np.std(found, 0)
        cell = [f"{m:.4f} ± {s:.4f}" for m, s in zip(mean, spread)]
        what = "nMSE" if loss == "squared" else "AUC"
        print(f"| {name}, {what} | {cell[0]} | {cell[2]} | {cell[1]} | {cell[3]} |", flush=True)


if __name__ == "__main__":
    main()
