"""The library behind the package: finding it, calling it, its errors and its objects."""

import ctypes as c
import os
import re
from typing import TYPE_CHECKING, Any, Optional, Type, TypeVar

import numpy as np  # noqa: F401  (before the library: see _load)

from . import _abi
from .errors import BillboardError, BudgetError

if TYPE_CHECKING:
    from ._watching import Watching


# -- loading -------------------------------------------------------------------------------


def _is_mapped(name: str) -> bool:
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            return any(name in line for line in maps)
    except OSError:
        return True


def _load() -> c.CDLL:
    """libbillboard of this package, checked to be the one that it was made for. numpy is
    loaded before: if OpenBLAS is not, the one that comes along is Billboard's alone, and
    takes the kernels that the program would take. A wheel (scripts/wheel) has its own inside."""
    folder = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(folder, f"libbillboard.so.{_abi.ABI}")
    alone = os.path.isdir(folder + ".libs") or not _is_mapped("libopenblas.so")
    library = c.CDLL(path)
    for name, (result, given) in _abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, given
    found = library.billboard_abi()
    if found != _abi.ABI:
        raise ImportError(f"{path} has the binary interface {found}, expected {_abi.ABI}: "
                          "install billboard again")
    for struct, size in _abi.SIZES.items():
        if c.sizeof(struct) != size:
            raise ImportError(f"{struct.__name__} has {c.sizeof(struct)} bytes here, expected "
                              f"{size}: this platform is not one that billboard was made for")
    if alone:
        known = "OPENBLAS_CORETYPE" in os.environ
        library.billboard_own_process()
        if not known:
            os.unsetenv("OPENBLAS_CORETYPE")  # which child processes would inherit
    return library


_library = _load()


def version() -> str:
    text: bytes = _library.billboard_version()
    return text.decode()


# -- errors --------------------------------------------------------------------------------

# What the program's options are called here, where that is not their name with underscores.
_NAMES = {"scale": "bounds", "seed": "random_state", "set": "method_params",
          "threads": "n_jobs", "unknown": "unknown_groups",
          "no-intercept": "fit_intercept=False", "force": "replace=True",
          "budget-epsilon": "Ledger(epsilon=…)", "budget-delta": "Ledger(delta=…)",
          "population": "Ledger(population=…)"}


def own_words(text: str) -> str:
    """A message of the library with its options as Python has them."""
    def name(match: "re.Match[str]") -> str:
        return _NAMES.get(match[1], match[1].replace("-", "_"))
    text = text.replace("`billboard methods'", "billboard.methods()")
    text = re.sub(r"`billboard ledger \S.* --tasks (\d+)'", r"Ledger.also_tasks(\1)", text)
    return re.sub(r"(?<![\w-])--([a-z][a-z-]*[a-z])(?: (?:FILE|COLUMN|N|RUN)\b)?", name, text)


def _error(status: int, text: str) -> BaseException:
    if status == _abi.INTERRUPTED:
        return KeyboardInterrupt()
    return (BudgetError if status == _abi.BUDGET else BillboardError)(own_words(text))


def _last_error() -> str:
    text: bytes = _library.billboard_error()
    return text.decode("utf-8", "replace")


# -- objects of the library ----------------------------------------------------------------


class Handle:
    """Something that the library made and that is freed with this object."""

    free = ""
    watching: Optional["Watching"] = None  # what the object talks to as long as it lives
    identity: Optional["Handle"] = None  # what it signs with

    def __init__(self, pointer: Any) -> None:
        self.pointer = pointer

    def __del__(self, library: Any = _library) -> None:
        if self.free:
            getattr(library, self.free)(self.pointer)


class Data(Handle):
    free = "billboard_data_free"


class Job(Handle):
    free = "billboard_job_free"


class Result(Handle):
    free = "billboard_result_free"


class Predictions(Handle):
    free = "billboard_predictions_free"


H = TypeVar("H", bound=Handle)


def _argument(value: Any) -> Any:
    return value.pointer if isinstance(value, Handle) else value


def call(name: str, *arguments: Any) -> None:
    """A function that returns a status, on this thread."""
    status = getattr(_library, name)(*map(_argument, arguments))
    if status:
        raise _error(status, _last_error())


def make(kind: Type[H], name: str, *arguments: Any) -> H:
    """The same, where the last argument is what it makes."""
    pointer = c.c_void_p()
    call(name, *arguments, c.byref(pointer))
    return kind(pointer)


def ask(name: str, *arguments: Any) -> Any:
    """A function that returns no status."""
    return getattr(_library, name)(*map(_argument, arguments))
