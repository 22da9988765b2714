"""The iteration of bench_round in NumPy, as a user would write it: batched Gram matrices, the
models' covariance, symmetric Gaussian noise, an eigendecomposition, an accelerated step.

    round.py DATA.csv|MxNxD [rounds [repetitions]]    prints microseconds an iteration on the
                                                      clock, and of processors, one line a repetition
"""
import re
import sys
import time

import numpy as np



def rows_of(path):
    """The rows of each task."""
    if re.fullmatch(r"\d+x\d+x\d+", path):
        m, n, d = map(int, path.split("x"))
        random = np.random.default_rng(1)
        for _ in range(m):
            x = random.uniform(-1, 1, (n, d))
            yield x, x.sum(axis=1)
        return
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    task, y, x = table[:, 0], table[:, 1], table[:, 2:]
    for name in np.unique(task):
        yield x[task == name], y[task == name]


gram, xy = [], []
for x, y in rows_of(sys.argv[1]):
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    gram.append(x.T @ x / len(x))
    xy.append(x.T @ y / len(x))
gram, xy = np.array(gram), np.array(xy)
m, d = xy.shape

clip, eta, lam = 60.0, 1.0, 1.0
rounds, repetitions = (list(map(int, sys.argv[2:])) + [300, 9][len(sys.argv) - 2:])[:2]
std = np.sqrt(2.0) * clip**2 * np.sqrt(rounds) / 0.24
random = np.random.Generator(np.random.Philox())


def train():
    w = np.stack([np.linalg.solve(g + 0.01 * np.eye(d), c) for g, c in zip(gram, xy)])
    previous = w.copy()
    start = time.perf_counter(), time.process_time()
    for t in range(1, rounds + 1):
        w *= np.minimum(1.0, clip / np.maximum(np.linalg.norm(w, axis=1), 1e-300))[:, None]
        noise = random.standard_normal((d, d))
        value, u = np.linalg.eigh(w.T @ w + std * (np.tril(noise) + np.tril(noise, -1).T))
        shrink = np.maximum(0.0, 1.0 - eta * lam / np.sqrt(np.maximum(value, 1e-300)))
        hat = w @ ((u * shrink) @ u.T)
        z = hat + (t - 1) / (t + 2) * (hat - previous)
        previous = hat
        w = z - eta * ((gram @ z[:, :, None])[:, :, 0] - xy)
    return ((time.perf_counter() - start[0]) / rounds, (time.process_time() - start[1]) / rounds)


for _ in range(repetitions):
    wall, processor = train()
    print(f"{1e6 * wall:.2f} {1e6 * processor:.2f}")
