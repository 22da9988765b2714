"""Public ranges of columns and target."""

import copy
import json
import os
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._data import from_arrow, named
from .errors import BillboardError

__all__ = ["Bounds"]

Range = Union[float, Sequence[float]]
PathLike = Union[str, "os.PathLike[str]"]


class Bounds:
    """Public ranges of columns and target: what anybody knows without looking at the data.

    Columns are mapped from their ranges to [-1, 1] before learning. Values outside are moved
    to the border; the default method for numbers takes them as they are, up to ten half
    ranges from the middle. The scale's ends, a
    physical limit, a questionnaire's answers are good ranges. The least and the largest
    value of the data are none: they are somebody's.

    Parameters
    ----------
    columns : mapping or sequence, optional
        A range ``(low, high)`` for each column, by name, or in the columns' order. A number c
        is the range (-c, c).
    target : range, optional
        Of the target, for regression.
    others : range or 'open', optional
        Of every column that is not in `columns`. 'open': nobody knows it, nor that of a target
        without one; tasks find units for them in common, at a small part of the budget. Columns
        of truths have the range (0, 1) then, but in silos, where it is named.
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
                 target: Optional[Range] = None,
                 others: Union[Range, Literal["open"], None] = None, note: Optional[str] = None) -> None:
        self.columns: Union[Dict[str, Tuple[float, float]], List[Tuple[float, float]]]
        if isinstance(columns, Mapping):
            self.columns = {str(k): _range(v, f"column {k!r}") for k, v in columns.items()}
        else:
            given = () if columns is None else columns
            self.columns = [_range(v, f"column {k}") for k, v in enumerate(given)]
        self.target = None if target is None else _range(target, "the target")
        self.others: Union[Tuple[float, float], Literal["open"], None] = None
        if others is not None:
            self.others = "open" if others == "open" else _range(others, "others")
        self.note = note
        self.is_public = True

    @classmethod
    def from_json(cls, source: PathLike) -> "Bounds":
        """Reads ranges from a file, in the form that ``billboard train --scale`` takes.

        Parameters
        ----------
        source : path
            A file, or its text if that begins with ``{``.

        Examples
        --------
        >>> import billboard
        >>> billboard.Bounds.from_json('{"columns": {"gcse": [0, 8]}, "target": [0, 10]}')
        Bounds({'gcse': (0.0, 8.0)}, target=(0.0, 10.0))
        """
        text = os.fspath(source)
        if not text.lstrip().startswith("{"):
            with open(text, encoding="utf-8") as file:
                text = file.read()
        try:
            read = json.loads(text)
        except json.JSONDecodeError as error:
            raise BillboardError(f"bounds: no JSON: {error}") from None
        return cls._of(read)

    @classmethod
    def _of(cls, read: Mapping[str, Any]) -> "Bounds":
        """Of what such a file has."""
        unknown = set(read) - {"columns", "target", "others", "note", "source"}
        if unknown:
            raise BillboardError(f"bounds: unknown member {sorted(unknown)[0]!r}, known are columns, "
                                 "target, others and note; for ranges of columns alone give "
                                 "billboard.Bounds({…})")
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
        X = named(from_arrow(X))
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

        Examples
        --------
        >>> import billboard
        >>> billboard.Bounds([(0, 8)], target=10).to_json(["gcse"])
        '{"columns": {"gcse": [0.0, 8.0]}, "target": [-10.0, 10.0]}'
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

    def _names(self, names: Optional[Sequence[str]], features: int) -> Sequence[str]:
        """The columns' own. Where they have none the program counts them from 1, and scikit-learn
        from 0: of names there only all that `to_json` gives them are taken."""
        if names is not None:
            return names
        counted = [f"x{k + 1}" for k in range(features)]
        if isinstance(self.columns, dict) and set(self.columns) not in (set(), set(counted)):
            raise BillboardError("bounds has ranges by name, but X has no column names: give a "
                                 "list of ranges, in the columns' order, or others=(low, high)")
        return counted

    def _with_truths(self, truths: Sequence[int], names: Sequence[str]) -> "Bounds":
        """(0, 1) for columns of truths that would be open."""
        if self.others != "open" or not truths:
            return self
        bounds = copy.copy(self)
        given = self.columns if isinstance(self.columns, dict) else dict(zip(names, self.columns))
        bounds.columns = {**{names[k]: (0.0, 1.0) for k in truths}, **given}
        return bounds

    def _check(self, names: Sequence[str]) -> None:
        """Refuses columns without a range; beside others, which a misspelt one would have, ranges
        without a column."""
        given = self.columns if isinstance(self.columns, dict) else names[:len(self.columns)]
        missing = [name for name in names if name not in given] if self.others is None else []
        if missing:
            raise BillboardError(f"bounds: no range is given for column {missing[0]!r}: give it one, "
                                 "others=(low, high) for all that have none, or others='open' "
                                 "where nobody knows it")
        idle = [name for name in given if name not in names]
        if idle and self.others is not None:
            without = ", ".join(repr(name) for name in names if name not in given)
            raise BillboardError(f"bounds: the range of {idle[0]!r} is of no column; columns "
                                 f"without one are {without}")

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
        return Bounds._of(given)
    if not isinstance(given, (str, os.PathLike)):
        raise BillboardError(f"bounds: expected billboard.Bounds(…), a dict or a file, found "
                             f"{given!r}")
    return Bounds.from_json(given)
