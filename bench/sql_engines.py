"""One engine's worker for bench/sql.py: commands as JSON lines on standard input, answers on output."""

from __future__ import annotations

import json
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def open_infino(path: str, packages: str, options: dict[str, Any]) -> Callable[[str], pa.Table]:
    import infino

    connection = infino.connect(path, **options)
    if "packages" not in connection.list_tables():
        rows = pq.read_table(packages)
        schema = pa.schema([field.remove_metadata() for field in rows.schema])
        table = connection.create_table("packages", schema, infino.IndexSpec().fts("text"))
        table.append(rows.cast(schema))
    return connection.query_sql


def open_duckdb(path: str) -> Callable[[str], pa.Table]:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET parquet_metadata_cache = true")
    files = [str(file) for file in pathlib.Path(path).rglob("*.parquet")]
    connection.execute(f"CREATE VIEW packages AS SELECT * FROM read_parquet({files})")
    return lambda sql: connection.sql(sql).to_arrow_table()


def main() -> None:
    name, options = sys.argv[1], json.loads(sys.argv[2])
    query: Callable[[str], pa.Table] | None = None
    for line in sys.stdin:
        command = json.loads(line)
        answer: dict[str, Any] = {}
        if command["op"] == "open":
            if name == "duckdb":
                query = open_duckdb(command["path"])
            else:
                query = open_infino(command["path"], command["packages"], options)
        else:
            assert query is not None
            taken = []
            for _ in range(2 * command["repeats"]):
                start = time.perf_counter()
                query(command["sql"])
                taken.append(1000 * (time.perf_counter() - start))
            answer["ms"] = statistics.median(taken[command["repeats"]:])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
