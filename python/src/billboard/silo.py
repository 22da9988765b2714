"""One run in several places, each with its own rows, over a transport of your own.

A `Silo` has the rows of some groups, trains their models and keeps them; what leaves it are sums
over its groups of what the method shows, clipped. A `Curator` has no rows: it adds the sums up,
adds the noise, publishes, and charges the ledger. Both make and take *frames*, which are bytes,
and open no connection: carrying them, over pipes, HTTPS, MPI or a federated framework, is your
program's part. The same estimator, rows and seed give the models of one fit with all rows in one
place, to the bit. The curator is trusted with the sums before the noise.

Experimental: it may change in any version. Use one version of Billboard in all places.

>>> import numpy as np, billboard
>>> from billboard.silo import Curator, Policy, Roster, Silo
>>> rng = np.random.default_rng(0)
>>> X, ward = rng.uniform(-.5, .5, (400, 2)), np.repeat(np.arange(40), 10)
>>> y, half = 0.5 * X[:, 0], ward % 2
>>> agreed = billboard.MultiTaskRegressor("fedprox", epsilon=2)
>>> roster = Roster(range(40), features=2, silos=2)
>>> curator = Curator(agreed, roster)
>>> silos = {n: Silo(agreed, roster, n, X[half == n - 1], y[half == n - 1],
...                  ward[half == n - 1], policy=Policy(most_epsilon=2)) for n in (1, 2)}
>>> while not curator.done:
...     for number, frame in curator.frames():
...         answer = silos[number].answer(frame)
...         if answer is not None:
...             curator.take(answer)
...     curator.advance()
>>> silos[1].result().groups_.tolist()[:3]
[0, 2, 4]
>>> curator.result().privacy_
Privacy(ε = 2 at δ = 1e-05, replace-one, sampling all)
"""

import ctypes as c
import enum
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np
from sklearn.base import clone

from . import _abi, _library
from ._data import Groups
from ._library import Bar, Handle, Result, Watching

__all__ = ["Curator", "Policy", "Roster", "Silo", "State"]


class State(enum.Enum):
    """What a silo or curator waits for."""

    WAITS = 0      #: frames are to be taken or given
    WORK = 1       #: a silo: call `work`
    COMPLETE = 2   #: a curator: all have answered, call `close_round`
    PUBLISHED = 3  #: a curator: a round is public, call `go_on`
    DONE = 4       #: call `result`
    FAILED = 5     #: it cannot go on, or the run was ended


def _texts(names: Sequence[str]) -> Any:
    return (c.c_char_p * len(names))(*[name.encode() for name in names])


class Roster:
    """What all places have agreed on: public, and the same everywhere.

    Parameters
    ----------
    groups : sequence
        All groups of the run, of all silos, in any order, none twice. Who takes part is public:
        take pseudonyms. Their number is what the noise and delta are chosen for.
    features : int or sequence of str
        How many columns there are, or their names, in order.
    silos : int
        How many there are: they are numbered 1, 2, …
    fewest_silos : int, default=0
        That must join, and answer in every round; 0: all. One that does not answer has shown
        zeros.
    clusters : sequence of int, optional
        The public cluster of each group, from 0, for methods that need them.
    """

    def __init__(self, groups: Iterable[Any], *, features: Union[int, Sequence[str]], silos: int,
                 fewest_silos: int = 0, clusters: Optional[Sequence[int]] = None) -> None:
        labels = list(groups)
        self.groups = Groups(labels, np.arange(len(labels), dtype=np.intp))
        self.features = features if isinstance(features, int) else [str(f) for f in features]
        self.silos, self.fewest_silos = silos, fewest_silos
        self.clusters = None if clusters is None else [int(k) for k in clusters]
        if self.clusters is not None and len(self.clusters) != len(labels):
            raise ValueError(f"clusters should have one for each of {len(labels)} groups, got "
                             f"{len(self.clusters)}")

    def __repr__(self) -> str:
        return (f"Roster({len(self.groups.labels)} groups, features={self.features!r}, "
                f"silos={self.silos})")

    def struct(self) -> Any:
        """For the library."""
        names = None if isinstance(self.features, int) else _texts(self.features)
        made = _abi.billboard_experimental_roster(
            struct_size=c.sizeof(_abi.billboard_experimental_roster),
            tasks=len(self.groups.names), task_name=_texts(self.groups.names),
            features=self.features if names is None else len(names), silos=self.silos,
            fewest_silos=self.fewest_silos)
        if names is not None:
            made.feature_name = names
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
    allow_open : bool, default=False
        Also runs without noise, or with `random_state`: for tests, with rows that may be seen.
    """

    def __init__(self, *, most_epsilon: float = 0, most_delta: float = 0, fewest_groups: int = 0,
                 fewest_silos: int = 0, methods: Optional[Sequence[str]] = None,
                 allow_open: bool = False) -> None:
        self.most_epsilon, self.most_delta = most_epsilon, most_delta
        self.fewest_groups, self.fewest_silos = fewest_groups, fewest_silos
        self.methods = None if methods is None else list(methods)
        self.allow_open = allow_open

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in vars(self).items() if value]
        return f"Policy({', '.join(given)})"

    def struct(self) -> Any:
        """For the library."""
        return _abi.billboard_experimental_policy(
            struct_size=c.sizeof(_abi.billboard_experimental_policy),
            most_epsilon=self.most_epsilon, most_delta=self.most_delta,
            fewest_tasks=self.fewest_groups, fewest_silos=self.fewest_silos,
            methods=None if self.methods is None else ",".join(self.methods).encode(),
            allow_open=int(self.allow_open))


class _Silo(Handle):
    free = "billboard_experimental_silo_free"


class _Curator(Handle):
    free = "billboard_experimental_curator_free"


class _Place:
    """A silo or curator of the library. One thread at a time may use it."""

    _kind = ""

    def __init__(self, estimator: Any, roster: Roster) -> None:
        self.roster = roster
        self._model = clone(estimator)
        if getattr(self._model, "classes", 0) is None:
            self._model.set_params(classes=[0, 1])
        progress: Union[bool, Callable[[str, int, int], None]] = estimator.progress
        told = Bar() if progress is True else progress if callable(progress) else None
        self._watching = Watching(told)
        self._handle: Handle = Handle(None)

    def _open(self, kind: Any, name: str, *arguments: Any) -> None:
        """The library's object, whose functions are told to `_watching` until it is freed."""
        pointer = c.c_void_p()
        _library.on_thread(self._watching, self._full(name), *arguments, c.byref(pointer))
        self._handle = kind(pointer)
        self._handle.watching = self._watching  # which goes after it

    def _full(self, name: str) -> str:
        return f"billboard_experimental_{self._kind}_{name}"

    def _long(self, name: str, *arguments: Any) -> None:
        _library.on_thread(self._watching, self._full(name), self._handle, *arguments)

    def _bytes(self, name: str, *arguments: Any) -> Optional[bytes]:
        at, size = c.c_void_p(), c.c_size_t()
        _library.call(self._full(name), self._handle, *arguments, c.byref(at), c.byref(size))
        return c.string_at(at, size.value) if at else None

    def _result(self, groups: Groups) -> Any:
        pointer = c.c_void_p()
        self._long("result", c.byref(pointer))
        self._model._keep(Result(pointer), groups)
        return self._model

    @property
    def state(self) -> State:
        """What it waits for."""
        return State(_library.ask(self._full("state"), self._handle))

    @property
    def done(self) -> bool:
        """The result is there."""
        return self.state is State.DONE

    def take(self, frame: bytes) -> None:
        """Takes a frame of the other side. One that comes twice or late changes nothing; one
        that is damaged, of another run, or out of order is refused, and nothing changes.

        Parameters
        ----------
        frame : bytes
            As the other side gave it.
        """
        self._long("take", frame, len(frame))


class Silo(_Place):
    """A place with rows.

    Parameters
    ----------
    estimator : MultiTaskRegressor or MultiTaskClassifier
        What all have agreed on, not fitted; its ledger is this silo's own, charged when it
        joins. Classifiers need `classes`, unless they are 0 and 1.
    roster : Roster
        The same everywhere.
    number : int
        Which of the roster's silos this is, from 1.
    X, y, groups
        The rows of this silo's groups, as in `fit`.
    policy : Policy, optional
        What it agrees to. Without one, only runs that are not private are refused.
    """

    _kind = "silo"

    def __init__(self, estimator: Any, roster: Roster, number: int, X: Any, y: Any,
                 groups: Any = None, *, policy: Optional[Policy] = None) -> None:
        super().__init__(estimator, roster)
        data, self._groups = self._model._data(X, y, groups)
        names = self._model._names()
        if names is not None and names != roster.features:
            raise ValueError("The feature names should match those of the roster, in its order: "
                             f"expected {roster.features}, got {names}")
        agreed = None if policy is None else c.byref(policy.struct())
        self._open(_Silo, "open", self._model._job(), c.byref(roster.struct()), number, data,
                   agreed, c.byref(self._watching.watch))

    def work(self) -> None:
        """Trains for a round, or finishes: the only function that looks at rows."""
        self._long("work")

    def give(self) -> Optional[bytes]:
        """The frame for the curator, if there is one: again and again, until `gave`."""
        return self._bytes("give")

    def gave(self) -> None:
        """The frame has left."""
        _library.ask(self._full("gave"), self._handle)

    def answer(self, frame: bytes) -> Optional[bytes]:
        """Takes the curator's frame, works if that is asked for, and gives what is to be
        sent back, if anything: `take`, `work`, `give` and `gave` in one, for transports that
        lose nothing.

        Parameters
        ----------
        frame : bytes
            The curator's.
        """
        self.take(frame)
        if self.state is State.WORK:
            self.work()
        said = self.give()
        self.gave()
        return said

    def save(self) -> bytes:
        """All that another process needs to go on: PRIVATE. Store it before sending what
        `give` gave."""
        return self._bytes("save") or b""

    def restore(self, saved: bytes) -> None:
        """Goes on from there, in a silo that was just made with the same arguments.

        Parameters
        ----------
        saved : bytes
            What `save` returned.
        """
        self._long("restore", saved, len(saved))

    def result(self) -> Any:
        """The estimator, fitted, with the models of this silo's groups: private data. Once."""
        return self._result(self._groups)


class Curator(_Place):
    """The place with noise and ledger, and without rows.

    Parameters
    ----------
    estimator : MultiTaskRegressor or MultiTaskClassifier
        What all have agreed on, not fitted; its ledger is the population's.
    roster : Roster
        The same everywhere.
    saved : bytes, optional
        What `save` returned in another process: goes on from there, charging nothing again.
        Go on from the newest only, and tell `again` for silos whose frames were under way.
    """

    _kind = "curator"

    def __init__(self, estimator: Any, roster: Roster, *, saved: Optional[bytes] = None) -> None:
        super().__init__(estimator, roster)
        model = self._model
        if isinstance(roster.features, int):
            model.n_features_in_ = roster.features
        else:
            model.n_features_in_ = len(roster.features)
            model.feature_names_in_ = np.array(roster.features, dtype=object)
        if hasattr(model, "classes"):
            model.classes_ = np.unique(np.asarray(model.classes))
        given: List[Any] = [model._job(), c.byref(roster.struct()),
                            c.byref(self._watching.watch)]
        if saved is None:
            self._open(_Curator, "open", *given)
        else:
            self._open(_Curator, "restore", *given, saved, len(saved))

    def close_round(self) -> None:
        """In state COMPLETE, or, with ``roster.fewest_silos``, when waited long enough: ends
        the joining and charges the ledger, the first time; adds the noise and publishes,
        later."""
        self._long("close_round")

    def go_on(self) -> None:
        """In state PUBLISHED: to the next round, or the end. Whoever wants to survive a crash
        stores `save` before anybody learns of the round."""
        self._long("go_on")

    def advance(self) -> None:
        """`close_round` or `go_on`, whichever the state asks for; else nothing."""
        if self.state is State.COMPLETE:
            self.close_round()
        elif self.state is State.PUBLISHED:
            self.go_on()

    def give(self, silo: int) -> Optional[bytes]:
        """The next frame for a silo, if there is one that it was not given.

        Parameters
        ----------
        silo : int
            Its number.
        """
        return self._bytes("give", silo)

    def frames(self) -> Iterator[Tuple[int, bytes]]:
        """All frames that silos are due, each with the silo's number."""
        for silo in range(1, self.roster.silos + 1):
            frame = self.give(silo)
            while frame is not None:
                yield silo, frame
                frame = self.give(silo)

    def again(self, silo: int) -> None:
        """A frame was lost, or the silo was restored: gives again whatever it needs.

        Parameters
        ----------
        silo : int
            Its number.
        """
        _library.ask(self._full("again"), self._handle, silo)

    def stop(self) -> None:
        """Ends the run before its end: there is a frame for every silo that says why. What was
        charged stays charged."""
        _library.ask(self._full("stop"), self._handle, _abi.INTERRUPTED)

    def save(self) -> bytes:
        """All that another process needs to go on: public bytes."""
        return self._bytes("save") or b""

    def result(self) -> Any:
        """The estimator with what is public of the run: `privacy_`, `shared_` where the method
        has one, `report_`; no group's model. Once."""
        return self._result(Groups([], np.zeros(0, dtype=np.intp)))
