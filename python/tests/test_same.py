"""The same data and seed give the program's bytes: every method, every loss, networks, what is
chosen where nobody names a method, and the options that change what is released. Methods and losses
are those of the registry, so that a new one cannot be left out."""

import csv
import json
import os
import pickle
import subprocess
import warnings

import numpy as np
import pandas
import pytest

import billboard

METHODS = billboard.methods()
TARGETS = {"squared": "y", "logistic": "binary", "softmax": "classes", "multilabel": "labels"}
FOUND = [(name, loss) for name, method in METHODS.items() for loss in method.losses]
COLUMNS = ["age", "height", "dose"]


class Both:
    """One run by the program and by Python, with the same rows, options and seed."""

    def __init__(self, pop, program, folder, loss, clustered=False):
        self.program, self.folder, self.loss = program, folder, loss
        self.bounds = billboard.Bounds(others=(-1, 1),
                                       target=(-3, 3) if loss == "squared" else None)
        (folder / "ranges.json").write_text(self.bounds.to_json())
        self.X = pandas.DataFrame(pop.X, columns=COLUMNS)
        if clustered:
            self.X["region"] = pop.groups % 3
        self.y, self.groups = getattr(pop, TARGETS[loss]), pop.groups
        y = [" ".join(map(str, np.flatnonzero(row))) for row in self.y] \
            if loss == "multilabel" else self.y
        self.X.assign(task=pop.groups, y=y).to_csv(folder / "data.csv", index=False)

    def check(self, method, flags, epsilon=2, **given):
        """`flags` are the program's options, `given` what they are called here."""
        flags = {"loss": self.loss, "epsilon": epsilon, "seed": 7, "threads": 1, **flags}
        if method:
            flags["method"] = method
        given = {"random_state": 7, "epsilon": epsilon, "bounds": self.bounds, **given}
        if self.loss in ("softmax", "multilabel"):
            flags["classes"], given["classes"] = 3, [0, 1, 2]
        words = [word for name, values in flags.items()
                 for value in (values if isinstance(values, list) else [values])
                 if value is not None
                 for word in ((f"--{name}",) if value is True else (f"--{name}", value))]
        run, here = self.folder / "run", self.folder / "python"
        said = json.loads(self.program("train", self.folder / "data.csv", "--scale",
                                       self.folder / "ranges.json", "-o", run, "--json", *words))
        kind = billboard.MultiTaskRegressor if self.loss == "squared" else \
            billboard.MultiTaskNetwork if "net" in given else billboard.MultiTaskClassifier
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", billboard.BillboardWarning)
            model = kind(method=method or "auto", **given).fit(self.X, self.y, groups=self.groups)
        for figure in ("method", "billboard_sha256", "models_sha256", "train"):
            assert model.report_[figure] == said[figure]
        model.save_run(here)
        for public in ("billboard.bin", "privacy.json", "statement.txt"):
            assert (here / "public" / public).read_bytes() == (run / "public" / public).read_bytes()
        return model, run

    def check_method(self, name, **given):
        """One of the registry; where nobody says how many rounds, a few."""
        method, flags = METHODS[name], {}
        epsilon = 2 if method.kind == "private" else None
        if method.follows:  # goes on from another's models
            name, flags["phase"], epsilon = "fedavg", name, 2
        if method.clustered:
            flags.update(cluster="region", clusters=3)
        if method.related:
            flags["graph"] = json.dumps([[k, k + 1, 1 + k % 2] for k in range(5, 64)])
        options = dict(flags)
        if name.startswith(("fed", "pmtl", "ppsgd", "mp-lrsp")):
            given["rounds"] = flags["rounds"] = 3
        if name == "mp-instance":  # guesses nothing
            given["method_params"] = {"instance_epsilon": 1, "gradient_clip": 1, "clip": 1}
            flags["set"] = ["instance-epsilon=1", "gradient-clip=1", "clip=1"]
        if "net" in given:
            given["image"] = "1x1x3"
            flags.update(net=given["net"] + "3", image="1x1x3", batch=10)
        return self.check(name, flags, epsilon, options=options, **given)


@pytest.mark.parametrize("name,loss", [f for f in FOUND if f[0] != "fedper"])  # networks only
def test_every_method_and_loss(pop, program, tmp_path, name, loss):
    Both(pop, program, tmp_path, loss, METHODS[name].clustered).check_method(name)


@pytest.mark.parametrize("name,loss", [f for f in FOUND if TARGETS[f[1]] in ("classes", "labels")])
def test_networks(pop, program, tmp_path, name, loss):
    """Methods that learn no networks refuse here and there."""
    both = Both(pop, program, tmp_path, loss, METHODS[name].clustered)
    try:
        both.check_method(name, net="dense4,dense")
    except subprocess.CalledProcessError as refusal:
        if "libdnnl" in refusal.stderr:
            pytest.skip(refusal.stderr)
        assert "--net" in refusal.stderr or "network" in refusal.stderr
        both.program = lambda *_: "null"
        with pytest.raises(billboard.BillboardError, match="net"):
            both.check_method(name, net="dense4,dense")


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_nobody_names_a_method(pop, program, tmp_path, loss):
    model, _ = Both(pop, program, tmp_path, loss).check(None, {})
    assert model.report_.method == ("mp-mixed" if loss == "squared" else "mp-centre")


@pytest.mark.parametrize("method,flags,given", [
    (None, {"adjacency": "add-remove"}, {"adjacency": "add-remove"}),
    (None, {"no-intercept": True}, {"fit_intercept": False}),
    (None, {"report-effects": True, "intervals": True},
     {"report_effects": True, "intervals": True}),
    ("fedavg", {"sampling": "poisson:0.5", "rounds": 4}, {"sampling": "poisson:0.5", "rounds": 4}),
    ("fedavg", {"rounds": 3, "set": "clip=0.5", "finetune": "kl,penalty=0.2"},
     {"rounds": 3, "method_params": {"clip": 0.5}, "options": {"finetune": "kl,penalty=0.2"}}),
    ("mp-lowrank", {"schedule": "advised", "train-fraction": 0.7, "compare": "stl"},
     {"options": {"schedule": "advised", "train_fraction": 0.7, "compare": "stl"}})])
def test_options(pop, program, tmp_path, method, flags, given):
    model, run = Both(pop, program, tmp_path, "squared").check(method, flags, **given)
    said = json.loads((run / "operator" / "run.json").read_text())
    for figure in ("effects", "test", "compare"):
        assert model.report_.get(figure) == said.get(figure)


def test_predictions(pop, program, tmp_path):
    both = Both(pop, program, tmp_path, "squared")
    model, run = both.check_method("mtl-trace")
    program("predict", run, tmp_path / "data.csv", "-o", tmp_path / "out.csv")
    said = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1, usecols=1)
    groups, scaled = both.groups, both.X.to_numpy()
    assert np.array_equal(said, model.predict(both.X, groups))
    by_hand = np.sum(scaled * model.coef_[groups - 5], axis=1) + model.intercept_[groups - 5]
    assert np.array_equal(model.groups_, np.arange(60) + 5)
    np.testing.assert_allclose(said, by_hand, rtol=0, atol=1e-12)


def test_predictions_are_limited(pop, program, tmp_path):
    """Rows far from all that a task has seen are predicted near that, by both alike."""
    X = pandas.DataFrame(pop.X, columns=COLUMNS)
    model = billboard.MultiTaskRegressor("mtl-trace").fit(X, pop.y, groups=pop.groups)
    model.save_run(tmp_path / "run")
    far = 1e6 * X
    far.assign(task=pop.groups).to_csv(tmp_path / "far.csv", index=False)
    program("predict", tmp_path / "run", tmp_path / "far.csv", "-o", tmp_path / "out.csv")
    said = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1, usecols=1)
    for found in model, pickle.loads(pickle.dumps(model)):
        assert np.array_equal(said, found.predict(far, pop.groups))
    straight = far.to_numpy() @ model.coef_[0] + model.intercept_[0]
    assert np.abs(said).max() < 1e-2 * np.abs(straight).max()


def test_predicted_labels(pop, program, tmp_path):
    both = Both(pop, program, tmp_path, "multilabel")
    model, run = both.check_method("fedavg")
    program("predict", run, tmp_path / "data.csv", "-o", tmp_path / "out.csv")
    said = [line.split(",")[1].split() for line in
            (tmp_path / "out.csv").read_text().splitlines()[1:]]
    found = model.predict(both.X, both.groups)
    assert [[str(k) for k in np.flatnonzero(row)] for row in found] == said


@pytest.mark.parametrize("names,told", [
    ([1, 2, 3], True), (["low", "mid", "high"], True), (["low", "mid", "high"], False),
    (["dead", "alive"], True), ([2.0, 1.0], True), ([False, True], True), ([-1, 1], False)])
def test_saved_classes(pop, program, tmp_path, names, told):
    """A run that Python has saved knows the classes by their names."""
    code = pop.binary if len(names) == 2 else pop.classes
    X, y = pandas.DataFrame(pop.X, columns=COLUMNS), np.array(names)[code]
    model = billboard.MultiTaskClassifier(**({"epsilon": 5, "classes": names} if told else {}))
    model.fit(X, y, pop.groups).save_run(tmp_path / "run")
    assert model.privacy_.is_private == told
    text = [str(int(name) if isinstance(name, float) else name) for name in y.tolist()]
    X.assign(task=pop.groups, y=text).to_csv(tmp_path / "q.csv", index=False)
    said = json.loads(program("evaluate", tmp_path / "run", tmp_path / "q.csv", "--json"))
    assert said["test"]["accuracy"] == pytest.approx(model.score(X, y, pop.groups))
    program("predict", tmp_path / "run", tmp_path / "q.csv", "-o", tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = model.predict(X, pop.groups)
    if "class" in rows[0]:
        assert [row["class"] for row in rows] == [
            str(int(name) if isinstance(name, float) else name) for name in found.tolist()]
    else:
        assert [float(row["probability"]) > 0.5 for row in rows] == (found == names[1]).tolist()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X, pop.groups), found)


def test_a_run_that_is_there(pop, tmp_path):
    model = billboard.MultiTaskRegressor().fit(pop.X, pop.y, pop.groups)
    model.save_run(tmp_path / "run")
    with pytest.raises(billboard.BillboardError, match="with replace=True"):
        model.save_run(tmp_path / "run")
    model.save_run(tmp_path / "run", replace=True)


def test_a_run_that_is_there_of_a_pickle(pop, tmp_path):
    model = billboard.MultiTaskRegressor().fit(pop.X, pop.y, pop.groups)
    again = pickle.loads(pickle.dumps(model))
    run = tmp_path / "run"
    again.save_run(run)
    (run / "operator" / "models.csv").write_text("")
    with pytest.raises(billboard.BillboardError, match="with replace=True"):
        again.save_run(run)
    again.save_run(run, replace=True)
    model.save_run(tmp_path / "same")
    for name in "operator/models.csv", "public/options.json":
        assert (run / name).read_bytes() == (tmp_path / "same" / name).read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["run", "same"]
    (tmp_path / "other").mkdir()
    with pytest.raises(billboard.BillboardError, match="not a run directory"):
        again.save_run(tmp_path / "other", replace=True)
