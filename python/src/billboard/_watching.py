"""Calls that take long: on threads of their own, with progress, warnings and an end on Ctrl-C."""

import _thread
import ctypes as c
import os
import sys
import threading
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

from . import _abi
from ._library import H, call, own_words
from .errors import BillboardWarning, PrivacyWarning

Progress = Callable[[str, int, int], None]

# In seconds: _thread.interrupt_main, unlike a signal, wakes nobody who waits.
_GLANCE = 0.1


def _caller() -> Tuple[str, int, str, Dict[Any, Any]]:
    """Whom a warning is for, as `warnings.warn_explicit` has it: the first outside of the package.
    """
    frame: Any = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == "billboard":
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__", ""),
            frame.f_globals.setdefault("__warningregistry__", {}))


class Watching:
    """Progress, warnings and the wish to stop, of calls on a thread of their own."""

    def __init__(self, progress: Optional[Progress]) -> None:
        self.stop = c.c_int(0)
        self.where = _caller()
        self.doubts: List[BillboardWarning] = []
        self.raised: List[BaseException] = []
        self.watch = _abi.billboard_watch(struct_size=c.sizeof(_abi.billboard_watch),
                                          stop=c.pointer(self.stop))
        fields: Any = _abi.billboard_watch._fields_
        kinds = dict(fields)
        self.watch.warn = kinds["warn"](
            lambda _, text: self._warn(own_words(text.decode("utf-8", "replace"))))
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

    def _warn(self, text: str) -> None:
        """Where a filter makes it an error: a doubt about a promise comes before anything is
        charged and ends the call; what else there is to know is raised when the call is over."""
        private = "private" in text or "ε" in text or "epsilon" in text
        try:
            warnings.warn_explicit(text, PrivacyWarning if private else BillboardWarning,
                                   *self.where)
        except BillboardWarning as error:
            if private:
                self.fail(error)
            else:
                self.doubts.append(error)
        except BaseException as error:  # pylint: disable=broad-except
            self.fail(error)

    def end(self) -> None:
        """When what was made is kept."""
        if self.doubts:
            raise self.doubts[0]


def on_thread(watching: Watching, name: str, *arguments: Any) -> None:
    """A function that takes long, on a thread of its own: Ctrl-C, which Python handles on the
    main one, can end it, and the threads that it starts are gone with it, so that the process
    may fork afterwards. Other threads of Python go on meanwhile. `watching` is the watch that
    the function, or its object, was given."""
    done = threading.Event()
    watching.where, watching.doubts = _caller(), []
    failure: List[BaseException] = []
    begin = [True]  # taken by the thread, or by what comes before it

    def work() -> None:
        try:
            begin.pop()
            call(name, *arguments)
        except BaseException as error:  # pylint: disable=broad-except
            failure.append(error)
        finally:
            done.set()

    try:
        _thread.start_new_thread(work, ())
        done.wait(_GLANCE)
    except BaseException as error:  # pylint: disable=broad-except
        watching.fail(error)
    while not (watching.raised and begin and begin.pop()) and not done.is_set():
        try:
            done.wait(_GLANCE)
        except BaseException as error:  # pylint: disable=broad-except
            watching.fail(error)
    if watching.raised:
        watching.stop.value = 0
        raise watching.raised.pop(0)
    if failure:
        raise failure[0]


def run(kind: Type[H], name: str, *arguments: Any, watch: bool = True,
        progress: Optional[Progress] = None, keep: Optional[Callable[[H], None]] = None) -> H:
    """One whose last arguments are `watch`, if it has one, and what it makes, which `keep` is given
    before a warning is raised that is an error."""
    watching, pointer = Watching(progress), c.c_void_p()
    given = [*arguments, c.byref(watching.watch)] if watch else list(arguments)
    try:
        on_thread(watching, name, *given, c.byref(pointer))
    except BaseException:
        if pointer:
            kind(pointer)  # made after all, and freed
        raise
    made = kind(pointer)
    if keep:
        keep(made)
    watching.end()
    return made


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
