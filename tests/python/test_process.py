"""Processes: forks, signals, threads, kills, handles."""

import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa

import infino
from helpers import BODY, connection, folder, hits, rows, run, text_table
from infino import IndexSpec


def python(code, *arguments):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(
        [str(pathlib.Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]))
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment)


def test_a_forked_child_works_with_new_and_old_handles():
    path = folder()
    text_table(["a", "a b"], path)
    out = run(f"""
        from helpers import *
        import multiprocessing as mp
        c = connection({path!r})
        t = c.open_table("t")
        assert t.count("body", "a") == 2
        t.append(rows(["a b c"] * 30000, 10))
        def child(queue):
            try:
                fresh = connection({path!r}).open_table("t")
                old = (t.count("body", "a"), len(hits(t, "c", 5)))
                t.append(rows(["child"], 5))
                queue.put((fresh.count("body", "a"), old, fresh.count("body", "child")))
            except BaseException as error:
                queue.put(repr(error))
        context = mp.get_context("fork")
        queue = context.Queue()
        children = [context.Process(target=child, args=(queue,)) for _ in range(3)]
        for process in children:
            process.start()
        results = []
        for process in children:
            process.join(20)
            assert not process.is_alive(), "hang"
            results.append(queue.get(timeout=5))
        print(all(r[:2] == (30002, (30002, 5)) for r in results), results)
        print(t.count("body", "child"))""", timeout=120)
    assert out.splitlines()[0].startswith("True"), out
    assert out.splitlines()[1] == "3"


def test_memory_tables_survive_a_fork():
    out = run("""
        from helpers import *
        import os
        c = infino.connect("memory://")
        t = c.create_table("t", BODY, IndexSpec().fts("body"))
        t.append(rows(["a"]))
        pid = os.fork()
        if pid == 0:
            t.append(rows(["a"], 1))
            os._exit(0 if t.count("body", "a") == 2 else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), t.count("body", "a"))""")
    assert out.split() == ["0", "1"]


def test_ctrl_c_ends_a_loop_of_searches():
    path = folder()
    text_table(["a"] * 50, path)
    process = python("import infino, sys\nt = infino.connect(sys.argv[1]).open_table('t')\n"
                     "print(1, flush=True)\nwhile True: t.bm25_search('body', 'a', 10)", path)
    process.stdout.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in errors


def test_ctrl_c_ends_a_long_append_and_nothing_is_there():
    path = folder()
    text_table(["seed"], path)
    process = python("""
import sys, infino, pyarrow as pa
t = infino.connect(sys.argv[1]).open_table('t')
batch = pa.table({'id': pa.array(range(5000)), 'body': pa.array(['x y z'] * 5000, pa.large_utf8())})
batches = batch.to_batches() * 100000
print(1, flush=True)
t.append(pa.Table.from_batches(batches))
""", path)
    process.stdout.readline()
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors
    assert connection(path).open_table("t").stats()["rows"] == 1


def test_a_kill_loses_no_acknowledged_row():
    path = folder()
    text_table([], path)
    process = python("import infino, sys\nt = infino.connect(sys.argv[1]).open_table('t')\n"
                     "for i in range(9999):\n"
                     "    t.append([{'id': i, 'body': 'k'}])\n    print(i, flush=True)", path)
    acknowledged = -1
    for line in process.stdout:
        acknowledged = int(line)
        if acknowledged >= 12:
            process.kill()
            break
    acknowledged = max([acknowledged] + [int(x) for x in process.stdout.read().split()])
    process.wait()
    table = connection(path).open_table("t")
    found = sorted(hits(table, "k", 10_000))
    assert found == list(range(len(found)))
    assert acknowledged + 1 <= len(found) <= acknowledged + 2
    table.append(rows(["k"], 50_000))
    assert connection(path).open_table("t").count("body", "k") == len(found) + 1


def test_processes_appending_at_once_lose_nothing():
    path = folder()
    text_table(["seed"], path)
    code = ("import infino, sys\nt = infino.connect(sys.argv[1]).open_table('t')\n"
            "for j in range(6): t.append([{'id': int(sys.argv[2]) + j, 'body': 'par'}])")
    processes = [python(code, path, str(n * 100)) for n in (1, 2, 3)]
    for process in processes:
        _, errors = process.communicate(timeout=90)
        assert process.returncode == 0, errors[-400:]
    table = connection(path).open_table("t")
    assert sorted(hits(table, "par")) == sorted(n * 100 + j for n in (1, 2, 3) for j in range(6))


def ticks_during(work):
    """The longest gap of a thread that ticks every 2 ms, and how long the work took."""
    gaps, stop = [], []

    def tick():
        last = time.monotonic()
        while not stop:
            time.sleep(0.002)
            now = time.monotonic()
            gaps.append(now - last)
            last = now

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.monotonic()
    work()
    elapsed = time.monotonic() - started
    stop.append(1)
    thread.join()
    return max(gaps), elapsed


def test_long_calls_let_other_threads_run():
    generator = np.random.default_rng(0)
    count = 20_000
    data = pa.table([pa.array(range(count)), pa.array(
        [" ".join(f"w{x}" for x in generator.integers(0, 3000, 60)) for _ in range(count)],
        pa.large_utf8())], schema=BODY)
    _, t = text_table([])
    gap, elapsed = ticks_during(lambda: t.append(data))
    assert gap < max(0.25, elapsed * 0.5), (gap, elapsed)


def test_threads_share_a_table():
    _, t = text_table([f"a w{i}" for i in range(200)])
    results = []
    threads = [threading.Thread(
        target=lambda: results.append([hits(t, "a w7", 5) for _ in range(10)])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(r == results[0] for r in results)


def test_nothing_leaks_over_many_connections():
    path = folder()
    text_table(["a b"], path)
    descriptors = lambda: len(os.listdir("/proc/self/fd"))
    tasks = lambda: len(os.listdir("/proc/self/task"))
    for i in range(40):
        c = infino.connect(path)
        t = c.create_table(f"x{i}", BODY, IndexSpec().fts("body"))
        t.append(rows(["hello"]))
        assert t.count("body", "hello") == 1
        assert c.open_table("t").count("body", "a") == 1
        c.drop_table(f"x{i}")
        del c, t
        if i == 9:
            gc.collect()
            files_before, tasks_before = descriptors(), tasks()
    gc.collect()
    time.sleep(0.3)
    assert descriptors() <= files_before + 8
    assert tasks() <= tasks_before + 8


def test_nothing_is_printed():
    process = python("""
from helpers import *
c, t = text_table(["a"])
for call in (lambda: t.bm25_search("nope", "a", 1), lambda: c.open_table("nope")):
    try:
        call()
    except infino.InfinoError:
        pass
hits(t, "a")
""")
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


# Everything open and busy at the end: tables in globals, threads in the midst of calls.
BUSY_TO_THE_END = """
import sys, threading, time
from helpers import *
c = connection(sys.argv[1])
t = c.open_table("t")
t.append(rows(["a b c"] * 200, 1000))
assert t.count("body", "c") >= 200
other = connection(sys.argv[1]).open_table("t")

def search():
    while True:
        hits(t, "a b", 50)
        other.count("body", "a")

def append():
    batch = pa.table({"id": [1] * 2000, "body": pa.array(["late w"] * 2000, pa.large_utf8())})
    while True:
        other.append(batch, progress=lambda *args: t.count("body", "a"))

for work in (search, search, search, append):
    threading.Thread(target=work, daemon=True).start()
time.sleep(float(sys.argv[2]))
"""


def test_a_process_may_end_with_everything_open_and_busy():
    path = folder()
    text_table(["a b"] * 500, path)
    for i in range(20):
        process = python(BUSY_TO_THE_END, path, str(0.02 + i % 5 * 0.05))
        assert process.communicate(timeout=60) == ("", ""), i
        assert process.returncode == 0, i
    table = connection(path).open_table("t")
    assert table.count("body", "c") == 20 * 200
    assert table.count("body", "late") % 2000 == 0


def test_a_handler_at_exit_may_still_search_and_append():
    out = run("""
        import atexit
        def last():
            t.append(rows(["a"], 7))
            print(t.count("body", "a"))
        atexit.register(last)
        from helpers import *
        c, t = text_table(["a"])""")
    assert out == "2\n"


def test_rows_that_python_owns_are_let_go_with_the_table():
    run("""
        from helpers import *
        path = folder()
        connection(path).create_table("t", BODY, IndexSpec().fts("body"))
        class Owner(bytearray):
            pass
        for i in range(60):
            t = connection(path).open_table("t")
            texts = Owner(b"ab c" * 500)
            offsets = Owner(b"".join((4 * n).to_bytes(8, "little") for n in range(501)))
            body = pa.Array.from_buffers(pa.large_utf8(), 500,
                                         [None, pa.py_buffer(offsets), pa.py_buffer(texts)])
            batch = pa.record_batch([pa.array(range(500)), body], schema=BODY)
            del body, texts, offsets
            t.append(batch.slice(50 * k, 50) for k in range(10))
            del batch
            del t""")
