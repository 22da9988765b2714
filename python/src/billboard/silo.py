"""One run in several places, each with its own rows, over a transport of your own.

A `Silo` has the rows of some groups, trains their models and keeps them; what leaves it are sums
over its groups of what the method shows, clipped. A `Curator` has no rows: it adds the sums up,
adds the noise, publishes, and charges the ledger. Both make and take *frames*, which are bytes,
and open no connection: carrying them, over pipes, HTTPS, MPI or a federated framework, is your
program's part. The same estimator, rows and seed give the models of one fit with all rows in one
place, to the bit. The curator is trusted with the sums before the noise; nobody need be with a `Helper`,
who keeps the second of two doors, and keys (`new_key`, `Identity`), by which all know each other.

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
import os
import tempfile
from typing import Any, Iterator, List, Optional, Tuple

import numpy as np

from . import _abi, _library
from ._data import Groups
from ._library import Handle
from ._place import _Place, _Speaker
from .helper import Helper
from .keys import Identity, new_key, read_key, sign_keys
from .regressor import MultiTaskRegressor
from .roster import Policy, Roster, State

__all__ = ["Curator", "Helper", "Identity", "Policy", "Roster", "Silo", "State", "example",
           "example_of_two_doors", "new_key", "read_key", "sign_keys"]


class _Silo(Handle):
    free = "billboard_experimental_silo_free"


class _Curator(Handle):
    free = "billboard_experimental_curator_free"


class Silo(_Speaker):
    """A place with rows.

    Parameters
    ----------
    estimator : MultiTaskRegressor or MultiTaskClassifier
        What all have agreed on, not fitted; its ledger is this silo's own, charged with the
        first round. Classifiers need `classes`, unless they are 0 and 1.
    roster : Roster
        The same everywhere.
    number : int
        Which of the roster's silos this is, from 1.
    X, y, groups
        The rows of this silo's groups, as in `fit`.
    policy : Policy, optional
        What it agrees to. Without one, only runs that are not private are refused.
    identity : Identity, optional
        Its key: frames are signed then, and only what others have signed is taken.

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
                 groups: Any = None, *, policy: Optional[Policy] = None,
                 identity: Optional[Identity] = None) -> None:
        super().__init__(estimator, roster, identity, number)
        data, self._groups = self._model._data(X, y, groups)
        self._model._truths = ()  # nobody has agreed on types of rows
        names = self._model._names()
        if names is not None and names != roster.features:
            raise ValueError("The feature names should match those of the roster, in its order: "
                             f"expected {roster.features}, got {names}")
        agreed = None if policy is None else c.byref(policy._struct())
        self._open(_Silo, "open", self._model._job(), self._agreed(), number, data, agreed,
                   c.byref(self._watching.watch))

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

    def _work(self) -> None:
        if self.state is State.WORK:
            self.work()

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
    identity : Identity, optional
        Its key, with which the roster of keys is signed.

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

    def __init__(self, estimator: Any, roster: Roster, *, saved: Optional[bytes] = None,
                 identity: Optional[Identity] = None) -> None:
        super().__init__(estimator, roster, identity, 0)
        self._columns()
        two_doors = str((self._model.options or {}).get("doors", 1)) == "2"
        self._places = roster.silos + two_doors  # the helper is carried as one more
        given: List[Any] = [self._model._job(), self._agreed(), c.byref(self._watching.watch)]
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
            Its number; one more than there are silos for the helper of two doors.

        Examples
        --------
        >>> import billboard
        >>> curator, _ = billboard.silo.example()
        >>> isinstance(curator.give(1), bytes), curator.give(1) is None
        (True, True)
        """
        return self._bytes("give", silo)

    def frames(self) -> Iterator[Tuple[int, bytes]]:
        """All frames that silos are due, each with the silo's number, and those for the helper.

        Examples
        --------
        >>> import billboard
        >>> curator, _ = billboard.silo.example()
        >>> [silo for silo, frame in curator.frames()]
        [1]
        """
        for silo in range(1, self._places + 1):
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


def example_of_two_doors() -> Tuple[Curator, Silo, Helper]:
    """The curator, the only silo and the helper of a small run with two doors, each with a key.
    Who signs begins: the curator has heard the silo and the helper already.

    Examples
    --------
    >>> import billboard
    >>> curator, silo, helper = billboard.silo.example_of_two_doors()
    >>> while not curator.done:
    ...     for number, frame in curator.frames():
    ...         answer = (silo if number == 1 else helper).answer(frame)
    ...         if answer is not None:
    ...             curator.take(answer)
    ...     curator.advance()
    >>> helper.rounds
    3
    """
    X, ward = np.random.default_rng(0).uniform(-.5, .5, (400, 2)), np.arange(400) // 10
    agreed = MultiTaskRegressor("fedprox", epsilon=2, rounds=3, options={"doors": 2})
    roster = Roster(range(40), features=2, silos=["north"])
    with tempfile.TemporaryDirectory() as folder:
        who = {name: os.path.join(folder, name) for name in ("curator", "north", "helper", "all")}
        public = {name: new_key(who[name]) for name in ("curator", "north", "helper")}
        sign_keys(who["all"], who["curator"], {"north": public["north"]}, helper=public["helper"])
        mine = {name: Identity(who[name], who["all"]) for name in public}
        curator = Curator(agreed, roster, identity=mine["curator"])
        silo = Silo(agreed, roster, 1, X, X[:, 0], ward, identity=mine["north"],
                    policy=Policy(curators=[public["curator"]], helpers=[public["helper"]]))
        helper = Helper(agreed, roster, identity=mine["helper"])
    for place in (silo, helper):
        hello = place.give()
        if hello is not None:
            curator.take(hello)
        place.gave()
    return curator, silo, helper
