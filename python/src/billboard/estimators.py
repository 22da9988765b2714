"""Personal models for many tasks, trained jointly, as estimators of scikit-learn."""

import ctypes as c
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _abi, _library
from ._data import Groups, column_of, from_arrow, groups_of, rows_of
from ._library import Answer, Bar, BillboardError, Data, Job, Predictions, Result
from ._trained import Report, SharedModel, Trained, array_of, split
from .privacy import Ledger, Privacy, bounds_of, count_fit, warn_of_search

__all__ = ["Method", "MultiTaskClassifier", "MultiTaskNetwork", "MultiTaskRegressor", "Report",
           "SharedModel", "methods"]


# -- what all estimators are ---------------------------------------------------------------


class _MultiTask(BaseEstimator):  # type: ignore[misc]

    # X's rows belong to groups: scikit-learn hands these on where metadata are routed
    __metadata_request__fit = {"groups": True}
    __metadata_request__predict = {"groups": True}
    __metadata_request__score = {"groups": True}

    def __init__(self, method: str = "auto", *, epsilon: Optional[float] = None,
                 delta: Optional[float] = None, adjacency: str = "replace-one",
                 bounds: Any = None, standardize: str = "none",
                 ledger: Union[Ledger, str, None] = None, sampling: Optional[str] = None,
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

    _sparse: Union[str, bool] = "csr"  # what sparse rows become, or that there are none

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
            return "stl"
        if self.bounds is None and self.standardize == "none":
            raise BillboardError(
                "bounds: which ranges can columns and target have? Give bounds=billboard.Bounds("
                "…) with what anybody knows, or standardize='unit-rows' to do without, often "
                "worse; or choose a method for the data as they are")
        return None

    def _seed(self) -> Optional[str]:
        if self.random_state is None:
            return None
        if isinstance(self.random_state, (int, np.integer)):
            return str(int(self.random_state))
        return str(check_random_state(self.random_state).randint(2**31 - 1))

    def _threads(self) -> int:
        jobs = 1 if self.n_jobs is None else int(self.n_jobs)
        return jobs if jobs > 0 else 0

    def _job_options(self) -> Dict[str, Any]:
        bounds = bounds_of(self.bounds)
        given: Dict[str, Any] = {
            "method": self._method(), "loss": self._loss(), "epsilon": self.epsilon,
            "delta": self.delta, "standardize": self.standardize, "sampling": self.sampling,
            "rounds": self.rounds, "no-intercept": not self.fit_intercept,
            "seed": self._seed(), "threads": self._threads()}
        if self.adjacency != "replace-one":
            given["adjacency"] = self.adjacency
        if bounds is not None:
            given["scale"] = bounds.to_json(self._names())
        if self.ledger is not None:
            ledger = self.ledger if isinstance(self.ledger, Ledger) else Ledger(self.ledger)
            given.update(ledger.options())
        given.update({k.replace("_", "-"): v for k, v in (self.options or {}).items()})
        return given

    def _job(self) -> Job:
        job = _library.make(Job, "billboard_job_new")
        pairs = list(self._job_options().items())
        for name, value in (self.method_params or {}).items():
            text = _library.text_of(value) or b""
            pairs.append(("set", name.replace("_", "-") + "=" + text.decode()))
        for name, value in pairs:
            if value is not None:
                _library.call("billboard_job_set", job, name.encode(), _library.text_of(value))
        return job

    # -- learning --

    def _rows(self, X: Any, groups: Any, reset: bool, y: Any = None) -> Tuple[Any, Any, Any]:
        """(X, y, groups) as numbers, checked as scikit-learn checks them."""
        X = from_arrow(X)
        if self.group_column is not None:
            if groups is not None:
                raise ValueError("groups are given twice: as an argument, and by group_column")
            X, groups = column_of(X, self.group_column)
        checks: Dict[str, Any] = {"accept_sparse": self._sparse, "dtype": [np.float64, np.float32],
                                  "reset": reset}
        if reset:
            X, y = validate_data(self, X, y, y_numeric=self._loss() == "squared",
                                 **checks)
        else:
            X = validate_data(self, X, **checks)
        return X, y, groups

    def _targets(self, y: np.ndarray) -> np.ndarray:
        """y as the numbers that the library learns."""
        raise NotImplementedError

    def _data(self, X: Any, y: Any, groups: Any) -> Tuple[Data, Groups]:
        """Rows to learn from, checked, as the library has them, and whose they are."""
        X, y, groups = self._rows(X, groups, reset=True, y=y)
        target, grouped = self._targets(y), groups_of(groups, X.shape[0])
        return rows_of(X, grouped, target, self._names()), grouped

    def _names(self) -> Optional[List[str]]:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _train(self, X: Any, y: Any, groups: Any) -> None:
        data, grouped = self._data(X, y, groups)
        job = self._job()
        bar = Bar() if self.progress is True else None
        progress = bar or (self.progress if callable(self.progress) else None)
        try:
            result = _library.run(Result, "billboard_job_run", job, data, None,
                                  progress=progress)
        finally:
            if bar:
                bar.close()
        self._keep(result, grouped)
        if self.ledger is None:
            names = self._names()
            count_fit(self.n_features_in_ if names is None else tuple(names), grouped.names,
                      self.privacy_)

    def _keep(self, result: Result, groups: Groups) -> None:
        """Becomes fitted."""
        self._trained_ = Trained(result)
        self._grouped_ = groups.labels != ["all"]
        self._labels_ = groups.by_name()
        self._read()

    def _read(self) -> None:
        """What the result says, as attributes."""
        result = self._trained_.result
        answer = _library.answer_of(_library.ask("billboard_result_answer", result))
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
                                 "every row is predicted by its own group's model")
            return Groups(["(no group)"], np.zeros(rows, dtype=np.intp))
        found = groups_of(groups, rows)
        unknown = [label for name, label in zip(found.names, found.labels)
                   if name not in self._labels_]
        if unknown and self.unknown_groups != "shared":
            raise ValueError(f"Found unknown groups {unknown[:10]} during predict: there is no "
                             "model of them; unknown_groups='shared' answers with the model "
                             "that all share")
        return found

    def _ask(self, X: Any, groups: Any) -> Tuple[np.ndarray, np.ndarray]:
        """(what the library says of every row, what that is made of)."""
        check_is_fitted(self)
        X, _, groups = self._rows(X, groups, reset=False)
        known = self._known(groups, X.shape[0])
        data = rows_of(X, known, names=self._names())
        how = _library.options({"unknown": "shared" if self.unknown_groups == "shared"
                                else None, "outputs": True})
        said = _library.run(Predictions, "billboard_predict", self._trained_.result, data, *how,
                            watch=False)
        values = _abi.billboard_values(struct_size=c.sizeof(_abi.billboard_values))
        _library.call("billboard_predictions_values", said, c.byref(values))
        return (array_of(values.value, values.rows),
                array_of(values.output, values.rows, values.outputs))

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
        """
        check_is_fitted(self)
        self._trained_.save(os.fspath(path), replace)


_PARAMETERS = """
    Parameters
    ----------
    method : str, default="auto"
        How to learn: see `billboard.methods`. "auto" takes what the program takes where nobody
        names a method; without `epsilon`, "stl": every task alone, since nothing can be shared.
    epsilon : float, optional
        The privacy budget of the fit. Without it nothing is private, and nothing is shared
        unless a non-private method such as "mtl-trace" is named.
    delta : float, optional
        The default is min(1e-5, 1 / (10 tasks)).
    adjacency : {"replace-one", "add-remove"}, default="replace-one"
        Which populations the promise is about.
    bounds : Bounds, dict or path, optional
        Public ranges of the columns; "auto" with an epsilon needs them, or `standardize`.
    standardize : {"none", "unit-rows", "task"}, default="none"
        How rows are prepared without ranges.
    ledger : Ledger or path, optional
        The budget that all fits on this population share.
    sampling : str, optional
        Who takes part in a round: "all", "poisson:0.1" or "fixed:20".
    rounds : int, optional
        The default is the method's.
    fit_intercept : bool, default=True
        Whether models have an intercept.
    method_params : dict, optional
        Options of the method, such as ``{"lambda": 0.1}``.
    options : dict, optional
        Further options of ``billboard train``, such as ``{"finetune": "mean"}``.
    group_column : str or int, optional
        The column of X that holds the groups, in place of the argument `groups`: for scorers,
        pipelines and searches, which hand on X alone.
    unknown_groups : {"error", "shared"}, default="error"
        What to say of rows of groups that were not there: nothing, or what the model says that
        all share, where the method has one.
    random_state : int or RandomState, optional
        Makes the fit reproducible, and NOT private: whoever knows it can take the noise away.
    n_jobs : int, default=1
        Threads; -1: as many as the data keep busy. Results do not depend on it.
    progress : bool or callable, default=False
        A bar, or a function that is told ``(what, done, all)``.
"""

_ATTRIBUTES = """
    Attributes
    ----------
    groups_ : array of shape (n_groups,)
        The groups, in the order of the models.
    coef_ : array of shape (n_groups, n_features), or (n_groups, n_classes, n_features)
        Every group's own weights; a group's model is for that group alone.
    intercept_ : array of shape (n_groups,), or (n_groups, n_classes)
    shared_ : SharedModel or None
        The model that all share, which is public, where the method has one.
    privacy_ : Privacy
        What is promised: print it.
    report_ : Report
        All that was found: print it. It tells about private data.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had names.
"""

_NOTES = """
    Notes
    -----
    Privacy cost of a fit: none without `epsilon`; else its (ε, δ), which protects each whole
    group: all its rows and every model computed from them. It is charged to the ledger before
    anything is computed. Not covered: publishing the personal models, parameters that were
    chosen by looking at results (a grid search fits many times, and every fit costs), and
    earlier steps of a pipeline that looked at all rows, as StandardScaler does: use `bounds`.

    A pickle of a fitted estimator has the models of all groups in it: it is private data.
"""


class MultiTaskRegressor(RegressorMixin, _MultiTask):  # type: ignore[misc]
    __doc__ = """Predicts numbers with a personal linear model for each group of rows.
""" + _PARAMETERS + _ATTRIBUTES + _NOTES + """
    Examples
    --------
    >>> import numpy as np, billboard
    >>> rng = np.random.default_rng(0)
    >>> school = np.repeat(np.arange(200), 10)
    >>> X = rng.uniform(-1, 1, (2000, 3))
    >>> y = X @ [1.0, -0.5, 0.2] + 0.1 * rng.standard_normal(200)[school]
    >>> model = billboard.MultiTaskRegressor(
    ...     epsilon=1, bounds=billboard.Bounds(others=(-1, 1), target=(-2, 2)))
    >>> model.fit(X, y, groups=school).privacy_
    Privacy(ε = 1 at δ = 1e-05, replace-one, sampling all)
    >>> model.predict(X[:2], groups=school[:2]).shape
    (2,)
    """

    def _loss(self) -> str:
        return "squared"

    def _targets(self, y: np.ndarray) -> np.ndarray:
        return y

    def fit(self, X: Any, y: Any, groups: Any = None) -> "MultiTaskRegressor":
        """Trains a model for each group.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Targets.
        groups : array of shape (n_samples,), optional
            Whose each row is: strings, integers or categoricals. Without groups all rows are
            one task, which has nobody to learn from.

        Returns
        -------
        self
        """
        self._train(X, y, groups)
        return self

    def predict(self, X: Any, groups: Any = None) -> np.ndarray:
        """Every row's prediction, by its own group's model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.
        groups : array of shape (n_samples,), optional
            Whose each row is, as in `fit`.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._ask(X, groups)[0]

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """The coefficient of determination R² of all rows together.

        Parameters
        ----------
        X, groups
            As in `predict`.
        y : array of shape (n_samples,)
            True targets.
        sample_weight : array of shape (n_samples,), optional
            Weights.

        Returns
        -------
        float
        """
        return float(r2_score(y, self.predict(X, groups), sample_weight=sample_weight))

    def fit_list(self, Xs: Sequence[Any], ys: Sequence[Any],
                 groups: Optional[Sequence[Any]] = None) -> "MultiTaskRegressor":
        """Trains on a list of tasks, as MALSAR has them.

        Parameters
        ----------
        Xs : sequence of arrays of shape (n_samples_i, n_features)
            Each task's rows.
        ys : sequence of arrays of shape (n_samples_i,)
            Each task's targets.
        groups : sequence, optional
            Their names; the default is 0, 1, …

        Returns
        -------
        self
        """
        return self.fit(*_joined(Xs, ys, groups))


def _joined(Xs: Sequence[Any], ys: Sequence[Any], groups: Optional[Sequence[Any]]
            ) -> Tuple[Any, np.ndarray, np.ndarray]:
    if len(Xs) != len(ys) or not Xs:
        raise ValueError(f"Xs and ys should have as many tasks, got {len(Xs)} and {len(ys)}")
    names = np.arange(len(Xs)) if groups is None else np.asarray(groups)
    if len(names) != len(Xs):
        raise ValueError(f"groups should name {len(Xs)} tasks, got {len(names)}")
    sizes = [np.shape(x)[0] for x in Xs]
    stack = sparse.vstack if any(map(sparse.issparse, Xs)) else np.concatenate
    return stack(list(Xs)), np.concatenate([np.ravel(y) for y in ys]), np.repeat(names, sizes)


_CLASSES = """    classes : sequence, optional
        The classes that there can be, which is public. A private fit needs them, unless they
        are 0 and 1 or -1 and 1: which classes occur tells about the rows.
"""


class MultiTaskClassifier(ClassifierMixin, _MultiTask):  # type: ignore[misc]
    __doc__ = """Predicts classes with a personal linear model for each group of rows.

    Two classes are learned with the logistic loss, more with softmax.
""" + _PARAMETERS + _CLASSES + _ATTRIBUTES + """    classes_ : array of shape (n_classes,)
""" + _NOTES + """
    Examples
    --------
    >>> import numpy as np, billboard
    >>> rng = np.random.default_rng(0)
    >>> clinic = np.repeat(np.arange(50), 20)
    >>> X = rng.uniform(-1, 1, (1000, 2))
    >>> y = np.where(X[:, 0] > 0, "ill", "well")
    >>> model = billboard.MultiTaskClassifier(method="mtl-trace").fit(X, y, groups=clinic)
    >>> model.classes_.tolist()
    ['ill', 'well']
    >>> model.predict_proba(X[:3], groups=clinic[:3]).shape
    (3, 2)
    """

    def __init__(self, method: str = "auto", *, epsilon: Optional[float] = None,
                 delta: Optional[float] = None, adjacency: str = "replace-one",
                 bounds: Any = None, standardize: str = "none",
                 ledger: Union[Ledger, str, None] = None, sampling: Optional[str] = None,
                 rounds: Optional[int] = None, fit_intercept: bool = True,
                 method_params: Optional[Mapping[str, Any]] = None,
                 options: Optional[Mapping[str, Any]] = None,
                 group_column: Union[str, int, None] = None, unknown_groups: str = "error",
                 random_state: Any = None, n_jobs: Optional[int] = 1,
                 progress: Union[bool, Callable[[str, int, int], None]] = False,
                 classes: Optional[Sequence[Any]] = None) -> None:
        super().__init__(method, epsilon=epsilon, delta=delta, adjacency=adjacency,
                         bounds=bounds, standardize=standardize, ledger=ledger,
                         sampling=sampling, rounds=rounds, fit_intercept=fit_intercept,
                         method_params=method_params, options=options,
                         group_column=group_column, unknown_groups=unknown_groups,
                         random_state=random_state, n_jobs=n_jobs, progress=progress)
        self.classes = classes

    def _loss(self) -> str:
        return "softmax" if len(getattr(self, "classes_", ())) > 2 else "logistic"

    def _job_options(self) -> Dict[str, Any]:
        given = super()._job_options()
        if given["loss"] == "softmax":
            given["classes"] = len(self.classes_)
        return given

    def _targets(self, y: np.ndarray) -> np.ndarray:
        """Finds the classes that there are; the number of each row's."""
        check_classification_targets(y)
        found, code = np.unique(y, return_inverse=True)
        if self.classes is not None:
            known = np.unique(np.asarray(self.classes))
            if not np.isin(found, known).all():
                strange = found[~np.isin(found, known)][:10].tolist()
                raise ValueError(f"y contains labels that are not in classes: {strange}")
            self.classes_ = known
            code = np.searchsorted(known, found)[code]
        elif self.epsilon is None:
            self.classes_ = found
        else:
            self.classes_ = _public_classes(found)
            code = np.searchsorted(self.classes_, found)[code]
        if len(self.classes_) < 2:
            raise ValueError("This solver needs samples of at least 2 classes in the data, but "
                             f"the data contains only one class: {self.classes_[0]!r}")
        return np.asarray(code, dtype=np.float64)

    def fit(self, X: Any, y: Any, groups: Any = None) -> "MultiTaskClassifier":
        """Trains a model for each group.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Classes.
        groups : array of shape (n_samples,), optional
            Whose each row is: strings, integers or categoricals. Without groups all rows are
            one task, which has nobody to learn from.

        Returns
        -------
        self
        """
        self._train(X, y, groups)
        return self

    def decision_function(self, X: Any, groups: Any = None) -> np.ndarray:
        """Log-odds of the second class, or every class's score.

        Parameters
        ----------
        X, groups
            As in `predict`.

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_classes)
        """
        score = self._ask(X, groups)[1]
        if score.shape[1] == 2:
            return np.asarray(score[:, 1] - score[:, 0])
        return score[:, 0] if score.shape[1] == 1 else score

    def predict_proba(self, X: Any, groups: Any = None) -> np.ndarray:
        """Every class's probability.

        Parameters
        ----------
        X, groups
            As in `predict`.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        value, score = self._ask(X, groups)
        if score.shape[1] == 1:
            return np.column_stack([1 - value, value])
        share = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    def predict(self, X: Any, groups: Any = None) -> np.ndarray:
        """Every row's class, by its own group's model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.
        groups : array of shape (n_samples,), optional
            Whose each row is, as in `fit`.

        Returns
        -------
        array of shape (n_samples,)
        """
        score = self.decision_function(X, groups)
        code = (score > 0).astype(int) if score.ndim == 1 else score.argmax(axis=1)
        return np.asarray(self.classes_[code])

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is right.

        Parameters
        ----------
        X, groups
            As in `predict`.
        y : array of shape (n_samples,)
            True classes.
        sample_weight : array of shape (n_samples,), optional
            Weights.

        Returns
        -------
        float
        """
        return float(accuracy_score(y, self.predict(X, groups), sample_weight=sample_weight))

    def fit_list(self, Xs: Sequence[Any], ys: Sequence[Any],
                 groups: Optional[Sequence[Any]] = None) -> "MultiTaskClassifier":
        """Trains on a list of tasks, as MALSAR has them.

        Parameters
        ----------
        Xs : sequence of arrays of shape (n_samples_i, n_features)
            Each task's rows.
        ys : sequence of arrays of shape (n_samples_i,)
            Each task's classes.
        groups : sequence, optional
            Their names; the default is 0, 1, …

        Returns
        -------
        self
        """
        return self.fit(*_joined(Xs, ys, groups))


def _public_classes(found: np.ndarray) -> np.ndarray:
    """Of a private fit that was not told its classes."""
    for usual in ((0, 1), (-1, 1)):
        if found.dtype.kind in "iufb" and np.isin(found, usual).all():
            return np.array(usual, dtype=found.dtype)
    raise BillboardError("classes: a private fit must be told which classes there can be, which "
                         "is public: classes=[…]")


_NETWORK = """    net : str
        Layers, such as "conv5x32,pool2,dense62" ("convKxC", "poolK", "denseC"); the last is
        dense, with as many outputs as there are classes, which it may leave to the fit:
        "conv5x32,pool2,dense".
    image : str, optional
        Height, width and channels of X's rows, such as "28x28x1"; X of shape (n_samples,
        height, width) or (n_samples, height, width, channels) says so itself. Rows that are no
        images are one pixel with n_features channels.
    batch : int, default=10
        Rows of a step.
    start_seed : int, default=1
        Where networks start; public.
"""


class MultiTaskNetwork(MultiTaskClassifier):
    __doc__ = """Predicts classes with a small network for each group of rows.
""" + _PARAMETERS + _CLASSES + _NETWORK + """
    Attributes
    ----------
    groups_, privacy_, report_, classes_
        As of `MultiTaskClassifier`.
""" + _NOTES

    def __init__(self, net: str = "dense", method: str = "auto", *,
                 epsilon: Optional[float] = None, delta: Optional[float] = None,
                 adjacency: str = "replace-one", bounds: Any = None, standardize: str = "none",
                 ledger: Union[Ledger, str, None] = None, sampling: Optional[str] = None,
                 rounds: Optional[int] = None,
                 method_params: Optional[Mapping[str, Any]] = None,
                 options: Optional[Mapping[str, Any]] = None,
                 group_column: Union[str, int, None] = None, unknown_groups: str = "error",
                 random_state: Any = None, n_jobs: Optional[int] = 1,
                 progress: Union[bool, Callable[[str, int, int], None]] = False,
                 classes: Optional[Sequence[Any]] = None, image: Optional[str] = None,
                 batch: int = 10, start_seed: int = 1) -> None:
        super().__init__(method, epsilon=epsilon, delta=delta, adjacency=adjacency,
                         bounds=bounds, standardize=standardize, ledger=ledger,
                         sampling=sampling, rounds=rounds, method_params=method_params,
                         options=options, group_column=group_column,
                         unknown_groups=unknown_groups, random_state=random_state,
                         n_jobs=n_jobs, progress=progress, classes=classes)
        self.net = net
        self.image = image
        self.batch = batch
        self.start_seed = start_seed

    _sparse = False

    def _loss(self) -> str:
        return "softmax"

    def _job_options(self) -> Dict[str, Any]:
        net = self.net
        if net.split(",")[-1].strip() == "dense":
            net += str(len(self.classes_))
        return {**super()._job_options(), "net": net, "image": self._image_,
                "batch": self.batch, "start-seed": self.start_seed}

    def _rows(self, X: Any, groups: Any, reset: bool, y: Any = None) -> Tuple[Any, Any, Any]:
        shape: Tuple[int, ...] = np.shape(X) if hasattr(X, "shape") else ()
        image = self.image
        if len(shape) in (3, 4):
            image = "x".join(map(str, shape[1:] + (1,) * (4 - len(shape))))
            X = np.reshape(X, (shape[0], -1))
        X, y, groups = super()._rows(X, groups, reset, y)
        if reset:
            self._image_ = image or f"1x1x{X.shape[1]}"
        return X, y, groups


class Method(Answer):
    """A learning method: name, kind ("alone": shares nothing; "open": shares in the clear;
    "private"), summary, losses, options, …"""

    def __str__(self) -> str:
        said = [f"{self['name']} ({self['kind']}; {', '.join(self['losses'])}): "
                f"{self['summary']}"]
        said += [f"    {o['name']}={o['default_text']}: {o['help']}" for o in self["options"]]
        return "\n".join(said)


def methods(name: Optional[str] = None) -> Dict[str, Method]:
    """The learning methods, or the one of this name.

    Parameters
    ----------
    name : str, optional
        Of a method.

    Returns
    -------
    dict of str to Method

    Examples
    --------
    >>> import billboard
    >>> billboard.methods()["mp-mixed"].kind
    'private'
    """
    found = _library.asked("billboard_methods", None if name is None else name.encode())
    return {m["name"]: Method(m) for m in found["methods"]}
