"""The same data and seed give the program's bytes, with every method and loss."""

import json
import warnings

import numpy as np
import pandas
import pytest

import billboard

LOSSES = {"squared": "y", "logistic": "binary", "softmax": "classes"}
FOUND = [(name, loss) for name, method in billboard.methods().items()
         for loss in method.losses if loss in LOSSES and name != "finetune"]


def frame_of(pop, loss):
    """As text and back: what the program reads is what Python has."""
    frame = pandas.DataFrame(pop.X, columns=["age", "height", "dose"])
    frame["region"] = pop.groups % 3
    frame["task"] = pop.groups
    frame["y"] = getattr(pop, LOSSES[loss])
    return frame


def options_of(method, loss):
    """Command line and constructor of the same run."""
    flags, given = ["--seed", "7", "--threads", "1"], {"random_state": 7, "options": {}}
    if method.kind == "private":
        flags += ["--epsilon", "2"]
        given["epsilon"] = 2
    if method.name.startswith(("fed", "pmtl", "ppsgd", "mp-lrsp")):
        flags += ["--rounds", "3"]
        given["rounds"] = 3
    if loss == "softmax":
        flags += ["--classes", "3"]
        given["classes"] = [0, 1, 2]
    if method.clustered:
        flags += ["--cluster", "region", "--clusters", "3"]
        given["options"] = {"cluster": "region", "clusters": 3}
    if method.name == "pmtl-graph":
        graph = json.dumps([[k, k + 1, 1 + k % 2] for k in range(5, 64)])
        flags += ["--graph", graph]
        given["options"] = {"graph": graph}
    return flags, given


@pytest.mark.parametrize("name,loss", FOUND)
def test_hashes(pop, program, tmp_path, name, loss):
    method, frame = billboard.methods(name)[name], frame_of(pop, loss)
    path, ranges = tmp_path / "data.csv", tmp_path / "ranges.json"
    flags, given = options_of(method, loss)
    if not method.clustered:
        frame = frame.drop(columns="region")
    frame.to_csv(path, index=False)
    bounds = billboard.Bounds(others=(-1, 1), target=(-3, 3) if loss == "squared" else None)
    ranges.write_text(bounds.to_json())
    run = tmp_path / "run"
    said = json.loads(program("train", path, "--method", name, "--loss", loss, "--scale", ranges,
                              "-o", run, "--json", *flags))
    kind = billboard.MultiTaskRegressor if loss == "squared" else billboard.MultiTaskClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", billboard.BillboardWarning)
        model = kind(name, bounds=bounds, **given)
        model.fit(frame.drop(columns=["task", "y"]), frame["y"], groups=frame["task"])
    for figure in ("billboard_sha256", "models_sha256"):
        assert model.report_[figure] == said[figure]
    assert model.report_["train"] == said["train"]
    model.save_run(tmp_path / "python")
    for public in ("billboard.bin", "privacy.json", "statement.txt"):
        assert (tmp_path / "python" / "public" / public).read_bytes() \
            == (run / "public" / public).read_bytes()


def test_predictions(pop, program, tmp_path):
    frame = frame_of(pop, "squared").drop(columns="region")
    path, out = tmp_path / "data.csv", tmp_path / "out.csv"
    frame.to_csv(path, index=False)
    X, y, groups = frame[["age", "height", "dose"]], frame["y"], frame["task"]
    model = billboard.MultiTaskRegressor("mtl-trace").fit(X, y, groups)
    model.save_run(tmp_path / "run")
    program("predict", tmp_path / "run", path, "-o", out)
    said = np.loadtxt(out, delimiter=",", skiprows=1, usecols=1)
    assert np.array_equal(said, model.predict(X, groups))
    by_hand = np.sum(X.to_numpy() * model.coef_[groups - 5], axis=1) + model.intercept_[groups - 5]
    assert np.array_equal(model.groups_, np.arange(60) + 5)
    np.testing.assert_allclose(said, by_hand, rtol=0, atol=1e-12)


def test_default_method_is_the_programs(pop, bounds):
    regressor = billboard.MultiTaskRegressor(epsilon=1, bounds=bounds)
    assert regressor.fit(pop.X, pop.y, pop.groups).report_.method == "mp-mixed"
    classifier = billboard.MultiTaskClassifier(epsilon=1, bounds=bounds)
    assert classifier.fit(pop.X, pop.binary, pop.groups).report_.method == "mp-centre"


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_default_hashes(pop, program, tmp_path, loss):
    """Nobody names a method, here or there."""
    frame = frame_of(pop, loss).drop(columns="region")
    path, ranges = tmp_path / "data.csv", tmp_path / "ranges.json"
    frame.to_csv(path, index=False)
    bounds = billboard.Bounds(others=(-1, 1), target=(-3, 3) if loss == "squared" else None)
    ranges.write_text(bounds.to_json())
    said = json.loads(program("train", path, "--loss", loss, "--scale", ranges, "--epsilon", 2,
                              "--seed", 7, "-o", tmp_path / "run", "--json"))
    kind = billboard.MultiTaskRegressor if loss == "squared" else billboard.MultiTaskClassifier
    model = kind(epsilon=2, bounds=bounds, random_state=7)
    model.fit(frame.drop(columns=["task", "y"]), frame["y"], groups=frame["task"])
    for figure in ("method", "billboard_sha256", "models_sha256", "train"):
        assert model.report_[figure] == said[figure]
