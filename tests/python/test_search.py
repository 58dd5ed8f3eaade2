"""Ranked search, matching and counting through the Python API."""

import collections
import math
import random
import time

import numpy as np
import pyarrow as pa
import pytest

import infino
from helpers import BODY, connection, hits, ids, rows, run, scores, text_table
from infino import IndexSpec


def corpus(count, seed, vocabulary=40, longest=80):
    generator = np.random.default_rng(seed)
    weights = 1 / np.arange(1, vocabulary + 1)
    weights /= weights.sum()
    return [" ".join(f"v{j}" for j in generator.choice(
        vocabulary, size=int(generator.integers(1, longest)), p=weights)) for _ in range(count)]


def bm25(texts, query, k1=1.2, b=0.75):
    """Textbook BM25 without the k1 + 1 factor, over white-space words."""
    words = [text.split() for text in texts]
    counts = [collections.Counter(w) for w in words]
    filled = [len(w) for w in words if w]
    average = sum(filled) / len(filled)
    total = {}
    for term in query.split():
        frequency = sum(term in c for c in counts)
        idf = math.log(1 + (len(filled) - frequency + 0.5) / (frequency + 0.5))
        for i, c in enumerate(counts):
            if c[term]:
                norm = k1 * (1 - b + b * len(words[i]) / average)
                total[i] = total.get(i, 0.0) + idf * c[term] / (c[term] + norm)
    return {i: float(np.float32(s)) for i, s in total.items()}


@pytest.mark.parametrize("query", ["v3", "v10 v25", "v1 v2 v7 v39", "v5 v5"])
@pytest.mark.parametrize("options", [{}, {"k1": 0.9, "b": 0.0}, {"k1": 2.0, "b": 1.0}])
def test_scores_are_the_textbook_s(query, options):
    texts = corpus(300, 5)
    _, t = text_table(texts)
    want = bm25(texts, query, **options)
    found = t.bm25_search("body", query, 1000, None, ["id", "score"], **options).to_pydict()
    assert dict(zip(found["id"], found["score"], strict=True)) == pytest.approx(want, rel=1e-6)
    assert found["score"] == sorted(found["score"], reverse=True)


@pytest.mark.parametrize("batches", [1, 7, 60])
def test_layout_never_shows(batches):
    texts = corpus(600, 11) + ["same words again"] * 60
    _, one = text_table(texts)
    _, many = text_table([])
    size = math.ceil(len(texts) / batches)
    for first in range(0, len(texts), size):
        many.append(rows(texts[first:first + size], first))
    for query in ("v1", "v3 v17", "v39 v2 v8", "same again", "+v1 -v2"):
        for k in (1, 10, 100, 1000):
            a = one.bm25_search("body", query, k, None, ["id", "score"]).to_pydict()
            b = many.bm25_search("body", query, k, None, ["id", "score"]).to_pydict()
            assert a == b, (query, k)


def test_smaller_k_gives_a_prefix():
    _, t = text_table(["say ann", "say ann ann", "say ann ann ann ann"])
    assert hits(t, "ann", 1) == hits(t, "ann", 3)[:1]
    assert hits(t, "ann", 2) == hits(t, "ann", 3)[:2]


def test_short_strong_documents_are_not_skipped():
    generator = np.random.default_rng(1)
    _, t = text_table([" ".join(f"w{int(x)}" for x in generator.geometric(
        0.15, int(generator.choice([1, 2, 5, 60, 300])))) for _ in range(2000)])

    def best(k):
        return t.bm25_search("body", "w1 w7 w15", k, projection=["score"]).column(0).to_pylist()

    assert best(10) == sorted(best(2000), reverse=True)[:10]


def test_a_common_word_scores_above_zero():
    _, t = text_table(["the x"] * 9 + ["y"])
    assert min(scores(t, "the").values()) > 0


def test_another_indexed_column_changes_no_score():
    schema = pa.schema([("id", pa.int64()), ("a", pa.large_utf8()), ("b", pa.large_utf8())])
    data = [{"id": i, "a": "hot " * (i + 1), "b": "hot cold"} for i in range(4)]
    c = connection()
    x = c.create_table("x", schema, IndexSpec().fts("a"))
    y = c.create_table("y", schema, IndexSpec().fts("a").fts("b"))
    for table in (x, y):
        table.append(data)
    found = [t.bm25_search("a", "hot", 9, projection=["id", "score"]).to_pydict() for t in (x, y)]
    assert found[0] == found[1]
    assert ids(y.bm25_search("b", "cold", 9, projection=["id"])) == [0, 1, 2, 3]


def test_a_huge_k_costs_nothing():
    out = run("""
        from helpers import *
        _, t = text_table(["a b"] * 3)
        print([t.bm25_search("body", "a b", k).num_rows for k in (10**9, 2**40, 2**64 - 1)])""")
    assert out.strip() == "[3, 3, 3]"


def test_ties_come_in_id_order_at_every_k():
    _, t = text_table([])
    for first in (0, 50, 100):
        t.append(rows(["same words again"] * 50, first))
    everything = hits(t, "same again", 150)
    assert everything == list(range(150))
    for k in (1, 3, 60, 149):
        assert hits(t, "same again", k) == everything[:k]


def test_what_people_type_is_never_an_error():
    _, t = text_table(["R&D draft", "TCP/IP stack"])
    for query in ("R&D - (draft", "TCP/IP", "a:b", "x^2", '"open', "*", "\\", "~", "- x", "+", "-",
                  "a*b", "C++", "'", '"', '""', "AND OR NOT", "{}[]()", "%", "\0", "x" * 10_000):
        t.bm25_search("body", query, 5)
        t.token_match("body", query)
        t.count("body", query)
    assert hits(t, "(draft") == [0]
    assert hits(t, "TCP/IP") == [1]


def test_signs_work_alike_in_every_call():
    _, t = text_table(["red apple", "red", "apple"])
    assert hits(t, "+red -apple") == [1]
    assert ids(t.token_match("body", "+red -apple", projection=["id"])) == [1]
    assert t.count("body", "+red -apple") == 1
    assert sorted(hits(t, "red apple")) == [0, 1, 2]
    assert hits(t, "red apple", mode="and") == [0]
    assert hits(t, "+red apple")[0] == 0
    assert sorted(hits(t, "+red apple")) == [0, 1]


def test_a_query_of_negations_only_says_what_is_missing():
    _, t = text_table(["apple", "pear"])
    for call in (lambda: hits(t, "-apple"), lambda: t.count("body", "-apple")):
        with pytest.raises(ValueError, match="positive"):
            call()


def test_repeated_words_match_like_one():
    _, t = text_table(["to be or not to be", "to be"])
    assert hits(t, "to be or not to be", mode="and") == [0]
    assert sorted(hits(t, "be be", mode="and")) == [0, 1]


@pytest.mark.parametrize("query", ["", "   ", "!!!", "\n\t", "-", "…"])
def test_a_query_without_words_finds_nothing(query):
    _, t = text_table(["a", "!!!"])
    assert hits(t, query) == []
    assert t.count("body", query) == 0
    assert t.token_match("body", query).num_rows == 0


def test_a_phrase_needs_positions_and_says_so():
    _, t = text_table(["a b"])
    assert hits(t, '"a"') == [0]
    with pytest.raises(ValueError, match="position"):
        hits(t, '"a b"')


def test_counts_and_matches_agree_with_sets():
    generator = random.Random(3)
    texts = corpus(400, 8)
    _, t = text_table(texts)
    words = [set(text.split()) for text in texts]
    for _ in range(30):
        terms = generator.sample([f"v{i}" for i in range(42)], 3)
        for mode, test in (("or", any), ("and", all)):
            want = [i for i, w in enumerate(words) if test(term in w for term in terms)]
            assert ids(t.token_match("body", " ".join(terms), mode, ["id"])) == want
            assert t.count("body", " ".join(terms), mode) == len(want)


def test_a_million_words_are_refused_at_once():
    _, t = text_table(["a b c"])
    query = " ".join(f"w{i}" for i in range(1_000_000))
    started = time.monotonic()
    with pytest.raises(ValueError, match="65536|65,536"):
        hits(t, query)
    assert time.monotonic() - started < 20
    assert hits(t, " ".join(f"w{i}" for i in range(30_000)) + " b") == [0]


def test_results_have_the_types_and_columns_asked_for():
    _, t = text_table(["a b", "a"])
    default = t.bm25_search("body", "a", 5)
    assert default.schema.equals(pa.schema([
        pa.field("_id", pa.decimal128(38, 0), nullable=False),
        pa.field("score", pa.float32(), nullable=False)]))
    assert t.bm25_search("body", "zzz", 5).schema.equals(default.schema)
    assert t.bm25_search("body", "a", 0).schema.equals(default.schema)
    chosen = t.bm25_search("body", "a", 5, projection=["score", "body", "id", "body"])
    assert chosen.column_names == ["score", "body", "id", "body"]
    assert chosen.schema.field(1).type == pa.large_utf8()
    assert sorted(chosen.column(1).to_pylist()) == ["a", "a b"]
    assert t.bm25_search("body", "a", 5, projection=[]).num_columns == 0
    matched = t.token_match("body", "a", projection=["score", "id"])
    assert matched.to_pydict() == {"score": [0.0, 0.0], "id": [0, 1]}


def test_ids_ascend_in_input_order():
    _, t = text_table(["x"] * 100)
    numbers = t.token_match("body", "x", projection=["_id"]).column(0).to_pylist()
    assert all(b - a == 1 for a, b in zip(numbers, numbers[1:], strict=False))
    assert numbers[0] > 2**64


@pytest.mark.parametrize("columns", [["nope"], ["id", "Body"], ["_score"]])
def test_an_unknown_projection_names_the_columns_there_are(columns):
    _, t = text_table(["a"])
    with pytest.raises(ValueError, match="body"):
        t.bm25_search("body", "a", 5, projection=columns)


def test_wrong_arguments_have_the_expected_classes():
    _, t = text_table(["a"])
    with pytest.raises(ValueError, match="full-text"):
        t.bm25_search("id", "a", 5)
    with pytest.raises(ValueError, match="nope"):
        t.count("nope", "a")
    with pytest.raises(ValueError, match="mode"):
        t.bm25_search("body", "a", 5, "xor")
    with pytest.raises(OverflowError):
        t.bm25_search("body", "a", -1)
    with pytest.raises(TypeError):
        t.bm25_search("body", "a", 1.5)
    with pytest.raises(TypeError):
        t.bm25_search("body", "a", 5, projection="id")
    with pytest.raises(ValueError):
        t.bm25_search("body", "a", 5, k1=1.0)
    for bad in ({"k1": -1.0, "b": 0.5}, {"k1": 1.0, "b": 1.5}, {"k1": float("nan"), "b": 0.5}):
        with pytest.raises(ValueError):
            t.bm25_search("body", "a", 5, **bad)
    assert t.bm25_search("body", "a", 5, "AND", stats="global").num_rows == 1


def test_nulls_and_empty_texts_match_nothing_and_count_nowhere():
    _, t = text_table(["a b c", None, "", "!!!", "a"])
    assert sorted(hits(t, "a")) == [0, 4]
    texts = ["a b c", "a"]
    assert list(scores(t, "a").values()) == pytest.approx(
        sorted(bm25(texts, "a").values(), reverse=True), rel=1e-6)


def test_an_unstored_column_can_be_searched_and_not_read():
    c = connection()
    t = c.create_table("t", BODY, IndexSpec().fts("body", stored=False))
    t.append(rows(["a b", "b"]))
    assert hits(t, "a") == [0]
    assert t.schema().names == ["id", "body"]
    with pytest.raises(ValueError, match="id"):
        t.bm25_search("body", "a", 5, projection=["body"])


def test_many_small_appends_stay_fast():
    _, t = text_table([])
    for i in range(40):
        t.append([{"id": i, "body": f"x w{i}"}])
    hits(t, "x")
    started = time.monotonic()
    for _ in range(10):
        hits(t, "x w3")
    assert (time.monotonic() - started) / 10 < 0.5


def test_memory_connections_start_empty_and_are_apart():
    a, b = infino.connect("memory://"), infino.connect("memory://")
    a.create_table("t", BODY, IndexSpec().fts("body")).append(rows(["x"]))
    assert a.list_tables() == ["t"]
    assert b.list_tables() == []
    assert hits(a.open_table("t"), "x") == [0]
