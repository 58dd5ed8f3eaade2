"""What the library has to say besides results: to the logger "infino", and nowhere else."""

import logging
import threading
import time

from helpers import connection, folder, rows, run, text_table


def test_an_overtaken_commit_is_logged_by_the_thread_that_made_it(caplog):
    path = folder()
    text_table([], path)
    end = time.monotonic() + 60
    threads_of = {}

    class Handler(logging.Handler):
        def emit(self, record):
            threads_of.setdefault(record.getMessage(), threading.get_ident())

    handler = Handler()
    logger = logging.getLogger("infino")
    logger.addHandler(handler)
    idents = []

    def append(first):
        idents.append(threading.get_ident())
        table = connection(path).open_table("t")
        number = first
        while not caplog.records and time.monotonic() < end:
            table.append(rows(["word"], number))
            number += 1

    try:
        with caplog.at_level(logging.INFO, logger="infino"):
            threads = [threading.Thread(target=append, args=(i * 1_000_000,)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        logger.removeHandler(handler)
    assert caplog.records, "four threads never met"
    assert all(r.name == "infino" and "came first" in r.getMessage() for r in caplog.records)
    assert set(threads_of.values()) <= set(idents)


def test_a_program_that_sets_up_no_logging_hears_nothing():
    out = run("""
        import contextlib, io, threading
        from helpers import *
        path = folder()
        text_table([], path)
        silence = io.StringIO()
        with contextlib.redirect_stderr(silence):
            def append(first):
                table = connection(path).open_table("t")
                for i in range(20):
                    table.append(rows(["word"], first + i))
            threads = [threading.Thread(target=append, args=(100 * i,)) for i in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        print(repr(silence.getvalue()), connection(path).open_table("t").count("body", "word"))""")
    assert out.split() == ["''", "80"]


def test_a_handler_that_raises_does_no_harm_to_the_call():
    out = run("""
        import logging, sys, threading
        from helpers import *
        class Broken(logging.Handler):
            raised = 0
            def emit(self, record):
                Broken.raised += 1
                raise RuntimeError("broken handler")
        logging.getLogger("infino").addHandler(Broken())
        logging.getLogger("infino").setLevel(logging.INFO)
        sys.unraisablehook = lambda unraisable: None
        path = folder()
        text_table([], path)
        counts = [0] * 4
        def append(at):
            table = connection(path).open_table("t")
            while Broken.raised == 0 and counts[at] < 3000:
                table.append(rows(["word"], 10_000 * at + counts[at]))
                counts[at] += 1
        threads = [threading.Thread(target=append, args=(i,)) for i in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(Broken.raised > 0, connection(path).open_table("t").count("body", "word") == sum(counts))
        """, timeout=180)
    assert out.split() == ["True", "True"]
