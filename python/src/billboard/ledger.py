"""The budget that lasts."""

import os
from numbers import Real
from typing import Any, Dict, Optional, Tuple, Union

from ._answers import Answer, asked_watching, counted, frame, html_text
from ._library import call
from .errors import BillboardError

__all__ = ["Ledger"]

_COLUMNS = ("id", "time", "description", "epsilon", "delta", "state", "directory")
_SIGNS = {"epsilon": "ε", "delta": "δ", "mu_squared": "μ²"}
LEDGER_OPTIONS = ("ledger", "budget-epsilon", "budget-delta", "population", "ledger-kind")

PathLike = Union[str, "os.PathLike[str]"]


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
        if epsilon is not None and not (isinstance(epsilon, Real) and 1e-6 <= epsilon <= 1e6):
            raise BillboardError("epsilon of a ledger should be a number from 1e-06 to 1e+06, got "
                                 f"{epsilon!r}")
        if delta is not None and not (isinstance(delta, Real) and 0 <= delta < 1):
            raise BillboardError(f"delta of a ledger should be a number in [0, 1), got {delta!r}")
        for name, value in (("epsilon", epsilon), ("delta", delta)):
            if value is None or not self._is_there():
                continue
            kept = self.read().budget[name]
            if kept != value:
                raise BillboardError(f"ledger {self.path} has the budget {name} = {kept!r}, not "
                                     f"{value!r}")

    def _options(self) -> Dict[str, Any]:
        """The options of ``billboard train`` that name this ledger."""
        return dict(zip(LEDGER_OPTIONS, (self.path, self.epsilon, self.delta, self.population,
                                         self.kind)))

    def read(self) -> Answer:
        """All that is in it: population, tasks, adjacency, sampling, kind, budget, spent, left,
        entries.

        Examples
        --------
        >>> import numpy as np, billboard, os, tempfile
        >>> ledger = billboard.Ledger(os.path.join(tempfile.mkdtemp(), "l"), epsilon=3, delta=3e-5)
        >>> X, group = np.random.default_rng(0).uniform(-1, 1, (400, 2)), np.arange(400) // 10
        >>> model = billboard.MultiTaskRegressor(
        ...     epsilon=1, bounds=billboard.Bounds(others=1, target=2), ledger=ledger)
        >>> model = model.fit(X, X[:, 0], groups=group)
        >>> ledger.read().tasks
        40
        """
        return Answer(asked_watching("billboard_ledger", os.fsencode(self.path)))

    def also_tasks(self, tasks: int) -> None:
        """Lets fits of so many tasks be charged, too: of the same tasks with some more or fewer,
        each still what it was.

        Parameters
        ----------
        tasks : int
            How many those fits have, at least one; ``-tasks`` takes that back.

        Examples
        --------
        >>> import numpy as np, billboard, os, tempfile
        >>> ledger = billboard.Ledger(os.path.join(tempfile.mkdtemp(), "l"), epsilon=3, delta=3e-5)
        >>> X, group = np.random.default_rng(0).uniform(-1, 1, (410, 2)), np.arange(410) // 10
        >>> model = billboard.MultiTaskRegressor(
        ...     epsilon=1, bounds=billboard.Bounds(others=1, target=2), ledger=ledger)
        >>> model = model.fit(X[:400], X[:400, 0], groups=group[:400])
        >>> ledger.also_tasks(410)  # a typing mistake
        >>> ledger.also_tasks(-410)
        >>> ledger.also_tasks(41)
        >>> model = model.fit(X, X[:, 0], groups=group)
        >>> ledger.spent()
        (2.0, 2e-05)
        """
        call("billboard_ledger_not_tasks" if tasks < 0 else "billboard_ledger_tasks",
             os.fsencode(self.path), abs(tasks), None)

    def _is_there(self) -> bool:
        return os.path.exists(self.path) and os.path.getsize(self.path) > 0

    def _amount(self, which: str) -> Tuple[Optional[float], Optional[float]]:
        if not self._is_there():
            none_yet = (0.0, 0.0) if which == "spent" else (self.epsilon, self.delta)
            return tuple(None if v is None else float(v) for v in none_yet)  # type: ignore
        amount = self.read()[which]
        return amount.get("epsilon"), amount.get("delta")

    def spent(self) -> Tuple[Optional[float], Optional[float]]:
        """(epsilon, delta) that all fits have cost so far.

        Examples
        --------
        >>> import numpy as np, billboard, os, tempfile
        >>> ledger = billboard.Ledger(os.path.join(tempfile.mkdtemp(), "l"), epsilon=3, delta=3e-5)
        >>> X, group = np.random.default_rng(0).uniform(-1, 1, (400, 2)), np.arange(400) // 10
        >>> model = billboard.MultiTaskRegressor(
        ...     epsilon=1, bounds=billboard.Bounds(others=1, target=2), ledger=ledger)
        >>> model = model.fit(X, X[:, 0], groups=group)
        >>> ledger.spent()
        (1.0, 1e-05)
        """
        return self._amount("spent")

    def left(self) -> Tuple[Optional[float], Optional[float]]:
        """(epsilon, delta) that are left; None of a ledger that adds up something else, of which
        `read` says how much.

        Examples
        --------
        >>> import billboard, os, tempfile
        >>> ledger = billboard.Ledger(os.path.join(tempfile.mkdtemp(), "l"), epsilon=3, delta=3e-5)
        >>> ledger.left()
        (3.0, 3e-05)
        """
        return self._amount("left")

    def to_frame(self) -> Any:
        """The entries: a ``pandas.DataFrame``, or a list of dicts where there is no pandas.

        Examples
        --------
        >>> import numpy as np, billboard, os, tempfile
        >>> ledger = billboard.Ledger(os.path.join(tempfile.mkdtemp(), "l"), epsilon=3, delta=3e-5)
        >>> X, group = np.random.default_rng(0).uniform(-1, 1, (400, 2)), np.arange(400) // 10
        >>> model = billboard.MultiTaskRegressor(
        ...     epsilon=1, bounds=billboard.Bounds(others=1, target=2), ledger=ledger)
        >>> model = model.fit(X, X[:, 0], groups=group)
        >>> len(ledger.to_frame())
        1
        """
        return frame(self.read()["entries"] if self._is_there() else [], _COLUMNS)

    def __str__(self) -> str:
        if not self._is_there():
            return f"ledger {self.path}: no fit was charged yet"
        read = self.read()
        said = [f"ledger {self.path}: {read.population}, {counted(read.tasks, 'task')}, "
                f"{read.adjacency}, sampling: {read.sampling}, adds up by {read.kind}"]
        for which in ("budget", "spent", "left"):
            said.append(f"{which:8} " + ", ".join(f"{_SIGNS.get(name, name)} = {value:.6g}"
                                                  for name, value in read[which].items()))
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
