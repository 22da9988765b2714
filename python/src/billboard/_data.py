"""Rows as Python has them, given to the library without copying where that is possible.

numpy arrays and scipy's CSR matrices of float32 or float64 are read where they are, by rows or
by columns; everything else (data frames, Arrow, integers, other sparse formats) is made one such
array first. The library keeps 8 bytes for every number of its own, during the call only."""

import ctypes as c
import math
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np
import sklearn
from scipy import sparse

from . import _abi
from ._library import Data, make


def _address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def from_arrow(X: Any) -> Any:
    """Whatever speaks Arrow's C stream and is no array yet, as a frame that numpy reads."""
    if hasattr(X, "collect_schema") and not hasattr(X, "get_column"):
        raise TypeError("X is a LazyFrame, which has no rows yet: give X.collect()")
    if hasattr(X, "__array__") or not hasattr(X, "__arrow_c_stream__"):
        return X
    try:
        import pyarrow
        return pyarrow.table(X)
    except ImportError:
        pass
    try:
        import polars
        return polars.DataFrame(X)
    except ImportError:
        raise TypeError(f"{type(X).__name__} has an Arrow stream; install pyarrow or polars to "
                        "read it") from None


SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2]))


class _Named:
    """A frame of polars that scikit-learn finds the columns' names of."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.shape = frame, frame.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.frame.to_numpy(), dtype=dtype)

    def __dataframe__(self) -> "_Named":
        return self

    def column_names(self) -> List[str]:
        return list(self.frame.columns)


def named(X: Any) -> Any:
    """Before 1.9 scikit-learn asks frames for ``__dataframe__``, which polars has to 2.0 only."""
    if SKLEARN < (1, 9) and hasattr(X, "get_column") and not hasattr(X, "__dataframe__"):
        return _Named(X)
    return X


def _types(X: Any) -> Iterator[Tuple[Any, bool, bool]]:
    """(name, are dates or times, are true or false) of the columns of a frame; of an array, where
    all are alike, those that are one of the two."""
    if hasattr(X, "schema") and hasattr(X, "column_names"):  # pyarrow
        from pyarrow import types
        for field in X.schema:
            yield field.name, types.is_temporal(field.type), types.is_boolean(field.type)
    elif hasattr(X, "get_column"):  # polars
        for name, dtype in X.schema.items():
            yield name, dtype.is_temporal(), str(dtype) == "Boolean"
    elif hasattr(X, "dtypes") and hasattr(X, "columns"):  # pandas
        for name, dtype in zip(X.columns, X.dtypes):
            kind = getattr(dtype, "kind", "O")
            yield name, kind in "mM" or hasattr(dtype, "freq"), kind == "b"
    else:
        kind = getattr(getattr(X, "dtype", None), "kind", "O")
        for k in range(X.shape[-1] if kind in "mMb" else 0):
            yield k, kind in "mM", kind == "b"


def truths(X: Any) -> List[int]:
    """The columns that are true or false by their type; 0 and 1 as numbers are anything."""
    return [k for k, (_, _, is_truth) in enumerate(_types(X)) if is_truth]


def names_of(X: Any) -> Optional[List[str]]:
    """Of the columns of a frame that have texts as names, as scikit-learn has them."""
    names = list(getattr(X, "column_names", getattr(X, "columns", ())))  # pyarrow; others
    return names if names and all(isinstance(name, str) for name in names) else None


def refuse_dates(X: Any) -> None:
    """Numbers of them would be in units that nobody has named."""
    for name, is_date, _ in _types(X):
        if is_date:
            raise ValueError(f"X has dates or times in column {name!r}: make them numbers before, "
                             "such as days since a day that anybody knows")


def _columns(X: Any) -> Iterator[Tuple[Any, Any]]:
    """(name, values) of the columns of a frame or an array."""
    if hasattr(X, "column_names") and hasattr(X, "column"):  # pyarrow
        yield from ((name, X.column(k)) for k, name in enumerate(X.column_names))
    elif hasattr(X, "get_column"):  # polars
        yield from ((name, X.get_column(name)) for name in X.columns)
    elif hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        yield from ((name, X.iloc[:, k]) for k, name in enumerate(X.columns))
    elif not sparse.issparse(X):
        array = np.asarray(X, dtype=object)
        yield from enumerate(array.T if array.ndim == 2 else ())


def _is_text(value: Any) -> bool:
    if not isinstance(value, (str, bytes)):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def why_no_targets(y: Any) -> Optional[str]:
    """What targets that are no numbers are."""
    for value in np.asarray(y, dtype=object).ravel().tolist():
        if _is_text(value):
            return (f"y has texts, such as {value!r}, where numbers are learned: classes are for "
                    "MultiTaskClassifier")
    return None


def why_no_numbers(X: Any) -> Optional[str]:
    """What rows that are not finite numbers have in which column: texts, nothing, or others."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is not None and len(names) == 0:
        return "X has no column to learn from"
    for name, column in _columns(X):
        values = np.asarray(column, dtype=object).tolist()
        texts = [value for value in values if _is_text(value)]
        if texts:
            return (f"X has texts in column {name!r}, such as {texts[0]!r}: make each level that "
                    "anybody may know a column of 0 and 1 before, by pandas.get_dummies or "
                    "sklearn.preprocessing.OneHotEncoder(categories=...), or leave the column out")
        missing = sum(map(_is_missing, values))
        if missing:
            have = "has" if missing == 1 else "have"
            return (f"Input X contains NaN: {missing} of {len(values)} rows {have} no value in column "
                    f"{name!r}: leave these rows out, or put a number that anybody knows there, as "
                    "sklearn.impute.SimpleImputer(strategy='constant', fill_value=0, "
                    "add_indicator=True) does")
        for value in values:
            if not _is_number(value):
                if names is None:
                    return None  # of arrays scikit-learn says it
                return (f"X has no numbers in column {name!r}, but {value!r}, say: make numbers "
                        "of them before, or leave the column out")
            if math.isinf(float(value)):
                return (f"Input X contains infinity, or a value too large for it, in column "
                        f"{name!r}: numbers are finite")
    return None


def plain(y: Any) -> Any:
    """Integers and truths of pandas that could be missing, and are not, as numpy has them:
    scikit-learn would take floats of them."""
    if getattr(y, "ndim", 0) != 1 or not hasattr(y, "isna"):
        return y
    if y.isna().any():
        raise ValueError("Input y contains NaN or None: every row to learn from has a target")
    dtype = getattr(y.dtype, "numpy_dtype", None)
    return y if dtype is None else y.to_numpy(dtype=dtype)


def column_of(X: Any, column: Any) -> Tuple[Any, Any]:
    """(X without a column, the column), which is named or counted."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # pyarrow; polars, pandas
    if isinstance(column, str) and names is not None and column not in list(names):
        raise ValueError(f"group_column={column!r} is no column of X, which has "
                         f"{[str(name) for name in names][:20]}")
    if not isinstance(column, str):
        column, width = int(column), np.shape(X)[1]
        if not -width <= column < width:
            raise ValueError(f"group_column={column} is no column of X, which has {width}")
    if hasattr(X, "drop_columns"):  # pyarrow
        name = X.column_names[column] if isinstance(column, int) else column
        return X.drop_columns([name]), X.column(name)
    if hasattr(X, "get_column"):  # polars
        name = X.columns[column] if isinstance(column, int) else column
        return X.drop(name), X.get_column(name)
    if hasattr(X, "iloc"):  # pandas
        at = column if isinstance(column, int) else X.columns.get_loc(column)
        return X.drop(columns=X.columns[at]), X.iloc[:, at]
    if isinstance(column, str):
        raise ValueError(f"group_column={column!r} is a name, but X has no column names")
    if sparse.issparse(X):
        rows = sparse.csc_matrix(X)
        others = [k for k in range(rows.shape[1]) if k != column % rows.shape[1]]
        return rows[:, others].tocsr(), rows[:, [column]].toarray()[:, 0]
    array = np.asarray(X)
    return np.delete(array, column, axis=1), array[:, column]


# -- whose rows they are -------------------------------------------------------------------


class Groups:
    """Whose each row is: `code[r]` of the different `labels`, which have the `names` that the
    library knows tasks by."""

    def __init__(self, labels: Sequence[Any], code: np.ndarray) -> None:
        self.labels, self.code = list(labels), code
        self.names = [text_of_label(label) for label in self.labels]
        if len(set(self.names)) != len(self.names):
            raise ValueError("groups: two different groups have the same name as text, such "
                             "as 1 and '1'")
        check_names(self.names, "groups")

    def by_name(self) -> Dict[str, Any]:
        return dict(zip(self.names, self.labels))

    def pointers(self) -> Tuple[Any, List[Any]]:
        """`const char *const *`, and what must live as long."""
        texts = texts_of(self.names)
        at = np.frombuffer(texts, dtype=np.uintp)[self.code]
        return c.cast(_address(at), c.POINTER(c.c_char_p)), [texts, at]


def check_names(names: Sequence[str], what: str) -> None:
    """For the library a text ends at a NUL."""
    for name in names:
        if "\0" in name:
            raise ValueError(f"{what}: no name can have a NUL in it, found {name!r}")


def texts_of(names: Sequence[str]) -> Any:
    """`const char *const *`"""
    return (c.c_char_p * len(names))(*[name.encode() for name in names])


def text_of_label(label: Any) -> str:
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    if isinstance(label, bytes):
        return label.decode()
    if isinstance(label, tuple):  # numpy's numbers in it say their type, from 2.0 on
        return str(tuple(part.item() if isinstance(part, (np.number, np.bool_, np.str_)) else part
                         for part in label))
    return str(label)


def _is_missing(label: Any) -> bool:
    return label is None or str(label) in ("nan", "<NA>", "NaT") or bool(label != label)


def has_missing(labels: np.ndarray) -> bool:
    return labels.dtype.kind == "O" and any(map(_is_missing, labels.flat))


def check_groups(groups: Any) -> None:
    if isinstance(groups, str):
        raise ValueError("groups should have one for every row, found a text: did you mean "
                         f"groups=X[{groups!r}], or group_column={groups!r}?")


def are_disordered(X: Any, groups: Any) -> bool:
    """Both are pandas', and have the same index in another order."""
    if not (hasattr(X, "iloc") and hasattr(groups, "iloc")):
        return False
    rows, theirs = X.index, groups.index
    return (len(rows) == len(theirs) and not rows.equals(theirs) and rows.is_unique
            and theirs.is_unique and bool(theirs.isin(rows).all()))


def groups_of(groups: Any, rows: int) -> Groups:
    """Of strings, integers, categoricals, dates or tuples; of None: all rows are one task."""
    if groups is None:
        return Groups(["all"], np.zeros(rows, dtype=np.intp))
    check_groups(groups)
    dtype = getattr(groups, "dtype", None)
    categories = getattr(dtype, "categories", None)
    if hasattr(groups, "cat") and categories is not None and hasattr(groups.cat, "codes"):
        code, labels = np.asarray(groups.cat.codes), list(categories)  # pandas
    elif categories is not None and hasattr(groups, "codes"):
        code, labels = np.asarray(groups.codes), list(categories)
    else:
        code, labels = _factorize(_labels(groups))
    if code.ndim != 1:
        raise ValueError(f"groups should be a 1d array, got an array of shape {code.shape} "
                         "instead.")
    if len(code) != rows:
        raise ValueError("Found input variables with inconsistent numbers of samples: "
                         f"[{rows}, {len(code)}]")
    present, code = np.unique(code, return_inverse=True)
    if present[0] < 0 or any(_is_missing(labels[k]) for k in present):
        raise ValueError("groups contains NaN or None: every row belongs to a group")
    return Groups([labels[k] for k in present], code.astype(np.intp, copy=False))


def _labels(groups: Any) -> np.ndarray:
    """An array of them, in which a tuple is one label."""
    if not isinstance(groups, (list, tuple)) or not any(isinstance(g, tuple) for g in groups):
        return np.asarray(groups)
    labels = np.empty(len(groups), dtype=object)
    labels[:] = groups
    return labels


def _by_days(dates: np.ndarray) -> np.ndarray:
    """Days, seconds, ... that are as exact: nanoseconds are no words for a date."""
    for unit in "D", "s", "ms", "us":
        rounded = dates.astype(f"datetime64[{unit}]")
        if np.array_equal(rounded, dates, equal_nan=True):
            return rounded
    return dates


def _factorize(groups: np.ndarray) -> Tuple[np.ndarray, List[Any]]:
    if groups.dtype.kind == "M":
        groups = _by_days(groups)
    if groups.dtype.kind == "M" and groups.ndim == 1:
        dates, code = np.unique(groups, return_inverse=True)
        return code, list(dates)
    if groups.dtype.kind in "iufbUS" and groups.ndim == 1:
        labels, code = np.unique(groups, return_inverse=True)
        return code, labels.tolist()
    if groups.ndim != 1:
        return groups, []
    found: Dict[Any, int] = {}
    code = np.fromiter((found.setdefault(g, len(found)) for g in groups.tolist()),
                       dtype=np.intp, count=len(groups))
    return code, list(found)


# -- rows ----------------------------------------------------------------------------------

_TYPES = {np.dtype(np.float64): _abi.FLOAT64, np.dtype(np.float32): _abi.FLOAT32}


def _dense(arrays: Any, X: np.ndarray) -> List[Any]:
    if X.dtype not in _TYPES:
        X = X.astype(np.float64)
    by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
    if not (X.flags.c_contiguous or by_columns):
        X = np.ascontiguousarray(X)
    arrays.x, arrays.x_type = _address(X), _TYPES[X.dtype]
    arrays.columns_first = int(by_columns)
    return [X]


def _sparse(arrays: Any, X: Any) -> List[Any]:
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    start = X.indptr.astype(np.int64, copy=False)
    column = X.indices.astype(np.int32, copy=False)
    value = X.data if X.data.dtype in _TYPES else X.data.astype(np.float64)
    arrays.row_start = c.cast(_address(start), c.POINTER(c.c_int64))
    arrays.column = c.cast(_address(column), c.POINTER(c.c_int32))
    arrays.value, arrays.x_type = _address(value), _TYPES[value.dtype]
    return [start, column, value]


def rows_of(X: Any, groups: Groups, y: Any = None, names: Optional[Sequence[str]] = None,
            target: Optional[str] = None) -> Data:
    """`billboard_data` of features (dense, or CSR), the rows' groups, and targets: numbers, or a CSR
    matrix whose entries say which labels a row has; `names` are those of the features, `target` is
    y's."""
    arrays = _abi.billboard_arrays(struct_size=c.sizeof(_abi.billboard_arrays),
                                   rows=X.shape[0], features=X.shape[1])
    alive = _sparse(arrays, X) if sparse.issparse(X) else _dense(arrays, X)
    arrays.task_name, texts = groups.pointers()
    alive += texts
    if sparse.issparse(y):
        start = y.indptr.astype(np.int64, copy=False)
        label = y.indices.astype(np.int32, copy=False)
        arrays.label_start = c.cast(_address(start), c.POINTER(c.c_int64))
        arrays.label = c.cast(_address(label), c.POINTER(c.c_int32))
        alive += [start, label]
    elif y is not None:
        y = np.ascontiguousarray(y, dtype=y.dtype if y.dtype in _TYPES else np.float64)
        arrays.y, arrays.y_type = _address(y), _TYPES[y.dtype]
        alive.append(y)
    if names is not None:
        check_names(names, "columns")
        arrays.feature_name = texts_of(names)
        alive.append(arrays.feature_name)
    if target is not None:
        check_names([target], "y")
        arrays.target_name = target.encode()
    data = make(Data, "billboard_data_from_arrays", c.byref(arrays))
    del alive
    return data
