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
