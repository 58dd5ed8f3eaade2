"""Random SQL over random tables: the rows are those of DuckDB over the same rows."""

import collections
import os
import random
import re

import pytest

from sql_rows import Twins, run_ours, run_theirs
from sql_generator import Column, Scope, KIND
from sql_statements import Statements

SEED = int(os.environ.get("INFINO_TEST_SEED", "20260101"))
BATCHES = 8
STATEMENTS = 250


def outcome(run, twins, sql, params):
    """The rows, or the error."""
    try:
        return run(twins, sql, params)
    except Exception as error:
        return error


def difference(ours, theirs, is_ordered):
    """What is wrong with our rows, empty if nothing is."""
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        if isinstance(theirs, Exception) and isinstance(ours, ValueError):
            return ""
        return f"ours {str(ours)[:400]}\ntheirs {str(theirs)[:400]}"
    counted, wanted = collections.Counter(map(repr, ours)), collections.Counter(map(repr, theirs))
    if counted != wanted:
        return (f"{len(ours)} rows, not {len(theirs)}; too many {list(counted - wanted)[:3]}; "
                f"missing {list(wanted - counted)[:3]}")
    return "" if not is_ordered or ours == theirs else "another order"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_statements_give_the_rows_that_duckdb_gives(batch):
    seed = SEED * BATCHES + batch
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(seed)
    twins = Twins(generator)
    used, faults, failed = collections.Counter(), [], 0
    for number in range(STATEMENTS):
        statements = Statements(generator, generator.random() < 0.15)
        sql = statements.statement()
        params = {name: value for name, value in statements.parameters.items()
                  if re.search(rf"\${name}\b", sql)} or None
        used.update(statements.used)
        ours, theirs = (outcome(run, twins, sql, params) for run in (run_ours, run_theirs))
        failed += isinstance(theirs, Exception)
        wrong = difference(ours, theirs, statements.is_ordered)
        if wrong:
            faults.append(f"statement {number} of seed {seed}: {sql} {params or ''}\n{wrong}")
    assert not faults, f"{len(faults)} differ:\n" + "\n\n".join(faults[:3])
    # The statements are worth something: nearly all run, and they are of all sorts.
    assert failed < STATEMENTS / 10
    assert {"cte", "derived", "LEFT JOIN", "FULL JOIN", "group by", "window", "subquery", "limit",
            "distinct"} <= set(used)


@pytest.mark.parametrize("batch", range(3))
def test_deletes_by_random_conditions_delete_the_rows_that_duckdb_deletes(batch):
    seed = SEED * 100 + batch
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(seed)
    twins = Twins(generator)
    scope = Scope([Column(name, kind) for name, kind in KIND.items()], ["k"])
    for _ in range(12):
        name = generator.choice("aaab")
        condition = Statements(generator).condition(scope)
        narrowed = f"({condition}) AND k % 5 = {generator.randint(0, 4)}"
        counts = twins.delete(name, narrowed)
        assert counts[0] == counts[1], (seed, name, narrowed)
        for _ in range(8):
            statements = Statements(generator)
            sql = statements.statement()
            ours, theirs = (outcome(run, twins, sql, None) for run in (run_ours, run_theirs))
            assert not difference(ours, theirs, statements.is_ordered), (seed, sql)
    for name in "ab":
        left = f"SELECT * EXCLUDE (_id) FROM {name}"
        assert not difference(run_ours(twins, left), run_theirs(twins, f"FROM {name}"), False)


# Searches that find all rows there are to find: conditions that go down to them change nothing.
SEARCHES = {
    "@red": "bm25_search('a', 't', 'red', 1000000)",
    "@any": "token_match('a', 't', 'a fish über')",
    "@prefix": "bm25_search_prefix('a', 't', 'r', 1000000)",
    "@exact": "exact_match('b', 't', 'red')",
}


def own_table(statements):
    """A search of `a` joined with `a` on `_id`, which is one read of the rows."""
    pick = statements.pick
    both = Scope([Column(f"{alias}.{name}", kind) for alias in "hd" for name, kind in KIND.items()])
    one, two = (statements.of(both, pick("int", "text", "list", "float", "time")) for _ in "12")
    joined = pick("{s} h JOIN a d ON h._id = d._id", "a d JOIN {s} h ON h._id = d._id",
                  "{s} h JOIN a d ON d._id = h._id AND {c}", "{s} h, a d", "{s} h LEFT JOIN a d "
                  "ON h._id = d._id", "a d LEFT JOIN {s} h ON h._id = d._id",
                  "{s} h JOIN a d ON h._id = d._id JOIN b ON b.i = d.i", "b JOIN ({s} h JOIN a d "
                  "ON h._id = d._id) ON b.k = h.k", "{s} h JOIN a d ON h._id = d._id JOIN a e ON "
                  "e._id = d._id", "{s} h JOIN (SELECT * FROM a WHERE j > 3) d ON h._id = d._id")
    source = joined.format(s=pick("@red", "@any", "@prefix"), c=statements.condition(both, 1))
    where = f"h._id = d._id AND {statements.condition(both)}"
    return pick(f"SELECT h.k, d.k, {one}, {two}, h.score FROM {source} WHERE {where}",
                f"SELECT {one}, count(*), max(h.score) FROM {source} WHERE {where} GROUP BY 1",
                f"SELECT d.*, h.score FROM {source} WHERE {where}".replace("d.*", "d.k, d.t, d.l"))


@pytest.mark.parametrize("batch", range(4))
def test_random_statements_over_searches_give_the_rows_that_duckdb_gives(batch):
    seed = SEED * BATCHES + 1000 + batch
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(seed)
    twins = Twins(generator)
    for name, call in SEARCHES.items():
        table = "b" if "'b'" in call else "a"
        found = twins.ours.query_sql(f"SELECT k, score FROM {call}")  # noqa: F841 (DuckDB's)
        twins.theirs.execute(f"CREATE TABLE {name[1:]}_ AS SELECT {table}.*, found.score "
                             f"FROM {table} JOIN found USING (k)")
    faults = []
    for number in range(140):
        statements = Statements(generator, sources=list(SEARCHES))
        sql = statements.statement() if number % 7 else own_table(statements)
        ours = outcome(run_ours, twins, re.sub(r"@\w+", lambda m: SEARCHES[m[0]], sql), None)
        # `_id` and `k` are the same rows' numbers.
        theirs = outcome(run_theirs, twins, re.sub(r"@(\w+)", r"\1_", sql).replace("_id", "k"),
                         None)
        wrong = difference(ours, theirs, statements.is_ordered)
        if wrong:
            faults.append(f"statement {number} of seed {seed}: {sql}\n{wrong}")
    assert not faults, f"{len(faults)} differ:\n" + "\n\n".join(faults[:3])
