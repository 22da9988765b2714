"""What is promised, and what is refused."""

import json
import os
import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

import billboard


def private(bounds, **more):
    return billboard.MultiTaskRegressor(**{"epsilon": 1, "bounds": bounds, **more})


# -- the promise ---------------------------------------------------------------------------


def test_a_promise_has_all_of_its_parts(pop, bounds):
    privacy = private(bounds).fit(pop.X, pop.y, pop.groups).privacy_
    assert privacy.is_private and privacy.epsilon == 1 and privacy.delta == 1e-5
    assert (privacy.unit, privacy.adjacency, privacy.sampling) == ("task", "replace-one", "all")
    assert repr(privacy) == "Privacy(ε = 1 at δ = 1e-05, replace-one, sampling all)"
    assert "Guarantee" in str(privacy) and "Guarantee" in privacy._repr_html_()


def test_a_promise_is_a_value(pop, bounds):
    one, same, other = (private(bounds, epsilon=epsilon).fit(pop.X, pop.y, pop.groups + k).privacy_
                        for k, epsilon in enumerate((1, 1, 2)))
    assert one == same and hash(one) == hash(same) and len({one, same, other}) == 2
    assert one != other and one != "promise" and pickle.loads(pickle.dumps(one)) == one


def test_a_doubt_that_is_an_error_comes_before_the_charge(pop, tmp_path):
    bounds = billboard.Bounds.from_data(pop.X, pop.y)
    ledger = billboard.Ledger(tmp_path / "l", epsilon=2, delta=1e-4)
    model = private(bounds, ledger=ledger)
    with warnings.catch_warnings():
        warnings.simplefilter("error", billboard.PrivacyWarning)
        with pytest.raises(billboard.PrivacyWarning, match="taken from the data"):
            model.fit(pop.X, pop.y, pop.groups)
    assert ledger.spent() == (0, 0) and not hasattr(model, "privacy_")
    with pytest.warns(billboard.PrivacyWarning, match="taken from the data") as told:
        model.fit(pop.X, pop.y, pop.groups)
    assert ledger.spent()[0] == 1 and {warning.filename for warning in told} == {__file__}


def test_models_are_there_when_other_warnings_are_errors(pop, bounds):
    model = billboard.MultiTaskRegressor("stl")
    twice = private(bounds).fit(pop.X, pop.y, pop.groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error", billboard.BillboardWarning)
        with pytest.raises(billboard.BillboardWarning, match="one row only"):
            model.fit(pop.X[:20], pop.y[:20], np.arange(20))
        with pytest.raises(billboard.PrivacyWarning, match="2 private fits"):
            twice.fit(pop.X[:, :2], pop.y, pop.groups) and twice.fit(pop.X[:, :2], pop.y,
                                                                     pop.groups)
    assert len(model.groups_) == 20 and model.predict(pop.X[:1], [0]).shape == (1,)
    assert twice.n_features_in_ == 2 and twice.predict(pop.X[:, :2], pop.groups).shape == (720,)


def test_without_a_budget_nothing_is_shared(pop):
    model = billboard.MultiTaskRegressor().fit(pop.X, pop.y, pop.groups)
    assert not model.privacy_.is_private and model.privacy_.epsilon is None
    assert "Nothing was exchanged" in str(model.privacy_)
    assert model.report_.method == "stl"


def test_seeded_fits_are_not_private(pop, bounds):
    model = private(bounds, random_state=3)
    with pytest.warns(billboard.PrivacyWarning, match="random_state makes the noise reproducible"):
        model.fit(pop.X, pop.y, pop.groups)
    assert not model.privacy_.is_private and model.privacy_.epsilon is None
    assert "NOT PRIVATE: seeded" in str(model.privacy_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = clone(model).fit(pop.X, pop.y, pop.groups)
        other = clone(model).set_params(random_state=np.random.RandomState(1))
        other.fit(pop.X, pop.y, pop.groups)
    assert again.report_.models_sha256 == model.report_.models_sha256
    assert other.report_.billboard_sha256 != model.report_.billboard_sha256
    fresh = private(bounds)
    a, b = (fresh.fit(pop.X, pop.y, pop.groups).report_.billboard_sha256 for _ in range(2))
    assert a != b


@pytest.mark.parametrize("pass_on", [lambda b: b, lambda b: json.loads(b.to_json()), clone,
                                     lambda b: b.to_json()])
def test_bounds_of_the_data_are_not_private(pop, pass_on):
    bounds = billboard.Bounds.from_data(pop.X, pop.y)
    if pass_on is clone:
        model = clone(private(bounds))
    else:
        model = private(pass_on(bounds))
    with pytest.warns(billboard.PrivacyWarning, match="taken from the data"):
        model.fit(pop.X, pop.y, pop.groups)
    assert not model.privacy_.is_private and model.report_.privacy["ranges_from_data"]
    assert "NOT PRIVATE" in str(model.privacy_) and "NOT private" in repr(bounds)
    assert model.privacy_.epsilon is None and "nothing is promised" in repr(model.privacy_)


# -- bounds --------------------------------------------------------------------------------


def test_bounds_by_name_by_place_and_from_files(pop, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pop.X, columns=list("abc"))
    by_name = billboard.Bounds({"a": 1, "b": (-1, 1), "c": (-2, 2)}, target=3)
    by_place = billboard.Bounds([1, 1, (-2, 2)], target=(-3, 3))
    path = tmp_path / "ranges.json"
    path.write_text(by_name.to_json())
    found = [private(bounds, random_state=1) for bounds in
             (by_name, by_place, path, str(path), {"columns": {"a": 1, "b": 1, "c": 2},
                                                   "target": 3})]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hashes = {m.fit(frame, pop.y, pop.groups).report_.models_sha256 for m in found}
        place = private(by_place, random_state=1).fit(pop.X, pop.y, pop.groups)
    assert len(hashes) == 1
    np.testing.assert_array_equal(place.coef_, found[0].coef_)
    assert billboard.Bounds.from_json(path) == by_name
    assert pickle.loads(pickle.dumps(by_name)) == by_name
    with pytest.raises(billboard.BillboardError, match="has 3 ranges, but there are 2 columns"):
        private(by_place).fit(frame[["a", "b"]], pop.y, pop.groups)
    with pytest.raises(billboard.BillboardError, match="no range is given for column 'c'"):
        private(billboard.Bounds({"a": 1, "b": 1})).fit(frame, pop.y, pop.groups)


@pytest.mark.parametrize("wrong,words", [
    ({"a": (1, 0)}, "finite low < high"), ({"a": (0, np.inf)}, "finite low < high"),
    ({"a": (1, 2, 3)}, r"expected \(low, high\)"), ([None], r"column 0: expected \(low, high\)")])
def test_bounds_that_are_none(wrong, words):
    with pytest.raises(billboard.BillboardError, match=words):
        billboard.Bounds(wrong)


@pytest.mark.parametrize("wrong,words", [
    ((0, 20), r"expected billboard.Bounds.*found \(0, 20\)"),
    ({"a": (0, 8)}, "unknown member 'a'.*billboard.Bounds"),
    (billboard.Bounds([1, 1], target=3), "no range is given for column 'c'")])
def test_bounds_that_do_not_fit(pop, wrong, words):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pop.X, columns=list("abc"))
    with pytest.raises(billboard.BillboardError, match=words):
        private(wrong).fit(frame, pop.y, pop.groups)


def test_truths_have_their_range(pop):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pop.X, columns=list("abc"))
    frame["c"] = frame["c"] > 0
    model = billboard.MultiTaskRegressor(epsilon=20, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")

        def learned(X, bounds=None):
            model.set_params(bounds=bounds).fit(X, pop.y, pop.groups)
            return model.report_.models_sha256
        told = learned(frame.astype(float), billboard.Bounds({"c": (0, 1)}, others="open"))
        assert learned(frame) == told
        assert learned(frame, billboard.Bounds(others="open")) == told
        assert learned(frame, {"columns": {"a": [-1, 1]}, "others": "open"}) != told
        assert learned(frame.astype(float)) != told
        wide = billboard.Bounds({"c": (0, 2)}, others="open")
        assert learned(frame, wide) == learned(frame.astype(float), wide)
        assert learned(frame.to_numpy() > 0) == learned(
            (frame.to_numpy() > 0).astype(float), billboard.Bounds([(0, 1)] * 3, others="open"))
        with pytest.raises(ValueError, match="unknown_groups='shared' needs"):
            model.set_params(unknown_groups="shared", bounds=wide).fit(frame, pop.y, pop.groups)
        for name in ("polars", "pyarrow"):
            try:
                other = __import__(name)
            except ImportError:
                continue
            make = other.from_pandas if name == "polars" else other.Table.from_pandas
            model.set_params(unknown_groups="error")
            assert learned(make(frame)) == told
    assert billboard.Bounds({"c": 1}, others="open") == billboard.Bounds.from_json(
        '{"columns": {"c": 1}, "others": "open"}')


def test_ranges_of_numpy(pop):
    told = billboard.Bounds([(0, 1), (0, 2)])
    assert billboard.Bounds(np.array([[0, 1], [0, 2]])) == told
    model = private({"others": (np.float32(-1), np.int64(1)), "target": 3})
    model.fit(pop.X, pop.y, pop.groups)


def test_a_range_without_a_column_is_refused(pop):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pop.X, columns=["age", "height", "dose"])
    bounds = billboard.Bounds({"ages": 1}, others=2, target=3)
    with pytest.raises(billboard.BillboardError, match="^bounds: the range of 'ages' is of no "
                       "column; columns without one are 'age', 'height', 'dose'$"):
        private(bounds).fit(frame, pop.y, pop.groups)


def test_columns_without_names_have_ranges_in_their_order(pop):
    with pytest.raises(billboard.BillboardError, match="ranges by name, but X has no column names"):
        private(billboard.Bounds({"x1": 9}, others=1, target=3)).fit(pop.X, pop.y, pop.groups)
    with pytest.raises(billboard.BillboardError, match="has 4 ranges, but there are 3 columns"):
        private(billboard.Bounds([1, 1, 1, 1], target=3)).fit(pop.X, pop.y, pop.groups)


def test_numbers_of_promises_are_plain(pop, bounds):
    privacy = private(bounds, epsilon=20, delta=1e-6).fit(pop.X, pop.y, pop.groups).privacy_
    assert "(ε = 20, δ = 1e-06)" in str(privacy) and "ε = 20 at δ = 1e-06" in repr(privacy)
    exact = private(bounds, epsilon=1.0000001).fit(pop.X, pop.y, pop.groups + 100).privacy_
    assert "(ε = 1.0000001, " in str(exact) and "ε = 1.0000001 at" in repr(exact)


@pytest.mark.parametrize("method,border", [("mp-prior", 1), ("mp-mixed", 10)])
def test_values_far_outside_are_moved_to_the_border(pop, bounds, method, border):
    model = billboard.MultiTaskRegressor(method, epsilon=1, bounds=bounds)
    model.fit(pop.X, pop.y, pop.groups)
    far, edge, near = (model.predict(np.array([[x, 0, 0]]), groups=[5])
                       for x in (50, border, border / 2))
    assert far == edge and far != near


# -- ledgers -------------------------------------------------------------------------------


def test_a_ledger_refuses(pop, bounds, tmp_path, program):
    ledger = billboard.Ledger(tmp_path / "schools.ledger", epsilon=2.5, delta=1e-4)
    assert ledger.spent() == (0, 0) and ledger.left() == (2.5, 1e-4)
    told = []
    model = private(bounds, ledger=ledger)
    for _ in range(2):
        model.fit(pop.X, pop.y, pop.groups)
    before = model.report_.models_sha256
    refused = private(bounds, ledger=ledger, progress=lambda *what: told.append(what))
    with pytest.raises(billboard.BudgetError, match="only.*is left"):
        refused.fit(pop.X, pop.y, pop.groups)
    assert not [what for what, done, all in told if what == "round"]
    assert not hasattr(refused, "coef_") and model.report_.models_sha256 == before
    assert ledger.spent() == (2, 2e-5)
    assert len(ledger.read().entries) == len(ledger.to_frame()) == 2
    assert "spent    ε = 2, δ = 2e-05" in str(ledger)
    assert "replace-one, sampling: each run's own, " in str(ledger)
    assert program("ledger", ledger.path, "--json") == json.dumps(
        dict(ledger.read()), indent=2) + "\n" or ledger.read().spent["epsilon"] == 2
    private(bounds, ledger=str(ledger.path), epsilon=0.25).fit(pop.X, pop.y, pop.groups)
    assert ledger.spent()[0] == 2.25
    assert billboard.Ledger(ledger.path, epsilon=2.5) is not None
    for other in ({"epsilon": 9}, {"epsilon": 2.5, "delta": 1e-3}):
        with pytest.raises(billboard.BillboardError, match="has the budget"):
            billboard.Ledger(ledger.path, **other)


@pytest.mark.parametrize("wrong", [{"epsilon": -1}, {"epsilon": np.nan}, {"epsilon": "1"},
                                   {"delta": 2}, {"delta": 1}, {"delta": -0.1}])
def test_budgets_that_are_none(wrong, tmp_path):
    with pytest.raises(billboard.BillboardError, match="of a ledger should be a number"):
        billboard.Ledger(tmp_path / "l", **wrong)


def test_a_ledger_that_is_not_there_is_told(tmp_path):
    ledger = billboard.Ledger(tmp_path / "none")
    with pytest.raises(billboard.BillboardError, match="cannot open ledger .*none: No such file"):
        ledger.read()
    assert str(ledger).endswith("no fit was charged yet") and not os.listdir(tmp_path)


@pytest.mark.parametrize("kind,words", [("gdp", "μ² = "), ("rdp", "rdp = ")])
def test_ledgers_of_all_kinds_are_shown(pop, bounds, tmp_path, kind, words):
    ledger = billboard.Ledger(tmp_path / "l", epsilon=2, delta=1e-4, kind=kind)
    private(bounds, ledger=ledger).fit(pop.X, pop.y, pop.groups)
    assert str(ledger).count(words) == 3 and ledger.left() == (None, None)


def test_a_ledger_warns_of_no_sum(pop, bounds, tmp_path):
    ledger = billboard.Ledger(tmp_path / "l", epsilon=10, delta=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", billboard.PrivacyWarning)
        for _ in range(3):
            private(bounds, ledger=ledger).fit(pop.X, pop.y, pop.groups)


def test_the_second_fit_without_a_ledger_says_the_sum(pop, bounds):
    with warnings.catch_warnings():
        warnings.simplefilter("error", billboard.PrivacyWarning)
        private(bounds).fit(pop.X, pop.y, pop.groups)
        billboard.MultiTaskRegressor("stl").fit(pop.X, pop.y, pop.groups)
        private(bounds).fit(pop.X, pop.y, pop.groups + 1000)
    half = pop.groups < 30
    with pytest.warns(billboard.PrivacyWarning, match="up to ε = 3 at δ = 2e-05 .*sampling all"):
        private(bounds, epsilon=2).fit(pop.X[half], pop.y[half], pop.groups[half])


def test_where_nothing_is_exchanged_nothing_is_spent(pop, bounds, tmp_path):
    few, ledger = pop.groups < 8, billboard.Ledger(tmp_path / "l", epsilon=1, delta=1e-5)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            model = private(bounds).fit(pop.X[few], pop.y[few], pop.groups[few])
    assert not model.privacy_.exchanged
    assert repr(model.privacy_) == "Privacy(nothing was exchanged, and nothing spent: print it)"
    assert not any("together they cost" in str(one.message) for one in told)
    model.set_params(ledger=ledger).fit(pop.X[few], pop.y[few], pop.groups[few])
    assert ledger.spent() == (0, 0)
    assert private(bounds).fit(pop.X, pop.y, pop.groups).privacy_.exchanged


def test_a_ledger_without_entries_has_its_columns(tmp_path):
    pytest.importorskip("pandas")
    assert billboard.Ledger(tmp_path / "l", epsilon=1).to_frame()["epsilon"].sum() == 0


def test_truths_of_numpy_are_options(pop, bounds):
    model = billboard.MultiTaskRegressor(epsilon=1, bounds=bounds, intervals=np.True_)
    model.fit(pop.X, pop.y, pop.groups).predict_interval(pop.X[:1], pop.groups[:1])


def test_a_search_says_what_it_multiplies(pop, bounds, tmp_path):
    frame = np.column_stack([pop.groups, pop.X])
    model = private(bounds, group_column=0, method="mp-prior")
    search = GridSearchCV(model, {"method_params": [{"vote": False}, {"vote": True}]}, cv=KFold(3))
    with pytest.warns(billboard.PrivacyWarning, match="6 times .2 candidates x 3 splits.*7 times"):
        search.fit(frame, pop.y)
    with pytest.warns(billboard.PrivacyWarning, match="here ε = 0.5 to 2, δ"):
        GridSearchCV(private(bounds, group_column=0, epsilon=None), {"epsilon": [None, 0.5, 2]},
                     cv=2).fit(frame, pop.y)
    ledger = billboard.Ledger(tmp_path / "l", epsilon=3.5, delta=1e-3)
    search.set_params(estimator__ledger=ledger, error_score="raise")
    with pytest.warns(billboard.PrivacyWarning, match="ledger refuses"), \
            pytest.raises(billboard.BudgetError):
        search.fit(frame, pop.y)
    assert ledger.spent()[0] == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error", billboard.PrivacyWarning)
        GridSearchCV(billboard.MultiTaskRegressor(group_column=0),
                     {"fit_intercept": [True, False]}).fit(frame, pop.y)


@pytest.mark.filterwarnings("ignore")
def test_what_a_search_has_chosen_is_not_private(pop, bounds):
    frame = np.column_stack([pop.groups, pop.X])
    pipe = make_pipeline(private(bounds, group_column=0, method="mp-prior"))
    search = GridSearchCV(pipe, {"multitaskregressor__fit_intercept": [True, False]}, cv=KFold(2))
    chosen = search.fit(frame, pop.y).best_estimator_[-1]
    assert not chosen.privacy_.is_private and "NOT PRIVATE: options" in str(chosen.privacy_)
    assert clone(chosen).fit(frame, pop.y).privacy_.is_private  # which nobody can know


# -- classes -------------------------------------------------------------------------------


def test_classes_of_a_private_fit_are_public(pop, bounds):
    names = np.array(["no", "yes"])[pop.binary]
    model = billboard.MultiTaskClassifier(epsilon=2, bounds=bounds)
    with pytest.raises(billboard.BillboardError, match="must be told which classes"):
        model.fit(pop.X, names, pop.groups)
    told = billboard.MultiTaskClassifier("mp-centre", epsilon=2, bounds=bounds,
                                         classes=["yes", "no"]).fit(pop.X, names, pop.groups)
    assert told.classes_.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match="not in classes"):
        clone(told).fit(pop.X, np.where(pop.binary, "yes", "maybe"), pop.groups)
    signs = clone(model).fit(pop.X, 2 * pop.binary - 1, pop.groups + 100)
    assert signs.classes_.tolist() == [-1, 1]
    all_zero = clone(model).fit(pop.X, 0 * pop.binary, pop.groups + 200)
    assert all_zero.classes_.tolist() == [0, 1]


# -- in the words of Python ----------------------------------------------------------------


def test_reports_speak_python(pop, tmp_path):
    model = private(None, options={"tuned_on_data": True})
    with pytest.warns(billboard.PrivacyWarning, match="looking at the data .tuned_on_data.:"):
        model.fit(pop.X, pop.y, pop.groups)
    assert "ranges that anybody knows (bounds) help" in str(model.report_)
    assert "by looking at the data (tuned_on_data, or levels of" in str(model.privacy_)
    for text in model.report_, model.privacy_, *billboard.methods().values():
        assert " --" not in str(text) and "(--" not in str(text)
    ledger = billboard.Ledger(tmp_path / "the ledger", epsilon=3, delta=1e-4)
    private(None, ledger=ledger).fit(pop.X, pop.y, pop.groups)
    some = pop.groups < 50
    with pytest.raises(billboard.BillboardError, match=r"more or fewer, Ledger.also_tasks\(45\) lets"):
        private(None, ledger=ledger).fit(pop.X[some], pop.y[some], pop.groups[some])


def test_comparisons_want_rows(pop, bounds):
    told = "compare: no rows are held out, .* give train_fraction 0.7"
    with pytest.warns(billboard.BillboardWarning, match=told):
        private(bounds, options={"compare": "stl"}).fit(pop.X, pop.y, pop.groups)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", told)
        private(bounds, options={"compare": "stl", "train_fraction": 0.7}).fit(pop.X, pop.y,
                                                                               pop.groups)
