"""Which options to take: settings tried on rows of every group that are held out."""

import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from sklearn.base import clone

from ._answers import Answer, asked_watching, frame, options, promise, text_of
from ._base import MultiTask, threads_of
from ._trained import trained_at
from .privacy import count_fit

__all__ = ["Tuning", "tune"]


class Tuning(Answer):
    """What `tune` has found. Names of ``billboard tune --json``, also as attributes: tried,
    metric, best, config, from_private_data; of private tuning best, epsilon, delta, runs, mu.

    Attributes
    ----------
    best_params_ : dict
        The best setting, as parameters of the estimator; None if private tuning has published
        nothing.
    best_estimator_ : estimator
        A copy of the estimator with them, to be fitted. What was tuned on data that are not
        public says so, and so does every fit with it. Of private tuning it is fitted.

    Examples
    --------
    >>> import numpy as np, billboard
    >>> X, school = np.random.default_rng(0).uniform(-1, 1, (200, 2)), np.repeat(np.arange(20), 10)
    >>> found = billboard.tune(billboard.MultiTaskRegressor("mtl-trace"), X, X[:, 0], school,
    ...                        data="public", grid={"lambda": [0.01, 1]})
    >>> found.best_params_["method_params"], found.metric
    ({'lambda': 1}, 'nmse')
    """

    best_params_: Optional[Dict[str, Any]] = None
    best_estimator_: Any = None

    def _settings(self) -> List[Dict[str, Any]]:
        if "tried" in self:
            tried: List[Dict[str, Any]] = self["tried"]
            return tried
        return [self["best"]] if self["best"] else []

    def to_frame(self) -> Any:
        """Every setting, and what it reached: a ``pandas.DataFrame``, or a list of dicts. Of
        private tuning the published one only: the others nobody is told.

        Examples
        --------
        >>> import numpy as np, billboard
        >>> X, school = np.random.default_rng(0).uniform(-1, 1, (200, 2)), np.arange(200) // 10
        >>> found = billboard.tune(billboard.MultiTaskRegressor("mtl-trace"), X, X[:, 0], school,
        ...                        data="public", grid={"lambda": [0.01, 1]})
        >>> len(found.to_frame())
        2
        """
        return frame([{**_values(one["flags"]), **{k: v for k, v in one.items()
                                                   if k not in ("method", "flags", "losses")}}
                      for one in self._settings()])

    def __str__(self) -> str:
        if "tried" not in self:
            said = promise(self) + f", the best of {self['runs']} runs on average"
            if self["best"] is None:
                return f"The number of runs was drawn as 0: nothing was published.\n{said}"
            return (f"best: {_said(self['best'])}\nits score {self['best']['score']:.4g} (standard "
                    f"deviation of the noise in it {self['best']['noise']:.2g})\n{said}")
        order = sorted(self["tried"], key=lambda one: (-one["folds"], one["loss"] or 0.0))
        lines = [f"folds  {self['metric']:9}  setting"]
        for one in order:
            loss = "-" if one["loss"] is None else f"{one['loss']:.5g}"
            lines.append(f"{one['folds']:5}  {loss:9}  {_said(one)}"
                         + (f"  ({one['failure']})" if one.get("failure") else ""))
        lines.append(f"best: {_said(self['tried'][self['best']])}")
        if self["from_private_data"]:
            lines.append("NOT PRIVATE: this was chosen by looking at the data, without any noise; "
                         "fits with it say so.")
        return "\n".join(lines)


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text, text)


def _values(flags: Sequence[Mapping[str, str]]) -> Dict[str, Any]:
    """Flags of train by name, the method's own without their "set"."""
    pairs = [flag["value"].split("=", 1) if flag["name"] == "set" else
             (flag["name"], flag["value"]) for flag in flags]
    return {name.replace("-", "_"): _value(text) for name, text in pairs}


def _said(setting: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in _values(setting["flags"]).items())


def _params(estimator: Any, flags: Sequence[Mapping[str, str]], marked: bool) -> Dict[str, Any]:
    """Flags as parameters of the estimator, beside those that it has."""
    of_method = {flag["value"].split("=", 1)[0].replace("-", "_") for flag in flags
                 if flag["name"] == "set"}
    known = estimator.get_params(deep=False)
    found: Dict[str, Any] = {}
    params = dict(known["method_params"] or {})
    others = {**(known["options"] or {}), **({"tuned_on_data": True} if marked else {})}
    for name, value in _values(flags).items():
        if name in of_method:
            params[name] = value
        elif name == "no_intercept":
            found["fit_intercept"] = not value
        elif name in known:
            found[name] = value
        else:
            others[name] = value
    return {**found, "method_params": params or None, "options": others or None}


def tune(estimator: Any, X: Any, y: Any, groups: Any = None, *, data: Optional[str] = None,
         grid: Optional[Mapping[str, Any]] = None, methods: Optional[Sequence[str]] = None,
         random: Optional[int] = None, random_state: Optional[int] = None,
         n_jobs: Optional[int] = -1, runs: Optional[int] = None, share: Optional[float] = None,
         output: Union[str, "os.PathLike[str]", None] = None, progress: Any = None) -> Tuning:
    """Looks for the setting that learns best, by rows of every group that are held out.

    Parameters
    ----------
    estimator : MultiTaskRegressor, MultiTaskClassifier or MultiTaskNetwork
        What all settings have in common: it is not changed. Its ledger is charged by private
        tuning, and not looked at otherwise.
    X, y, groups
        As in `fit`.
    data : {"public", "not-private", "private"}
        Whose the rows are. "public": anybody may see them. "not-private": for simulations; what
        is found is marked, and no fit with it is private. "private": the search is inside the
        estimator's epsilon, and ends with a fitted estimator.
    grid : dict, optional
        Values to try, for each option of the estimator or the method: a list, or a range as
        text, such as ``"0.01..10"``. Every combination is tried, unless `random` is given.
    methods : sequence of str, optional
        The methods to try; the default is the estimator's.
    random : int, optional
        Draw so many settings; without a grid the method's own numbers, from a tenth to ten times
        their default.
    random_state : int, optional
        Of what is drawn, and of the noise that all settings have alike (the default is 1). Private
        tuning with one is a simulation, NOT private.
    n_jobs : int, default=-1
        Fits at once; -1: as many as there are processors. Results do not depend on it.
    runs, share : int, float, optional
        Of private tuning: fits on average, and the part of each one's budget for its score.
    output : path, optional
        The best setting as a file for ``billboard train --config``; of private tuning the run
        directory.
    progress : callable, optional
        Told ``(what, done, all)``.

    Returns
    -------
    Tuning
        Printed it is a table; ``best_estimator_`` has the best setting.

    Notes
    -----
    Privacy cost: none with public data; everything with "not-private"; with "private" the (ε, δ)
    of the estimator, for all fits together (docs/tune.md).

    Examples
    --------
    >>> import numpy as np, billboard
    >>> rng = np.random.default_rng(0)
    >>> school, X = np.repeat(np.arange(100), 12), rng.uniform(-1, 1, (1200, 2))
    >>> model = billboard.MultiTaskRegressor(
    ...     epsilon=2, bounds=billboard.Bounds(others=1, target=2))
    >>> found = billboard.tune(model, X, X[:, 0], groups=school, data="not-private",
    ...                        methods=["fedavg", "pmtl"], grid={"rounds": [2, 5]})
    >>> found.best_estimator_.fit(X, X[:, 0], groups=school).privacy_
    Privacy(nothing is promised: print it)
    """
    if not isinstance(estimator, MultiTask):
        raise TypeError("tune: expected an estimator of billboard, found "
                        f"{type(estimator).__name__}: of a pipeline give the last step, and rows "
                        "as they come to it")
    model = clone(estimator)
    rows, grouped = model._data(X, y, groups)
    values = None if grid is None else ";".join(
        f"{name.replace('_', '-')}={_listed(tried)}" for name, tried in grid.items())
    private = data == "private"
    with tempfile.TemporaryDirectory() as folder:
        if private and output is None:
            output = os.path.join(folder, "run")
        given = options({"data": data, "grid": values, "methods": methods, "random": random,
                         "seed": random_state, "threads": threads_of(n_jobs),
                         "runs": runs, "share": share, "output": output})
        found = Tuning(asked_watching("billboard_tune", model._job(), rows, *given,
                                      progress=progress))
        best = found["best"] if private else found["tried"][found["best"]]
        if best is not None:
            params = _params(estimator, best["flags"], not private and found["from_private_data"])
            found.best_params_ = params
            found.best_estimator_ = (model if private else clone(estimator)).set_params(**params)
        if private and best is not None:
            model._keep(trained_at(os.fspath(output or "")), grouped)
    if private and estimator.ledger is None and random_state is None:
        count_fit(model._columns(), grouped.names, found)
    return found


def _listed(tried: Any) -> str:
    if isinstance(tried, str):
        return tried
    return ",".join((text_of(value) or b"").decode() for value in tried)
