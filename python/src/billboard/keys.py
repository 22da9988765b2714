"""Keys of places (Ed25519), in files, and the roster of them, which the curator signs."""

import ctypes as c
import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from . import _library
from ._answers import asked
from ._library import Handle

if TYPE_CHECKING:
    from .roster import Roster

__all__ = ["Identity", "new_key", "read_key", "sign_keys"]

Path = Union[str, "os.PathLike[str]"]


class _Identity(Handle):
    free = "billboard_experimental_identity_free"


def _path(path: Path) -> bytes:
    return os.fsencode(path)


def new_key(path: Path) -> str:
    """Makes a key in a new file, which only its owner may read.

    Parameters
    ----------
    path : str or path
        Where there is no file yet. Its private half leaves the file for nobody.

    Returns
    -------
    str
        The public half, for all others: "ed25519:" and 64 hexadecimal digits.

    Examples
    --------
    >>> import os, tempfile
    >>> from billboard.silo import new_key
    >>> new_key(os.path.join(tempfile.mkdtemp(), "north.key"))[:8]
    'ed25519:'
    """
    return str(asked("billboard_experimental_identity_new", _path(path))["public"])


def read_key(path: Path) -> str:
    """The public half of a key that is there.

    Parameters
    ----------
    path : str or path
        Of `new_key`, or of ``billboard identity new``.

    Examples
    --------
    >>> import os, tempfile
    >>> from billboard.silo import new_key, read_key
    >>> path = os.path.join(tempfile.mkdtemp(), "north.key")
    >>> new_key(path) == read_key(path)
    True
    """
    return str(asked("billboard_experimental_identity_read", _path(path))["public"])


def sign_keys(path: Path, key: Path, silos: Mapping[str, str], *,
              helper: Optional[str] = None) -> None:
    """The curator writes down who is who, and signs it: the same file for all places.

    Parameters
    ----------
    path : str or path
        The file to write.
    key : str or path
        The curator's own.
    silos : mapping
        The public key of each silo, by its name.
    helper : str, optional
        That of whoever keeps the second of two doors.

    Examples
    --------
    >>> import os, tempfile
    >>> from billboard.silo import new_key, sign_keys
    >>> folder = tempfile.mkdtemp()
    >>> own = os.path.join(folder, "curator.key")
    >>> public = {who: new_key(os.path.join(folder, f"{who}.key"))
    ...           for who in ("curator", "north", "south", "helper")}
    >>> sign_keys(os.path.join(folder, "keys.json"), own, {
    ...     "north": public["north"], "south": public["south"]}, helper=public["helper"])
    """
    names = (c.c_char_p * len(silos))(*[name.encode() for name in silos])
    texts = (c.c_char_p * len(silos))(*[text.encode() for text in silos.values()])
    _library.call("billboard_experimental_keys_write", _path(path), _path(key),
                  None if helper is None else helper.encode(), len(silos), names, texts)


class Identity:
    """Who a place is: its own key, and the keys of all.

    Parameters
    ----------
    key : str or path
        Of `new_key`.
    keys : str or path
        Of `sign_keys`.

    Examples
    --------
    >>> from billboard.silo import Identity
    >>> Identity("north.key", "keys.json")  # files are read when a place is made
    Identity('north.key', 'keys.json')
    """

    def __init__(self, key: Path, keys: Path) -> None:
        self.key, self.keys = key, keys

    def __repr__(self) -> str:
        return f"Identity({os.fspath(self.key)!r}, {os.fspath(self.keys)!r})"

    def _open(self, roster: "Roster", number: int) -> Any:
        """For the library."""
        if roster.names is None:
            raise ValueError("identity: keys are known by the names of silos: give the roster "
                             "silos=['…', …] in place of their number")
        names = (c.c_char_p * roster.silos)(*[name.encode() for name in roster.names])
        return _library.make(_Identity, "billboard_experimental_identity_open", _path(self.key),
                             _path(self.keys), roster.silos, names, number)
