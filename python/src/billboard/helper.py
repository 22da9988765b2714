"""The second of two doors."""

import ctypes as c
import os
from typing import Any, Optional, Union

from . import _library
from ._library import Handle
from ._place import _Speaker
from .keys import Identity
from .roster import Roster

__all__ = ["Helper"]


class _Helper(Handle):
    free = "billboard_experimental_helper_free"


class Helper(_Speaker):
    """Keeps the second of two doors, so that nobody need trust the curator alone: it has no rows,
    sees no sum without the curator's noise, and adds as much of its own. It must be somebody else
    than the curator, and the two must not conspire. The estimators of all places have
    ``options={"doors": 2}``.

    Parameters
    ----------
    estimator : MultiTaskRegressor or MultiTaskClassifier
        What all have agreed on, not fitted; its ledger is the helper's own, charged with
        the first round.
    roster : Roster
        The same everywhere, with the silos' names.
    identity : Identity
        Its key. The roster of keys names it, and silos' policies should.
    checkpoint : str or path, optional
        A PRIVATE file, with which it goes on after its process was killed: without it the run could
        not, since a helper that could answer a round twice is not taken. `answer` keeps it.

    Examples
    --------
    >>> import billboard
    >>> curator, silo, helper = billboard.silo.example_of_two_doors()
    >>> helper.state
    <State.WAITS: 0>
    """

    _kind = "helper"

    def __init__(self, estimator: Any, roster: Roster, *, identity: Identity,
                 checkpoint: Optional[Union[str, "os.PathLike[str]"]] = None) -> None:
        super().__init__(estimator, roster, identity, roster.silos + 1)
        self._columns()
        self._kept = checkpoint is not None
        if checkpoint is not None:
            options = {**(self._model.options or {}), "checkpoint": os.fspath(checkpoint)}
            self._model.set_params(options=options)
        self._open(_Helper, "open", self._model._job(), self._agreed(),
                   c.byref(self._watching.watch))
        self._keep()  # this run's key, before anybody hears of it

    def _keep(self) -> None:
        if self._kept:
            self.keep()

    def _work(self) -> None:
        """What it answers is kept before it leaves."""
        self._keep()

    @property
    def rounds(self) -> int:
        """How many rounds it has answered, each once.

        Examples
        --------
        >>> import billboard
        >>> _, _, helper = billboard.silo.example_of_two_doors()
        >>> helper.rounds
        0
        """
        return int(_library.ask(self._full("rounds"), self._handle))

    def keep(self) -> None:
        """Writes the checkpoint: after `take` and before what `give` gives is sent. `answer` does.

        Examples
        --------
        >>> import billboard
        >>> _, _, helper = billboard.silo.example_of_two_doors()
        >>> helper.keep()
        Traceback (most recent call last):
        ...
        billboard.errors.BillboardError: this place has no file to be kept in: give the option checkpoint
        """
        _library.call(self._full("keep"), self._handle)

    def store(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the record of the run, when it is over: all that a helper has of it. Before
        `forget`.

        Parameters
        ----------
        path : str or path
            The directory to make, with ``operator/record.json`` alone.

        Examples
        --------
        >>> import billboard
        >>> _, _, helper = billboard.silo.example_of_two_doors()
        >>> helper.store("helper")
        Traceback (most recent call last):
        ...
        billboard.errors.BillboardError: the run is not at its end
        """
        _library.call(self._full("store"), self._handle, os.fsencode(path))

    def forget(self) -> None:
        """Removes the checkpoint, when the run is over.

        Examples
        --------
        >>> import billboard
        >>> _, _, helper = billboard.silo.example_of_two_doors()
        >>> helper.forget()
        """
        _library.ask(self._full("forget"), self._handle)
