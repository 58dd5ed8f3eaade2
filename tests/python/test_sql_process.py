"""SQL in a process with threads, forks and signals, and beside writers."""

import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

import infino
from helpers import BODY, connection, folder, rows, run, text_table, vector_table
from infino import IndexSpec
from test_process import python

IDS = pa.schema([("id", pa.int64())])


def counts(made, sql):
    return made.query_sql(sql).to_pylist()[0]


def in_threads(count, work):
    """Runs work(number) in so many threads. Raises what they raised."""
    errors = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


# Statements that would run for hours.
ENDLESS = [
    "SELECT count(*) FROM range(10000000) a(x), range(10000000) b(y) WHERE a.x * b.y % 7 = 3",
    "SELECT count(*) FROM t a, t b, t c, t d, t e WHERE a.id + b.id + c.id + d.id + e.id = -1",
    "SELECT sum(n) FROM (SELECT row_number() OVER (ORDER BY a.id % 7, b.id) n "
    "FROM t a, t b, range(200) c)",
    "WITH RECURSIVE r AS (SELECT 0::BIGINT n UNION ALL SELECT n + 1 FROM r WHERE n >= 0) "
    "SELECT count(*) FROM r",
    "SELECT a.id FROM t a, t b, t c, t d ORDER BY hash(a.id, b.id, c.id, d.id) LIMIT 5",
]


@pytest.mark.parametrize("sql", ENDLESS, ids=range(len(ENDLESS)))
def test_ctrl_c_ends_a_long_statement(sql):
    path = folder()
    text_table(["a"] * 2000, path)
    process = python(
        "import infino, sys\nc = infino.connect(sys.argv[1])\nc.query_sql('SELECT 1')\n"
        "print(1, flush=True)\n"
        "try: c.query_sql(sys.argv[2])\n"
        "except KeyboardInterrupt: print(c.query_sql('SELECT count(*) n FROM t').to_pylist())",
        path, sql)
    process.stdout.readline()
    time.sleep(1.0)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert output == "[{'n': 2000}]\n", errors[-500:]
    assert time.monotonic() - started < 8, "much longer than a second or two"


def test_threads_share_a_connection():
    generator = np.random.default_rng(0)
    matrix = generator.normal(size=(500, 16))
    path = folder()
    vector_table(matrix, appends=4, path=path)
    made = connection(path)
    vector = ",".join(str(x) for x in matrix[3])
    statements = [
        "SELECT count(*) n, sum(id) s FROM t WHERE id % 3 = 1",
        "SELECT body, count(*) n FROM t GROUP BY body ORDER BY body LIMIT 7",
        "SELECT id, score FROM bm25_search('t', 'body', 'w7 w9', 5) ORDER BY score DESC, id",
        f"SELECT id FROM vector_search('t', 'v', '{vector}', 9) WHERE id % 2 = 1 ORDER BY score",
        "SELECT a.id FROM t a JOIN t b ON a.id = b.id + 1 WHERE b.id < 20 ORDER BY 1",
    ]
    wanted = [made.query_sql(sql) for sql in statements]

    def work(number):
        for round_ in range(15):
            at = (number + round_) % len(statements)
            assert made.query_sql(statements[at]).equals(wanted[at]), statements[at]
            with pytest.raises(ValueError):
                made.query_sql(f"SELECT nope{number} FROM t")

    in_threads(8, work)


def test_threads_run_statements_at_the_same_time():
    made, _ = text_table(["a"])
    slow = "SELECT count(*) FROM range(3000000) a(x), range(20) b(y) WHERE a.x * b.y % 7 = 3"
    ticks = []

    def work(number):
        if number == 0:
            made.query_sql(slow)
            ticks.append(time.monotonic())
        else:
            for _ in range(5):
                made.query_sql("SELECT count(*) FROM t")
            ticks.insert(0, time.monotonic())

    in_threads(2, work)
    assert ticks == sorted(ticks), "the quick statements waited for the slow one"


def test_a_forked_child_runs_statements():
    path = folder()
    text_table(["a b", "b"], path)
    out = run(f"""
        from helpers import *
        import multiprocessing as mp
        c = connection({path!r})
        assert c.query_sql("SELECT count(*) n FROM t").to_pylist() == [{{"n": 2}}]
        def child(queue):
            try:
                old = c.query_sql("SELECT count(*) n FROM t").to_pylist()
                fresh = connection({path!r}).query_sql(
                    "SELECT id FROM bm25_search('t', 'body', 'a', 5) WHERE id < 5").to_pylist()
                c.open_table("t").append(rows(["c"], 9))
                again = c.query_sql("SELECT count(*) n FROM t").to_pylist()[0]["n"]
                queue.put((old[0]["n"] >= 2, fresh, again > 2))
            except BaseException as error:
                queue.put(repr(error))
        context = mp.get_context("fork")
        queue = context.Queue()
        children = [context.Process(target=child, args=(queue,)) for _ in range(3)]
        for process in children:
            process.start()
        for process in children:
            process.join(30)
            assert not process.is_alive(), "hang"
            assert queue.get(timeout=5) == (True, [{{"id": 0}}], True)
        print(c.query_sql("SELECT count(*) n FROM t").to_pylist())""", timeout=120)
    assert out == "[{'n': 5}]\n"


def test_a_fork_in_the_midst_of_a_statement_leaves_the_child_free():
    out = run("""
        from helpers import *
        import os, threading, time
        c, t = text_table(["a"] * 100)
        c.query_sql("SELECT 1")
        long = "SELECT count(*) FROM range(2000000) a(x), range(30) b(y) WHERE a.x * b.y % 7 = 3"
        thread = threading.Thread(target=c.query_sql, args=(long,))
        thread.start()
        time.sleep(0.1)
        pid = os.fork()
        if pid == 0:
            found = c.query_sql("SELECT count(*) n FROM t").to_pylist()
            os._exit(0 if found == [{"n": 100}] else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        thread.join()""", timeout=90)
    assert out == "0\n"


@pytest.mark.parametrize("uri", ["memory", "folder", "two connections"])
def test_tables_of_one_statement_are_of_one_moment(uri):
    path = folder()
    writer = infino.connect("memory://") if uri == "memory" else connection(path)
    reader = connection(path) if uri == "two connections" else writer
    for name in "AB":
        writer.create_table(name, BODY, IndexSpec().fts("body"))
    first, second = writer.open_table("A"), writer.open_table("B")
    stop = []

    def write():
        for number in range(400):
            if stop:
                return
            first.append(rows(["x"], number))
            second.append(rows(["x"], number))

    sql = [
        'SELECT (SELECT count(*) FROM "A") - (SELECT count(*) FROM "B") AS d',
        "SELECT (SELECT count(*) FROM bm25_search('A', 'body', 'x', 100000)) - "
        "(SELECT count(*) FROM token_match('B', 'body', 'x')) AS d",
        "SELECT (SELECT count(*) FROM bm25_search('A', 'body', 'x', 100000)) - "
        '(SELECT count(*) FROM "B" WHERE id >= 0) AS d',
        'WITH c AS (SELECT max(id) m FROM "A") SELECT count(*) AS d FROM "A", c '
        'WHERE id = c.m AND id NOT IN (SELECT id FROM "B")',
    ]
    thread = threading.Thread(target=write)
    thread.start()
    seen = set()
    try:
        for round_ in range(120):
            difference = counts(reader, sql[round_ % len(sql)])["d"]
            seen.add(difference)
            assert difference in (0, 1), sql[round_ % len(sql)]
    finally:
        stop.append(1)
        thread.join()
    assert counts(reader, 'SELECT count(*) AS d FROM "A"')["d"] > 2


def test_a_table_is_of_one_moment_in_all_places_of_a_statement():
    made, table = text_table(["x"])
    stop = []

    def write():
        number = 0
        while not stop and number < 300:
            number += 1
            table.append(rows(["x"], number))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(80):
            found = counts(
                made, "SELECT (SELECT count(*) FROM t) a, (SELECT max(id) + 1 FROM t) b, "
                      "(SELECT count(*) FROM bm25_search('t', 'body', 'x', 9999)) c")
            assert found["a"] == found["b"] == found["c"]
    finally:
        stop.append(1)
        thread.join()


def test_statements_run_while_tables_come_and_go():
    made = infino.connect("memory://")
    made.create_table("kept", IDS, IndexSpec()).append([{"id": 1}])
    stop = []

    def churn():
        number = 0
        while not stop:
            number += 1
            made.create_table(f"x{number % 3}", IDS, IndexSpec()).append([{"id": number}])
            made.drop_table(f"x{number % 3}")

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(60):
            assert counts(made, "SELECT count(*) n FROM kept")["n"] == 1
            names = made.query_sql("SELECT table_name n FROM information_schema.tables")
            assert "kept" in names.column("n").to_pylist()
            try:
                assert counts(made, "SELECT count(*) n FROM x1, kept")["n"] in (0, 1)
            except infino.InfinoError:
                pass  # There is no such table, or no more.
    finally:
        stop.append(1)
        thread.join()


def test_long_statements_let_other_threads_run():
    from test_process import ticks_during

    made, _ = text_table(["a"])
    gap, elapsed = ticks_during(lambda: made.query_sql(
        "SELECT count(*) FROM range(2000000) a(x), range(20) b(y) WHERE a.x * b.y % 7 = 3"))
    assert gap < max(0.25, elapsed * 0.5), (gap, elapsed)


def test_a_process_may_end_in_the_midst_of_statements():
    for _ in range(4):
        process = python("""
from helpers import *
import threading, time
c, t = text_table(["a"] * 1000)
def work():
    while True:
        c.query_sql("SELECT count(*) FROM t a, t b WHERE a.id < b.id")
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
""")
        assert process.communicate(timeout=60) == ("", "")
        assert process.returncode == 0


def test_a_statement_beyond_the_memory_budget_is_an_error_and_a_sort_is_not():
    made = infino.connect("memory://", connection_memory_budget_bytes=100_000_000)
    made.create_table("t", BODY, IndexSpec()).append(rows(["a"]))
    with pytest.raises(infino.ConnectionMemoryBudgetError) as caught:
        made.query_sql("SELECT list(x) AS l FROM range(100000000) r(x)")
    assert "SET " not in str(caught.value)
    assert counts(made, "SELECT count(*) n FROM t") == {"n": 1}
    spilled = counts(made, "SELECT count(*) n, min(r) a FROM (SELECT x, row_number() OVER "
                           "(ORDER BY hash(x)) r FROM range(3000000) t(x))")
    assert spilled == {"n": 3_000_000, "a": 1}
