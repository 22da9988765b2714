"""Convex multi-task learning in NumPy, on the rows that bench_solve reads: accelerated proximal
gradient (Beck, Teboulle 2009) with Gram matrices, or with rows where these are fewer than
features; the trace norm's proximal map by an eigenproblem of order min(tasks, features).

    solvers.py WORLD trace|l21 LAMBDA OPTIMUM      processor seconds, iterations, objective

It ends as soon as its objective is within 1e-6 of OPTIMUM, which it is told: it need not find
out, as ours must, that it is there.

    solvers.py WORLD lasso LAMBDA                  the same of scikit-learn's MultiTaskLasso, which
                                                   takes the rows of the first task for all
"""
import sys
import time

import numpy as np

LIMIT = 20000


def read(path):
    with open(path, "rb") as file:
        m, n, d = map(int, np.fromfile(file, np.uint64, 3))
        return np.fromfile(file, float, m * n * d).reshape(m, n, d), np.fromfile(file, float).reshape(m, n)


class Problem:
    def __init__(self, X, y):
        m, n, d = X.shape
        self.X, self.gram = X, None
        self.c = (X.transpose(0, 2, 1) @ y[:, :, None])[:, :, 0]
        self.yy = (y**2).sum()
        small = X @ X.transpose(0, 2, 1) if n < d else X.transpose(0, 2, 1) @ X
        if n >= d:
            self.gram = small
        v = np.ones((m, small.shape[1]))
        for _ in range(60):
            v = (small @ v[:, :, None])[:, :, 0]
            length = np.linalg.norm(v, axis=1, keepdims=True)
            v /= length
        self.step = 1 / (1.01 * length.max())

    def moved(self, W):
        if self.gram is not None:
            return (self.gram @ W[:, :, None])[:, :, 0]
        fit = self.X @ W[:, :, None]
        return (self.X.transpose(0, 2, 1) @ fit)[:, :, 0]

    def value(self, W, moved):
        return 0.5 * ((W * moved).sum() - 2 * (W * self.c).sum() + self.yy)


def trace(V, theta):
    """V: tasks x features."""
    tall = len(V) > V.shape[1]
    value, U = np.linalg.eigh(V.T @ V if tall else V @ V.T)
    s = np.sqrt(np.maximum(value, 0))
    kept = np.maximum(s - theta, 0)
    shrink = np.where(kept > 0, kept / np.maximum(s, 1e-300), 0)
    some = shrink > 0
    part = (U[:, some] * shrink[some]) @ U[:, some].T
    return (V @ part if tall else part @ V), kept.sum()


def l21(V, theta):
    norm = np.linalg.norm(V, axis=0)
    kept = np.maximum(norm - theta, 0)
    return V * (kept / np.maximum(norm, 1e-300)), kept.sum()


def fista(problem, prox, lam, optimum):
    """With restarts where the objective rises (O'Donoghue, Candes 2015)."""
    W = Z = np.zeros_like(problem.c)
    moved = moved_z = problem.moved(W)
    t, before = 1.0, np.inf
    for k in range(1, LIMIT):
        new, omega = prox(Z - problem.step * (moved_z - problem.c), problem.step * lam)
        moved_new = problem.moved(new)
        objective = problem.value(new, moved_new) + lam * omega
        if objective <= optimum * (1 + 1e-6):
            break
        if objective > before:
            t = 1.0
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        beta = (t - 1) / t_new
        Z, moved_z = new + beta * (new - W), moved_new + beta * (moved_new - moved)
        W, moved, t, before = new, moved_new, t_new, objective
    return objective, k


def main():
    X, y = read(sys.argv[1])
    lam = float(sys.argv[3])
    start = time.process_time()
    if sys.argv[2] == "lasso":
        from sklearn.linear_model import MultiTaskLasso
        n = X.shape[1]
        start = time.process_time()
        model = MultiTaskLasso(alpha=lam / n, fit_intercept=False, tol=1e-6, max_iter=LIMIT)
        model.fit(X[0], y.T)
        W, k = model.coef_, model.n_iter_
        spent = time.process_time() - start
        fit = X[0] @ W.T - y.T
        objective = 0.5 * (fit**2).sum() + lam * np.linalg.norm(W, axis=0).sum()
    else:
        prox = trace if sys.argv[2] == "trace" else l21
        objective, k = fista(Problem(X, y), prox, lam, float(sys.argv[4]))
        spent = time.process_time() - start
    print(f"{spent:.6f} {k} {objective:.12g}")


main()
