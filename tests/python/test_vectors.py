"""Nearest-neighbour search against brute force: metrics, tiers, layouts, filters, batches."""

import numpy as np
import pyarrow as pa
import pytest

import infino
from helpers import (connection, distances, ids, nearest, vector_rows, vector_schema, vector_table)
from infino import IndexSpec

METRICS = ["cosine", "l2sq", "negdot"]

#: How far a number that is read back may be from what was appended, as a share of the greatest of
#: its vector: half a step.
STEP = {"fp32": 0.0, "fp16": 2.0**-11 * 1.001, "sq8_residual": 0.5 / 32639 * 1.01,
        "sq8": 0.5 / 127 * 1.01}


def gaussian(rows, dimension, seed):
    return np.random.default_rng(seed).normal(size=(rows, dimension)).astype("f4")


def kept(table, dimension):
    """All vectors as the table keeps them, by row number."""
    found = table.token_match("body", "all", projection=["id", "v"])
    matrix = np.empty((found.num_rows, dimension), "f4")
    matrix[found.column("id").to_numpy()] = np.stack(
        found.column("v").combine_chunks().flatten().to_numpy().reshape(-1, dimension))
    return matrix


def tolerance(matrix, query, metric):
    """What rounding in single precision may do to a distance."""
    lengths = np.linalg.norm(matrix.astype("f8"), axis=1)
    length = np.linalg.norm(np.asarray(query, "f8"))
    if metric == "cosine":
        return np.full(len(matrix), 2e-5)
    return 2e-5 * (lengths**2 + length**2 if metric == "l2sq" else lengths * length) + 1e-30


def check_exact(table, matrix, query, k, metric, **options):
    """The rows found are the k nearest of `matrix`, in order, up to what rounding may do."""
    found = table.vector_search("v", query, k, projection=["id", "score"], target_recall=1,
                                **options)
    numbers, scores = ids(found), found.column("score").to_numpy().astype("f8")
    want = distances(matrix, query, metric)
    slack = tolerance(matrix, query, metric)
    assert len(numbers) == len(set(numbers)) == min(k, len(matrix))
    assert (np.diff(scores) >= 0).all()
    assert (np.abs(scores - want[numbers]) <= slack[numbers]).all()
    assert (np.abs(scores - np.sort(want)[:len(scores)]) <= slack.max()).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("tier", list(STEP))
@pytest.mark.parametrize("appends", [1, 7])
def test_every_tier_and_metric_finds_what_brute_force_finds(metric, tier, appends):
    matrix = gaussian(300, 16, 1)
    matrix[::9] *= 30
    table = vector_table(matrix, metric, appends=appends, rerank=tier)
    read = kept(table, 16)
    off = np.abs(read - matrix).max(1)
    assert (off <= STEP[tier] * np.abs(matrix).max(1) + 1e-37).all()
    for query in [*gaussian(5, 16, 2), matrix[17]]:
        for k in (1, 10, 300, 1000):
            check_exact(table, read, query, k, metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("rows, dimension, appends", [
    (1, 16, 1), (2, 64, 2), (33, 384, 7), (500, 17, 3), (1500, 64, 7), (700, 384, 1)])
def test_sizes_and_dimensions(metric, rows, dimension, appends):
    matrix = gaussian(rows, dimension, rows)
    table = vector_table(matrix, metric, appends=appends)
    read = kept(table, dimension)
    for query in gaussian(3, dimension, 5):
        for k in (1, 10, rows):
            check_exact(table, read, query, k, metric)


@pytest.mark.parametrize("metric", METRICS)
def test_five_thousand_rows_in_clusters(metric):
    generator = np.random.default_rng(6)
    centres = generator.normal(size=(40, 64)) * 4
    matrix = (centres[generator.integers(0, 40, 5000)]
              + generator.normal(size=(5000, 64))).astype("f4")
    table = vector_table(matrix, metric, appends=2)
    read = kept(table, 64)
    queries = (centres[generator.integers(0, 40, 20)] + generator.normal(size=(20, 64))).astype("f4")
    found = 0
    for query in queries:
        check_exact(table, read, query, 10, metric)
        want = set(np.argsort(distances(read, query, metric), kind="stable")[:10].tolist())
        found += len(want & set(nearest(table, query, 10)))
    assert found / 200 >= 0.97


@pytest.mark.parametrize("metric", METRICS)
def test_without_vectors_distances_are_good_estimates(metric):
    matrix = gaussian(1000, 128, 7)
    table = vector_table(matrix, metric, rerank="none")
    for query in gaussian(3, 128, 8):
        found = table.vector_search("v", query, 1000, projection=["id", "score"])
        want = distances(matrix, query, metric)[ids(found)]
        assert sorted(ids(found)) == list(range(1000))
        assert np.corrcoef(want, found.column("score").to_numpy())[0, 1] > 0.7
    with pytest.raises(ValueError, match="none"):
        table.vector_search("v", matrix[0], 1, projection=["v"])


def test_vectors_that_are_stored_too_come_back_as_they_came():
    matrix = gaussian(50, 16, 9)
    for tier in ("none", "sq8", "sq8_residual"):
        table = vector_table(matrix, rerank=tier, stored=True)
        assert (kept(table, 16) == matrix).all()
    assert (kept(vector_table(matrix, rerank="fp32"), 16) == matrix).all()


@pytest.mark.parametrize("appends", [1, 4])
def test_a_selective_filter_finds_all_that_match(appends):
    matrix = gaussian(2000, 16, 10)
    rare = set(range(0, 2000, 200))
    table = vector_table(matrix, "cosine", appends=appends,
                         bodies=["rare t" if i in rare else "t" for i in range(2000)])
    for query in gaussian(3, 16, 11):
        for k in (10, 50):
            found = nearest(table, query, k, filter_column="body", filter_query="rare")
            assert set(found) == rare


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("share", [0.001, 0.02, 0.3, 0.9])
def test_filters_are_applied_before_the_nearest_are_taken(metric, share):
    generator = np.random.default_rng(12)
    matrix = gaussian(3000, 32, 13)
    passes = generator.random(3000) < share
    passes[5] = True
    bodies = [("yes" if p else "no") + (" even" if i % 2 == 0 else "") for i, p in enumerate(passes)]
    table = vector_table(matrix, metric, appends=3, bodies=bodies)
    for query in gaussian(3, 32, 14):
        for text, mode, passing in (("yes", None, passes), ("yes even", "and", passes & (
                np.arange(3000) % 2 == 0)), ("yes -even", "or", passes & (np.arange(3000) % 2 == 1))):
            rows = np.flatnonzero(passing)
            want = distances(matrix[rows], query, metric)
            for k in (1, 10, len(rows), len(rows) + 7):
                found = table.vector_search("v", query, k, "body", text, mode, ["id", "score"],
                                            target_recall=1)
                assert found.num_rows == min(k, len(rows))
                assert set(ids(found)) <= set(rows.tolist())
                scores = found.column("score").to_numpy()
                assert np.abs(scores - np.sort(want)[:len(scores)]).max(initial=0) < 1e-2
                assert len(nearest(table, query, k, filter_column="body", filter_query=text,
                                   filter_mode=mode)) == min(k, len(rows))


def test_filters_that_can_not_be_are_errors_and_empty_ones_find_nothing():
    schema = vector_schema(16).append(pa.field("plain", pa.utf8()))
    table = connection().create_table("t", schema, IndexSpec().fts("body").vector("v", 16, "l2sq"))
    table.append(vector_rows(np.eye(16)[:2]).append_column("plain", pa.array(["r", "g"])))
    query = [1.0] * 16
    for column in ("plain", "id", "v", "nope"):
        with pytest.raises(ValueError, match=column):
            table.vector_search("v", query, 2, filter_column=column, filter_query="r")
    for wrong in ({"filter_column": "body"}, {"filter_query": "w0"}, {"filter_mode": "or"},
                  {"filter_column": "body", "filter_query": "w0", "filter_mode": "xor"},
                  {"filter_column": "body", "filter_query": "-w0"}):
        with pytest.raises(ValueError):
            table.vector_search("v", query, 2, **wrong)
    for text in ("", "nowhere", "!!!"):
        found = table.vector_search("v", query, 2, "body", text)
        assert found.num_rows == 0
        assert found.column_names == ["_id", "score"]
    assert nearest(table, query, 2, filter_column="body", filter_query="w1", filter_mode=None) == [1]
    assert nearest(table, query, 2, filter_column="body", filter_query="all w1",
                   filter_mode="AND") == [1]


@pytest.mark.parametrize("appends", [1, 7])
def test_a_batch_is_its_queries_one_after_the_other(appends):
    matrix = gaussian(900, 32, 15)
    table = vector_table(matrix, "cosine", appends=appends)
    queries = gaussian(70, 32, 16)
    for options in ({}, {"filter_column": "body", "filter_query": "w3 w30 w300"}):
        batch = table.vector_search("v", queries, 5, projection=["id", "score"], target_recall=1,
                                    **options)
        assert batch.schema.field(0).equals(pa.field("query", pa.uint32(), nullable=False))
        singles = [table.vector_search("v", query, 5, projection=["id", "score"], target_recall=1,
                                       **options) for query in queries]
        assert batch.column("query").to_pylist() == [
            i for i, single in enumerate(singles) for _ in range(single.num_rows)]
        assert batch.drop_columns(["query"]).to_pylist() == [
            row for single in singles for row in single.to_pylist()]
    assert table.vector_search("v", queries, 2).column_names == ["query", "_id", "score"]
    one = table.vector_search("v", queries[:1], 2)
    assert one.column("query").to_pylist() == [0, 0]
    none = table.vector_search("v", np.empty((0, 32), "f4"), 2)
    assert (none.num_rows, none.column_names) == (0, ["query", "_id", "score"])


def test_ids_are_big_endian_decimals():
    table = vector_table(gaussian(100, 16, 17), "negdot", appends=3)
    query = gaussian(1, 16, 18)[0]
    for k in (0, 1, 7, 1000):
        numbers = table.vector_search_ids("v", query, k)
        assert numbers.shape == (min(k, 100), 16) and numbers.dtype == np.uint8
        assert numbers.flags["C_CONTIGUOUS"] and numbers.flags["WRITEABLE"]
        want = table.vector_search("v", query, k).column("_id").to_pylist()
        assert [int.from_bytes(row.tobytes(), "big") for row in numbers] == [int(x) for x in want]
    with pytest.raises(ValueError, match="one query"):
        table.vector_search_ids("v", [query, query], 3)


def test_any_number_of_rows_may_be_asked_for():
    table = vector_table(gaussian(500, 16, 19), "cosine", appends=2)
    query = [0.5] * 16
    assert table.vector_search("v", query, 0).schema.names == ["_id", "score"]
    for k in (500, 2000, 10**9, 2**62, 2**64 - 1):
        assert len(set(nearest(table, query, k))) == 500
    with pytest.raises(OverflowError):
        table.vector_search("v", query, -1)
    with pytest.raises(TypeError):
        table.vector_search("v", query, 1.5)


def test_more_rows_asked_for_begin_with_at_least_as_good_ones():
    matrix = gaussian(1000, 16, 20)
    table = vector_table(matrix, "cosine")
    far = distances(matrix, matrix[3], "cosine")
    few, many = nearest(table, matrix[3], 10), nearest(table, matrix[3], 200)
    assert far[many[:10]].sum() <= far[few].sum() + 1e-4


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 7, 15, 17])
def test_tables_smaller_than_any_number_of_clusters_find_everything(metric, rows):
    matrix = gaussian(rows, 16, rows)
    table = vector_table(matrix, metric)
    for query in matrix[:3]:
        assert nearest(table, query, 50) == np.argsort(distances(matrix, query, metric)).tolist()


def test_small_tables_have_high_recall_without_being_told():
    matrix = gaussian(1000, 16, 21)
    table = vector_table(matrix)
    found = [len(set(nearest(table, q, 10)) & set(
        np.argsort(distances(matrix, q, "l2sq"))[:10].tolist())) for q in gaussian(30, 16, 22)]
    assert np.mean(found) / 10 >= 0.97


def test_equal_vectors_are_all_found():
    table = vector_table(np.vstack([np.ones((600, 16)), -np.ones((10, 16))]), "cosine")
    assert sorted(nearest(table, -np.ones(16), 10)) == list(range(600, 610))
    assert len(set(nearest(table, np.ones(16), 600))) == 600
    thrice = np.vstack([np.eye(16)[i:i + 1].repeat(200, 0) for i in range(3)])
    for appends in (1, 2):
        table = vector_table(thrice, "l2sq", appends=appends)
        for group in range(3):
            # Ties come in the order of `_id`.
            assert nearest(table, np.eye(16)[group], 200) == list(range(group * 200, group * 200 + 200))


def test_cosine_is_a_distance_and_a_row_finds_itself():
    matrix = gaussian(20, 16, 23)
    found = vector_table(matrix, "cosine").vector_search(
        "v", matrix[4], 20, projection=["id", "score"]).to_pydict()
    assert found["id"][0] == 4
    assert abs(found["score"][0]) < 1e-3
    assert found["score"] == sorted(found["score"])
    assert np.allclose(found["score"], distances(matrix, matrix[4], "cosine")[found["id"]], atol=1e-3)


def test_cosine_does_not_see_lengths():
    matrix = np.array([[1, 0] + [0] * 14, [900, 900] + [0] * 14, [0, 5] + [0] * 14])
    table = vector_table(matrix, "cosine")
    assert nearest(table, [1, 0.1] + [0] * 14, 3) == [0, 1, 2]
    assert nearest(table, [1e-20, 1e-21] + [0] * 14, 3) == [0, 1, 2]


@pytest.mark.parametrize("name", ["dot", "negdot", "DOT"])
def test_a_greater_product_is_nearer(name):
    matrix = np.zeros((3, 16))
    matrix[:, 0] = [1, 5, -2]
    found = vector_table(matrix, name).vector_search("v", [1.0] + [0] * 15, 3,
                                                     projection=["id", "score"]).to_pydict()
    assert found["id"] == [1, 0, 2]
    assert found["score"] == pytest.approx([-5, -1, 2], rel=1e-4)


@pytest.mark.parametrize("name", ["l2", "l2sq", "L2"])
def test_l2_is_the_squared_distance(name):
    matrix = np.array([[0] * 16, [3] + [0] * 15, [0, 4] + [0] * 14])
    found = vector_table(matrix, name).vector_search("v", [0.0] * 16, 3).column("score").to_pylist()
    assert found == pytest.approx([0, 9, 16], rel=1e-3)


def test_distances_stay_in_their_range():
    ends = np.array([[1.0] * 16, [-1.0] * 16])
    for metric, most in (("cosine", 2.0), ("l2sq", 64.0)):
        scores = vector_table(ends, metric).vector_search("v", [1.0] * 16, 2).column("score")
        assert scores.to_pylist() == pytest.approx([0, most], abs=2e-3)
        assert min(scores.to_pylist()) >= -1e-3


def test_zero_vectors_are_at_distance_one_by_cosine():
    matrix = np.eye(16)[:3].copy()
    matrix[1] = 0
    table = vector_table(matrix, "cosine")
    found = table.vector_search("v", np.eye(16)[0], 3, projection=["id", "score"]).to_pydict()
    assert found["id"] == [0, 1, 2]
    assert found["score"] == pytest.approx([0, 1, 1], abs=1e-4)
    assert table.vector_search("v", [0.0] * 16, 3).column("score").to_pylist() == [1.0] * 3


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1.0, 1e12])
def test_the_size_of_numbers_does_not_matter(scale):
    matrix = (gaussian(200, 16, 24) * scale).astype("f4")
    query = gaussian(1, 16, 25)[0].astype("f8") * scale
    for metric in ("cosine", "l2sq") if 1e-15 < scale else ("cosine",):
        want = np.argsort(distances(matrix, query, metric))[:10].tolist()
        found = nearest(vector_table(matrix, metric, rerank="fp32"), query, 10, target_recall=1)
        assert found == want


def test_an_effort_may_be_given():
    table = vector_table(gaussian(300, 16, 26))
    query = [0.1] * 16
    for effort in ({"target_recall": 0.5}, {"target_recall": 1}, {"nprobe": 1}, {"nprobe": 10**6},
                   {"nprobe": None, "rerank_mult": None}, {"rerank_mult": 4}):
        assert len(nearest(table, query, 5, **effort)) == 5
    for wrong in ({"target_recall": 0}, {"target_recall": 1.1}, {"target_recall": float("nan")},
                  {"nprobe": 0}):
        with pytest.raises(ValueError):
            table.vector_search("v", query, 5, **wrong)
    with pytest.raises(OverflowError):
        table.vector_search("v", query, 5, nprobe=-1)


def test_several_vector_columns_have_indexes_of_their_own():
    schema = pa.schema([("id", pa.int64()), ("a", pa.list_(pa.float32(), 16)),
                        ("b", pa.list_(pa.float32(), 32))])
    spec = IndexSpec().vector("a", 16, "l2sq").vector("b", 32, "cosine", rerank="fp16")
    path_connection = connection()
    table = path_connection.create_table("t", schema, spec)
    a, b = gaussian(40, 16, 27), gaussian(40, 32, 28)
    table.append([{"id": i, "a": a[i], "b": b[i].tolist()} for i in range(40)])
    assert ids(table.vector_search("a", a[7], 1, projection=["id"])) == [7]
    assert ids(table.vector_search("b", b[9], 1, projection=["id"])) == [9]
    assert ids(path_connection.open_table("t").vector_search("b", b[9], 1, projection=["id"])) == [9]


def test_new_tables_are_searched_without_rows():
    table = connection().create_table("t", vector_schema(16),
                                      IndexSpec().fts("body").vector("v", 16))
    assert table.vector_search("v", [1.0] * 16, 5).num_rows == 0
    assert table.vector_search_ids("v", [1.0] * 16, 5).shape == (0, 16)
    assert table.vector_search("v", [1.0] * 16, 5, projection=["v", "id"]).schema.names == ["v", "id"]
    with pytest.raises(infino.InvalidInputError, match="dimensions"):
        table.vector_search("v", [1.0] * 15, 5)
