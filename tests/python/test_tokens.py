"""Words of many scripts and shapes are found by themselves."""

import collections
import pathlib
import unicodedata

import pyarrow.parquet as pq
import pytest

from helpers import hits, ids, text_table


def test_case_folds_in_every_script():
    _, t = text_table(["Русский ТЕКСТ", "ÉCOLE fermée"])
    assert hits(t, "текст") == hits(t, "РУССКИЙ") == [0]
    assert hits(t, "école") == hits(t, "FERMÉE") == [1]


def test_composed_and_decomposed_spellings_meet():
    composed, decomposed = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))
    _, t = text_table([composed + " one", decomposed + " two"])
    assert sorted(hits(t, composed)) == sorted(hits(t, decomposed)) == [0, 1]


def test_every_ideograph_is_a_word():
    _, t = text_table(["東京都に住む", "大阪"])
    assert hits(t, "京") == hits(t, "東京") == hits(t, "住") == [0]


@pytest.mark.parametrize("length", [256, 300, 700, 40_000])
def test_long_words_are_kept(length):
    _, t = text_table(["q" * length + " tail", "other tail"])
    assert hits(t, "q" * length)[0] == 0
    assert sorted(hits(t, "tail")) == [0, 1]


def test_short_words_are_kept():
    _, t = text_table(["vitamin C", "C# and R", "type 5"])
    assert sorted(hits(t, "c")) == [0, 1]
    assert hits(t, "r") == [1]
    assert hits(t, "5") == [2]


@pytest.mark.parametrize(
    "word",
    ["v1.2.3", "user@example.com", "foo_bar", "o'neill's", "1,000", "e-mail", "C++", "don’t", "a:b",
     "x²", "İstanbul", "ΟΔΟΣ", "straße", "ﬁne", "3.14", "192.168.0.1", "U.S.A.", "日本語", "한국어",
     "สวัสดี", "🙂", "👩‍👩‍👧", "🇩🇪"])
def test_a_text_is_found_by_its_own_words(word):
    _, t = text_table(["something else", word + " here", "here too"])
    assert 1 in hits(t, word)
    assert 0 not in hits(t, word)


def test_all_kinds_of_space_separate_words():
    _, t = text_table(["tab\tsep\nnew\u00a0nbsp\u3000ideo\u2003em"])
    for word in ("tab", "sep", "new", "nbsp", "ideo", "em"):
        assert hits(t, word) == [0]


def test_stop_words_and_stems_on_both_sides():
    _, t = text_table(["The Runners were running", "a fly flies", "nothing here"],
                      stemmer="english", stopwords="english")
    for query in ("RUN", "runs", "Running"):
        assert hits(t, query) == [0]
    assert hits(t, "FLY", mode="and") == [1]
    assert hits(t, "were the running", mode="and") == [0]


def test_stop_words_do_not_count_in_an_and_query():
    _, t = text_table(["a whale is where it is", "nothing"], stopwords="english")
    assert hits(t, "is the whale", mode="and") == [0]
    assert hits(t, "is the", mode="and") == []


def test_a_real_text_is_found_by_each_of_its_words():
    sample = pathlib.Path(__file__).parents[2] / "sample" / "packages.parquet"
    texts = pq.read_table(sample, columns=["text"]).column(0).to_pylist()
    _, t = text_table(texts)
    rows_with = collections.defaultdict(list)
    for row, text in enumerate(texts):
        for run in set(text.split()):
            rows_with[run.replace('"', " ").strip(" +-*")].append(row)
    for run, rows in rows_with.items():
        if any(character.isalnum() for character in run):
            found = set(ids(t.token_match("body", run, "and", ["id"])))
            assert found.issuperset(rows), run
