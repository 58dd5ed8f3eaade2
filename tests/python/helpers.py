"""What the tests share: small tables, and programs run in processes of their own."""

import glob
import os
import subprocess
import sys
import tempfile
import textwrap

import pyarrow as pa

import infino
from infino import IndexSpec

BODY = pa.schema([("id", pa.int64()), ("body", pa.large_utf8())])


def folder():
    return tempfile.mkdtemp(prefix="infino-test-")


def connection(path=None):
    return infino.connect(path or folder())


def text_table(texts, path=None, name="t", **options):
    """A table of texts numbered from 0, appended at once."""
    made = connection(path)
    table = made.create_table(name, BODY, IndexSpec().fts("body", **options))
    if texts:
        table.append(rows(texts))
    return made, table


def rows(texts, first=0):
    return [{"id": first + i, "body": text} for i, text in enumerate(texts)]


def ids(result):
    return result.column("id").to_pylist()


def hits(table, query, k=100, mode=None):
    return ids(table.bm25_search("body", query, k, mode, ["id"]))


def scores(table, query, k=100, **options):
    found = table.bm25_search("body", query, k, projection=["id", "score"], **options)
    return dict(zip(found.column("id").to_pylist(), found.column("score").to_pylist(), strict=True))


def superfiles(path):
    return sorted(glob.glob(path + "/**/*.parquet", recursive=True))


def stored(path):
    """All rows of all superfiles under a folder, as pyarrow reads them, in `_id` order."""
    import pyarrow.parquet as pq

    tables = [pq.read_table(file) for file in superfiles(path)]
    return pa.concat_tables(tables).sort_by("_id") if tables else None


def run(code, timeout=60, expect=0):
    """Runs `code` in a fresh process and returns what it printed. Fails on a crash or a hang."""
    here = os.path.dirname(__file__)
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(
        [here, *filter(None, [os.environ.get("PYTHONPATH")])]))
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=timeout, env=environment)
    assert done.returncode == expect, f"exit {done.returncode}: {done.stderr[-800:]}"
    return done.stdout
