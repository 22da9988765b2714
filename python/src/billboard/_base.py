"""What all estimators are: options, learning, predicting."""

import ctypes as c
import importlib
import os
import warnings
from collections import abc
from numbers import Integral, Real
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names, check_is_fitted

try:
    from sklearn.utils.validation import validate_data
except ImportError:
    raise ImportError(f"billboard needs scikit-learn 1.6 or newer, found {sklearn.__version__}: "
                      "pip install 'scikit-learn>=1.6'") from None

from . import _abi, _library
from ._data import (SKLEARN, Groups, are_disordered, check_groups, column_of, from_arrow,
                    groups_of, named, plain, refuse_dates, rows_of, truths, why_no_numbers,
                    why_no_targets)
from ._answers import answer_of, options, text_of
from ._library import Data, Job, Predictions, Result
from ._trained import Report, SharedModel, Trained, array_of, split
from ._watching import Bar, run
from .bounds import Bounds, bounds_of
from .errors import BillboardError, BillboardWarning
from .ledger import LEDGER_OPTIONS, Ledger, PathLike
from .privacy import Privacy, count_fit, is_chosen, warn_of_search


_NO_GROUPS = "" if SKLEARN >= (1, 8) else (
    ". Where a pipeline is scored, scikit-learn hands groups on from version 1.8 (this is "
    f"{sklearn.__version__}): before, give scoring=sklearn.metrics.check_scoring(pipeline)"
    ".set_score_request(groups=True)")


# Sparse matrices of so many columns are made dense, unless standardize says how to take them: rows
# that stay sparse are divided by their norm, and cannot be brought to units in common.
_MOST_DENSE = 500


class Said(NamedTuple):
    """Of every row."""

    value: Any          # the prediction, or the probability of the larger class; None: labels
    output: np.ndarray  # rows x outputs: what that is made of
    half_width: Any     # of an interval around it; None: nobody asked


class MultiTask(BaseEstimator):  # type: ignore[misc]
    """Rows of groups, and a job of the library."""

    # X's rows belong to groups: scikit-learn hands these on where metadata are routed
    __metadata_request__fit = {"groups": True}
    __metadata_request__predict = {"groups": True}
    __metadata_request__score = {"groups": True}

    def __init__(self, method: str = "auto", *, epsilon: Optional[float] = None,
                 delta: Optional[float] = None, adjacency: str = "replace-one",
                 bounds: Any = None, standardize: str = "auto",
                 ledger: Union[Ledger, PathLike, None] = None, sampling: Optional[str] = None,
                 rounds: Optional[int] = None, fit_intercept: bool = True,
                 method_params: Optional[Mapping[str, Any]] = None,
                 options: Optional[Mapping[str, Any]] = None,
                 group_column: Union[str, int, None] = None, unknown_groups: str = "error",
                 random_state: Any = None, n_jobs: Optional[int] = 1,
                 progress: Union[bool, Callable[[str, int, int], None]] = False) -> None:
        self.method = method
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.bounds = bounds
        self.standardize = standardize
        self.ledger = ledger
        self.sampling = sampling
        self.rounds = rounds
        self.fit_intercept = fit_intercept
        self.method_params = method_params
        self.options = options
        self.group_column = group_column
        self.unknown_groups = unknown_groups
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    # scikit-learn's own words for parameters that are none; the library has those of others
    _parameter_constraints: Dict[str, List[Any]] = {
        "method": [str], "epsilon": [Interval(Real, 0, None, closed="neither"), None],
        "delta": [Interval(Real, 0, 1, closed="left"), StrOptions({"paper"}), None],
        "adjacency": [str], "standardize": [str], "ledger": [Ledger, str, os.PathLike, None],
        "sampling": [str, None], "rounds": [Interval(Integral, 0, None, closed="left"), None],
        "fit_intercept": ["boolean"], "method_params": [abc.Mapping, None],
        "options": [abc.Mapping, None],
        "group_column": [str, Integral, None], "unknown_groups": [StrOptions({"error", "shared"})],
        "random_state": ["random_state"], "progress": ["boolean", callable]}

    _sparse: Union[str, bool] = "csr"  # what sparse rows become, or that there are none
    _truths: Sequence[int] = ()  # the columns that are true or false by their type

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._sparse)
        return tags

    def __sklearn_clone__(self) -> Any:
        warn_of_search(self)
        return super().__sklearn_clone__()

    # -- options --

    def _loss(self) -> str:
        raise NotImplementedError

    def _method(self) -> Optional[str]:
        """Without a budget nothing can be shared: then every task learns alone."""
        if self.method != "auto":
            return self.method
        if self.epsilon is None:
            if self.ledger is not None:
                raise BillboardError("epsilon: a ledger is charged for private fits, and without "
                                     "epsilon there is none: give it, or leave the ledger out")
            return "stl"
        return None

    def _seed(self) -> Optional[str]:
        if self.random_state is None:
            return None
        if isinstance(self.random_state, (int, np.integer)):
            return str(int(self.random_state))
        return str(check_random_state(self.random_state).randint(2**31 - 1))

    def _bounds(self) -> Optional[Bounds]:
        """Of columns that are true or false by their type nobody need give them."""
        bounds = bounds_of(self.bounds)
        if bounds is None and self._truths and self.epsilon is not None and self._finds_units():
            return Bounds(others="open")
        return bounds

    def _finds_units(self) -> bool:
        """Whether groups look for units in common of columns whose ranges nobody knows."""
        bounds = bounds_of(self.bounds)
        if bounds is not None:
            return bounds.others == "open"
        return self.method == "auto" and self.standardize == "auto"

    def _job_options(self) -> Dict[str, Any]:
        bounds = self._bounds()
        given: Dict[str, Any] = {
            "method": self._method(), "set": None, "loss": self._loss(), "epsilon": self.epsilon,
            "delta": self.delta, "standardize": self.standardize, "sampling": self.sampling,
            "rounds": self.rounds, "no-intercept": not self.fit_intercept, "scale": None,
            "adjacency": None if self.adjacency == "replace-one" else self.adjacency,
            "seed": self._seed(), "threads": threads_of(self.n_jobs)}
        if bounds is not None:
            names = bounds._names(self._names(), self.n_features_in_)
            if not {"cluster", "ignore", "features"} & set(self.options or {}):
                bounds._check(names)
            given["scale"] = bounds._with_truths(self._truths, names).to_json(names)
        ledger = self.ledger
        if isinstance(ledger, (str, os.PathLike)):
            ledger = Ledger(ledger)
        given.update(dict.fromkeys(LEDGER_OPTIONS) if ledger is None else ledger._options())
        given.update(self._own_options())
        further = {k.replace("_", "-"): v for k, v in (self.options or {}).items()}
        for name in further:
            if name in given:
                raise BillboardError(f"options: {name!r} is given twice: the estimator has it as "
                                     f"{_library.own_words('--' + name)}")
        if self.epsilon is not None and is_chosen():
            further.setdefault("tuned-on-data", True)
        return {**given, **further}

    def _own_options(self) -> Dict[str, Any]:
        """Of one kind of estimator."""
        raise NotImplementedError

    def _job(self) -> Job:
        job = _library.make(Job, "billboard_job_new")
        pairs = list(self._job_options().items())
        for name, value in (self.method_params or {}).items():
            text = text_of(value) or b""
            pairs.append(("set", name.replace("_", "-") + "=" + text.decode()))
        for name, value in pairs:
            if value is not None:
                _library.call("billboard_job_set", job, name.encode(), text_of(value))
        return job

    # -- learning --

    def _rows(self, X: Any, groups: Any, reset: bool, y: Any = None) -> Tuple[Any, Any, Any]:
        """(X, y, groups) as numbers, checked as scikit-learn checks them."""
        self._validate_params()
        X = from_arrow(X)
        check_groups(groups)
        if self.group_column is not None:
            if groups is not None:
                raise ValueError("groups are given twice: as an argument, and by group_column")
            X, groups = column_of(X, self.group_column)
        for name, other in (("groups", groups), ("y", y)):
            if are_disordered(X, other):
                warnings.warn(f"{name} has the index of X in another order, and rows belong "
                              "together by their place, as everywhere in scikit-learn: if they "
                              f"should by their index, give {name}.loc[X.index]",
                              BillboardWarning, stacklevel=5 if reset else 4)
        refuse_dates(X)
        if reset:
            self._truths = truths(X)
        rows, X, y = X, named(X), plain(y)
        checks: Dict[str, Any] = {"accept_sparse": self._sparse, "dtype": [np.float64, np.float32],
                                  "reset": reset}
        try:
            if reset:
                X, y = validate_data(self, X, y, y_numeric=self._loss() == "squared",
                                     multi_output=self._has_labels(y), **checks)
            else:
                X = validate_data(self, X, **checks)
        except (TypeError, ValueError):
            why = why_no_numbers(rows)
            if why is None and self._loss() == "squared":
                why = why_no_targets(y)
            if why is None:
                raise
            raise ValueError(why) from None
        if sparse.issparse(X) and X.shape[1] <= _MOST_DENSE and self.standardize == "auto":
            X = X.toarray()
        return X, y, groups

    def _has_labels(self, y: Any) -> bool:
        """Rows have any number of labels, a column each."""
        return False

    def _targets(self, y: Any) -> Any:
        """y as the library learns it: numbers, or where rows have labels a CSR matrix."""
        raise NotImplementedError

    def _data(self, X: Any, y: Any, groups: Any) -> Tuple[Data, Groups]:
        """Rows to learn from, checked, as the library has them, and whose they are."""
        X, y, groups = self._rows(X, groups, reset=True, y=y)
        target, grouped = self._targets(y), groups_of(groups, X.shape[0])
        return rows_of(X, grouped, target, self._names()), grouped

    def _names(self) -> Optional[List[str]]:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _columns(self) -> Any:
        """What tells these rows from those of other things."""
        names = self._names()
        return self.n_features_in_ if names is None else tuple(names)

    def _check_unknown(self) -> None:
        """Before anything is charged."""
        if self.unknown_groups == "shared" and self._finds_units():
            raise ValueError("unknown_groups='shared' needs a model in units that all groups know: "
                             "give bounds and epsilon, or standardize='none'")

    def _train(self, X: Any, y: Any, groups: Any) -> None:
        before, kept = vars(self).copy(), False

        def keep(result: Result) -> None:
            nonlocal kept
            self._keep(Trained(result), grouped)
            kept = True

        try:
            self._check_unknown()
            data, grouped = self._data(X, y, groups)
            if groups is None and self.group_column is None:
                warnings.warn("groups is missing: all rows are one group, which has nobody to "
                              "learn from. Give groups=…, or group_column=…; through "
                              "scikit-learn's tools groups come with "
                              "sklearn.set_config(enable_metadata_routing=True)",
                              BillboardWarning, stacklevel=3)
            job = self._job()
            bar = Bar() if self.progress is True else None
            progress = bar or (self.progress if callable(self.progress) else None)
            try:
                run(Result, "billboard_job_run", job, data, None, progress=progress, keep=keep)
            finally:
                if bar:
                    bar.close()
        except BaseException:  # models that are there keep the columns and classes they are of
            if not kept:
                self.__dict__ = before
            raise
        if self.ledger is None and self.privacy_.is_private and self.privacy_.exchanged:
            count_fit(self._columns(), grouped.names, vars(self.privacy_))

    def _keep(self, trained: Trained, groups: Groups) -> None:
        """Becomes fitted."""
        self._trained_ = trained
        self._grouped_ = groups.labels != ["all"]
        self._labels_ = groups.by_name()
        self._read()

    def _read(self) -> None:
        """What the result says, as attributes."""
        result = self._trained_.result
        answer = answer_of(_library.ask("billboard_result_answer", result))
        text = _library.ask("billboard_result_text", result).decode()
        self.report_ = Report(answer, text)
        self.privacy_ = Privacy(answer["privacy"])
        tasks = [_library.ask("billboard_result_task", result, i).decode()
                 for i in range(_library.ask("billboard_result_tasks", result))]
        labels = [self._labels_[name] for name in tasks]
        self.groups_ = np.empty(len(labels), dtype=object)
        self.groups_[:] = labels
        if not any(isinstance(label, tuple) for label in labels):
            self.groups_ = np.array(labels)
        self._read_models(result)

    def _read_models(self, result: Result) -> None:
        models = _abi.billboard_models(struct_size=c.sizeof(_abi.billboard_models))
        self.shared_ = self._read_shared(result)
        try:
            _library.call("billboard_result_models", result, c.byref(models))
        except BillboardError:
            return  # sparse rows and several outputs: there are predictions only
        if not models.weight:
            return  # networks
        names = [models.feature_name[k].decode() for k in range(models.features)]
        weight = array_of(models.weight, models.tasks, models.features, models.outputs)
        intercept = array_of(models.intercept, models.tasks) if models.intercept else None
        self.coef_, self.intercept_ = split(weight, intercept, names)

    @staticmethod
    def _read_shared(result: Result) -> Optional[SharedModel]:
        model = _abi.billboard_model(struct_size=c.sizeof(_abi.billboard_model))
        try:
            _library.call("billboard_result_model", result, None, c.byref(model))
        except BillboardError:
            return None
        if not model.weight:
            return None
        names = [model.feature_name[k].decode() for k in range(model.features)]
        weight = array_of(model.weight, model.features, model.outputs)
        intercept = np.array(model.intercept) if model.outputs == 1 else None
        coef, intercept = split(weight, intercept, names)
        return SharedModel(coef, float(intercept) if np.ndim(intercept) == 0 else intercept)

    # -- predicting --

    def _known(self, groups: Any, rows: int) -> Groups:
        """The groups of new rows, all of which the fit knows or the shared model answers."""
        if groups is None and self._grouped_:
            if self.unknown_groups != "shared":
                raise ValueError("groups is missing: this estimator was fitted with groups, and "
                                 "every row is predicted by its own group's model" + _NO_GROUPS)
            return Groups(["(no group)"], np.zeros(rows, dtype=np.intp))
        found = groups_of(groups, rows)
        unknown = [label for name, label in zip(found.names, found.labels)
                   if name not in self._labels_]
        if unknown and self.unknown_groups != "shared":
            raise ValueError(f"Found unknown groups {unknown[:10]} during predict: there is no "
                             "model of them; unknown_groups='shared' answers with the model "
                             "that all share")
        return found

    def _ask(self, X: Any, groups: Any, intervals: Optional[float] = None) -> Said:
        """What the library says of every row."""
        check_is_fitted(self)
        X, _, groups = self._rows(X, groups, reset=False)
        known = self._known(groups, X.shape[0])
        data = rows_of(X, known, names=self._names())
        how = options({"unknown": "shared" if self.unknown_groups == "shared"
                                else None, "outputs": True, "intervals": intervals})
        said = run(Predictions, "billboard_predict", self._trained_.result, data, *how,
                            watch=False)
        values = _abi.billboard_values(struct_size=c.sizeof(_abi.billboard_values))
        _library.call("billboard_predictions_values", said, c.byref(values))
        return Said(array_of(values.value, values.rows) if values.value else None,
                    array_of(values.output, values.rows, values.outputs),
                    array_of(values.half_width, values.rows) if values.half_width else None)

    # -- files --

    def save_run(self, path: Union[str, "os.PathLike[str]"], replace: bool = False) -> None:
        """Writes the run directory of this fit, whole or not at all, for the program.

        Parameters
        ----------
        path : path
            The directory to make.
        replace : bool, default=False
            Also over a run directory.

        Notes
        -----
        Its half ``public/`` may be published; ``operator/`` has all models.

        Examples
        --------
        >>> import billboard, os, tempfile
        >>> X, y, group = [[0.0], [1.0], [0.0], [1.0]], [0.0, 1.0, 5.0, 3.0], ["a", "a", "b", "b"]
        >>> run = os.path.join(tempfile.mkdtemp(), "run")
        >>> billboard.MultiTaskRegressor().fit(X, y, groups=group).save_run(run)
        >>> sorted(os.listdir(run))
        ['operator', 'public']
        """
        check_is_fitted(self)
        self._trained_.save(os.fspath(path), replace)


def threads_of(jobs: Optional[int]) -> int:
    """As the program counts them: 0 is as many as are of use."""
    jobs = 1 if jobs is None else jobs
    if not isinstance(jobs, Integral) or jobs == 0:
        raise ValueError("n_jobs should be how many threads there are, or -1 for as many as are of "
                         f"use, got {jobs!r}")
    return max(int(jobs), 0)


def joined(estimator: Any, Xs: Sequence[Any], ys: Sequence[Any],
           groups: Optional[Sequence[Any]]) -> Tuple[Any, Any, np.ndarray]:
    """A list of tasks as the rows of all, whose columns are those of the first."""
    if len(Xs) != len(ys) or len(Xs) == 0:
        raise ValueError(f"Xs and ys should have as many tasks, got {len(Xs)} and {len(ys)}")
    names = np.arange(len(Xs)) if groups is None else np.asarray(groups)
    if len(names) != len(Xs):
        raise ValueError(f"groups should name {len(Xs)} tasks, got {len(names)}")
    known = groups_of(names, len(Xs))
    if len(known.labels) != len(Xs):
        twice = known.labels[np.bincount(known.code).argmax()]
        raise ValueError(f"groups should have a name of its own for each task, found {twice!r} "
                         "twice")
    rows = [from_arrow(x) for x in Xs]
    for k, x in enumerate(rows):
        try:
            _check_feature_names(estimator, named(x), reset=k == 0)
        except ValueError as error:
            raise ValueError(f"Xs[{k}]: {error}") from None
    flat = [y if np.ndim(y) != 2 or np.shape(y)[1] > 1 else np.ravel(y) for y in ys]
    sizes = [np.shape(x)[0] for x in rows]
    return _stacked(rows), _concatenated(flat), np.repeat(names, sizes)


def _stacked(rows: List[Any]) -> Any:
    """Frames of one library stay one, with their columns' names."""
    kinds = {type(x).__module__.split(".")[0] for x in rows}
    if kinds == {"pyarrow"}:
        return importlib.import_module("pyarrow").concat_tables(rows, promote_options="permissive")
    if kinds == {"polars"}:
        return importlib.import_module("polars").concat(rows, how="vertical_relaxed")
    if kinds == {"pandas"}:
        return importlib.import_module("pandas").concat(rows, ignore_index=True)
    return _concatenated(rows)


def _concatenated(parts: List[Any]) -> Any:
    return (sparse.vstack if any(map(sparse.issparse, parts)) else np.concatenate)(parts)
