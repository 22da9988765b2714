"""What the library has trained, as Python has it."""

import json
import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _library
from ._answers import Answer
from ._library import Result
from .errors import BillboardError


class Report(Answer):
    """Everything that a fit found, as ``operator/run.json`` of a run directory has it; printed,
    what the program prints. It tells about private data: for whoever holds them all.

    Examples
    --------
    >>> import numpy as np, billboard
    >>> X, group = np.random.default_rng(0).uniform(-1, 1, (200, 2)), np.arange(200) // 10
    >>> model = billboard.MultiTaskRegressor("mtl-trace").fit(X, X[:, 0], groups=group)
    >>> model.report_.method
    'mtl-trace'
    """

    def __init__(self, values: Mapping[str, Any], text: str) -> None:
        super().__init__(values)
        self._text = _library.own_words(text)

    def __str__(self) -> str:
        return self._text


class SharedModel:
    """The model that all tasks share, which is public and good for tasks that were not there.

    Attributes
    ----------
    coef : array of shape (n_features,) or (n_classes, n_features)
    intercept : float, or array of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np, billboard
    >>> X, group = np.random.default_rng(0).uniform(-1, 1, (400, 2)), np.arange(400) // 10
    >>> model = billboard.MultiTaskRegressor(
    ...     "fedavg", epsilon=5, bounds=billboard.Bounds(others=1, target=2))
    >>> model = model.fit(X, X[:, 0], groups=group)
    >>> model.shared_.coef.shape
    (2,)
    """

    def __init__(self, coef: np.ndarray, intercept: Any) -> None:
        self.coef, self.intercept = coef, intercept

    def __repr__(self) -> str:
        return f"SharedModel(coef={self.coef!r}, intercept={self.intercept!r})"


class Trained:
    """A result of the library. It is pickled as the files of its run directory."""

    def __init__(self, result: Result, files: Optional[Dict[str, bytes]] = None) -> None:
        self.result, self.files = result, files

    def save(self, path: str, replace: bool = False) -> None:
        if self.files is None:
            _library.call("billboard_result_save", self.result, os.fsencode(path), int(replace))
            return
        path = os.path.abspath(path)
        if os.path.lexists(path) and not (replace and _is_run(path)):
            raise BillboardError(f"{path}: exists already" + (
                " and is not a run directory; replace=True does not replace it" if replace else
                "; choose another name, remove it, or replace a run directory with replace=True"))
        with tempfile.TemporaryDirectory(prefix=".billboard-", dir=os.path.dirname(path)) as beside:
            made, old = os.path.join(beside, "new"), os.path.join(beside, "old")
            self._write(made)
            if os.path.lexists(path):
                os.rename(path, old)
            os.rename(made, path)

    def _write(self, path: str) -> None:
        os.makedirs(path)
        for name, content in (self.files or {}).items():
            at = os.path.join(path, name)
            os.makedirs(os.path.dirname(at), exist_ok=True)
            with open(at, "wb") as file:
                file.write(content)

    def __reduce__(self) -> Tuple[Any, ...]:
        files = self.files
        if files is None:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "run")
                self.save(path)
                files = dict(_files_in(path))
        return trained_again, (files,)


def _is_run(path: str) -> bool:
    try:
        with open(os.path.join(path, "public", "options.json"), encoding="utf-8") as file:
            return bool(json.load(file)["program"] == "billboard")
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _files_in(path: str) -> List[Tuple[str, bytes]]:
    found = []
    for where, _, names in os.walk(path):
        for name in sorted(names):
            at = os.path.join(where, name)
            with open(at, "rb") as file:
                found.append((os.path.relpath(at, path), file.read()))
    return found


def trained_at(path: str) -> Trained:
    """Of a run directory, which may go away."""
    return Trained(_library.make(Result, "billboard_result_load", os.fsencode(path)),
                   dict(_files_in(path)))


def trained_again(files: Dict[str, bytes]) -> Trained:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run")
        Trained(Result(None), files)._write(path)
        return trained_at(path)


def array_of(pointer: Any, *shape: int) -> np.ndarray:
    """A copy of what the library points to."""
    if 0 in shape:
        return np.zeros(shape)
    return np.array(np.ctypeslib.as_array(pointer, shape))


def split(weight: np.ndarray, intercept: Any, names: List[str]) -> Tuple[np.ndarray, Any]:
    """(…, features, outputs) as scikit-learn has it: the constant column is the intercept,
    outputs come before features, and one output is none."""
    if names and names[-1] == "(intercept)":
        weight, intercept = weight[..., :-1, :], weight[..., -1, :]
    if intercept is None:
        intercept = np.zeros(weight.shape[:-2] + weight.shape[-1:])
    if weight.shape[-1] == 1:
        weight = weight[..., 0]
        intercept = np.reshape(intercept, weight.shape[:-1])
    else:
        weight = np.ascontiguousarray(np.swapaxes(weight, -1, -2))
    return weight, intercept
