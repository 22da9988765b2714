"""The library behind the package: finding it, calling it, its errors and its answers."""

import _thread
import ctypes as c
import json
import os
import re
import threading
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Type, TypeVar

import numpy as np

from . import _abi

Progress = Callable[[str, int, int], None]


class BillboardError(ValueError):
    """What was asked for makes no sense, or data are malformed; the message says what, where,
    and what was expected."""


class BudgetError(BillboardError):
    """The privacy budget does not allow it. Nothing was computed, and nothing published."""


class BillboardWarning(UserWarning):
    """Something about a fit that should be known, for whoever holds the data."""


class PrivacyWarning(BillboardWarning):
    """Something about a promise that should be known before it is relied on."""


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
          "no-intercept": "fit_intercept=False",
          "budget-epsilon": "Ledger(epsilon=…)", "budget-delta": "Ledger(delta=…)",
          "population": "Ledger(population=…)"}


def _own_words(text: str) -> str:
    """A message of the library with its options as Python has them."""
    def name(match: "re.Match[str]") -> str:
        return _NAMES.get(match[1], match[1].replace("-", "_"))
    text = text.replace("`billboard methods'", "billboard.methods()")
    return re.sub(r"(?<![\w-])--([a-z][a-z-]*[a-z])(?: (?:FILE|COLUMN|N|RUN)\b)?", name, text)


def _error(status: int, text: str) -> BaseException:
    if status == _abi.INTERRUPTED:
        return KeyboardInterrupt()
    return (BudgetError if status == _abi.BUDGET else BillboardError)(_own_words(text))


def _last_error() -> str:
    text: bytes = _library.billboard_error()
    return text.decode("utf-8", "replace")


# -- objects of the library ----------------------------------------------------------------


class Handle:
    """Something that the library made and that is freed with this object."""

    free = ""
    watching: Optional["Watching"] = None  # what the object talks to as long as it lives

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


class _Told(Handle):
    free = "billboard_answer_free"


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


class Watching:
    """Progress, warnings and the wish to stop, of calls on a thread of their own."""

    def __init__(self, progress: Optional[Progress]) -> None:
        self.stop = c.c_int(0)
        self.heard: List[str] = []
        self.raised: List[BaseException] = []
        self.watch = _abi.billboard_watch(struct_size=c.sizeof(_abi.billboard_watch),
                                          stop=c.pointer(self.stop))
        fields: Any = _abi.billboard_watch._fields_
        kinds = dict(fields)
        self.watch.warn = kinds["warn"](
            lambda _, text: self.heard.append(text.decode("utf-8", "replace")))
        if progress:
            self.watch.progress = kinds["progress"](
                lambda _, what, done, all: self._tell(progress, what.decode(), done, all))

    def _tell(self, progress: Progress, what: str, done: int, all: int) -> None:
        try:
            if not self.raised:
                progress(what, done, all)
        except BaseException as error:  # pylint: disable=broad-except
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        self.raised.append(error)
        self.stop.value = 1

    def warn(self) -> None:
        heard, self.heard[:] = list(self.heard), []
        for text in map(_own_words, heard):
            private = "private" in text or "ε" in text or "epsilon" in text
            warnings.warn(text, PrivacyWarning if private else BillboardWarning, stacklevel=6)


def on_thread(watching: Watching, name: str, *arguments: Any) -> None:
    """A function that takes long, on a thread of its own: Ctrl-C, which Python handles on the
    main one, can end it, and the threads that it starts are gone with it, so that the process
    may fork afterwards. Other threads of Python go on meanwhile. `watching` is the watch that
    the function, or its object, was given."""
    done = threading.Event()
    given = [_argument(a) for a in arguments]
    failure: List[BaseException] = []
    begin = [True]  # taken by the thread, or by what comes before it

    def work() -> None:
        try:
            begin.pop()
            status = getattr(_library, name)(*given)
            if status:
                failure.append(_error(status, _last_error()))
        except BaseException as error:  # pylint: disable=broad-except
            failure.append(error)
        finally:
            done.set()

    try:
        _thread.start_new_thread(work, ())
        done.wait()
    except BaseException as error:  # pylint: disable=broad-except
        watching.fail(error)
    while not (watching.raised and begin and begin.pop()) and not done.is_set():
        try:
            done.wait()
        except BaseException as error:  # pylint: disable=broad-except
            watching.fail(error)
    if watching.raised:
        watching.stop.value = 0
        raise watching.raised.pop(0)
    if failure:
        raise failure[0]
    watching.warn()


def run(kind: Type[H], name: str, *arguments: Any, watch: bool = True,
        progress: Optional[Progress] = None) -> H:
    """One whose last arguments are `watch`, if it has one, and what it makes."""
    watching, pointer = Watching(progress), c.c_void_p()
    given = [*arguments, c.byref(watching.watch)] if watch else list(arguments)
    try:
        on_thread(watching, name, *given, c.byref(pointer))
    except BaseException:
        if pointer:
            kind(pointer)  # made after all, and freed
        raise
    return kind(pointer)


# -- options and answers -------------------------------------------------------------------


def text_of(value: Any) -> Optional[bytes]:
    """An option's value as the program would have it."""
    if value is True:
        return b"true"
    if value is False:
        return b"false"
    if isinstance(value, (float, np.floating)):
        return repr(float(value)).encode()
    if isinstance(value, os.PathLike):
        return os.fsencode(value)
    if isinstance(value, (list, tuple)):
        return b",".join(text_of(v) or b"" for v in value)
    return str(value).encode()


def options(values: Mapping[str, Any]) -> Tuple[Any, int]:
    """As an array of billboard_option, without those that are None."""
    given = [(name.replace("_", "-").encode(), text_of(value))
             for name, value in values.items() if value is not None]
    array: Any = _abi.billboard_option * len(given)
    return array(*given), len(given)


class Answer(Mapping[str, Any]):
    """What the program says with ``--json``: names and values, also as attributes."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values: Dict[str, Any] = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        return self._values[name]

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._values]

    def __str__(self) -> str:
        return json.dumps(self._values, indent=2, ensure_ascii=False)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_text(str(self))


def html_text(text: str) -> str:
    """For notebooks."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<pre style="white-space: pre-wrap">{escaped}</pre>'


def answer_of(pointer: Any) -> Dict[str, Any]:
    """Of an answer that belongs to something else."""
    values: Dict[str, Any] = json.loads(ask("billboard_answer_json", pointer).decode())
    return values


def asked(name: str, *arguments: Any) -> Dict[str, Any]:
    """A quick function whose last argument is an answer."""
    told = make(_Told, name, *arguments)
    return answer_of(told.pointer)


def asked_watching(name: str, *arguments: Any, progress: Optional[Progress] = None
                   ) -> Dict[str, Any]:
    """One whose last arguments are watch and answer."""
    told = run(_Told, name, *arguments, progress=progress)
    return answer_of(told.pointer)


def asked_long(name: str, values: Mapping[str, Any],
               progress: Optional[Progress] = None) -> Dict[str, Any]:
    """A function of options, watch and answer."""
    return asked_watching(name, *options(values), progress=progress)


def promise(values: Mapping[str, Any]) -> str:
    """An epsilon with all that gives it a meaning."""
    return (f"ε = {values['epsilon']:.6g} at δ = {values['delta']:.6g}, "
            f"{values['adjacency']}, sampling {values['sampling']}")


def frame(rows: List[Dict[str, Any]]) -> Any:
    """A pandas.DataFrame where pandas is there, else the list."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


# -- progress ------------------------------------------------------------------------------


class Bar:
    """A bar of tqdm, or lines on stderr where there is none: begun anew for every stage."""

    def __init__(self) -> None:
        self.what, self.bar = "", None  # type: Tuple[str, Any]
        try:
            from tqdm.auto import tqdm
            self.tqdm = tqdm
        except ImportError:
            self.tqdm = None

    def __call__(self, what: str, done: int, all: int) -> None:
        if what != self.what:
            self.close()
            self.what = what
            if self.tqdm:
                self.bar = self.tqdm(total=all or None, desc=what, leave=False)
            else:
                os.write(2, f"billboard: {what}\n".encode())
        if self.bar is not None:
            self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        self.bar = None
