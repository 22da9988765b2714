"""What is generated is of this header; types hold for users."""

import os
import subprocess
import sys

import pytest

import billboard
from billboard import _abi, _library

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

USER = '''
from pathlib import Path
from typing import Optional

import numpy as np
import billboard

bounds = billboard.Bounds({"gcse": (0, 8)}, target=(0, 10))
ledger = billboard.Ledger("l", epsilon=3, delta=3e-5)
kept = billboard.MultiTaskClassifier(epsilon=1, ledger=Path("l"), bounds=Path("ranges.json"))
model = billboard.MultiTaskRegressor(epsilon=1, bounds=bounds, ledger=ledger)
model.fit(np.zeros((4, 1)), np.zeros(4), groups=["a", "a", "b", "b"])
prediction: np.ndarray = model.predict(np.zeros((4, 1)), groups=["a", "a", "b", "b"])
score: float = model.score(np.zeros((4, 1)), prediction)
epsilon: Optional[float] = model.privacy_.epsilon
share = billboard.MultiTaskClassifier("stl").fit([[0], [1]], [0, 1]).predict_proba([[1]])
price: billboard.Price = billboard.calibrate(1, tasks=100)
advice: billboard.Advice = billboard.advise(tasks=100, features=3, epsilon=1)
page: billboard.Page = billboard.report(model, "run")
page.save("page.html")
tuned: billboard.Tuning = billboard.tune(model, [[0.0]], [0.0], data="public", random=3)
interval: np.ndarray = model.predict_interval(np.zeros((4, 1)), ["a", "a", "b", "b"])
effects: Optional[billboard.Effects] = model.effects_
found: billboard.Experiment = billboard.experiment("models", output="models", preset="tiny")
billboard.plots.privacy_accuracy([model])
roster = billboard.silo.Roster(["a", "b"], features=["gcse"], silos=1)
silo = billboard.silo.Silo(model, roster, 1, np.zeros((4, 1)), np.zeros(4), ["a", "a", "b", "b"],
                           policy=billboard.silo.Policy(most_epsilon=1))
answer: Optional[bytes] = silo.answer(b"")
WRONG
'''


def mypy(*arguments, **more):
    return subprocess.run([sys.executable, "-m", "mypy", *arguments], text=True,
                          capture_output=True, check=False, **more)


def test_abi_is_generated():
    made = subprocess.run([os.path.join(ROOT, "scripts", "python-abi"), "--check"], text=True,
                          capture_output=True, check=False)
    assert made.returncode == 0, made.stdout


def test_another_library_is_refused(monkeypatch):
    monkeypatch.setattr(_abi, "SIZES", {_abi.billboard_option: 17})
    with pytest.raises(ImportError, match="billboard_option has 16 bytes here, expected 17"):
        _library._load()


def test_the_package_has_types():
    found = mypy("--config-file", os.path.join(ROOT, "pyproject.toml"),
                 os.path.join(ROOT, "python", "src", "billboard"))
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("wrong,words", [
    ("", None), ("model.privacy_.epsilon + 1", "Unsupported operand"),
    ("billboard.MultiTaskRegressor(epsilom=1)", "Unexpected keyword"),
    ("billboard.calibrate('1', tasks=3)", "incompatible type"),
    ("silo.answer('text')", "incompatible type")])
def test_a_users_script(tmp_path, wrong, words):
    script = tmp_path / "user.py"
    script.write_text(USER.replace("WRONG", wrong))
    environment = dict(os.environ, MYPYPATH=os.path.dirname(os.path.dirname(billboard.__file__)))
    found = mypy("--strict", str(script), env=environment)
    if words is None:
        assert found.returncode == 0, found.stdout
    else:
        assert found.returncode == 1 and words in found.stdout
