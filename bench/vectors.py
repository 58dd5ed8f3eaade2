"""Measures vector search of infino beside its peers, interleaved in one run: five rounds, medians.

  bench/vectors.py build|search|filter --corpus real|million --folder FOLDER-WITH-packages-100k.parquet

Each peer runs with the quickest of its settings that reaches the recall. Prints Markdown tables.
Environments: bench/peers.sh.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import sys
from typing import Any

import compare
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WORK = compare.WORK
QUERIES = 200
K = 10
MEMORY_BYTES = 2 << 30
MARKS = {"p1": 0.01, "p10": 0.1, "kw": 0.025}

EF = [10, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512]
PROBES = [8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024]
#: name: (engine, options for a build, settings to try)
PEERS: dict[str, tuple[str, dict[str, Any], list[dict[str, Any]]]] = {
    "infino": ("infino", {}, [{"target_recall": r} for r in (0.9, 0.95, 0.99)]
               + [{"nprobe": n} for n in (32, 40, 48, 64, 96, 128, 192)]),
    "reference, appended": ("reference", {}, [{}]),
    "reference, optimized": ("reference", {"optimize": True}, [{}]),
    "hnswlib": ("hnswlib", {}, [{"ef": ef} for ef in EF]),
    "usearch f16": ("usearch", {}, [{"ef": ef} for ef in EF]),
    "faiss IVF,Flat": ("faiss", {"factory": "IVF1024,Flat"}, [{"nprobe": n} for n in PROBES]),
    "faiss IVF,RaBitQ+SQ8": ("faiss", {"factory": "IVF1024,RaBitQ,Refine(SQ8)"}, [
        {"nprobe": n, "k_factor": f} for n in PROBES[2:] for f in (8, 16, 32)]),
    "faiss IVF,PQfs+SQ8": ("faiss", {"factory": "IVF1024,PQ192x4fs,Refine(SQ8)"}, [
        {"nprobe": n, "k_factor": f} for n in PROBES[2:] for f in (4, 8, 16)]),
    "lancedb IVF_RQ": ("lancedb", {}, [{"nprobe": n, "refine": f} for n in (8, 16, 24) for f in (5, 10, 20)]),
    "rabitqlib 5 bits": ("rabitqlib", {}, [{"nprobe": n} for n in PROBES]),
}


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def read_vectors(path: pathlib.Path) -> np.ndarray:
    column = pq.read_table(path, columns=["embedding"]).column("embedding").combine_chunks()
    return unit(column.flatten().to_numpy().astype(np.float32).reshape(len(column), -1))


def derived(real: np.ndarray, count: int) -> np.ndarray:
    """Mixtures of two real vectors, the first one weighing more."""
    generator = np.random.default_rng(5)
    rows = []
    for first in range(0, count, len(real)):
        size = min(len(real), count - first)
        other = real[generator.integers(0, len(real), size)]
        rows.append(unit(real[:size] + generator.uniform(0.2, 0.8, (size, 1)) * other))
    return np.concatenate(rows)


def corpus(name: str, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The rows, the queries and the exact answers, made once."""
    base = WORK / f"vectors-{name}"
    files = {"data": base.with_suffix(".parquet"), "queries": base.with_suffix(".queries.npy"),
             "truth": base.with_suffix(".truth.npz")}
    if files["truth"].exists():
        return files
    WORK.mkdir(parents=True, exist_ok=True)
    rows = read_vectors(folder / "packages-100k.parquet")
    queries = read_vectors(folder / "queries-1k.parquet")[:QUERIES]
    if name == "million":
        rows = derived(rows, 1_000_000)
    generator = np.random.default_rng(3)
    chosen = {mark: generator.random(len(rows)) < share for mark, share in MARKS.items()}
    texts = [" ".join([m for m in MARKS if chosen[m][i]] + ["row"]) for i in range(len(rows))]
    emb = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])
    pq.write_table(pa.table({"row": pa.array(range(len(rows)), pa.int64()),
                             "mark": pa.array(texts, pa.large_utf8()), "emb": emb}), files["data"],
                   compression="none", row_group_size=100_000)
    np.save(files["queries"], queries)
    products = queries @ rows.T
    truth = {"all": np.argsort(-products, axis=1)[:, :K]}
    for mark, mask in chosen.items():
        truth[mark] = np.argsort(-np.where(mask, products, -9), axis=1)[:, :K]
    np.savez(files["truth"], **truth)
    return files


class Engine(compare.Engine):
    script = "vector_engines.py"


def path_of(name: str, corpus_name: str) -> str:
    slug = "".join(c if c.isalnum() else "-" for c in name)
    return str(WORK / f"vectors-{corpus_name}-{slug}")


def start(name: str, core: int | None) -> Engine:
    engine, options, _ = PEERS[name]
    if engine == "reference":
        options = {"cache_dir": str(WORK / "reference-cache")}
    elif core is not None and engine not in ("lancedb", "rabitqlib"):
        options = {**options, "threads": 1}
    if engine == "infino" and core is not None:  # As all the others, in memory as a whole.
        options["memory_cache_bytes"] = MEMORY_BYTES
    return Engine(engine, core, options)


def build(arguments: argparse.Namespace, files: dict[str, pathlib.Path]) -> None:
    columns: dict[str, dict[str, float]] = {}
    for name in arguments.engines:
        engine = start(name, None)
        path = path_of(name, arguments.corpus)
        answer = engine.ask(op="build", corpus=str(files["data"]), path=path)
        if PEERS[name][1].get("optimize"):
            engine.ask(op="open", path=path)
            answer["cpu_s"] += engine.ask(op="optimize")["cpu_s"]
        engine.close()
        answer["bytes a vector"] = sum(
            f.stat().st_size for f in pathlib.Path(path).rglob("*") if f.is_file()) / answer["rows"]
        columns[name] = answer
        print(name, answer, file=sys.stderr, flush=True)
    print("\n| build | CPU seconds | seconds, both cores | peak MB over the input | bytes a vector |")
    print("|---|---|---|---|---|")
    for name, a in columns.items():
        print(f"| {name} | {a['cpu_s']:.3g} | {a['wall_s']:.3g} | {a['peak_mb']:.4g} | "
              f"{a['bytes a vector']:.4g} |")


def recall(found: list[list[int]], truth: np.ndarray) -> float:
    return float(np.mean([len(set(f) & set(t.tolist())) / K for f, t in zip(found, truth, strict=True)]))


def measure(arguments: argparse.Namespace, files: dict[str, pathlib.Path], marks: list[str],
            recalls: list[float]) -> None:
    truth = np.load(files["truth"])
    engines = {}
    for name in arguments.engines:
        engines[name] = start(name, core=1)
        engines[name].ask(op="open", path=path_of(name, arguments.corpus))

    def ask(name: str, knobs: dict[str, Any], rows: bool) -> dict[str, Any]:
        return engines[name].ask(op="search", queries=str(files["queries"]), count=arguments.queries, k=K,
                                 knobs=knobs, rows=rows)

    cases: dict[tuple[str, float, str], tuple[dict[str, Any], float]] = {}
    for mark in marks:
        for name in arguments.engines:
            tried = []
            for knobs in PEERS[name][2]:
                asked = {**knobs, "mark": mark} if mark != "all" else knobs
                answer = ask(name, asked, rows=True)
                share = recall(answer["rows"], truth[mark][: arguments.queries])
                tried.append((answer["us"], share, asked))
                print(name, mark, knobs, f"{share:.4f} {answer['us']:.0f} us", file=sys.stderr, flush=True)
            for target in recalls:
                reached = [t for t in tried if t[1] >= target]
                best = min(reached, key=lambda t: t[0]) if reached else max(tried, key=lambda t: t[1])
                cases[mark, target, name] = (best[2], best[1])
    samples: dict[tuple[str, float, str], list[float]] = {}
    for _ in range(arguments.rounds):
        for case, (knobs, _share) in cases.items():
            samples.setdefault(case, []).append(ask(case[2], knobs, rows=False)["us"])
    print("\n| rows searched | recall asked | engine | setting | recall@10 | ms a query |\n|---|---|---|---|---|---|")
    for case, (knobs, share) in cases.items():
        mark, target, name = case
        setting = ", ".join(f"{k}={v}" for k, v in knobs.items() if k != "mark") or "default"
        print(f"| {mark} | {target} | {name} | {setting} | {share:.4f} | "
              f"{statistics.median(samples[case]) / 1000:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["build", "search", "filter"])
    parser.add_argument("--corpus", choices=["real", "million"], default="real")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--recalls", type=float, nargs="+", default=[0.95, 0.99])
    parser.add_argument("--engines", nargs="+", default=list(PEERS))
    arguments = parser.parse_args()
    files = corpus(arguments.corpus, arguments.folder)
    if arguments.what == "build":
        build(arguments, files)
    elif arguments.what == "search":
        measure(arguments, files, ["all"], arguments.recalls)
    else:
        measure(arguments, files, list(MARKS), [0.99])


if __name__ == "__main__":
    main()
