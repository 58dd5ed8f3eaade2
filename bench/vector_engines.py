"""One vector engine, in a process and an environment of its own, driven by JSON lines on standard input.

  python vector_engines.py infino|reference|faiss|hnswlib|usearch|lancedb|rabitqlib [OPTIONS]

Commands: build (from a Parquet file with `row`, `mark`, `emb`), open, search, optimize; each answers with
one JSON line. Vectors have length 1, and distances are cosine's.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import time
from typing import Any

import engines
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PARTITIONS = 1024


def matrix(data: pa.Table) -> np.ndarray:
    column = data.column("emb").combine_chunks()
    return column.values.to_numpy().reshape(len(column), -1)


class Infino:
    """Ours and the reference: the same module name, the same calls."""

    def __init__(self, options: dict[str, Any]) -> None:
        import infino

        self.module = infino
        self.index = options.pop("index", {})
        self.options = options
        self.table: Any = None

    def build(self, path: str, data: pa.Table) -> None:
        spec = self.module.IndexSpec().fts("mark")
        spec = spec.vector("emb", data.schema.field("emb").type.list_size, "cosine", **self.index)
        self.module.connect(path, **self.options).create_table("t", data.schema, spec).append(data)

    def open(self, path: str) -> None:
        self.table = self.module.connect(path, **self.options).open_table("t")

    def optimize(self) -> None:
        self.table.optimize()

    def search(self, query: np.ndarray, k: int, knobs: dict[str, Any]) -> Any:
        mark = knobs.get("mark")
        if mark:
            knobs = {**knobs, "filter_column": "mark", "filter_query": mark}
            del knobs["mark"]
        return self.table.vector_search("emb", query, k, **knobs)

    def rows(self, query: np.ndarray, k: int, knobs: dict[str, Any]) -> list[int]:
        return self.search(query, k, {**knobs, "projection": ["row"]}).column("row").to_pylist()


class FindsRows:
    """An engine whose search gives the numbers of rows."""

    def rows(self, query: np.ndarray, k: int, knobs: dict[str, Any]) -> list[int]:
        return [int(row) for row in self.search(query, k, knobs)]


class Faiss(FindsRows):
    def __init__(self, options: dict[str, Any]) -> None:
        import faiss

        faiss.omp_set_num_threads(options.get("threads", 2))
        self.module = faiss
        self.factory = options.get("factory", f"IVF{PARTITIONS},Flat")
        self.marks: dict[str, Any] = {}

    def build(self, path: str, data: pa.Table) -> None:
        os.makedirs(path)
        vectors = matrix(data)
        index = self.module.index_factory(vectors.shape[1], self.factory, self.module.METRIC_INNER_PRODUCT)
        index.train(vectors)
        index.add(vectors)
        self.module.write_index(index, f"{path}/index")
        pq.write_table(data.select(["row", "mark"]), f"{path}/marks.parquet")

    def open(self, path: str) -> None:
        self.index = self.module.read_index(f"{path}/index")
        for text in pq.read_table(f"{path}/marks.parquet").column("mark").unique().to_pylist():
            self.marks.update(dict.fromkeys(text.split()))
        texts = pq.read_table(f"{path}/marks.parquet").column("mark").to_pylist()
        for mark in self.marks:
            chosen = np.array([mark in text.split() for text in texts])
            self.marks[mark] = np.packbits(chosen, bitorder="little")

    def search(self, query: np.ndarray, k: int, knobs: dict[str, Any]) -> Any:
        probes = {"nprobe": knobs["nprobe"]}
        if knobs.get("mark"):
            bits = self.marks[knobs["mark"]]
            probes["sel"] = self.module.IDSelectorBitmap(bits)
        parameters = self.module.SearchParametersIVF(**probes)
        if "k_factor" in knobs:
            parameters = self.module.IndexRefineSearchParameters(
                k_factor=knobs["k_factor"], base_index_params=parameters)
        return self.index.search(query[None, :], k, params=parameters)[1][0]


class Hnswlib(FindsRows):
    def __init__(self, options: dict[str, Any]) -> None:
        import hnswlib

        self.module = hnswlib
        self.threads = options.get("threads", 2)

    def build(self, path: str, data: pa.Table) -> None:
        os.makedirs(path)
        vectors = matrix(data)
        index = self.module.Index("cosine", vectors.shape[1])
        index.init_index(len(vectors), M=16, ef_construction=200)
        index.add_items(vectors, num_threads=self.threads)
        index.save_index(f"{path}/index")
        pathlib.Path(f"{path}/dim").write_text(str(vectors.shape[1]))

    def open(self, path: str) -> None:
        self.index = self.module.Index("cosine", int(pathlib.Path(f"{path}/dim").read_text()))
        self.index.load_index(f"{path}/index")
        self.index.set_num_threads(self.threads)

    def search(self, query: np.ndarray, k: int, knobs: dict[str, Any]) -> Any:
        self.index.set_ef(knobs["ef"])
        return self.index.knn_query(query, k)[0][0]


class Usearch(FindsRows):
    def __init__(self, options: dict[str, Any]) -> None:
        from usearch.index import Index

        self.kind = Index
        self.threads = options.get("threads", 2)

    def build(self, path: str, data: pa.Table) -> None:
        os.makedirs(path)
        vectors = matrix(data)
        index = self.kind(ndim=vectors.shape[1], metric="cos", dtype="f16")
        index.add(np.arange(len(vectors)), vectors, threads=self.threads)
        index.save(f"{path}/index")

    def open(self, path: str) -> None:
        self.index = self.kind.restore(f"{path}/index")

    def search(self, query: np.ndarray, k: int, knobs: dict[str, Any]) -> Any:
        self.index.expansion_search = knobs["ef"]
        return self.index.search(query, k, threads=1).keys


class Lancedb:
    def __init__(self, options: dict[str, Any]) -> None:
        import lancedb

        self.module = lancedb

    def build(self, path: str, data: pa.Table) -> None:
        table = self.module.connect(path).create_table("t", data)
        table.create_index("cosine", vector_column_name="emb", index_type="IVF_RQ",
                           num_partitions=max(1, data.num_rows // 4096))

    def open(self, path: str) -> None:
        self.table = self.module.connect(path).open_table("t")

    def search(self, query: np.ndarray, k: int, knobs: dict[str, Any]) -> Any:
        found = self.table.search(query, vector_column_name="emb").distance_type("cosine").limit(k)
        found = found.nprobes(knobs["nprobe"]).refine_factor(knobs["refine"]).select(["row"])
        if knobs.get("mark"):
            found = found.where(f"mark LIKE '%{knobs['mark']} %'", prefilter=True)
        return found.to_arrow()

    def rows(self, query: np.ndarray, k: int, knobs: dict[str, Any]) -> list[int]:
        return self.search(query, k, knobs).column("row").to_pylist()


class Rabitqlib:
    def __init__(self, options: dict[str, Any]) -> None:
        import rabitqlib

        self.module = rabitqlib
        self.bits = options.get("bits", 5)

    def build(self, path: str, data: pa.Table) -> None:
        os.makedirs(path)
        vectors = matrix(data)
        count, dim = vectors.shape
        clusters = max(16, min(PARTITIONS, count // 64))
        means = self.module.RaBitQKMeans(dim, clusters, spherical=True)
        means.train(vectors)
        index = self.module.IvfIndex(dim, count, clusters, self.bits, metric="ip")
        index.build(vectors, means.centroids, means.assignments)
        index.save(f"{path}/index")

    def open(self, path: str) -> None:
        self.index = self.module.IvfIndex.load(f"{path}/index")

    def search(self, query: np.ndarray, k: int, knobs: dict[str, Any]) -> Any:
        return self.index.search(query[None, :], k, knobs["nprobe"])

    def rows(self, query: np.ndarray, k: int, knobs: dict[str, Any]) -> list[int]:
        parts = self.search(query, k, knobs)
        ids = next(part for part in parts if np.issubdtype(np.asarray(part).dtype, np.integer))
        return [int(row) for row in np.asarray(ids)[0]]


ENGINES = {"infino": Infino, "reference": Infino, "faiss": Faiss, "hnswlib": Hnswlib,
           "usearch": Usearch, "lancedb": Lancedb, "rabitqlib": Rabitqlib}


def search(engine: Any, command: dict[str, Any]) -> dict[str, Any]:
    """The mean of the queries' times, and what they found if that is asked for."""
    queries = np.load(command["queries"])[: command["count"]]
    answer: dict[str, Any] = {}
    if command.get("rows"):
        answer["rows"] = [engine.rows(query, command["k"], command["knobs"]) for query in queries]
    times = engines.timed(
        [lambda q=query: engine.search(q, command["k"], command["knobs"]) for query in queries])
    answer["us"] = sum(times) / len(times)
    return answer


def main() -> None:
    name, options = sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
    engine = ENGINES[name](options)
    for line in sys.stdin:
        command = json.loads(line)
        if command["op"] == "build":
            answer = engines.build(engine, command)
        elif command["op"] in ("open", "optimize"):
            started, cpu = time.perf_counter(), engines.cpu_seconds()
            getattr(engine, command["op"])(*([command["path"]] if command["op"] == "open" else []))
            answer = {"wall_s": time.perf_counter() - started, "cpu_s": engines.cpu_seconds() - cpu}
        else:
            answer = search(engine, command)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
