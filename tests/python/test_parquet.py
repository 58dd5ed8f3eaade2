"""A superfile is a plain Parquet file to pyarrow, DuckDB and Polars."""

import datetime as dt
import decimal

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers import BODY, connection, folder, superfiles, text_table
from infino import IndexSpec


def file_of(schema, data, spec=None):
    path = folder()
    connection(path).create_table("t", schema, spec or IndexSpec()).append(data)
    [file] = superfiles(path)
    return file


@pytest.mark.parametrize("compression", ["zstd", "lz4", "none"])
def test_other_readers_see_the_same_rows(compression):
    import infino

    path = folder()
    c = infino.connect(path, compression=compression)
    t = c.create_table("t", BODY, IndexSpec().fts("body"))
    t.append([{"id": i, "body": f"cat{i % 5}"} for i in range(5000)])
    [file] = superfiles(path)
    want = [{"id": i, "body": f"cat{i % 5}"} for i in range(5000)]
    assert pq.read_table(file, columns=["id", "body"]).to_pylist() == want
    assert duckdb.sql(f"select body, count(*) from read_parquet('{file}') group by 1 order by 1"
                      ).fetchall() == [(f"cat{k}", 1000) for k in range(5)]
    assert duckdb.sql(f"select id from read_parquet('{file}') where id = 4321").fetchall() == [(4321,)]
    assert pl.read_parquet(file, columns=["id", "body"]).to_dicts() == want
    ids = pq.read_table(file, columns=["_id"]).column(0)
    assert ids.type == pa.decimal128(38, 0)
    assert ids.to_pylist() == sorted(ids.to_pylist())


def test_the_file_has_page_index_statistics_checksums_and_our_keys():
    file = file_of(BODY, [{"id": i, "body": f"w{i}"} for i in range(3000)], IndexSpec().fts("body"))
    metadata = pq.read_metadata(file)
    column = metadata.row_group(0).column(1)
    assert column.has_offset_index and column.has_column_index
    assert column.statistics.min == 0 and column.statistics.max == 2999
    keys = metadata.metadata
    assert b"ARROW:schema" in keys
    for key in (b"inf.format", b"inf.format_version", b"inf.open.offset", b"inf.open.length"):
        assert key in keys
    assert pq.read_schema(file).field("body").type == pa.large_utf8()
    assert [pq.ParquetFile(file).schema_arrow.field(i).metadata[b"PARQUET:field_id"]
            for i in range(3)] == [b"0", b"1", b"2"]
    read = pq.ParquetFile(file, page_checksum_verification=True).read()
    assert read.num_rows == 3000
    assert duckdb.sql(f"select id from read_parquet('{file}') where body = 'w299'").fetchall() == [
        (299,)]


def test_logical_types_survive_without_int96():
    schema = pa.schema([
        ("ns", pa.timestamp("ns")), ("tz", pa.timestamp("us", "Europe/Paris")),
        ("dec", pa.decimal128(38, 10)), ("dic", pa.dictionary(pa.int32(), pa.utf8())),
        ("tm", pa.time64("us")), ("du", pa.duration("ms")), ("h", pa.float16()),
        ("ls", pa.list_(pa.struct([("a", pa.int32()), ("b", pa.list_(pa.utf8()))]))),
        ("mp", pa.map_(pa.utf8(), pa.int64()))])
    row = {"tz": dt.datetime(2024, 7, 1, tzinfo=dt.timezone.utc),
           "dec": decimal.Decimal("-1234567890123456789012345678.0123456789"), "dic": "k",
           "tm": dt.time(23, 59, 59, 1), "du": dt.timedelta(milliseconds=5), "h": 1.5,
           "ls": [{"a": 1, "b": ["x", None]}, None, {"a": None, "b": []}], "mp": [("a", 1)]}
    data = pa.Table.from_pylist([row, dict.fromkeys(schema.names)], schema=schema)
    data = data.set_column(0, "ns", pa.array([1700000000123456789, None], pa.timestamp("ns")))
    file = file_of(schema, data)
    parquet_schema = pq.ParquetFile(file).schema
    assert all(parquet_schema.column(i).physical_type != "INT96"
               for i in range(len(parquet_schema.names)))
    found = pq.read_table(file, columns=schema.names)
    assert found.schema.remove_metadata().equals(schema)
    assert found.column("ns").cast(pa.int64()).to_pylist() == [1700000000123456789, None]
    assert found.drop_columns(["ns"]).to_pylist() == data.drop_columns(["ns"]).to_pylist()
    assert duckdb.sql(f"select typeof(ns), typeof(dec) from read_parquet('{file}') limit 1"
                      ).fetchall() == [("TIMESTAMP_NS", "DECIMAL(38,10)")]


def test_unusual_cells_come_back():
    schema = pa.schema([("id", pa.int64()), ("s", pa.large_utf8()), ("l", pa.list_(pa.int64())),
                        ("st", pa.struct([("a", pa.int64())]))])
    data = [{"id": 1, "s": "", "l": [], "st": None}, {"id": 2, "s": "a\0b", "l": None, "st": {"a": None}},
            {"id": 3, "s": "z" * 200_000, "l": [1, None], "st": {"a": 3}}]
    path = folder()
    t = connection(path).create_table("t", schema, IndexSpec().fts("s"))
    t.append(pa.Table.from_pylist(data, schema=schema))
    [file] = superfiles(path)
    assert pq.read_table(file, columns=schema.names).to_pylist() == data
    found = t.token_match("s", "a b " + "z" * 255, projection=schema.names)
    assert found.to_pylist() == data[1:]
    assert found.schema.equals(schema)


def test_projections_fetch_every_type():
    schema = pa.schema([
        ("body", pa.large_utf8()), ("i8", pa.int8()), ("u64", pa.uint64()), ("f", pa.float64()),
        ("b", pa.bool_()), ("s", pa.utf8()), ("sv", pa.string_view()), ("bin", pa.binary()),
        ("fsb", pa.binary(3)), ("d", pa.date32()), ("d64", pa.date64()), ("t", pa.timestamp("ns", "UTC")),
        ("dec", pa.decimal256(50, 5)), ("l", pa.large_list(pa.utf8())),
        ("fsl", pa.list_(pa.float32(), 3)), ("st", pa.struct([("x", pa.int8()), ("y", pa.utf8())])),
        ("m", pa.map_(pa.utf8(), pa.int32())), ("dic", pa.dictionary(pa.int8(), pa.utf8())),
        ("n", pa.null())])
    row = {"body": "all", "i8": -8, "u64": 2**64 - 1, "f": 1.25, "b": True, "s": "é", "sv": "view" * 9,
           "bin": b"\0", "fsb": b"abc", "d": dt.date(1969, 1, 1), "d64": dt.date(2024, 1, 1),
           "t": dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc), "dec": decimal.Decimal("1.00001"),
           "l": ["a", None], "fsl": [1.0, 2.0, 3.0], "st": {"x": 1, "y": None}, "m": [("k", 1)],
           "dic": "d", "n": None}
    empty = dict.fromkeys(schema.names) | {"body": "all"}
    data = pa.Table.from_pylist([row, empty, row] * 400, schema=schema)
    path = folder()
    t = connection(path).create_table("t", schema, IndexSpec().fts("body"))
    t.append(data)
    found = t.token_match("body", "all", projection=schema.names)
    assert found.schema.equals(schema)
    assert found.to_pylist() == data.to_pylist()
    few = t.bm25_search("body", "all", 3, projection=["dic", "st", "t", "l"])
    assert few.to_pylist() == data.slice(0, 3).select(["dic", "st", "t", "l"]).to_pylist()
