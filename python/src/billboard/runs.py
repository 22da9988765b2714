"""Runs to look at: pages and tables of fitted estimators and of run directories.

A run is what a fit left: a fitted estimator, or the directory that `save_run` or the program
wrote. What is read of it here tells about private data, unless it is named public.
"""

import contextlib
import csv
import ctypes as c
import io
import json
import os
import tempfile
from typing import Any, Dict, Iterable, Iterator, List, Optional, Union

import numpy as np

from . import _library
from ._answers import Answer, asked, asked_watching, counted, frame, options
from .errors import BillboardError

__all__ = ["Experiment", "Page", "experiment", "experiments", "report"]


def _is_path(run: Any) -> bool:
    return isinstance(run, (str, os.PathLike))


def runs_of(*given: Any) -> List[Any]:
    """Runs as several arguments, or as one list of them."""
    if len(given) == 1 and isinstance(given[0], Iterable) and not _is_path(given[0]):
        return list(given[0])
    return list(given)


@contextlib.contextmanager
def directory_of(run: Any, name: str = "run") -> Iterator[str]:
    """The run directory of a run; of a fitted estimator it is a temporary one."""
    if _is_path(run):
        yield os.fspath(run)
        return
    if not hasattr(run, "save_run"):
        raise TypeError(f"expected a fitted estimator or a run directory, got "
                        f"{type(run).__name__}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        run.save_run(path)
        yield path


def _rows(text: str) -> List[Dict[str, Any]]:
    """Of CSV: numbers where they are some, but for names of tasks and runs; None where empty."""
    def value(name: str, cell: str) -> Any:
        try:
            return float(cell) if name not in ("task", "run") else cell
        except ValueError:
            return cell or None
    return [{k: value(k, v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]


def read_table(run: Any, path: str) -> List[Dict[str, Any]]:
    """A CSV file of a run's directory; no rows if it is not there."""
    with directory_of(run) as folder:
        try:
            with open(os.path.join(folder, *path.split("/")), newline="",
                      encoding="utf-8") as file:
                return _rows(file.read())
        except FileNotFoundError:
            return []


def read_json(run: Any, path: str) -> Dict[str, Any]:
    """A JSON file of a run's directory."""
    with directory_of(run) as folder:
        try:
            with open(os.path.join(folder, *path.split("/")), encoding="utf-8") as file:
                found: Dict[str, Any] = json.load(file)
        except FileNotFoundError as error:
            raise BillboardError(f"{folder}: no run directory: {error}") from None
    return found


def read_released(run: Any) -> List[Dict[str, Any]]:
    """All that was released, in order, which is public: {round, name, form, value (an array),
    clip, noise_standard_deviation} each."""
    with directory_of(run) as folder:
        index = read_json(folder, "public/billboard.json")
        numbers = np.fromfile(os.path.join(folder, "public", "billboard.bin"), "<f8")
    found = []
    for release in index["releases"]:
        for block in release["blocks"]:
            size = int(np.prod(block["shape"]))
            value = numbers[block["at"]:block["at"] + size]
            if len(value) == size:
                found.append({**block, "round": release["round"],
                              "value": value.reshape(block["shape"])})
    return found


def _framed(html: str) -> str:
    """A page inside a notebook."""
    escaped = html.replace("&", "&amp;").replace('"', "&quot;")
    return (f'<iframe srcdoc="{escaped}" style="width: 100%; height: 40em; border: 0">'
            "</iframe>")


class Page:
    """What runs have promised and reached: a page in a notebook, a table when printed.

    Examples
    --------
    >>> import numpy as np, billboard
    >>> X, group = np.random.default_rng(0).uniform(-1, 1, (200, 2)), np.arange(200) // 10
    >>> model = billboard.MultiTaskRegressor("mtl-trace").fit(X, X[:, 0], groups=group)
    >>> page = billboard.report(model)
    >>> "mtl-trace" in str(page)
    True
    """

    def __init__(self, html: str, markdown: str, rows: List[Dict[str, Any]]) -> None:
        self.html, self.markdown, self.rows = html, markdown, rows

    def to_frame(self) -> Any:
        """A row for each run: a ``pandas.DataFrame``, or a list of dicts where there is no
        pandas.

        Examples
        --------
        >>> import numpy as np, billboard
        >>> X, group = np.random.default_rng(0).uniform(-1, 1, (200, 2)), np.arange(200) // 10
        >>> model = billboard.MultiTaskRegressor("mtl-trace").fit(X, X[:, 0], groups=group)
        >>> len(billboard.report(model).to_frame())
        1
        """
        return frame(self.rows)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the page as a file for a browser, which needs no other.

        Parameters
        ----------
        path : path
            Of the file.

        Examples
        --------
        >>> import numpy as np, billboard
        >>> X, group = np.random.default_rng(0).uniform(-1, 1, (200, 2)), np.arange(200) // 10
        >>> model = billboard.MultiTaskRegressor("mtl-trace").fit(X, X[:, 0], groups=group)
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "page.html")
        >>> billboard.report(model).save(path)
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __str__(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return self.markdown

    def _repr_html_(self) -> str:
        return _framed(self.html)


def _written(runs: List[str], form: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page")
        array = (c.c_char_p * len(runs))(*map(os.fsencode, runs))
        _library.call("billboard_report", array, len(runs), form.encode(), os.fsencode(path))
        with open(path, encoding="utf-8") as file:
            return file.read()


def report(*runs: Any) -> Page:
    """What runs have promised and reached, as a page, and as a table with a row for each.

    Parameters
    ----------
    *runs : fitted estimators or paths of run directories, or one list of them
        One, for a page of its own, or several, which are compared.

    Returns
    -------
    Page
        It shows itself in notebooks; ``save("page.html")`` keeps it, ``to_frame()`` is a table.

    Notes
    -----
    A page has figures of the operator's half, which no epsilon covers, and says so: it is for
    whoever holds all data. Figures on test rows are there if the run has some: fit with
    ``options={"train_fraction": 0.7, "compare": "stl"}``.

    Examples
    --------
    >>> import numpy as np, billboard
    >>> rng = np.random.default_rng(0)
    >>> X, group = rng.uniform(-1, 1, (600, 2)), np.repeat(np.arange(30), 20)
    >>> model = billboard.MultiTaskRegressor("mtl-trace", options={"train_fraction": 0.5})
    >>> page = billboard.report(model.fit(X, X[:, 0], groups=group))
    >>> page.rows[0]["method"], page.html.startswith("<!doctype html>")
    ('mtl-trace', True)
    """
    with contextlib.ExitStack() as stack:
        paths = [stack.enter_context(directory_of(run, f"run-{k + 1}"))
                 for k, run in enumerate(runs_of(*runs))]
        forms = [_written(paths, form) for form in ("html", "markdown", "csv")]
    return Page(forms[0], forms[1], _rows(forms[2]))


# -- experiments ---------------------------------------------------------------------------


class Experiment(Answer):
    """What an experiment has come to: experiment, title, source, preset, output (its folder),
    cells, failed, seconds, means. All of it is simulation: runs are seeded.

    Examples
    --------
    >>> import billboard, tempfile
    >>> found = billboard.experiment("models", output=tempfile.mkdtemp(), preset="tiny")
    >>> found.preset, found.failed
    ('tiny', 0)
    """

    def means_frame(self) -> Any:
        """A row for runs that differ in their seed only: a ``pandas.DataFrame``, or a list of
        dicts.

        Examples
        --------
        >>> import billboard, tempfile
        >>> found = billboard.experiment("models", output=tempfile.mkdtemp(), preset="tiny")
        >>> len(found.means_frame()) > 0
        True
        """
        with open(os.path.join(self["output"], "means.csv"), encoding="utf-8") as file:
            return frame(_rows(file.read()))

    def cells_frame(self) -> Any:
        """A row for each run: a ``pandas.DataFrame``, or a list of dicts.

        Examples
        --------
        >>> import billboard, tempfile
        >>> found = billboard.experiment("models", output=tempfile.mkdtemp(), preset="tiny")
        >>> len(found.cells_frame()) == found.cells
        True
        """
        with open(os.path.join(self["output"], "cells.csv"), encoding="utf-8") as file:
            return frame(_rows(file.read()))

    def __str__(self) -> str:
        failed = f", {self['failed']:g} failed" if self["failed"] else ""
        return (f"{self['title']} ({self['preset']}): {counted(self['cells'], 'cell')}{failed}, in "
                f"{self['output']}\nEvery run is seeded: a simulation, nothing is private.")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return _framed(_written([self["output"]], "html"))


def experiment(name: Union[str, "os.PathLike[str]"], *, output: Union[str, "os.PathLike[str]"],
               preset: Optional[str] = None, progress: Any = None, **options_: Any) -> Experiment:
    """Runs an experiment: many runs, which differ in data, method, options and seed.

    Parameters
    ----------
    name : str or path
        One of `experiments`, or the file of another (docs/experiment.md).
    output : path
        The folder of its cells and tables; one that is there goes on where it ended.
    preset : {"quick", "full", "tiny"}, optional
        How large it is.
    progress : callable, optional
        Told ``(what, done, all)``.
    **options_
        Further options of ``billboard experiment``: seeds, data, threads.

    Returns
    -------
    Experiment
        ``means_frame()`` and ``cells_frame()`` are its tables, and it is a page in notebooks.

    Notes
    -----
    Privacy cost: every run is seeded, a simulation on data that may be looked at.

    Examples
    --------
    >>> import billboard, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> found = billboard.experiment("models", output=folder, preset="tiny")
    >>> len(found.cells_frame()) == found.cells
    True
    """
    given = {"output": output, "preset": preset, **options_}
    return Experiment(asked_watching("billboard_experiment", os.fsencode(name), *options(given),
                                     progress=progress))


def experiments(folder: Union[str, "os.PathLike[str]", None] = None) -> Any:
    """The experiments that are shipped, or what one has come to.

    Parameters
    ----------
    folder : path, optional
        Of an experiment: what it has come to, and nothing is run.

    Returns
    -------
    dict of str to Answer, or Experiment

    Examples
    --------
    >>> import billboard
    >>> "models" in billboard.experiments()
    True
    """
    found = asked("billboard_experiments", None if folder is None else os.fsencode(folder))
    if folder is not None:
        return Experiment(found)
    return {one["name"]: Answer(one) for one in found["experiments"]}
