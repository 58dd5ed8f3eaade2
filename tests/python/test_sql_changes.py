"""SQL over deleted, updated and upserted rows, and SQL as the condition of changes and searches."""

import os
import random
import threading

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import infino
import sql_rows
from helpers import BODY, connection, folder, hits, rows, text_table, vector_table
from infino import IndexSpec
from sql_generator import KIND, Column, Scope
from sql_statements import Statements
from test_sql_random import difference, outcome

SEED = int(os.environ.get("INFINO_TEST_SEED", "20260101"))
SCOPE = Scope([Column(name, kind) for name, kind in KIND.items()], ["k"])


def ids(made, condition="true"):
    found = made.query_sql(f"SELECT id FROM t WHERE {condition} ORDER BY id")
    return found.column("id").to_pylist()


def one(made, sql):
    return made.query_sql(sql).to_pylist()[0]


# Histories.


class History:
    """Random changes of table `a` of Twins, made to both."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.twins = sql_rows.Twins(self.random)
        self.next = 10_000

    def condition(self):
        few = f"k % 7 = {self.random.randrange(7)}"
        return f"({Statements(self.random).condition(SCOPE)}) AND {few}"

    def new_rows(self, numbers):
        return pa.Table.from_pylist(
            [{name: sql_rows.value(self.random, name, number) for name in sql_rows.SCHEMA.names}
             for number in numbers], schema=sql_rows.SCHEMA)

    def insert(self, new):  # noqa: ARG002 (DuckDB finds it by its name)
        self.twins.theirs.execute("INSERT INTO a SELECT * FROM new")

    def step(self):
        table, theirs = self.twins.tables["a"], self.twins.theirs
        kind = self.random.choice(["append", "delete", "delete", "update", "upsert"])
        if kind == "append":
            self.next += 10
            new = self.new_rows(range(self.next, self.next + self.random.choice([1, 5])))
            table.append(new)
            self.insert(new)
        elif kind == "delete":
            ours, wanted = self.twins.delete("a", self.condition())
            assert ours == wanted
        elif kind == "update":
            condition = self.condition()
            gone = [k for k, in theirs.execute(f"SELECT k FROM a WHERE {condition}").fetchall()]
            new = self.new_rows(gone)
            assert table.update(condition, new).matched == len(gone)
            theirs.execute(f"DELETE FROM a WHERE {condition}")
            self.insert(new)
        else:
            there = [k for k, in theirs.execute("SELECT k FROM a").fetchall()]
            self.next += 10
            keys = self.random.sample(there, min(3, len(there))) + [self.next]
            new = self.new_rows(keys)
            table.upsert(new, "k")
            theirs.execute("DELETE FROM a WHERE k IN (SELECT unnest(?))", [keys])
            self.insert(new)
        return kind

    def check(self, sql):
        ours, theirs = (outcome(run, self.twins, sql, None)
                        for run in (sql_rows.run_ours, sql_rows.run_theirs))
        return difference(ours, theirs, False)


@pytest.mark.parametrize("batch", range(4))
def test_statements_over_changed_rows_give_what_duckdb_gives(batch):
    seed = SEED * 10 + batch
    print(f"INFINO_TEST_SEED={SEED}")
    history = History(seed)
    steps = []
    for _ in range(15):
        steps.append(history.step())
        whole = history.check(f"SELECT {', '.join(KIND)} FROM a")
        assert not whole, (seed, steps, whole)
        for sql in ("SELECT count(*), min(k), max(k), sum(i), count(gap), min(d), max(t) FROM a",
                    "SELECT o, count(*) FROM a GROUP BY o",
                    *(Statements(history.random).statement() for _ in range(4))):
            wrong = history.check(sql)
            assert not wrong, (seed, steps, sql, wrong)
    unique = history.twins.ours.query_sql("SELECT count(*) n, count(DISTINCT _id) d FROM a")
    assert unique.column("n") == unique.column("d")


@pytest.mark.parametrize("batch", range(3))
def test_where_on_methods_is_where_in_sql(batch):
    seed = SEED * 10 + batch
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(seed)
    twins = sql_rows.Twins(generator)
    table = twins.tables["a"]
    table.delete("k % 5 = 2")
    for _ in range(25):
        condition = Statements(generator).condition(SCOPE)
        try:
            found = sql_rows.run_ours(twins, f"SELECT k FROM a WHERE {condition}")
        except ValueError:
            with pytest.raises(ValueError):
                table.count("t", "red", where=condition)
            continue
        passing = {row[0] for row in found}
        word = generator.choice(["red", "a", "über", "fish"])
        get = lambda found: found.column("k").to_pylist()
        every = get(table.bm25_search("t", word, 10**6, projection=["k"]))
        wanted = [k for k in every if k in passing]
        label = (seed, condition)
        best = table.bm25_search("t", word, 4, projection=["k"], where=condition)
        assert get(best) == wanted[:4], label
        matching = table.token_match("t", word, projection=["k"], where=condition)
        assert get(matching) == sorted(wanted), label
        assert table.count("t", word, where=condition) == len(wanted), label
        found = twins.ours.query_sql(f"SELECT k FROM bm25_search('a', 't', '{word}', 4) "
                                     f"WHERE {condition} ORDER BY score DESC, _id")
        assert get(found) == wanted[:4], label


# Predicates.

REFUSED = [
    "", " ", "id", "'x'", "id + 1", "nope = 1", "t.id = 1", "public.t.id = 1", "id =",
    "id = 1; DROP TABLE t", "id IN (SELECT 1)", "EXISTS (SELECT 1)", "id = (SELECT max(id) FROM t)",
    "count(*) > 1", "max(id) = id", "row_number() OVER () = 1", "id = ?", "id = $1", "id = $x", "*",
    "1 = 1 FROM t", "id = 1 ORDER BY id", "id = 1 LIMIT 1", "id = 1 UNION SELECT true", "1, 2",
    "DISTINCT id = 1", "id = getvariable('x')", "current_setting('threads') = '2'",
    "getenv('HOME') = 'x'", "body = (SELECT content FROM read_text('/etc/passwd'))", "body = 'x",
    "v IS NULL", "unstored = 'x'", "__nope = 1", "unnest([true])", "true) OR (true",
    "id = 1 -- ; )\n)",
]


@pytest.mark.parametrize("predicate", REFUSED)
def test_what_is_not_one_condition_on_a_row_is_refused(predicate):
    made = infino.connect("memory://")
    schema = pa.schema([("id", pa.int64()), ("body", pa.large_utf8()),
                        ("unstored", pa.large_utf8()), ("v", pa.list_(pa.float32(), 16))])
    spec = IndexSpec().fts("body").fts("unstored", stored=False).vector("v", 16, "l2sq")
    table = made.create_table("t", schema, spec)
    table.append([{"id": 1, "body": "x", "unstored": "x", "v": [0.0] * 16}])
    for call in (table.delete, lambda text: table.update(text, [{"id": 2, "v": [0.0] * 16}]),
                 lambda text: table.count("body", "x", where=text),
                 lambda text: table.vector_search("v", [0.0] * 16, 3, where=text)):
        with pytest.raises(ValueError):
            call(predicate)
    assert ids(made) == [1]


def test_predicates_say_what_sql_says():
    texts = ["O'Brien", "other", "é", None, "x'; DROP TABLE t; --", "1 = 1", ""]
    for predicate, wanted in (
            ("body = 'O''Brien'", [0]), ("body = 'x'' or 1=1 --'", []), ("BODY = 'é'", [2]),
            ('"body" = \'other\' -- a comment', [1]), ("body IS NULL", [3]), ("body = NULL", []),
            ("NOT (body = 'other')", [0, 2, 4, 5, 6]), ("id > 2 AND body <> ''", [4, 5]),
            ("body LIKE '%DROP%'", [4]), ("body ILIKE 'OTH__'", [1]), ("null", []), ("false", []),
            ("true", [0, 1, 2, 3, 4, 5, 6]), ("1 = 1", [0, 1, 2, 3, 4, 5, 6]), ("(id = 5)", [5]),
            ("id BETWEEN 2 AND 3 OR id = 6", [2, 3, 6]), ("abs(id - 3) = 1", [2, 4]),
            ("id IN (0, 1, NULL)", [0, 1]), ("id NOT IN (0, NULL)", []), ("length(body) = 0", [6]),
            ("CASE WHEN id < 2 THEN true END", [0, 1]), ("/* ; */ id = 4", [4]), ("id = 4\n", [4]),
            ("not (id >= 4 and cast(null as boolean))", [0, 1, 2, 3])):
        made, table = text_table(texts)
        stats = table.delete(predicate)
        assert (stats.matched, stats.n_tombstoned) == (len(wanted), len(wanted)), predicate
        assert ids(made) == [i for i in range(7) if i not in wanted], predicate


def test_rows_are_deleted_by_their_ids():
    made, table = text_table(["a"] * 5)
    _id = int(made.query_sql("SELECT _id FROM t WHERE id = 3").column(0).to_pylist()[0])
    assert table.delete(f"_id = {_id}").matched == 1
    assert table.delete(f"_id IN ({_id}, {_id + 1}, 7)").matched == 1
    assert ids(made) == [0, 1, 2]


# What SQL sees after changes.


def test_counts_and_extremes_are_those_of_the_rows_left():
    made, table = text_table([])
    for part in range(4):
        table.append(rows(["x"] * 5, part * 5))
    assert one(made, "SELECT count(*) n, min(id) a, max(id) b FROM t") == {"n": 20, "a": 0, "b": 19}
    table.delete("id IN (0, 1, 19, 10)")
    assert one(made, "SELECT count(*) n, min(id) a, max(id) b FROM t") == {"n": 16, "a": 2, "b": 18}
    table.delete("id >= 15")
    assert one(made, "SELECT count(*) n, max(id) b FROM t WHERE id > 11") == {"n": 3, "b": 14}
    assert one(made, "SELECT count(*) n, min(_id) = (SELECT _id FROM t WHERE id = 2) f FROM t") == {
        "n": 12, "f": True}
    assert table.delete("id < 100").matched == 12
    assert one(made, "SELECT count(*) n, min(id) a, max(body) b FROM t") == {
        "n": 0, "a": None, "b": None}
    assert made.query_sql("SELECT * FROM t").num_rows == 0
    assert table.delete("true").matched == 0
    table.append(rows(["y"], 50))
    assert one(made, "SELECT count(*) n, min(id) a FROM t") == {"n": 1, "a": 50}


def test_the_best_of_the_rows_left_are_found():
    made, table = text_table(["alpha " * (1 + i % 7) + "x " * (i % 3) for i in range(50)])
    best = hits(table, "alpha", 10)
    table.delete(f"id in ({','.join(map(str, best))})")
    found = made.query_sql("SELECT id FROM bm25_search('t', 'body', 'alpha', 10)")
    assert found.num_rows == 10
    assert not set(found.column("id").to_pylist()) & set(best)
    filtered = made.query_sql(
        "SELECT id FROM bm25_search('t', 'body', 'alpha', 5) WHERE id % 4 = 1")
    assert filtered.num_rows == 5


def test_the_nearest_of_the_rows_left_are_found():
    matrix = np.random.default_rng(0).normal(size=(100, 16)).astype("f4")
    path = folder()
    table = vector_table(matrix, appends=3, path=path)
    order = np.argsort(((matrix - matrix[0]) ** 2).sum(1))
    table.delete(f"id IN ({','.join(map(str, order[:30]))})")
    vector = ",".join(str(float(x)) for x in matrix[0])
    found = connection(path).query_sql(
        f"SELECT id FROM vector_search('t', 'v', '{vector}', 10) ORDER BY score")
    assert found.column("id").to_pylist() == order[30:40].tolist()
    odd = connection(path).query_sql(
        f"SELECT id FROM vector_search('t', 'v', '{vector}', 10) WHERE id % 2 = 1 ORDER BY score")
    assert odd.column("id").to_pylist() == [i for i in order[30:] if i % 2][:10]


def test_an_update_keeps_the_id_and_shows_the_new_values_alone():
    made, table = text_table(["old word", "keep word"])
    before = made.query_sql("SELECT id, _id FROM t ORDER BY id").to_pylist()
    table.update("id = 0", [{"id": 0, "body": "new word"}])
    assert made.query_sql("SELECT id, _id FROM t ORDER BY id").to_pylist() == before
    assert made.query_sql("SELECT body FROM t ORDER BY id").column(0).to_pylist() == [
        "new word", "keep word"]
    for word, wanted in (("old", []), ("new", [0]), ("word", [0, 1])):
        found = made.query_sql(f"SELECT id FROM token_match('t', 'body', '{word}') ORDER BY id")
        assert found.column("id").to_pylist() == wanted
    for condition, wanted in (("body = 'old word'", []), ("body LIKE 'new%'", [0]),
                              ("_id IN (SELECT _id FROM t WHERE id = 0)", [0])):
        assert ids(made, condition) == wanted
    with pytest.raises(ValueError, match="cardinality"):
        table.update("id < 2", [{"id": 7}])
    assert ids(made) == [0, 1]


def test_superfiles_stay_plain_parquet_with_the_deleted_rows():
    path = folder()
    made, table = text_table(["x"] * 6, path)
    table.delete("id IN (2, 3)")
    assert ids(made) == [0, 1, 4, 5] == ids(connection(path))
    plain = duckdb.execute(f"SELECT count(*) FROM read_parquet('{path}/**/*.parquet')").fetchone()
    assert plain == (6,)


# Beside each other.


def test_deletes_of_other_rows_at_once_both_happen():
    path = folder()
    text_table(["x"] * 12, path)
    handles = [connection(path).open_table("t") for _ in range(2)]
    threads = [threading.Thread(target=handle.delete, args=(f"id BETWEEN {n * 5} AND {n * 5 + 4}",))
               for n, handle in enumerate(handles)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ids(connection(path)) == [10, 11]


def test_updates_of_one_row_at_once_leave_one_row():
    for _ in range(5):
        path = folder()
        text_table(["s"], path)
        handles = [connection(path).open_table("t") for _ in range(3)]

        def update(number, handles=handles):
            try:
                handles[number].update("id = 0", [{"id": 0, "body": f"w{number}"}])
            except (infino.ConflictError, ValueError):
                pass

        threads = [threading.Thread(target=update, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ids(connection(path)) == [0]


def test_a_statement_sees_a_change_whole_or_not_at_all():
    made = infino.connect("memory://")
    table = made.create_table("t", BODY, IndexSpec().fts("body"))
    for part in range(3):
        table.append(rows([f"x{i}" for i in range(10)], part * 1000))
    stop = []

    def change():
        for turn in range(1, 60):
            if stop:
                return
            table.update("id >= 0", [{"id": turn, "body": f"all {turn}"}] * 30)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        made.query_sql("SELECT 1")
        for _ in range(80):
            found = one(made, "SELECT count(*) n, count(DISTINCT id) d, max(id) m, "
                              "(SELECT count(*) FROM t u WHERE u.body = 'all ' || u.id) s FROM t")
            assert found["n"] == 30
            assert found["d"] == 1 or found["m"] >= 1000 or found["s"] == 0
            assert found["s"] in (0, 30)
    finally:
        stop.append(1)
        thread.join()
