"""SQL over tables whose columns came, went and changed: all rows are as the schema is now."""

import datetime
import os
import random

import duckdb
import pyarrow as pa
import pytest

import infino
from helpers import connection, text_table
from infino import IndexSpec

SEED = int(os.environ.get("INFINO_TEST_SEED", "20260101"))


def ids(made, condition="true", table="t"):
    found = made.query_sql(f"SELECT id FROM {table} WHERE {condition} ORDER BY id")
    return found.column("id").to_pylist()


def column(made, expression):
    return made.query_sql(f"SELECT {expression} AS x FROM t ORDER BY id").column("x").to_pylist()


def batch(**columns):
    arrays = {name: values if isinstance(values, pa.Array) else pa.array(values)
              for name, values in columns.items()}
    if "body" in arrays:
        arrays["body"] = arrays["body"].cast(pa.large_utf8())
    return pa.table(arrays)


def patch(made, *fields):
    return made.schema("t", {"fields": list(fields)})


def test_a_column_that_an_append_adds_is_null_in_older_rows():
    made, table = text_table(["x", "y"])
    table.append(batch(id=[2], body=["x"], p=[2.5]))
    table.append([{"id": 3, "body": "z"}])
    table.append([{"id": 4, "q": "new"}])
    assert column(made, "p") == [None, None, 2.5, None, None]
    assert column(made, "q") == [None, None, None, None, "new"]
    assert ids(made, "p > 2") == [2]
    assert ids(made, "p IS NULL AND q IS NULL") == [0, 1, 3]
    assert ids(made, "p IS DISTINCT FROM 2.5") == [0, 1, 3, 4]
    assert ids(made, "coalesce(p, 1) = 1 AND body IS NOT NULL") == [0, 1, 3]
    assert ids(made, "NOT (p > 100)") == [2]
    assert column(made, "body") == ["x", "y", "x", "z", None]
    totals = made.query_sql("SELECT count(p) c, min(p) a, max(p) b, count(q) d, count(*) n FROM t")
    assert totals.to_pylist() == [{"c": 1, "a": 2.5, "b": 2.5, "d": 1, "n": 5}]
    assert made.query_sql("SELECT * FROM t").column_names == ["_id", "id", "body", "p", "q"]
    grouped = made.query_sql("SELECT p, count(*) n FROM t GROUP BY p ORDER BY p").to_pylist()
    assert grouped == [{"p": 2.5, "n": 1}, {"p": None, "n": 4}]
    described = made.query_sql("DESCRIBE t").column("column_name").to_pylist()
    assert described == ["_id", "id", "body", "p", "q"]


def test_a_search_takes_conditions_on_columns_that_came_later():
    made, table = text_table(["x a", "x b", "x c"])
    table.append(batch(id=[3, 4], body=["x", "x"], lang=["en", "de"]))
    for condition, wanted in (("lang = 'en'", [3]), ("lang IS NULL", [0, 1, 2]),
                              ("lang <> 'en'", [4])):
        for k in (1, 9):
            found = made.query_sql(f"SELECT id, lang FROM bm25_search('t', 'body', 'x', {k}) "
                                   f"WHERE {condition}")
            assert set(found.column("id").to_pylist()) <= set(wanted)
            assert found.num_rows == min(k, len(wanted))
        assert table.count("body", "x", where=condition) == len(wanted)
    assert table.delete("lang IS NULL AND id > 0").matched == 2
    assert ids(made) == [0, 3, 4]


def test_an_index_on_a_new_column_finds_new_rows_alone():
    made, table = text_table(["x"])
    patch(made, {"name": "title", "type": "large_utf8", "index": {"kind": "fts"}})
    assert made.query_sql("SELECT * FROM bm25_search('t', 'title', 'x', 9)").num_rows == 0
    table.append([{"id": 1, "body": "y", "title": "x"}])
    found = made.query_sql("SELECT id, title FROM bm25_search('t', 'title', 'x', 9)")
    assert found.to_pylist() == [{"id": 1, "title": "x"}]
    assert ids(made, "title = 'x'") == ids(made, "title LIKE 'x%'") == [1]
    assert ids(made, "title IS NULL") == [0]


def test_a_renamed_column_has_its_values_under_the_new_name_alone():
    made, table = text_table(["x", "y"])
    table.append(batch(id=[2], body=["x"], price=[2.5]))
    fields = {field["name"]: field["id"] for field in made.schema("t")["fields"]}
    patch(made, {"id": fields["price"], "name": "cost"}, {"id": fields["body"], "name": "Text Of"})
    assert column(made, "cost") == [None, None, 2.5]
    assert column(made, '"Text Of"') == ["x", "y", "x"]
    assert ids(made, "cost = 2.5 AND \"Text Of\" = 'x'") == [2]
    for gone in ("price", "body"):
        with pytest.raises(ValueError, match=gone):
            made.query_sql(f"SELECT {gone} FROM t")
    table.append([{"id": 3, "Text Of": "x", "cost": 7.0}])
    found = made.query_sql(
        "SELECT id, cost FROM bm25_search('t', 'Text Of', 'x', 9) WHERE cost > 1")
    assert sorted(found.column("id").to_pylist()) == [2, 3]
    swapped = {field["name"]: field["id"] for field in made.schema("t")["fields"]}
    patch(made, {"id": swapped["cost"], "name": "body"})
    assert column(made, "body") == [None, None, 2.5, 7.0]


def test_a_dropped_column_is_gone_and_a_new_one_of_its_name_is_empty():
    made, table = text_table(["x", "y"])
    table.append(batch(id=[2], body=["x"], p=[2]))
    patch(made, {"name": "p", "dropped": True})
    with pytest.raises(ValueError, match="p"):
        made.query_sql("SELECT p FROM t")
    assert made.query_sql("SELECT * FROM t").column_names == ["_id", "id", "body"]
    table.append(batch(id=[3], body=["z"], p=["text"]))
    assert column(made, "p") == [None, None, None, "text"]
    assert ids(made, "p IS NULL") == [0, 1, 2]
    assert ids(made, "p = 'text'") == [3]


WIDER = [("i8", "i64", pa.int8(), pa.int64(), [-128, 127], 2**40),
         ("i32", "i64", pa.int32(), pa.int64(), [-2**31, 5], 2**31),
         ("u8", "u32", pa.uint8(), pa.uint32(), [0, 255], 256),
         ("u16", "i32", pa.uint16(), pa.int32(), [0, 65535], -1),
         ("f32", "f64", pa.float32(), pa.float64(), [0.5, -2.0], 1e300),
         ("i32", "f64", pa.int32(), pa.float64(), [7, -1], 0.25)]


@pytest.mark.parametrize(("old", "new", "old_type", "new_type", "values", "added"), WIDER,
                         ids=[f"{old} to {new}" for old, new, *_ in WIDER])
def test_a_wider_type_is_that_of_all_rows(old, new, old_type, new_type, values, added):
    made = connection()
    schema = pa.schema([("id", pa.int64()), ("v", old_type)])
    table = made.create_table("t", schema, IndexSpec())
    for i, value in enumerate(values):
        table.append(pa.table([pa.array([i]), pa.array([value], old_type)], schema=schema))
    assert made.schema("t")["fields"][1]["type"] == old
    patch(made, {"name": "v", "type": new})
    table.append(pa.table({"id": [2], "v": pa.array([added], new_type)}))
    table.append(pa.table({"id": [3], "v": pa.array([None], new_type)}))
    found = made.query_sql("SELECT v FROM t ORDER BY id").column("v")
    assert found.type == new_type
    assert found.to_pylist() == [*values, added, None]
    everything = [*values, added]
    for i, value in enumerate(everything):
        assert made.query_sql("SELECT id FROM t WHERE v = ?", [value]).column(0).to_pylist() == [i]
        above = made.query_sql("SELECT id FROM t WHERE v > ? ORDER BY id", [value]).column(0)
        assert above.to_pylist() == [j for j, each in enumerate(everything) if each > value]
    totals = made.query_sql("SELECT min(v) a, max(v) b, count(v) c, count(DISTINCT v) d FROM t")
    assert totals.to_pylist() == [{"a": min(everything), "b": max(everything), "c": 3, "d": 3}]
    assert ids(made, "v IS NULL") == [3]
    assert ids(made, f"v IN ({values[0]}, {added})") == [0, 2]


def test_appends_never_change_a_type():
    made, table = text_table(["x"])
    table.append(batch(id=[1], body=["y"], a=[1]))
    for bad in (pa.array(["x"]), pa.array([1.5]), pa.array([[1]])):
        with pytest.raises((ValueError, TypeError)):
            table.append(batch(id=[2], body=["z"], a=bad))
    assert column(made, "a") == [None, 1]
    assert made.query_sql("SELECT a FROM t").schema.field("a").type == pa.int64()


def test_other_connections_and_later_statements_see_the_new_schema():
    made, table = text_table(["x"])
    other = infino.connect(made.uri)
    assert ids(other) == [0]
    patch(made, {"name": "n", "type": "i64"})
    table.append([{"id": 1, "body": "y", "n": 5}])
    fresh = infino.connect(made.uri)
    assert fresh.query_sql("SELECT sum(n) s FROM t").to_pylist() == [{"s": 5}]
    joined = made.query_sql("SELECT a.id FROM t a JOIN t b ON a.n = b.n")
    assert joined.column("id").to_pylist() == [1]


@pytest.mark.parametrize("run", range(6))
def test_random_schemas_give_what_duckdb_gives(run):
    """Appends, added, renamed, dropped and widened columns, deletes: the same in DuckDB."""
    seed = SEED * 10 + run
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(seed)
    made, plain = connection(), duckdb.connect()
    table = made.create_table("t", pa.schema([("id", pa.int64()), ("c0", pa.int32())]), IndexSpec())
    plain.execute("CREATE TABLE t (id BIGINT, c0 INTEGER)")
    columns = {"c0": "i32"}
    arrow = {"i32": pa.int32(), "i64": pa.int64(), "f32": pa.float32(), "f64": pa.float64(),
             "large_utf8": pa.large_utf8(), "bool": pa.bool_(), "date32": pa.date32()}
    sql = {"i32": "INTEGER", "i64": "BIGINT", "f32": "FLOAT", "f64": "DOUBLE",
           "large_utf8": "VARCHAR", "bool": "BOOLEAN", "date32": "DATE"}
    made_of = {"i32": lambda: generator.randint(-5, 5), "i64": lambda: generator.randint(-5, 2**40),
               "f32": lambda: generator.randint(-9, 9) / 4, "f64": lambda: generator.random(),
               "large_utf8": lambda: generator.choice(["", "a", "b b", "é"]),
               "bool": lambda: generator.random() < 0.5,
               "date32": lambda: datetime.date(2024, 1, generator.randint(1, 9))}
    named = 0
    for step in range(30):
        kind = generator.choice(["append", "append", "append", "add", "rename", "drop", "widen",
                                 "delete"])
        name = generator.choice(sorted(columns)) if columns else None
        if kind == "append":
            count = generator.choice([1, 3, 20])
            arrays = {"id": pa.array([step * 100 + i for i in range(count)])}
            for each, type_ in columns.items():
                if generator.random() < 0.8:
                    arrays[each] = pa.array([None if generator.random() < 0.2 else made_of[type_]()
                                             for _ in range(count)], arrow[type_])
            new = pa.table(arrays)
            table.append(new)
            plain.execute("INSERT INTO t BY NAME SELECT * FROM new")
        elif kind == "add":
            named += 1
            type_ = generator.choice(sorted(arrow))
            columns[f"c{named}"] = type_
            patch(made, {"name": f"c{named}", "type": type_})
            plain.execute(f"ALTER TABLE t ADD COLUMN c{named} {sql[type_]}")
        elif kind == "rename" and name:
            named += 1
            columns[f"c{named}"] = columns.pop(name)
            field = next(f for f in made.schema("t")["fields"] if f["name"] == name)
            patch(made, {"id": field["id"], "name": f"c{named}"})
            plain.execute(f"ALTER TABLE t RENAME COLUMN {name} TO c{named}")
        elif kind == "drop" and len(columns) > 1:
            del columns[name]
            patch(made, {"name": name, "dropped": True})
            plain.execute(f"ALTER TABLE t DROP COLUMN {name}")
        elif kind == "widen" and name and columns[name] in ("i32", "f32"):
            columns[name] = {"i32": "i64", "f32": "f64"}[columns[name]]
            patch(made, {"name": name, "type": columns[name]})
            plain.execute(f"ALTER TABLE t ALTER {name} SET DATA TYPE {sql[columns[name]]}")
        elif kind == "delete" and name:
            condition = f"{name} IS NULL AND id % 3 = {generator.randrange(3)}"
            plain.execute(f"DELETE FROM t WHERE {condition}")
            table.delete(condition)
        listed = ", ".join(["id", *columns])
        key = lambda row: row[0]
        ours = sorted((tuple(row.values()) for row in
                       made.query_sql(f"SELECT {listed} FROM t").to_pylist()), key=key)
        theirs = sorted(plain.execute(f"SELECT {listed} FROM t").fetchall(), key=key)
        assert ours == theirs, (seed, step, kind)
        for each, type_ in columns.items():
            value = made_of[type_]()
            for condition in (f"{each} IS NULL", f"{each} = $v", f"{each} > $v", f"{each} <> $v"):
                params = {"v": value} if "$" in condition else None
                found = made.query_sql(f"SELECT id FROM t WHERE {condition}", params)
                wanted = plain.execute(f"SELECT id FROM t WHERE {condition}", params or {})
                assert sorted(found.column(0).to_pylist()) == sorted(
                    i for i, in wanted.fetchall()), (seed, step, condition, value)
