"""What a fit promises, and what several cost together.

No number of this module means anything alone: an epsilon is said with its delta, its adjacency
and its sampling, always.
"""

import hashlib
import sys
import threading
import warnings
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

from sklearn.model_selection._search import BaseSearchCV

from ._answers import html_text, plain, promise
from ._library import own_words
from .errors import PrivacyWarning

__all__ = ["Privacy"]


class Privacy:
    """What a fit promises, and to whom: printed, it is the whole statement.

    Attributes
    ----------
    is_private : bool
        There is a promise, and it holds.
    epsilon, delta : float or None
        The first promise; None where there is none that holds. No epsilon means anything
        without delta, `adjacency` and `sampling`.
    exchanged : bool
        False: every group learned alone, and nothing was published, so that nothing was
        charged either.
    unit, adjacency, sampling, mechanism : str or None
        Whom the promise is about ("task" or "instance"), which populations it cannot tell
        apart, who took part in a round, and what made the noise.
    noise_multiplier : float or None
        The noise's standard deviation over the clip.
    statement : str
        All promises in words: show this.
    guarantees : list of dict
        All promises, and what is known of those that do not hold.

    Examples
    --------
    >>> import billboard
    >>> X, y, group = [[0.0], [1.0], [0.0], [1.0]], [0.0, 1.0, 5.0, 3.0], ["a", "a", "b", "b"]
    >>> privacy = billboard.MultiTaskRegressor().fit(X, y, groups=group).privacy_
    >>> privacy.is_private, privacy.epsilon  # without epsilon nothing was shared
    (False, None)
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.is_private: bool = bool(values["private"])
        self.exchanged: bool = bool(values["exchanged"])
        self.epsilon: Optional[float] = values["epsilon"]
        self.delta: Optional[float] = values["delta"]
        self.adjacency: Optional[str] = values["adjacency"]
        self.sampling: Optional[str] = values["sampling"]
        self.mechanism: Optional[str] = values["mechanism"]
        self.noise_multiplier: Optional[float] = values["noise_multiplier"]
        self.guarantees: List[Dict[str, Any]] = list(values["guarantees"])
        self.unit: Optional[str] = self.guarantees[0]["unit"] if self.guarantees else None
        self.statement: str = own_words(values["statement"])

    def __str__(self) -> str:
        return self.statement

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Privacy) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.statement)

    def __repr__(self) -> str:
        if not self.is_private or self.epsilon is None:
            return "Privacy(nothing is promised: print it)"
        if not self.exchanged:
            return "Privacy(nothing was exchanged, and nothing spent: print it)"
        return f"Privacy({promise(vars(self))})"

    def _repr_html_(self) -> str:
        return html_text(self.statement)


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


def count_fit(columns: Any, names: Sequence[str], promised: Mapping[str, Any]) -> None:
    """Warns of the sum where a private fit without a ledger is not the first on its tasks: at
    the 2nd, the 4th, the 8th, … `promised`: epsilon, delta, adjacency and sampling of this one.
    For a function that a user's caller calls."""
    fits, epsilon, delta = _spent.add(columns, names, promised["epsilon"], promised["delta"])
    if fits < 2 or fits & (fits - 1):
        return
    warnings.warn(
        f"{fits} private fits of tasks of these names, in this process, without a ledger: if "
        f"they are the same tasks, then together they cost up to ε = {epsilon:.6g} at "
        f"δ = {delta:.6g} ({promised['adjacency']}, sampling {promised['sampling']}), not "
        f"ε = {promised['epsilon']:.6g}. Give ledger=billboard.Ledger(…) to hold them to a budget.",
        PrivacyWarning, stacklevel=4)


def _callers() -> Iterator[Tuple[str, Dict[str, Any]]]:
    """The functions that have led here, and what they know."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        yield frame.f_code.co_name, frame.f_locals
        frame = frame.f_back


def is_chosen() -> bool:
    """This fit is the one that a search of scikit-learn ends with, of what was best."""
    for name, known in _callers():
        if name == "evaluate_candidates":
            return False
        if name == "fit" and isinstance(known.get("self"), BaseSearchCV):
            return True
    return False


def warn_of_search(estimator: Any) -> None:
    """Where scikit-learn clones a private estimator to fit it often: says what that costs."""
    found = next((known for name, known in _callers() if name == "evaluate_candidates"), {})
    if not {"n_candidates", "n_splits", "candidate_params"} <= set(found):
        return
    tried = [value for params in found["candidate_params"] for name, value in params.items()
             if name.split("__")[-1] == "epsilon"] or [estimator.epsilon]
    private = [value for value in tried if value is not None]
    if not private:
        return
    least, most = plain(min(private)), plain(max(private))
    epsilon = least if least == most else f"{least} to {most}"
    fits = found["n_candidates"] * found["n_splits"]
    delta = "its default" if estimator.delta is None else f"{estimator.delta:.6g}"
    counted = "The ledger refuses what exceeds its budget." if estimator.ledger is not None \
        else "Nothing holds the sum to a budget: give ledger=billboard.Ledger(…)."
    warnings.warn(
        f"this search fits a private estimator {fits} times ({found['n_candidates']} candidates "
        f"x {found['n_splits']} splits), and again with the best one: every fit costs its own "
        f"ε and δ (here ε = {epsilon}, δ = {delta}, {estimator.adjacency}, sampling "
        f"{estimator.sampling or 'all'}), and together {fits + 1} times that. {counted} What "
        "was chosen tells about the data, too, and no statement covers it.",
        PrivacyWarning, stacklevel=2)
