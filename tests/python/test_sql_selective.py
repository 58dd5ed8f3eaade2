"""Statements that want few of many rows, which may be fetched in place of a scan."""

import os
import random

import pyarrow as pa
import pytest

import sql_rows
from sql_generator import KIND, Column, Scope
from sql_statements import Statements
from test_sql_random import difference, outcome

SEED = int(os.environ.get("INFINO_TEST_SEED", "20260101"))
SCOPE = Scope([Column(name, kind) for name, kind in KIND.items()], ["k"])
APPENDS = (1500, 1100, 700, 40)


class Large(sql_rows.Twins):
    """Twins whose table `a` has thousands of rows, most with a text of their own."""

    def __init__(self, generator):
        super().__init__(generator)
        self.random = generator
        self.first = 100_000
        for number, count in enumerate(APPENDS):
            rows = sql_rows.append_of(generator, count, self.first, number == 0)
            self.first += count
            texts = [text if text is None or generator.random() < 0.1 else f"{text} n{k}"
                     for text, k in zip(rows["t"].to_pylist(), rows["k"].to_pylist(), strict=True)]
            place = rows.schema.get_field_index("t")
            rows = rows.set_column(place, rows.schema.field("t"), pa.array(texts, pa.large_utf8()))
            self.tables["a"].append(rows)
            self.theirs.execute("INSERT INTO a SELECT * FROM rows")

    def check(self, sql, params=None):
        ours, theirs = (outcome(run, self, sql, params)
                        for run in (sql_rows.run_ours, sql_rows.run_theirs))
        assert not isinstance(theirs, Exception), (sql, theirs)
        wrong = difference(ours, theirs, False)
        assert not wrong, (sql, params, wrong)
        return len(theirs)

    def number(self):
        """A `k`, mostly of a row."""
        return self.random.choice([self.random.randrange(100_000, self.first), self.first + 5, -1])

    def text(self):
        """A text of a row, or none."""
        found = self.theirs.execute("SELECT t FROM a WHERE k = ?", [self.number()]).fetchone()
        return found[0] if found and found[0] is not None else "no such text"

    def selective(self):
        """A condition that few rows fulfil, and its parameters."""
        one, two, three = self.number(), self.number(), self.number()
        text, other = self.text(), self.text()
        quoted = "'" + text.replace("'", "''") + "'"
        return self.random.choice([
            (f"k = {one}", None), (f"k IN ({one}, {two}, NULL, {three})", None),
            (f"k BETWEEN {one} AND {one + 3}", None), (f"k > {one} AND k < {one + 3}", None),
            (f"k >= {self.first - 3}", None), (f"{one} = k AND o IS NOT NULL", None),
            (f"k = {one} OR k = {two}", None), (f"k IN ({one}, {one}, {one})", None),
            (f"k < {one} AND k IN ({one}, {two}, {one - 1})", None), ("k = $k", {"k": one}),
            (f"t = {quoted}", None), ("t = $t", {"t": text}), ("t IN ($t, $u, NULL)", {
                "t": text, "u": other}), ("t = ''", None), ("t = ' '", None), ("t = '100%'", None),
            (f"t = {quoted} AND k = {one}", None), (f"t = {quoted} OR k = {one}", None),
            (f"w = 'red' AND k BETWEEN {one} AND {one + 30}", None),
            (f"k IN (SELECT k FROM b) OR k = {one}", None), (f"k = {one}.0", None),
            (f"k::DOUBLE = {one}", None), (f"t LIKE '%n{one}'", None), (f"k = '{one}'", None),
            ("big = 9223372036854775807 AND u = 3", None), (f"i BETWEEN 800 AND {one}", None),
            ("k IN (SELECT k FROM a WHERE i > 880)", None), ("d = '2024-02-29' AND j = 7", None),
        ])


FORMS = [
    "SELECT k, {x}, {y} FROM a WHERE {c}", "SELECT {x}, {y} FROM a WHERE {c}",
    "SELECT k FROM a WHERE {c}", "SELECT count(*) FROM a WHERE {c}",
    "SELECT count({x}), min({y}), max({x}) FROM a WHERE {c}",
    "SELECT k, {x} FROM a WHERE ({c}) AND {r}", "SELECT k, {x} FROM a WHERE ({c}) AND NOT {r}",
    "SELECT {x}, count(*) FROM a WHERE {c} GROUP BY 1",
    "SELECT k, {x} FROM a WHERE {c} ORDER BY k DESC LIMIT 2",
    "SELECT s.k, s.{x}, b.k FROM (SELECT * FROM a WHERE {c}) s LEFT JOIN b ON s.i = b.i",
    "SELECT k, {x} FROM a WHERE k IN (SELECT k + 1 FROM a WHERE {c})",
    "SELECT k, {x}, {y} FROM a WHERE {c} UNION ALL SELECT k, {x}, {y} FROM b WHERE {c}",
    "SELECT k, (SELECT count(*) FROM b WHERE b.i = s.i) FROM (SELECT * FROM a WHERE {c}) s",
    "SELECT DISTINCT {x} FROM a WHERE {c}", "SELECT k, l, x, m, ts, ns, o FROM a WHERE {c}",
    "SELECT x.k, y.k FROM (SELECT * FROM a WHERE {c}) x JOIN a y ON x.k = y.k",
    "WITH s AS NOT MATERIALIZED (SELECT k, {x} FROM a WHERE {c}) "
    "SELECT * FROM s UNION ALL SELECT * FROM s",
]
WHOLE = [
    "SELECT b.k, a.k FROM b JOIN a ON b.k + 100000 = a.k",
    "SELECT a.k, a.t FROM a JOIN (VALUES (100001), (100777), (5)) v(n) ON a.k = v.n",
    "SELECT a.k FROM a SEMI JOIN (SELECT k FROM a WHERE i > 850) s USING (k)",
    "SELECT k, f FROM a ORDER BY k LIMIT 3", "SELECT k, t FROM a ORDER BY k DESC LIMIT 4 OFFSET 2",
    "SELECT k FROM a ORDER BY i DESC NULLS LAST, k LIMIT 5",
    "SELECT max(k), min(k), count(*) FROM a",
    "SELECT max(f), min(f), max(g), count(f) FROM a", "SELECT max(d), min(ts), max(big) FROM a",
    "SELECT max(t), min(w), max(o), min(m), max(ns) FROM a", "SELECT count(gap), max(gap) FROM a",
    "SELECT o, count(*), max(k) FROM a GROUP BY o", "SELECT count(*) FROM a WHERE k > 0",
    "SELECT a.k FROM a WHERE f = 'nan' AND i = 0", "SELECT k FROM a WHERE g > 100 AND g < 'inf'",
    "SELECT k FROM a WHERE k = (SELECT max(k) FROM a)",
    "SELECT k FROM a WHERE t = (SELECT max(t) FROM a)", "SELECT k FROM a WHERE u = 255 AND j = 59",
]


@pytest.mark.parametrize("batch", range(3))
def test_few_rows_of_many_are_those_that_duckdb_finds(batch):
    seed = SEED * 10 + batch
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(seed)
    twins = Large(generator)
    names = ["i", "j", "f", "t", "w", "d", "ts", "m", "o", "l", "x", "gap", "u", "big", "g"]
    found = 0
    for round_ in range(3):
        for number in range(90):
            condition, params = twins.selective()
            form = FORMS[number % len(FORMS)]
            others = Statements(generator).condition(SCOPE) if "{r}" in form else ""
            sql = form.format(c=condition, r=f"({others})", x=generator.choice(names),
                              y=generator.choice(names))
            found += twins.check(sql, params)
        for sql in WHOLE:
            twins.check(sql)
        if round_ == 0:
            twins.delete("a", "k % 7 = 3 AND i IS NOT NULL")
        else:
            twins.delete("a", f"k >= {twins.first - 40} OR k < 101500")
    assert found > 300


def test_rows_are_found_by_their_ids():
    generator = random.Random(SEED)
    print(f"INFINO_TEST_SEED={SEED}")
    made = Large(generator).ours
    pairs = made.query_sql("SELECT _id, k FROM a WHERE k % 97 = 5 ORDER BY k").to_pylist()
    assert len(pairs) > 20
    for start in range(0, 15, 3):
        some = pairs[start:start + 3]
        listed = ", ".join(str(row["_id"]) for row in some)
        wanted = [row["k"] for row in some]
        for sql, params in ((f"_id IN ({listed})", None), (f"_id IN ({listed}, NULL, 7)", None),
                            ("_id IN ($a, $b, $c)", dict(zip("abc", (row["_id"] for row in some),
                                                             strict=True))),
                            (f"_id >= {some[0]['_id']} AND _id <= {some[-1]['_id']} AND k % 97 = 5",
                             None)):
            found = made.query_sql(f"SELECT k, t, l FROM a WHERE {sql} ORDER BY _id", params)
            assert found.column("k").to_pylist() == wanted, sql
        one = made.query_sql(f"SELECT k FROM a WHERE _id = {some[0]['_id']}").column("k")
        assert one.to_pylist() == wanted[:1]
        joined = made.query_sql(f"SELECT b.k FROM a JOIN a b USING (_id) WHERE a.k = {wanted[0]}")
        assert joined.column("k").to_pylist() == wanted[:1]
    for wrong in ("_id = 5", "_id = -1", "_id IN (1, 2)", "_id IS NULL", f"_id = {10**37}",
                  "_id < 0", "_id = 1.5"):
        assert made.query_sql(f"SELECT k FROM a WHERE {wrong}").num_rows == 0, wrong


def test_explain_says_how_many_superfiles_are_read():
    made = Large(random.Random(1)).ours
    plan = lambda condition: made.query_sql(
        f"EXPLAIN SELECT count(t) FROM a WHERE {condition}").column(1).to_pylist()[0]
    assert "1 of" in plan("k = 100003 AND t IS NOT NULL")
    assert "2 of" in plan("k BETWEEN 101400 AND 101600")
    assert "0 of" in plan("k > 999999") or "EMPTY" in plan("k > 999999")
