"""Measures infino beside its peers, interleaved in one run: five rounds, medians.

  bench/compare.py build|search|append|fetch --corpus packages|zipf [--packages FILE] [--rows N]

Prints a Markdown table. Environments: bench/peers.sh.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
from typing import Any

import corpora

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "build" / "peers"
WORK = ROOT / "build" / "bench"
ENGINES = ("infino", "reference", "tantivy")


class Engine:
    """A worker process of one engine."""

    script = "engines.py"

    def __init__(self, name: str, core: int | None, options: dict[str, Any]) -> None:
        command = [str(PEERS / name / "bin" / "python"), str(ROOT / "bench" / self.script), name,
                   json.dumps(options)]
        if core is not None:
            command = ["taskset", "-c", str(core), *command]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def ask(self, **command: Any) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            assert self.process.stderr
            raise SystemExit(f"{command['op']} failed: {self.process.stderr.read()[-2000:]}")
        return json.loads(line)

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def start(name: str, core: int | None = None) -> Engine:
    options: dict[str, Any] = {"threads": 1} if core is not None else {}
    if name == "reference":  # Without a cache folder it reads anew for every query.
        options = {"cache_dir": str(WORK / "reference-cache")}
    return Engine(name, core, options)


def table(title: str, rows: list[tuple[str, dict[str, float]]], unit: str, engines: list[str]) -> None:
    print(f"\n**{title}** ({unit})\n\n| | {' | '.join(engines)} | ours / best peer |")
    print("|---|" + "---|" * (len(engines) + 1))
    for name, values in rows:
        peers = [v for engine, v in values.items() if engine != "infino"]
        ratio = f"{values['infino'] / min(peers):.2f}" if peers and "infino" in values else "-"
        print(f"| {name} | {' | '.join(f'{values[e]:.4g}' for e in engines)} | {ratio} |", flush=True)


def median_of(samples: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(s[key] for s in samples) for key in samples[0]}


def measure_build(arguments: argparse.Namespace, corpus: pathlib.Path) -> None:
    samples: dict[str, list[dict[str, float]]] = {e: [] for e in arguments.engines}
    for _ in range(arguments.rounds):
        for name in arguments.engines:
            engine = start(name)
            samples[name].append(engine.ask(op="build", corpus=str(corpus), path=path_of(name, corpus)))
            engine.close()
            print(name, samples[name][-1], file=sys.stderr)
    medians = {name: median_of(s) for name, s in samples.items()}
    for key, title, unit in (("wall_s", "Build, both cores", "seconds"), ("cpu_s", "Build", "CPU seconds"),
                             ("peak_mb", "Build, peak memory over the input", "MB"),
                             ("bytes", "Size on disk", "bytes")):
        table(title, [(corpus.stem, {n: m[key] for n, m in medians.items()})], unit, arguments.engines)


def path_of(name: str, corpus: pathlib.Path) -> str:
    return str(WORK / f"{corpus.stem}-{name}")


def opened(arguments: argparse.Namespace, corpus: pathlib.Path) -> dict[str, Engine]:
    engines = {name: start(name, core=1) for name in arguments.engines}
    for name, engine in engines.items():
        engine.ask(op="open", path=path_of(name, corpus))
    return engines


def measure_search(arguments: argparse.Namespace, corpus: pathlib.Path) -> None:
    classes = corpora.queries(corpus)
    engines = opened(arguments, corpus)
    cases: list[tuple[str, dict[str, Any]]] = []
    for name in ("nothing found", "rare term", "mid term", "common term", "AND of 2", "OR of 3", "OR of 10",
                 "OR of 30 common words", "phrase of 2"):
        cases.append((name, {"op": "search", "queries": classes[name], "k": 10, "text": False,
                             "mode": "and" if name.startswith("AND") else "or"}))
    cases.append(("common term, top 1000", {"op": "search", "queries": classes["common term"], "k": 1000,
                                            "text": False, "mode": "or"}))
    for name in ("common term", "AND of 2", "OR of 3"):
        cases.append((f"count: {name}", {"op": "count", "queries": classes[name],
                                         "mode": "and" if name.startswith("AND") else "or"}))
    samples: dict[tuple[str, str], list[float]] = {}
    for round_number in range(arguments.rounds + 1):  # The first one warms up.
        for name, command in cases:
            for engine_name, engine in engines.items():
                answer = engine.ask(repeat=5, **command)
                if round_number:
                    samples.setdefault((name, engine_name), []).append(answer["us"])
    rows = [(name, {e: statistics.median(samples[name, e]) for e in engines}) for name, _ in cases]
    table(f"Search, one core, warm: {corpus.stem}", rows, "µs a query", arguments.engines)
    measure_open(arguments, corpus)


def measure_open(arguments: argparse.Namespace, corpus: pathlib.Path) -> None:
    samples: dict[str, list[float]] = {e: [] for e in arguments.engines}
    for _ in range(arguments.rounds):
        for name in arguments.engines:
            engine = start(name, core=1)
            samples[name].append(engine.ask(op="open", path=path_of(name, corpus))["us"] / 1000)
            engine.close()
    table("Open a table in a fresh process", [(corpus.stem, {
        n: statistics.median(s) for n, s in samples.items()})], "ms", arguments.engines)


def measure_fetch(arguments: argparse.Namespace, corpus: pathlib.Path) -> None:
    """Ten rows with their text, every query new: what the text adds."""
    fresh = corpora.queries(corpus)["fresh"]
    engines = opened(arguments, corpus)
    size = len(fresh) // arguments.rounds
    added: dict[str, list[float]] = {e: [] for e in engines}
    plain: dict[str, list[float]] = {e: [] for e in engines}
    for number in range(arguments.rounds):
        chosen = fresh[number * size:(number + 1) * size]
        for name, engine in engines.items():
            bare = {"op": "search", "k": 10, "mode": "or", "queries": chosen, "repeat": 1}
            engine.ask(text=False, **bare)  # The postings are warm; the rows were never seen.
            without = engine.ask(text=False, **bare)["us"]
            plain[name].append(without)
            added[name].append(engine.ask(text=True, **bare)["us"] - without)
    table("OR of 3, top 10, every query new", [
        ("ids and scores", {n: statistics.median(s) for n, s in plain.items()}),
        ("the rows' text adds", {n: statistics.median(s) for n, s in added.items()})],
        "µs a query", arguments.engines)


def measure_append(arguments: argparse.Namespace, corpus: pathlib.Path) -> None:
    import shutil

    samples: dict[str, list[dict[str, float]]] = {e: [] for e in arguments.engines}
    for number in range(arguments.rounds):
        for name in arguments.engines:
            path = str(WORK / f"append-{name}")
            shutil.rmtree(path, ignore_errors=True)
            small = WORK / "append-base.parquet"
            if not small.exists():
                import pyarrow.parquet as pq
                pq.write_table(pq.read_table(corpus).slice(0, 1000), small)
            engine = start(name)
            engine.ask(op="build", corpus=str(small), path=path)
            samples[name].append(engine.ask(op="append", corpus=str(corpus), path=path, rows=1000,
                                            times=arguments.appends))
            engine.close()
    medians = {name: median_of(s) for name, s in samples.items()}
    table(f"1,000-row appends, {arguments.appends} in a row", [
        (title, {n: m[key] for n, m in medians.items()})
        for key, title in (("wall_ms", "ms an append"), ("cpu_ms", "CPU ms an append"),
                           ("bytes", "bytes written and kept an append"))], "", arguments.engines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["build", "search", "append", "fetch"])
    parser.add_argument("--corpus", choices=["packages", "zipf"], default="packages")
    parser.add_argument("--packages", type=pathlib.Path, default=pathlib.Path("packages-1m.parquet"))
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the Zipf corpus")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--appends", type=int, default=100)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES))
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    corpus = corpora.load(arguments.corpus, WORK, arguments.packages, arguments.rows)
    {"build": measure_build, "search": measure_search, "append": measure_append,
     "fetch": measure_fetch}[arguments.what](arguments, corpus)


if __name__ == "__main__":
    main()
