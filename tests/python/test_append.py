"""What append takes, how it is converted, and what it refuses; parts of it are whole commits."""

import datetime as dt
import decimal
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import infino
from helpers import BODY, connection, folder, hits, rows, run, stored, text_table
from infino import IndexSpec


def plain_table(schema, path=None):
    return connection(path).create_table("t", schema, IndexSpec())


def appended(schema, data):
    """The rows as pyarrow reads them from the superfiles, without `_id`."""
    path = folder()
    plain_table(schema, path).append(data)
    return stored(path).drop_columns(["_id"])


def test_every_kind_of_input_is_taken():
    want = [("x", 1), ("y", 2)]
    batch = pa.record_batch({"id": pa.array([1, 2]), "body": pa.array(["x", "y"], pa.large_utf8())})
    table = pa.Table.from_batches([batch])

    class Capsule:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    class ArrayCapsule:
        def __arrow_c_array__(self, requested_schema=None):
            return batch.__arrow_c_array__(requested_schema)

    inputs = [
        batch, table, table.to_reader(), Capsule(), ArrayCapsule(), [batch], (batch,), iter([batch]),
        (b for b in [table]), pd.DataFrame({"id": [1, 2], "body": ["x", "y"]}),
        pl.DataFrame({"id": [1, 2], "body": ["x", "y"]}), batch.to_pylist(),
        tuple(batch.to_pylist()), iter(batch.to_pylist()),
        table.select(["body", "id"]), pa.table({"body": pa.array(["x", "y"], pa.utf8()),
                                                "id": pa.array([1, 2], pa.int32())}),
        pa.table({"body": pa.array(["x", "y"]).dictionary_encode(), "id": pa.array([1, 2])}),
        pa.table({"body": pa.array(["x", "y"], pa.string_view()), "id": pa.array([1, 2], pa.uint8())}),
    ]
    for data in inputs:
        _, t = text_table([])
        t.append(data)
        found = t.token_match("body", "x y", projection=["body", "id"])
        assert list(zip(*found.to_pydict().values(), strict=True)) == want, type(data)


@pytest.mark.parametrize("data", [5, "text", b"bytes", None, {"id": 1}, [5], ["x"], object()])
def test_other_things_are_type_errors_that_say_what_is_taken(data):
    _, t = text_table([])
    with pytest.raises((TypeError, ValueError)):
        t.append(data)
    assert t.stats()["rows"] == 0


def test_empty_input_commits_nothing():
    _, t = text_table(["x"])
    version = t.stats()["version"]
    for data in ([], (), BODY.empty_table(), pa.RecordBatch.from_pylist([], schema=BODY),
                 iter([]), pd.DataFrame({"id": [], "body": []})):
        t.append(data)
    assert t.stats()["version"] == version


def test_missing_values_of_pandas_are_null():
    _, t = text_table([])
    t.append(pd.DataFrame({"id": [1, 2, 3, 4], "body": ["x", float("nan"), None, pd.NA]}))
    assert hits(t, "nan") == hits(t, "None") == []
    assert hits(t, "x") == [1]


def test_slices_and_chunks_are_read_from_the_right_place():
    table = pa.table([pa.array(range(20)), pa.array([f"w{i}" for i in range(20)], pa.large_utf8())],
                     schema=BODY)
    path = folder()
    _, t = text_table([], path)
    t.append(table.slice(5, 5))
    t.append(pa.concat_tables([table.slice(11, 1), table.slice(15, 2)]))
    assert stored(path).column("id").to_pylist() == [5, 6, 7, 8, 9, 11, 15, 16]
    assert hits(t, "w16") == [16]
    assert hits(t, "w0") == []


def test_integers_stay_exact():
    values = [2**53 + 1, -(2**63), 2**63 - 1, 0]
    found = appended(BODY, [{"id": v, "body": "n"} for v in values])
    assert found.column("id").to_pylist() == values
    _, t = text_table([])
    with pytest.raises((ValueError, OverflowError)):
        t.append([{"id": 2**63, "body": "c"}])


def test_malformed_text_is_a_value_error():
    _, t = text_table(["ok"])
    with pytest.raises(ValueError):
        t.append([{"id": 1, "body": "a\ud800b"}])
    bad = pa.Array.from_buffers(pa.large_utf8(), 1, [
        None, pa.py_buffer(np.array([0, 2], "i8").tobytes()), pa.py_buffer(b"\xff\xfe")])
    with pytest.raises(ValueError, match="body"):
        t.append(pa.table({"id": pa.array([1]), "body": bad}))
    assert hits(t, "ok") == [0] and t.stats()["rows"] == 1
    with pytest.raises(ValueError):
        hits(t, "a\ud800b")


def test_all_null_columns_and_missing_columns_are_null():
    schema = pa.schema([("id", pa.int64()), ("n", pa.float64()), ("s", pa.utf8())])
    assert appended(schema, [{"id": 1, "n": None, "s": None}]).to_pylist() == [
        {"id": 1, "n": None, "s": None}]
    assert appended(schema, [{"id": 1}, {"s": "x"}]).to_pylist() == [
        {"id": 1, "n": None, "s": None}, {"id": None, "n": None, "s": "x"}]
    assert appended(schema, pa.table({"id": pa.nulls(2)})).column("id").to_pylist() == [None, None]


def test_python_values_go_into_columns_of_their_type():
    schema = pa.schema([
        ("i", pa.int32()), ("f", pa.float32()), ("b", pa.bool_()), ("d", pa.date32()),
        ("t", pa.timestamp("us")), ("z", pa.timestamp("us", "UTC")), ("m", pa.decimal128(10, 2)),
        ("x", pa.binary()), ("l", pa.list_(pa.int64())), ("s", pa.struct([("a", pa.int64())])),
        ("k", pa.dictionary(pa.int32(), pa.large_utf8()))])
    row = {"i": np.int64(7), "f": 1, "b": True, "d": dt.date(2024, 2, 29),
           "t": dt.datetime(2024, 1, 1, 12), "z": dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc),
           "m": decimal.Decimal("1.10"), "x": b"\0\1", "l": [1, None], "s": {"a": 3}, "k": "key"}
    want = dict(row, i=7, f=1.0)
    assert appended(schema, [row]).to_pylist() == [want]
    texts = dict(row, d="2024-02-29", t="2024-01-01T12:00:00", z="2024-01-01T00:00:00+00:00")
    assert appended(schema, [texts]).to_pylist() == [want]


@pytest.mark.parametrize("value", ["x", 1.5, [1], True, 2**40, {"a": 1}])
def test_what_does_not_fit_an_integer_is_refused(value):
    _, t = text_table([])
    table = plain_table(pa.schema([("n", pa.int32()), ("m", pa.int32())]))
    with pytest.raises(ValueError, match="n"):
        table.append([{"n": 1, "m": 1}, {"n": value, "m": 1}])
    assert table.stats()["rows"] == 0


@pytest.mark.parametrize("array", [
    pa.array(["x"]), pa.array([1.5]), pa.array([[1]]), pa.array([2**40]), pa.array([True]),
    pa.array([b"1"]), pa.array([dt.date(2024, 1, 1)])])
def test_lossy_arrow_columns_are_refused_and_change_nothing(array):
    path = folder()
    table = plain_table(pa.schema([("n", pa.int32())]), path)
    table.append([{"n": 1}])
    with pytest.raises(ValueError, match="n") as refused:
        table.append(pa.table({"n": array}))
    assert "RecordBatch" not in str(refused.value)
    assert table.schema().field("n").type == pa.int32()
    assert stored(path).column("n").to_pylist() == [1]


def test_reserved_names_are_refused():
    _, t = text_table([])
    for data in (pa.table({"id": [1], "_id": [2]}), [{"id": 1, "_id": 2}],
                 pd.DataFrame({"id": [1], "_id": [2]})):
        with pytest.raises(ValueError, match="_id"):
            t.append(data)
    assert t.stats()["rows"] == 0


def test_nulls_only_where_they_may_be():
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("s", pa.utf8())])
    table = plain_table(schema)
    for data in ([{"id": None, "s": "x"}], [{"s": "x"}], pa.table({"s": ["x"]})):
        with pytest.raises(ValueError, match="id"):
            table.append(data)
    table.append([{"id": 1, "s": None}])
    assert table.stats()["rows"] == 1


def test_a_failing_stream_leaves_the_table_as_it_was():
    _, t = text_table(["x"])

    def batches():
        for i in range(50):
            yield pa.record_batch({"id": pa.array([i] * 1000),
                                   "body": pa.array(["x"] * 1000, pa.large_utf8())})
        raise KeyError("the source broke")

    with pytest.raises(Exception, match="the source broke"):
        t.append(batches())
    with pytest.raises(ValueError, match="id"):
        t.append(iter([{"id": 1, "body": "x"}] * 20_000 + [{"id": "no", "body": "x"}]))
    assert t.count("body", "x") == 1
    t.append(rows(["x"], 1))
    assert t.count("body", "x") == 2


def test_a_stream_is_one_commit():
    _, t = text_table([])
    version = t.stats()["version"]
    t.append(pa.record_batch({"id": pa.array([i]), "body": pa.array([f"w{i}"], pa.large_utf8())})
             for i in range(300))
    assert t.stats()["rows"] == 300
    assert t.stats()["version"] == version + 1
    assert hits(t, "w299") == [299]


def test_progress_is_reported_and_ends_with_all_rows():
    _, t = text_table([])
    seen = []
    t.append(rows(["a b c"] * 20_000), progress=lambda *now: seen.append(now))
    assert seen and seen[-1][0] == 20_000
    assert [s[0] for s in seen] == sorted(s[0] for s in seen)


def test_an_append_beyond_the_memory_budget_changes_nothing():
    out = run("""
        import resource
        from helpers import *
        import numpy as np
        r = np.random.default_rng(0)
        words = np.array([f"w{i}" for i in range(50000)])
        texts = [" ".join(r.choice(words, 80)) for _ in range(50000)]
        c = infino.connect(folder(), connection_memory_budget_bytes=4_000_000)
        t = c.create_table("t", BODY, IndexSpec().fts("body"))
        data = pa.table([pa.array(range(50000)), pa.array(texts, pa.large_utf8())], schema=BODY)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            t.append(data)
            print("accepted")
        except infino.ConnectionMemoryBudgetError as error:
            print("refused", t.stats()["rows"], "4000000" in str(error))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(grown < 68_000)
        """)
    assert out.split() == ["refused", "0", "True", "True"]


def test_building_stays_within_its_memory_and_makes_more_files():
    out = run("""
        import resource
        from helpers import *
        import numpy as np
        r = np.random.default_rng(0)
        words = np.array([f"w{i}" for i in range(20000)])
        c = infino.connect(folder(), build_memory_bytes=48 << 20)
        t = c.create_table("t", BODY, IndexSpec().fts("body"))
        def batches():
            for b in range(60):
                texts = [" ".join(r.choice(words, 100)) for _ in range(2000)]
                yield pa.table([pa.array(range(b * 2000, b * 2000 + 2000)),
                                pa.array(texts, pa.large_utf8())], schema=BODY)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        t.append(batches())
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(t.stats()["rows"], t.stats()["superfiles"] > 1, grown // 1024)
        """, timeout=300)
    count, several, grown = out.split()
    assert (count, several) == ("120000", "True")
    assert int(grown) < 200, f"grew by {grown} MiB"


def test_threads_appending_through_one_handle_queue_up():
    _, t = text_table([])
    errors = []

    def write(n):
        try:
            for j in range(5):
                t.append(rows(["p"], n * 10 + j))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(hits(t, "p")) == sorted(n * 10 + j for n in range(8) for j in range(5))


def test_threads_with_connections_of_their_own_lose_nothing():
    path = folder()
    text_table([], path)

    def write(n):
        handle = infino.connect(path).open_table("t")
        for j in range(5):
            handle.append(rows(["p"], n * 10 + j))

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(hits(connection(path).open_table("t"), "p")) == sorted(
        n * 10 + j for n in range(4) for j in range(5))
