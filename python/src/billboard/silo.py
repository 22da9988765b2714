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
from typing import Any, Callable, Iterator, List, Optional, Tuple, Union

import numpy as np
from sklearn.base import clone

from . import _abi, _library
from ._data import Groups
from ._library import Handle, Result
from ._trained import Trained
from ._watching import Bar, Watching, on_thread
from .regressor import MultiTaskRegressor
from .roster import Policy, Roster, State

__all__ = ["Curator", "Policy", "Roster", "Silo", "State", "example"]


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
        on_thread(self._watching, self._full(name), *arguments, c.byref(pointer))
        self._handle = kind(pointer)
        self._handle.watching = self._watching  # which goes after it

    def _full(self, name: str) -> str:
        return f"billboard_experimental_{self._kind}_{name}"

    def _long(self, name: str, *arguments: Any) -> None:
        on_thread(self._watching, self._full(name), self._handle, *arguments)

    def _bytes(self, name: str, *arguments: Any) -> Optional[bytes]:
        at, size = c.c_void_p(), c.c_size_t()
        _library.call(self._full(name), self._handle, *arguments, c.byref(at), c.byref(size))
        return c.string_at(at, size.value) if at else None

    def _result(self, groups: Groups) -> Any:
        pointer = c.c_void_p()
        self._long("result", c.byref(pointer))
        self._model._keep(Trained(Result(pointer)), groups)
        return self._model

    @property
    def state(self) -> State:
        """What it waits for.

        Examples
        --------
        >>> import billboard
        >>> curator, _ = billboard.silo.example()
        >>> curator.state
        <State.WAITS: 0>
        """
        return State(_library.ask(self._full("state"), self._handle))

    @property
    def done(self) -> bool:
        """The result is there.

        Examples
        --------
        >>> import billboard
        >>> curator, _ = billboard.silo.example()
        >>> curator.done
        False
        """
        return self.state is State.DONE

    def take(self, frame: bytes) -> None:
        """Takes a frame of the other side. One that comes twice or late changes nothing; one
        that is damaged, of another run, or out of order is refused, and nothing changes.

        Parameters
        ----------
        frame : bytes
            As the other side gave it.

        Examples
        --------
        >>> import billboard
        >>> curator, silo = billboard.silo.example()
        >>> silo.take(curator.give(1))
        >>> curator.take(silo.give())
        >>> curator.state
        <State.COMPLETE: 2>
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

    Examples
    --------
    >>> import numpy as np, billboard
    >>> from billboard.silo import Curator, Roster, Silo
    >>> X, ward = np.random.default_rng(0).uniform(-.5, .5, (400, 2)), np.arange(400) // 10
    >>> agreed = billboard.MultiTaskRegressor("fedprox", epsilon=2, rounds=3)
    >>> roster = Roster(range(40), features=2, silos=1)
    >>> curator, silo = Curator(agreed, roster), Silo(agreed, roster, 1, X, X[:, 0], ward)
    >>> silo.state
    <State.WAITS: 0>
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
        agreed = None if policy is None else c.byref(policy._struct())
        self._open(_Silo, "open", self._model._job(), c.byref(roster._struct()), number, data,
                   agreed, c.byref(self._watching.watch))

    def work(self) -> None:
        """Trains for a round, or finishes: the only function that looks at rows.

        Examples
        --------
        >>> import billboard
        >>> curator, silo = billboard.silo.example()
        >>> while silo.state.name != "WORK":
        ...     curator.take(silo.answer(curator.give(1)))
        ...     curator.advance()
        ...     curator.advance()
        ...     silo.take(curator.give(1))
        >>> silo.work()
        >>> silo.state
        <State.WAITS: 0>
        """
        self._long("work")

    def give(self) -> Optional[bytes]:
        """The frame for the curator, if there is one: again and again, until `gave`.

        Examples
        --------
        >>> import billboard
        >>> curator, silo = billboard.silo.example()
        >>> silo.give() is None  # before it was asked
        True
        >>> silo.take(curator.give(1))
        >>> silo.give() == silo.give()
        True
        """
        return self._bytes("give")

    def gave(self) -> None:
        """The frame has left.

        Examples
        --------
        >>> import billboard
        >>> curator, silo = billboard.silo.example()
        >>> silo.take(curator.give(1))
        >>> said = silo.give()
        >>> silo.gave()
        >>> silo.give() is None
        True
        """
        _library.ask(self._full("gave"), self._handle)

    def answer(self, frame: bytes) -> Optional[bytes]:
        """Takes the curator's frame, works if that is asked for, and gives what is to be
        sent back, if anything: `take`, `work`, `give` and `gave` in one, for transports that
        lose nothing.

        Parameters
        ----------
        frame : bytes
            The curator's.

        Examples
        --------
        >>> import billboard
        >>> curator, silo = billboard.silo.example()
        >>> curator.take(silo.answer(curator.give(1)))
        >>> silo.give() is None  # it was given
        True
        """
        self.take(frame)
        if self.state is State.WORK:
            self.work()
        said = self.give()
        self.gave()
        return said

    def save(self) -> bytes:
        """All that another process needs to go on: PRIVATE. Store it before sending what
        `give` gave.

        Examples
        --------
        >>> import billboard
        >>> curator, silo = billboard.silo.example()
        >>> silo.take(curator.give(1))
        >>> isinstance(silo.save(), bytes)
        True
        """
        return self._bytes("save") or b""

    def restore(self, saved: bytes) -> None:
        """Goes on from there, in a silo that was just made with the same arguments.

        Parameters
        ----------
        saved : bytes
            What `save` returned.

        Examples
        --------
        >>> import billboard
        >>> curator, silo = billboard.silo.example()
        >>> silo.take(curator.give(1))
        >>> _, other = billboard.silo.example()  # in another process, perhaps
        >>> other.restore(silo.save())
        >>> other.give() == silo.give()
        True
        """
        self._long("restore", saved, len(saved))

    def result(self) -> Any:
        """The estimator, fitted, with the models of this silo's groups: private data. Once.

        Examples
        --------
        >>> import billboard
        >>> _, silo = billboard.silo.example(done=True)
        >>> silo.result().coef_.shape
        (40, 2)
        """
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

    Examples
    --------
    >>> import billboard
    >>> from billboard.silo import Curator, Roster
    >>> agreed = billboard.MultiTaskRegressor("fedprox", epsilon=2, rounds=3)
    >>> curator = Curator(agreed, Roster(range(40), features=2, silos=1))
    >>> curator.state
    <State.WAITS: 0>
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
        given: List[Any] = [model._job(), c.byref(roster._struct()),
                            c.byref(self._watching.watch)]
        if saved is None:
            self._open(_Curator, "open", *given)
        else:
            self._open(_Curator, "restore", *given, saved, len(saved))

    def close_round(self) -> None:
        """With ``roster.fewest_silos``, when waited long enough, or when all have answered: ends
        the joining and charges the ledger, the first time; adds the noise and publishes, later.

        Examples
        --------
        >>> import billboard
        >>> curator, silo = billboard.silo.example()
        >>> curator.take(silo.answer(curator.give(1)))
        >>> curator.close_round()  # the joining is over
        """
        self._long("close_round")

    def advance(self) -> None:
        """In state COMPLETE: `close_round`. In state PUBLISHED: to the next round, or the end;
        whoever wants to survive a crash stores `save` before. Else nothing.

        Examples
        --------
        >>> import billboard
        >>> curator, silo = billboard.silo.example()
        >>> curator.take(silo.answer(curator.give(1)))
        >>> curator.advance()
        >>> curator.state
        <State.WAITS: 0>
        """
        if self.state is State.COMPLETE:
            self.close_round()
        elif self.state is State.PUBLISHED:
            self._long("go_on")

    def give(self, silo: int) -> Optional[bytes]:
        """The next frame for a silo, if there is one that it was not given.

        Parameters
        ----------
        silo : int
            Its number.

        Examples
        --------
        >>> import billboard
        >>> curator, _ = billboard.silo.example()
        >>> isinstance(curator.give(1), bytes), curator.give(1) is None
        (True, True)
        """
        return self._bytes("give", silo)

    def frames(self) -> Iterator[Tuple[int, bytes]]:
        """All frames that silos are due, each with the silo's number.

        Examples
        --------
        >>> import billboard
        >>> curator, _ = billboard.silo.example()
        >>> [silo for silo, frame in curator.frames()]
        [1]
        """
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

        Examples
        --------
        >>> import billboard
        >>> curator, _ = billboard.silo.example()
        >>> lost = curator.give(1)
        >>> curator.again(1)
        >>> curator.give(1) == lost
        True
        """
        _library.ask(self._full("again"), self._handle, silo)

    def stop(self) -> None:
        """Ends the run before its end: there is a frame for every silo that says why. What was
        charged stays charged.

        Examples
        --------
        >>> import billboard
        >>> curator, _ = billboard.silo.example()
        >>> curator.stop()
        >>> curator.state
        <State.FAILED: 5>
        """
        _library.ask(self._full("stop"), self._handle, _abi.INTERRUPTED)

    def save(self) -> bytes:
        """All that another process needs to go on: public bytes.

        Examples
        --------
        >>> import billboard
        >>> from billboard.silo import Curator, Roster
        >>> agreed = billboard.MultiTaskRegressor("fedprox", epsilon=2, rounds=3)
        >>> curator = Curator(agreed, Roster(range(40), features=2, silos=1))
        >>> again = Curator(agreed, curator.roster, saved=curator.save())
        >>> again.state
        <State.WAITS: 0>
        """
        return self._bytes("save") or b""

    def result(self) -> Any:
        """The estimator with what is public of the run: `privacy_`, `shared_` where the method
        has one, `report_`; no group's model. Once.

        Examples
        --------
        >>> import billboard
        >>> curator, _ = billboard.silo.example(done=True)
        >>> curator.result().privacy_
        Privacy(ε = 2 at δ = 1e-05, replace-one, sampling all)
        """
        return self._result(Groups([], np.zeros(0, dtype=np.intp)))


def example(done: bool = False) -> Tuple[Curator, Silo]:
    """The curator and the only silo of a small run with made-up rows, to try things with.

    Parameters
    ----------
    done : bool, default=False
        Carry all frames between them: the run is over then.

    Examples
    --------
    >>> import billboard
    >>> curator, silo = billboard.silo.example(done=True)
    >>> curator.done and silo.done
    True
    """
    X, ward = np.random.default_rng(0).uniform(-.5, .5, (400, 2)), np.arange(400) // 10
    agreed = MultiTaskRegressor("fedprox", epsilon=2, rounds=3)
    roster = Roster(range(40), features=2, silos=1)
    curator, silo = Curator(agreed, roster), Silo(agreed, roster, 1, X, X[:, 0], ward)
    while done and not curator.done:
        for _, frame in curator.frames():
            answer = silo.answer(frame)
            if answer is not None:
                curator.take(answer)
        curator.advance()
    return curator, silo
