"""Settings that are tried: the program's own figures, and estimators that have them."""

import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import billboard

BOUNDS = billboard.Bounds(others=(-1, 1), target=(-3, 3))


@pytest.fixture
def files(pop, tmp_path):
    """Rows and ranges as the program reads them, and its options for them."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pop.X, columns=["x1", "x2", "x3"])
    frame["task"], frame["y"] = pop.groups, pop.y
    frame.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "ranges.json").write_text(BOUNDS.to_json())
    return [tmp_path / "data.csv", "--scale", tmp_path / "ranges.json", "--epsilon", 2]


def without_files(answer):
    return {**answer, "config": {name: value for name, value in answer["config"].items()
                                 if name not in ("scale", "task", "target", "ignore", "delta")}}


@pytest.mark.parametrize("grid,more", [({"rounds": [2, 4], "clip": [0.3, 1]}, {}),
                                       ({"rounds": "2..9"}, {"random": 5, "random_state": 3})])
def test_it_finds_what_the_program_finds(pop, program, files, grid, more):
    flags = [part for name, tried in grid.items() for part in (
        "--grid", f"{name}={tried if isinstance(tried, str) else ','.join(map(str, tried))}")]
    flags += [part for name, value in more.items()
              for part in ("--seed" if name == "random_state" else f"--{name}", value)]
    said = json.loads(program("tune", *files, "--method", "fedavg,pmtl", *flags, "--not-private",
                              "--json"))
    model = billboard.MultiTaskRegressor(epsilon=2, bounds=BOUNDS)
    found = billboard.tune(model, pop.X, pop.y, pop.groups, data="not-private", grid=grid,
                           methods=["fedavg", "pmtl"], **more)
    scale = found.config["scale"]
    assert json.loads(scale) == json.loads(BOUNDS.to_json())
    assert without_files(found) == without_files(said)
    assert len(found.to_frame()) == len(said["tried"])
    assert "NOT PRIVATE" in str(found) and "best: method=" in str(found)


def test_the_best_estimator_is_marked(pop):
    model = billboard.MultiTaskRegressor(epsilon=2, bounds=BOUNDS, options={"finetune": "mean"},
                                         method_params={"clip": 0.5})
    before = clone(model).get_params()
    found = billboard.tune(model, pop.X, pop.y, pop.groups, data="not-private",
                           methods=["fedavg"], grid={"rounds": [2, 3], "server_rate": [0.5, 1.0]})
    assert str(model.get_params()) == str(before) and not hasattr(model, "coef_")
    best = found.best_estimator_
    flags = {flag["value"].split("=")[0] if flag["name"] == "set" else flag["name"]: flag["value"]
             for flag in found.tried[found.best]["flags"]}
    assert best.method == "fedavg" and best.rounds == int(flags["rounds"])
    assert best.method_params == {"clip": 0.5,
                                  "server_rate": float(flags["server-rate"].split("=")[1])}
    assert best.options == {"finetune": "mean", "tuned_on_data": True}
    with pytest.warns(billboard.PrivacyWarning):
        best.fit(pop.X, pop.y, pop.groups)
    assert not best.privacy_.is_private
    assert best.report_.options["set"]["clip"] == 0.5
    public = billboard.tune(model, pop.X, pop.y, pop.groups, data="public", methods=["fedavg"],
                            grid={"rounds": [2, 3]})
    assert public.best_estimator_.fit(pop.X, pop.y, pop.groups).privacy_.is_private
    assert "NOT PRIVATE" not in str(public)


def test_private_tuning_stays_in_its_budget(pop, tmp_path):
    ledger = billboard.Ledger(tmp_path / "l", epsilon=3, delta=1e-3)
    model = billboard.MultiTaskRegressor("mp-prior", epsilon=2, bounds=BOUNDS, ledger=ledger)
    # no run is made once in e^40
    found = billboard.tune(model, pop.X, pop.y, pop.groups, data="private",
                           grid={"lambda": [0.01, 1]}, runs=40)
    assert (found.epsilon, found.delta, found.adjacency) == (2, 1e-5, "replace-one")
    assert "the best of 40 runs on average" in str(found) and "δ = 1e-05" in str(found)
    best = found.best_estimator_
    assert best.method_params["lambda"] in (0.01, 1) and len(found.to_frame()) == 1
    assert best.privacy_.is_private
    assert best.predict(pop.X, pop.groups).shape == pop.y.shape
    assert np.array_equal(pickle.loads(pickle.dumps(best)).coef_, best.coef_)
    assert ledger.spent()[0] == pytest.approx(2)
    with pytest.raises(billboard.BudgetError):
        billboard.tune(model, pop.X, pop.y, pop.groups, data="private", random_state=None,
                       grid={"lambda": [0.01, 1]}, runs=40)


def test_private_tuning_is_the_programs(pop, program, files, tmp_path):
    said = json.loads(program("tune", *files, "--method", "mp-prior", "--grid", "lambda=0.01,1",
                              "--private", "--runs", 20, "--seed", 5, "-o", tmp_path / "there",
                              "--json"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = billboard.tune(billboard.MultiTaskRegressor("mp-prior", epsilon=2, bounds=BOUNDS),
                               pop.X, pop.y, pop.groups, data="private", runs=20, random_state=5,
                               grid={"lambda": ["0.01", "1"]}, output=tmp_path / "here")
    assert {**found, "output": ""} == {**said, "output": ""}
    for name in ("billboard.bin", "privacy.json"):
        assert (tmp_path / "here" / "public" / name).read_bytes() \
            == (tmp_path / "there" / "public" / name).read_bytes()
    assert found.best_estimator_.report_.models_sha256 == json.loads(
        (tmp_path / "there" / "operator" / "run.json").read_text())["models_sha256"]


def test_private_tuning_without_a_ledger_is_counted(pop):
    model = billboard.MultiTaskRegressor("mp-prior", epsilon=2, bounds=BOUNDS)
    model.fit(pop.X, pop.y, pop.groups)
    with pytest.warns(billboard.PrivacyWarning, match="up to ε = 4 at δ = 2e-05"):
        billboard.tune(model, pop.X, pop.y, pop.groups, data="private",
                       grid={"lambda": [0.01, 1]}, runs=1)


def test_what_cannot_be_tuned(pop):
    model = billboard.MultiTaskRegressor("mtl-trace")
    for given, words in (({"grid": {"lambda": [1]}}, "whose data are these"),
                         ({"data": "public"}, "give a grid, or how many"),
                         ({"data": "public", "grid": {"lamda": [1]}}, "lamda")):
        with pytest.raises(billboard.BillboardError, match=words):
            billboard.tune(model, pop.X, pop.y, pop.groups, **given)
    with pytest.raises(TypeError, match="found Pipeline: of a pipeline give the last step"):
        billboard.tune(make_pipeline(model), pop.X, pop.y, pop.groups, data="public", random=2)


def test_classes_are_tuned(pop):
    model = billboard.MultiTaskClassifier("mtl-trace")
    names = np.array(["low", "high"])[pop.binary]
    found = billboard.tune(model, pop.X, names, pop.groups, data="public",
                           grid={"lambda": [0.01, 1]}, n_jobs=1)
    assert found.metric == "log_loss"
    assert found.best_estimator_.fit(pop.X, names, pop.groups).classes_.tolist() == ["high", "low"]


# -- effects and intervals -----------------------------------------------------------------


def test_effects_are_the_programs(program, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    school, gcse = np.repeat(np.arange(900), 8), rng.uniform(-1, 1, 7200).round(3)
    score = 0.5 + gcse + 0.4 * rng.standard_normal(900)[school] + 0.2 * rng.standard_normal(7200)
    frame = pandas.DataFrame({"task": school, "gcse": gcse, "y": score.clip(-3, 3).round(3)})
    frame.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "ranges.json").write_text(BOUNDS.to_json())
    flags = ["--scale", tmp_path / "ranges.json", "--epsilon", 8, "--seed", 1]
    program("train", tmp_path / "data.csv", *flags, "--report-effects", "-o", tmp_path / "run")
    model = billboard.MultiTaskRegressor(epsilon=8, bounds=BOUNDS, random_state=1,
                                         report_effects=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame[["gcse"]], frame["y"], frame["task"])
    effects = model.effects_
    assert dict(effects) == json.loads((tmp_path / "run/public/effects.json").read_text())
    table = pandas.read_csv(tmp_path / "run/public/effects.csv")
    pandas.testing.assert_frame_equal(effects.to_frame().astype({"estimate": float}), table,
                                      check_exact=False, rtol=1e-14)
    told = effects.to_frame()[["lower", "upper"]].iloc[0]
    assert list(told) == effects.fixed[0]["interval"]
    slope, intercept = (row["estimate"] for row in effects.rows()[:2])
    assert abs(slope - 1) < 0.1 and abs(intercept - 0.5) < 0.1
    assert 0.6 < effects.icc["estimate"] < 1 and "gcse" in str(effects) and "95 %" in str(effects)
    assert pickle.loads(pickle.dumps(model)).effects_ == effects


def test_effects_say_what_levels_are_against_and_why_there_is_no_icc():
    told = {"estimate": 0.5, "standard_error": 0.1, "interval": [0.304, 0.696]}
    effects = billboard.Effects({
        "published": True, "standard_errors": True, "intercept_at": "the first level",
        "fixed": [{"name": "sex=girl", "against": "sex=boy", **told},
                  {"name": "(intercept)", **told}],
        "random": {"intercept": {**told, "deviation": 0.25}, "slope": told}, "residual": told,
        "icc": {"estimate": None, "standard_error": None, "interval": None, "reason": "noise"},
        "warning": "too tight"})
    assert [row["what"] for row in effects.rows()[:2]] == ["fixed effect against sex=boy",
                                                           "fixed effect"]
    assert [(row["lower"], row["upper"]) for row in effects.rows()[::5]] == [(0.304, 0.696),
                                                                             (None, None)]
    told = str(effects)
    assert "(against sex=boy)" in told and "(noise)" in told and "Warning: too tight" in told
    assert "0.304 to 0.696" in told and " 0.25 " in told


def test_effects_are_only_there_if_they_were_asked_for(pop, bounds):
    model = billboard.MultiTaskRegressor(epsilon=1, bounds=bounds).fit(pop.X, pop.y, pop.groups)
    assert model.effects_ is None
    for more, words in (({"method": "fedavg", "bounds": bounds}, "method mp-mixed"),
                        ({"standardize": "unit-rows"}, "bounds"),
                        ({"bounds": bounds, "fit_intercept": False}, "an intercept")):
        with pytest.raises(billboard.BillboardError, match=f"report_effects needs.*{words}"):
            billboard.MultiTaskRegressor(epsilon=1, report_effects=True, **more).fit(
                pop.X, pop.y, pop.groups)


def test_intervals_are_the_programs(pop, program, files, tmp_path):
    run, out = tmp_path / "run", tmp_path / "out.csv"
    program("train", *files, "--seed", 1, "--intervals", "-o", run)
    program("predict", run, files[0], "--intervals", 0.9, "-o", out)
    said = np.loadtxt(out, delimiter=",", skiprows=1)[:, 2:]
    model = billboard.MultiTaskRegressor(epsilon=2, bounds=BOUNDS, random_state=1, intervals=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(pop.X, pop.y, pop.groups)
    found = model.predict_interval(pop.X, pop.groups, coverage=0.9)
    assert np.array_equal(found, said)
    wide = model.predict_interval(pop.X, pop.groups)
    assert (wide[:, 0] < found[:, 0]).all() and (found[:, 1] < wide[:, 1]).all()
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_interval(pop.X, pop.groups), wide)


def test_intervals_of_unknown_groups_are_unknown(pop, bounds):
    model = billboard.MultiTaskRegressor(epsilon=20, bounds=bounds, intervals=True,
                                         unknown_groups="shared", random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(pop.X, pop.y, pop.groups)
    found = model.predict_interval(pop.X[:2], groups=[999, 5])
    assert np.isnan(found[0]).all() and found[1, 0] < model.predict(pop.X[1:2], [5])[0] < found[1, 1]


def test_intervals_have_to_be_kept(pop, bounds):
    model = billboard.MultiTaskRegressor(epsilon=2, bounds=bounds).fit(pop.X, pop.y, pop.groups)
    with pytest.raises(billboard.BillboardError, match="intervals"):
        model.predict_interval(pop.X, pop.groups)
    kept = clone(model).set_params(intervals=True).fit(pop.X, pop.y, pop.groups + 100)
    with pytest.raises(ValueError, match="coverage should be between"):
        kept.predict_interval(pop.X, pop.groups + 100, coverage=1.5)
    with pytest.raises(billboard.BillboardError, match="intervals"):
        billboard.MultiTaskRegressor("stl", intervals=True).fit(pop.X, pop.y, pop.groups)
    with pytest.raises(billboard.BillboardError, match="fedavg, whose models are finetuned by vote"):
        billboard.MultiTaskRegressor("fedavg", epsilon=1, intervals=True).fit(
            pop.X, pop.y, pop.groups)
    with pytest.raises(ValueError, match="Found unknown groups"):
        kept.predict_interval(pop.X[:1], [999])
