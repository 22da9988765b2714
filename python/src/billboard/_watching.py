"""Calls that take long: on threads of their own, with progress, warnings and an end on Ctrl-C."""

import _thread
import ctypes as c
import os
import threading
import warnings
from typing import Any, Callable, List, Optional, Tuple, Type

from . import _abi
from ._library import H, call, own_words
from .errors import BillboardWarning, PrivacyWarning

Progress = Callable[[str, int, int], None]


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
        for text in map(own_words, heard):
            private = "private" in text or "ε" in text or "epsilon" in text
            warnings.warn(text, PrivacyWarning if private else BillboardWarning, stacklevel=6)


def on_thread(watching: Watching, name: str, *arguments: Any) -> None:
    """A function that takes long, on a thread of its own: Ctrl-C, which Python handles on the
    main one, can end it, and the threads that it starts are gone with it, so that the process
    may fork afterwards. Other threads of Python go on meanwhile. `watching` is the watch that
    the function, or its object, was given."""
    done = threading.Event()
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
