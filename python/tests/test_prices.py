"""What is asked without data, and pages of runs: the program's own figures."""

import json
import pickle

import pytest

import billboard


def test_prices_are_the_programs(program):
    plan = {"rounds": 100, "sampling": "poisson:0.05", "tasks": 2410, "epsilon": 1}
    flags = [part for name, value in plan.items() for part in (f"--{name}", value)]
    said = json.loads(program("account", "--json", *flags))
    price = billboard.account(**plan)
    assert dict(price) == said and price.noise_multiplier == said["noise_multiplier"]
    assert "ε = 1 at δ = 1e-05, replace-one, sampling poisson:0.05" in str(price)
    assert billboard.calibrate(1, tasks=2410, rounds=100).noise_multiplier == pytest.approx(74.6127)
    curve = billboard.account(rounds=5, tasks=50, noise_multiplier=9, curve="delta")
    assert len(curve.curve_frame()) == len(curve.curve) > 5
    with pytest.raises(billboard.BillboardError, match="nearest|did you mean|sampling"):
        billboard.account(rounds=100, sampeling="all", tasks=3, epsilon=1)
    with pytest.raises(billboard.BudgetError):
        billboard.account(epsilon=1, delta=1e-5, rounds=5, step="2,0")


def test_audits(program):
    found = billboard.audit(rounds=2, trials=2000, seed=1)
    assert dict(found) == json.loads(program("audit", "--json", "--rounds", 2, "--trials", 2000,
                                             "--seed", 1))
    assert "verdict: consistent" in str(found) and "δ" in repr(found)
    assert billboard.audit(mechanism="wishart-published", form="square", rounds=1, trials=4000,
                           seed=1, length=2).violated in (True, False)


def test_answers_are_mappings():
    price = billboard.account(rounds=1, tasks=10, epsilon=1)
    assert "epsilon" in price and len(price) == len(list(price)) and "rounds" in dir(price)
    with pytest.raises(AttributeError):
        price.nothing
    assert pickle.loads(pickle.dumps(price)) == price
    assert repr(price.keys()) == repr(dict(price).keys())


def test_advice_is_the_programs(program):
    sizes = {"tasks": 139, "features": 27, "epsilon": 0.1, "rows": 110, "strong": 0.5}
    flags = [part for name, value in sizes.items() for part in (f"--{name}", value)]
    advice = billboard.advise(**sizes)
    assert dict(advice) == json.loads(program("advise", "--json", *flags))
    said = program("advise", *flags)
    assert advice.recommended["text"] in said and advice.recommended["text"] in str(advice)
    assert "139 tasks, 27 features, 110 rows each, squared loss: ε = 0.1 at δ = 1e-05, " \
        "replace-one, sampling all" in str(advice)
    assert len(advice.theory_frame()) == len(advice.theory["algorithms"]) > 3
    assert "doors" not in str(advice)
    two = str(billboard.advise(**sizes, doors=2))
    assert "replace-one, sampling all, two doors\n" in two, two
    with pytest.raises(billboard.BillboardError, match="smooth"):
        billboard.advise(tasks=9, features=2, epsilon=1, smoth=1)


@pytest.mark.parametrize("more,first", [
    ({}, "MultiTaskRegressor(epsilon=1, bounds=billboard.Bounds(…))"),
    ({"loss": "logistic"}, "MultiTaskClassifier(epsilon=1)"),
    ({"rows": 1e5}, 'MultiTaskRegressor("stl")'),
    ({"delta": 1e-6, "adjacency": "add-remove", "loss": "logistic"},
     'MultiTaskClassifier(epsilon=1, delta=1e-06, adjacency="add-remove")'),
    ({"doors": 2, "loss": "logistic"}, "MultiTaskClassifier(epsilon=1, options={'doors': 2})")])
def test_advice_is_to_be_followed_here(more, first):
    said = str(billboard.advise(tasks=65, features=3, epsilon=1, **more))
    assert said.endswith(f"\nBegin with: billboard.{first}") and " --" not in said


# -- pages of runs -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(pop, tmp_path_factory):
    """Two fits, and their directories."""
    folder = tmp_path_factory.mktemp("runs")
    bounds = billboard.Bounds(others=(-1, 1), target=(-3, 3))
    models, paths = [], []
    for epsilon in (1, 4):
        model = billboard.MultiTaskRegressor(
            epsilon=epsilon, bounds=bounds,
            options={"train_fraction": 0.5, "compare": "stl", "trace": True})
        models.append(model.fit(pop.X, pop.y, pop.groups))
        paths.append(folder / f"run-{epsilon}")
        model.save_run(paths[-1])
    return models, paths


@pytest.mark.parametrize("count", [1, 2])
def test_reports_are_the_programs(runs, program, tmp_path, count):
    _, paths = runs
    page = billboard.report(*paths[:count])
    for form, said in (("html", page.html), ("markdown", page.markdown)):
        out = tmp_path / form
        program("report", f"--{form}", *paths[:count], "-o", out)
        assert out.read_text(encoding="utf-8") == said
    page.save(tmp_path / "saved.html")
    assert (tmp_path / "saved.html").read_text(encoding="utf-8") == page.html
    assert [row["epsilon"] for row in page.rows] == [1, 4][:count]
    assert len(page.to_frame()) == count and "<iframe" in page._repr_html_()
    assert billboard.report(paths[:count]).html == page.html


def test_a_fit_is_a_run(runs):
    models, paths = runs
    for model, path, row in zip(models, paths, billboard.report(*models).rows):
        of_path = billboard.report(path).rows[0]
        assert {**row, "run": ""} == {**of_path, "run": ""}
        assert row["test"] == pytest.approx(model.report_.test["nmse"])


def test_what_is_no_run(tmp_path):
    with pytest.raises(billboard.BillboardError, match="nothing"):
        billboard.report(tmp_path / "nothing")
    with pytest.raises(TypeError, match="expected a fitted estimator or a run directory, got int"):
        billboard.report(3)
    for none in (), ([],):
        with pytest.raises(billboard.BillboardError, match="which run"):
            billboard.report(*none)


def test_experiments_are_the_programs(program, tmp_path):
    shipped = billboard.experiments()
    assert json.loads(program("experiment", "list", "--json"))["experiments"] \
        == [dict(one) for one in shipped.values()]
    found = billboard.experiment("models", output=tmp_path / "here", preset="tiny", threads=1)
    program("experiment", "models", "--preset", "tiny", "-o", tmp_path / "there", "--threads", 1)
    for table in ("cells.csv", "means.csv"):
        assert (tmp_path / "here" / table).read_bytes() == (tmp_path / "there" / table).read_bytes()
    assert len(found.cells_frame()) == found.cells and len(found.means_frame()) > 0
    assert "nothing is private" in str(found) and "<iframe" in found._repr_html_()
    assert billboard.experiments(tmp_path / "here").means == found.means
    with pytest.raises(billboard.BillboardError, match="no experiment|nothing"):
        billboard.experiment("nothing", output=tmp_path / "nowhere")
