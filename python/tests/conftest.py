"""A population that tests share, and the program to compare with."""

import os
import subprocess

import numpy as np
import pytest

import billboard


@pytest.fixture(scope="session")
def program():
    """Runs the program: program("train", ...) is what it says."""
    path = os.environ.get("BILLBOARD_PROGRAM")
    if not path:
        pytest.skip("BILLBOARD_PROGRAM names no program")

    def run(*arguments):
        return subprocess.run([path, *map(str, arguments)], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
    return run


class Population:
    """60 schools of 12 pupils, whose lines lie near a common one."""

    def __init__(self, seed=0, tasks=60, rows=12, features=3):
        rng = np.random.default_rng(seed)
        self.groups = np.repeat(np.arange(tasks) + 5, rows)
        self.X = np.round(rng.uniform(-1, 1, (tasks * rows, features)), 6)
        own = np.linspace(1, -0.5, features) + 0.2 * rng.standard_normal((tasks, features))
        self.y = np.round(np.clip(np.sum(self.X * np.repeat(own, rows, axis=0), axis=1), -3, 3), 6)
        self.binary = (self.y > 0).astype(int)
        self.classes = np.digitize(self.y, [-0.4, 0.4])
        self.labels = np.column_stack([self.y > 0, self.X[:, 0] > 0.5, self.classes == 1]).astype(int)
        order = rng.permutation(len(self.y))
        for name in ("groups", "X", "y", "binary", "classes", "labels"):
            setattr(self, name, getattr(self, name)[order])


@pytest.fixture(scope="session")
def pop():
    return Population()


@pytest.fixture
def bounds():
    return billboard.Bounds(others=(-1, 1), target=(-3, 3))


@pytest.fixture(autouse=True)
def nothing_spent(monkeypatch):
    """Fits of one test are no second fits of another."""
    from billboard import privacy
    monkeypatch.setattr(privacy, "_spent", privacy._Spent())
