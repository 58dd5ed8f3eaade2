"""Random rows for the tests of SQL, and the same rows in a DuckDB of PyPI's."""

import datetime
import decimal
import math
import warnings

import duckdb
import pyarrow as pa

import infino
from infino import IndexSpec

# `k` numbers the rows of a table; `gap` is NULL in all rows of the first append.
SCHEMA = pa.schema([
    ("k", pa.int64()), ("i", pa.int64()), ("j", pa.int32()), ("u", pa.uint8()),
    ("big", pa.int64()), ("f", pa.float64()), ("g", pa.float32()), ("t", pa.large_utf8()),
    ("w", pa.utf8()), ("d", pa.date32()), ("ts", pa.timestamp("us")),
    ("ns", pa.timestamp("ns")), ("m", pa.decimal128(9, 2)), ("o", pa.bool_()),
    ("l", pa.list_(pa.int64())), ("x", pa.binary()), ("gap", pa.int64()), ("Odd Name", pa.utf8()),
])

WORDS = ["red", "Red", "RED", "blue", "green fish", "a", "", " ", "über", "ÜBER", "日本 語",
         "naïve", "100%", "a_b", "it's", "x\\y", "😀", "z" * 30, "null", "0"]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.25, -3.75, 100.0, 1e6, math.nan, math.inf, -math.inf]
BIG = [0, 1, -1, 2**31, -2**31, 2**53 + 1, 2**62, -2**62, 2**63 - 1, -2**63]
EPOCH = datetime.datetime(1970, 1, 1)


def value(random, name, number):
    """A value of the column, None at times."""
    if name == "k":
        return number
    if random.random() < 0.12:
        return None
    if name in ("i", "gap"):
        return random.randint(-9, 9) if random.random() < 0.8 else random.randint(-900, 900)
    if name == "j":
        return random.randint(-3, 60)
    if name == "u":
        return random.choice([0, 1, 2, 3, 200, 255])
    if name == "big":
        return random.choice(BIG)
    if name in ("f", "g"):
        return random.choice(FLOATS) if random.random() < 0.5 else random.randint(-40, 40) / 4
    if name in ("t", "w", "Odd Name"):
        words = [random.choice(WORDS) for _ in range(random.choice([1, 1, 1, 2, 3]))]
        return " ".join(words) if name == "t" else words[0]
    if name == "d":
        return datetime.date(2024, 1, 1) + datetime.timedelta(random.randint(-400, 400))
    if name in ("ts", "ns"):
        return EPOCH + datetime.timedelta(days=random.randint(-900, 20_000),
                                          seconds=random.choice([0, 1, 43_200, 86_399]),
                                          microseconds=random.choice([0, 0, 1, 999_999]))
    if name == "m":
        return decimal.Decimal(random.choice([0, 1, -1, 110, 111, 99999, -12345, 250])) / 100
    if name == "o":
        return random.random() < 0.5
    if name == "l":
        return [random.choice([None, 0, 1, 2, 3, 7]) for _ in range(random.choice([0, 1, 2, 4]))]
    return random.choice([b"", b"\0", b"ab", b"\xff\xfe", b"zz"])


def append_of(random, count, first, is_gap):
    """So many rows, numbered from `first`. Some columns have few values, and NaN perhaps."""
    rows = [{field.name: value(random, field.name, first + n) for field in SCHEMA}
            for n in range(count)]
    for name in SCHEMA.names[1:]:
        if random.random() < 0.3:
            values = [value(random, name, 0) for _ in range(random.choice([1, 2, 3]))]
            if name in "fg" and random.random() < 0.5:
                values.append(math.nan)
            for row in rows:
                row[name] = random.choice(values)
        if name == "gap" and is_gap:
            for row in rows:
                row[name] = None
    return pa.Table.from_pylist(rows, schema=SCHEMA)


class Twins:
    """The same tables in infino and in DuckDB: `a` and `b`, and `e`, which is empty."""

    def __init__(self, random, uri="memory://"):
        self.ours = infino.connect(uri, threads=2)
        self.theirs = duckdb.connect()
        self.theirs.execute("SET integer_division = true; SET threads = 1; SET TimeZone = 'UTC'; "
                            "SET default_null_order = 'nulls_last_on_asc_first_on_desc'; "
                            "SET error_on_division_by_zero = false")
        self.tables = {}
        for name, appends in (("a", 5), ("b", 2), ("e", 0)):
            self.tables[name] = self.ours.create_table(name, SCHEMA, IndexSpec().fts("t"))
            parts = [SCHEMA.empty_table()]
            for number in range(appends):
                count = random.choice([1, 7, 30, 60] if name == "a" else [3, 12])
                first = sum(part.num_rows for part in parts)
                parts.append(append_of(random, count, first, number == 0))
                self.tables[name].append(parts[-1])
            rows = pa.concat_tables(parts)  # noqa: F841 (DuckDB finds it by its name)
            self.theirs.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")

    def delete(self, name, condition):
        """Deletes the same rows from both. Returns how many each deleted."""
        ours = self.tables[name].delete(condition).n_tombstoned
        theirs = self.theirs.execute(f"DELETE FROM {name} WHERE {condition}").fetchone()[0]
        return ours, theirs


def plain(cell):
    """A cell in a form in which equal cells of both engines are equal."""
    if isinstance(cell, bool) or cell is None:
        return cell
    if isinstance(cell, float):
        if math.isnan(cell):
            return "nan"
        # Sums of doubles may differ in their last digits, by the order of summation.
        return 0.0 if cell == 0 else float(f"{cell:.9g}")
    if isinstance(cell, decimal.Decimal):
        return cell.normalize() if cell % 1 else int(cell)
    if isinstance(cell, datetime.datetime):
        return cell.isoformat()
    if hasattr(cell, "to_pydatetime"):
        return cell.isoformat()
    if isinstance(cell, list):
        return tuple(plain(item) for item in cell)
    if isinstance(cell, dict):
        return tuple((name, plain(item)) for name, item in cell.items())
    return cell


def rows_of(table):
    """The rows of an Arrow table, comparable."""
    columns = [[plain(cell) for cell in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def run_ours(twins, sql, params=None):
    return rows_of(twins.ours.query_sql(sql, params))


def run_theirs(twins, sql, params=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of an extra copy of the rows
        return rows_of(twins.theirs.execute(sql, params or {}).to_arrow_table())
