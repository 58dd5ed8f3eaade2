"""Measures SQL of infino beside its peers, interleaved in one run: five rounds, medians.

  bench/sql.py --packages FILE

The table is the real `packages` (columns id, name, text, month, source; text has a keyword index).
DuckDB reads the Parquet files that infino wrote. Prints a Markdown table. Environments:
bench/peers.sh.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
from typing import Any

import compare
import pyarrow.parquet as pq

WORK = compare.WORK
ENGINES = ("infino", "reference", "duckdb")
#: How often a statement runs in one round, after as many runs that are not measured.
REPEATS = 5


class Engine(compare.Engine):
    script = "sql_engines.py"


def statements(packages: pathlib.Path) -> dict[str, str]:
    row = pq.read_table(packages, columns=["text"]).slice(600_000, 1).to_pylist()[0]
    text = row["text"].replace("'", "''")
    search = "bm25_search('packages', 'text', "
    return {
        "COUNT(*)": "SELECT count(*) FROM packages",
        "MIN, MAX": "SELECT min(id), max(id) FROM packages",
        "COUNT WHERE source =": "SELECT count(*) FROM packages WHERE source = 'pypi'",
        "GROUP BY source": "SELECT source, count(*) FROM packages GROUP BY source",
        "COUNT WHERE month range":
            "SELECT count(*) FROM packages WHERE month >= '2019-01' AND month <= '2019-12'",
        "GROUP BY month": "SELECT month, count(*) FROM packages GROUP BY month",
        "COUNT DISTINCT": "SELECT count(DISTINCT month) FROM packages",
        "point id": "SELECT * FROM packages WHERE id = 777777",
        "range of 100": "SELECT * FROM packages WHERE id >= 500000 AND id <= 500099",
        "ORDER BY month LIMIT 10": "SELECT id, month FROM packages ORDER BY month LIMIT 10",
        "LIKE '%django%'": "SELECT count(*) FROM packages WHERE text LIKE '%django%'",
        "exact text": f"SELECT * FROM packages WHERE text = '{text}'",
        "SELECT 1": "SELECT 1",
        "bm25_search top 10": f"SELECT id, score FROM {search}'django rest', 10)",
        "... top 1000, GROUP BY": f"SELECT source, count(*) FROM {search}'python', 1000) GROUP BY source",
        "... JOIN its table":
            f"SELECT p.id, p.text, s.score FROM {search}'django', 10) s JOIN packages p ON s._id = p._id",
        "... WHERE source =": f"SELECT id, score FROM {search}'django', 10) WHERE source = 'pypi'",
        "COUNT token_match": "SELECT count(*) FROM token_match('packages', 'text', 'python')",
        "rare token_match, rows": "SELECT id, text FROM token_match('packages', 'text', 'quux')",
    }


def path_of(name: str) -> str:
    return str(WORK / f"sql-{'infino' if name == 'duckdb' else name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES))
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    engines: dict[str, Engine] = {}
    for name in arguments.engines:
        options: dict[str, Any] = {}
        if name == "reference":
            options["cache_dir"] = str(WORK / "reference-cache")
        engines[name] = Engine(name, None, options)
        engines[name].ask(op="open", path=path_of(name), packages=str(arguments.packages))
    asked = statements(arguments.packages)
    samples: dict[tuple[str, str], list[float]] = {}
    for _ in range(arguments.rounds):
        for title, sql in asked.items():
            for name, engine in engines.items():
                if name == "duckdb" and ("_search(" in sql or "_match(" in sql):
                    continue
                answer = engine.ask(op="query", sql=sql, repeats=REPEATS)
                samples.setdefault((title, name), []).append(answer["ms"])
    print(f"\n| statement, ms | {' | '.join(engines)} | infino by the better peer |")
    print("|---|" + "---|" * (len(engines) + 1))
    for title in asked:
        medians = {name: statistics.median(samples[title, name]) for name in engines
                   if (title, name) in samples}
        peers = [ms for name, ms in medians.items() if name != "infino"]
        ratio = f"{medians['infino'] / min(peers):.2f}" if peers and "infino" in medians else "–"
        cells = [f"{medians[name]:.3g}" if name in medians else "–" for name in engines]
        print(f"| {title} | {' | '.join(cells)} | {ratio} |")


if __name__ == "__main__":
    main()
