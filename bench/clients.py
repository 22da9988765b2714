"""The descents of bench_clients in NumPy, as a user would write them: the same clients and
minibatches, a matrix product a batch.

    clients.py ORDERS     prints seconds of the descents, their processor seconds, and the sum of all
                          parameters
"""
import sys
import time

import numpy as np

ROWS, FEATURES, BATCH, RATE, BLOCK = 100, 784, 10, 0.01, 100
orders = np.fromfile(sys.argv[1], dtype=np.uint8).reshape(-1, ROWS).astype(np.intp)
count = np.arange(1, ROWS * FEATURES + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def client(i):
    z = np.uint64(i << 32) + count
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = (((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53).reshape(ROWS, FEATURES)
    return x, np.where(x[:, 0] > x[:, 1], 1.0, -1.0)


def descend(x, y, order):
    w = np.zeros(FEATURES)
    for at in range(0, ROWS, BATCH):
        rows = order[at : at + BATCH]
        xb, yb = x[rows], y[rows]
        w -= RATE / BATCH * ((-yb / (1 + np.exp(yb * (xb @ w)))) @ xb)
    return w


wall = processor = total = 0.0
for first in range(0, len(orders), BLOCK):
    block = [client(i) for i in range(first, first + BLOCK)]
    start, worked = time.perf_counter(), time.process_time()
    models = [descend(x, y, orders[first + i]) for i, (x, y) in enumerate(block)]
    wall, processor = wall + time.perf_counter() - start, processor + time.process_time() - worked
    total += np.sum(models)
print(f"{wall:.4f} {processor:.4f} {total:.12g}")
