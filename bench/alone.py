#!/usr/bin/env python3
"""Every task alone and one model for all: `--compare stl' beside scikit-learn.

    bench/alone.py [--billboard build/billboard] [--data ../shared/data] [--seeds 1,2,3]
                   [--sets chem97,heart4,landmine,digits,labels]

For each set and seed 30 % of each task's rows train (digits and labels: half), the same for both:
the program gets two files. scikit-learn's Ridge or LogisticRegression (labels: one for each) have
one penalty and one way of preparing rows for all tasks, chosen by 5 folds in each task, as the
program has; for classes a third pair of figures is LogisticRegressionCV, every task with folds
and a penalty of its own. `digits' are those of the first 10 writers of femnist105, 7 x 7 pixels;
`labels' are made by `billboard synth multilabel'. Needs numpy and scikit-learn.
"""
import argparse
import csv
import gzip
import json
import os
import subprocess
import tempfile
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import KFold

SETS = {"chem97": "squared", "school": "squared", "heart4": "logistic", "landmine": "logistic",
        "digits": "softmax", "labels": "multilabel"}
FIGURE = {"squared": "nmse", "logistic": "auc", "softmax": "accuracy", "multilabel": "f1"}
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


def read_digits(path):
    """Digits of the first 10 writers, means of 4 x 4 pixels."""
    task, y, x = [], [], []
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.reader(file):
            if row[0] != "task" and int(row[0]) <= 10 and int(row[1]) < 10:
                pixels = np.array(row[2:], float).reshape(7, 4, 7, 4)
                task.append(row[0])
                y.append(float(row[1]))
                x.append(pixels.mean((1, 3)).ravel() / 255)
    return task, np.array(y), np.array(x)


def read_labels(program, folder):
    """`y` is a matrix, a column a label."""
    path = os.path.join(folder, "labels.svm")
    subprocess.run([program, "synth", "multilabel", "--tasks", "10", "--samples", "40",
                    "--features", "30", "--labels", "10", "-o", path], check=True,
                   capture_output=True)
    task, y, x = [], [], []
    with open(path) as file:
        for line in file:
            labels, qid, *entries = line.split() if line[0] != " " else [""] + line.split()
            task.append(qid[4:])
            y.append(np.isin(np.arange(10), [int(c) for c in labels.split(",") if c]))
            x.append(np.zeros(30))
            for entry in entries:
                k, value = entry.split(":")
                x[-1][int(k) - 1] = float(value)
    return task, np.array(y, float), np.array(x)


def write_labels(path, task, x, y, rows):
    with open(path, "w") as file:
        for row in sorted(rows):
            labels = ",".join(str(c) for c in np.flatnonzero(y[row]))
            entries = " ".join(f"{k + 1}:{v!r}" for k, v in enumerate(x[row].tolist()) if v)
            file.write(f"{labels} qid:{task[row]} {entries}\n")


def billboard(program, folder, loss, seed):
    kind = "svm" if loss == "multilabel" else "csv"
    text = subprocess.run([program, "train", os.path.join(folder, "train." + kind), "--method",
                           "stl", "--loss", loss,
                           "--test", os.path.join(folder, "test." + kind), "--split-seed", str(seed), "--compare", "stl", "--json", "-o",
                           os.path.join(folder, f"run{seed}")],
                          check=True, capture_output=True, text=True).stdout
    compare = json.loads(text)["compare"]
    key = FIGURE[loss]
    return compare["stl"]["test"][key], compare["pooled"]["test"][key]


def prepared(x, way):
    if way != "z":
        return np.zeros(x.shape[1]), np.ones(x.shape[1])
    deviation = x.std(0, ddof=1) if len(x) > 1 else np.zeros(x.shape[1])
    return x.mean(0), np.where(deviation > 0, 1 / np.where(deviation > 0, deviation, 1), 0)


def classes(x, y, learner, rows):
    """Log odds of all 10 classes; those that no row has are never said."""
    if len(set(y)) < 2:
        return lambda r: np.where(np.arange(10) == y[0], 0., -50.) + np.zeros((len(r), 1))
    fitted = learner().fit(rows(x), y)

    def say(r):
        z = np.full((len(r), 10), -50.)
        z[:, fitted.classes_.astype(int)] = fitted.predict_log_proba(rows(r))
        return z
    return say


def own_penalty(x, y):
    """Standardised, with a penalty of its own."""
    mean, inverse = prepared(x, "z")
    return classes(x, y, lambda: LogisticRegressionCV(
        Cs=1 / PENALTIES[6:17], cv=KFold(3, shuffle=True, random_state=0), max_iter=500,
        use_legacy_attributes=False, l1_ratios=(0,)), lambda r: (r - mean) * inverse)


def model(x, y, loss, way, penalty):
    """A function from rows to predictions."""
    mean, inverse = prepared(x, way)

    def rows(r):
        z = (r - mean) * inverse
        return np.hstack([z, np.ones((len(z), 1))]) if way == "zero" else z

    if loss == "multilabel":
        labels = [model(x, y[:, c], "logistic", way, penalty) for c in range(y.shape[1])]
        return lambda r: np.stack([one(r) for one in labels], 1)
    if loss == "softmax":
        return classes(x, y, lambda: LogisticRegression(
            C=1 / penalty, fit_intercept=way != "zero", max_iter=500), rows)
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
    if loss == "softmax":
        return (p.argmax(1) != y).sum()
    if loss == "multilabel":
        return ((p > 0) != (y > 0)).sum()
    return ((y - p) ** 2).sum() if loss == "squared" \
        else np.logaddexp(0, np.where(y > 0, -p, p)).sum()


def cross_validated(groups, x, y, loss, ways, random):
    best = (np.inf, None, None)
    folds = [random.permutation(len(g)) % 5 for g in groups]
    for way in ways:
        for penalty in PENALTIES[::2] if loss == "softmax" else PENALTIES:
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
    if loss == "softmax":
        rows = np.concatenate(groups)
        return (p[rows].argmax(1) == y[rows]).mean()
    if loss == "multilabel":
        rows = np.concatenate(groups)
        return f1_score(y[rows].ravel() > 0, p[rows].ravel() > 0)
    return np.mean([roc_auc_score(y[g], p[g]) for g in groups if len(set(y[g])) == 2])


def split(task, random, part):
    names = {name: [] for name in task}
    for row, name in enumerate(task):
        names[name].append(row)
    train, test = [], []
    for rows in names.values():
        rows = random.permutation(rows)
        count = max(1, round(part * len(rows)))
        train.append(rows[:count])
        test.append(rows[count:])
    return train, test


def peer(train, test, x, y, loss, random):
    p = np.zeros((len(y), 10) if loss == "softmax" else y.shape)
    ways = ("raw", "zero") if loss == "multilabel" else ("z", "raw", "zero")
    way, penalty = cross_validated(train, x, y, loss, ways, random)
    for a, b in zip(train, test):
        if len(b):
            p[b] = model(x[a], y[a], loss, way, penalty)(x[b])
    kept = [g for g in test if len(g)]
    alone = figure(kept, y, p, loss)
    everything = np.concatenate(train)
    way, penalty = cross_validated([everything], x, y, loss, ways[:1], random)
    p = model(x[everything], y[everything], loss, way, penalty)(x)
    pooled = figure(kept, y, p, loss)
    if loss != "softmax":
        return alone, pooled
    for a, b in zip(train, test):
        p[b] = own_penalty(x[a], y[a])(x[b])
    own = figure(kept, y, p, loss)
    p = own_penalty(x[everything], y[everything])(x)
    return alone, pooled, own, figure(kept, y, p, loss)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--billboard", default="build/billboard")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--sets", default="chem97,heart4,landmine")
    o = parser.parse_args()
    for name in o.sets.split(","):
        loss, found = SETS[name], []
        part = .5 if loss in ("softmax", "multilabel") else .3
        with tempfile.TemporaryDirectory() as folder:
            if name == "digits":
                task, y, x = read_digits(os.path.join(o.data, "femnist105", "data.csv.gz"))
            elif name == "labels":
                task, y, x = read_labels(o.billboard, folder)
            else:
                task, y, x = read(os.path.join(o.data, name, "data.csv"))
            for seed in map(int, o.seeds.split(",")):
                random = np.random.default_rng(seed)
                train, test = split(task, random, part)
                for half, groups in (("train", train), ("test", test)):
                    file = os.path.join(folder, half + (".svm" if name == "labels" else ".csv"))
                    (write_labels if name == "labels" else write)(file, task, x, y,
                                                                  np.concatenate(groups))
                found.append(billboard(o.billboard, folder, loss, seed)
                             + peer(train, test, x, y, loss, random))
        mean, spread = np.mean(found, 0), np.std(found, 0)
        cell = [f"{m:.4f} ± {s:.4f}" for m, s in zip(mean, spread)]
        own = f" LogisticRegressionCV {cell[4]}, {cell[5]}" if len(cell) > 4 else ""
        print(f"| {name}, {FIGURE[loss]} | {cell[0]} | {cell[2]} | {cell[1]} | {cell[3]} |{own}",
              flush=True)


if __name__ == "__main__":
    main()
