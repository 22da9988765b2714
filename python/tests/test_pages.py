"""What docstrings, pages and notebooks say is what happens."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re

import pytest

import billboard

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODULES = [name for _, name, _ in pkgutil.iter_modules(billboard.__path__, "billboard.")]


def networks_work():
    try:
        billboard.MultiTaskNetwork("dense", "fedavg", rounds=1, options={"mechanism": "none"}).fit(
            [[0.0], [0.5]] * 4, [0, 1] * 4, groups=[0, 0, 1, 1] * 2)
    except billboard.BillboardError as error:
        return "libdnnl" not in str(error)
    return True


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    assert module.__doc__
    if name == "billboard.plots":
        pytest.importorskip("matplotlib").use("agg")
    if name == "billboard.network" and not networks_work():
        pytest.skip("networks need oneDNN")
    assert doctest.testmod(module).failed == 0


def public_names():
    """(name, what it is) of everything that users are told of: what modules list, and of classes
    the methods and properties that the package itself defines."""
    for module in (billboard, billboard.plots, billboard.silo):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                continue
            yield f"{module.__name__}.{name}", thing
            kinds = thing.__mro__ if inspect.isclass(thing) else ()
            members = {member for kind in kinds if kind.__module__.startswith("billboard.")
                       for member, of in vars(kind).items() if not member.startswith("_")
                       and (callable(of) or isinstance(of, (classmethod, staticmethod, property)))}
            for member in sorted(members):
                yield f"{module.__name__}.{name}.{member}", inspect.getattr_static(thing, member)


PUBLIC = dict(public_names())


@pytest.mark.parametrize("name", PUBLIC)
def test_every_name_has_an_example(name):
    """Those that run are test_docstrings' business."""
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert doctest.DocTestParser().get_examples(text), "no example"
    thing = getattr(PUBLIC[name], "__func__", PUBLIC[name])
    if inspect.isfunction(thing):
        given = [p for p in inspect.signature(thing).parameters if p not in ("self", "cls")]
        assert not given or "Parameters\n" in text, "no list of parameters"


def test_all_names_are_listed():
    """Every module that users can import has nothing public that they are not told of."""
    for name in MODULES:
        module = importlib.import_module(name)
        if name.split(".")[1].startswith("_"):
            continue
        for thing in getattr(module, "__all__"):
            assert f"billboard.{thing}" in PUBLIC or f"{name}.{thing}" in PUBLIC \
                or f"billboard.silo.{thing}" in PUBLIC


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
