"""Schemas that change: by a document, and by appends."""

import datetime as dt
import decimal
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from helpers import BODY, connection, folder, ids, superfiles, text_table

import infino
from infino import IndexSpec


def every(table, columns):
    """The rows that hold the word `x`, in the order of appending."""
    return table.token_match("body", "x", projection=columns).to_pylist()


def values(table, column):
    return [row[column] for row in every(table, [column])]


def field(document, name):
    return next(f for f in document["fields"] if f["name"] == name)


def test_the_document_of_a_table():
    made = connection()
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("body", pa.large_utf8()),
                        ("v", pa.list_(pa.float32(), 16))])
    made.create_table("t", schema, IndexSpec().fts("body", k1=0.9, b=0.5).vector("v", 16, "dot"))
    document = made.schema("t")
    assert document["schema_id"] == 1
    assert (document["max_fields"], document["max_depth"]) == (10_000, 20)
    assert (document["last_field_id"], document["tombstoned"]) == (3, [])
    assert document["fields"][0] == {"id": 1, "name": "id", "type": "i64", "nullable": False}
    assert document["fields"][1] == {
        "id": 2, "name": "body", "type": "large_utf8", "nullable": True,
        "index": {"kind": "fts", "analyzer": "standard", "k1": 0.9, "b": 0.5, "positions": False,
                  "stored": True}}
    assert field(document, "v")["dim"] == 16
    assert field(document, "v")["index"]["metric"] == "negdot"
    assert made.schema("t", document) == document
    with pytest.raises(KeyError):
        made.schema("nope")


def test_columns_are_added_renamed_widened_and_dropped():
    made, t = text_table(["x", "x y"])
    document = made.schema("t", {"fields": [
        {"name": "n", "type": "i32"}, {"name": "title", "type": "string", "index": {"kind": "fts"}}]})
    assert document["schema_id"] == 2
    assert values(t, "n") == [None, None]
    t.append([{"id": 2, "body": "x", "n": 5, "title": "a new title"}])
    assert values(t, "n") == [None, None, 5]
    assert ids(t.bm25_search("title", "title", 10, projection=["id"])) == [2]
    assert t.count("title", "new") == 1
    assert t.exact_match("title", "", projection=["id"]).num_rows == 0
    document = made.schema("t", {"fields": [{"name": "n", "type": "i64"}]}, 2)
    document = made.schema("t", {"fields": [{"id": field(document, "n")["id"], "name": "m"}]})
    assert t.schema().field("m").type == pa.int64()
    t.append([{"id": 3, "body": "x", "m": 2**40}])
    assert values(t, "m") == [None, None, 5, 2**40]
    document = made.schema("t", {"fields": [{"name": "title", "dropped": True}]})
    assert document["tombstoned"] == [4]
    assert t.schema().names == ["id", "body", "m"]
    with pytest.raises(ValueError, match="title"):
        t.bm25_search("title", "title", 10)
    document = made.schema("t", {"fields": [{"name": "title", "type": "utf8"}]})
    assert field(document, "title")["id"] == 5
    assert values(t, "title") == [None] * 4
    assert document["schema_id"] == 6
    assert t.stats()["version"] == 9


def test_a_missing_table_is_created_from_the_patch():
    made = connection()
    document = made.schema("t", {"max_fields": 50, "fields": [
        {"name": "id", "type": "int64", "nullable": False},
        {"name": "body", "type": "large_utf8", "index": {"kind": "fts"}},
        {"name": "v", "type": "vector", "dim": 16, "index": {"kind": "vector", "metric": "l2sq"}}]})
    assert (document["schema_id"], document["max_fields"]) == (1, 50)
    t = made.open_table("t")
    t.append([{"id": 1, "body": "x", "v": [1.0] * 16}])
    assert ids(t.vector_search("v", [1.0] * 16, 1, projection=["id"])) == [1]
    assert made.list_tables() == ["t"]


@pytest.mark.parametrize(("patch", "word"), [
    ({"foo": 1}, "foo"),
    ({"fields": {"name": "x"}}, "list"),
    ({"fields": [{"name": "id", "drop": True}]}, "drop"),
    ({"fields": [{"name": "id", "rename": "x"}]}, "rename"),
    ({"fields": [{"name": "nope", "dropped": True}]}, "nope"),
    ({"fields": [{"name": "id", "type": "i8"}]}, "int8"),
    ({"fields": [{"name": "id", "type": "f64"}]}, "double"),
    ({"fields": [{"name": "x", "type": "f63"}]}, "f63"),
    ({"fields": [{"name": "x", "type": "i8", "nullable": False}]}, "not null"),
    ({"fields": [{"name": "id", "nullable": False}]}, "null"),
    ({"fields": [{"name": "body", "index": {"kind": "fts", "positions": True}}]}, "index"),
    ({"fields": [{"name": "v", "type": "vector", "dim": 16, "index": {"kind": "vector"}}]}, "vector"),
    ({"fields": [{"name": "_id", "type": "i64"}]}, "_id"),
    ({"max_fields": 2, "fields": [{"name": "x", "type": "i8"}]}, "max_fields"),
    ({"fields": [{"name": "x", "type": object()}]}, "JSON"),
])
def test_what_a_patch_can_not_say_changes_nothing(patch, word):
    made, t = text_table(["x"])
    before = made.schema("t")
    with pytest.raises(ValueError, match=word):
        made.schema("t", patch)
    assert made.schema("t") == before
    assert t.stats()["version"] == 2


def test_arguments_are_checked():
    made, _ = text_table([])
    for patch in ([], "x", 5):
        with pytest.raises(TypeError):
            made.schema("t", patch)
    with pytest.raises(TypeError):
        made.schema("t", {}, 1.5)
    with pytest.raises(TypeError):
        made.schema(None)
    with pytest.raises(RuntimeError):
        made.schema("a/b", {})


def test_an_expected_schema_is_another_one():
    made, t = text_table([])
    with pytest.raises(infino.ConflictError, match="schema_id"):
        made.schema("t", {"fields": [{"name": "x", "type": "i8"}]}, 2)
    made.schema("t", {"fields": [{"name": "x", "type": "i8"}]}, 1)
    assert t.schema().names == ["id", "body", "x"]


def test_other_connections_see_it():
    path = folder()
    _, t = text_table(["x"], path)
    infino.connect(path).schema("t", {"fields": [{"name": "n", "type": "date"}]})
    assert t.schema().field("n").type == pa.date32()
    t.append([{"id": 2, "body": "x", "n": dt.date(2024, 5, 1)}])
    assert values(t, "n") == [None, dt.date(2024, 5, 1)]


def test_a_column_added_later_is_null_before():  # EVO-1, EVO-3
    _, t = text_table(["x"])
    t.append(pa.table({"id": pa.array([1]), "body": pa.array(["x"], pa.large_utf8()),
                       "p": pa.array([2.5])}))
    assert values(t, "p") == [None, 2.5]
    t.append([{"id": 2}])
    assert t.stats()["rows"] == 3
    assert values(t, "body") == ["x", "x"]
    assert t.schema().field("p") == pa.field("p", pa.float64())


def test_a_type_is_never_changed_by_an_append():  # EVO-2, EVO-X3
    _, t = text_table(["x"])
    t.append([{"id": 1, "body": "x", "n": 1}])
    for column in (pa.array(["y"]), pa.array([1.5]), pa.array([[1]])):
        with pytest.raises(ValueError, match="n"):
            t.append(pa.table({"id": [2], "body": ["x"], "n": column}))
    for value in ("y", 1.5, [1]):
        with pytest.raises(ValueError, match="n"):
            t.append([{"id": 2, "body": "x", "n": value}])
    assert t.schema().field("n").type == pa.int64()
    assert values(t, "n") == [None, 1]


def test_dicts_tell_the_types_of_new_columns():
    _, t = text_table([])
    t.append([
        {"id": 0, "body": "x", "i": 1, "f": 1, "s": None, "none": None},
        {"id": 1, "body": "x", "f": 2.5, "s": "text", "b": True, "d": dt.date(2024, 1, 2),
         "l": ["a", "b"], "o": [{"k": 1}], "m": {"k": {"z": 7}}, "e": {}, "y": b"b",
         "c": decimal.Decimal("1.50"), "t": dt.datetime(2024, 1, 2, 3, tzinfo=dt.timezone.utc)}])
    assert {f.name: str(f.type) for f in t.schema()} == {
        "id": "int64", "body": "large_string", "i": "int64", "f": "double", "s": "large_string",
        "b": "bool", "d": "date32[day]", "l": "list<item: string>",
        "o": "list<item: struct<k: int64>>", "m.k.z": "int64", "y": "binary",
        "c": "decimal128(3, 2)", "t": "timestamp[us, tz=UTC]"}
    assert all(f.nullable for f in t.schema())
    row = every(t, ["i", "f", "s", "l", "o", "m.k.z"])[1]
    assert row == {"i": None, "f": 2.5, "s": "text", "l": ["a", "b"], "o": [{"k": 1}], "m.k.z": 7}


@pytest.mark.parametrize("column", [[1, "x"], [True, 2], [[1], 2], [2**80, 1]])
def test_new_columns_are_of_one_type(column):
    _, t = text_table([])
    with pytest.raises(ValueError, match="new"):
        t.append([{"id": i, "body": "x", "new": value} for i, value in enumerate(column)])
    assert (t.schema().names, t.stats()["version"]) == (["id", "body"], 1)


def test_frames_and_streams_add_columns():
    _, t = text_table([])
    t.append(pd.DataFrame({"id": [1], "body": ["x"], "words": ["a"], "whole": [3],
                           "none": [None]}))
    assert t.schema().field("words").type == pa.large_utf8()
    t.append({"id": i, "body": "x", "even": i % 2 == 0} for i in range(20_000))
    assert t.schema().names == ["id", "body", "words", "whole", "even"]
    assert t.stats()["rows"] == 20_001

    def late():
        for i in range(20_000):
            yield {"id": i, "body": "x"} if i < 15_000 else {"id": i, "late": 1}

    with pytest.raises(ValueError, match="row 15000.*late"):
        t.append(late())
    t.append({"id": i, "body": "x", **({"late": None} if i > 15_000 else {})} for i in range(20_000))
    assert "late" not in t.schema().names

    polars = pytest.importorskip("polars")
    t.append(polars.DataFrame({"id": [1], "body": ["x"], "p": [[1.5]]}))
    assert t.schema().field("p").type == pa.large_list(pa.float64())


def test_a_strict_connection_adds_no_columns():
    path = folder()
    text_table(["x"], path)
    t = infino.connect(path, strict_schema=True).open_table("t")
    for data, word in (([{"id": 1, "body": "x", "bdoy": "y"}], "bdoy"),
                       ([{"id": 1, "body": "x", "bdoy": None}], "bdoy"),
                       (pa.table({"id": [1], "extra": [2]}), "extra"),
                       (pd.DataFrame({"id": [1], "extra": [2]}), "extra"),
                       (iter([{"id": 1, "extra": 2}]), "extra")):
        with pytest.raises(ValueError, match=word):
            t.append(data)
    assert t.stats()["rows"] == 1
    assert t.schema() == BODY


def test_a_failed_append_adds_no_columns():
    _, t = text_table([])
    for rows in ([{"id": "no", "new": 1}], [{"id": 1, "_id": 2, "new": 1}]):
        with pytest.raises(ValueError):
            t.append(rows)
    t.append(pa.table({"id": pa.array([], pa.int64()), "new": pa.array([], pa.int8())}))
    assert t.schema() == BODY


def test_threads_that_add_the_same_columns_share_them():
    path = folder()
    text_table([], path)
    failures = []

    def work(number):
        table = infino.connect(path).open_table("t")
        try:
            for i in range(6):
                table.append([{"id": number * 10 + i, "body": "x", f"c{i}": number}])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    t = infino.connect(path).open_table("t")
    assert sorted(t.schema().names) == ["body", "c0", "c1", "c2", "c3", "c4", "c5", "id"]
    for row in every(t, ["id", *(f"c{i}" for i in range(6))]):
        number, i = divmod(row["id"], 10)
        assert {k for k, v in row.items() if v is not None} == {"id", f"c{i}"}
        assert row[f"c{i}"] == number


def test_files_of_all_schemas_stay_plain_parquet():
    import pyarrow.parquet as pq

    path = folder()
    made, t = text_table(["x"], path)
    made.schema("t", {"fields": [{"name": "id", "nullable": True},
                                 {"name": "n", "type": "i8"}]})
    t.append([{"id": 1, "body": "x", "n": 1}])
    made.schema("t", {"fields": [{"name": "n", "type": "i16"}]})
    t.append([{"id": 2, "body": "x", "n": 300}])
    types = {str(pq.read_schema(file).field("n").type) for file in superfiles(path)
             if "n" in pq.read_schema(file).names}
    assert types == {"int8", "int16"}
    assert values(t, "n") == [None, 1, 300]


def test_vector_tables_get_columns_too():
    made = connection()
    schema = pa.schema([("id", pa.int64()), ("body", pa.large_utf8()),
                        ("v", pa.list_(pa.float32(), 16))])
    t = made.create_table("t", schema, IndexSpec().fts("body").vector("v", 16, "l2sq"))
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((60, 16)).astype("f4")
    for i in range(60):
        if i == 30:
            made.schema("t", {"fields": [{"name": "tag", "type": "utf8", "index": {"kind": "fts"}}]})
        row = {"id": i, "body": "x", "v": matrix[i]}
        t.append([row if i < 30 else {**row, "tag": f"even{i % 2}"}])
    found = t.vector_search("v", matrix[3], 60, projection=["id", "tag"]).to_pylist()
    assert found[0] == {"id": 3, "tag": None}
    assert len(found) == 60
    assert all((row["tag"] is None) == (row["id"] < 30) for row in found)
    found = t.vector_search("v", matrix[3], 60, filter_column="tag", filter_query="even1",
                            projection=["id"])
    assert sorted(ids(found)) == list(range(31, 60, 2))
    found = t.hybrid_search("tag", "even0", "v", matrix[3], 60, projection=["id", "tag"]).to_pylist()
    assert len(found) == 60
    assert {"id": 3, "tag": None} in found
    assert {"id": 40, "tag": "even0"} in found
    made.schema("t", {"fields": [{"name": "v", "dropped": True}]})
    t.append([{"id": 60, "body": "x"}])
    with pytest.raises(ValueError, match="vector"):
        t.vector_search("v", matrix[0], 1)
    assert t.count("body", "x") == 61


def test_sql_reads_rows_of_all_schemas():  # EVO-1, EVO-3
    made, t = text_table(["x", "y"])
    t.append(pa.table({"id": pa.array([5]), "body": pa.array(["x"], pa.large_utf8()),
                       "p": pa.array([2], pa.int32())}))
    t.append([{"id": 6}])
    made.schema("t", {"fields": [{"name": "p", "type": "i64"}]})
    t.append([{"id": 7, "body": "x", "p": 2**40}])

    def rows(sql):
        return made.query_sql(sql).to_pylist()

    assert [r["p"] for r in rows("SELECT p FROM t ORDER BY id")] == [None, None, 2, None, 2**40]
    assert [r["body"] for r in rows("SELECT body FROM t ORDER BY id")] == ["x", "y", "x", None, "x"]
    assert rows("SELECT id FROM t WHERE p > 1 ORDER BY id") == [{"id": 5}, {"id": 7}]
    assert rows("SELECT id FROM t WHERE p IS NULL ORDER BY id") == [{"id": 0}, {"id": 1}, {"id": 6}]
    assert rows("SELECT min(p) a, max(p) b, count(p) c FROM t") == [{"a": 2, "b": 2**40, "c": 2}]
    assert made.query_sql("SELECT p FROM t").schema.field("p").type == pa.int64()
    made.schema("t", {"fields": [{"name": "p", "dropped": True}]})
    made.schema("t", {"fields": [{"name": "p", "type": "utf8"}, {"id": 1, "name": "number"}]})
    t.append([{"number": 8, "body": "x", "p": "text"}])
    assert rows("SELECT p FROM t WHERE p IS NOT NULL") == [{"p": "text"}]
    assert [r["number"] for r in rows("SELECT number FROM t ORDER BY 1")] == [0, 1, 5, 6, 7, 8]
    found = t.bm25_search("body", "x", 10, projection=["number", "p"], where="p = 'text'")
    assert found.to_pylist() == [{"number": 8, "p": "text"}]


def test_changes_of_rows_follow_the_schema():
    made, t = text_table(["x a", "x b", "x c"])
    made.schema("t", {"fields": [{"name": "n", "type": "i32"}]})
    t.append([{"id": 3, "body": "x", "n": 3}])
    made.schema("t", {"fields": [{"name": "n", "type": "f64"}]})
    assert t.delete("n IS NULL AND id = 1").matched == 1
    assert t.update("id = 3", [{"id": 3, "body": "x", "n": 3.5}]).matched == 1
    stats = t.upsert([{"id": 0, "body": "x", "n": 0.5, "more": "m"},
                      {"id": 9, "body": "x", "more": None}], "id")
    assert (stats.matched, stats.n_not_found) == (1, 1)
    assert every(t, ["id", "n", "more"]) == [
        {"id": 0, "n": 0.5, "more": "m"}, {"id": 2, "n": None, "more": None},
        {"id": 3, "n": 3.5, "more": None}, {"id": 9, "n": None, "more": None}]
    assert t.upsert([{"id": 50, "body": "x", "n": 3.5}], "id").n_not_found == 1
    row = t.token_match("body", "x", projection=["_id"]).column("_id")
    assert [r["more"] for r in t.get(row).to_pylist()] == ["m", None, None, None, None]


def test_keys_are_found_in_files_of_narrower_types():
    made = connection()
    t = made.create_table("t", pa.schema([("k", pa.uint32()), ("body", pa.large_utf8())]),
                          IndexSpec().fts("body"))
    t.append([{"k": 3_000_000_000, "body": "x"}, {"k": 1, "body": "x"}])
    made.schema("t", {"fields": [{"name": "k", "type": "i64"}]})
    t.append([{"k": -5, "body": "x"}])
    stats = t.upsert([{"k": 3_000_000_000, "body": "x"}, {"k": -5, "body": "x"},
                      {"k": 2, "body": "x"}], "k")
    assert (stats.matched, stats.n_not_found) == (2, 1)
    assert sorted(values(t, "k")) == [-5, 1, 2, 3_000_000_000]


def test_a_strict_connection_changes_rows_of_known_columns_only():
    path = folder()
    text_table(["x"], path)
    t = infino.connect(path, strict_schema=True).open_table("t")
    with pytest.raises(ValueError, match="nope"):
        t.upsert([{"id": 1, "nope": "all"}], "id")
    with pytest.raises(ValueError, match="nope"):
        t.update("id = 0", [{"id": 0, "nope": 1}])
    assert t.schema() == BODY
