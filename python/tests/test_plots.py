"""Charts show the numbers that runs have."""

import json
import subprocess
import sys

import numpy as np
import pytest

import billboard
from billboard import plots

pyplot = pytest.importorskip("matplotlib.pyplot")

COMPARED = {"train_fraction": 0.5, "compare": "stl", "trace": True}


@pytest.fixture(autouse=True)
def no_window():
    import matplotlib
    matplotlib.use("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def fits(pop):
    bounds = billboard.Bounds(others=(-1, 1), target=(-3, 3))
    return [billboard.MultiTaskRegressor(epsilon=epsilon, bounds=bounds, options=COMPARED,
                                         random_state=seed).fit(pop.X, pop.y, pop.groups)
            for epsilon, seed in ((1, None), (1, None), (4, None), (4, 5))]


def test_privacy_and_accuracy(fits, tmp_path):
    fits[2].save_run(tmp_path / "run")
    ax = plots.privacy_accuracy([fits[0], fits[1], tmp_path / "run", fits[3]])
    one_by_one = plots.privacy_accuracy(fits[0], fits[1], tmp_path / "run", fits[3])
    assert len(one_by_one.containers) == 2
    assert plots.privacy_accuracy(runs=fits).get_ylabel() == ax.get_ylabel()
    private, seeded = ax.containers
    reached = [fit.report_.test["nmse"] for fit in fits]
    assert private.get_label() == "mp-mixed" and "claimed only: NOT private" in seeded.get_label()
    np.testing.assert_array_equal(private.lines[0].get_xdata(), [1, 4])
    assert list(private.lines[0].get_ydata()) == pytest.approx([np.mean(reached[:2]), reached[2]])
    assert list(seeded.lines[0].get_ydata()) == pytest.approx([reached[3]])
    assert ax.get_xlabel() == "ε of a whole task (δ = 1e-05, replace-one, sampling all)"
    assert ax.get_ylabel() == "nMSE of test rows"
    levels = {line.get_label(): line.get_ydata()[0] for line in ax.lines
              if line.get_label() in ("every task alone", "one model for all, not private")}
    assert levels["every task alone"] == pytest.approx(
        np.mean([fit.report_.compare["stl"]["test"]["nmse"] for fit in fits]))
    assert len(levels) == 2


def test_promises_that_differ_are_told_apart(pop, bounds, fits):
    other = billboard.MultiTaskRegressor(epsilon=2, delta=1e-4, bounds=bounds, options=COMPARED)
    ax = plots.privacy_accuracy([fits[0], other.fit(pop.X, pop.y, pop.groups)])
    assert [c.get_label() for c in ax.containers] == [
        "mp-mixed (δ = 1e-05, replace-one, sampling all)",
        "mp-mixed (δ = 0.0001, replace-one, sampling all)"]


@pytest.mark.parametrize("against", ["alone", "own", "pooled", "mixed", "mean"])
def test_gain_per_task(fits, tmp_path, against):
    fits[0].save_run(tmp_path / "run")
    table = np.genfromtxt(tmp_path / "run" / "operator" / "tasks.csv", delimiter=",", names=True)
    gain = np.sort(table["rmse_" + against] - table["rmse"])[::-1]
    figure, mine = pyplot.subplots()
    ax = plots.gain_per_task(fits[0], against=against, ax=mine)
    assert ax is mine
    drawn = [segment[1][1] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(drawn, gain)
    assert ax.get_title().startswith(f"{np.sum(gain > 0)} of 60 tasks gain")
    assert "RMSE saved beside" in ax.get_ylabel()


def test_gain_of_classes(pop, bounds):
    model = billboard.MultiTaskClassifier(epsilon=4, bounds=bounds, options=COMPARED).fit(
        pop.X, pop.binary, pop.groups)
    assert "gained beside every task alone" in plots.gain_per_task(model).get_ylabel()


def test_epsilon_by_round(fits):
    ax = plots.epsilon_by_round(fits[0])
    seen = ax.lines[0].get_ydata()
    want = [row["epsilon"] for row in fits[0].report_.trace]
    np.testing.assert_allclose(seen, [0, *want], rtol=1e-8)
    assert seen[-1] == pytest.approx(1) and (np.diff(seen) >= 0).all()
    assert ax.get_ylabel() == "ε (δ = 1e-05, replace-one, sampling all)"
    price = billboard.account(rounds=20, tasks=500, epsilon=1, curve="rounds")
    ax = plots.epsilon_by_round(price)
    assert ax.lines[0].get_xdata()[-1] == 20 and ax.lines[0].get_ydata()[-1] == pytest.approx(1)


def test_task_similarity(fits, tmp_path):
    fits[0].save_run(tmp_path / "run")
    image, = plots.task_similarity(fits[0]).images
    other, = plots.task_similarity(tmp_path / "run").images
    cosine = np.asarray(image.get_array())
    np.testing.assert_allclose(cosine, np.asarray(other.get_array()), atol=1e-9)
    np.testing.assert_allclose(np.diag(cosine), 1)
    model = np.column_stack([fits[0].coef_, fits[0].intercept_])
    model = (model - model.mean(axis=0)) / model.std(axis=0)
    model /= np.linalg.norm(model, axis=1, keepdims=True)
    np.testing.assert_allclose(np.sort(cosine, axis=None), np.sort(model @ model.T, axis=None),
                               atol=1e-9)


def test_spectrum(pop, bounds, tmp_path):
    model = billboard.MultiTaskRegressor("mp-lowrank", epsilon=8, bounds=bounds, rounds=2,
                                         random_state=1).fit(pop.X, pop.y, pop.groups)
    model.save_run(tmp_path / "run")
    index = json.loads((tmp_path / "run" / "public" / "billboard.json").read_text())
    numbers = np.fromfile(tmp_path / "run" / "public" / "billboard.bin")
    blocks = [b for r in index["releases"] for b in r["blocks"] if len(b["shape"]) == 2]
    total = sum(numbers[b["at"]:][:np.prod(b["shape"])].reshape(b["shape"]) for b in blocks)
    edge = np.sqrt(2 * len(total) * sum(b["noise_standard_deviation"]**2 for b in blocks))
    ax = plots.spectrum(tmp_path / "run")
    drawn = np.concatenate([line.get_ydata() for line in ax.lines])
    np.testing.assert_allclose(np.sort(drawn), np.linalg.eigvalsh(total) / edge)


def test_what_cannot_be_drawn(pop, fits):
    alone = billboard.MultiTaskRegressor("stl").fit(pop.X, pop.y, pop.groups)
    for draw, words in ((lambda: plots.privacy_accuracy([alone]), "epsilon and test rows"),
                        (lambda: plots.gain_per_task(alone), "nothing to compare"),
                        (lambda: plots.gain_per_task(fits[0], against="god"), "nothing to comp"),
                        (lambda: plots.epsilon_by_round(alone), "round by round"),
                        (lambda: plots.spectrum(alone), "no symmetric matrix"),
                        (lambda: plots.spectrum("nowhere"), "no run directory")):
        before = pyplot.get_fignums()
        with pytest.raises(billboard.BillboardError, match=words):
            draw()
        assert pyplot.get_fignums() == before


def test_without_matplotlib():
    code = ("import sys; sys.modules['matplotlib'] = None\n"
            "import billboard\n"
            "price = billboard.account(rounds=2, tasks=50, epsilon=1, curve='rounds')\n"
            "try:\n    billboard.plots.epsilon_by_round(price)\n"
            "except ImportError as error:\n    print(error)\n")
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                          text=True).stdout
    assert "pip install matplotlib" in said
