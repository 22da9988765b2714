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
