"""What silos, curators and helpers of the library have in common."""

import ctypes as c
from typing import Any, Callable, Optional, Union

import numpy as np
from sklearn.base import clone

from . import _library
from ._data import Groups
from ._library import Handle, Result
from ._trained import Trained
from ._watching import Bar, Watching, on_thread
from .keys import Identity
from .roster import Roster, State


class _Place:
    """A silo, curator or helper of the library. One thread at a time may use it."""

    _kind = ""

    def __init__(self, estimator: Any, roster: Roster, identity: Optional[Identity],
                 number: int) -> None:
        self.roster = roster
        self._identity = None if identity is None else identity._open(roster, number)
        self._model = clone(estimator)
        self._model._validate_params()
        if getattr(self._model, "classes", 0) is None:
            self._model.set_params(classes=[0, 1])
        progress: Union[bool, Callable[[str, int, int], None]] = estimator.progress
        told = Bar() if progress is True else progress if callable(progress) else None
        self._watching = Watching(told)
        self._handle: Handle = Handle(None)

    def _open(self, kind: Any, name: str, *arguments: Any) -> None:
        """The library's object, whose functions are told to `_watching` until it is freed."""
        pointer = c.c_void_p()
        try:
            on_thread(self._watching, self._full(name), *arguments, c.byref(pointer))
        finally:
            self._handle = kind(pointer)
            self._handle.watching = self._watching  # which goes after it,
            self._handle.identity = self._identity  # and so does this
        self._watching.end()

    def _agreed(self) -> Any:
        """The roster, for the library."""
        return c.byref(self.roster._struct(self._identity))

    def _columns(self) -> None:
        """What the rows of others have."""
        model, features = self._model, self.roster.features
        if isinstance(features, int):
            model.n_features_in_ = features
        else:
            model.n_features_in_ = len(features)
            model.feature_names_in_ = np.array(features, dtype=object)
        if hasattr(model, "classes"):
            model.classes_ = model._told_classes()

    def _full(self, name: str) -> str:
        return f"billboard_experimental_{self._kind}_{name}"

    def _long(self, name: str, *arguments: Any) -> None:
        on_thread(self._watching, self._full(name), self._handle, *arguments)
        self._watching.end()

    def _bytes(self, name: str, *arguments: Any) -> Optional[bytes]:
        at, size = c.c_void_p(), c.c_size_t()
        _library.call(self._full(name), self._handle, *arguments, c.byref(at), c.byref(size))
        return c.string_at(at, size.value) if at else None

    def _result(self, groups: Groups) -> Any:
        pointer = c.c_void_p()
        on_thread(self._watching, self._full("result"), self._handle, c.byref(pointer))
        self._model._keep(Trained(Result(pointer)), groups)
        self._watching.end()
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


class _Speaker(_Place):
    """One that the curator asks."""

    def _work(self) -> None:
        """What a frame that was taken asks for."""

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
        """Takes the curator's frame, does what is asked for, and gives what is to be sent back,
        if anything: all steps in one, for transports that lose nothing.

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
        self._work()
        said = self.give()
        self.gave()
        return said

    def hello(self) -> None:
        """The next frame of `give` tells the curator that this place is there, and is to be given
        whatever it is due: after a connection was lost. One with an identity begins with it.

        Examples
        --------
        >>> import billboard
        >>> curator, silo = billboard.silo.example()
        >>> silo.hello()
        >>> curator.take(silo.give())
        """
        _library.call(self._full("hello"), self._handle)
