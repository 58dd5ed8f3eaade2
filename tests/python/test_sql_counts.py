"""Answers from the counts of values: the same as those of a scan, whatever happened to the table."""

import datetime
import decimal
import os
import pathlib
import random
import threading

import pyarrow as pa
import pytest

import infino
from helpers import connection, folder
from infino import IndexSpec

SEED = int(os.environ.get("INFINO_TEST_SEED", "20260101"))

WORDS = ["pypi", "npm", "", "crates", "Ünïcode", "z" * 64, "a\0b", "日本"]
DAY = datetime.date(2024, 2, 28)
NOON = datetime.datetime(1969, 12, 31, 12, 0, 1)

# A few values of each type that is counted.
VALUES = {
    "s": (pa.large_utf8(), WORDS),
    "v": (pa.utf8(), WORDS[:3]),
    "i": (pa.int64(), [0, -1, 2**62, 7]),
    "j": (pa.int32(), [0, -5, 2**31 - 1]),
    "h": (pa.int16(), [0, -300, 5]),
    "u": (pa.uint8(), [0, 200, 255]),
    "q": (pa.uint64(), [0, 2**64 - 1, 2**63]),
    "o": (pa.bool_(), [True, False]),
    "d": (pa.date32(), [DAY + datetime.timedelta(n) for n in range(4)]),
    "ts": (pa.timestamp("us"), [NOON, NOON + datetime.timedelta(days=9000)]),
    "sec": (pa.timestamp("s"), [NOON, NOON + datetime.timedelta(days=9000)]),
    "ms": (pa.timestamp("ms"), [NOON, NOON + datetime.timedelta(days=9000)]),
    "ns": (pa.timestamp("ns"), [NOON, NOON + datetime.timedelta(days=9000)]),
    "tz": (pa.timestamp("us", "UTC"), [NOON.replace(tzinfo=datetime.timezone.utc)]),
    "t": (pa.time64("us"), [datetime.time(1, 2, 3, 4), datetime.time(0)]),
    "t32": (pa.time32("s"), [datetime.time(1, 2, 3), datetime.time(23)]),
    "m": (pa.decimal128(9, 2), [decimal.Decimal("1.10"), decimal.Decimal("-99.99")]),
    "w": (pa.decimal128(38, 0), [decimal.Decimal(10**37), decimal.Decimal(-(10**37))]),
    "x": (pa.binary(), [b"", b"\0", b"\xff\xfe"]),
    "y": (pa.binary(3), [b"abc", b"\0\0\0"]),
}
SCHEMA = pa.schema([("k", pa.int64())] + [(name, kind) for name, (kind, _) in VALUES.items()])


def rows(generator, count, first, nulls=0.1):
    made = {"k": list(range(first, first + count))}
    for name, (_, values) in VALUES.items():
        here = generator.sample(values, generator.randint(1, len(values)))
        made[name] = [None if generator.random() < nulls else generator.choice(here)
                      for _ in range(count)]
    return pa.table(made, schema=SCHEMA)


def rows_of(table):
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True))


def uses_counts(made, sql):
    plan = made.query_sql("EXPLAIN " + sql).column("explain_value").to_pylist()
    return "INFINO_VALUE_COUNTS" in "".join(plan)


def both(made, sql):
    """The rows by counts, and by a scan of the same: one that reads another column, too."""
    scanned = sql.replace(" FROM t", " FROM (SELECT * FROM t WHERE _id >= 0)")
    assert scanned != sql and not uses_counts(made, scanned), scanned
    return sorted(rows_of(made.query_sql(sql)), key=repr), sorted(
        rows_of(made.query_sql(scanned)), key=repr)


def statements(generator, name, literal):
    """Statements over one column, in SQL; `literal` is one of its values."""
    condition = generator.choice([
        f"{name} = {literal}", f"{name} <> {literal}", f"{name} IN ({literal}, {literal})",
        f"{name} NOT IN ({literal})", f"{name} IS NULL", f"{name} IS NOT NULL",
        f"{name} >= {literal}", f"{name} < {literal} OR {name} IS NULL",
        f"{name} BETWEEN {literal} AND {literal}", f"{name} IS DISTINCT FROM {literal}",
        f"NOT ({name} = {literal})", f"coalesce({name} = {literal}, true)",
        f"{name} IS NULL OR {name} IS NOT NULL"])
    where = f" WHERE {condition}"
    return [
        f"SELECT count(*) FROM t{where}",
        f"SELECT count({name}), count(*) FROM t{where}",
        f"SELECT {name}, count(*) AS n FROM t GROUP BY {name}",
        f"SELECT {name}, count(*) AS n, count({name}) FROM t{where} GROUP BY {name}",
        f"SELECT count(DISTINCT {name}), min({name}), max({name}) FROM t{where}",
        f"SELECT DISTINCT {name} FROM t{where}",
        f"SELECT {name} IS NULL AS a, count(*) FROM t{where} GROUP BY a HAVING count(*) > 3",
        f"SELECT count(*) FILTER (WHERE {condition}), count({name}) FROM t",
        f"SELECT {name}, count(*) FROM t GROUP BY ROLLUP ({name})",
        f"SELECT {name}, count(*) AS n FROM t{where} GROUP BY {name} ORDER BY n DESC, {name} LIMIT 2",
        f"SELECT a.n + b.n FROM (SELECT count(*) AS n FROM t{where}) a, "
        f"(SELECT count({name}) AS n FROM t) b",
        f"WITH c AS (SELECT {name} AS v, count(*) AS n FROM t GROUP BY 1) "
        f"SELECT x.v, y.n FROM c x JOIN c y ON x.n = y.n",
    ]


def literal(kind, value):
    if isinstance(value, bytes):
        return "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::BLOB"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, decimal.Decimal)):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'" if "\0" not in value else "'a' || chr(0) || 'b'"
    return f"'{value.isoformat(' ') if isinstance(value, datetime.datetime) else value}'"


def check_all(made, generator, columns, share=0.4, must=None):
    for name in columns:
        kind, values = VALUES[name]
        for sql in statements(generator, name, literal(kind, generator.choice(values))):
            if generator.random() > share:
                continue
            counted, scanned = both(made, sql)
            assert counted == scanned, sql
            if must is not None:
                assert uses_counts(made, sql) == must, sql


def table_of(generator, appends, path=None):
    made = connection(path)
    table = made.create_table("t", SCHEMA, IndexSpec())
    first = 0
    for count in appends:
        table.append(rows(generator, count, first))
        first += count
    return made, table


@pytest.mark.parametrize("batch", range(3))
def test_counts_are_those_of_a_scan(batch):
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(SEED + batch)
    appends = [generator.choice([200, 500, 900]) for _ in range(generator.randint(1, 4))]
    made, _ = table_of(generator, appends)
    check_all(made, generator, VALUES, share=0.6, must=True)


@pytest.mark.parametrize("batch", range(3))
def test_deleted_and_changed_rows_are_taken_off(batch):
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(SEED + 100 + batch)
    made, table = table_of(generator, [400, 300, 30])
    for _ in range(4):
        first = generator.randint(0, 700)
        table.delete(f"k BETWEEN {first} AND {first + generator.randint(0, 12)}")
        check_all(made, generator, generator.sample(sorted(VALUES), 6))
    chosen = f"k % 97 = {generator.randint(0, 96)}"
    matching = made.query_sql(f"SELECT k FROM t WHERE {chosen}").column("k").to_pylist()
    table.update(chosen, pa.table({"k": matching, "s": ["updated"] * len(matching)}))
    check_all(made, generator, ["s", "i", "o"], share=1)
    assert uses_counts(made, "SELECT count(*) FROM t WHERE s = 'updated'")
    # All rows of a file, and more than are fetched one by one.
    table.delete("k < 400")
    check_all(made, generator, ["s", "i", "d", "m"], share=1)
    table.delete("k % 2 = 0")
    check_all(made, generator, ["s", "i", "d", "m"], share=1, must=False)
    table.delete("true")
    check_all(made, generator, ["s", "i"], share=1)
    table.append(rows(generator, 100, 10_000))
    check_all(made, generator, ["s", "i"], share=1, must=True)


def test_each_version_has_its_own_counts():
    generator = random.Random(SEED)
    path = folder()
    made, table = table_of(generator, [100], path)
    sql = "SELECT s, count(*) FROM t GROUP BY s"
    for number in range(30):
        if number % 3 == 2:
            table.delete(f"k = {number}")
        else:
            table.append(rows(generator, generator.choice([1, 5, 40]), 1000 * number))
        counted, scanned = both(made, sql)
        assert counted == scanned
        fresh = connection(path).query_sql(sql)
        assert sorted(rows_of(fresh), key=repr) == scanned


def test_small_superfiles_are_read_beside_large_ones():
    made = connection()
    table = made.create_table("t", pa.schema([("k", pa.int64()), ("s", pa.large_utf8())]), IndexSpec())
    table.append(pa.table({"k": list(range(2000)), "s": [f"v{i % 5}" for i in range(2000)]}))
    for number in range(10):
        table.append(pa.table({"k": [number] * 3, "s": [f"v{number}", "new", "x" * 100]}))
    for sql in ("SELECT s, count(*) FROM t GROUP BY s", "SELECT count(*) FROM t WHERE s = 'new'"):
        assert uses_counts(made, sql)
        counted, scanned = both(made, sql)
        assert counted == scanned
    # With many rows in superfiles without counts the table is scanned.
    table.append(pa.table({"k": list(range(300)), "s": [str(i) for i in range(300)]}))
    assert not uses_counts(made, "SELECT count(*) FROM t WHERE s = 'new'")


@pytest.mark.parametrize("distinct, counted", [(256, True), (257, False)])
def test_the_limits_of_what_is_counted(distinct, counted):
    made = connection()
    table = made.create_table("t", pa.schema([("i", pa.int64()), ("s", pa.large_utf8())]), IndexSpec())
    table.append(pa.table({"i": [n % distinct for n in range(4 * distinct)],
                           "s": ["x" * (64 if counted else 65)] * (4 * distinct)}))
    for name in "is":
        sql = f"SELECT {name}, count(*) FROM t GROUP BY {name}"
        assert uses_counts(made, sql) == counted
        one, other = both(made, sql)
        assert one == other


def test_only_what_reads_one_column_is_answered_from_counts():
    made, _ = table_of(random.Random(SEED), [300])
    yes = ["SELECT upper(s), count(*) FROM t GROUP BY 1", "SELECT count(*) FROM t WHERE length(s) > 3",
           "SELECT max(n) FROM (SELECT s, count(*) AS n FROM t GROUP BY s)",
           "SELECT count(*) FROM (SELECT s AS x, k FROM t) WHERE x LIKE 'p%'",
           "SELECT s, count(*) FROM t GROUP BY s UNION ALL SELECT s, 1 FROM t"]
    no = ["SELECT count(*) FROM t", "SELECT s, sum(k) FROM t GROUP BY s", "SELECT sum(i) FROM t",
          "SELECT count(*) FROM t WHERE s = 'npm' AND i = 7", "SELECT s FROM t WHERE s = 'npm'",
          "SELECT count(*) FROM (SELECT s FROM t LIMIT 10) WHERE s = 'npm'",
          "SELECT count(*) FROM t WHERE s = 'npm' AND random() < 2", "SELECT list(s) FROM t",
          "SELECT count(*) FROM t TABLESAMPLE 100% WHERE s = 'npm'", "SELECT count(*) FROM t GROUP BY k",
          "SELECT count(*) FROM t WHERE _id > 5", "SELECT string_agg(s, ',') FROM t",
          "SELECT s, row_number() OVER () FROM t", "SELECT first(s) FROM t",
          "SELECT count(*) FROM t a JOIN t b USING (s)",
          "SELECT DISTINCT s, i FROM t", "SELECT DISTINCT ON (s) s, k FROM t ORDER BY k"]
    assert [sql for sql in yes if not uses_counts(made, sql)] == []
    assert [sql for sql in no if uses_counts(made, sql)] == []


def test_results_have_the_names_and_types_that_they_had():
    made, _ = table_of(random.Random(SEED), [300])
    for sql in ("SELECT count(*) FROM t WHERE s = 'npm'", "SELECT count(s) FROM t WHERE s = 'npm'",
                "SELECT s, count(*) FROM t GROUP BY s", "SELECT DISTINCT y FROM t",
                "SELECT sec, t32, m, count(*) c FROM t GROUP BY ALL", "SELECT ns, count(*) FROM t GROUP BY ns"):
        by_counts = made.query_sql(sql).schema
        by_scan = made.query_sql(sql.replace(" FROM t", " FROM (SELECT * FROM t WHERE _id >= 0)")).schema
        assert by_counts == by_scan, sql
    found = made.query_sql("SELECT count(*) FROM t WHERE s = $1 OR s = $2", ["npm", "pypi"])
    assert found.column_names == ["count(*)"] and found.schema.field(0).type == pa.int64()
    none = made.query_sql("SELECT count(*), count(s), min(s) FROM t WHERE s = 'nobody has it'")
    assert rows_of(none) == [(0, 0, None)]


def test_schema_changes_are_seen():
    made, table = table_of(random.Random(SEED), [200])
    check_all(made, random.Random(SEED), ["s", "j", "h"], share=1, must=True)
    ids = {field["name"]: field["id"] for field in made.schema("t")["fields"]}
    made.schema("t", {"fields": [{"name": "h", "type": "i64"}, {"id": ids["s"], "name": "source"},
                                 {"name": "added", "type": "large_utf8"}]})
    renamed = "SELECT source, count(*) FROM t GROUP BY source"
    assert uses_counts(made, renamed)
    assert both(made, renamed)[0] == both(made, renamed)[1]
    widened = "SELECT h, count(*) FROM t GROUP BY h"
    assert both(made, widened)[0] == both(made, widened)[1]
    added = "SELECT added, count(*) FROM t GROUP BY added"
    assert uses_counts(made, added)
    assert rows_of(made.query_sql(added)) == [(None, 200)]
    table.append(pa.table({"k": [1] * 40, "source": ["npm"] * 40, "added": ["new"] * 40,
                           "h": [2**40] * 40}))
    for sql in (renamed, widened, added):
        counted, scanned = both(made, sql)
        assert counted == scanned, sql


def test_damaged_counts_are_an_error_and_scans_do_without():
    path = folder()
    made, _ = table_of(random.Random(SEED), [300], path)
    summary, = pathlib.Path(path).glob("*/manifest/summary-*.arrow")
    content = summary.read_bytes()
    summary.write_bytes(bytes(byte ^ 1 for byte in content))
    sql = "SELECT s, count(*) FROM t GROUP BY s"
    with pytest.raises(infino.InfinoError, match=summary.name):
        connection(path).query_sql(sql)
    assert connection(path).query_sql("SELECT count(*) FROM t WHERE s = 'npm' AND k >= 0").num_rows == 1
    summary.unlink()
    with pytest.raises(infino.InfinoError, match=summary.name):
        connection(path).query_sql(sql)


def test_appends_beside_counting_never_show_half_a_version():
    made = connection()
    table = made.create_table("t", pa.schema([("s", pa.large_utf8())]), IndexSpec())
    table.append(pa.table({"s": ["a", "b"] * 50}))
    stop = threading.Event()

    def append():
        while not stop.is_set():
            table.append(pa.table({"s": ["a", "b"] * 4}))

    thread = threading.Thread(target=append)
    thread.start()
    try:
        for _ in range(100):
            counts = dict(rows_of(made.query_sql("SELECT s, count(*) FROM t GROUP BY s")))
            assert counts["a"] == counts["b"]
    finally:
        stop.set()
        thread.join()
