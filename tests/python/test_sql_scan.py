"""Scans of tables of many pages and row groups: skipped pages, dictionaries, mixed pages, deleted
rows and old schemas change no answer."""

import decimal
import os
import random

import numpy as np
import pyarrow as pa
import pytest

import infino
import sql_rows
from helpers import connection, folder, superfiles
from infino import IndexSpec
from sql_generator import KIND, Column, Scope
from sql_statements import Statements
from test_sql_random import difference, outcome
from test_sql_types import TYPES, array_of

SEED = int(os.environ.get("INFINO_TEST_SEED", "20260101"))
SCOPE = Scope([Column(name, kind) for name, kind in KIND.items()], ["k"])
# More than one row group, a little more than one unit of a scan, and less than a vector.
APPENDS = (70_000, 9_000, 700)
FLAT = [each for each in TYPES if not pa.types.is_nested(each[0])]


def wide_rows(generator, count, first):
    """So many rows, made of few random ones. Some texts repeat at first, and then no more: their
    pages have a dictionary and others have none."""
    few = sql_rows.append_of(generator, 600, 0, False)
    places = np.random.default_rng(generator.randrange(2**32)).integers(0, 600, count)
    rows = few.take(pa.array(places))
    columns = {name: rows[name].combine_chunks() for name in rows.schema.names}
    columns["k"] = pa.array(range(first, first + count), pa.int64())
    for name, share in (("t", generator.random()), ("w", generator.random())):
        start = int(count * share)
        columns[name] = pa.array(
            [text if text is None or i < start else f"{text} {first + i}"
             for i, text in enumerate(columns[name].to_pylist())], rows.schema.field(name).type)
    return pa.table(list(columns.values()), schema=sql_rows.SCHEMA)


class Wide(sql_rows.Twins):
    """Twins whose table `a` has tens of thousands of rows."""

    def __init__(self, generator):
        super().__init__(generator)
        self.first = 100_000
        for count in APPENDS:
            rows = wide_rows(generator, count, self.first)
            self.first += count
            self.tables["a"].append(rows)
            self.theirs.execute("INSERT INTO a SELECT * FROM rows")

    def check(self, sql, is_ordered=False):
        ours, theirs = (outcome(run, self, sql, None)
                        for run in (sql_rows.run_ours, sql_rows.run_theirs))
        assert not isinstance(theirs, Exception), (sql, theirs)
        wrong = difference(ours, theirs, is_ordered)
        assert not wrong, (sql, wrong)

    def number(self, generator):
        return generator.randrange(100_000, self.first)


# {c}: a random condition, {x} {y}: columns, {n} {m}: numbers of rows. Those that order give all
# columns that they order by.
FORMS = [
    "SELECT count(*), count({x}), min({x}), max({y}) FROM a WHERE {c}",
    "SELECT {x}, count(*), min(k) FROM a GROUP BY {x}",
    "SELECT {x}, {y}, count(*) FROM a WHERE {c} GROUP BY ALL",
    "SELECT count(DISTINCT {x}), count(DISTINCT {y}) FROM a",
    "SELECT k, {x}, {y} FROM a WHERE k BETWEEN {n} AND {n} + 3000 AND ({c})",
    "SELECT k, {x} FROM a WHERE k > {n} AND k % 997 = 5",
    "SELECT k, t, w, f, m, o, x FROM a WHERE k IN ({n}, {m}, {n} + 1)",
    "SELECT sum(hash(k, {x}, {y}) % 1000) FROM a WHERE w IS NOT NULL",
    "SELECT count(*) FROM a WHERE t LIKE '%9%' AND ({c})",
    "SELECT k, t FROM a WHERE t LIKE '%red%' AND k % 301 = 7",
    "SELECT count(*), sum(i), sum(j), sum(u), sum(m) FROM a WHERE w = 'red' OR w = 'blue'",
    "SELECT k, l, {x} FROM a WHERE k % 1501 = 3 AND ({c})",
    "SELECT s.{x}, b.k FROM a s JOIN b ON s.i = b.i WHERE s.k % 401 = 1",
    "SELECT count(*) FROM a s JOIN (SELECT k FROM a WHERE {c}) r ON s.k = r.k + 1",
    "SELECT k, {x} FROM a WHERE k IN (SELECT k + 7 FROM a WHERE k % 5003 = 9)",
    "SELECT count(*) FROM a WHERE {x} IS NULL AND {y} IS NOT NULL",
    "SELECT count(*) FROM a WHERE {x} IN (SELECT {x} FROM b)",
]
ORDERED = [
    "SELECT {x}, k FROM a ORDER BY {x}, k LIMIT 10",
    "SELECT {x}, k FROM a ORDER BY {x} DESC, k DESC LIMIT 7 OFFSET 3",
    "SELECT {x}, k, {y} FROM a WHERE {c} ORDER BY {x} DESC NULLS LAST, k LIMIT 12",
    "SELECT k, t, w, {x} FROM a ORDER BY k DESC LIMIT 5",
    "SELECT k, {x} FROM a ORDER BY w NULLS FIRST, k LIMIT 9",
]
NAMES = ["i", "j", "u", "big", "f", "g", "t", "w", "d", "ts", "ns", "m", "o", "x", "gap"]


@pytest.mark.parametrize("batch", range(2))
def test_random_scans_give_the_rows_that_duckdb_gives(batch):
    seed = SEED * 10 + batch
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(seed)
    twins = Wide(generator)
    for round_ in range(3):
        for form in FORMS + ORDERED:
            twins.check(form.format(
                c=Statements(generator).condition(SCOPE), x=generator.choice(NAMES),
                y=generator.choice(NAMES), n=twins.number(generator), m=twins.number(generator)),
                form in ORDERED)
        if round_ == 0:
            # Single rows, and all of some pages.
            twins.delete("a", f"k % 3 = 1 OR k BETWEEN {twins.number(generator)} AND 130000")
        else:
            twins.delete("a", "k > 171000 AND k % 64 < 63")


@pytest.mark.parametrize(("type_", "values", "as_"), FLAT, ids=[str(each) for each, _, _ in FLAT])
def test_every_type_comes_out_of_many_pages(type_, values, as_):
    count = 9000
    print(f"INFINO_TEST_SEED={SEED}")
    generator = np.random.default_rng(SEED)
    few = array_of(type_, values)
    some = pa.concat_arrays([few, pa.nulls(1, type_)])
    columns = [taken(some, generator.integers(0, len(some), count)),
               taken(few, generator.integers(0, len(few), count)),
               random_array(generator, type_, few, count)]
    schema = pa.schema([("id", pa.int64()), ("repeated", type_),
                        pa.field("full", type_, nullable=False), ("random", type_)])
    for is_deleted in (False, True):
        made = infino.connect("memory://", threads=2)
        table = made.create_table("t", schema, IndexSpec())
        table.append(pa.table([pa.array(range(count)), *columns], schema=schema))
        kept = np.arange(count)
        if is_deleted:
            table.delete("id % 5 = 2 OR id BETWEEN 3000 AND 5500")
            kept = kept[(kept % 5 != 2) & ((kept < 3000) | (kept > 5500))]
        for condition, chosen in (("true", kept), ("id % 7 = 3", kept[kept % 7 == 3]),
                                  ("id >= 8990", kept[kept >= 8990]),
                                  ("hash(random) % 1 = 0", kept)):
            found = made.query_sql(
                f"SELECT repeated, \"full\", random, id FROM t WHERE {condition} ORDER BY id")
            assert found.column("id").to_pylist() == chosen.tolist()
            for name, column in zip(schema.names[1:], columns, strict=True):
                wanted = taken(column, chosen).to_pylist()
                assert found.column(name).to_pylist() == wanted, (name, condition)
                assert found.column(name).type == (as_ or type_)


def taken(array, places):
    """The values at some places, also of types that Arrow can't take from."""
    if array.type in (pa.string_view(), pa.binary_view()):
        listed = array.to_pylist()
        return pa.array([listed[place] for place in places], array.type)
    return array.take(pa.array(places))


def random_array(generator, type_, few, count):
    """Values that do not repeat where there are so many, and some nulls."""
    numbers = generator.integers(0, 100_000, count)
    mask = generator.random(count) < 0.1
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
        made = pa.array([f"word {n}" for n in numbers], type_, mask=mask)
        return made.dictionary_encode().cast(few.type) if count < 128 else few.take(
            pa.array(numbers % len(few), mask=mask))
    if type_ in (pa.utf8(), pa.large_utf8(), pa.string_view()):
        return pa.array([f"wörd {n}" * (n % 4) for n in numbers], type_, mask=mask)
    if type_ in (pa.binary(), pa.large_binary(), pa.binary_view()):
        return pa.array([n.tobytes()[:n % 8] for n in numbers], type_, mask=mask)
    if pa.types.is_fixed_size_binary(type_):
        return pa.array([n.tobytes()[:type_.byte_width] for n in numbers], type_, mask=mask)
    if pa.types.is_decimal(type_):
        unit = decimal.Decimal(1).scaleb(-type_.scale)
        return pa.array([int(n - 50_000) * unit for n in numbers], type_, mask=mask)
    if pa.types.is_floating(type_):
        return pa.array((numbers / 7).astype(type_.to_pandas_dtype()), type_, mask=mask)
    if pa.types.is_date64(type_):
        return pa.array(numbers * 86_400_000, pa.int64(), mask=mask).cast(type_)
    if type_ == pa.bool_():
        return pa.array(numbers % 2 == 0, mask=mask)
    if pa.types.is_integer(type_):
        return pa.array(numbers % 128, mask=mask).cast(type_)
    width = pa.int32() if type_.bit_width == 32 else pa.int64()
    if type_ == pa.timestamp("ns", "UTC"):  # SQL has instants in microseconds.
        numbers = numbers * 1000
    if pa.types.is_time32(type_):
        numbers = numbers % 86_400
    return pa.array(numbers, mask=mask).cast(width).cast(type_)


def test_columns_that_widened_and_that_came_later_are_read():
    made = infino.connect("memory://", threads=2)
    schema = pa.schema([("id", pa.int64()), ("a", pa.int8()), ("b", pa.uint32()),
                        ("c", pa.float32()), ("d", pa.decimal128(5, 2)), ("s", pa.utf8())])
    table = made.create_table("t", schema, IndexSpec())
    count = 5000

    def rows(first, schema):
        numbers = range(first, first + count)
        columns = {"id": numbers, "a": [n % 100 - 50 for n in numbers],
                   "b": [4_294_967_295 - n for n in numbers], "c": [n / 4 for n in numbers],
                   "d": [decimal.Decimal(n % 1000) / 100 for n in numbers],
                   "s": [f"s{n % 50}" for n in numbers], "later": [f"l{n}" for n in numbers]}
        return pa.table([pa.array(columns[field.name], field.type) for field in schema],
                        schema=schema)

    table.append(rows(0, schema))
    wider = pa.schema([("id", pa.int64()), ("a", pa.int64()), ("b", pa.int64()),
                       ("c", pa.float64()), ("d", pa.decimal128(20, 2)), ("s", pa.large_utf8()),
                       ("later", pa.utf8())])
    made.schema("t", {"fields": [
        {"name": "a", "type": "i64"}, {"name": "b", "type": "i64"}, {"name": "c", "type": "f64"},
        {"name": "d", "type": "decimal", "precision": 20, "scale": 2},
        {"name": "s", "type": "large_utf8"}, {"name": "later", "type": "utf8"}]})
    table.append(rows(count, wider))
    both = pa.concat_tables([rows(0, wider), rows(count, wider)]).to_pylist()
    for row in both[:count]:
        row["later"] = None
    columns = ", ".join(wider.names)
    for condition, keep in (
            ("true", lambda row: True), ("a = 7", lambda row: row["a"] == 7),
            ("later IS NULL AND c > 1200", lambda row: not row["later"] and row["c"] > 1200),
            ("b > 4294967290", lambda row: row["b"] > 4294967290),
            ("s = 's3' AND d < 1.04", lambda row: row["s"] == "s3" and row["d"] <
             decimal.Decimal("1.04")), ("later = 'l5003'", lambda row: row["later"] == "l5003")):
        found = made.query_sql(f"SELECT {columns} FROM t WHERE {condition} ORDER BY id")
        assert found.to_pylist() == [row for row in both if keep(row)], condition


def test_a_flipped_bit_in_a_page_is_an_error_that_names_file_and_page():
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(SEED)
    path = folder()
    schema = pa.schema([("id", pa.int64()), ("body", pa.large_utf8()), ("word", pa.utf8())])
    table = connection(path).create_table("t", schema, IndexSpec())
    count = 20_000
    table.append(pa.table([pa.array(range(count)), pa.array(
        [f"text {i * 7919 % 10_007}" for i in range(count)], pa.large_utf8()),
        pa.array([f"w{i % 13}" for i in range(count)])], schema=schema))
    statements = {"id": "SELECT sum(id) FROM t", "body": "SELECT count(*) FROM t WHERE body LIKE "
                  "'%99%'", "word": "SELECT sum(hash(word) % 1000) FROM t"}
    answers = {name: connection(path).query_sql(sql) for name, sql in statements.items()}
    file, = superfiles(path)
    with open(file, "rb") as opened:
        whole = opened.read()
    import pyarrow.parquet as pq

    group = pq.ParquetFile(file).metadata.row_group(0)
    for number in range(group.num_columns):
        column = group.column(number)
        name = column.path_in_schema
        if name not in statements:
            continue
        start = (column.dictionary_page_offset if column.has_dictionary_page
                 else column.data_page_offset)
        for _ in range(12):
            content = bytearray(whole)
            place = start + generator.randrange(column.total_compressed_size)
            content[place] ^= 1 << generator.randrange(8)
            with open(file, "wb") as opened:
                opened.write(content)
            for asked, sql in statements.items():
                made = connection(path)
                if asked != name:
                    assert made.query_sql(sql).equals(answers[asked])
                    continue
                with pytest.raises(RuntimeError, match="offset=") as raised:
                    made.query_sql(sql)
                assert os.path.basename(file).split(".")[0] in str(raised.value)
    with open(file, "wb") as opened:
        opened.write(whole)
