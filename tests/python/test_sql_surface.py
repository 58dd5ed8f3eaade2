"""What SQL may say and what it may not: names, statements, errors."""

import pathlib
import re

import duckdb
import pyarrow as pa
import pytest

import infino
from helpers import BODY, connection, folder, rows, text_table
from infino import IndexSpec

FUNCTIONS = set((pathlib.Path(__file__).parent / "sql_functions.txt").read_text().split())
IDS = pa.schema([("id", pa.int64())])


@pytest.fixture(scope="module")
def docs():
    return text_table(["a b", "b c", "c d"], name="docs")[0]


def ids(made, sql, params=None):
    return made.query_sql(sql, params).column("id").to_pylist()


def refused(made, sql, *words, params=None):
    """Runs a statement that is wrong. Its error is a ValueError with the words."""
    with pytest.raises(ValueError) as caught:
        made.query_sql(sql, params)
    assert isinstance(caught.value, infino.InfinoError)
    message = str(caught.value)
    assert "RecordBatch" not in message
    for word in words:
        assert word.lower() in message.lower(), message
    return message


def numbered(names):
    """A connection to tables of one row: the number of the name."""
    made = infino.connect("memory://")
    for number, name in enumerate(names):
        made.create_table(name, IDS, IndexSpec()).append([{"id": number}])
    return made


# Names.


def test_tables_and_columns_are_listed():
    made = numbered(["b", "A", "a", "x-y"])
    listed = made.query_sql("SHOW TABLES")
    assert sorted(listed.column("name").to_pylist()) == ["A", "a", "b", "x-y"]
    tables = made.query_sql("SELECT table_schema s, table_name n FROM information_schema.tables")
    assert sorted(row["n"] for row in tables.to_pylist()) == ["A", "a", "b", "x-y"]
    assert {row["s"] for row in tables.to_pylist()} == {"public"}
    described = made.query_sql('DESCRIBE "A"').to_pylist()
    assert [(row["column_name"], row["column_type"]) for row in described] == [
        ("_id", "DECIMAL(38,0)"), ("id", "BIGINT")]
    columns = made.query_sql("SELECT column_name c FROM information_schema.columns "
                             "WHERE table_name = 'x-y' ORDER BY ordinal_position")
    assert columns.column("c").to_pylist() == ["_id", "id"]
    assert made.query_sql("DESCRIBE SELECT 1 AS x, 'a' AS y").num_rows == 2
    assert made.query_sql("SHOW ALL TABLES").num_rows == 4
    assert made.query_sql("SUMMARIZE b").num_rows == 2
    assert infino.connect("memory://").query_sql("SHOW TABLES").num_rows == 0


def test_a_table_made_or_dropped_elsewhere_is_seen():
    path = folder()
    here, there = connection(path), connection(path)
    made = there.create_table("t", IDS, IndexSpec())
    assert ids(here, "SELECT id FROM t") == []
    made.append([{"id": 5}])
    assert ids(here, "SELECT id FROM t") == [5]
    there.drop_table("t")
    refused(here, "SELECT id FROM t", "t")
    there.create_table("t", IDS, IndexSpec()).append([{"id": 6}])
    assert ids(here, "SELECT id FROM t") == [6]


def test_names_that_differ_in_case_are_different_tables():
    made = numbered(["docs", "Docs", "a", "A", "Lone"])
    assert ids(made, "SELECT id FROM docs") == [0]
    assert ids(made, "SELECT id FROM Docs") == ids(made, 'SELECT id FROM "Docs"') == [1]
    assert ids(made, "SELECT x.id FROM A x CROSS JOIN a y WHERE y.id = 2") == [3]
    assert "Docs" in refused(made, "SELECT id FROM DOCS", "docs", "case")
    for spelled in ("lone", "LONE", '"lONE"', "Lone"):
        assert ids(made, f"SELECT id FROM {spelled}") == [4]


def test_names_of_systems_are_names_of_tables():
    names = ["information_schema", "duckdb_tables", "sqlite_master", "pg_class", "temp", "system",
             "main", "public", "infino", "memory", "range", "bm25_search", "9x", "select", "a-b",
             "catalog", "count", "x" * 200]
    made = numbered(names)
    for number, name in enumerate(names):
        for spelled in (f'"{name}"', f'public."{name}"', f'infino.public."{name}"'):
            assert ids(made, f"SELECT id FROM {spelled}") == [number], spelled
    assert ids(made, "SELECT infino.id FROM infino") == [8]
    assert made.query_sql("SELECT * FROM public.bm25_search").num_rows == 1


def test_names_of_columns_are_found_in_any_case():
    names = ["Id", "my col", "order", "ünï", 'q"q', "a.b", "PartyAbbrev", "__row", "1"]
    made = infino.connect("memory://")
    made.create_table("Mixed-Case", pa.schema([(name, pa.int64()) for name in names]),
                      IndexSpec()).append([{name: i for i, name in enumerate(names)}])
    for i, name in enumerate(names[:7] + names[8:]):
        quoted = name.replace('"', '""')
        found = made.query_sql(f'SELECT "{quoted}" FROM "Mixed-Case" WHERE "{quoted}" < 9')
        assert found.column_names == [name]
        assert found.column(0).to_pylist() == [names.index(name)]
    assert made.query_sql('SELECT ID, iD AS x FROM "mixed-case"').column_names == ["Id", "x"]
    refused(made, 'SELECT my_col FROM "Mixed-Case"', "my_col")


def test_columns_that_differ_in_case_have_numbers():
    made = infino.connect("memory://")
    schema = pa.schema([("a", pa.int64()), ("A", pa.int64()), ("b", pa.int64())])
    made.create_table("t", schema, IndexSpec()).append([{"a": 1, "A": 2, "b": 3}])
    found = made.query_sql("SELECT * EXCLUDE (_id) FROM t")
    assert found.to_pylist() == [{"a": 1, "A_1": 2, "b": 3}]
    assert made.query_sql("SELECT a_1 FROM t").to_pylist() == [{"A_1": 2}]


def test_results_have_the_names_that_programs_expect(docs):
    names = lambda sql: docs.query_sql(sql).column_names
    assert names("SELECT COUNT(*) FROM docs") == ["count(*)"]
    assert names("SELECT count(*), max(id), count(*) AS n FROM docs") == [
        "count(*)", "max(id)", "n"]
    assert names("SELECT * FROM docs") == ["_id", "id", "body"]
    assert names("SELECT id, id FROM docs") == ["id", "id_1"]
    assert names("SELECT * FROM docs a JOIN docs b ON a.id = b.id") == [
        "_id", "id", "body", "_id_1", "id_1", "body_1"]
    assert names("SELECT id AS \"A\", body \"b b\" FROM docs") == ["A", "b b"]
    assert names("VALUES (1, 2)") == ["col0", "col1"]


# Statements.


def test_one_statement_a_call(docs):
    for sql in ("SELECT 1 AS n;", "SELECT 1 AS n -- more;", "/* ; */ SELECT 1 AS n ; ",
                "\n\tSELECT ';' AS s, 1 AS n\n;\n"):
        assert docs.query_sql(sql).column("n").to_pylist() == [1]
    for sql in ("", ";", "  ", "-- nothing", "SELECT 1; SELECT 2", "SELECT 1;; DROP TABLE docs"):
        refused(docs, sql, "one SQL statement")
    for sql in ("SELEC 1", "SELECT FROM", "SELECT 'x", "SELECT (1", "\0", "SELECT 1 AS \0", "😀"):
        refused(docs, sql)
    with pytest.raises(TypeError):
        docs.query_sql(None)
    with pytest.raises(TypeError):
        docs.query_sql(b"SELECT 1")


WRITES = [
    "INSERT INTO docs VALUES (1, 2)", "UPDATE docs SET id = 1", "DELETE FROM docs",
    "DROP TABLE docs", "TRUNCATE docs", "CREATE TABLE z (i INT)", "CREATE TABLE z AS SELECT 1",
    "CREATE TEMP TABLE z (i INT)", "CREATE VIEW z AS SELECT 1", "CREATE TEMP VIEW z AS SELECT 1",
    "CREATE MACRO z(x) AS x", "CREATE SCHEMA z", "CREATE SEQUENCE z", "CREATE TYPE z AS ENUM ('a')",
    "CREATE INDEX z ON docs (id)", "CREATE SECRET z (TYPE s3)", "ALTER TABLE docs ADD COLUMN z INT",
    "ALTER TABLE docs RENAME TO z", "COMMENT ON TABLE docs IS 'z'", "COPY docs TO '{0}'",
    "COPY (SELECT 1) TO '{0}' (FORMAT csv)", "COPY docs FROM '{0}'", "ATTACH '{0}'",
    "ATTACH ':memory:' AS z", "DETACH infino", "USE memory", "SET threads = 1", "RESET threads",
    "SET VARIABLE z = 1", "SET enable_external_access = true", "PRAGMA threads = 1",
    "PRAGMA enable_profiling", "PRAGMA database_list", "PRAGMA table_info('docs')",
    "CALL pragma_version()", "CALL duckdb_settings()", "LOAD httpfs", "INSTALL httpfs",
    "UPDATE EXTENSIONS", "BEGIN", "COMMIT", "ROLLBACK", "CHECKPOINT", "VACUUM", "ANALYZE",
    "PREPARE z AS SELECT 1", "EXECUTE z", "DEALLOCATE z", "EXPORT DATABASE '{0}'",
    "IMPORT DATABASE '{0}'", "EXPLAIN INSERT INTO docs VALUES (1, 2)", "EXPLAIN DELETE FROM docs",
    "EXPLAIN ANALYZE DELETE FROM docs", "EXPLAIN ANALYZE COPY docs TO '{0}'",
    "EXPLAIN ATTACH '{0}'", "EXPLAIN ANALYZE SET threads = 1",
    "EXPLAIN ANALYZE CREATE TABLE z AS SELECT 1", "EXPLAIN CALL duckdb_settings()",
    "WITH z AS (INSERT INTO docs VALUES (1, 2) RETURNING *) SELECT * FROM z",
    "MERGE INTO docs USING docs z ON true WHEN MATCHED THEN DELETE",
    "SELECT 1; COPY docs TO '{0}'",
]


@pytest.mark.parametrize("sql", WRITES)
def test_sql_only_reads(docs, tmp_path, sql):
    target = tmp_path / "z"
    refused(docs, sql.format(target))
    assert not target.exists()
    assert docs.query_sql("SELECT count(*) n FROM docs").to_pylist() == [{"n": 3}]
    assert docs.list_tables() == ["docs"]


def test_a_refusal_says_what_to_do(docs):
    for sql in ("INSERT INTO docs VALUES (1, 2)", "EXPLAIN DELETE FROM docs", "SET threads = 1"):
        refused(docs, sql, "read-only", "append")


def test_explain_says_what_is_read(docs):
    plan = docs.query_sql("EXPLAIN SELECT body FROM docs WHERE id = 1").column(1).to_pylist()[0]
    assert "docs" in plan
    search = docs.query_sql(
        "EXPLAIN SELECT * FROM bm25_search('docs', 'body', 'a', 3) WHERE id < 2")
    assert "bm25_search" in search.column(1).to_pylist()[0].lower()
    assert docs.query_sql("EXPLAIN ANALYZE SELECT count(*) FROM docs WHERE id > 0").num_rows == 1


# Files, network, settings, functions.

OUTSIDE = [
    "SELECT * FROM '{0}'", "SELECT * FROM \"{0}\"", "FROM '/etc/passwd'", "FROM '{0}.parquet'",
    "FROM 'https://localhost:1/x.parquet'", "FROM 's3://bucket/x.parquet'", "FROM 'file:///{0}'",
    "FROM 'infino://x/y.parquet'", "FROM '{0}.csv'", "FROM '{0}.json'", "FROM '{0}.db'",
    "SELECT * FROM read_csv('{0}')", "SELECT * FROM read_csv_auto('{0}')",
    "SELECT * FROM read_text('{0}')", "SELECT * FROM read_blob('{0}')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM read_parquet('{0}')", "SELECT * FROM parquet_scan('{0}')",
    "SELECT * FROM parquet_scan(['{0}'])", "SELECT * FROM parquet_metadata('{0}')",
    "SELECT * FROM parquet_schema('{0}')", "SELECT * FROM parquet_bloom_probe('{0}', 'a', 1)",
    "SELECT * FROM parquet_kv_metadata('{0}')", "SELECT * FROM parquet_file_metadata('{0}')",
    "SELECT * FROM read_json('{0}')", "SELECT * FROM read_json_objects('{0}')",
    "SELECT * FROM read_ndjson('{0}')", "SELECT * FROM sniff_csv('{0}')",
    "SELECT * FROM read_duckdb('{0}')", "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('docs')", "SELECT * FROM query_table(['docs'])",
    "SELECT * FROM system.main.read_text('{0}')", "SELECT * FROM memory.main.read_text('{0}')",
    "SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_extensions()", "SELECT * FROM duckdb_variables()",
    "SELECT * FROM duckdb_logs()", "SELECT * FROM duckdb_temporary_files()",
    "SELECT * FROM which_secret('a', 's3')", "SELECT * FROM pragma_version()",
    "SELECT current_setting('threads')", "SELECT getenv('HOME')", "SELECT getvariable('x')",
    "SELECT system.main.current_setting('threads')", "SELECT write_log('x')", "SELECT nextval('x')",
    "SELECT * FROM infino_scan('{0}.parquet')", "SELECT * FROM infino_scan('docs')",
    "SELECT * FROM infino_scan('infino://x/y.parquet')", "SELECT * FROM infino_value_counts()",
    "SELECT * FROM json_execute_serialized_sql('{{}}')", "SELECT json_serialize_sql('SELECT 1')",
    "SELECT json_deserialize_sql('{{}}')", "SELECT set_config('threads', '1')",
    "EXPLAIN ANALYZE SELECT * FROM read_text('{0}')", "DESCRIBE FROM read_text('{0}')",
    "SUMMARIZE FROM '{0}.parquet'", "WITH c AS (FROM read_text('{0}')) FROM c",
    "SELECT (SELECT content FROM read_text('{0}'))", "SELECT * FROM docs, LATERAL read_text('{0}')",
    "SELECT * FROM docs WHERE body IN (SELECT content FROM read_text('{0}'))",
]


@pytest.mark.parametrize("sql", OUTSIDE)
def test_sql_reads_nothing_but_tables(docs, tmp_path, sql):
    secret = tmp_path / "secret"
    for suffix in ("", ".csv", ".json"):
        secret.with_name(secret.name + suffix).write_text("a,b\n1,2\n")
    duckdb.execute(f"COPY (SELECT 1 AS a) TO '{secret}.parquet'")
    refused(docs, sql.format(secret))


def test_a_refusal_gives_no_advice_that_cannot_be_followed(docs):
    for sql in ("FROM 'x.parquet'", "FROM read_parquet('x')", "SELECT current_setting('threads')",
                "FROM read_json('x')", "SELECT json_serialize_sql('SELECT 1')"):
        message = refused(docs, sql)
        assert not re.search("INSTALL|LOAD |autoload|extension", message), message


def test_a_superfile_cannot_be_read_by_its_name():
    path = folder()
    made, _ = text_table(["a"], path)
    file = next(pathlib.Path(path).glob("**/*.parquet"))
    assert ids(made, "SELECT id FROM t") == [0]
    for sql in (f"FROM '{file}'", f"FROM read_parquet('{file}')", f"FROM parquet_scan('{file}')"):
        refused(made, sql)


# Names of functions that would read or change what is not a row of a table.
READS_OUTSIDE = re.compile(
    r"^(read|write|copy|load|install|attach|query|glob|sniff|parquet|arrow|pandas|python|sqlite|"
    r"postgres|mysql|http|s3|set_?(config|variable|seed)|getenv|getvariable|sleep|nextval|currval|"
    r"seq_scan|index_scan|checkpoint|force|enable|disable|which|test_|storage|txid|current_query|"
    r"current_setting|pragma_(?!show$|table_info$)|json_(de)?serialize|json_execute|"
    r"duckdb_(settings|secrets|extensions|variables|logs?|log_contexts|memory|temporary_files|"
    r"external|prepared|optimizers|dependencies|approx|connection|coordinate|profiling).*)|"
    r"(?!infino_scan$).*(_scan|_secret|_csv|_parquet|_log|_sql|_file|_files|setting)s?$")


def test_every_function_of_sql_has_been_looked_at(docs):
    found = docs.query_sql("SELECT DISTINCT function_name AS n, function_type AS t "
                           "FROM duckdb_functions()").to_pylist()
    names = {row["n"] for row in found
             if not row["n"].startswith(("icu_collate_", "__internal_"))}
    assert len(names) > 500
    assert sorted(names - FUNCTIONS) == []
    assert sorted(name for name in FUNCTIONS if READS_OUTSIDE.match(name)) == []
    assert {row["t"] for row in found} <= {"scalar", "aggregate", "macro", "table", "table_macro"}


def test_no_other_function_of_duckdb_can_be_called(docs):
    theirs = duckdb.execute("SELECT DISTINCT function_name, function_type FROM duckdb_functions()")
    others = [(name, kind) for name, kind in theirs.fetchall()
              if name not in FUNCTIONS and name.isidentifier()
              and not name.startswith(("icu_collate_", "__internal_"))]
    assert len(others) > 60
    for name, kind in others:
        for arguments in ("", "'x'", "'/etc/passwd'", "1", "'docs', 'x'", "['/etc/passwd']"):
            call = f"{name}({arguments})"
            sql = f"SELECT * FROM {call}" if kind.startswith("table") else f"SELECT {call}"
            if kind == "pragma":
                sql = f"PRAGMA {call}"
            refused(docs, sql)


# Parameters and errors.


def test_parameters_have_three_forms(docs):
    assert ids(docs, "SELECT id FROM docs WHERE id = ? OR body = ? ORDER BY id",
               [2, "a b"]) == [0, 2]
    assert ids(docs, "SELECT id FROM docs WHERE id > $2 AND id < $1", (2, 0)) == [1]
    assert ids(docs, "SELECT id FROM docs WHERE body LIKE $Like ORDER BY id LIMIT $k",
               {"like": "%c%", "K": 1}) == [1]
    assert ids(docs, "SELECT id FROM docs WHERE id = $x OR id = $x + 1 ORDER BY id",
               {"x": 1}) == [1, 2]
    assert ids(docs, "SELECT id FROM docs WHERE id IN (SELECT unnest(?)) ORDER BY id",
               [[0, 2, 9]]) == [0, 2]
    assert ids(docs, "SELECT id FROM docs WHERE list_contains($ids, id)", {"ids": [1]}) == [1]
    assert docs.query_sql("SELECT 1 AS n", []).num_rows == docs.query_sql("SELECT 1", {}).num_rows
    quoted = "x'; DROP TABLE docs; --"
    assert docs.query_sql("SELECT ? AS s", [quoted]).to_pylist() == [{"s": quoted}]


def test_wrong_parameters_are_errors(docs):
    for sql, params in (("SELECT ?", None), ("SELECT ?, ?", [1]), ("SELECT 1", [1]),
                        ("SELECT $a", {"b": 1}), ("SELECT $a", [1]), ("SELECT ?", {"a": 1}),
                        ("SELECT ? + $a", [1]), ("SELECT $1", []), ("SELECT ?", [object()]),
                        ("SELECT ? + 1", ["x"]), ("SELECT * FROM ?", ["docs"]),
                        ("SELECT id FROM docs WHERE ?", ["1 = 1"])):
        with pytest.raises(ValueError):
            docs.query_sql(sql, params)
    for params in ("x", b"x", 5, {1, 2}):
        with pytest.raises(TypeError):
            docs.query_sql("SELECT ?", params)


def test_errors_are_value_errors_that_name_what_is_wrong(docs):
    for sql, word in (
            ("SELECT id FROM nope", "nope"), ("SELECT nope FROM docs", "nope"),
            ("SELECT x.nope FROM docs x", "nope"), ("SELECT nope(id) FROM docs", "nope"),
            ("SELECT * FROM nope(1)", "nope"), ("SELECT id FROM other.docs", "other"),
            ("SELECT max(id), body FROM docs", "body"), ("SELECT id FROM docs LIMIT 'x'", "x"),
            ("SELECT 'x'::BIGINT", "x"), ("SELECT body::BIGINT FROM docs", "a b"),
            ("SELECT id FROM docs WHERE body", "a b"), ("SELECT error('boom')", "boom"),
            ("SELECT (SELECT id FROM docs)", "row"),
            ("SELECT 1::TINYINT + 127::TINYINT", "overflow"),
            ("SELECT 9223372036854775807 + id FROM docs WHERE id > 0", "overflow"),
            ("SELECT sum(9223372036854775807) FROM docs", "out of range"),
            ("SELECT sum(x) FROM (VALUES (9223372036854775807), (1)) t(x)", "out of range"),
            ("SELECT DATE '2024-02-30'", "2024-02-30"), ("SELECT strptime('x', '%Y')", "x")):
        assert "pending query" not in refused(docs, sql, word), sql
    # After all that, the connection works.
    assert ids(docs, "SELECT id FROM docs ORDER BY id") == [0, 1, 2]


def test_an_unknown_table_is_told_the_known_ones(docs):
    refused(docs, "SELECT id FROM dosc", "dosc", "docs")


def test_sums_of_integers_are_integers(docs):
    sums = docs.query_sql("SELECT sum(id) a, sum(id::INT) b, sum(id::UTINYINT) c, count(*) d, "
                          "sum(id::HUGEINT) e, list(sum_) l, {'s': sum(sum_)} s "
                          "FROM (SELECT id, sum(id) OVER () AS sum_ FROM docs)")
    assert sums.schema.types[:5] == [pa.int64()] * 5
    assert sums.schema.field("l").type == pa.list_(pa.int64())
    assert sums.to_pylist() == [
        {"a": 3, "b": 3, "c": 3, "d": 3, "e": 3, "l": [3, 3, 3], "s": {"s": 9}}]


def test_empty_results_have_names_and_types(docs):
    schema = docs.query_sql("SELECT *, sum(id) OVER () AS s, {'a': id} AS t FROM docs").schema
    for where in ("false", "id > 99", "id IS NULL", "body = 'nope'"):
        found = docs.query_sql(f"SELECT *, sum(id) OVER () AS s, {{'a': id}} AS t FROM docs "
                               f"WHERE {where}")
        assert found.num_rows == 0
        assert found.schema.equals(schema)


def test_the_dialect_is_the_documented_one(docs):
    one = lambda expression: docs.query_sql(f"SELECT {expression} AS x").column("x").to_pylist()[0]
    assert (one("10 / 4"), one("-7 / 2"), one("10.0 / 4"), one("7 % 3")) == (2, -3, 2.5, 1)
    order = lambda how: [row["x"] for row in docs.query_sql(
        f"SELECT x FROM (VALUES (1), (NULL), (2)) t(x) ORDER BY x {how}").to_pylist()]
    assert (order(""), order("DESC")) == ([1, 2, None], [None, 2, 1])
    assert (order("NULLS FIRST"), order("DESC NULLS LAST")) == ([None, 1, 2], [2, 1, None])
    assert one("'a' || 'b'") == "ab"
    assert one("TIMESTAMPTZ '2024-01-01 00:00:00+00'::VARCHAR") == "2024-01-01 00:00:00+00"
    assert docs.query_sql("FROM docs SELECT id LIMIT 1").num_rows == 1
    assert docs.query_sql("SELECT * EXCLUDE (_id, body) FROM docs").column_names == ["id"]


def test_a_table_of_no_rows_and_of_no_columns_is_read():
    made = infino.connect("memory://")
    made.create_table("t", BODY, IndexSpec().fts("body"))
    made.create_table("bare", pa.schema([]), IndexSpec())
    for table in ("t", "bare"):
        assert made.query_sql(f"SELECT count(*) n, max(_id) m FROM {table}").to_pylist() == [
            {"n": 0, "m": None}]
        assert made.query_sql(f"SELECT * FROM {table}").num_rows == 0
    made.open_table("t").append(rows([]))
    assert made.query_sql("SELECT * FROM t").column_names == ["_id", "id", "body"]
