"""At home in scikit-learn: its checks, its tools, its errors."""

import importlib
import os
import pickle
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import check_scoring, make_scorer, mean_squared_error
from sklearn.model_selection import (GridSearchCV, KFold, StratifiedKFold, cross_val_predict,
                                     cross_val_score, cross_validate)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import billboard

ROUTES_SCORE = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)


@parametrize_with_checks([billboard.MultiTaskRegressor(), billboard.MultiTaskClassifier(),
                          billboard.MultiTaskRegressor("mtl-trace"),
                          billboard.MultiTaskRegressor(epsilon=5),
                          billboard.MultiTaskNetwork("dense4,dense")])
def test_estimator_checks(estimator, check):
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("test_the_check_that_asks_for_an_environment does")
    try:
        check(estimator)
    except billboard.BillboardError as error:
        if "libdnnl" not in str(error):
            raise
        pytest.skip(str(error))


ARRAYS = """
import billboard
from sklearn.utils.estimator_checks import estimator_checks_generator
for estimator in (billboard.MultiTaskRegressor(), billboard.MultiTaskClassifier()):
    for estimator, check in estimator_checks_generator(estimator):
        if check.func.__name__ == "check_array_api_input":
            check(estimator)
"""


def test_the_check_that_asks_for_an_environment():
    pytest.importorskip("array_api_strict")
    subprocess.run([sys.executable, "-W", "ignore", "-c", ARRAYS], check=True,
                   env=dict(os.environ, SCIPY_ARRAY_API="1"))


def test_an_older_scikit_learn_is_refused(monkeypatch):
    monkeypatch.delattr(sklearn.utils.validation, "validate_data")
    monkeypatch.setattr(sklearn, "__version__", "1.5.2")
    with pytest.raises(ImportError, match="needs scikit-learn 1.6 or newer, found 1.5.2"):
        importlib.reload(billboard._base)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_groups_are_routed(pop, routing):
    model = billboard.MultiTaskRegressor("stl")
    score = cross_val_score(model, pop.X, pop.y, cv=KFold(3), params={"groups": pop.groups})
    alone = cross_val_score(model, pop.X, pop.y, cv=KFold(3), params={})
    assert alone.max() < score.min() and score.min() > 0.9
    pipe = make_pipeline(FunctionTransformer(), model)
    told = check_scoring(pipe).set_score_request(groups=True) if not ROUTES_SCORE else None
    piped = cross_val_score(pipe, pop.X, pop.y, cv=KFold(3), params={"groups": pop.groups},
                            scoring=told)
    assert np.array_equal(score, piped)
    search = GridSearchCV(pipe, {"multitaskregressor__method_params": [{"lambda": 1e-3}]},
                          cv=KFold(3), scoring=told).fit(pop.X, pop.y, groups=pop.groups)
    assert search.best_score_ == np.mean(score)


@pytest.mark.skipif(ROUTES_SCORE, reason="scikit-learn hands groups on to a pipeline's score")
def test_older_versions_say_how_a_pipeline_is_scored(pop, routing):
    pipe = make_pipeline(billboard.MultiTaskRegressor("stl"))
    with pytest.raises(ValueError, match=r"check_scoring\(pipeline\)\.set_score_request"):
        cross_val_score(pipe, pop.X, pop.y, cv=KFold(3), params={"groups": pop.groups},
                        error_score="raise")


def test_search(pop, routing):
    search = GridSearchCV(billboard.MultiTaskRegressor("stl"),
                          {"method_params": [{"lambda": 1e-3}, {"lambda": 10}]}, cv=KFold(3))
    search.fit(pop.X, pop.y, groups=pop.groups)
    assert search.best_params_ == {"method_params": {"lambda": 1e-3}}
    assert search.best_estimator_.score(pop.X, pop.y, pop.groups) > 0.9


def test_group_columns_are_counted(pop):
    X = np.column_stack([pop.groups, pop.X])
    first, last = (billboard.MultiTaskRegressor(group_column=at).fit(rows, pop.y) for at, rows in
                   ((np.int64(0), X), (-1, np.roll(X, -1, axis=1))))
    assert np.array_equal(first.coef_, last.coef_)
    for at in 4, -5:
        with pytest.raises(ValueError, match=f"group_column={at} is no column of X, which has 4"):
            billboard.MultiTaskRegressor(group_column=at).fit(X, pop.y)


def test_group_column_needs_no_routing(pop):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pop.X, columns=list("abc")).assign(school=pop.groups)
    model = billboard.MultiTaskRegressor("stl", group_column="school")
    by_name = cross_validate(model, frame, pop.y, cv=KFold(3),
                             scoring=make_scorer(mean_squared_error))["test_score"]
    array = np.column_stack([pop.groups, pop.X])
    by_place = cross_validate(clone(model).set_params(group_column=0), array, pop.y, cv=KFold(3),
                              scoring=make_scorer(mean_squared_error))["test_score"]
    assert np.array_equal(by_name, by_place) and by_name.max() < 0.1
    assert model.fit(frame, pop.y).feature_names_in_.tolist() == list("abc")
    search = GridSearchCV(model, {"method_params": [{"lambda": 1e-3}, {"lambda": 10}]}, cv=3)
    assert search.fit(frame, pop.y).best_params_ == {"method_params": {"lambda": 1e-3}}
    rows = sparse.csr_array(array)
    found = clone(model).set_params(group_column=0).fit(rows, pop.y)
    assert np.allclose(found.predict(rows), model.predict(frame), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="given twice"):
        model.fit(frame, pop.y, groups=pop.groups)
    with pytest.raises(ValueError, match=r"'shool' is no column of X, which has \['a', 'b', 'c'"):
        clone(model).set_params(group_column="shool").fit(frame, pop.y)
    with pytest.raises(ValueError, match="did you mean groups=X.'school'."):
        clone(model).set_params(group_column=None).fit(frame.assign(house="red"), pop.y,
                                                   groups="school")


@pytest.mark.parametrize("again", [lambda m: pickle.loads(pickle.dumps(m)),
                                   lambda m: pickle.loads(pickle.dumps(pickle.loads(
                                       pickle.dumps(m))))])
def test_pickles_predict_the_same(pop, bounds, again):
    model = billboard.MultiTaskRegressor(epsilon=3, bounds=bounds).fit(pop.X, pop.y, pop.groups)
    other = again(model)
    assert np.array_equal(other.predict(pop.X, pop.groups), model.predict(pop.X, pop.groups))
    assert str(other.privacy_) == str(model.privacy_)
    assert other.report_["models_sha256"] == model.report_["models_sha256"]


def test_pickles_of_classes_and_sparse_rows(pop):
    X = sparse.csr_matrix(pop.X)
    model = billboard.MultiTaskClassifier("stl").fit(X, pop.classes, pop.groups)
    other = pickle.loads(pickle.dumps(model))
    assert np.array_equal(other.predict_proba(X, pop.groups), model.predict_proba(X, pop.groups))


def test_labels(pop):
    """Any number for each row: a column each, dense or sparse, as scikit-learn has them."""
    frame = billboard.MultiTaskClassifier("stl").fit(pop.X, pop.labels, pop.groups)
    rows = billboard.MultiTaskClassifier("stl", classes=["a", "b", "c"]).fit(
        pop.X, sparse.csr_matrix(pop.labels), pop.groups)
    said = rows.predict(pop.X, pop.groups)
    assert np.array_equal(said, frame.predict(pop.X, pop.groups)) and said.dtype.kind == "i"
    assert rows.coef_.shape == (60, 3, 3) and rows.classes_.tolist() == ["a", "b", "c"]
    assert frame.classes_.tolist() == [0, 1, 2]
    assert rows.score(pop.X, pop.labels, pop.groups) == (said == pop.labels).all(axis=1).mean() > 0.7
    share = rows.predict_proba(pop.X, pop.groups)
    assert np.array_equal(rows.predict_log_proba(pop.X, pop.groups), np.log(share))
    np.testing.assert_allclose(share, 1 / (1 + np.exp(-rows.decision_function(pop.X, pop.groups))))
    assert np.array_equal(share > 0.5, said == 1)
    again = pickle.loads(pickle.dumps(rows))
    assert np.array_equal(again.predict(pop.X, pop.groups), said)
    assert frame.fit(pop.X, pop.binary, pop.groups).predict(pop.X, pop.groups).ndim == 1
    order = np.argsort(pop.groups, kind="stable")
    listed = billboard.MultiTaskClassifier("stl").fit_list(
        np.split(pop.X[order], 60), np.split(pop.labels[order], 60))
    np.testing.assert_allclose(listed.coef_, rows.coef_, rtol=1e-6, atol=1e-9)
    for wrong, words in ((2 * pop.labels - 1, "a matrix of 0 and 1"),
                         (pop.labels[:, :2], "classes has 3 labels, but y has 2 columns"),
                         (pop.labels + 0.5, "Unknown label type")):
        with pytest.raises(ValueError, match=words):
            rows.fit(pop.X, wrong, pop.groups)


def test_joblib(pop):
    def fit(k):
        return billboard.MultiTaskRegressor("stl", method_params={"lambda": 10.0**-k}).fit(
            pop.X, pop.y, pop.groups)
    here = [fit(k).score(pop.X, pop.y, pop.groups) for k in range(3)]
    for backend in ("loky", "threading"):
        models = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(fit)(k)
                                                            for k in range(3))
        assert [m.score(pop.X, pop.y, pop.groups) for m in models] == here


def test_clone_keeps_everything(bounds, tmp_path):
    ledger = billboard.Ledger(tmp_path / "l", epsilon=3)
    model = billboard.MultiTaskRegressor("mp-mixed", epsilon=1, bounds=bounds, ledger=ledger,
                                         method_params={"vote": False}, random_state=3)
    assert clone(model).get_params() == model.get_params()


# -- errors --------------------------------------------------------------------------------


def test_unknown_groups(pop, bounds):
    model = billboard.MultiTaskRegressor("stl").fit(pop.X, pop.y, pop.groups)
    with pytest.raises(ValueError, match=r"Found unknown groups \[999\] during predict"):
        model.predict(pop.X[:2], groups=[999, 5])
    with pytest.raises(ValueError, match="groups is missing"):
        model.predict(pop.X[:2])
    model.set_params(unknown_groups="shared")
    with pytest.raises(billboard.BillboardError, match="no model"):
        model.predict(pop.X[:2], groups=[999, 5])
    model = billboard.MultiTaskRegressor(epsilon=5, bounds=bounds, unknown_groups="shared")
    model.fit(pop.X, pop.y, pop.groups)
    if model.shared_ is not None:
        said = model.predict(pop.X[:3], groups=[999, 5, 998])
        by_hand = pop.X[0] @ model.shared_.coef + model.shared_.intercept
        assert abs(said[0] - by_hand) < 1e-12
        assert model.predict(pop.X[:1])[0] == said[0]


@pytest.mark.parametrize("wrong,words", [
    ([[np.nan, 1, 1]], "contains NaN"), ([[np.inf, 1, 1]], "contains infinity"),
    ([[1, 1]], "X has 2 features, but MultiTaskRegressor is expecting 3 features as input"),
    ([1, 2, 3], "Expected 2D array")])
def test_rows_that_are_none(pop, wrong, words):
    model = billboard.MultiTaskRegressor("stl").fit(pop.X, pop.y, pop.groups)
    with pytest.raises(ValueError, match=words):
        model.predict(wrong, groups=pop.groups[:1])


def test_changed_columns(pop):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pop.X, columns=list("abc"))
    model = billboard.MultiTaskRegressor("stl").fit(frame, pop.y, pop.groups)
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        model.predict(frame[list("bac")], pop.groups)
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        model.predict(frame.rename(columns={"a": "z"}), pop.groups)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(pop.X, pop.groups)


def test_a_fit_that_fails_changes_nothing(pop, tmp_path):
    """Codes of old models would get the names of new classes."""
    ledger = billboard.Ledger(tmp_path / "l", epsilon=5.5, delta=1e-4)
    model = billboard.MultiTaskClassifier(epsilon=5, classes=["no", "yes"], ledger=ledger)
    said = model.fit(pop.X, np.array(["no", "yes"])[pop.binary], pop.groups).predict(
        pop.X, pop.groups)
    model.set_params(classes=["a", "b", "c"])
    with pytest.raises(billboard.BudgetError):
        model.fit(pop.X[:, :2], np.array(["a", "b", "c"])[pop.classes], pop.groups)
    assert model.classes_.tolist() == ["no", "yes"] and model.n_features_in_ == 3
    assert np.array_equal(model.predict(pop.X, pop.groups), said)
    new = billboard.MultiTaskRegressor()
    with pytest.raises(ValueError, match="groups contains NaN"):
        new.fit(pop.X, pop.y, np.full(len(pop.y), np.nan))
    with pytest.raises(NotFittedError):
        new.predict(pop.X, pop.groups)


def test_errors_speak_python(pop):
    with pytest.raises(NotFittedError):
        billboard.MultiTaskRegressor().predict(pop.X)
    with pytest.raises(billboard.BillboardError, match=r"mtl-trac.*billboard\.methods\(\)"):
        billboard.MultiTaskRegressor("mtl-trac").fit(pop.X, pop.y, pop.groups)
    with pytest.raises(billboard.BillboardError, match="without epsilon there is none"):
        billboard.MultiTaskRegressor(ledger="l").fit(pop.X, pop.y, pop.groups)
    with pytest.raises(billboard.BillboardError, match="so delta has no meaning"):
        billboard.MultiTaskRegressor("stl", delta=1e-5).fit(pop.X, pop.y, pop.groups)
    for groups, words in (([1, 2], "inconsistent numbers of samples"),
                          ([None] * len(pop.y), "contains NaN or None"),
                          (np.full(len(pop.y), np.nan), "contains NaN or None"),
                          (["1"] + [1] * (len(pop.y) - 1), "same name as text"),
                          (pop.X, "should be a 1d array"),
                          ("school", "did you mean groups=X.'school'.")):
        with pytest.raises(ValueError, match=words):
            billboard.MultiTaskRegressor().fit(
                pop.X, pop.y, np.array(groups, dtype=object) if words.startswith("same")
                else groups)


@pytest.mark.parametrize("given,words", [
    ({"fit_intercept": "no"}, "'fit_intercept' parameter of MultiTaskRegressor must be"),
    ({"unknown_groups": "ignore"}, "'unknown_groups' parameter.*Got 'ignore'"),
    ({"n_jobs": 0}, "n_jobs should be how many threads.*got 0"), ({"n_jobs": "2"}, "got '2'"),
    ({"progress": 1}, "'progress' parameter"), ({"epsilon": "1"}, "'epsilon' parameter.*Got '1'"),
    ({"epsilon": [1]}, "'epsilon' parameter"), ({"intervals": "yes"}, "'intervals' parameter"),
    ({"epsilon": 1, "options": {"epsilon": 50}}, "'epsilon' is given twice.*has it as epsilon"),
    ({"epsilon": 1, "options": {"seed": 5}}, "'seed' is given twice.*has it as random_state"),
    ({"options": {"scale": "r.json"}}, "given twice.*bounds"),
    ({"options": {"no_intercept": True}}, "given twice.*fit_intercept"),
    ({"options": {"set": "lambda=1"}}, "given twice.*method_params")])
def test_parameters_that_are_none(pop, given, words):
    with pytest.raises(ValueError, match=words):
        billboard.MultiTaskRegressor(**given).fit(pop.X, pop.y, pop.groups)


@pytest.mark.parametrize("wrong", [3, {0, 1}, "ab"])
def test_classes_are_a_list(pop, wrong):
    with pytest.raises(ValueError, match="classes should be a list.*got "):
        billboard.MultiTaskClassifier(classes=wrong).fit(pop.X, pop.binary, pop.groups)


def test_folds_of_every_group(pop, routing):
    """A group that lies in one fold as a whole has no model when that is tested."""
    groups = np.where(np.arange(len(pop.groups)) < 5, 1000 + np.arange(len(pop.groups)), pop.groups)
    model = billboard.MultiTaskRegressor("stl", method_params={"lambda": 1e-3})
    with pytest.warns(UserWarning, match="Scoring failed"):
        alone = cross_val_score(model, pop.X, pop.y, cv=KFold(3), params={"groups": groups})
    assert np.isnan(alone).any()
    more = groups < 1000
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(pop.X[more], groups[more]))
    assert cross_val_score(model, pop.X[more], pop.y[more], cv=folds,
                           params={"groups": groups[more]}).min() > 0.9
    column = clone(model).set_params(group_column=0)
    said = cross_val_predict(column, np.column_stack([groups, pop.X])[more], pop.y[more], cv=folds,
                             params={})
    assert np.corrcoef(said, pop.y[more])[0, 1] > 0.9


def test_groups_that_did_not_arrive(pop):
    """Without routing scikit-learn hands groups to the splitter alone, and says nothing."""
    search = GridSearchCV(billboard.MultiTaskRegressor("stl"), {"rounds": [None]}, cv=3)
    with pytest.warns(billboard.BillboardWarning, match="groups is missing.*metadata_routing"), \
            warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored")
        search.fit(pop.X, pop.y, groups=pop.groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        billboard.MultiTaskRegressor("stl").fit(pop.X, pop.y, pop.groups)


def test_lists_of_tasks(pop):
    order = np.argsort(pop.groups, kind="stable")
    Xs, ys = np.split(pop.X[order], 60), np.split(pop.y[order], 60)
    model = billboard.MultiTaskRegressor("mtl-trace").fit_list(Xs, ys)
    same = billboard.MultiTaskRegressor("mtl-trace").fit(
        pop.X[order], pop.y[order], np.repeat(np.arange(60), 12))
    assert np.array_equal(model.coef_, same.coef_)
    named = billboard.MultiTaskClassifier("stl").fit_list(
        [sparse.csr_matrix(x) for x in Xs], [y > 0 for y in ys], groups=pop.groups[order][::12])
    assert named.groups_.tolist() == sorted(set(pop.groups.tolist()))
    with pytest.raises(ValueError, match="as many tasks"):
        model.fit_list(Xs, ys[1:])
    with pytest.raises(ValueError, match="a name of its own for each task, found 7 twice"):
        model.fit_list(Xs[:3], ys[:3], groups=[7, 8, 7])


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_lists_of_frames(pop, module):
    library = pytest.importorskip(module)
    make = library.table if module == "pyarrow" else library.DataFrame
    order = np.argsort(pop.groups, kind="stable")
    Xs = [{name: x[:, k] for k, name in enumerate("abc")} for x in np.split(pop.X[order], 60)]
    ys = np.split(pop.y[order], 60)
    bounds = billboard.Bounds({"a": 1, "b": 1, "c": 1}, target=3)
    model = billboard.MultiTaskRegressor(epsilon=5, bounds=bounds).fit_list(list(map(make, Xs)), ys)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    other = {"b": Xs[1]["b"], "a": Xs[1]["a"], "c": Xs[1]["c"]}
    with pytest.raises(ValueError, match=r"Xs\[1\]: The feature names should match"):
        model.fit_list([make(Xs[0]), make(other)], ys[:2])
    other["z"] = other.pop("a")
    with pytest.raises(ValueError, match=r"Xs\[1\]: .*\s.*unseen at fit time:\s- z"):
        model.fit_list([make(Xs[0]), make(other)], ys[:2])


def test_classes_have_their_names(pop):
    names = np.array(["low", "mid", "high"])
    y = names[pop.classes]
    model = billboard.MultiTaskClassifier("stl").fit(pop.X, y, pop.groups)
    assert model.classes_.tolist() == ["high", "low", "mid"]
    share = model.predict_proba(pop.X, pop.groups)
    score = model.decision_function(pop.X, pop.groups)
    assert share.shape == score.shape == (len(y), 3)
    np.testing.assert_allclose(share.sum(axis=1), 1)
    assert np.array_equal(model.predict(pop.X, pop.groups), model.classes_[share.argmax(axis=1)])
    assert model.score(pop.X, y, pop.groups) > 0.8
    assert model.coef_.shape == (60, 3, 3) and model.intercept_.shape == (60, 3)
    i = pop.groups[0] - 5
    np.testing.assert_allclose(model.coef_[i] @ pop.X[0] + model.intercept_[i], score[0])
    two = billboard.MultiTaskClassifier("stl").fit(pop.X, names[pop.binary], pop.groups)
    odds = two.decision_function(pop.X, pop.groups)
    np.testing.assert_allclose(two.predict_proba(pop.X, pop.groups)[:, 1], 1 / (1 + np.exp(-odds)))
    np.testing.assert_allclose(two.coef_[i] @ pop.X[0] + two.intercept_[i], odds[0])


def test_a_network(pop):
    net = billboard.MultiTaskNetwork("dense8,dense3", "fedavg", rounds=3, random_state=1,
                                     options={"mechanism": "none"})
    images = np.repeat(pop.X, 12, axis=1).reshape(-1, 6, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = clone(net).fit(pop.X, pop.classes, pop.groups)
        except billboard.BillboardError as error:
            if "libdnnl" in str(error):
                pytest.skip(str(error))
            raise
        seen = clone(net).set_params(net="conv3x4,pool2,dense").fit(images, pop.classes,
                                                                   pop.groups)
        again = clone(net).fit(pop.X, pop.classes, pop.groups)
    for fitted, X in ((model, pop.X), (seen, images), (seen, images[..., np.newaxis])):
        assert fitted.predict_proba(X, pop.groups).shape == (len(pop.y), 3)
    assert not hasattr(model, "coef_") and model.score(pop.X, pop.classes, pop.groups) > 0.4
    said = model.predict(pop.X, pop.groups)
    assert np.array_equal(again.predict(pop.X, pop.groups), said)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(pop.X, pop.groups), said)
