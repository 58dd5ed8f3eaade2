"""Every index option of a text column with every other and every kind of query, against the textbook."""

import itertools
import os
import random

import pyarrow as pa
import pytest

from helpers import connection, ids
from infino import IndexSpec
from textbook import Clause, NeedsPositions, NothingAskedFor, Options, Textbook, typed

SEED = int(os.environ.get("INFINO_TEST_SEED", "20260101"))

MATRIX = [Options(*combination, *parameters) for *combination, parameters in itertools.product(
    (None, "english"), (None, "english"), (True, False), (False, True),
    ((None, None), (0.4, 0.1), (2.5, 1.0)))]

# Words that share stems or beginnings, or nearly; short and long, rare and in most texts.
WORDS = ("run runs running runner runnable fly flies flying flier connect connected connection "
         "connections connector generous generously generic general generally news new happy happily "
         "happiness easily easy dog dog's dogs the of and is it to with not then there can't don't o'neil "
         "ran 42 4 x ab abc abcd skies sky dying die lying tie university universe universal").split()
COMMON = ["the", "of", "connected", "running", "dog", "is", "general"]
ABSENT = ["zebra", "runway", "qq"]


def draw_word(generator):
    word = generator.choice(COMMON if generator.random() < 0.4 else WORDS)
    return generator.choice([word, word, word, word.upper(), word.title()])


def draw_text(generator):
    kind = generator.random()
    if kind < 0.04:
        return None
    if kind < 0.08:
        return generator.choice(["", "   ", "...", "the of and", "- + *"])
    length = generator.choice([1, 2, 3, 6, 12, 40])
    return "".join(draw_word(generator) + generator.choice([" ", " ", " ", ", ", ". ", "\n", " - ", "!"])
                   for _ in range(length))


def draw_clause(generator, texts):
    sign = generator.choice(["", "", "", "+", "-"])
    kind = generator.random()
    word = generator.choice(ABSENT) if generator.random() < 0.1 else draw_word(generator)
    if kind < 0.5:
        return Clause(sign, "", word)
    if kind < 0.75:
        return Clause(sign, "*", word[:generator.randint(1, len(word))].rstrip("'"))
    words = (generator.choice(texts) or "").split()
    length = generator.randint(1, 4)
    if len(words) >= length and generator.random() < 0.8:
        at = generator.randint(0, len(words) - length)
        return Clause(sign, '"', " ".join(words[at:at + length]))
    return Clause(sign, '"', " ".join(draw_word(generator) for _ in range(length)))


def draw_query(generator, texts):
    count = 1 if generator.random() < 0.3 else generator.randint(1, 5)
    return [draw_clause(generator, texts) for _ in range(count)]


class Columns:
    """A table with a column for each of the matrix' options; each has the texts in an order of its own,
    so that an index never answers for another."""

    def __init__(self, seed, rows=150, batches=3):
        generator = random.Random(seed)
        self.texts = [draw_text(generator) for _ in range(rows)]
        spec, fields, arrays = IndexSpec(), [pa.field("id", pa.int64())], [pa.array(range(rows))]
        self.names = [f"c{i}" for i in range(len(MATRIX))]
        self.textbooks = {}
        self.texts_of = {}
        for i, (name, options) in enumerate(zip(self.names, MATRIX, strict=True)):
            here = self.texts[i:] + self.texts[:i]
            given = {key: value for key, value in vars(options).items() if value is not None}
            spec = spec.fts(name, **given)
            kind = pa.utf8() if i % 2 else pa.large_utf8()
            fields.append(pa.field(name, kind))
            arrays.append(pa.array(here, kind))
            self.textbooks[name] = Textbook(here, options)
            self.texts_of[name] = here
        schema = pa.schema(fields)
        self.table = connection().create_table("t", schema, spec)
        data = pa.table(arrays, schema=schema)
        size = -(-rows // batches)
        for first in range(0, rows, size):
            self.table.append(data.slice(first, size))


@pytest.fixture(scope="module")
def columns():
    print(f"INFINO_TEST_SEED={SEED}")
    return Columns(SEED)


def found(table, column, query, k, mode, **parameters):
    result = table.bm25_search(column, query, k, mode, ["id", "score"], **parameters).to_pydict()
    return list(zip(result["id"], result["score"], strict=True))


def check(columns, column, clauses, mode, **parameters):
    """One query of one column through every call that takes it."""
    table, textbook, query = columns.table, columns.textbooks[column], typed(clauses)
    calls = [lambda: found(table, column, query, 9, mode, **parameters),
             lambda: table.token_match(column, query, mode, ["id"]),
             lambda: table.count(column, query, mode)]
    try:
        want = textbook.search(clauses, mode, **parameters)
    except (NeedsPositions, NothingAskedFor) as error:
        word = "position" if isinstance(error, NeedsPositions) else "positive"
        for call in calls:
            with pytest.raises(ValueError, match=word):
                call()
        return
    for k in (1, 7, 1000):
        assert found(table, column, query, k, mode, **parameters) == want[:k]
    rows = sorted(row for row, _ in want)
    assert rows == textbook.match(clauses, mode)
    assert ids(calls[1]()) == rows
    assert calls[2]() == len(rows)


@pytest.mark.parametrize("number", range(len(MATRIX)), ids=[
    "-".join(f"{key}={value}" for key, value in vars(options).items() if value not in (None, False))
    for options in MATRIX])
def test_every_option_with_every_other_answers_as_the_textbook_does(columns, number):
    column = columns.names[number]
    generator = random.Random(SEED + 1000 + number)
    for round_number in range(25):
        clauses = draw_query(generator, columns.texts_of[column])
        mode = generator.choice(["or", "and"])
        parameters = {"k1": 0.9, "b": 0.3} if round_number % 5 == 4 else {}
        try:
            check(columns, column, clauses, mode, **parameters)
        except AssertionError as error:
            raise AssertionError(f"seed {SEED}, {MATRIX[number]}, {mode}: {typed(clauses)!r}") from error


def test_every_word_of_every_column_is_found_alone_and_as_a_beginning(columns):
    for column in columns.names[::5]:
        for word in (*WORDS, *ABSENT):
            check(columns, column, [Clause("", "", word)], "or")
            check(columns, column, [Clause("", "*", word)], "or")


def test_the_prefix_call_is_the_prefix_query_in_every_column(columns):
    for column, options in zip(columns.names, MATRIX, strict=True):
        for beginning in ("ru", "Connection", "the", "x", "zebra", "happily"):
            want = columns.textbooks[column].search([Clause("", "*", beginning)])
            result = columns.table.bm25_search_prefix(column, beginning, 20, ["id", "score"])
            assert [tuple(row.values()) for row in result.to_pylist()] == want[:20], (options, beginning)


def test_exact_matches_compare_the_text_whatever_the_options(columns):
    for column, options in zip(columns.names, MATRIX, strict=True):
        texts = columns.texts_of[column]
        for value in {*texts[:12], "", "the of and", "dog", "absent"} - {None}:
            if not options.stored:
                with pytest.raises(ValueError, match="not stored"):
                    columns.table.exact_match(column, value)
                continue
            want = [row for row, text in enumerate(texts) if text == value]
            assert ids(columns.table.exact_match(column, value, ["id"])) == want, (options, value)


def test_stored_columns_come_back_and_others_say_so(columns):
    for column, options in zip(columns.names, MATRIX, strict=True):
        if options.stored:
            rows = columns.table.bm25_search(column, "dog", 50, projection=["id", column]).to_pylist()
            assert rows and all(row[column] == columns.texts_of[column][row["id"]] for row in rows)
        else:
            with pytest.raises(ValueError, match=column):
                columns.table.bm25_search(column, "dog", 5, projection=["id", column])


def test_words_of_any_shape_have_the_stems_of_snowball():
    """Each word is its own row; it finds exactly the rows of its stem."""
    generator = random.Random(SEED + 1)
    endings = ["", "s", "es", "ed", "ing", "ly", "ness", "ful", "ization", "ational", "ies", "ied", "y",
               "eed", "edly", "ement", "iveness", "'s", "logy", "al", "ive", "bli", "ogist", "e", "tt"]
    starts = ["hop", "hopp", "rat", "cri", "cr", "general", "commun", "arsen", "arsenal", "inn", "herr",
              "sk", "beaut", "relat", "condit", "vallen", "pre", "y", "say", "be", "fe", "succ", "skies"]
    words = sorted({"".join((generator.choice(starts), generator.choice(endings),
                             generator.choice(["", "", *endings]))) for _ in range(1500)})
    schema = pa.schema([("id", pa.int64()), ("body", pa.large_utf8())])
    table = connection().create_table("t", schema, IndexSpec().fts("body", stemmer="english"))
    table.append(pa.table([pa.array(range(len(words))), pa.array(words, pa.large_utf8())],
                          schema=schema))
    textbook = Textbook(words, Options(stemmer="english"))
    for word in generator.sample(words, 300):
        want = textbook.match([Clause("", "", word)])
        assert ids(table.token_match("body", word, projection=["id"])) == want, (SEED, word)
