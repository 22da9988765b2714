"""Numbers to predict: a linear model for each group."""

from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ._base import MultiTask, joined
from ._data import why_no_targets
from ._words import ATTRIBUTES, NOTES, PARAMETERS
from .effects import Effects
from .ledger import Ledger, PathLike

__all__ = ["MultiTaskRegressor"]

_OWN = """    intervals : bool, default=False
        Every group also keeps how uncertain it is of its model, for `predict_interval`. Costs no
        budget. For "mp-mixed", which "auto" takes with an epsilon.
    report_effects : bool, default=False
        Publish fixed effects and variance components, for a fifth of the budget: `effects_`. For
        "mp-mixed" with `bounds`.
"""


class MultiTaskRegressor(RegressorMixin, MultiTask):  # type: ignore[misc]
    __doc__ = """Predicts numbers with a personal linear model for each group of rows.
""" + PARAMETERS + _OWN + ATTRIBUTES + """    effects_ : Effects or None
        What `report_effects` published: print it.
""" + NOTES + """
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

    def __init__(self, method: str = "auto", *, epsilon: Optional[float] = None,
                 delta: Optional[float] = None, adjacency: str = "replace-one",
                 bounds: Any = None, standardize: str = "auto",
                 ledger: Union[Ledger, PathLike, None] = None, sampling: Optional[str] = None,
                 rounds: Optional[int] = None, fit_intercept: bool = True,
                 method_params: Optional[Mapping[str, Any]] = None,
                 options: Optional[Mapping[str, Any]] = None,
                 group_column: Union[str, int, None] = None, unknown_groups: str = "error",
                 random_state: Any = None, n_jobs: Optional[int] = 1,
                 progress: Union[bool, Callable[[str, int, int], None]] = False,
                 intervals: bool = False, report_effects: bool = False) -> None:
        super().__init__(method, epsilon=epsilon, delta=delta, adjacency=adjacency,
                         bounds=bounds, standardize=standardize, ledger=ledger,
                         sampling=sampling, rounds=rounds, fit_intercept=fit_intercept,
                         method_params=method_params, options=options,
                         group_column=group_column, unknown_groups=unknown_groups,
                         random_state=random_state, n_jobs=n_jobs, progress=progress)
        self.intervals = intervals
        self.report_effects = report_effects

    _parameter_constraints = {**MultiTask._parameter_constraints,
                              "intervals": ["boolean"], "report_effects": ["boolean"]}

    def _loss(self) -> str:
        return "squared"

    def _own_options(self) -> Dict[str, Any]:
        return {"intervals": self.intervals or None, "report-effects": self.report_effects or None}

    def _targets(self, y: np.ndarray) -> np.ndarray:
        if y.dtype.kind in "mM":
            raise ValueError("y has dates or times: make them numbers before, such as days since "
                             "a day that anybody knows")
        why = why_no_targets(y) if y.dtype.kind in "SU" else None
        if why:
            raise ValueError(why)
        return y

    def _read(self) -> None:
        super()._read()
        found = self.report_.get("effects")
        self.effects_ = None if found is None else Effects(found)

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

        Examples
        --------
        >>> import billboard
        >>> X, y, group = [[0.0], [1.0], [0.0], [1.0]], [0.0, 1.0, 5.0, 3.0], ["a", "a", "b", "b"]
        >>> model = billboard.MultiTaskRegressor().fit(X, y, groups=group)
        >>> model.groups_.tolist(), model.coef_.shape
        (['a', 'b'], (2, 1))
        """
        self._train(X, y, groups)
        return self

    def predict(self, X: Any, groups: Any = None) -> np.ndarray:
        """Every row's prediction, by its own group's model: the straight line of `coef_`, but no
        farther than its limits from what the group has seen (docs/run-directory.md).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.
        groups : array of shape (n_samples,), optional
            Whose each row is, as in `fit`.

        Returns
        -------
        array of shape (n_samples,)

        Examples
        --------
        >>> import billboard
        >>> X, y, group = [[0.0], [1.0], [0.0], [1.0]], [0.0, 1.0, 5.0, 3.0], ["a", "a", "b", "b"]
        >>> model = billboard.MultiTaskRegressor().fit(X, y, groups=group)
        >>> model.predict([[0.5], [0.5]], groups=["a", "b"]).round(2).tolist()
        [0.5, 4.0]
        """
        return np.asarray(self._ask(X, groups).value)

    def predict_interval(self, X: Any, groups: Any = None, *, coverage: float = 0.95
                         ) -> np.ndarray:
        """Around every row's prediction, what holds its target in this part of all cases.

        An interval is made of the group's own rows and of what was published. How often such
        intervals have held: docs/methods/mp-mixed.md.

        Parameters
        ----------
        X, groups
            As in `predict`.
        coverage : float, default=0.95
            The part.

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper ends. With ``unknown_groups="shared"`` they are NaN for groups that
            were not there, which are refused otherwise.

        Examples
        --------
        >>> import numpy as np, billboard
        >>> rng = np.random.default_rng(0)
        >>> group, X = np.repeat(np.arange(50), 10), rng.uniform(-1, 1, (500, 2))
        >>> model = billboard.MultiTaskRegressor(
        ...     epsilon=5, bounds=billboard.Bounds(others=1, target=3), intervals=True)
        >>> model = model.fit(X, X[:, 0] + 0.1 * rng.standard_normal(500), groups=group)
        >>> model.predict_interval(X[:4], groups=group[:4], coverage=0.9).shape
        (4, 2)
        """
        if not 0.001 <= coverage <= 0.9999:
            raise ValueError(f"coverage should be between 0.001 and 0.9999, got {coverage!r}")
        said = self._ask(X, groups, intervals=coverage)
        return np.column_stack([said.value - said.half_width, said.value + said.half_width])

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

        Examples
        --------
        >>> import billboard
        >>> X, y, group = [[0.0], [1.0], [0.0], [1.0]], [0.0, 1.0, 5.0, 3.0], ["a", "a", "b", "b"]
        >>> model = billboard.MultiTaskRegressor().fit(X, y, groups=group)
        >>> round(model.score(X, y, groups=group), 2)
        1.0
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

        Examples
        --------
        >>> import billboard
        >>> Xs, ys = [[[0.0], [1.0]], [[0.0], [1.0], [2.0]]], [[0.0, 1.0], [5.0, 3.0, 1.0]]
        >>> billboard.MultiTaskRegressor().fit_list(Xs, ys).groups_.tolist()
        [0, 1]
        """
        return self.fit(*joined(self, Xs, ys, groups))
