"""The corpora, the same rows for every engine, and queries drawn from them."""

from __future__ import annotations

import collections
import json
import pathlib
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ZIPF_WORDS = 10_000
ZIPF_TOKENS = 200
BATCH_ROWS = 10_000


def packages(source: pathlib.Path) -> pa.Table:
    """Names and summaries of software packages: `id`, `text`."""
    return pq.read_table(source, columns=["id", "text"]).combine_chunks()


def zipf(rows: int, seed: int = 7) -> pa.Table:
    """Rows of 200 tokens drawn from 10,000 words with weight 1/rank: `id`, `text`."""
    generator = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, ZIPF_WORDS + 1)
    cumulative = np.cumsum(weights / weights.sum())
    words = np.array([f"w{i}" for i in range(ZIPF_WORDS)], dtype=object)
    batches = []
    for first in range(0, rows, BATCH_ROWS):
        count = min(BATCH_ROWS, rows - first)
        picks = np.searchsorted(cumulative, generator.random((count, ZIPF_TOKENS)))
        texts = [" ".join(words[row]) for row in np.minimum(picks, ZIPF_WORDS - 1)]
        batches.append(pa.table({"id": pa.array(range(first, first + count), pa.int64()),
                                 "text": pa.array(texts, pa.large_utf8())}))
    return pa.concat_tables(batches).combine_chunks()


def load(name: str, folder: pathlib.Path, packages_file: pathlib.Path, zipf_rows: int) -> pathlib.Path:
    """The corpus as a Parquet file in `folder`, made once."""
    path = folder / (f"{name}-{zipf_rows}.parquet" if name == "zipf" else f"{name}.parquet")
    if not path.exists():
        table = packages(packages_file) if name == "packages" else zipf(zipf_rows)
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        pq.write_table(table, partial, compression="zstd", row_group_size=100_000)
        partial.rename(path)
    return path


def a_pair(texts: list[str | None]) -> str:
    """Two plain words that stand together in one of the texts."""
    for text in texts:
        found = re.search(r"(?:^| )([a-z]{2,}[0-9]*|w[0-9]+) ([a-z]{2,}[0-9]*|w[0-9]+)(?: |$)", text or "")
        if found:
            return f"{found[1]} {found[2]}"
    raise ValueError("no two words together")


def queries(path: pathlib.Path) -> dict[str, list[str]]:
    """Query classes with twenty queries each, of plain lower-case words, by document frequency.
    Worked out once a corpus."""
    kept = path.with_suffix(".queries.json")
    if not kept.exists():
        kept.write_text(json.dumps(draw_queries(path)))
    return json.loads(kept.read_text())


def draw_queries(path: pathlib.Path, seed: int = 11) -> dict[str, list[str]]:
    frequency: collections.Counter[str] = collections.Counter()
    rows = 0
    pairs: list[str] = []
    for batch in pq.ParquetFile(path).iter_batches(50_000, columns=["text"]):
        for text in batch.column(0).to_pylist():
            rows += 1
            frequency.update(set(re.findall(r"[a-z][a-z0-9]*", (text or "").lower())))
        pairs.append(a_pair(batch.column(0).to_pylist()))
    ranked = [word for word, _ in frequency.most_common()]
    generator = np.random.default_rng(seed)

    def band(low: float, high: float) -> list[str]:
        return [w for w in ranked if low <= frequency[w] / rows <= high and len(w) > 1]

    bands = {"rare": band(2e-5, 2e-4), "mid": band(2e-3, 1e-2), "common": band(3e-2, 1.0)}
    if len(bands["rare"]) < 20:  # A small vocabulary: its rarest words.
        bands["rare"] = ranked[-200:]

    def draw(pattern: list[str]) -> list[str]:
        picked = []
        for _ in range(20):
            words: list[str] = []
            for name in pattern:
                choice = [w for w in bands[name] if w not in words]
                words.append(str(generator.choice(choice)))
            picked.append(" ".join(words))
        return picked

    chosen = [pairs[i * len(pairs) // 20] for i in range(20)] if len(pairs) >= 20 else pairs
    top = ranked[:100]
    return {
        "phrase of 2": [f'"{pair}"' for pair in chosen],
        "OR of 30 common words": [" ".join(generator.choice(top, 30, replace=False))
                                  for _ in range(20)],
        "rare term": draw(["rare"]),
        "mid term": draw(["mid"]),
        "common term": draw(["common"]),
        "AND of 2": draw(["common", "mid"]),
        "OR of 3": draw(["common", "mid", "mid"]),
        "OR of 10": draw(["common", "common", "mid", "mid", "mid", "mid", "mid", "mid", "rare", "rare"]),
        "nothing found": ["zzzzqqqqx"] * 20,
        "fresh": [q for _ in range(10) for q in draw(["mid", "mid", "rare"])],
    }
