"""The types of columns in SQL: what goes in comes out, is compared rightly, and is a parameter."""

import datetime as dt
import decimal
import math

import pyarrow as pa
import pytest

import infino
from infino import IndexSpec

D = decimal.Decimal
UTC = dt.timezone.utc


def nanos(type_, *values):
    return pa.array(values, pa.int64()).cast(type_)


# Type, three different values in ascending order, the type in SQL (None: the same).
TYPES = [
    (pa.bool_(), [False, True], None),
    (pa.int8(), [-128, 0, 127], None),
    (pa.int16(), [-2**15, 0, 2**15 - 1], None),
    (pa.int32(), [-2**31, 0, 2**31 - 1], None),
    (pa.int64(), [-2**63, 2**53 + 1, 2**63 - 1], None),
    (pa.uint8(), [0, 1, 255], None),
    (pa.uint16(), [0, 1, 2**16 - 1], None),
    (pa.uint32(), [0, 1, 2**32 - 1], None),
    (pa.uint64(), [0, 2**53 + 1, 2**64 - 1], None),
    (pa.float16(), [-2.5, 0.0, 65504.0], None),
    (pa.float32(), [-math.inf, 0.5, 3e38], None),
    (pa.float64(), [-1e308, 0.1, math.inf], None),
    (pa.utf8(), ["", "Ä", "日本\0語"], pa.large_utf8()),
    (pa.large_utf8(), ["", "a" * 5000, "ß"], None),
    (pa.string_view(), ["a", "a long text that is not inlined", "b"], pa.large_utf8()),
    (pa.binary(), [b"", b"\0\xff", b"zz"], pa.large_binary()),
    (pa.large_binary(), [b"", b"\0\xff", b"zz"], None),
    (pa.binary_view(), [b"a", b"a long text that is not inlined", b"b"], pa.large_binary()),
    (pa.binary(3), [b"\0\0\0", b"abc", b"\xff\xff\xff"], None),
    (pa.date32(), [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31)], None),
    (pa.date64(), [dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2024, 2, 29)], None),
    (pa.time32("s"), [dt.time(0), dt.time(1, 2, 3), dt.time(23, 59, 59)], None),
    (pa.time32("ms"), [dt.time(0), dt.time(1, 2, 3, 4000), dt.time(23, 59, 59, 999000)], None),
    (pa.time64("us"), [dt.time(0), dt.time(1, 2, 3, 4), dt.time(23, 59, 59, 999999)], None),
    (pa.time64("ns"), nanos(pa.time64("ns"), 0, 1, 86_399_999_999_999), None),
    *((pa.timestamp(unit), [dt.datetime(1900, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59),
                            dt.datetime(2024, 2, 29, 12)], None) for unit in ("s", "ms", "us")),
    (pa.timestamp("ns"), nanos(pa.timestamp("ns"), -1, 0, 1_700_000_000_123_456_789), None),
    (pa.timestamp("us", "UTC"), [dt.datetime(1969, 1, 1, tzinfo=UTC),
                                 dt.datetime(2024, 7, 1, 0, 0, 0, 1, tzinfo=UTC)], None),
    (pa.timestamp("s", "Europe/Paris"), [dt.datetime(1969, 1, 1, tzinfo=UTC),
                                         dt.datetime(2024, 7, 1, tzinfo=UTC)], None),
    (pa.timestamp("ms", "+02:00"), [dt.datetime(1969, 1, 1, tzinfo=UTC),
                                    dt.datetime(2024, 7, 1, tzinfo=UTC)], None),
    # SQL has instants in microseconds.
    (pa.timestamp("ns", "UTC"), nanos(pa.timestamp("ns", "UTC"), -1000, 0, 1_700_000_000_123_000),
     None),
    *((pa.duration(unit), [dt.timedelta(-1), dt.timedelta(0), dt.timedelta(400)], None)
      for unit in ("s", "ms", "us", "ns")),
    (pa.decimal128(5, 0), [D(-99999), D(0), D(7)], None),
    (pa.decimal128(10, 2), [D("-5.00"), D("1.10"), D("1.11")], None),
    (pa.decimal128(38, 10), [D("-1234567890123456789012345678.0123456789"), D(0), D("1e-10")],
     None),
    (pa.decimal256(20, 3), [D("-1.001"), D("0.000"), D("2.5")], pa.decimal128(20, 3)),
    (pa.list_(pa.int64()), [[], [1, None], [2]], None),
    (pa.large_list(pa.utf8()), [[], ["a"], ["a", "b"]], pa.list_(pa.large_utf8())),
    (pa.list_(pa.list_(pa.float32())), [[], [[1.0], None], [[2.0]]], None),
    (pa.list_(pa.int32(), 2), [[0, 1], [0, 2], [1, 0]], None),
    (pa.struct([("a", pa.int32()), ("b", pa.large_utf8())]),
     [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": None}], None),
    (pa.struct([("a", pa.list_(pa.struct([("b", pa.date32())])))]),
     [{"a": [{"b": dt.date(2020, 1, 1)}]}, {"a": [{"b": None}]}], None),
    (pa.map_(pa.large_utf8(), pa.int64()), [[("a", 1)], [("a", 2), ("b", None)]], None),
    (pa.dictionary(pa.int32(), pa.large_utf8()), ["a", "b"], pa.large_utf8()),
    (pa.dictionary(pa.int8(), pa.utf8()), ["a", "b"], pa.large_utf8()),
]
NAMES = [str(type_) for type_, _, _ in TYPES]
# What has an order, and values of its own in SQL.
ORDERED = [each for each in TYPES if not pa.types.is_nested(each[0])]


def computed(type_, as_):
    """The type of what SQL computes of such a column, and its values of ours."""
    same = lambda cell: cell
    if pa.types.is_float16(type_):
        return pa.float32(), same
    if pa.types.is_fixed_size_binary(type_):
        return pa.large_binary(), same
    if pa.types.is_date64(type_):
        return pa.date32(), same
    if pa.types.is_time32(type_):
        return pa.time64("us"), same
    if pa.types.is_timestamp(type_) and type_.tz:
        return pa.timestamp("us", "UTC"), same
    if pa.types.is_duration(type_):
        return pa.int64(), lambda cell: pa.scalar(cell, type_).cast(pa.int64()).as_py()
    return as_ or type_, same


def array_of(type_, values):
    if isinstance(values, pa.Array):
        return values
    if pa.types.is_dictionary(type_):
        return pa.array(values, type_.value_type).dictionary_encode().cast(type_)
    return pa.array(values, type_)


def table_of(type_, values, with_null=True):
    """A connection to a table `t` of the values, one append each, and NULL behind them."""
    connection = infino.connect("memory://")
    schema = pa.schema([("id", pa.int64()), ("v", type_)])
    table = connection.create_table("t", schema, IndexSpec())
    array = array_of(type_, values)
    for i in range(len(array)):
        table.append(pa.table([pa.array([i]), array.slice(i, 1)], schema=schema))
    if with_null:
        table.append(pa.table([pa.array([len(array)]), pa.nulls(1, type_)], schema=schema))
    return connection


def expected(type_, values):
    """The column that a SELECT gives."""
    array = array_of(type_, values)
    return pa.concat_arrays([array, pa.nulls(1, type_)]).to_pylist()


@pytest.mark.parametrize(("type_", "values", "as_"), TYPES, ids=NAMES)
def test_what_goes_in_comes_out(type_, values, as_):
    connection = table_of(type_, values)
    found = connection.query_sql("SELECT v FROM t ORDER BY id").column("v")
    assert found.type == (as_ or type_)
    assert found.to_pylist() == expected(type_, values)
    found.validate(full=True)
    # In other places of a plan, too.
    for sql in ("SELECT v FROM (SELECT v, row_number() OVER (ORDER BY id) n FROM t) ORDER BY n",
                "SELECT a.v FROM t a JOIN t b ON a.id = b.id ORDER BY a.id"):
        again = connection.query_sql(sql).column("v")
        assert again.type == found.type, sql
        assert again.to_pylist() == found.to_pylist(), sql
    plain, value = computed(type_, as_)
    for sql in ("SELECT any_value(v) v FROM t GROUP BY id ORDER BY id",
                "SELECT coalesce(v, NULL) v FROM t ORDER BY id",
                "SELECT first(v ORDER BY v) v FROM t GROUP BY id ORDER BY id"):
        again = connection.query_sql(sql).column("v")
        assert again.type == plain, sql
        assert again.to_pylist() == [value(cell) for cell in found.to_pylist()], sql


@pytest.mark.parametrize(("type_", "values", "as_"), TYPES, ids=NAMES)
def test_an_empty_table_has_the_types(type_, values, as_):
    empty = infino.connect("memory://")
    empty.create_table("t", pa.schema([("id", pa.int64()), ("v", type_)]), IndexSpec())
    for connection in (empty, table_of(type_, values)):
        found = connection.query_sql("SELECT * FROM t WHERE id < 0")
        assert found.num_rows == 0
        assert found.schema.names == ["_id", "id", "v"]
        assert found.schema.types == [pa.decimal128(38, 0), pa.int64(), as_ or type_]


@pytest.mark.parametrize(("type_", "values", "as_"), TYPES, ids=NAMES)
def test_a_list_and_a_struct_of_it_come_out(type_, values, as_):
    connection = table_of(type_, values)
    found = connection.query_sql(
        "SELECT list(v ORDER BY id) l, {'a': first(v ORDER BY id)} s FROM t")
    plain, value = computed(type_, as_)
    assert found.column("l").type == pa.list_(plain)
    assert found.column("l").to_pylist() == [[value(cell) for cell in expected(type_, values)]]
    assert found.column("s").type.field("a").type == plain


@pytest.mark.parametrize(("type_", "values", "as_"), ORDERED, ids=[str(t) for t, _, _ in ORDERED])
def test_values_are_compared_in_their_order(type_, values, as_):
    del as_
    connection = table_of(type_, values)
    count = len(array_of(type_, values))
    ordered = connection.query_sql("SELECT id FROM t ORDER BY v, id").column("id").to_pylist()
    assert ordered == list(range(count + 1))
    for i in range(count):
        one = f"(SELECT v FROM t WHERE id = {i})"
        for comparison, wanted in (("=", [i]), ("<", range(i)), (">=", range(i, count)),
                                   ("<>", [j for j in range(count) if j != i])):
            found = connection.query_sql(f"SELECT id FROM t WHERE v {comparison} {one} ORDER BY id")
            assert found.column("id").to_pylist() == list(wanted), (comparison, i)
    for condition, wanted in (("v IS NULL", [count]), ("v IS NOT NULL", range(count))):
        found = connection.query_sql(f"SELECT id FROM t WHERE {condition} ORDER BY id")
        assert found.column("id").to_pylist() == list(wanted)
    extremes = connection.query_sql("SELECT min(v) a, max(v) b, count(DISTINCT v) n FROM t")
    listed = [computed(type_, None)[1](cell) for cell in array_of(type_, values).to_pylist()]
    assert extremes.to_pylist() == [{"a": listed[0], "b": listed[-1], "n": count}]


@pytest.mark.parametrize(("type_", "values", "as_"), TYPES, ids=NAMES)
def test_a_value_is_a_parameter(type_, values, as_):
    del as_
    if pa.types.is_map(type_):
        pytest.skip("Python has no scalars of maps")
    connection = table_of(type_, values)
    array = array_of(type_, values)
    for i in range(len(array)):
        scalar = array[i]
        if pa.types.is_duration(type_):  # Durations are numbers in SQL.
            scalar = scalar.cast(pa.int64())
        if pa.types.is_decimal256(type_):
            scalar = scalar.as_py()
        found = connection.query_sql("SELECT id FROM t WHERE v = ?", [scalar])
        assert found.column("id").to_pylist() == [i], scalar
        found = connection.query_sql("SELECT id FROM t WHERE v = $v", {"v": scalar})
        assert found.column("id").to_pylist() == [i], scalar
    if not pa.types.is_duration(type_) and not pa.types.is_decimal256(type_):
        nothing = connection.query_sql("SELECT id FROM t WHERE v = ?", [pa.scalar(None, type_)])
        assert nothing.num_rows == 0
    for untyped in (None, pa.scalar(None)):
        found = connection.query_sql("SELECT id FROM t WHERE v IS NOT DISTINCT FROM ?", [untyped])
        assert found.column("id").to_pylist() == [len(array)]


# A literal as a person writes it, the rows it is equal to, those it is below.
LITERALS = [
    (pa.float16(), "0.0", [1], [2]), (pa.float16(), "-2.5", [0], [1, 2]),
    (pa.binary(3), "'abc'::BLOB", [1], [2]), (pa.date64(), "'1970-01-01'", [1], [2]),
    (pa.date64(), "DATE '2024-02-29'", [2], []), (pa.time32("s"), "TIME '01:02:03'", [1], [2]),
    (pa.time32("ms"), "'01:02:03.004'", [1], [2]), (pa.time64("us"), "'01:02:03.000004'", [1], [2]),
    (pa.timestamp("s"), "TIMESTAMP '1969-12-31 23:59:59'", [1], [2]),
    (pa.timestamp("ms"), "'1969-12-31 23:59:59'", [1], [2]),
    (pa.timestamp("ns"), "'1970-01-01'", [1], [2]),
    (pa.timestamp("s", "Europe/Paris"), "TIMESTAMPTZ '2024-07-01 02:00:00+02'", [1], []),
    (pa.timestamp("ms", "+02:00"), "TIMESTAMPTZ '1969-01-01 00:00:00+00'", [0], [1]),
    (pa.decimal128(10, 2), "1.1", [1], [2]), (pa.decimal128(10, 2), "1.105", [], [2]),
    (pa.decimal128(5, 0), "7", [2], []), (pa.uint64(), "18446744073709551615", [2], []),
    (pa.uint8(), "-1", [], [0, 1, 2]), (pa.int8(), "1000", [], []), (pa.int64(), "2.5", [], [1, 2]),
    (pa.bool_(), "true", [1], []), (pa.string_view(), "'a'", [0], [1, 2]),
    (pa.dictionary(pa.int32(), pa.large_utf8()), "'a'", [0], [1]),
]


@pytest.mark.parametrize(("type_", "literal", "equal", "above"), LITERALS,
                         ids=[f"{type_} {literal}" for type_, literal, _, _ in LITERALS])
def test_literals_are_compared_with_columns(type_, literal, equal, above):
    values = next(values for each, values, _ in TYPES if each == type_)
    connection = table_of(type_, values)
    found = lambda condition: connection.query_sql(
        f"SELECT id FROM t WHERE {condition} ORDER BY id").column("id").to_pylist()
    assert found(f"v = {literal}") == equal
    assert found(f"v > {literal}") == above
    assert found(f"{literal} < v") == above
    assert found(f"v IN ({literal})") == equal
    rest = [i for i in range(len(array_of(type_, values))) if i not in equal + above]
    assert found(f"v < {literal}") == rest


def test_python_values_are_parameters():
    connection = infino.connect("memory://")
    values = {
        "a": (1, pa.int64()), "b": (1.5, pa.float64()), "c": ("é", pa.large_utf8()),
        "d": (True, pa.bool_()), "e": (b"\0x", pa.large_binary()),
        "f": (dt.date(2024, 2, 29), pa.date32()), "h": (D("1.10"), pa.decimal128(3, 2)),
        "i": (dt.datetime(2024, 1, 1, 2, 3, 4, 5), pa.timestamp("us")),
        "j": (dt.time(1, 2, 3), pa.time64("us")), "k": ([1, 2, None], pa.list_(pa.int64())),
        "l": ({"x": 1, "y": "z"}, pa.struct([("x", pa.int64()), ("y", pa.large_utf8())])),
        "m": (dt.datetime(2024, 1, 1, tzinfo=UTC), pa.timestamp("us", "UTC")),
        "n": (["p", "q"], pa.list_(pa.large_utf8())), "o": (2**63 - 1, pa.int64()),
    }
    names = ", ".join(f"${name} AS {name}" for name in values)
    params = {name: each for name, (each, _) in values.items()}
    found = connection.query_sql(f"SELECT {names}", params)
    for name, (each, type_) in values.items():
        assert found.column(name).type == type_, name
        assert found.column(name).to_pylist() == [each], name
    assert connection.query_sql("SELECT ? + ? AS n", [40, 2]).to_pylist() == [{"n": 42}]
    assert connection.query_sql("SELECT $2 - $1 AS n", (2, 44)).to_pylist() == [{"n": 42}]


def test_nulls_are_integers_and_decimals_of_more_digits_are_not_there():
    connection = infino.connect("memory://")
    schema = pa.schema([("id", pa.int64()), ("n", pa.null()), ("m", pa.decimal256(50, 2))])
    table = connection.create_table("t", schema, IndexSpec())
    table.append(pa.table([[1], pa.nulls(1), pa.array([D("1.25")], pa.decimal256(50, 2))],
                          schema=schema))
    found = connection.query_sql("SELECT * EXCLUDE (_id) FROM t")
    assert found.schema.names == ["id", "n"]
    assert found.to_pylist() == [{"id": 1, "n": None}]
    assert connection.query_sql("SELECT coalesce(n, 7) AS x FROM t").to_pylist() == [{"x": 7}]


def test_fields_of_a_struct_and_items_of_lists_and_maps_are_read():
    connection = infino.connect("memory://")
    schema = pa.schema([("s", pa.struct([("A", pa.int64()), ("b c", pa.list_(pa.utf8()))])),
                        ("m", pa.map_(pa.utf8(), pa.float64())), ("l", pa.list_(pa.int64(), 3))])
    table = connection.create_table("t", schema, IndexSpec())
    table.append(pa.Table.from_pylist([
        {"s": {"A": 7, "b c": ["x", "y"]}, "m": [("k", 0.5)], "l": [1, 2, 3]},
        {"s": None, "m": None, "l": None}], schema=schema))
    found = connection.query_sql("""
        SELECT s.A, s['b c'][2] AS second, m['k'] AS k, l[3] AS third, list_sum(l) AS total
        FROM t WHERE s.a = 7 AND list_contains(l, 2)""")
    assert found.to_pylist() == [{"A": 7, "second": "y", "k": 0.5, "third": 3, "total": 6}]
    nested = connection.query_sql("SELECT unnest(s.\"b c\") AS item FROM t")
    assert nested.column("item").to_pylist() == ["x", "y"]


def test_nullability_and_field_ids_do_not_change_what_is_read():
    connection = infino.connect("memory://")
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False),
                        pa.field("b", pa.utf8(), metadata={"x": "y"})])
    connection.create_table("t", schema, IndexSpec()).append([{"a": 1, "b": None}])
    assert connection.query_sql("SELECT a, b FROM t").to_pylist() == [{"a": 1, "b": None}]
    described = connection.query_sql("DESCRIBE t").to_pylist()
    assert [(row["column_name"], row["null"]) for row in described] == [
        ("_id", "NO"), ("a", "NO"), ("b", "YES")]
