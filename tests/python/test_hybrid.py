"""Keyword and vector search in one, against reciprocal rank fusion in Python."""

import numpy as np
import pyarrow as pa
import pytest

from helpers import ids, vector_table

EYE = np.eye(16)


def hybrid(table, text, vector, k, **options):
    found = table.hybrid_search("body", text, "v", vector, k, projection=["id", "score"], **options)
    return list(zip(ids(found), found.column("score").to_pylist(), strict=True))


def fused(text_ids, vector_ids, k, weights=(1.0, 1.0)):
    """Cormack, Clarke and Buettcher's formula; ties by `_id`, which is the order of `id` here."""
    total = {}
    for weight, ranked in zip(weights, (text_ids, vector_ids), strict=True):
        for rank, row in enumerate(ranked if weight else [], 1):
            total[row] = total.get(row, 0.0) + weight / (60 + rank)
    best = sorted(total.items(), key=lambda item: (-np.float32(item[1]), item[0]))[:k]
    return [(row, float(np.float32(score))) for row, score in best]


def words_and_vectors(rows, seed):
    generator = np.random.default_rng(seed)
    bodies = [" ".join(f"v{j}" for j in generator.integers(0, 30, 6)) for _ in range(rows)]
    return generator.normal(size=(rows, 16)).astype("f4"), bodies


@pytest.mark.parametrize("metric", ["cosine", "l2sq", "negdot"])
@pytest.mark.parametrize("appends", [1, 5])
@pytest.mark.parametrize("options", [
    {}, {"depth": 3}, {"depth": 100}, {"depth": 10_000}, {"weights": (2, 0.5)},
    {"weights": (0, 1)}, {"weights": [1, 0]}, {"weights": (1e-3, 5), "depth": 20},
    {"mode": "and"}, {"filter_column": "body", "filter_query": "v3 v4"},
    {"filter_column": "body", "filter_query": "v3 v4", "filter_mode": "and", "depth": 50}], ids=str)
def test_ranks_are_fused_as_the_formula_says(metric, appends, options):
    matrix, bodies = words_and_vectors(400, 1)
    table = vector_table(matrix, metric, bodies=bodies, appends=appends)
    filtered = {name: options[name] for name in options if name.startswith("filter")}
    passing = set(range(400))
    if filtered:
        passing = set(ids(table.token_match("body", filtered["filter_query"],
                                            filtered.get("filter_mode"), ["id"])))
    generator = np.random.default_rng(2)
    for text in ("v1", "v1 v2 -v7", "v5 v6", "nowhere"):
        vector = generator.normal(size=16)
        for k in (1, 10, 1000):
            depth = options.get("depth", k)
            ranked = ids(table.bm25_search("body", text, 400, options.get("mode"), ["id"]))
            ranked = [row for row in ranked if row in passing][:depth]
            near = ids(table.vector_search("v", vector, depth, projection=["id"], target_recall=1,
                                           **filtered))
            want = fused(ranked, near, k, options.get("weights", (1, 1)))
            found = hybrid(table, text, vector, k, target_recall=1, **options)
            assert [row for row, _ in found] == [row for row, _ in want]
            assert [score for _, score in found] == pytest.approx([s for _, s in want], rel=1e-6)


def test_a_text_that_matches_nothing_leaves_the_order_of_the_vectors():
    generator = np.random.default_rng(0)
    matrix = generator.normal(size=(60, 16))
    table = vector_table(matrix, "cosine")
    want = ids(table.vector_search("v", matrix[7], 4, projection=["id"]))
    assert want[0] == 7
    for text in ("nosuchword", "", "  ", "!?"):
        assert [row for row, _ in hybrid(table, text, matrix[7], 4)] == want


def test_a_row_that_both_find_comes_first_and_once():
    table = vector_table(EYE, "cosine")
    found = [row for row, _ in hybrid(table, "w5", EYE[5], 6)]
    assert found[0] == 5
    assert len(found) == len(set(found)) == 6


def test_ties_come_in_id_order_each_time():
    table = vector_table(EYE, "cosine", bodies=["a"] * 16)
    found = [hybrid(table, "a", EYE[1], 8) for _ in range(5)]
    assert all(each == found[0] for each in found)
    halves = vector_table(np.vstack([EYE[:2]]), "cosine", bodies=["a", "b"])
    assert [row for row, _ in hybrid(halves, "b", EYE[0], 1, depth=1)] == [0]
    assert [row for row, _ in hybrid(halves, "a", EYE[1], 2, depth=1)] == [0, 1]


def test_scores_descend_and_are_sums_of_reciprocal_ranks():
    table = vector_table(EYE, "cosine")
    scores = [score for _, score in hybrid(table, "w2", EYE[2], 6)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(2 / 61)
    assert scores[1] == pytest.approx(1 / 62)


def test_results_have_the_columns_asked_for():
    table = vector_table(EYE, "l2sq", rerank="fp32")
    default = table.hybrid_search("body", "w2", "v", EYE[2], 3)
    assert default.schema.equals(pa.schema([
        pa.field("_id", pa.decimal128(38, 0), nullable=False),
        pa.field("score", pa.float32(), nullable=False)]))
    chosen = table.hybrid_search("body", "w2", "v", EYE[2], 1, None, ["v", "score", "body"])
    assert chosen.column_names == ["v", "score", "body"]
    assert chosen.column("v").to_pylist() == [EYE[2].tolist()]
    assert table.hybrid_search("body", "w2", "v", EYE[2], 0).schema.equals(default.schema)
    assert table.hybrid_search("body", "w2", "v", EYE[2], 2**64 - 1).num_rows == 16
    older = table.hybrid_search("body", "w2", "v", [float(x) for x in EYE[2]], 3, nprobe=None,
                                rerank_mult=None)
    assert older.equals(default)


def test_wrong_requests_are_errors():
    table = vector_table(EYE, "cosine")

    def search(text="w1", vector=EYE[1], k=3, mode=None, projection=None, columns=("body", "v"),
               **options):
        return table.hybrid_search(columns[0], text, columns[1], vector, k, mode, projection,
                                   **options)

    for wrong in ({"text": "-w1"}, {"vector": [EYE[1], EYE[2]]}, {"vector": EYE[:0]},
                  {"vector": [1.0] * 15}, {"vector": [float("nan")] * 16}, {"mode": "xor"},
                  {"projection": ["nope"]}, {"columns": ("id", "v")}, {"columns": ("body", "body")},
                  {"depth": 0}, {"weights": (0, 0)}, {"weights": (-1, 1)}, {"weights": (1,)},
                  {"weights": (float("nan"), 1)}, {"weights": (float("inf"), 1)},
                  {"filter_mode": "or"}, {"filter_column": "body"},
                  {"filter_column": "id", "filter_query": "1"}, {"target_recall": 0}):
        with pytest.raises(ValueError):
            search(**wrong)
    for wrong in ({"text": None}, {"k": 1.5}, {"depth": 2.5}, {"weights": ("a", 1)},
                  {"projection": "id"}, {"vector": None}, {"columns": ("body", None)}):
        with pytest.raises(TypeError):
            search(**wrong)
    for wrong in ({"k": -1}, {"depth": -1}, {"nprobe": -1}):
        with pytest.raises(OverflowError):
            search(**wrong)
    assert search().num_rows == 3
