"""Vectors as programs hand them over: to append, and as queries."""

import array
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers import (connection, ids, nearest, run, vector_rows, vector_schema, vector_table)
from infino import IndexSpec

#: Whole numbers, so that every type of number has them exactly.
QUERY = [float(i % 5 + 1) for i in range(16)]


def numbered(rows=20):
    """Vectors of whole numbers, none like another."""
    return np.array([[(7 * i + j * j) % 100 for j in range(16)] for i in range(rows)], "f4")


class ArrayLike:
    def __array__(self, dtype=None, copy=None):
        return np.array(QUERY, dtype)


def forms():
    doubled = np.repeat(np.array(QUERY, "f4"), 2)
    return {
        "list": QUERY, "tuple": tuple(QUERY), "ints": [int(x) for x in QUERY],
        "numpy scalars": [np.float32(x) for x in QUERY[:8]] + [np.float64(x) for x in QUERY[8:]],
        "numpy ints": [np.int8(x) for x in QUERY], "mixed": [1, *QUERY[1:]],
        **{kind: np.array(QUERY, kind) for kind in (
            "f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">f4", ">i8", "O",
            "longdouble")},
        "strided": doubled[::2], "reversed": np.array(QUERY[::-1])[::-1],
        "column": np.array([QUERY, QUERY]).T[:, 1], "unaligned": np.frombuffer(
            b"x" + np.array(QUERY, "f8").tobytes(), "f8", offset=1),
        "read-only": np.frombuffer(np.array(QUERY, "f4").tobytes(), "f4"),
        "array f": array.array("f", QUERY), "array d": array.array("d", QUERY),
        "array l": array.array("l", [int(x) for x in QUERY]),
        "memoryview": memoryview(array.array("f", QUERY)),
        "pyarrow f": pa.array(QUERY, pa.float32()), "pyarrow d": pa.array(QUERY),
        "pyarrow e": pa.array(np.array(QUERY, "f2")),
        "pyarrow i": pa.array([int(x) for x in QUERY], pa.uint8()),
        "pyarrow slice": pa.array([9.0, *QUERY, 9.0]).slice(1, 16),
        "pyarrow chunks": pa.chunked_array([QUERY[:5], QUERY[5:]]),
        "fixed scalar": pa.scalar(QUERY, pa.list_(pa.float32(), 16)),
        "list scalar": pa.scalar(QUERY, pa.list_(pa.float64())),
        "pandas": pd.Series(QUERY), "pandas ints": pd.Series(QUERY, dtype="int64"),
        "polars": pl.Series(QUERY), "array-like": ArrayLike(),
        "iterator": iter(QUERY), "generator": (x for x in QUERY),
    }


@pytest.mark.parametrize("form", list(forms()))
def test_a_query_comes_in_many_forms(form):
    table = vector_table(numbered())
    want = table.vector_search("v", QUERY, 5)
    found = table.vector_search("v", forms()[form], 5)
    assert found.equals(want), form


def batch_forms():
    two = [QUERY, QUERY[::-1]]
    matrix = np.array(two, "f4")
    fixed = pa.list_(pa.float32(), 16)
    return {
        "lists": two, "tuples": tuple(tuple(q) for q in two), "arrays": [np.array(q) for q in two],
        "mixed": [QUERY, array.array("d", QUERY[::-1])],
        **{kind: matrix.astype(kind) for kind in ("f2", "f4", "f8", "i4", "u1", ">f8", "O")},
        "fortran": np.asfortranarray(matrix), "transposed": np.ascontiguousarray(matrix.T).T,
        "every other": np.repeat(matrix, 2, axis=0)[::2], "generator": (q for q in two),
        "fixed lists": pa.array(two, fixed), "doubles": pa.array(two, pa.list_(pa.float64(), 16)),
        "slice": pa.array([[0.0] * 16, *two, [0.0] * 16], fixed).slice(1, 2),
        "lists of any length": pa.array(two), "large lists": pa.array(two, pa.large_list(pa.int16())),
        "chunks": pa.chunked_array([[two[0]], [two[1]]], type=fixed),
        "scalars": [pa.scalar(q, fixed) for q in two],
        "pandas": pd.Series([np.array(q) for q in two]), "polars": pl.Series(two),
    }


@pytest.mark.parametrize("form", list(batch_forms()))
def test_a_batch_comes_in_many_forms(form):
    table = vector_table(numbered())
    want = [table.vector_search("v", q, 4).to_pylist() for q in (QUERY, QUERY[::-1])]
    found = table.vector_search("v", batch_forms()[form], 4)
    assert found.column("query").to_pylist() == [0] * 4 + [1] * 4, form
    assert found.drop_columns(["query"]).to_pylist() == want[0] + want[1], form


def test_empty_batches_of_pyarrow_are_batches():
    table = vector_table(numbered())
    found = table.vector_search("v", pa.array([], pa.list_(pa.float32(), 16)), 4)
    assert (found.num_rows, found.column_names[0]) == (0, "query")


@pytest.mark.parametrize("query", [
    [1.0] * 15, [1.0] * 17, [], np.ones(15), np.ones((2, 17)), [[1.0] * 16, [1.0] * 15],
    [float("nan"), *QUERY[1:]], [float("inf"), *QUERY[1:]], [-float("inf"), *QUERY[1:]],
    np.array([np.nan, *QUERY[1:]], "f2"), [QUERY, [float("nan"), *QUERY[1:]]],
    # What is beyond the range of floats is as bad as infinity.
    [1e300, *QUERY[1:]], np.array([-1e300, *QUERY[1:]]), pa.array([1e39, *QUERY[1:]]),
    np.ones((2, 2, 16)), pa.array([None, *QUERY[1:]]), pa.array([QUERY, None]),
    pa.scalar(None, pa.list_(pa.float32(), 16))], ids=str)
def test_a_query_that_is_no_vector_of_the_column_is_a_value_error(query):
    table = vector_table(numbered())
    with pytest.raises(ValueError):
        table.vector_search("v", query, 3)
    assert nearest(table, numbered()[4], 1) == [4]


@pytest.mark.parametrize("query", [
    None, "1,2,3", b"1234567890123456", bytearray(16), 1.0, np.float32(1), np.array(1.0), True,
    {"a": 1}, {1.0, 2.0}, ["1"] * 16, [None] * 16, [[["1"]]], [1j] * 16, np.array(QUERY, complex),
    np.array(["a"] * 16), object(), pa.array(["a"] * 16), [QUERY, None], [QUERY, 5],
    np.datetime64("2026-01-01"), [np.datetime64("2026-01-01")] * 16], ids=str)
def test_what_holds_no_numbers_is_a_type_error(query):
    table = vector_table(numbered())
    with pytest.raises(TypeError):
        table.vector_search("v", query, 3)
    with pytest.raises(TypeError):
        table.hybrid_search("body", "w1", "v", query, 3)


def anything(generator, depth=0):
    """Numbers, what looks like them, and nested sequences of both."""
    kind = generator.randrange(14)
    if kind < 4 and depth < 4:
        inner = [anything(generator, depth + 1) for _ in range(generator.randrange(18))]
        return tuple(inner) if kind == 3 else inner
    return generator.choice([
        1.0, 1, None, "a", b"b", float("nan"), np.float32(2), np.ones(16), np.ones((2, 16)),
        np.array(1), np.array([None]), pa.array([1.0]), pa.scalar(1.0), {}, range(16), 10**500,
        memoryview(b"abc"), np.array(["a"]), np.zeros((0, 16)), np.ones((3, 0)), True, object(),
        np.datetime64("2026-01-01"), np.timedelta64(1, "s"), np.void(b"12345678"),
        np.array([(1, 2.0)], "i4,f8"), pa.array([[1.0] * 16]), pd.Series([1, None]), slice(3), array])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_object_does_more_than_raise(seed):
    table = vector_table(numbered())
    generator = random.Random(seed)
    for _ in range(400):
        try:
            found = table.vector_search("v", anything(generator), 1)
        except (ValueError, TypeError, OverflowError):
            continue
        assert found.column_names[-2:] == ["_id", "score"]
    assert nearest(table, numbered()[4], 1) == [4]


def test_messages_name_what_is_wrong():
    table = vector_table(numbered())
    for query, words in (([1.0] * 15, ("15", "16", "'v'")), ([float("nan")] * 16, ("finite",)),
                         ([QUERY, [1.0] * 3], ("3 dim", "query 1"))):
        with pytest.raises(ValueError) as refused:
            table.vector_search("v", query, 3)
        assert all(word in str(refused.value) for word in words), str(refused.value)
    for column in ("body", "id", "nope"):
        with pytest.raises(ValueError, match=f"{column}.*: v"):
            table.vector_search(column, QUERY, 3)
    with pytest.raises(TypeError, match="place 2 has str"):
        table.vector_search("v", [1.0, 2.0, "x"], 3)


LIST: list[object] = []


def test_a_list_that_changes_while_it_is_read_does_no_harm():
    class Number:
        def __float__(self):
            LIST.clear()
            return 1.0

    table = vector_table(numbered())
    LIST[:] = [1.0, Number(), *[2.0] * 14]
    with pytest.raises(ValueError, match="2 dimensions"):
        table.vector_search("v", LIST, 3)


def test_all_but_ids_works_without_numpy():
    out = run("""
        import sys
        sys.modules["numpy"] = None
        import array, infino, pyarrow as pa
        schema = pa.schema([("id", pa.int64()), ("v", pa.list_(pa.float32(), 16))])
        table = infino.connect("memory://").create_table("t", schema,
            infino.IndexSpec().vector("v", 16, "l2sq"))
        table.append([{"id": i, "v": [float(i)] * 16} for i in range(5)])
        query = [3.0] * 16
        for form in (query, array.array("f", query), pa.array(query), [query],
                     pa.array([query], pa.list_(pa.float32(), 16))):
            print(table.vector_search("v", form, 1, projection=["id"]).column("id").to_pylist())
        """)
    assert out.split() == ["[3]"] * 5


# What append takes.

MATRIX = numbered(4)


def vector_inputs():
    lists = MATRIX.tolist()
    wide = pa.array(MATRIX.astype("f8").ravel())

    def column(values):
        return pa.table({"id": pa.array(range(4)), "body": pa.array(["all"] * 4), "v": values})

    def dicts(values):
        return [{"id": i, "body": "all", "v": value} for i, value in enumerate(values)]

    def frame(values):
        return pd.DataFrame({"id": range(4), "body": ["all"] * 4, "v": values})

    def polars(values):
        return pl.DataFrame({"id": range(4), "body": ["all"] * 4, "v": values})

    return {
        "dicts of lists": dicts(lists), "dicts of tuples": dicts([tuple(x) for x in lists]),
        "dicts of ints": dicts([[int(x) for x in row] for row in lists]),
        **{f"dicts of {kind}": dicts(list(MATRIX.astype(kind))) for kind in (
            "f2", "f4", "f8", "i4", "u1", ">f8", "O")},
        "dicts of strided": dicts([np.repeat(row, 2)[::2] for row in MATRIX]),
        "dicts of arrays": dicts([array.array("d", row) for row in lists]),
        "dicts of all kinds": dicts([lists[0], MATRIX[1], tuple(lists[2]), MATRIX[3].astype("f8")]),
        "iterator of dicts": iter(dicts(lists)),
        "pandas lists": frame(lists), "pandas arrays": frame(list(MATRIX)),
        "pandas doubles": frame(list(MATRIX.astype("f8"))),
        "polars lists": polars(lists), "polars array": polars(MATRIX),
        "polars doubles": polars(MATRIX.astype("f8")),
        "polars objects": polars(pl.Series(list(MATRIX), dtype=pl.Object)),
        "list": column(pa.array(lists)), "large list": column(pa.array(lists, pa.large_list(pa.float32()))),
        "list of halves": column(pa.array(list(MATRIX.astype("f2")))),
        "list view": column(pa.array(lists, pa.list_view(pa.float32()))),
        "fixed doubles": column(pa.FixedSizeListArray.from_arrays(wide, 16)),
        "fixed halves": column(pa.FixedSizeListArray.from_arrays(
            pa.array(MATRIX.astype("f2").ravel()), 16)),
        "slice": column(pa.array([lists[3], *lists, lists[0]], pa.list_(pa.float32(), 16)).slice(1, 4)),
    }


@pytest.mark.parametrize("form", list(vector_inputs()))
def test_vectors_arrive_in_many_forms(form):
    table = connection().create_table(
        "t", vector_schema(16), IndexSpec().fts("body").vector("v", 16, "l2sq", rerank="fp32"))
    table.append(vector_inputs()[form])
    found = table.token_match("body", "all", projection=["id", "v"]).to_pydict()
    assert found["id"] == [0, 1, 2, 3]
    assert np.array_equal(np.array(found["v"], "f4"), MATRIX)
    assert [nearest(table, row, 1)[0] for row in MATRIX] == [0, 1, 2, 3]


@pytest.mark.parametrize("make", [
    lambda rows: rows, iter, pd.DataFrame,
    lambda rows: pd.DataFrame([dict(row, v=None if row["v"] is None else np.array(row["v"], float))
                               for row in rows]),
    lambda rows: [dict(row, v=None if row["v"] is None else np.array(row["v"], float))
                  for row in rows],
    lambda rows: pa.Table.from_pylist(rows, schema=pa.schema([
        ("id", pa.int64()), ("body", pa.large_utf8()), ("v", pa.list_(pa.float64()))]))],
    ids=["dicts", "iterator", "pandas", "pandas arrays", "arrays", "pyarrow"])
@pytest.mark.parametrize("bad, words", [
    ([1.0] * 15, ("row 2", "'v'", "15", "16")), ([1.0] * 17, ("row 2", "'v'", "17", "16")),
    ([], ("row 2", "'v'", "0", "16")), ([*QUERY[:3], float("nan"), *QUERY[4:]], ("row 2", "'v'")),
    ([float("inf"), *QUERY[1:]], ("row 2", "'v'")), ([1e300, *QUERY[1:]], ("row 2", "'v'")),
    (None, ("row 2", "'v'", "null"))], ids=str)
def test_what_is_no_vector_is_refused_and_changes_nothing(make, bad, words):
    table = vector_table(numbered(3))
    version = table.stats()["version"]
    rows = [{"id": 10 + i, "body": "all", "v": QUERY} for i in range(5)]
    rows[2]["v"] = bad
    with pytest.raises(ValueError) as refused:
        table.append(make(rows))
    assert all(word in str(refused.value) for word in words), str(refused.value)
    assert "RecordBatch" not in str(refused.value)
    assert table.stats()["version"] == version
    assert nearest(table, QUERY, 10, target_recall=1) == nearest(table, QUERY, 3)


def test_rows_of_long_streams_are_counted_from_the_first():
    table = vector_table(numbered(3))
    row = {"id": 1, "body": "x", "v": QUERY}
    for bad in (QUERY[:15], [float("nan"), *QUERY[1:]], "text"):
        with pytest.raises(ValueError, match="row 9000:.*'v'"):
            table.append(iter([row] * 9000 + [dict(row, v=bad)]))


def test_other_values_are_refused_too():
    table = vector_table(numbered(3))
    for bad in ("0123456789abcdef", 5, ["a"] * 16, {"a": 1}, [None, *QUERY[1:]], [[1.0] * 16],
                [10**400, *QUERY[1:]]):
        with pytest.raises(ValueError, match="v"):
            table.append([{"id": 1, "body": "x", "v": bad}])
    with pytest.raises(ValueError, match="v"):
        table.append([{"id": 1, "body": "x"}])
    for column in (pa.array(["a"]), pa.array([5]), pa.array([[True] * 16]), pa.array([["a"] * 16]),
                   pa.array([QUERY[:15]], pa.list_(pa.float32(), 15))):
        with pytest.raises(ValueError, match="v"):
            table.append(pa.table({"id": [1], "body": ["x"], "v": column}))
    assert table.stats()["rows"] == 3
    table.append(vector_rows([QUERY], 3))
    assert nearest(table, QUERY, 1) == [3]


# What IndexSpec takes.


def test_indexes_are_declared_in_the_forms_that_programs_use():
    schema = vector_schema(16)
    forms = (IndexSpec().vector("v", 16), IndexSpec().vector("v", 16, "l2sq"),
             IndexSpec().vector("v", 16, metric="L2SQ"), IndexSpec().vector("v", 16, 64, "dot"),
             IndexSpec().vector("v", 16, n_cent=8, metric="cosine"), IndexSpec().vector("v", 16, 64),
             IndexSpec().vector(column="v", dim=np.int64(16), metric=None),
             IndexSpec().vector("v", 16, "l2", rerank="FP32", stored=True))
    for number, spec in enumerate(forms):
        connection().create_table(f"t{number}", schema, spec.fts("body"))
    base = IndexSpec().fts("body")
    more = base.vector("v", 16)
    assert more is not base
    with pytest.raises(ValueError, match="vector-indexed columns: none"):
        connection().create_table("t", schema, base).vector_search("v", QUERY, 1)
    table = connection().create_table("u", schema, IndexSpec().vector("v", 16).fts("body"))
    table.append(vector_rows([QUERY]))
    assert ids(table.bm25_search("body", "w0", 1, projection=["id"])) == [0]
    assert nearest(table, QUERY, 1) == [0]


def test_a_metric_or_tier_that_is_none_is_named():
    for wrong in ("inner", "euclidean", "", "cosine "):
        with pytest.raises(ValueError, match=f"metric.*'{wrong}'"):
            IndexSpec().vector("v", 16, wrong)
    with pytest.raises(ValueError, match="rerank.*'int8'"):
        IndexSpec().vector("v", 16, rerank="int8")
    for wrong in (1.5, b"l2", ["l2"]):
        with pytest.raises(TypeError):
            IndexSpec().vector("v", 16, wrong)


@pytest.mark.parametrize("dimension", [0, 1, 4, 15, 4097, 2**32 - 1])
def test_dimensions_have_limits(dimension):
    with pytest.raises(ValueError, match="16"):
        IndexSpec().vector("v", dimension)


def test_dimensions_are_whole_numbers():
    with pytest.raises(OverflowError):
        IndexSpec().vector("v", -1)
    with pytest.raises(TypeError):
        IndexSpec().vector("v", 16.0)


@pytest.mark.parametrize("kind, spec, word", [
    (pa.list_(pa.float32(), 16), IndexSpec().vector("v", 17), "17"),
    (pa.list_(pa.float64(), 16), IndexSpec().vector("v", 16), "v"),
    (pa.list_(pa.float16(), 16), IndexSpec().vector("v", 16), "v"),
    (pa.list_(pa.float32()), IndexSpec().vector("v", 16), "v"),
    (pa.float32(), IndexSpec().vector("v", 16), "v"),
    (pa.large_utf8(), IndexSpec().vector("v", 16), "v"),
    (pa.list_(pa.float32(), 16), IndexSpec().vector("w", 16), "w"),
    (pa.list_(pa.float32(), 16), IndexSpec().vector("v", 16).vector("v", 16), "v"),
    (pa.large_utf8(), IndexSpec().fts("v").vector("v", 16), "v")], ids=str)
def test_a_column_that_can_not_be_indexed_is_named(kind, spec, word):
    made = connection()
    with pytest.raises(ValueError, match=word):
        made.create_table("t", pa.schema([("id", pa.int64()), ("v", kind)]), spec)
    assert made.list_tables() == []


def test_the_schema_comes_back_with_vectors_as_declared():
    for child in (pa.field("item", pa.float32()), pa.field("element", pa.float32(), nullable=False)):
        for nullable in (True, False):
            schema = pa.schema([pa.field("v", pa.list_(child, 32), nullable=nullable)])
            table = connection().create_table("t", schema, IndexSpec().vector("v", 32))
            assert table.schema().equals(schema)
            assert table.schema().field("v").type.list_size == 32
