#!/usr/bin/env python3
"""Fit and predict in Python: Billboard beside scikit-learn's Ridge in a loop over tasks, and
beside statsmodels' MixedLM where it finishes. Processor seconds (the wall seconds of a machine
that has nothing else to do), each measurement in a process of its own with one thread, the median
of REPEATS, and the largest resident set.

  bench/python.py [--repeats N] [--only NAME] [SCHOOL.csv CHEM97.csv]

with the Python of an environment that has billboard, pandas and statsmodels. Without files only
the made-up population of 100,000 tasks x 20 rows x 20 features is measured. Every line learns a
model for each task, on all rows, and predicts them again. MixedLM estimates a line for all, and
for each task its own intercept, or that and its own slopes: it has LIMIT wall seconds."""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

LIMIT = 400
CODE = "import sys; sys.path[:0] = [{here!r}]; import python; python.measure(*{arguments!r})"


def population(path):
    import numpy as np
    if path == "made up":
        tasks, rows, features = 100_000, 20, 20
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (tasks * rows, features))
        centre = rng.standard_normal(features) / 4
        own = centre + 0.1 * rng.standard_normal((tasks, features))
        y = np.einsum("irk,ik->ir", X.reshape(tasks, rows, features), own).ravel()
        return X, np.clip(y + 0.5 * rng.standard_normal(len(y)), -8, 8), np.repeat(
            np.arange(tasks), rows)
    import pandas
    data = pandas.read_csv(path)
    return (np.ascontiguousarray(data.drop(columns=["task", "y"]), dtype=float),
            data["y"].to_numpy(dtype=float), data["task"].to_numpy())


def bounds_of(X, y):
    """Ranges of the data: here it is about time, and nothing is promised."""
    import billboard
    return billboard.Bounds.from_data(X, y)


class Loop:
    """scikit-learn's Ridge for each task."""

    def fit(self, X, y, groups):
        import numpy as np
        from sklearn.linear_model import Ridge
        order = np.argsort(groups, kind="stable")
        names, start = np.unique(groups[order], return_index=True)
        self.models = {}
        for name, rows in zip(names.tolist(), np.split(order, start[1:])):
            self.models[name] = Ridge(alpha=1.0).fit(X[rows], y[rows])
        return self

    def predict(self, X, groups):
        import numpy as np
        order = np.argsort(groups, kind="stable")
        names, start = np.unique(groups[order], return_index=True)
        said = np.empty(len(X))
        for name, rows in zip(names.tolist(), np.split(order, start[1:])):
            said[rows] = self.models[name].predict(X[rows])
        return said


class Mixed:
    """statsmodels' MixedLM, by REML."""

    def __init__(self, slopes):
        self.slopes = slopes

    def design(self, X):
        import numpy as np
        fixed = np.column_stack([np.ones(len(X)), X])
        if not hasattr(self, "kept"):  # columns that say nothing new make it singular
            self.kept = [k for k in range(fixed.shape[1]) if np.linalg.matrix_rank(
                fixed[:, :k + 1]) > np.linalg.matrix_rank(fixed[:, :k])]
        fixed = fixed[:, self.kept]
        return fixed, fixed if self.slopes else fixed[:, :1]

    def fit(self, X, y, groups):
        from statsmodels.regression.mixed_linear_model import MixedLM
        fixed, random = self.design(X)
        self.found = MixedLM(y, fixed, groups=groups, exog_re=random).fit(reml=True)
        return self

    def predict(self, X, groups):
        import numpy as np
        import pandas
        fixed, random = self.design(X)
        own = self.found.random_effects
        table = np.array([np.asarray(own[g]) for g in sorted(own)])
        code = np.searchsorted(sorted(own), groups)
        return fixed @ self.found.fe_params + np.sum(random * table[code], axis=1)


def estimator(name, X, y):
    import billboard
    if name == "Ridge in a loop":
        return Loop()
    if name.startswith("MixedLM"):
        return Mixed("slopes" in name)
    if name == "billboard stl":
        return billboard.MultiTaskRegressor("stl", method_params={"lambda": 1.0},
                                            options={"loss_scale": "sum"})
    return billboard.MultiTaskRegressor(epsilon=1, bounds=bounds_of(X, y))


def resident():
    """The largest so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name, path):
    """In a process of its own: prints the figures."""
    import warnings
    warnings.simplefilter("ignore")
    import numpy as np
    X, y, groups = population(path)
    model = estimator(name, X, y)
    few = np.isin(groups, np.unique(groups)[:3])
    if not name.startswith("MixedLM"):
        estimator(name, X[few], y[few]).fit(X[few], y[few], groups[few])  # what is loaded once
    before = time.process_time()
    model.fit(X, y, groups)
    between = time.process_time()
    said = model.predict(X, groups)
    after = time.process_time()
    print(json.dumps({"fit": between - before, "predict": after - between,
                      "mib": resident(), "data_mib": X.nbytes / 2**20,
                      "nmse": float(np.mean((said - y)**2) / np.var(y))}))


def run(name, path, repeats):
    code = CODE.format(here=os.path.dirname(os.path.abspath(__file__)), arguments=(name, path))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = []
    for _ in range(repeats):
        try:
            said = subprocess.run([sys.executable, "-c", code], env=environment, check=True,
                                  stdout=subprocess.PIPE, text=True, timeout=LIMIT).stdout
        except subprocess.TimeoutExpired:
            return None
        found.append(json.loads(said))
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    for path in [*given.files, "made up"]:
        for name in ("billboard stl", "billboard at epsilon 1", "Ridge in a loop",
                     "MixedLM, intercepts", "MixedLM, intercepts and slopes"):
            if given.only not in f"{name} {path}":
                continue
            found = run(name, path, 1 if name.startswith("MixedLM") else given.repeats)
            if found is None:
                print(f"{path}: {name}: not in {LIMIT} s", flush=True)
                continue
            print(f"{path}: {name}: fit {found['fit']:.3g} s, predict {found['predict']:.3g} s, "
                  f"{found['mib']:.0f} MiB (rows {found['data_mib']:.0f}), training nMSE "
                  f"{found['nmse']:.3f}", flush=True)


if __name__ == "__main__":
    main()
