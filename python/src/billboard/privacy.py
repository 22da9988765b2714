"""What is promised, and the budget that lasts: public bounds, promises, ledgers.

No number of this module means anything alone: an epsilon is said with its delta, its adjacency
and its sampling, always.
"""

import hashlib
import json
import os
import sys
import threading
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

import numpy as np

from ._library import (Answer, BillboardError, PrivacyWarning, asked_watching, frame,
                       html_text, promise)

__all__ = ["Bounds", "Ledger", "Privacy"]

Range = Union[float, Sequence[float]]
PathLike = Union[str, "os.PathLike[str]"]


# -- bounds --------------------------------------------------------------------------------


class Bounds:
    """Public ranges of columns and target: what anybody knows without looking at the data.

    Columns are mapped from their ranges to [-1, 1] before learning, and values outside are
    moved to the border, so that no row can show more than its range. The scale's ends, a
    physical limit, a questionnaire's answers are good ranges. The least and the largest
    value of the data are none: they are somebody's.

    Parameters
    ----------
    columns : mapping or sequence, optional
        A range ``(low, high)`` for each column, by name, or in the columns' order. A number c
        is the range (-c, c).
    target : range, optional
        Of the target, for regression.
    others : range, optional
        Of every column that is not in `columns`.
    note : str, optional
        Where the ranges come from. Kept with the run.

    Notes
    -----
    Privacy cost: none if the ranges are public. If they were looked up in the data, the run is
    not private, and `from_data` makes every statement about it say so.

    Examples
    --------
    >>> import billboard
    >>> bounds = billboard.Bounds({"gcse": (0, 8), "girl": (0, 1)}, target=(0, 10))
    >>> bounds
    Bounds({'gcse': (0.0, 8.0), 'girl': (0.0, 1.0)}, target=(0.0, 10.0))
    >>> bounds.is_public
    True
    """

    def __init__(self, columns: Union[Mapping[str, Range], Sequence[Range], None] = None, *,
                 target: Optional[Range] = None, others: Optional[Range] = None,
                 note: Optional[str] = None) -> None:
        self.columns: Union[Dict[str, Tuple[float, float]], List[Tuple[float, float]]]
        if isinstance(columns, Mapping):
            self.columns = {str(k): _range(v, f"column {k!r}") for k, v in columns.items()}
        else:
            self.columns = [_range(v, f"column {k}") for k, v in enumerate(columns or [])]
        self.target = None if target is None else _range(target, "the target")
        self.others = None if others is None else _range(others, "others")
        self.note = note
        self.is_public = True

    @classmethod
    def from_json(cls, source: PathLike) -> "Bounds":
        """Reads ranges from a file, in the form that ``billboard train --scale`` takes.

        Parameters
        ----------
        source : path
            A file, or its text if that begins with ``{``.
        """
        text = os.fspath(source)
        if not text.lstrip().startswith("{"):
            with open(text, encoding="utf-8") as file:
                text = file.read()
        try:
            read = json.loads(text)
        except json.JSONDecodeError as error:
            raise BillboardError(f"bounds: no JSON: {error}") from None
        unknown = set(read) - {"columns", "target", "others", "note", "source"}
        if unknown:
            raise BillboardError(f"bounds: unknown member {sorted(unknown)[0]!r}")
        bounds = cls(read.get("columns"), target=read.get("target"), others=read.get("others"),
                     note=read.get("note"))
        bounds.is_public = read.get("source", "public") == "public"
        return bounds

    @classmethod
    def from_data(cls, X: Any, y: Any = None) -> "Bounds":
        """Ranges looked up in the data: for simulations. A run with them is NOT private, and
        its statement says so.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Columns of numbers.
        y : array of shape (n_samples,), optional
            The target, for regression.

        Notes
        -----
        Privacy cost: everything. The least and the largest value of a column belong to
        somebody, whom no noise hides.

        Examples
        --------
        >>> import billboard
        >>> billboard.Bounds.from_data([[0.0, 2.0], [1.0, 5.0]]).is_public
        False
        """
        from sklearn.utils.validation import _get_feature_names, check_array
        names = _get_feature_names(X)
        values = check_array(X, dtype="numeric")
        ranges = [_wide(low, high) for low, high in
                  zip(values.min(axis=0).tolist(), values.max(axis=0).tolist())]
        target = None
        if y is not None:
            numbers = np.asarray(y, dtype=float)
            target = _wide(float(numbers.min()), float(numbers.max()))
        bounds = cls(ranges if names is None else dict(zip(names, ranges)), target=target)
        bounds.is_public = False
        return bounds

    def to_json(self, names: Optional[Sequence[str]] = None) -> str:
        """As the program reads them.

        Parameters
        ----------
        names : sequence of str, optional
            Of the columns, where ranges are in their order (default x1, x2, …).
        """
        columns = self.columns
        if isinstance(columns, list):
            if names is not None and len(columns) > len(names):
                raise BillboardError(f"bounds has {len(columns)} ranges, but there are "
                                     f"{len(names)} columns")
            given = names or [f"x{k + 1}" for k in range(len(columns))]
            columns = dict(zip(given, columns))
        values: Dict[str, Any] = {"columns": columns, "target": self.target,
                                  "others": self.others, "note": self.note,
                                  "source": None if self.is_public else "data"}
        return json.dumps({k: v for k, v in values.items() if v is not None})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bounds) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        parts = [repr(self.columns)] if self.columns else []
        parts += [f"{name}={value!r}" for name, value in
                  (("target", self.target), ("others", self.others)) if value is not None]
        public = "" if self.is_public else " taken from the data: NOT private"
        return f"Bounds({', '.join(parts)}){public}"


def _range(given: Range, what: str) -> Tuple[float, float]:
    if isinstance(given, (int, float, np.number)):
        given = (-float(given), float(given))
    try:
        low, high = (float(v) for v in given)
    except (TypeError, ValueError):
        raise BillboardError(f"bounds: {what}: expected (low, high), found {given!r}") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise BillboardError(f"bounds: {what}: expected finite low < high, found {given!r}")
    return low, high


def _wide(low: float, high: float) -> Tuple[float, float]:
    """A constant column is given some width."""
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def bounds_of(given: Union[Bounds, Mapping[str, Any], PathLike, None]) -> Optional[Bounds]:
    """What estimators take: bounds, a JSON file, or its object."""
    if given is None or isinstance(given, Bounds):
        return given
    if isinstance(given, Mapping):
        return Bounds.from_json(json.dumps(given))
    return Bounds.from_json(given)


# -- the promise of a fit ------------------------------------------------------------------


class Privacy:
    """What a fit promises, and to whom: printed, it is the whole statement.

    Attributes
    ----------
    is_private : bool
        There is a promise, and it holds.
    epsilon, delta : float or None
        The first promise; None where there is none that holds. No epsilon means anything
        without delta, `adjacency` and `sampling`.
    unit, adjacency, sampling, mechanism : str or None
        Whom the promise is about ("task" or "instance"), which populations it cannot tell
        apart, who took part in a round, and what made the noise.
    noise_multiplier : float or None
        The noise's standard deviation over the clip.
    statement : str
        All promises in words: show this.
    guarantees : list of dict
        All promises, and what is known of those that do not hold.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.is_private: bool = bool(values["private"])
        self.epsilon: Optional[float] = values["epsilon"]
        self.delta: Optional[float] = values["delta"]
        self.adjacency: Optional[str] = values["adjacency"]
        self.sampling: Optional[str] = values["sampling"]
        self.mechanism: Optional[str] = values["mechanism"]
        self.noise_multiplier: Optional[float] = values["noise_multiplier"]
        self.guarantees: List[Dict[str, Any]] = list(values["guarantees"])
        self.unit: Optional[str] = self.guarantees[0]["unit"] if self.guarantees else None
        self.statement: str = values["statement"]

    def __str__(self) -> str:
        return self.statement

    def __repr__(self) -> str:
        if not self.is_private or self.epsilon is None:
            return "Privacy(nothing is promised: print it)"
        return f"Privacy({promise(vars(self))})"

    def _repr_html_(self) -> str:
        return html_text(self.statement)


# -- ledgers -------------------------------------------------------------------------------


class Ledger:
    """The budget of a population, in a file that all fits and processes share.

    Every private fit is charged before it computes, and refused with `BudgetError` when not
    enough is left. A fit keeps its charge however it ends. The program's ``--ledger`` and
    ``billboard ledger`` use the same files.

    Parameters
    ----------
    path : path
        The file. The first fit makes it.
    epsilon, delta : float, optional
        The budget of a new ledger; one that exists must have the same.
    population : str, optional
        What the new ledger is for.
    kind : {"sum", "gdp", "rdp"}, optional
        How a new ledger adds up.

    Examples
    --------
    >>> import billboard, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "pupils.ledger")
    >>> billboard.Ledger(path, epsilon=3, delta=3e-5).left()
    (3.0, 3e-05)
    """

    def __init__(self, path: PathLike, *, epsilon: Optional[float] = None,
                 delta: Optional[float] = None, population: Optional[str] = None,
                 kind: Optional[str] = None) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self.epsilon, self.delta = epsilon, delta
        self.population, self.kind = population, kind

    def options(self) -> Dict[str, Any]:
        """The options of ``billboard train`` that name this ledger."""
        return {"ledger": self.path, "budget-epsilon": self.epsilon,
                "budget-delta": self.delta, "population": self.population,
                "ledger-kind": self.kind}

    def read(self) -> Answer:
        """All that is in it: population, tasks, adjacency, kind, budget, spent, left, entries.
        """
        return Answer(asked_watching("billboard_ledger", os.fsencode(self.path)))

    def _amount(self, which: str) -> Tuple[Optional[float], Optional[float]]:
        if not os.path.exists(self.path):
            none_yet = (0.0, 0.0) if which == "spent" else (self.epsilon, self.delta)
            return tuple(None if v is None else float(v) for v in none_yet)  # type: ignore
        amount = self.read()[which]
        return amount["epsilon"], amount["delta"]

    def spent(self) -> Tuple[Optional[float], Optional[float]]:
        """(epsilon, delta) that all fits have cost so far."""
        return self._amount("spent")

    def left(self) -> Tuple[Optional[float], Optional[float]]:
        """(epsilon, delta) that are left."""
        return self._amount("left")

    def to_frame(self) -> Any:
        """The entries: a ``pandas.DataFrame``, or a list of dicts where there is no pandas."""
        return frame(self.read()["entries"] if os.path.exists(self.path) else [])

    def __str__(self) -> str:
        if not os.path.exists(self.path):
            return f"ledger {self.path}: no fit was charged yet"
        read = self.read()
        said = [f"ledger {self.path}: {read.population}, {read.tasks} tasks, "
                f"{read.adjacency}, adds up by {read.kind}"]
        for which in ("budget", "spent", "left"):
            amount = read[which]
            said.append(f"{which:8} ε = {amount['epsilon']}, δ = {amount['delta']}")
        said += [f"{e['time']}  {e['state']:8} ε = {e['epsilon']}, δ = {e['delta']}  "
                 f"{e['description']}" for e in read.entries]
        return "\n".join(said)

    def __repr__(self) -> str:
        return f"Ledger({self.path!r}, epsilon={self.epsilon!r}, delta={self.delta!r})"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.path)


# -- fits without a ledger -----------------------------------------------------------------


class _Spent:
    """What private fits without a ledger have cost in this process, by the tasks they had."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.seen: Dict[bytes, Tuple[Set[str], float, float, int]] = {}

    def add(self, columns: Any, names: Sequence[str], epsilon: float,
            delta: float) -> Tuple[int, float, float]:
        """(fits, epsilon, delta) that no task of these can have exceeded, this fit included.
        Tasks are the same that have the same name beside the same columns."""
        tasks = set(names)
        key = hashlib.sha256(repr((columns, sorted(tasks))).encode()).digest()
        with self.lock:
            _, sum_epsilon, sum_delta, fits = self.seen.get(key, (tasks, 0.0, 0.0, 0))
            self.seen[key] = (tasks, sum_epsilon + epsilon, sum_delta + delta, fits + 1)
            same = [entry for entry in self.seen.values() if not tasks.isdisjoint(entry[0])]
        return (sum(e[3] for e in same), sum(e[1] for e in same), sum(e[2] for e in same))


_spent = _Spent()


def count_fit(columns: Any, names: Sequence[str], privacy: Privacy) -> None:
    """Warns of the sum where a private fit without a ledger is not the first on its tasks: at
    the 2nd, the 4th, the 8th, …"""
    if not privacy.is_private or privacy.epsilon is None or privacy.delta is None:
        return
    fits, epsilon, delta = _spent.add(columns, names, privacy.epsilon, privacy.delta)
    if fits < 2 or fits & (fits - 1):
        return
    warnings.warn(
        f"{fits} private fits of tasks of these names, in this process, without a ledger: if "
        f"they are the same tasks, then together they cost up to ε = {epsilon:.6g} at "
        f"δ = {delta:.6g} ({privacy.adjacency}, sampling {privacy.sampling}), not "
        f"ε = {privacy.epsilon:.6g}. Give ledger=billboard.Ledger(…) to hold them to a budget.",
        PrivacyWarning, stacklevel=4)


def warn_of_search(estimator: Any) -> None:
    """Where scikit-learn clones a private estimator to fit it often: says what that costs."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "evaluate_candidates":
        frame = frame.f_back
    found = frame.f_locals if frame is not None else {}
    if estimator.epsilon is None or not {"n_candidates", "n_splits"} <= set(found):
        return
    fits = found["n_candidates"] * found["n_splits"]
    delta = "its default" if estimator.delta is None else f"{estimator.delta:.6g}"
    counted = "The ledger refuses what exceeds its budget." if estimator.ledger is not None \
        else "Nothing holds the sum to a budget: give ledger=billboard.Ledger(…)."
    warnings.warn(
        f"this search fits a private estimator {fits} times ({found['n_candidates']} candidates "
        f"x {found['n_splits']} splits), and again with the best one: every fit costs its own "
        f"ε and δ (here ε = {estimator.epsilon:.6g}, δ = {delta}, {estimator.adjacency}, sampling "
        f"{estimator.sampling or 'all'}), and together {fits + 1} times that. {counted} What "
        "was chosen tells about the data, too, and no statement covers it.",
        PrivacyWarning, stacklevel=2)
