"""MALSAR's solvers (Zhou, Chen, Ye 2012) in NumPy: accelerated proximal gradient with line
search, stopped, as by default, when the objective changes by less than 1e-4 of itself.

    mtl.py SCHOOL.csv     a line a problem: name, processor seconds (median of 5), iterations,
                          objective

Task by task as in MALSAR, which forms the products with the rows in a loop over tasks.
"""
import sys
import time

import numpy as np


def school(path):
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    tasks = [table[table[:, 0] == name] for name in np.unique(table[:, 0])]
    return [t[:, 2:] for t in tasks], [t[:, 1] for t in tasks]


def z_score(x):
    deviation = x.std(axis=0, ddof=1)
    moves = deviation > 1e-12
    return np.where(moves, (x - x.mean(axis=0)) / np.where(moves, deviation, 1), 0.0)


def synb():
    """The draws of tests/mtl_problems.h: splitmix64, Box-Muller."""
    m, d, n, rank, total = 320, 30, 30, 5, 30 * 5 + 5 * 320 + 320 * (30 * 30 + 30)
    count = np.arange(1, total + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.uint64(20190901) + count * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    u = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(float) * 2.0**-53
    radius, angle = np.sqrt(-2 * np.log(1 - u[::2])), 2 * np.pi * u[1::2]
    draws = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]).ravel()
    left, right = draws[: d * rank].reshape(rank, d).T, draws[d * rank : d * rank + rank * m]
    w = left @ right.reshape(m, rank).T
    rest = draws[d * rank + rank * m :].reshape(m, n * d + n)
    x = [r[: n * d].reshape(n, d) for r in rest]
    x = [a / np.linalg.norm(a, axis=1, keepdims=True) for a in x]
    return x, [a @ w[:, i] + rest[i, n * d :] for i, a in enumerate(x)]


class Squared:
    """Loss, and gradient as a d x m matrix, of sum_i 1/2 ||X_i w_i - y_i||^2."""

    def __init__(self, x, y):
        self.x, self.y, self.intercept = x, y, False
        self.xy = np.stack([a.T @ b for a, b in zip(x, y)], axis=1)

    def value(self, w):
        return sum(0.5 * np.sum((b - a @ w[:, i]) ** 2)
                   for i, (a, b) in enumerate(zip(self.x, self.y)))

    def gradient(self, w):
        moved = [a.T @ (a @ w[:, i]) for i, a in enumerate(self.x)]
        return np.stack(moved, axis=1) - self.xy


class Logistic:
    """The same of the mean logistic losses; the last row of w are the intercepts."""

    def __init__(self, x, y):
        self.x, self.y, self.intercept = x, y, True

    def value(self, w):
        return sum(np.logaddexp(0, -b * (a @ w[:-1, i] + w[-1, i])).mean()
                   for i, (a, b) in enumerate(zip(self.x, self.y)))

    def gradient(self, w):
        out = np.empty_like(w)
        for i, (a, b) in enumerate(zip(self.x, self.y)):
            u = -b / (1 + np.exp(b * (a @ w[:-1, i] + w[-1, i]))) / len(b)
            out[:-1, i], out[-1, i] = a.T @ u, u.sum()
        return out


def trace(v, theta):
    u, s, vt = np.linalg.svd(v, full_matrices=False)
    s = np.maximum(s - theta, 0)
    return (u * s) @ vt, s.sum()


def l21(v, theta):
    norm = np.linalg.norm(v, axis=1, keepdims=True)
    return np.maximum(0, 1 - theta / np.maximum(norm, 1e-300)) * v, np.maximum(norm - theta, 0).sum()


def malsar(loss, prox, lam, tolerance=1e-4, limit=1000):
    d = loss.x[0].shape[1]
    w = np.zeros((d + loss.intercept, len(loss.x)))
    old, t, t_old, gamma, before = w, 1.0, 0.0, 1.0, None
    for iteration in range(1, limit + 1):
        a = (t_old - 1) / t
        s = (1 + a) * w - a * old
        gradient, value = loss.gradient(s), loss.value(s)
        while True:
            new = s - gradient / gamma
            new[:d], omega = prox(new[:d], lam / gamma)
            moved = new - s
            fresh = loss.value(new)
            if fresh <= value + np.sum(moved * gradient) + gamma / 2 * np.sum(moved**2):
                break
            gamma *= 2
        old, w, objective = w, new, fresh + lam * omega
        if iteration > 2 and abs(objective - before) <= tolerance * before:
            break
        before, t_old, t = objective, t, (1 + np.sqrt(1 + 4 * t * t)) / 2
    return objective, iteration


def problems(path):
    x, y = school(path)
    scores = [z_score(a) for a in x]
    z29 = Squared([np.column_stack([a, np.ones(len(a))]) for a in scores], y)
    unit = Squared([a / np.linalg.norm(a, axis=1, keepdims=True) for a in x], y)
    z = Logistic(scores, [np.where(b >= 20, 1.0, -1.0) for b in y])
    world = Squared(*synb())
    return [("school_z29_ls_trace_lam1000", z29, trace, 1000),
            ("school_z29_ls_trace_lam100", z29, trace, 100),
            ("school_z29_ls_l21_lam1000", z29, l21, 1000),
            ("school_unit_ls_trace_lam100", unit, trace, 100),
            ("school_unit_ls_l21_lam100", unit, l21, 100),
            ("school_z_log_trace_lam0.1", z, trace, 0.1),
            ("school_z_log_l21_lam0.1", z, l21, 0.1),
            ("synb_ls_trace_lam5", world, trace, 5),
            ("synb_ls_l21_lam5", world, l21, 5)]


for name, loss, prox, lam in problems(sys.argv[1]):
    seconds = []
    for _ in range(5):
        start = time.process_time()
        objective, iterations = malsar(loss, prox, lam)
        seconds.append(time.process_time() - start)
    print(f"{name} {sorted(seconds)[2]:.5f} {iterations} {objective:.12g}")
