"""One engine, in a process and an environment of its own, driven by JSON lines on standard input.

  python engines.py infino|reference|tantivy

Commands: {"op": "build"|"open"|"search"|"count"|"counts"|"append", …}; each answers with one JSON line.
"""

from __future__ import annotations

import json
import os
import pathlib
import resource
import shutil
import sys
import time
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.large_utf8())])


def folder_bytes(path: str) -> int:
    return sum(f.stat().st_size for f in pathlib.Path(path).rglob("*") if f.is_file())


class Infino:
    """Ours and the reference: the same module name, the same calls."""

    def __init__(self, options: dict[str, Any]) -> None:
        import infino

        self.module = infino
        self.index = options.pop("index", {"positions": True})
        self.options = options
        self.table: Any = None

    def build(self, path: str, data: pa.Table) -> None:
        connection = self.module.connect(path, **self.options)
        table = connection.create_table("t", SCHEMA, self.module.IndexSpec().fts("text", **self.index))
        table.append(data)

    def open(self, path: str) -> None:
        self.table = self.module.connect(path, **self.options).open_table("t")

    def search(self, query: str, k: int, mode: str, text: bool) -> int:
        columns = ["id", "score", "text"] if text else None
        return self.table.bm25_search("text", query, k, mode, columns).num_rows

    def count(self, query: str, mode: str) -> int:
        return self.table.count("text", query, mode)

    def append(self, data: pa.Table) -> None:
        self.table.append(data)


class Tantivy:
    def __init__(self, options: dict[str, Any]) -> None:
        import tantivy

        self.module = tantivy
        self.threads = options.get("threads", 0)
        self.index: Any = None

    def schema(self) -> Any:
        builder = self.module.SchemaBuilder()
        builder.add_integer_field("id", stored=True)
        builder.add_text_field("text", stored=True, tokenizer_name="default", index_option="position")
        return builder.build()

    def build(self, path: str, data: pa.Table) -> None:
        os.makedirs(path)
        index = self.module.Index(self.schema(), path=path)
        writer = index.writer(heap_size=500_000_000, num_threads=self.threads)
        self.write(writer, data)
        writer.wait_merging_threads()

    def write(self, writer: Any, data: pa.Table) -> None:
        for batch in data.to_batches(10_000):
            for number, text in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(),
                                    strict=True):
                writer.add_document(self.module.Document(id=number, text=text))
        writer.commit()

    def open(self, path: str) -> None:
        self.index = self.module.Index.open(path)
        self.searcher = self.index.searcher()

    def parse(self, query: str, mode: str) -> Any:
        words = query.strip('"').split()
        if query.startswith('"'):
            return self.module.Query.phrase_query(self.index.schema, "text", words)
        occur = self.module.Occur.Must if mode == "and" else self.module.Occur.Should
        clauses = [(occur, self.module.Query.term_query(self.index.schema, "text", word))
                   for word in words]
        return clauses[0][1] if len(clauses) == 1 else self.module.Query.boolean_query(clauses)

    def search(self, query: str, k: int, mode: str, text: bool) -> int:
        found = self.searcher.search(self.parse(query, mode), limit=k, count=False).hits
        if text:
            for _, address in found:
                self.searcher.doc(address)["text"]
        return len(found)

    def count(self, query: str, mode: str) -> int:
        return self.searcher.search(self.parse(query, mode), limit=1, count=True).count

    def append(self, data: pa.Table) -> None:
        writer = self.index.writer(heap_size=50_000_000, num_threads=1)
        self.write(writer, data)
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def memory_mb(key: str) -> float:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) / 1024
    return 0.0


def build(engine: Any, command: dict[str, Any]) -> dict[str, Any]:
    shutil.rmtree(command["path"], ignore_errors=True)
    data = pq.read_table(command["corpus"]).combine_chunks()
    pa.default_memory_pool().release_unused()  # What reading left is not what building takes.
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # Resets the high-water mark.
    before, cpu, wall = memory_mb("VmRSS"), cpu_seconds(), time.perf_counter()
    engine.build(command["path"], data)
    return {"wall_s": time.perf_counter() - wall, "cpu_s": cpu_seconds() - cpu, "rows": data.num_rows,
            "peak_mb": memory_mb("VmHWM") - before, "bytes": folder_bytes(command["path"])}


def timed(calls: Any) -> list[float]:
    """Microseconds of each call."""
    times = []
    for call in calls:
        started = time.perf_counter_ns()
        call()
        times.append((time.perf_counter_ns() - started) / 1000)
    return times


def search(engine: Any, command: dict[str, Any]) -> dict[str, Any]:
    def calls() -> Any:
        for query in command["queries"]:
            for _ in range(command["repeat"]):
                if command["op"] == "count":
                    yield lambda: engine.count(query, command["mode"])
                else:
                    yield lambda: engine.search(query, command["k"], command["mode"], command["text"])

    times = timed(calls())
    repeat = command["repeat"]
    best = [sorted(times[i:i + repeat])[repeat // 2] for i in range(0, len(times), repeat)]
    return {"us": sum(best) / len(best)}


def append(engine: Any, command: dict[str, Any]) -> dict[str, Any]:
    table = pq.read_table(command["corpus"]).slice(0, command["rows"] * command["times"])
    engine.open(command["path"])
    before, cpu, wall = folder_bytes(command["path"]), cpu_seconds(), time.perf_counter()
    for i in range(command["times"]):
        engine.append(table.slice(i * command["rows"], command["rows"]))
    times = command["times"]
    return {"wall_ms": (time.perf_counter() - wall) * 1000 / times,
            "cpu_ms": (cpu_seconds() - cpu) * 1000 / times,
            "bytes": (folder_bytes(command["path"]) - before) / times}


def main() -> None:
    name, options = sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
    engine = Tantivy(options) if name == "tantivy" else Infino(options)
    for line in sys.stdin:
        command = json.loads(line)
        if command["op"] == "build":
            answer = build(engine, command)
        elif command["op"] == "open":
            started = time.perf_counter_ns()
            engine.open(command["path"])
            answer = {"us": (time.perf_counter_ns() - started) / 1000}
        elif command["op"] == "append":
            answer = append(engine, command)
        elif command["op"] == "counts":
            answer = {"counts": [engine.count(query, command["mode"]) for query in command["queries"]]}
        else:
            answer = search(engine, command)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
