"""Billboard's own data files: written from arrays or other files, read without a copy."""

import ctypes as c
import json
import os
import struct
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np
from scipy import sparse

from . import _abi
from ._answers import Answer, asked, counted, options
from ._data import from_arrow, groups_of, names_of, rows_of
from ._library import Data, make
from .errors import BillboardError

__all__ = ["DataFile", "convert", "write_data"]

_MAGIC = b"\x89BBD\r\n\x1a\n"
_HEADER = struct.Struct("<8sI4xQQ")


def _converted(data: Sequence[Any], path: Any, values: Any) -> Answer:
    handles = (c.c_void_p * len(data))(*[one.pointer for one in data])
    given, count = options({"output": path, **values})
    return Answer(asked("billboard_convert", handles, len(data), given, count))


def convert(files: Union[str, "os.PathLike[str]", Sequence[Any]], path: Any,
            **how: Any) -> Answer:
    """Writes one or more files of any format to one of Billboard's own, as ``billboard convert``.

    Parameters
    ----------
    files : path or sequence of paths
        CSV, LIBSVM, NumPy, MATLAB, JSON, or Billboard's own.
    path : path
        What is written; a file that is there is replaced.
    **how : str, int, float or bool
        The options of ``billboard convert``, such as ``task="school"``, ``target="score"``.

    Returns
    -------
    Answer
        What the file holds: ``rows``, ``tasks``, ``features`` and its other numbers.

    Examples
    --------
    >>> import os, tempfile, billboard
    >>> folder = tempfile.TemporaryDirectory()
    >>> scores, made = (os.path.join(folder.name, n) for n in ("scores.csv", "scores.bb"))
    >>> with open(scores, "w") as file:
    ...     _ = file.write("school,hours,score\\nnorth,2,5\\nsouth,3,7\\nnorth,1,4\\n")
    >>> billboard.convert(scores, made, task="school", target="score").rows
    3
    >>> folder.cleanup()
    """
    names: List[Any] = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    return _converted([make(Data, "billboard_data_from_file", os.fsencode(name))
                       for name in names], path, how)


def write_data(path: Any, X: Any, y: Any = None, *, groups: Any,
               names: Optional[Sequence[str]] = None, float32: bool = False) -> Answer:
    """Writes arrays, or data frames, to a file of Billboard's own, grouped by task.

    Parameters
    ----------
    path : path
        What is written; a file that is there is replaced.
    X : array, sparse matrix or data frame of shape (rows, features)
        Features.
    y : array or series of shape (rows,), optional
        Targets. A series' name is kept, as the target's; else it is "y".
    groups : array of shape (rows,)
        The task of every row. What its column is called is nothing that the file has a place
        for.
    names : sequence of str, optional
        The features' names. The default is those of X's columns if all are texts; else they are
        "x1", "x2", ...
    float32 : bool, default=False
        Whether features are kept as 4 bytes, rounded, in place of 8.

    Returns
    -------
    Answer
        What the file holds: ``rows``, ``tasks``, ``features`` and its other numbers.

    Examples
    --------
    >>> import os, tempfile, billboard
    >>> folder = tempfile.TemporaryDirectory()
    >>> made = os.path.join(folder.name, "scores.bb")
    >>> billboard.write_data(made, [[2.0], [3.0], [1.0]], [5.0, 7.0, 4.0],
    ...                      groups=["north", "south", "north"]).tasks
    2
    >>> folder.cleanup()
    """
    X, target = from_arrow(X), getattr(y, "name", None)
    names = names_of(X) if names is None else names
    X = sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)
    y = y if y is None or sparse.issparse(y) else np.asarray(y)
    data = rows_of(X, groups_of(groups, X.shape[0]), y, names,
                   target if isinstance(target, str) and target else None)
    return _converted([data], path, {"float32": float32})


class DataFile:
    """A file of Billboard's own format: its arrays lie in the file and are not copied.

    `X` (dense, or CSR) has a row per example, `y` its targets (None without, or with lists of
    labels), `feature_names` and `target_name` what they are called, `tasks` the names; rows
    `first[i]` to `first[i + 1]` are task i's. Checksums are not looked at here: ``billboard info
    FILE`` does.

    Parameters
    ----------
    path : path
        What :func:`convert` or :func:`write_data` wrote.

    Examples
    --------
    >>> import os, tempfile, billboard
    >>> folder = tempfile.TemporaryDirectory()
    >>> made = os.path.join(folder.name, "scores.bb")
    >>> _ = billboard.write_data(made, [[2.0], [3.0], [1.0]], [5.0, 7.0, 4.0],
    ...                          groups=["north", "south", "north"])
    >>> file = billboard.DataFile(made)
    >>> file.tasks, file.X.shape
    (['north', 'south'], (3, 1))
    >>> folder.cleanup()
    """

    def __init__(self, path: Any) -> None:
        self.path = os.fspath(path)
        self._bytes = np.memmap(self.path, dtype=np.uint8, mode="r")
        about = self._read_footer()
        self.about = Answer(about)
        self.feature_names: List[str] = about["feature_name"]
        self.target_name: Optional[str] = about["target"]
        self.tasks: List[str] = [name.decode() for name in
                                 bytes(self._section("names", np.uint8)).split(b"\0")[:-1]]
        self.first: np.ndarray = self._section("first", "<u8")
        self.y: Optional[np.ndarray] = self._section("target", "<f8")
        self.X: Any = self._rows()

    def _read_footer(self) -> Any:
        if len(self._bytes) < 64 or bytes(self._bytes[:8]) != _MAGIC:
            raise BillboardError(f"{self.path}: the header: expected a file that `billboard "
                                 "convert' made")
        _, version, at, size = _HEADER.unpack(bytes(self._bytes[:32]))
        if version != 1:
            raise BillboardError(f"{self.path}: the header: expected version 1, found {version}")
        if at + size != len(self._bytes):
            raise BillboardError(f"{self.path}: the header: expected a file of {at + size} bytes, "
                                 f"found {len(self._bytes)}: it is cut off")
        return json.loads(bytes(self._bytes[at:at + size]))

    def _section(self, name: str, kind: Any) -> Any:
        where = self.about["sections"].get(name)
        if where is None:
            return None
        return self._bytes[where["at"]:where["at"] + where["bytes"]].view(kind)

    def _rows(self) -> Any:
        kind = "<f4" if self.about["type"] == "float32" else "<f8"
        shape: Tuple[int, int] = (self.about["rows"], self.about["features"])
        if not self.about["sparse"]:
            return self._section("x", kind).reshape(shape)
        empty = np.empty(0)
        value, column = self._section("value", kind), self._section("column", "<i4")
        start = self._section("entry_first", "<i8")
        return sparse.csr_matrix((empty if value is None else value,
                                  empty.astype("i4") if column is None else column, start),
                                 shape=shape, copy=False)

    def rows_of(self, task: str) -> slice:
        """The rows of a task.

        Parameters
        ----------
        task : str
            Its name.

        Returns
        -------
        slice
            Of the rows of `X` and `y`.

        Examples
        --------
        >>> import os, tempfile, billboard
        >>> folder = tempfile.TemporaryDirectory()
        >>> made = os.path.join(folder.name, "scores.bb")
        >>> _ = billboard.write_data(made, [[2.0], [3.0], [1.0]], [5.0, 7.0, 4.0],
        ...                          groups=["north", "south", "north"])
        >>> file = billboard.DataFile(made)
        >>> file.y[file.rows_of("north")].tolist()
        [5.0, 4.0]
        >>> folder.cleanup()
        """
        i = self.tasks.index(task)
        return slice(int(self.first[i]), int(self.first[i + 1]))

    def __repr__(self) -> str:
        return (f"DataFile({self.path!r}: {counted(len(self.tasks), 'task')}, "
                f"{counted(self.about['rows'], 'row')}, "
                f"{counted(self.about['features'], 'feature')})")
