"""Rows as people have them: the same models from all of them, and how much is copied."""

import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse

import billboard
from billboard._data import groups_of


def fit(X, y, groups):
    return billboard.MultiTaskRegressor("stl").fit(X, y, groups)


ARRAYS = {
    "C": np.ascontiguousarray, "Fortran": np.asfortranarray, "lists": lambda X: X.tolist(),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sparse.csr_matrix, "csc": sparse.csc_matrix, "coo": sparse.coo_matrix,
    "csr_array": sparse.csr_array,
}


@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_arrays(pop, make):
    want = fit(pop.X, pop.y, pop.groups)
    found = fit(make(pop.X), pop.y, pop.groups)
    np.testing.assert_allclose(found.coef_, want.coef_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.predict(make(pop.X), pop.groups),
                               want.predict(pop.X, pop.groups), rtol=0, atol=1e-9)
    assert found.report_.models_sha256 == want.report_.models_sha256


def test_sparse_columns_are_learned_like_dense_ones(pop):
    """In units that groups have in common, which rows that stay sparse have none of."""
    made = [billboard.MultiTaskRegressor(epsilon=1, random_state=1).fit(X, pop.y, pop.groups)
            for X in (pop.X, sparse.csr_matrix(pop.X))]
    assert made[0].report_.models_sha256 == made[1].report_.models_sha256


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, sparse.csr_matrix])
def test_float32_is_read_as_it_is(pop, make):
    single = pop.X.astype(np.float32)
    want = fit(make(single.astype(np.float64)), pop.y, pop.groups)
    assert fit(make(single), pop.y.astype(np.float64), pop.groups).report_.models_sha256 \
        == want.report_.models_sha256


def test_integers_and_flags(pop):
    X = np.column_stack([pop.X[:, 0] > 0, np.round(9 * pop.X[:, 1])]).astype(np.int8)
    assert fit(X, pop.y, pop.groups).report_.models_sha256 \
        == fit(X.astype(float), pop.y, pop.groups).report_.models_sha256


def frames(pop):
    names = ["age", "height", "dose"]
    columns = {name: pop.X[:, k] for k, name in enumerate(names)}
    columns["count"] = np.round(10 * pop.X[:, 0]).astype(np.int64)
    return columns


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_frames(pop, module):
    library = pytest.importorskip(module)
    make = library.table if module == "pyarrow" else library.DataFrame
    columns = frames(pop)
    want = fit(np.column_stack(list(columns.values())), pop.y, pop.groups)
    frame = make(columns)
    text = make({"g": pop.groups.astype(str), "y": pop.y})
    found = fit(frame, text["y"], text["g"])
    assert found.feature_names_in_.tolist() == list(columns)
    assert np.array_equal(found.coef_, want.coef_)
    assert np.array_equal(found.predict(frame, text["g"]), want.predict(
        np.column_stack(list(columns.values())), pop.groups))
    assert found.groups_.tolist() == [str(g) for g in want.groups_]


class Stream:
    """Nothing but Arrow's C stream, as the capsule of a table."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_arrow_streams(pop):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(frames(pop))
    stream = fit(Stream(table), pop.y, pop.groups)
    assert np.array_equal(stream.coef_, fit(table, pop.y, pop.groups).coef_)
    assert stream.feature_names_in_.tolist() == table.column_names


def test_groups_have_many_forms(pop):
    want = fit(pop.X, pop.y, pop.groups)
    text = pop.groups.astype(str)
    forms = [pop.groups.tolist(), pop.groups.astype(np.int32), pop.groups.astype(float), text,
             text.astype(object), text.tolist(), np.char.encode(text)]
    pandas = pytest.importorskip("pandas")
    forms += [pandas.Series(pop.groups), pandas.Series(text).astype("category"),
              pandas.Categorical(text), pandas.Series(text, dtype="string"),
              pandas.Series(pop.groups, dtype="Int64"),
              pandas.Series(text, index=np.arange(len(text))[::-1])]
    polars = pytest.importorskip("polars")
    forms += [polars.Series(pop.groups), polars.Series(text.tolist(), dtype=polars.Categorical)]
    pyarrow = pytest.importorskip("pyarrow")
    forms += [pyarrow.array(text), pyarrow.chunked_array([text[:9], text[9:]]),
              pyarrow.array(text).dictionary_encode()]
    for groups in forms:
        found = fit(pop.X, pop.y, groups)
        assert found.report_.models_sha256 == want.report_.models_sha256, type(groups)
        assert found.groups_.tolist() in (want.groups_.tolist(), [*map(str, want.groups_)],
                                          [str(g).encode() for g in want.groups_])
        assert np.array_equal(found.predict(pop.X[:9], groups[:9]),
                              want.predict(pop.X[:9], pop.groups[:9]))


def test_labels_come_back(pop):
    assert groups_of(np.array([("a", 1), ("b", 2), None], dtype=object)[[0, 1, 0]], 3).names \
        == ["('a', 1)", "('b', 2)"]
    days = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[ns]")[[0, 1, 1]]
    found = groups_of(days, 3)
    assert found.names == ["2024-01-01", "2024-01-02"]
    assert np.array_equal(found.labels, days[:2])
    assert groups_of(days + np.timedelta64(90, "m"), 3).names[0] == "2024-01-01T01:30:00"
    with pytest.raises(ValueError, match="groups contains NaN or None"):
        groups_of(np.array(["2024-01-01", "NaT"], dtype="datetime64[ns]"), 2)
    days = (np.datetime64("2024-01-01", "ns") + pop.groups.astype("timedelta64[D]"))
    model = fit(pop.X, pop.y, days)
    assert np.array_equal(model.groups_, np.unique(days))
    assert str(model.groups_[0]) == str(np.unique(days)[0])[:10]
    model.predict(pop.X[:9], days[:9])


def test_tuples_are_one_label(pop):
    pandas = pytest.importorskip("pandas")
    parts = [pop.groups, np.where(pop.groups > 30, "b", "a")]
    want = fit(pop.X, pop.y, list(zip(*parts)))
    assert len(want.groups_) == 60 and want.groups_[0] == (5, "a")
    forms = [pandas.MultiIndex.from_arrays(parts), pandas.Series(list(zip(*map(list, parts)))),
             [(int(g), str(kind)) for g, kind in zip(*parts)]]
    for groups in forms:
        assert np.array_equal(want.predict(pop.X, groups), want.predict(pop.X, list(zip(*parts))))
    assert groups_of(list(zip(*parts)), len(pop.y)).names[0] == repr(forms[2][0])


def test_groups_of_rows_in_another_order(pop):
    pandas = pytest.importorskip("pandas")
    frame, groups = pandas.DataFrame(pop.X, columns=list("abc")), pandas.Series(pop.groups)
    model = fit(frame, pop.y, groups)
    with pytest.warns(billboard.BillboardWarning, match="index of X in another order") as told:
        fit(frame, pop.y, groups.sample(frac=1, random_state=0))
    assert told[0].filename == __file__
    with pytest.warns(billboard.BillboardWarning, match="^y has the index of X in another order"):
        fit(frame, pandas.Series(pop.y).sample(frac=1, random_state=0), groups)
    with pytest.warns(billboard.BillboardWarning, match="index of X in another order") as told:
        model.predict(frame[:2], groups[:2][::-1])
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(frame, pop.y, groups.set_axis(groups.index + 1))
        fit(frame.set_axis([0] * len(frame)), pop.y, groups)


def test_names_are_whole(pop):
    groups = np.where(pop.groups < 30, "a", "a\0b").tolist()
    with pytest.raises(ValueError, match=r"groups: no name can have a NUL in it, found 'a\\x00b'"):
        fit(pop.X, pop.y, groups)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="columns: no name can have a NUL"):
        fit(pandas.DataFrame(pop.X, columns=["a", "b", "a\0c"]), pop.y, pop.groups)


def test_missing_groups_and_targets_of_pandas(pop):
    pandas = pytest.importorskip("pandas")
    some = pandas.Series(["a", None] * (len(pop.y) // 2), dtype="string")
    with pytest.raises(ValueError, match="groups contains NaN or None"):
        fit(pop.X, pop.y, some)
    for y in (some, ["a", None] * (len(pop.y) // 2)):
        with pytest.raises(ValueError, match="Input y contains NaN or None"):
            billboard.MultiTaskClassifier().fit(pop.X, y, pop.groups)


@pytest.mark.parametrize("dtype,kind", [("boolean", "b"), ("Int64", "i"), ("int64", "i")])
def test_classes_of_pandas_keep_their_kind(pop, dtype, kind):
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(pop.binary).astype(dtype)
    found = billboard.MultiTaskClassifier().fit(pop.X, y, pop.groups).classes_
    assert found.dtype.kind == kind and found.tolist() == [0, 1]


def test_numbers_of_one_place_are_summed(pop):
    rows = len(pop.y)
    X = sparse.csr_matrix((np.tile(pop.X[:, 0] / 2, (2, 1)).T.ravel(), np.full(2 * rows, 3),
                           np.arange(0, 2 * rows + 1, 2)), shape=(rows, 600))
    found = fit(X, pop.y, pop.groups)
    assert X.nnz == 2 * rows
    X.sum_duplicates()
    assert found.report_.models_sha256 == fit(X, pop.y, pop.groups).report_.models_sha256


@pytest.mark.parametrize("module", ["numpy", "pandas", "polars", "pyarrow"])
def test_dates_are_no_numbers(pop, module):
    library = pytest.importorskip(module)
    days = np.datetime64("2024-01-01") + np.arange(len(pop.y))
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}.get(module)
    X = days[:, np.newaxis] if make is None else getattr(library, make)(
        {"a": pop.X[:, 0], "day": days.astype("datetime64[ms]")})
    with pytest.raises(ValueError, match="dates or times in column " + ("'day'" if make else "0")):
        fit(X, pop.y, pop.groups)
    y = days if make is None or module == "pyarrow" else library.Series(days)
    with pytest.raises(ValueError, match="y has dates or times"):
        fit(pop.X, y, pop.groups)


def test_rows_that_are_no_table(pop):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="Expected .*2"):
        fit(pandas.Series(pop.y), pop.y, pop.groups)
    polars = pytest.importorskip("polars")
    lazy = polars.DataFrame({"a": pop.y, "g": pop.groups}).lazy()
    with pytest.raises(TypeError, match=r"no rows yet: give X.collect\(\)"):
        billboard.MultiTaskRegressor(group_column="g").fit(lazy, pop.y)


def test_a_column_with_the_name_of_the_intercept(pop):
    """It was taken for that: coef_ had a column less, and predict refused its rows."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pop.X, columns=["a", "b", "(intercept)"])
    for model in billboard.MultiTaskRegressor(), billboard.MultiTaskRegressor(fit_intercept=False):
        with pytest.raises(billboard.BillboardError, match="a column has the constant's name"):
            model.fit(frame, pop.y, pop.groups)


@pytest.mark.parametrize("module", ["numpy", "pandas", "polars", "pyarrow"])
def test_columns_that_are_no_numbers_are_named(pop, module):
    library = pytest.importorskip(module)
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}.get(module)
    name, rows = "'b'" if make else "1", len(pop.y)

    def table(column):
        if make is None:
            return np.array([pop.X[:, 0].tolist(), column], dtype=object).T
        return getattr(library, make)({"a": pop.X[:, 0], "b": column})
    model = fit(table(pop.X[:, 1].tolist()), pop.y, pop.groups)
    wrong = [(["1", *["y"] * (rows - 1)], f"texts in column {name}, such as 'y': .*get_dummies"),
             ([None, *pop.X[1:, 1].tolist()],
              f"contains NaN: 1 of {rows} rows has no value in column {name}: .*SimpleImputer"),
             ([float("inf"), *pop.X[1:, 1].tolist()], f"contains infinity.* in column {name}")]
    for column, words in wrong:
        for learn in (True, False):
            with pytest.raises(ValueError, match=words):
                if learn:
                    fit(table(column), pop.y, pop.groups)
                else:
                    model.predict(table(column), pop.groups)


def test_columns_of_categories_are_named(pop):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pop.X[:, 0], "b": pandas.Categorical(["y"] * len(pop.y))})
    with pytest.raises(ValueError, match="texts in column 'b', such as 'y'"):
        fit(frame, pop.y, pop.groups)
    frame["b"] = pandas.array([None] * len(pop.y), dtype="Int64")
    with pytest.raises(ValueError, match="NaN: .* in column 'b'"):
        fit(frame, pop.y, pop.groups)
    frame["b"] = pandas.cut(pop.X[:, 1], 3)
    with pytest.raises(ValueError, match="no numbers in column 'b', but Interval"):
        fit(frame, pop.y, pop.groups)
    with pytest.raises(ValueError, match="X has no column"):
        fit(frame[[]], pop.y, pop.groups)


def test_texts_to_predict_are_classes(pop):
    texts = np.where(pop.y > 0, "yes", "no")
    for y in texts, texts.tolist(), texts.astype(object):
        with pytest.raises(ValueError, match="y has texts, such as '.*MultiTaskClassifier"):
            fit(pop.X, y, pop.groups)


@pytest.mark.parametrize("one, other, how", [("1", "1.0", "are the same number"),
                                             ("ward", "ward ", "differ in blanks")])
def test_groups_that_are_written_in_two_ways_are_told(pop, one, other, how):
    groups = np.where(pop.groups < 30, one, np.where(pop.groups < 50, other, "last"))
    with pytest.warns(billboard.BillboardWarning, match=f"'?{one}.* are two, .*{how}"):
        fit(pop.X, pop.y, groups)


# -- copies --------------------------------------------------------------------------------


def copied(X, y, groups, standardize="auto"):
    """The most that Python allocates during fit and predict, as a share of X."""
    model = fit(X[:8], y[:8], groups[:8])  # whatever is allocated once
    model = billboard.MultiTaskRegressor("stl", standardize=standardize)
    size = X.data.nbytes if sparse.issparse(X) else X.nbytes if hasattr(X, "nbytes") \
        else X.memory_usage().sum()
    tracemalloc.start()
    model.fit(X, y, groups)
    model.predict(X, groups)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / size


def big(rows=20000, features=100):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features))
    return X, X[:, 0].copy(), np.arange(rows) % 20


@pytest.mark.parametrize("make", [
    np.ascontiguousarray, np.asfortranarray, lambda X: X.astype(np.float32)])
def test_arrays_are_not_copied(make):
    X, y, groups = big()
    assert copied(make(X), y, groups) < 0.15


@pytest.mark.parametrize("columns,standardize", [(501, "auto"), (100, "none")])
def test_sparse_matrices_that_stay_sparse_are_not_copied(columns, standardize):
    X, y, groups = big(4000, columns)
    assert copied(sparse.csr_matrix(X), y, groups, standardize) < 0.15


def test_frames_are_copied_once():
    pandas = pytest.importorskip("pandas")
    X, y, groups = big()
    frame = pandas.DataFrame(X)
    frame.columns = [f"c{k}" for k in range(X.shape[1])]
    assert copied(frame, y, groups) < 1.15
    frame["c1"] = (10 * frame["c1"]).astype(int)
    assert copied(frame, y, groups) < 1.15


def test_integers_are_copied_once():
    X, y, groups = big()
    assert copied((100 * X).astype(np.int64), y, groups) < 1.15


# -- what need not be installed ------------------------------------------------------------

WITHOUT = """
import sys
ABSENT = ("pandas", "polars", "pyarrow", "matplotlib", "tqdm")
class Absent:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ABSENT:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import numpy as np, billboard
X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
model = billboard.MultiTaskRegressor(epsilon=2, bounds={"others": 1, "target": 2}, progress=True)
model.fit(X, X[:, 0], groups=np.arange(400) % 40)
assert isinstance(billboard.account(rounds=2, tasks=40, epsilon=1, curve="delta").curve_frame(), list)
assert not set(ABSENT) & set(sys.modules)
print(repr(model.privacy_))
"""


def test_without_pandas_and_polars():
    said = subprocess.run([sys.executable, "-c", WITHOUT], check=True, capture_output=True,
                          text=True).stdout
    assert said == "Privacy(ε = 2 at δ = 1e-05, replace-one, sampling all)\n"
