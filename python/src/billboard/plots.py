"""Charts of runs, with matplotlib, which is loaded when one is drawn.

Every function draws one chart on `ax`, or on a new figure's, and returns the Axes. A run is a
fitted estimator or a run directory. What is drawn of test rows and of groups' models tells about
private data, and no epsilon covers it: charts are for whoever holds all data, but for `spectrum`
and `epsilon_by_round` of a price, which are public.
"""

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._answers import counted
from .errors import BillboardError
from .prices import Price
from .runs import read_json, read_released, read_table, report, runs_of

__all__ = ["epsilon_by_round", "gain_per_task", "privacy_accuracy", "spectrum",
           "task_similarity"]

_GAIN, _LOSS, _QUIET = "#1b7a9c", "#c0582a", "#8a8a8a"
_LEVELS = {"alone": "every task alone", "pooled": "one model for all, not private",
           "no privacy": "the method without noise", "trivial": "the mean"}


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("billboard.plots draws with matplotlib, which is not here: pip install "
                          "matplotlib") from None
    return pyplot.subplots(layout="constrained")[1]


def _plain(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax


# -- privacy and accuracy ------------------------------------------------------------------


class _Series:
    """Runs of one method under one promise but for its epsilon."""

    def __init__(self, method: str, terms: str, valid: bool) -> None:
        self.method, self.terms, self.valid = method, terms, valid
        self.found: Dict[float, List[float]] = {}

    def points(self) -> Tuple[List[float], List[float], np.ndarray]:
        """Epsilons, means, and how far the least and the most are from them."""
        at = sorted(self.found)
        mean = [float(np.mean(self.found[e])) for e in at]
        away = np.array([[m - min(self.found[e]), max(self.found[e]) - m]
                         for e, m in zip(at, mean)]).T
        return at, mean, away


def _terms(promised: Dict[str, Any]) -> str:
    return (f"δ = {promised['delta']:.6g}, {promised['adjacency']}, sampling "
            f"{promised['sampling']}")


def _series(runs: Sequence[Any], rows: List[Dict[str, Any]]) -> List[_Series]:
    found: Dict[Tuple[str, str, bool], _Series] = {}
    for run, row in zip(runs, rows):
        promised = next(iter(read_json(run, "public/privacy.json")["guarantees"]), None)
        if promised is None or row["test"] is None:
            continue
        valid = bool(promised["valid"])
        if not valid:
            promised = {**promised, "epsilon": promised["claimed_epsilon"],
                        "delta": promised["claimed_delta"]}
        key = row["method"], _terms(promised), valid
        series = found.setdefault(key, _Series(*key))
        series.found.setdefault(promised["epsilon"], []).append(row["test"])
    if not found:
        raise BillboardError("no run has both an epsilon and test rows: fit with epsilon=… and "
                             "options={'train_fraction': 0.7, 'compare': 'stl'}")
    return list(found.values())


def privacy_accuracy(runs: Any, *more: Any, ax: Any = None) -> Any:
    """What models reach on test rows, over the epsilon that they were promised.

    Runs of one method with equal epsilon are one point: their mean, and a bar from the least to
    the most. Dashed lines are what the runs were compared with. Runs that only claim their
    epsilon, such as seeded ones, have hollow points: they are not private.

    Parameters
    ----------
    runs, *more : fitted estimators or paths of run directories, or one list of them
        With an epsilon and test rows, of one population.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np, billboard
    >>> from billboard import plots
    >>> rng = np.random.default_rng(0)
    >>> X, group = rng.uniform(-1, 1, (2000, 2)), np.repeat(np.arange(100), 20)
    >>> bounds = billboard.Bounds(others=(-1, 1), target=(-2, 2))
    >>> fits = [billboard.MultiTaskRegressor(epsilon=e, bounds=bounds, options={
    ...             "train_fraction": 0.5, "compare": "stl"}).fit(X, X[:, 0], groups=group + k)
    ...         for k, e in enumerate([0.5, 1, 2])]
    >>> plots.privacy_accuracy(fits).get_ylabel()
    'nMSE of test rows'
    """
    runs = runs_of(runs, *more)
    rows = report(*runs).rows
    metrics = sorted({row["metric"] for row in rows if row["metric"]})
    if len(metrics) > 1:
        raise BillboardError(f"runs with different metrics: {', '.join(metrics)}")
    found = _series(runs, rows)
    ax = _axes(ax)
    same = len({series.terms for series in found}) == 1
    for k, series in enumerate(found):
        at, mean, away = series.points()
        label = series.method + ("" if same else f" ({series.terms})")
        ax.errorbar(at, mean, away if away.any() else None, marker="o", capsize=3, color=f"C{k}",
                    markerfacecolor=f"C{k}" if series.valid else "white",
                    label=label + ("" if series.valid else ", claimed only: NOT private"))
    for style, (column, name) in zip(("--", ":", "-."), list(_LEVELS.items())[:3]):
        level = [row[column] for row in rows if row[column] is not None]
        if level:
            ax.axhline(float(np.mean(level)), linestyle=style, color=_QUIET, label=name)
    ax.set_xscale("log")
    ticks = sorted({e for series in found for e in series.found})
    ax.set_xticks(ticks, [f"{e:g}" for e in ticks])
    ax.minorticks_off()
    ax.set_xlabel(f"ε of a whole task ({found[0].terms})" if same else "ε of a whole task")
    ax.set_ylabel(f"{metrics[0]} of test rows")
    ax.legend(edgecolor="none", framealpha=0.9)
    return _plain(ax)


# -- gains ---------------------------------------------------------------------------------


def gain_per_task(run: Any, *, against: str = "alone", ax: Any = None) -> Any:
    """Who gains and who loses: every task's test error beside another model's.

    Parameters
    ----------
    run : fitted estimator or run directory
        With test rows and a comparison: fitted with ``options={"train_fraction": 0.7,
        "compare": "stl"}``.
    against : {"alone", "own", "pooled", "mixed", "mean"}, default="alone"
        Whose models: every task's own, with a penalty for all or with its own, one for all, a
        mixed model's, or the mean of all.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np, billboard
    >>> from billboard import plots
    >>> rng = np.random.default_rng(0)
    >>> X, group = rng.uniform(-1, 1, (600, 2)), np.repeat(np.arange(30), 20)
    >>> y = X[:, 0] + rng.standard_normal(600)
    >>> model = billboard.MultiTaskRegressor("mtl-trace", options={
    ...     "train_fraction": 0.5, "compare": "stl"}).fit(X, y, groups=group)
    >>> plots.gain_per_task(model).get_ylabel()
    'RMSE saved beside every task alone'
    """
    rows = read_table(run, "operator/tasks.csv")
    other = next((name for name in (rows[0] if rows else {}) if name.endswith("_" + against)),
                 None)
    if other is None:
        raise BillboardError(f"the run has nothing to compare with every task {against!r}: fit "
                             "with options={'train_fraction': 0.7, 'compare': 'stl'}")
    metric = other[:-len(against) - 1]
    pairs = np.array([[row[other], row[metric]] for row in rows
                      if row[other] is not None and row[metric] is not None], dtype=float)
    sign = 1 if metric == "rmse" else -1
    gain = np.sort(sign * (pairs[:, 0] - pairs[:, 1]))[::-1]
    ax = _axes(ax)
    place = np.arange(1, len(gain) + 1)
    ax.vlines(place, 0, gain, colors=np.where(gain > 0, _GAIN, _LOSS),
              linewidth=max(0.5, min(4.0, 300 / len(gain))))
    ax.axhline(0, color="black", linewidth=0.8)
    better = int(np.sum(gain > 0))
    title = metric.upper() if metric in ("rmse", "auc") else metric
    ax.set_title(f"{better} of {counted(len(gain), 'task')} gain{'s' if better == 1 else ''} "
                 f"({100 * better / len(gain):.0f} %)")
    ax.set_xlabel("tasks, by gain")
    ax.set_ylabel(f"{title} {'saved' if sign > 0 else 'gained'} beside {_AGAINST[against]}")
    return _plain(ax)


_AGAINST = {"alone": "every task alone", "own": "every task alone, own penalty",
            "pooled": "one model for all", "mixed": "a mixed model", "mean": "the mean"}


# -- epsilon -------------------------------------------------------------------------------


def epsilon_by_round(run: Any, *, ax: Any = None) -> Any:
    """What the rounds so far have cost.

    Parameters
    ----------
    run : fitted estimator, run directory, or Price
        A run with a trace, fitted with ``options={"trace": True}``; or what
        ``billboard.account(…, curve="rounds")`` returns, which looks at no data.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import billboard
    >>> from billboard import plots
    >>> price = billboard.account(rounds=20, tasks=500, epsilon=1, curve="rounds")
    >>> plots.epsilon_by_round(price).get_xlabel()
    'rounds so far'
    """
    if isinstance(run, Price):
        points = [point for point in run.get("curve") or [] if "rounds" in point]
        at = [point["rounds"] for point in points]
        said = {**run, "sampling": run["sampling_text"]}
    else:
        points = [row for row in read_table(run, "operator/trace.csv")
                  if row["epsilon"] is not None]
        at, said = [point["round"] for point in points], points[-1] if points else {}
    if not points:
        raise BillboardError("nothing was counted round by round: fit with an epsilon and "
                             "options={'trace': True}, or give account(…, curve='rounds')")
    ax = _axes(ax)
    ax.plot([0, *at], [0, *(point["epsilon"] for point in points)], drawstyle="steps-post",
            color=_GAIN)
    ax.plot(at[-1], points[-1]["epsilon"], "o", color=_GAIN)
    ax.annotate(f"{points[-1]['epsilon']:.4g}", (at[-1], points[-1]["epsilon"]), (-6, 6),
                textcoords="offset points", ha="right")
    ax.set_xlabel("rounds so far")
    ax.set_ylabel(f"ε ({_terms(said)})")
    ax.set_ylim(bottom=0)
    return _plain(ax)


# -- structure -----------------------------------------------------------------------------


def _models(run: Any) -> Tuple[List[str], np.ndarray]:
    """Names of tasks, and a row of numbers for each."""
    if hasattr(run, "coef_"):
        coef = run.coef_.reshape(len(run.groups_), -1)
        return ([str(g) for g in run.groups_],
                np.column_stack([coef, np.reshape(run.intercept_, (len(coef), -1))]))
    rows = read_table(run, "operator/models.csv")
    if not rows:
        raise BillboardError("there are no linear models to compare")
    return ([str(row["task"]) for row in rows],
            np.array([[v for k, v in row.items() if k != "task"] for row in rows], dtype=float))


def task_similarity(run: Any, *, ax: Any = None) -> Any:
    """The cosine between any two tasks' models, in the order of their first principal component.

    Every coefficient, and the intercept, has first its mean over tasks taken off and is divided
    by its deviation: what tasks have in common is no similarity.

    Parameters
    ----------
    run : fitted estimator or run directory
        With linear models.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np, billboard
    >>> from billboard import plots
    >>> rng = np.random.default_rng(0)
    >>> X, group = rng.uniform(-1, 1, (600, 2)), np.repeat(np.arange(30), 20)
    >>> model = billboard.MultiTaskRegressor("stl").fit(X, X[:, 0], groups=group)
    >>> plots.task_similarity(model).get_xlabel()
    'tasks, by their first principal component'
    """
    names, model = _models(run)
    if len(names) < 2:
        raise BillboardError("there are no two tasks to compare")
    model = model - model.mean(axis=0)
    deviation = model.std(axis=0)
    model = model / np.where(deviation > 0, deviation, 1)
    axis = np.linalg.svd(model, full_matrices=False)[2][0]
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])  # which way it points is the largest's
    order = np.argsort(model @ axis, kind="stable")
    length = np.linalg.norm(model, axis=1, keepdims=True)
    model = (model / np.where(length > 0, length, 1))[order]
    ax = _axes(ax)
    image = ax.imshow(model @ model.T, cmap="RdBu", vmin=-1, vmax=1, interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="cosine of models")
    if len(names) <= 40:
        labels = [names[i] for i in order]
        ax.set_xticks(range(len(labels)), labels, rotation=90, fontsize="small")
        ax.set_yticks(range(len(labels)), labels, fontsize="small")
    ax.set_xlabel("tasks, by their first principal component")
    return ax


def spectrum(run: Any, *, ax: Any = None) -> Any:
    """Eigenvalues of the symmetric matrices that were released, beside the range that noise
    alone would fill.

    Noise of standard deviation s on the diagonal and s/√2 off it has its largest eigenvalue
    near s √(2p) in p dimensions (Wigner 1955). What is outside was learned from the tasks. Of
    several rounds the matrices are added up.

    Parameters
    ----------
    run : fitted estimator or run directory
        Of a method that releases matrices, such as "mp-lowrank". Everything drawn is public.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np, billboard
    >>> from billboard import plots
    >>> rng = np.random.default_rng(0)
    >>> X, group = rng.uniform(-1, 1, (2000, 3)) / 2, np.repeat(np.arange(100), 20)
    >>> model = billboard.MultiTaskRegressor("mp-lowrank", epsilon=4)
    >>> plots.spectrum(model.fit(X, X[:, 0], groups=group)).get_ylabel()
    "eigenvalue, as a share of noise's edge"
    """
    total: Optional[np.ndarray] = None
    variance, rounds = 0.0, 0
    for block in read_released(run):
        value, noise = block["value"], block["noise_standard_deviation"] or 0.0
        if value.ndim != 2 or value.shape[0] != value.shape[1] or len(value) < 2 or not noise > 0:
            continue
        if total is None or value.shape == total.shape:
            total = value if total is None else total + value
            variance, rounds = variance + noise**2, rounds + 1
    if total is None:
        raise BillboardError("the run released no symmetric matrix with noise, as mp-lowrank "
                             "does")
    edge = np.sqrt(2 * len(total) * variance)
    value = np.linalg.eigvalsh(total)[::-1] / edge
    outside = np.abs(value) > 1
    ax = _axes(ax)
    place = np.arange(1, len(value) + 1)
    ax.axhspan(-1, 1, color=_QUIET, alpha=0.2, label="what noise alone would fill")
    for which, color, name in ((~outside, _QUIET, "inside"),
                               (outside, _GAIN, "outside: learned from tasks")):
        if which.any():
            ax.plot(place[which], value[which], "o", color=color, label=name)
    if np.abs(value).max() > 10:
        ax.set_yscale("symlog", linthresh=1)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel(f"rank of the eigenvalue (sum of {counted(rounds, 'round')})")
    ax.set_ylabel("eigenvalue, as a share of noise's edge")
    ax.legend(frameon=False)
    return _plain(ax)
