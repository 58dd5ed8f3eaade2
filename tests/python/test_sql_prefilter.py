"""A WHERE over a search: the search gives rows that fulfil it, k if there are so many, where the
condition is one on its own rows; elsewhere it leaves the search as it is. Against brute force."""

import datetime
import os
import random
import time

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sql_rows
from helpers import connection
from infino import IndexSpec
from sql_generator import KIND, Column, Scope
from sql_statements import Statements

SEED = int(os.environ.get("INFINO_TEST_SEED", "20260101"))
SCHEMA = sql_rows.SCHEMA.append(pa.field("v", pa.list_(pa.float32(), 16)))
QUERIES = ["red", "blue a", "fish green -red", "über 語", "a* red", '"green fish" null']
K = 6


def pairs(rows):
    """(k, score) of the rows in their order."""
    return list(zip(rows.column("k").to_pylist(), rows.column("score").to_pylist(), strict=True))


class Searched:
    """A table with texts and vectors, its rows in DuckDB, and the whole answers to searches."""

    def __init__(self, seed, count=260, appends=4):
        generator = random.Random(seed)
        self.matrix = np.random.default_rng(seed).normal(size=(count, 16)).astype("f4")
        self.made = connection()
        indexes = IndexSpec().fts("t", positions=True).vector("v", 16, "l2sq")
        self.table = self.made.create_table("t", SCHEMA, indexes)
        parts = []
        for part in np.array_split(np.arange(count), appends):
            rows = sql_rows.append_of(generator, len(part), int(part[0]), not parts)
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(self.matrix[part].ravel()), 16)
            parts.append(rows)
            self.table.append(rows.append_column(SCHEMA.field("v"), vectors))
        self.plain = duckdb.connect()
        self.plain.execute("SET integer_division = true; SET TimeZone = 'UTC'; "
                           "SET error_on_division_by_zero = false")
        everything = pa.concat_tables(parts)  # noqa: F841 (DuckDB finds it by its name)
        self.plain.execute("CREATE TABLE t AS SELECT * FROM everything")

    def passing(self, condition):
        """The rows that DuckDB finds to fulfil a condition."""
        return {k for k, in self.plain.execute(f"SELECT k FROM t WHERE {condition}").fetchall()}

    def found(self, sql):
        """(k, score) of the rows in the order of the result."""
        return pairs(self.made.query_sql(sql))


def whole(method, *arguments, **options):
    """All rows that a method finds, as (k, score)."""
    return pairs(method(*arguments, projection=["k", "score"], **options))


class Search:
    """A call in SQL, and its answer among some rows."""

    def __init__(self, name, call, answer):
        self.name = name
        self.call = call
        self.answer = answer


def searches(searched, query, vector):
    """All kinds of search for a query and a vector, K rows each."""
    table, every = searched.table, 10**6
    written = ",".join(repr(float(x)) for x in vector)
    quoted = query.replace("'", "''")
    ranked = whole(table.bm25_search, "t", query, every)
    prefixed = whole(table.bm25_search_prefix, "t", "r", every)
    near = whole(table.vector_search, "v", vector, every, target_recall=1)
    matching = whole(table.token_match, "t", query)
    exact = whole(table.exact_match, "t", "red")
    best = lambda hits: lambda passing: [hit for hit in hits if hit[0] in passing][:K]
    all_of = lambda hits: lambda passing: [hit for hit in hits if hit[0] in passing]

    def fused(passing):
        total = {}
        for hits in (ranked, near):
            for rank, (k, _) in enumerate(best(hits)(passing), 1):
                total[k] = total.get(k, 0) + 1 / (60 + rank)
        order = sorted(total.items(), key=lambda item: (-np.float32(item[1]), item[0]))[:K]
        return [(k, float(np.float32(score))) for k, score in order]

    return [
        Search("bm25", f"bm25_search('t', 't', '{quoted}', {K})", best(ranked)),
        Search("prefix", f"bm25_search_prefix('t', 't', 'r', {K})", best(prefixed)),
        Search("vector", f"vector_search('t', 'v', '{written}', {K}, target_recall = 1)",
               best(near)),
        Search("hybrid", f"hybrid_search('t', 't', '{quoted}', 'v', '{written}', {K}, "
                         f"target_recall = 1)", fused),
        Search("tokens", f"token_match('t', 't', '{quoted}')", all_of(matching)),
        Search("exact", "exact_match('t', 't', 'red')", all_of(exact)),
    ]


def agree(found, wanted, label):
    assert [k for k, _ in found] == [k for k, _ in wanted], label
    assert [s for _, s in found] == pytest.approx([s for _, s in wanted], rel=1e-6, abs=1e-9), label


@pytest.fixture(scope="module")
def searched():
    return Searched(SEED)


# Where a condition stands so that it holds for the search's own rows. {c}: the condition.
BEFORE = [
    "SELECT k, score FROM {s} WHERE {c}",
    "SELECT k, score FROM {s} AS h WHERE {c} ORDER BY k % 5",
    "SELECT k, score FROM (SELECT * FROM {s}) WHERE {c}",
    "SELECT k, score FROM (SELECT * FROM (SELECT * FROM {s} ORDER BY k)) q WHERE {c}",
    "SELECT k, score FROM (SELECT * FROM {s} WHERE {c}) WHERE k >= 0",
    "SELECT h.k, h.score FROM (FROM {s} WHERE {c}) h JOIN t d ON h._id = d._id",
    "SELECT k, score FROM (SELECT h.* FROM {s} h JOIN t d ON h._id = d._id) WHERE {c}",
    "SELECT k, score FROM (SELECT h.* FROM {s} h CROSS JOIN (VALUES (1)) o(one)) WHERE {c}",
    "SELECT k, score FROM {s} WHERE {c} LIMIT 1000000",
    "WITH w AS (SELECT * FROM {s} WHERE {c}) SELECT k, score FROM w",
    "SELECT k, score FROM {s} WHERE {c} AND score < 1e30",
    "SELECT k, score FROM {s} WHERE ({c}) AND k IN (SELECT k FROM t)",
    "SELECT k, score FROM {s} WHERE {c} UNION ALL SELECT k, 0.0 FROM t WHERE false",
    "WITH w AS NOT MATERIALIZED (SELECT * FROM {s} WHERE {c}) "
    "SELECT k, score FROM w UNION SELECT k, score FROM w",
    "WITH w AS MATERIALIZED (SELECT * FROM {s} WHERE {c}) "
    "SELECT k, score FROM w UNION SELECT k, score FROM w",
    "SELECT k, score FROM {s} h WHERE ({c}) AND EXISTS (SELECT 1 FROM t u WHERE u.k = h.k)",
    "SELECT k, score FROM {s} h WHERE ({c}) AND (SELECT max(u.k) FROM t u WHERE u.k <= h.k) = h.k",
    "SELECT DISTINCT k, score FROM {s} WHERE {c}",
    "SELECT k, max(score) AS score FROM {s} WHERE {c} GROUP BY k",
    "SELECT k - 1 AS k, score FROM (SELECT * REPLACE (k + 1 AS k), k AS kept FROM {s} WHERE {c})",
    "SELECT k, score FROM (SELECT * RENAME (t AS tt, w AS ww) FROM (SELECT * FROM {s} WHERE {c}))",
]
# Where it stands over what a search gave.
AFTER = [
    "SELECT k, score FROM (SELECT * FROM {s} LIMIT 1000000) WHERE {c}",
    "SELECT k, score FROM (SELECT * FROM {s} ORDER BY score LIMIT 1000000) WHERE {c}",
    "SELECT k, score FROM (SELECT *, row_number() OVER () FROM {s}) WHERE {c}",
    "SELECT k, score FROM {s} QUALIFY ({c}) AND row_number() OVER () > 0",
    "SELECT k, score FROM {s} WHERE ({c}) OR score > 1e30",
    "SELECT k, any_value(score) score FROM {s} GROUP BY ALL HAVING {c}",
    "WITH w AS (SELECT * FROM {s}) SELECT k, score FROM w WHERE {c}",
    "WITH w AS MATERIALIZED (SELECT * FROM {s}) SELECT k, score FROM w WHERE {c}",
    "SELECT d.k, h.score FROM t d LEFT JOIN {s} h ON h._id = d._id WHERE h.k IS NOT NULL AND {d}",
    "SELECT k, score FROM (SELECT h.*, d.k AS other FROM t d JOIN {s} h USING (_id)) h "
    "WHERE {c_on_other}",
    "SELECT k, score FROM (SELECT * FROM {s} UNION ALL SELECT * FROM {s}) WHERE {c} "
    "QUALIFY row_number() OVER (PARTITION BY k) = 1",
    "SELECT DISTINCT ON (k) k, score FROM (SELECT DISTINCT k, score FROM {s}) WHERE {c}",
]
SPARSE = "k % 11 = 5"


@pytest.mark.parametrize("form", BEFORE)
def test_a_condition_on_a_searchs_rows_limits_the_search(searched, form):
    for number, search in enumerate(searches(searched, "red", searched.matrix[3])):
        for condition in (SPARSE, "k > 200", "i BETWEEN -2 AND 2 AND o", "gap IS NULL"):
            wanted = search.answer(searched.passing(condition))
            found = searched.found(form.format(s=search.call, c=condition))
            agree(sorted(found), sorted(wanted), (search.name, condition, number))


@pytest.mark.parametrize("form", AFTER)
def test_a_condition_on_what_a_search_gave_leaves_the_search(searched, form):
    everything = searched.passing("true")
    for search in searches(searched, "red", searched.matrix[3]):
        first = search.answer(everything)
        for modulus in (2, 37):
            condition = f"k % {modulus} = 1"
            sql = form.format(s=search.call, c=condition, d=f"d.{condition}",
                              c_on_other=f"other % {modulus} = 1")
            wanted = [hit for hit in first if hit[0] % modulus == 1]
            agree(sorted(searched.found(sql)), sorted(wanted), (search.name, sql))


def test_a_condition_on_the_score_leaves_the_search(searched):
    for search in searches(searched, "red", searched.matrix[3])[:4]:
        first = search.answer(searched.passing("true"))
        middle = first[len(first) // 2][1]
        for comparison, wanted in ((">", [hit for hit in first if hit[1] > middle]),
                                   ("<=", [hit for hit in first if hit[1] <= middle])):
            sql = f"SELECT k, score FROM {search.call} WHERE score {comparison} '{middle!r}'::FLOAT"
            agree(sorted(searched.found(sql)), sorted(wanted), (search.name, sql))
            mixed = [hit for hit in search.answer(searched.passing("k % 3 = 1"))
                     if (hit[1] > middle) == (comparison == ">")]
            agree(sorted(searched.found(f"{sql} AND k % 3 = 1")), sorted(mixed), (search.name, sql))


def test_each_search_of_a_statement_has_its_own_conditions(searched):
    bm25, vector = (searches(searched, "red", searched.matrix[3])[i] for i in (0, 2))
    odd, even = searched.passing("k % 2 = 1"), searched.passing("k % 2 = 0")
    arms = searched.found(f"SELECT k, score FROM {bm25.call} WHERE k % 2 = 1 UNION ALL "
                          f"SELECT k, score FROM {bm25.call} WHERE k % 2 = 0")
    agree(sorted(arms), sorted(bm25.answer(odd) + bm25.answer(even)), "arms")
    joined = searched.made.query_sql(
        f"SELECT a.k x, b.k y FROM {bm25.call} a CROSS JOIN {vector.call} b "
        f"WHERE a.k % 2 = 1 AND b.k % 2 = 0").to_pylist()
    assert sorted((row["x"], row["y"]) for row in joined) == sorted(
        (x, y) for x, _ in bm25.answer(odd) for y, _ in vector.answer(even))
    inside = searched.made.query_sql(
        f"SELECT k FROM t WHERE _id IN (SELECT _id FROM {bm25.call} WHERE k % 2 = 1) AND k % 4 = 1")
    assert sorted(inside.column("k").to_pylist()) == sorted(
        k for k, _ in bm25.answer(odd) if k % 4 == 1)


def test_conditions_of_a_join_s_other_side_stay_there(searched):
    search = searches(searched, "red", searched.matrix[3])[0]
    first = search.answer(searched.passing("true"))
    sql = (f"SELECT h.k, h.score FROM {search.call} h JOIN t d ON h._id = d._id "
           f"WHERE d.k % 3 = 1 ORDER BY h.score DESC, h._id")
    agree(searched.found(sql), [hit for hit in first if hit[0] % 3 == 1], "other side")
    both = sql.replace("WHERE", "WHERE h.k % 2 = 0 AND")
    limited = [hit for hit in search.answer(searched.passing("k % 2 = 0")) if hit[0] % 3 == 1]
    agree(searched.found(both), limited, "both sides")


def test_a_condition_may_be_any_expression(searched):
    search = searches(searched, "red", searched.matrix[3])[2]
    for condition in ("_id IS NOT NULL AND k % 9 = 2", "CASE WHEN i > 0 THEN o ELSE k > 100 END",
                      "list_contains(l, 2)", "t ILIKE '%RED%' OR w IN ('blue', 'a')",
                      "coalesce(f, 0) > 1 AND d > DATE '2024-01-01'", "NOT (o IS TRUE)",
                      "(i, j) IN ((1, 2), (3, 4)) OR \"Odd Name\" = 'red'", "x = 'ab'::BLOB",
                      "len(list_filter(l, lambda e: e > 1)) > 0",
                      "ts BETWEEN '1990-01-01' AND now()",
                      "f = 'nan'::DOUBLE OR g = 'inf'::FLOAT", "m = 1.1", "false", "NULL", "true",
                      "hash(k) % 3 = 0", "k IN [1, 50, 100]", "k = ANY([3, 50, 100, 101, 102])",
                      "w = ANY(['red', 'blue', NULL])", "list_contains([3, 50, 100, 101], k)",
                      "k IN (SELECT unnest([1, 50, 100, 101]))", "k + 1 = ANY([4.0, 51, 2.5])",
                      "k = ANY([]::INTEGER[])", "k = ANY(NULL::INTEGER[])",
                      "NOT k = ANY([1, 50, 100])", "w = ANY(['red']) AND k = ANY(range(50))",
                      "upper(w) = 'RED' AND gap IS NULL"):
        plain = condition.replace("_id IS NOT NULL AND ", "")
        if "hash" in condition:  # Differs between versions: only that the search takes it.
            kept = searched.found(f"SELECT k, 0.0 score FROM t WHERE {condition}")
            passing = {k for k, _ in kept}
        else:
            passing = searched.passing(plain)
        sql = f"SELECT k, score FROM {search.call} WHERE {condition} ORDER BY score, _id"
        agree(searched.found(sql), search.answer(passing), condition)


def test_a_list_of_values_is_a_condition(searched):
    search = searches(searched, "red", searched.matrix[3])[0]
    plan = lambda condition: searched.made.query_sql(
        f"EXPLAIN SELECT * FROM {search.call} WHERE {condition}").column(1).to_pylist()[0]
    assert "Searched rows" in plan("k = ANY([1, 2])")
    assert "Searched rows" not in plan("k <> ALL([1, 2])")
    assert "Searched rows" not in plan("k < ANY([1, 2])")
    wanted = search.answer(set(range(100, 160)))
    sql = f"SELECT k, score FROM {search.call} WHERE k = ANY($1) ORDER BY score DESC, _id"
    agree(pairs(searched.made.query_sql(sql, [list(range(100, 160))])), wanted, sql)


def test_a_search_beside_its_own_table_is_one_with_it(searched):
    search = searches(searched, "red", searched.matrix[3])[0]
    first = search.answer(searched.passing("true"))
    for sql in (f"SELECT d.k, score FROM t d, {search.call} h WHERE d._id = h._id",
                f"SELECT d.k, score FROM {search.call} h, t d WHERE h._id = d._id",
                f"SELECT d.k, score FROM {search.call} h CROSS JOIN t d WHERE d._id = h._id AND true",
                f"SELECT d.k, score FROM (VALUES (1)) o(one), {search.call} h, t d "
                f"WHERE one = 1 AND h._id = d._id",
                f"SELECT d.k, score FROM {search.call} h, t d, (VALUES (1)) o(one) "
                f"WHERE h._id = d._id"):
        agree(searched.found(f"{sql} ORDER BY score DESC, h._id"), first, sql)
        plan = searched.made.query_sql("EXPLAIN " + sql).column(1).to_pylist()[0]
        assert "INFINO_SCAN" not in plan or "(VALUES" in sql, plan
    sql = f"SELECT d.k, score FROM t d, {search.call} h WHERE d._id = h._id AND d.k % 3 = 1"
    agree(sorted(searched.found(sql)), sorted(hit for hit in first if hit[0] % 3 == 1), sql)
    sql = f"SELECT d.k, score FROM t d, {search.call} h WHERE d._id = h._id AND h.k % 3 = 1"
    agree(sorted(searched.found(sql)), sorted(search.answer(searched.passing("k % 3 = 1"))), sql)
    sql = f"SELECT count(*) n FROM t d, {search.call} h WHERE d._id = h._id OR d.k < 0"
    assert searched.made.query_sql(sql).column("n").to_pylist() == [len(first)]


def test_the_searched_rows_are_shown_by_explain(searched):
    search = searches(searched, "red", searched.matrix[3])[0]
    plan = lambda sql: searched.made.query_sql("EXPLAIN " + sql).column(1).to_pylist()[0]
    assert "Searched rows" in plan(f"SELECT * FROM {search.call} WHERE k > 3")
    for sql in (f"SELECT * FROM {search.call}", f"SELECT * FROM {search.call} WHERE score > 3",
                f"SELECT * FROM {search.call} WHERE random() < 2",
                f"SELECT * FROM {search.call} WHERE k > 3 + random()"):
        assert "Searched rows" not in plan(sql)


def test_the_nearest_of_those_that_pass_come_by_distance(searched):
    vector = ",".join(repr(float(x)) for x in searched.matrix[0])
    found = searched.made.query_sql(
        f"SELECT k, score FROM vector_search('t', 'v', '{vector}', 10) "
        f"WHERE o = true AND k < 100 ORDER BY score ASC LIMIT 3")
    distances = ((searched.matrix - searched.matrix[0]) ** 2).sum(1)
    passing = searched.passing("o = true AND k < 100")
    wanted = sorted(passing, key=lambda k: distances[k])[:3]
    assert found.column("k").to_pylist() == wanted


def test_a_condition_that_is_asked_again_follows_the_table():
    """What is known of superfiles is kept; appends, deletes, other conditions and schemas count."""
    made = connection()
    schema = pa.schema([("id", pa.int64()), ("body", pa.large_utf8()), ("kind", pa.string())])
    table = made.create_table("t", schema, IndexSpec().fts("body"))
    wanted = {}

    def append(first):
        rows = [{"id": n, "body": "word" if n % 3 else "word word", "kind": f"k{n % 5}"}
                for n in range(first, first + 200)]
        table.append(rows)
        wanted.update((row["id"], row["kind"]) for row in rows)

    def check(column="kind"):
        for kind, literal in (("k1", "'k1'"), ("k4", "'k4'"), ("1", "1::VARCHAR")):
            for _ in range(2):
                found = made.query_sql(f"SELECT id FROM bm25_search('t', 'body', 'word', 10000) "
                                       f"WHERE {column} = {literal}").column(0)
                assert sorted(found.to_pylist()) == [n for n, k in wanted.items() if k == kind]

    for first in (0, 200, 400):
        append(first)
        check()
    table.delete("id % 7 = 2")
    wanted = {n: k for n, k in wanted.items() if n % 7 != 2}
    check()
    table.delete("kind = 'k4' AND id > 100")
    wanted = {n: k for n, k in wanted.items() if not (k == "k4" and n > 100)}
    check()
    made.schema("t", {"fields": [{"id": 3, "name": "sort"},
                                 {"name": "kind", "type": "string"}]})
    check("sort")
    again = made.query_sql("SELECT count(*) FROM bm25_search('t', 'body', 'word', 10000) "
                           "WHERE kind = 'k1'")
    assert again.column(0).to_pylist() == [0]


def test_a_condition_on_the_moment_is_asked_anew():
    made = connection()
    table = made.create_table("t", pa.schema([("id", pa.int64()), ("body", pa.large_utf8()),
                                              ("moment", pa.timestamp("us", tz="UTC"))]),
                              IndexSpec().fts("body"))
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)
    table.append([{"id": 1, "body": "word", "moment": soon}])
    sql = "SELECT id FROM bm25_search('t', 'body', 'word', 5) WHERE moment < now()"
    assert made.query_sql(sql).num_rows == 0
    time.sleep(2.5)
    assert made.query_sql(sql).num_rows == 1
