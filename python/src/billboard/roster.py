"""What the places of one run have agreed on, and what each agrees to."""

import ctypes as c
import enum
from typing import Any, Iterable, Optional, Sequence, Union

import numpy as np

from . import _abi
from ._answers import counted
from ._data import Groups, texts_of

__all__ = ["Policy", "Roster", "State"]


class State(enum.Enum):
    """What a silo or curator waits for.

    Examples
    --------
    >>> from billboard.silo import State
    >>> State.DONE.name
    'DONE'
    """

    WAITS = 0      #: frames are to be taken or given
    WORK = 1       #: a silo: call `work`
    COMPLETE = 2   #: a curator: all have answered, call `advance`
    PUBLISHED = 3  #: a curator: a round is public, call `advance`
    DONE = 4       #: call `result`
    FAILED = 5     #: it cannot go on, or the run was ended


def _joined(names: Optional[Sequence[str]]) -> Optional[bytes]:
    return None if names is None else ",".join(names).encode()


class Roster:
    """What all places have agreed on: public, and the same everywhere.

    Parameters
    ----------
    groups : sequence
        All groups of the run, of all silos, in any order, none twice. Who takes part is public:
        take pseudonyms. Their number is what the noise and delta are chosen for.
    features : int or sequence of str
        How many columns there are, or their names, in order.
    silos : int or sequence of str
        How many there are, or their names: they are numbered 1, 2, … in this order. Whoever has an
        `Identity` needs names.
    fewest_silos : int, default=0
        That must join, and answer in every round; 0: all. One that does not answer has shown
        zeros.
    clusters : sequence of int, optional
        The public cluster of each group, from 0, for methods that need them.
    target : str, optional
        What the plan of places that run the program calls the target (``"target"`` among its
        options), if it does: places that name another one do not go together.

    Examples
    --------
    >>> from billboard.silo import Roster
    >>> Roster(["a", "b", "c"], features=["gcse", "girl"], silos=2)
    Roster(3 groups, features=['gcse', 'girl'], silos=2)
    """

    def __init__(self, groups: Iterable[Any], *, features: Union[int, Sequence[str]],
                 silos: Union[int, Sequence[str]], fewest_silos: int = 0,
                 clusters: Optional[Sequence[int]] = None,
                 target: Optional[str] = None) -> None:
        labels = list(groups)
        self.groups = Groups(labels, np.arange(len(labels), dtype=np.intp))
        self.features = features if isinstance(features, int) else [str(f) for f in features]
        self.names = None if isinstance(silos, int) else [str(name) for name in silos]
        self.silos = silos if isinstance(silos, int) else len(silos)
        self.fewest_silos = fewest_silos
        self.target = target
        self.clusters = None if clusters is None else [int(k) for k in clusters]
        if self.clusters is not None and len(self.clusters) != len(labels):
            raise ValueError(f"clusters should have one for each of {len(labels)} groups, got "
                             f"{len(self.clusters)}")

    def __repr__(self) -> str:
        return (f"Roster({counted(len(self.groups.labels), 'group')}, features={self.features!r}, "
                f"silos={self.silos})")

    def _struct(self, identity: Any = None) -> Any:
        """For the library, with what signs at this place."""
        names = None if isinstance(self.features, int) else texts_of(self.features)
        made = _abi.billboard_experimental_roster(
            struct_size=c.sizeof(_abi.billboard_experimental_roster),
            tasks=len(self.groups.names), task_name=texts_of(self.groups.names),
            features=self.features if names is None else len(names), silos=self.silos,
            fewest_silos=self.fewest_silos)
        if names is not None:
            made.feature_name = names
        if self.target is not None:
            made.target_name = self.target.encode()
        if identity is not None:
            made.identity = identity.pointer
        if self.clusters is not None:
            made.cluster = (c.c_uint32 * len(self.clusters))(*self.clusters)
        return made


class Policy:
    """What a silo agrees to, whoever asks; it is checked before a row is looked at.

    Parameters
    ----------
    most_epsilon, most_delta : float, optional
        Of one run; for several give the estimator of this place a ledger.
    fewest_groups, fewest_silos : int, optional
        Of the run.
    methods : sequence of str, optional
        That may share something.
    adjacencies : sequence of str, optional
        That the run may have: "replace-one", "add-remove".
    allow_open : bool, default=False
        Also runs without noise, or with `random_state`: for tests, with rows that may be seen.
    curators : sequence of str, optional
        Public keys of those that may ask: runs that are not signed are refused then.
    helpers : sequence of str, optional
        Public keys: runs must have two doors, and one of these keeps the second.

    Examples
    --------
    >>> from billboard.silo import Policy
    >>> Policy(most_epsilon=2, methods=["mp-mixed", "fedavg"])
    Policy(most_epsilon=2, methods=['mp-mixed', 'fedavg'])
    """

    def __init__(self, *, most_epsilon: float = 0, most_delta: float = 0, fewest_groups: int = 0,
                 fewest_silos: int = 0, methods: Optional[Sequence[str]] = None,
                 adjacencies: Optional[Sequence[str]] = None, allow_open: bool = False,
                 curators: Optional[Sequence[str]] = None,
                 helpers: Optional[Sequence[str]] = None) -> None:
        self.most_epsilon, self.most_delta = most_epsilon, most_delta
        self.fewest_groups, self.fewest_silos = fewest_groups, fewest_silos
        self.methods = None if methods is None else list(methods)
        self.adjacencies = None if adjacencies is None else list(adjacencies)
        self.allow_open = allow_open
        self.curators = None if curators is None else list(curators)
        self.helpers = None if helpers is None else list(helpers)

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in vars(self).items() if value]
        return f"Policy({', '.join(given)})"

    def _struct(self) -> Any:
        """For the library."""
        return _abi.billboard_experimental_policy(
            struct_size=c.sizeof(_abi.billboard_experimental_policy),
            most_epsilon=self.most_epsilon, most_delta=self.most_delta,
            fewest_tasks=self.fewest_groups, fewest_silos=self.fewest_silos,
            methods=_joined(self.methods), adjacencies=_joined(self.adjacencies),
            allow_open=int(self.allow_open), curators=_joined(self.curators),
            helpers=_joined(self.helpers))
