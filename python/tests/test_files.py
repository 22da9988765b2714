"""Billboard's own files: the same rows, seen where they lie, and the same models."""

import os
import subprocess

import numpy as np
import pytest
from scipy import sparse

import billboard


def in_order(pop, file):
    """The places of the population's rows in the file."""
    groups = np.asarray([str(g) for g in pop.groups])
    return np.concatenate([np.flatnonzero(groups == task) for task in file.tasks])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_round_trip(pop, tmp_path, make):
    path = tmp_path / "d.bb"
    made = billboard.write_data(path, make(pop.X), pop.y, groups=pop.groups)
    file = billboard.DataFile(path)
    assert made.rows == len(pop.y) == file.about.rows
    order = in_order(pop, file)
    X = file.X.toarray() if sparse.issparse(file.X) else file.X
    np.testing.assert_array_equal(X, np.asarray(pop.X)[order])
    np.testing.assert_array_equal(file.y, np.asarray(pop.y)[order])
    held = file.X.data if sparse.issparse(file.X) else file.X
    assert not held.flags.owndata and not held.flags.writeable
    assert len(file.y[file.rows_of(file.tasks[1])]) == file.first[2] - file.first[1]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_names_of_frames_are_kept(tmp_path, kind):
    library = pytest.importorskip(kind)
    make = library.table if kind == "pyarrow" else library.DataFrame
    X = make({"gcse": [2.0, 3.0, 1.0], "girl": [0, 1, 1]})
    y = library.Series([5.0, 7.0, 4.0], name="score") if kind == "pandas" else np.ones(3)
    path = tmp_path / "d.bb"
    billboard.write_data(path, X, y, groups=["north", "south", "north"])
    file = billboard.DataFile(path)
    assert file.feature_names == ["gcse", "girl"] and file.X.tolist()[:2] == [[2, 0], [1, 1]]
    assert file.target_name == ("score" if kind == "pandas" else "y")
    billboard.write_data(path, X, y, groups=["north", "south", "north"], names=["a", "b"])
    assert billboard.DataFile(path).feature_names == ["a", "b"]


def test_columns_without_texts_as_names_are_counted(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "d.bb"
    billboard.write_data(path, pandas.DataFrame([[1.0, 2.0]]), pandas.Series([1.0]), groups=["a"])
    file = billboard.DataFile(path)
    assert file.feature_names == ["x1", "x2"] and file.target_name == "y"
    billboard.write_data(path, [[1.0]], groups=["a"])
    assert billboard.DataFile(path).target_name is None
    assert repr(billboard.DataFile(path)).endswith(": 1 task, 1 row, 1 feature)")


def test_float32_and_files(pop, tmp_path):
    wide, narrow = tmp_path / "d.bb", tmp_path / "f.bb"
    billboard.write_data(wide, pop.X, pop.y, groups=pop.groups)
    billboard.convert(wide, narrow, float32=True)
    np.testing.assert_array_equal(billboard.DataFile(narrow).X,
                                  billboard.DataFile(wide).X.astype(np.float32))
    said = subprocess.run([os.environ["BILLBOARD_PROGRAM"], "info", wide], check=True,
                          capture_output=True, text=True).stdout
    assert f"rows             {len(pop.y)}" in said


def test_bad_files(tmp_path):
    path = tmp_path / "d.bb"
    path.write_bytes(b"task,y,x\n" * 20)
    with pytest.raises(billboard.BillboardError, match="billboard convert"):
        billboard.DataFile(path)
    with pytest.raises(billboard.BillboardError, match="none.csv"):
        billboard.convert(tmp_path / "none.csv", path)
