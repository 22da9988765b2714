"""Classes to predict: a linear model for each group."""

import json
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

import numpy as np
from scipy import sparse, special
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from ._base import MultiTask, joined
from ._data import has_missing, text_of_label
from ._words import ATTRIBUTES, CLASSES, NOTES, PARAMETERS
from .errors import BillboardError
from .ledger import Ledger, PathLike

__all__ = ["MultiTaskClassifier"]


class MultiTaskClassifier(ClassifierMixin, MultiTask):  # type: ignore[misc]
    __doc__ = """Predicts classes with a personal linear model for each group of rows.

    Two classes are learned with the logistic loss, more with softmax. Where rows have any number
    of labels, y is a matrix of 0 and 1 with a column for each, dense or sparse.
""" + PARAMETERS + CLASSES + ATTRIBUTES + """    classes_ : array of shape (n_classes,)
""" + NOTES + """
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
                 bounds: Any = None, standardize: str = "auto",
                 ledger: Union[Ledger, PathLike, None] = None, sampling: Optional[str] = None,
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

    multilabel_ = False  # rows have labels, and y has a column for each

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = True
        return tags

    def _loss(self) -> str:
        if self.multilabel_:
            return "multilabel"
        return "softmax" if len(getattr(self, "classes_", ())) > 2 else "logistic"

    def _own_options(self) -> Dict[str, Any]:
        return {"classes": None if self._loss() == "logistic" else len(self.classes_),
                "categories": self._levels()}

    def _levels(self) -> Optional[str]:
        """The classes' names, in the form that ``--categories`` takes. The program knows 0, 1, …,
        and -1 and 1, without, and labels by their numbers alone."""
        names = [text_of_label(label) for label in self.classes_.tolist()]
        if self.multilabel_ or self.classes_.dtype.kind == "b" or names == ["-1", "1"] \
                or names == [str(k) for k in range(len(names))]:
            return None
        return json.dumps({"source": "data" if self.classes is None else "public", "y": names})

    def _told_classes(self) -> Optional[np.ndarray]:
        """`classes`, in order."""
        if self.classes is None:
            return None
        if np.ndim(self.classes) != 1:
            raise ValueError("classes should be a list of the classes that there can be, such as "
                             f"['no', 'yes'], got {self.classes!r}")
        return np.unique(np.asarray(self.classes))

    def _has_labels(self, y: Any) -> bool:
        shape: Any = np.shape(y) if isinstance(y, (list, tuple)) else getattr(y, "shape", ())
        return len(shape) == 2 and shape[1] > 1

    def _targets(self, y: Any) -> Any:
        """Finds the classes that there are; the number of each row's, or its labels."""
        if isinstance(y, np.ndarray) and has_missing(y):
            raise ValueError("Input y contains NaN or None: every row to learn from has a target")
        check_classification_targets(y)
        self.multilabel_ = self._has_labels(y)
        return self._labels_of(y) if self.multilabel_ else self._numbers_of(y)

    def _labels_of(self, y: Any) -> sparse.csr_matrix:
        is_indicator = type_of_target(y) == "multilabel-indicator"
        labels = sparse.csr_matrix(y) if is_indicator else None
        if labels is None or not np.isin(labels.data, (0, 1)).all():
            raise ValueError("y should have one class for each row, or be a matrix of 0 and 1 with "
                             "a column for each label")
        labels.eliminate_zeros()
        labels.sort_indices()
        self.classes_ = np.arange(y.shape[1]) if self.classes is None else np.asarray(self.classes)
        if len(self.classes_) != y.shape[1]:
            raise ValueError(f"classes has {len(self.classes_)} labels, but y has {y.shape[1]} "
                             "columns")
        return labels

    def _numbers_of(self, y: np.ndarray) -> np.ndarray:
        found, code = np.unique(y, return_inverse=True)
        known = self._told_classes()
        if known is not None:
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
        y : array of shape (n_samples,), or (n_samples, n_labels)
            Classes; or a matrix of 0 and 1, which labels each row has.
        groups : array of shape (n_samples,), optional
            Whose each row is: strings, integers or categoricals. Without groups all rows are
            one task, which has nobody to learn from.

        Returns
        -------
        self

        Examples
        --------
        >>> import billboard
        >>> X, clinic = [[0.0], [1.0], [0.0], [1.0]], [1, 1, 2, 2]
        >>> y = ["well", "ill", "ill", "well"]
        >>> model = billboard.MultiTaskClassifier(method_params={"lambda": 1e-3})
        >>> model = model.fit(X, y, groups=clinic)
        >>> model.classes_.tolist(), model.groups_.tolist()
        (['ill', 'well'], [1, 2])
        """
        self._train(X, y, groups)
        return self

    def decision_function(self, X: Any, groups: Any = None) -> np.ndarray:
        """Log-odds of the second class, every class's score, or every label's log-odds.

        Parameters
        ----------
        X, groups
            As in `predict`.

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_classes)

        Examples
        --------
        >>> import billboard
        >>> X, clinic = [[0.0], [1.0], [0.0], [1.0]], [1, 1, 2, 2]
        >>> y = ["well", "ill", "ill", "well"]
        >>> model = billboard.MultiTaskClassifier(method_params={"lambda": 1e-3})
        >>> model = model.fit(X, y, groups=clinic)
        >>> (model.decision_function(X, groups=clinic) > 0).tolist()
        [True, False, False, True]
        """
        score = self._ask(X, groups).output
        if self.multilabel_:
            return score
        if score.shape[1] == 2:
            return np.asarray(score[:, 1] - score[:, 0])
        return score[:, 0] if score.shape[1] == 1 else score

    def predict_proba(self, X: Any, groups: Any = None) -> np.ndarray:
        """Every class's, or label's, probability.

        Parameters
        ----------
        X, groups
            As in `predict`.

        Returns
        -------
        array of shape (n_samples, n_classes)

        Examples
        --------
        >>> import billboard
        >>> X, clinic = [[0.0], [1.0], [0.0], [1.0]], [1, 1, 2, 2]
        >>> y = ["well", "ill", "ill", "well"]
        >>> model = billboard.MultiTaskClassifier(method_params={"lambda": 1e-3})
        >>> model = model.fit(X, y, groups=clinic)
        >>> model.predict_proba(X, groups=clinic).round().tolist()
        [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
        """
        said = self._ask(X, groups)
        value, score = said.value, said.output
        if self.multilabel_:
            return np.asarray(special.expit(score))
        if score.shape[1] == 1:
            return np.column_stack([1 - value, value])
        share = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any, groups: Any = None) -> np.ndarray:
        """Their logarithms.

        Parameters
        ----------
        X, groups
            As in `predict`.

        Returns
        -------
        array of shape (n_samples, n_classes)

        Examples
        --------
        >>> import billboard, numpy as np
        >>> X, clinic = [[0.0], [1.0], [0.0], [1.0]], [1, 1, 2, 2]
        >>> y = ["well", "ill", "ill", "well"]
        >>> model = billboard.MultiTaskClassifier(method_params={"lambda": 1e-3})
        >>> model = model.fit(X, y, groups=clinic)
        >>> (model.predict_log_proba(X, groups=clinic) > np.log(0.5)).argmax(axis=1).tolist()
        [1, 0, 0, 1]
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, groups)))

    def predict(self, X: Any, groups: Any = None) -> np.ndarray:
        """Every row's class, or labels, by its own group's model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.
        groups : array of shape (n_samples,), optional
            Whose each row is, as in `fit`.

        Returns
        -------
        array of shape (n_samples,), or of 0 and 1 of shape (n_samples, n_labels)

        Examples
        --------
        >>> import billboard
        >>> X, clinic = [[0.0], [1.0], [0.0], [1.0]], [1, 1, 2, 2]
        >>> y = ["well", "ill", "ill", "well"]
        >>> model = billboard.MultiTaskClassifier(method_params={"lambda": 1e-3})
        >>> model = model.fit(X, y, groups=clinic)
        >>> model.predict([[0.0], [0.0]], groups=[1, 2]).tolist()
        ['well', 'ill']
        """
        score = self.decision_function(X, groups)
        if self.multilabel_:
            return np.asarray(score > 0, dtype=int)
        code = (score > 0).astype(int) if score.ndim == 1 else score.argmax(axis=1)
        return np.asarray(self.classes_[code])

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is right; of labels, those that have all of them right.

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

        Examples
        --------
        >>> import billboard
        >>> X, clinic = [[0.0], [1.0], [0.0], [1.0]], [1, 1, 2, 2]
        >>> y = ["well", "ill", "ill", "well"]
        >>> model = billboard.MultiTaskClassifier(method_params={"lambda": 1e-3})
        >>> model = model.fit(X, y, groups=clinic)
        >>> model.score(X, y, groups=clinic)
        1.0
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

        Examples
        --------
        >>> import billboard
        >>> Xs, ys = [[[0.0], [1.0]], [[0.0], [1.0]]], [["well", "ill"], ["ill", "well"]]
        >>> billboard.MultiTaskClassifier().fit_list(Xs, ys, groups=["a", "b"]).groups_.tolist()
        ['a', 'b']
        """
        return self.fit(*joined(self, Xs, ys, groups))


def _public_classes(found: np.ndarray) -> np.ndarray:
    """Of a private fit that was not told its classes."""
    for usual in ((0, 1), (-1, 1)):
        if found.dtype.kind in "iufb" and np.isin(found, usual).all():
            return np.array(usual, dtype=found.dtype)
    raise BillboardError("classes: a private fit must be told which classes there can be, which "
                         "is public: classes=[…]")
