"""Phrases, prefixes, exact matches and options through the Python API, against brute force."""

import random

import numpy as np
import pyarrow as pa
import pytest

import infino
from helpers import BODY, connection, hits, ids, rows, scores, text_table
from infino import IndexSpec

WORDS = ["red", "fox", "fog", "food", "ant", "the", "lazy", "dog", "dot", "of"]


def texts_of(count, seed):
    generator = random.Random(seed)
    return [" ".join(generator.choices(WORDS, k=generator.randint(0, 14))) for _ in range(count)]


def occurrences(text, phrase):
    words, wanted = text.split(), phrase.split()
    return sum(words[i:i + len(wanted)] == wanted for i in range(len(words)))


def spread(texts, batches, **options):
    _, table = text_table([], **options)
    size = -(-len(texts) // batches)
    for first in range(0, len(texts), size):
        table.append(rows(texts[first:first + size], first))
    return table


@pytest.mark.parametrize("batches", [1, 7, 60])
def test_phrases_match_as_brute_force_does(batches):
    texts = texts_of(600, 3)
    table = spread(texts, batches, positions=True)
    generator = random.Random(4)
    for _ in range(40):
        phrase = " ".join(generator.choices(WORDS, k=generator.randint(2, 4)))
        want = [i for i, text in enumerate(texts) if occurrences(text, phrase)]
        assert ids(table.token_match("body", f'"{phrase}"', projection=["id"])) == want
        assert table.count("body", f'"{phrase}"') == len(want)
        assert sorted(hits(table, f'"{phrase}"', 1000)) == want
        other = generator.choice(WORDS)
        both = [i for i in want if other in texts[i].split()]
        without = [i for i in want if other not in texts[i].split()]
        assert sorted(hits(table, f'{other} "{phrase}"', 1000, "and")) == both
        assert sorted(hits(table, f'"{phrase}" -{other}', 1000)) == without
        unwanted = [i for i, t in enumerate(texts) if other in t.split() and i not in set(want)]
        assert sorted(hits(table, f'{other} -"{phrase}"', 1000)) == unwanted


def test_a_phrase_scores_with_the_weights_of_its_words_and_its_own_frequency():
    texts = ["red fox red fox", "red fox", "fox red", "red", "fox"] + ["dog"] * 20
    _, table = text_table(texts, positions=True)
    found = scores(table, '"red fox"', k1=1.2, b=0.0)
    idf = 2 * np.log(1 + (25 - 4 + 0.5) / (4 + 0.5))
    assert found == pytest.approx({0: idf * 2 / 3.2, 1: idf * 1 / 2.2}, rel=1e-6)


def test_phrases_cross_no_block_of_postings():
    texts = ["a c b" if i % 5 == 0 else "a b c" for i in range(400)]
    _, table = text_table(texts, positions=True)
    queries = ['"a b"', '"b a"', '"c c"', '"a c b"']
    assert [table.count("body", q) for q in queries] == [320, 0, 0, 80]


def test_stop_words_leave_their_places_in_phrases():
    texts = ["love the format", "love format", "love a format", "the love format"]
    _, table = text_table(texts, stopwords="english", positions=True)
    assert sorted(hits(table, '"love the format"')) == [0, 2]
    assert sorted(hits(table, '"love format"')) == [1, 3]
    assert hits(table, "is the love", mode="and") and not hits(table, "the of and")


@pytest.mark.parametrize("batches", [1, 7, 60])
def test_prefixes_match_as_brute_force_does(batches):
    texts = texts_of(500, 5)
    table = spread(texts, batches)
    for stem in ["f", "fo", "foo", "d", "re", "zebra", "l"]:
        want = [i for i, t in enumerate(texts) if any(w.startswith(stem) for w in t.split())]
        assert ids(table.token_match("body", stem + "*", projection=["id"])) == want
        assert sorted(ids(table.bm25_search_prefix("body", stem.upper(), 1000, ["id"]))) == want
        assert table.bm25_search_prefix("body", stem, 7).equals(
            table.bm25_search("body", stem + "*", 7))
        required = [i for i in want if "ant" in texts[i].split()]
        assert sorted(hits(table, f"+ant +{stem}*", 1000)) == required
        without = [i for i, t in enumerate(texts) if "ant" in t.split() and i not in set(want)]
        assert sorted(hits(table, f"ant -{stem}*", 1000)) == without


def test_a_prefix_scores_each_of_its_words_by_its_own_frequency():
    texts = texts_of(300, 6)
    _, table = text_table(texts)
    parts = [scores(table, word, 1000) for word in ("fog", "food", "fox")]
    whole = scores(table, "fo*", 1000)
    for i, score in whole.items():
        assert score == pytest.approx(sum(part.get(i, 0.0) for part in parts), rel=1e-6)


def test_a_prefix_of_anything_but_one_word_finds_nothing():
    _, table = text_table(["red fox", "fox"])
    for text in ["", "  ", "red fo", "!"]:
        assert table.bm25_search_prefix("body", text, 5).num_rows == 0
    # As text, a lone or inner star is no sign.
    assert hits(table, "*") == [] and hits(table, "f*x") == []


def test_a_prefix_expands_to_every_word_it_has():
    _, table = text_table([f"pre{i:05d}" for i in range(6000)])
    assert table.count("body", "pre*") == 6000
    assert table.count("body", "pre06*") == 0
    assert table.count("body", "pre005*") == 100
    found = table.bm25_search("body", "pre*", 6000, projection=["score"]).column(0).to_pylist()
    assert len(found) == 6000 and len(set(found)) == 1 and found[0] > 0


@pytest.mark.parametrize("batches", [1, 7])
def test_exact_match_compares_bytes(batches):
    texts = ["Red fox", "red fox", "red  fox", "fox red", "red fox red", "", " ", "...", "Ünï", None,
             "red fox", "'red' fox", "x" * 5000] + ["filler text"] * 40
    table = spread(texts, batches)
    for value in [*{t for t in texts if t is not None}, "fox", "absent", "red fox ", "\0"]:
        want = [i for i, text in enumerate(texts) if text == value]
        assert ids(table.exact_match("body", value, ["id"])) == want, repr(value)
    found = table.exact_match("body", "red fox")
    assert found.column_names == ["_id", "score"] and set(found.column("score").to_pylist()) == {0.0}
    assert table.exact_match("body", "Ünï", ["body", "id"]).to_pylist() == [{"body": "Ünï", "id": 8}]


def test_exact_match_needs_a_stored_indexed_column():
    c = connection()
    table = c.create_table("t", BODY, IndexSpec().fts("body", stored=False))
    table.append(rows(["a"]))
    with pytest.raises(ValueError, match="not stored"):
        table.exact_match("body", "a")
    with pytest.raises(ValueError, match="no full-text index"):
        table.exact_match("id", "a")
    with pytest.raises(TypeError):
        table.exact_match("body", 1)


@pytest.mark.parametrize("kind", [pa.utf8(), pa.large_utf8(), pa.string_view()])
def test_every_text_type_can_be_matched_exactly(kind):
    schema = pa.schema([("id", pa.int64()), ("body", kind)])
    table = connection().create_table("t", schema, IndexSpec().fts("body"))
    table.append(pa.table([pa.array([0, 1, 2]), pa.array(["a b", "b a", None], kind)], schema=schema))
    assert ids(table.exact_match("body", "b a", ["id"])) == [1]


def test_stems_and_stop_words_apply_to_documents_and_queries_alike():
    texts = ["I was RUNNING home", "the flies", "connections", "news"]
    _, table = text_table(texts, stemmer="english", stopwords="english", positions=True)
    assert hits(table, "run") == [0] and hits(table, "RUN the", mode="and") == [0]
    assert hits(table, "FLY") == [1] and hits(table, "connected") == [2] and hits(table, "new") == []
    assert hits(table, '"was running"') == [0] and hits(table, "running*") == [0]


def test_columns_have_parameters_of_their_own():
    texts = texts_of(200, 9)
    schema = pa.schema([("id", pa.int64()), ("a", pa.utf8()), ("b", pa.utf8())])
    spec = IndexSpec().fts("a", k1=0.4, b=0.1).fts("b")
    table = connection().create_table("t", schema, spec)
    table.append(pa.table([list(range(200)), texts, texts], schema=schema))

    def found(column, **options):
        return table.bm25_search(column, "fox dog", 50, projection=["id", "score"], **options)

    assert found("a").equals(found("b", k1=0.4, b=0.1))
    assert found("a", k1=1.2, b=0.75).equals(found("b"))
    assert not found("a").equals(found("b"))


def test_a_million_equal_rows_come_in_their_order():
    table = connection().create_table("t", BODY, IndexSpec().fts("body", positions=True))
    count = 1_000_000
    table.append(pa.table([pa.array(range(count)), pa.array(["same old text"] * count, pa.large_utf8())],
                          schema=BODY))
    for query in ["same", "text same", '"old text"', "ol*", "+same text -absent"]:
        assert hits(table, query, 30) == list(range(30)), query
        assert table.count("body", query) == count
    assert hits(table, "same", 30, "and") == list(range(30))


def test_many_words_are_answered_in_time():
    texts = [f"w{i} w{i + 1} common" for i in range(20_000)]
    _, table = text_table(texts)
    query = " ".join(f"w{i % 70_000}" for i in range(65_000))
    assert len(hits(table, query, 10)) == 10
    with pytest.raises(infino.InvalidInputError, match="65536"):
        table.count("body", " ".join(f"w{i}" for i in range(70_000)))
