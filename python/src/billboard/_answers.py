"""Options as the library takes them, and what it answers."""

import ctypes as c
import json
import os
from typing import Any, Dict, Iterator, KeysView, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _abi
from ._library import Handle, ask, make
from ._watching import Progress, run


class _Told(Handle):
    free = "billboard_answer_free"


def text_of(value: Any) -> Optional[bytes]:
    """An option's value as the program would have it."""
    if isinstance(value, (bool, np.bool_)):
        return b"true" if value else b"false"
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

    def keys(self) -> KeysView[str]:
        """The names, which print as such and not as all that they are of.

        Examples
        --------
        >>> import billboard
        >>> "epsilon" in billboard.account(rounds=1, tasks=10, epsilon=1).keys()
        True
        """
        return self._values.keys()

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


def plain(x: float) -> str:
    """Six digits, or all where they would promise more than there is."""
    text = f"{x:.6g}"
    return text if float(text) >= x else repr(float(x))


def counted(number: float, noun: str) -> str:
    """"1 row", "2 rows"."""
    return f"{number:.15g} {noun}{'' if number == 1 else 's'}"


def promise(values: Mapping[str, Any]) -> str:
    """An epsilon with all that gives it a meaning."""
    return (f"ε = {plain(values['epsilon'])} at δ = {plain(values['delta'])}, "
            f"{values['adjacency']}, sampling {values['sampling']}")


def frame(rows: List[Dict[str, Any]], columns: Sequence[str] = ()) -> Any:
    """A pandas.DataFrame where pandas is there, else the list; `columns`: of one without rows."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows, columns=None if rows else list(columns))
