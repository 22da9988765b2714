"""What docstrings, pages and notebooks say is what happens."""

import doctest
import importlib
import os
import pkgutil
import re

import pytest

import billboard

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODULES = [name for _, name, _ in pkgutil.iter_modules(billboard.__path__, "billboard.")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    assert module.__doc__
    if name == "billboard.plots":
        pytest.importorskip("matplotlib").use("agg")
    failed, tried = doctest.testmod(module)
    assert failed == 0 and (tried or name.split(".")[1].startswith("_"))


def test_every_name_has_a_page():
    for module in [billboard, billboard.plots, billboard.silo]:
        for name in module.__all__:
            thing = getattr(module, name)
            assert thing.__doc__ and thing.__doc__.strip(), name
            if callable(thing) and not isinstance(thing, type):
                assert "Parameters" in thing.__doc__ and ">>>" in thing.__doc__, name


def blocks(page):
    """The Python of a page, one program."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), flags=re.S | re.M)


PUPILS = """
import numpy as np, pandas
rng = np.random.default_rng(0)
pupils = pandas.DataFrame({"school": np.repeat(np.arange(200), 20),
                           "gcse": rng.uniform(4, 8, 4000).round(1),
                           "girl": rng.integers(0, 2, 4000)})
pupils["score"] = (pupils["gcse"] + pupils["school"] % 5 - 3 + rng.normal(0, .5, 4000)).clip(0, 10)
pupils.to_csv("pupils.csv", index=False)
"""


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
@pytest.mark.filterwarnings("ignore")
def test_pages(page, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    exec(PUPILS, {})
    known = {}
    found = blocks(page)
    assert found
    for block in found:
        exec(compile(block, page, "exec"), known)
