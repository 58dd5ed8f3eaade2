"""What the tests share: small tables, and programs run in processes of their own."""

import glob
import os
import subprocess
import sys
import tempfile
import textwrap

import numpy as np
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


def vector_schema(dimension):
    return pa.schema([("id", pa.int64()), ("body", pa.large_utf8()),
                      ("v", pa.list_(pa.float32(), dimension))])


def vector_rows(matrix, first=0, bodies=None):
    """A table of vectors numbered from `first`, each with a text of its own."""
    matrix = np.asarray(matrix, "f4")
    numbers = range(first, first + len(matrix))
    return pa.table({
        "id": pa.array(numbers, pa.int64()),
        "body": pa.array(bodies or [f"all w{i}" for i in numbers], pa.large_utf8()),
        "v": pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1]),
    }, schema=vector_schema(matrix.shape[1]))


def vector_table(matrix, metric="l2sq", *, bodies=None, appends=1, path=None, **options):
    """A table of vectors numbered from 0, appended in so many commits."""
    matrix = np.asarray(matrix, "f4")
    dimension = matrix.shape[1]
    table = connection(path).create_table(
        "t", vector_schema(dimension),
        IndexSpec().fts("body").vector("v", dimension, metric, **options))
    for part in np.array_split(np.arange(len(matrix)), appends):
        if len(part):
            table.append(vector_rows(matrix[part], int(part[0]),
                                     [bodies[i] for i in part] if bodies else None))
    return table


def distances(matrix, query, metric):
    """What the metric says, in doubles."""
    matrix, query = np.asarray(matrix, "f8"), np.asarray(query, "f8")
    if metric == "l2sq":
        return ((matrix - query) ** 2).sum(1)
    products = matrix @ query
    if metric == "negdot":
        return -products
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(query)
    return 1 - np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


def nearest(table, query, k, **options):
    return ids(table.vector_search("v", query, k, projection=["id"], **options))


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
