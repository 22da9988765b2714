"""What a NumPy and pandas user would write in place of a whole run: read the CSV, standardise
every task, the rounds with Gaussian noise in floating point, the fits at home, a CSV of models.
All tasks at once, in batched products, solves and eigenproblems; tasks need equally many rows,
which our program does not ask.

    peers.py METHOD DATA.csv ROUNDS      mp-mixed, mp-prior, fedprox, pmtl or mp-centre

As many rounds, questions and candidates as ours has on such data (docs/methods), by the spectrum
of each task's Gram matrix, which is the quickest way that NumPy has for many penalties."""

import os
import sys
import tempfile

import numpy as np
import pandas as pd


def read(path, constant=True):
    """X (tasks, rows, features and the constant), y (tasks, rows), by each task's own scale."""
    table = pd.read_csv(path)
    task, name = pd.factorize(table.pop("task"))
    y = table.pop("y").to_numpy()
    X = table.to_numpy(dtype=float)
    del table
    m = len(name)
    if np.any(np.diff(task) < 0):
        order = np.argsort(task, kind="stable")
        X, y = X[order], y[order]
    X, y = X.reshape(m, -1, X.shape[1]).copy(), y.reshape(m, -1).astype(float)
    X -= X.mean(axis=1, keepdims=True)
    X /= np.maximum(X.std(axis=1, ddof=1, keepdims=True), 1e-12)
    if constant:
        X = np.concatenate([X, np.ones((*y.shape, 1))], axis=2)
    return X, y, name


def gram(X, y):
    turned = X.transpose(0, 2, 1)
    return turned @ X, (turned @ y[:, :, None])[:, :, 0]


def clipped_sum(shown, clip, noise, rng):
    shown = shown * np.minimum(1.0, clip / np.maximum(np.linalg.norm(shown, axis=1), 1e-300))[:, None]
    return shown.sum(axis=0) + noise * rng.standard_normal(shown.shape[1])


def spectrum(G, root=None):
    """Eigenpairs of D^1/2 G D^1/2; root: its square root, as a vector or as a matrix."""
    if root is not None:
        G = root.T @ G @ root if root.ndim == 2 else G * np.outer(root, root)
    value, U = np.linalg.eigh(G)
    return np.maximum(value, 0.0), U


def evidence(value, turned, squares, rows, penalties, levels):
    """Log evidences (tasks, penalties, levels) of normal - inverse gamma models."""
    inverse = 1.0 / (value[:, None, :] + penalties[None, :, None])
    log_det = np.log1p(value[:, None, :] / penalties[None, :, None]).sum(axis=2)
    rest = np.maximum(squares[:, None] - ((turned**2)[:, None, :] * inverse).sum(axis=2), 1e-12)
    score = -0.5 * (rows + 1) * np.log(rest[:, :, None] + levels) + 0.5 * np.log(levels)
    return score - 0.5 * log_det[:, :, None]


def average(fits, odds, rows, penalties, levels, d):
    """The models' average over fits = [(value, U, root, centre, G, c, yy)] and all penalties."""
    scores, parts = [], []
    for k, (value, U, root, centre, G, c, yy) in enumerate(fits):
        towards, squares = c, yy
        if centre is not None:
            pulled = G @ centre
            towards, squares = c - pulled, yy - 2 * c @ centre + pulled @ centre
        if root is not None:
            towards = towards @ root if root.ndim == 2 else towards * root
        turned = (U.transpose(0, 2, 1) @ towards[:, :, None])[:, :, 0]
        scores.append(evidence(value, turned, squares, rows, penalties, levels) + odds[k])
        parts.append(turned)
    scores = np.stack(scores, axis=1)
    scores -= scores.max(axis=(1, 2, 3), keepdims=True)
    share = np.exp(scores).sum(axis=3)
    share /= share.sum(axis=(1, 2), keepdims=True)
    model = np.zeros((len(share), d))
    for k, (value, U, root, centre, *_) in enumerate(fits):
        shrunk = (share[:, k, :, None] / (value[:, None, :] + penalties[None, :, None])).sum(axis=1)
        w = (U @ (shrunk * parts[k])[:, :, None])[:, :, 0]
        if root is not None:
            w = w @ root.T if root.ndim == 2 else w * root
        model += w if centre is None else w + share[:, k].sum(axis=1)[:, None] * centre
    return model, scores


def fedprox(X, y, rounds, rng, own=False):
    """fedprox, or pmtl: every task keeps its own model, which it starts from."""
    m, n, d = X.shape
    G, c = gram(X, y)
    mu, centre, clip = 1e-4, np.zeros(d), 1.0
    inverse = np.linalg.inv(G / n + mu * np.eye(d))
    before = np.zeros((m, d))
    for _ in range(rounds):
        w = (inverse @ (c / n + mu * centre)[:, :, None])[:, :, 0]
        shown = w - (before if own else centre)
        below = (np.linalg.norm(shown, axis=1) <= clip).mean() - 0.5
        centre = centre + clipped_sum(shown, clip, 30 * clip, rng) / m
        clip *= np.exp(-0.5 * below)
        before = w
    if own:
        return w
    penalties, levels = 10.0 ** np.arange(-5, 4), np.array([1, 0.1, 0.01, 1e-3]) * y.var()
    freed = np.ones(d)
    freed[-1] = 10.0
    yy, fits = (y**2).sum(axis=1), []
    for root in (None, freed):
        value, U = spectrum(G, root)
        fits += [(value, U, root, None, G, c, yy), (value, U, root, centre, G, c, yy)]
    return average(fits, np.zeros(4), n, penalties, levels, d)[0]


def mp_mixed(X, y, rounds, rng):
    m, n, d = X.shape
    G, c = gram(X, y)
    centre, speed = np.zeros(d), np.zeros(d)
    inverse = np.linalg.inv(G + 0.3 * np.eye(d))
    search = max(1, round(0.6 * rounds))
    for t in range(search):
        u = (inverse @ (c - G @ centre)[:, :, None])[:, :, 0]
        u /= np.maximum(np.linalg.norm(u, axis=1), 1e-12)[:, None]
        speed = min(0.7, t / (t + 3)) * speed + 0.5 * clipped_sum(u, 1.0, 30.0, rng) / m
        centre = centre + speed
    penalties, levels = 10.0 ** np.linspace(-5, 2, 15), np.array([3e-5, 3e-4, 3e-3, 3e-2, 0.3])
    yy, root = (y**2).sum(axis=1), None
    for _ in range(3):  # every time that the covariance is estimated, tasks look again
        value, U = spectrum(G, root)
        fit = (value, U, root, centre, G, c, yy)
        w = average([fit], [0.0], n, penalties, levels, d)[0] - centre
        w /= np.maximum(np.linalg.norm(w, axis=1), 1e-12)[:, None]
        noise = 30.0 * rng.standard_normal((d, d))
        spike, basis = np.linalg.eigh(w.T @ w + (noise + noise.T) / 2)
        variance = 1 + np.maximum(spike, 0) / np.maximum(np.median(spike), 1e-9)
        root = basis * np.sqrt(variance)
    free, held = np.ones(d), np.ones(d)
    free[-1], held[-1] = 10.0, 0.4
    fits = []
    for kind in (None, free, held, root, basis * variance):
        value, U = spectrum(G, kind)
        fits += [(value, U, kind, centre, G, c, yy), (value, U, kind, None, G, c, yy)]
    return average(fits, np.zeros(len(fits)), n, penalties, levels, d)[0]


def mp_prior(X, y, rounds, rng):
    m, n, d = X.shape
    G, c = gram(X, y)
    G, c, yy = G / n, c / n, (y**2).sum(axis=1) / n
    value, U = spectrum(G)
    grid = 10.0 ** np.arange(-5, 0.01, 0.25)
    Z, turned = X @ U, (U.transpose(0, 2, 1) @ c[:, :, None])[:, :, 0]
    inverse = 1.0 / (value[:, None, :] + grid[None, :, None])
    left = y[:, :, None] - Z @ (inverse * turned[:, None, :]).transpose(0, 2, 1)
    left /= np.maximum(1 - (Z**2 / n) @ inverse.transpose(0, 2, 1), 1e-10)
    error = (left**2).mean(axis=1)
    weight = -0.15 * n * np.log(error) - 0.5 * ((np.log10(grid) + 3.5) / 0.7) ** 2
    weight = np.exp(weight - weight.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    penalty = 10.0 ** (weight @ np.log10(grid))
    block = np.concatenate([np.concatenate([G, c[:, :, None]], axis=2),
                            np.concatenate([c, yy[:, None]], axis=1)[:, None, :]], axis=1)
    block /= np.maximum(1.0, np.sqrt((block**2).sum(axis=(1, 2))))[:, None, None]
    total = block.sum(axis=0) + 10 * rng.standard_normal((d + 1, d + 1))
    total = (total + total.T) / 2
    mean = np.linalg.solve(total[:d, :d] + 10 * np.eye(d), total[:d, d])
    towards = (U.transpose(0, 2, 1) @ (c - G @ mean)[:, :, None])[:, :, 0]
    shrunk = (weight[:, :, None] * inverse).sum(axis=1)
    v = (U @ (shrunk * towards)[:, :, None])[:, :, 0]
    v /= np.maximum(np.linalg.norm(v, axis=1), 1e-12)[:, None]
    spike, basis = np.linalg.eigh(v.T @ v + 10 * np.eye(d))
    variance = 1 + np.maximum(spike - np.median(spike), 0) / np.median(spike)
    multipliers = [(None, np.array([1.0]), None)]
    multipliers += [(None, 10.0 ** np.arange(-1, 6), mean)]
    multipliers += [(basis * np.sqrt(variance), np.array([1.0, 4, 20, 100]), mean),
                    (basis * variance, np.array([1.0, 4, 20, 100]), mean)]
    scores, models = [], []
    for root, factors, centre in multipliers:
        own, V = (value, U) if root is None else spectrum(G, root)
        towards, squares = c, yy
        if centre is not None:
            pulled = G @ centre
            towards, squares = c - pulled, yy - 2 * c @ centre + pulled @ centre
        if root is not None:
            towards = towards @ root
        turned = (V.transpose(0, 2, 1) @ towards[:, :, None])[:, :, 0]
        strength = penalty[:, None] * factors
        inverse = 1.0 / (own[:, None, :] + strength[:, :, None])
        log_det = np.log1p(own[:, None, :] / strength[:, :, None]).sum(axis=2)
        least = squares[:, None] - ((turned**2)[:, None, :] * inverse).sum(axis=2)
        scores.append(-0.5 * log_det - 0.5 * n * np.log(np.maximum(least, 1e-30)))
        w = (inverse * turned[:, None, :]) @ V.transpose(0, 2, 1)
        if root is not None:
            w = w @ root.T
        models.append(w if centre is None else w + centre)
    score = np.concatenate(scores, axis=1)
    vote = score - score.mean(axis=1, keepdims=True)
    vote /= np.maximum(1.0, np.linalg.norm(vote, axis=1))[:, None]
    odds = (vote.sum(axis=0) + rng.standard_normal(vote.shape[1])) * 40 / m
    share = np.exp(score + odds - (score + odds).max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    return (share[:, :, None] * np.concatenate(models, axis=1)).sum(axis=1)


def newton(X, y, penalty, centre, w, steps):
    """Batched Newton's method for the logistic loss; the last Hessians too."""
    for _ in range(steps):
        margin = (X @ w[:, :, None])[:, :, 0]
        p = 1.0 / (1.0 + np.exp(y * margin))
        H = X.transpose(0, 2, 1) @ (X * (p * (1 - p))[:, :, None])
        H += penalty * np.eye(X.shape[2])
        g = penalty * (w - centre) - (X.transpose(0, 2, 1) @ (y * p)[:, :, None])[:, :, 0]
        w = w - np.linalg.solve(H, g[:, :, None])[:, :, 0]
    return w, H


def mp_centre(X, y, rounds, rng):
    m, n, d = X.shape
    y = np.where(y > 0, 1.0, -1.0)
    centre, speed, start = np.zeros(d), np.zeros(d), np.zeros((m, d))
    for t in range(rounds):
        start, _ = newton(X, y, 0.3, centre, start, 6 if t == 0 else 4)
        u = start - centre
        u /= np.maximum(np.linalg.norm(u, axis=1), 1e-12)[:, None]
        speed = min(0.7, t / (t + 3)) * speed + 0.5 * clipped_sum(u, 1.0, 10.0, rng) / m
        centre = centre + speed
    scores, models = [], []
    for around in (np.zeros(d), centre):
        for stretch in (1.0, 2.0):
            Z, at = X.copy(), around.copy()
            Z[:, :, -1] *= stretch
            at[-1] /= stretch
            w = np.tile(at, (m, 1))
            for penalty in 10.0 ** np.arange(2, -5, -1.0):
                w, H = newton(Z, y, penalty, at, w, 4)
                loss = np.logaddexp(0, -y * (Z @ w[:, :, None])[:, :, 0]).sum(axis=1)
                away = penalty / 2 * ((w - at) ** 2).sum(axis=1)
                log_det = np.linalg.slogdet(H / penalty)[1]
                scores.append(-loss - away - 0.5 * log_det)
                model = w.copy()
                model[:, -1] *= stretch
                models.append(model)
    score = np.stack(scores, axis=1)
    share = np.exp(score - score.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    return sum(share[:, k, None] * w for k, w in enumerate(models))


def main():
    method, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rng = np.random.Generator(np.random.Philox())
    X, y, name = read(path)
    if method == "pmtl":
        model = fedprox(X, y, rounds, rng, own=True)
    else:
        model = {"fedprox": fedprox, "mp-mixed": mp_mixed, "mp-prior": mp_prior,
                 "mp-centre": mp_centre}[method](X, y, rounds, rng)
    with tempfile.TemporaryDirectory() as folder:
        out = pd.DataFrame(model)
        out.insert(0, "task", name)
        out.to_csv(os.path.join(folder, "models.csv"), index=False)


if __name__ == "__main__":
    main()
