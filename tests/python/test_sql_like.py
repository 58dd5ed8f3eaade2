"""LIKE, ILIKE and their kin over columns with a keyword index, which finds rows by parts of words:
the rows are those that DuckDB finds, and those that a scan finds."""

import os
import random

import duckdb
import pyarrow as pa
import pytest

from helpers import connection, text_table
from infino import IndexSpec

SEED = int(os.environ.get("INFINO_TEST_SEED", "20260101"))
SCHEMA = pa.schema([("id", pa.int64()), ("body", pa.large_utf8()), ("title", pa.string())])
SCRAPS = ["a", "B", "i", "I", "s", "k", "K", "7", "_", "%", " ", " ", "\t", "\n", ".", "'", ",", ":",
          "-", "=", '"', "the", "Their", "node.js", "3.14", "don't", "snake_case", "\\", "running",
          "İ", "ı", "ß", "ẞ", "ſ", "Σ", "ς", "σ", "\u212a", "\u212b", "é", "e\u0301", "Å", "\u0301",
          "\u0307", "\u0308", "\u0338", "\u200d", "\u00ad", "日本語", "あ", "カ", "א", "😀", "👩\u200d🚀",
          "ก", "Ａ", "\u202f", "x" * 255, "İ" * 130, "e\u0301" * 127]


def word(generator):
    """A word that few rows have, of letters that make trouble."""
    letters = "abijkstzABIJKSTZ0179_"
    made = "".join(generator.choice(letters) for _ in range(generator.randrange(2, 8)))
    return made if generator.random() < 0.7 else made.replace("i", generator.choice("İıi")).replace(
        "K", generator.choice("\u212aKk")).replace("s", generator.choice("ſsß"))


def text(generator):
    if generator.random() < 0.05:
        return generator.choice([None, "", " ", "%", "_", "\\"])
    parts = []
    for _ in range(generator.randrange(1, 9)):
        parts.append(word(generator) if generator.random() < 0.5 else generator.choice(SCRAPS))
        if generator.random() < 0.5:
            parts.append(generator.choice(" .-'_,\u0301"))
    if generator.random() < 0.02:
        parts.insert(0, "y" * generator.randrange(240, 270))
    return "".join(parts)


def pieces(generator, source):
    """A LIKE pattern that `source` fits, or nearly, and how it escapes."""
    escape = generator.choice([None, None, None, "!", "\\", "#"])
    made, at = "", 0
    for _ in range(generator.randrange(1, 4)):
        start = generator.randrange(at, len(source) + 1)
        end = min(len(source), start + generator.randrange(1, 12))
        gap = start - at
        made += "_" * gap if 0 < gap < 3 and generator.random() < 0.5 else "%" if gap else ""
        for letter in source[start:end]:
            made += escape + letter if escape and letter in "%_" + escape else letter
        at = end
    if at < len(source):
        made += "%"
    if generator.random() < 0.1:
        made = made.swapcase()
    return made, escape


def quoted(value):
    return "'" + value.replace("'", "''") + "'"


class Twins:
    """A table and the same rows in DuckDB."""

    def __init__(self, generator, rows=3000, appends=4, **options):
        self.generator = generator
        self.made = connection()
        indexes = IndexSpec().fts("body", **options).fts("title")
        self.table = self.made.create_table("t", SCHEMA, indexes)
        self.theirs = duckdb.connect()
        parts = []
        for first in range(0, rows, rows // appends):
            count = rows // appends
            parts.append(pa.table({
                "id": pa.array(range(first, first + count), pa.int64()),
                "body": pa.array([text(generator) for _ in range(count)], pa.large_utf8()),
                "title": pa.array([word(generator) for _ in range(count)], pa.string()),
            }, schema=SCHEMA))
            self.table.append(parts[-1])
        everything = pa.concat_tables(parts)  # noqa: F841 (DuckDB finds it by its name)
        self.theirs.execute("CREATE TABLE t AS SELECT * FROM everything")
        self.sources = [source for source in everything.column("body").to_pylist() if source]
        self.titles = everything.column("title").to_pylist()

    def delete(self, condition):
        self.theirs.execute(f"DELETE FROM t WHERE {condition}")
        self.table.delete(condition)

    def ids(self, condition):
        return sorted(self.made.query_sql(f"SELECT id FROM t WHERE {condition}").column(0).to_pylist())

    def check(self, condition):
        """The rows, which have to be those of DuckDB."""
        theirs = sorted(row for row, in self.theirs.execute(
            f"SELECT id FROM t WHERE {condition}").fetchall())
        assert self.ids(condition) == theirs, condition
        count = self.made.query_sql(f"SELECT count(*) FROM t WHERE {condition}").column(0)
        assert count.to_pylist() == [len(theirs)], condition
        return theirs

    def condition(self):
        generator = self.generator
        pattern, escape = pieces(generator, generator.choice(self.sources))
        suffix = f" ESCAPE {quoted(escape)}" if escape else ""
        plain = generator.choice(self.sources)
        start = generator.randrange(len(plain))
        title = quoted("%" + generator.choice(self.titles)[1:] + "%")
        part = quoted(plain[start:start + generator.randrange(2, 12)])
        return generator.choice([
            lambda c: f"{c} LIKE {quoted(pattern)}{suffix}",
            lambda c: f"{c} LIKE {quoted(pattern)}{suffix}",
            lambda c: f"{c} ILIKE {quoted(pattern)}{suffix}",
            lambda c: f"{c} ILIKE {quoted(pattern.lower())}{suffix}",
            lambda c: f"{c} NOT LIKE {quoted(pattern)}{suffix}",
            lambda c: f"{c} LIKE '%' || {part} || '%'",
            lambda c: f"{c} ILIKE '%' || {part} || '%'",
            lambda c: f"contains({c}, {part})",
            lambda c: f"starts_with({c}, {quoted(plain[:start])})",
            lambda c: f"ends_with({c}, {quoted(plain[start:])})",
            lambda c: f"lower({c}) LIKE lower({quoted(pattern)}){suffix}",
            lambda c: f"contains(lower({c}), lower({part}))",
            lambda c: f"{c} ^@ {quoted(plain[:start])}",
            lambda c: f"{c} >= {part} AND {c} < {part} || 'z'",
            lambda c: f"{c} LIKE '%' || {part} || '%' AND {c} LIKE {quoted(pattern)}{suffix}",
            lambda c: f"{c} LIKE {quoted(pattern)}{suffix} AND id % 2 = 0",
            lambda c: f"{c} LIKE {quoted(pattern)}{suffix} OR contains({c}, {part})",
            lambda c: f"{c} LIKE {quoted(pattern)}{suffix} AND "
                      f"title ILIKE {title}",
        ])


OPTIONS = [{}, {"positions": True}, {"stopwords": "english"}, {"stemmer": "english"},
           {"stopwords": "english", "positions": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "plain")
def test_rows_that_fit_a_pattern_are_those_that_duckdb_finds(options):
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(f"{SEED} {options}")
    twins = Twins(generator, **options)
    found = 0
    for number in range(150):
        if number == 100:
            twins.delete("id % 5 = 2 OR (id >= 700 AND id < 1500)")
        made = twins.condition()
        rows = twins.check(made("body"))
        # Without the index, which knows nothing of an expression.
        assert twins.ids(made("(body || '')")) == rows, made("body")
        found += len(rows)
    assert found > 100


def rows_by(made, condition):
    """How a scan says it found its rows, and how many it fetched."""
    plan = made.query_sql(f"EXPLAIN ANALYZE SELECT id FROM t WHERE {condition}").column(
        1).to_pylist()[0]
    lines = [line.strip("│ ") for line in plan.splitlines()]
    at = next(i for i, line in enumerate(lines) if line.startswith("Rows by:"))
    return (lines[at].removeprefix("Rows by:") or lines[at + 1]).strip()


def test_the_index_is_used():
    generator = random.Random(SEED)
    twins = Twins(generator)
    for condition in ("body LIKE '%node.js %'", "body ILIKE '%SNAKE_CASE %'", "title LIKE 'zzzzz%'",
                      "body LIKE '% don''t %'"):
        assert "pattern" in rows_by(twins.made, condition), condition
        twins.check(condition)
    for condition in ("body LIKE '%..%'", "body NOT LIKE '%node.js%'", "body LIKE '%日本%'"):
        assert rows_by(twins.made, condition) == "scan", condition
        twins.check(condition)


def test_changes_and_searches_find_the_same_rows():
    generator = random.Random(SEED + 1)
    print(f"INFINO_TEST_SEED={SEED}")
    twins = Twins(generator)
    for _ in range(25):
        condition = twins.condition()("body")
        wanted = twins.check(condition)
        searched = [row for row, in twins.theirs.execute(
            f"SELECT id FROM t WHERE ({condition}) AND id % 3 <> 1").fetchall()]
        made = twins.made.query_sql(
            f"SELECT id FROM bm25_search('t', 'body', 'the running node.js', 5000) WHERE {condition}")
        every = twins.made.query_sql(
            "SELECT id FROM bm25_search('t', 'body', 'the running node.js', 5000)").column(0)
        assert sorted(made.column(0).to_pylist()) == sorted(
            set(every.to_pylist()) & set(wanted)), condition
        counted = twins.table.token_match("body", "the", where=condition, projection=["id"])
        whole = twins.table.token_match("body", "the", projection=["id"])
        assert sorted(counted.column("id").to_pylist()) == sorted(
            set(whole.column("id").to_pylist()) & set(wanted)), condition
        if searched and len(searched) < 40:
            twins.delete(f"({condition}) AND id % 3 <> 1")
            assert set(twins.check("true")).isdisjoint(searched)


def test_characters_whose_lower_case_is_ascii():
    """What ILIKE takes for an ASCII letter, for all characters there are."""
    made = connection()
    table = made.create_table("t", SCHEMA, IndexSpec().fts("body").fts("title"))
    letters = [chr(c) for c in range(0x80, 0x30000) if not 0xD800 <= c < 0xE000]
    texts = [f"q{letter}z w{number}" for number, letter in enumerate(letters)]
    table.append(pa.table({"id": range(len(texts)), "body": texts, "title": texts}))
    for letter in "abcdefghijklmnopqrstuvwxyz0123456789_ .-":
        for pattern in (f"q{letter}z %", f"%Q{letter}z %", f"%q{letter}z w%"):
            escaped = pattern.replace("_", "!_")
            scanned, indexed = (
                made.query_sql(f"SELECT id FROM t WHERE {column} ILIKE {quoted(escaped)} ESCAPE '!'")
                .column(0).to_pylist() for column in ("(body || '')", "body"))
            assert sorted(scanned) == sorted(indexed), pattern


def test_rows_from_before_a_column_fit_no_pattern():
    made, _ = text_table([f"old row {number}" for number in range(900)])
    index = {"kind": "fts"}
    made.schema("t", {"fields": [{"name": "title", "type": "large_utf8", "index": index}]})
    titles = [None if number % 7 == 0 else f"Chapter{number} of the book" for number in range(600)]
    made.open_table("t").append(pa.table({
        "id": range(900, 1500), "body": pa.nulls(600, pa.large_utf8()),
        "title": pa.array(titles, pa.large_utf8())}))
    wanted = [900 + number for number, title in enumerate(titles) if title and "apter12 " in title]
    for condition in ("title LIKE '%apter12 %'", "title ILIKE '%APTER12 %'",
                      "title LIKE '%apter12 %' AND body IS NULL"):
        found = made.query_sql(f"SELECT id FROM t WHERE {condition} ORDER BY id").column(0)
        assert found.to_pylist() == wanted, condition
        assert rows_by(made, condition) == "pattern, 1 fetched"
    others = made.query_sql("SELECT count(*) n FROM t WHERE title NOT LIKE '%apter12 %'")
    assert others.column("n").to_pylist() == [
        sum(title is not None for title in titles) - len(wanted)]
    made.schema("t", {"fields": [{"name": "heading", "type": "large_utf8", "index": index}]})
    assert rows_by(made, "heading LIKE '%hapter12 %'") == "pattern, 0 fetched"


@pytest.mark.parametrize("beginning", ["¿", "ſ", "\x7f", "a\U0010ffff", "߿", "日¿"])
def test_a_beginning_that_has_no_next_one(beginning):
    """DuckDB makes a bound of it by counting up its last byte, which then is no UTF-8."""
    made = connection()
    table = made.create_table("t", pa.schema([("id", pa.int64()), ("body", pa.large_utf8())]),
                              IndexSpec().fts("body"))
    texts = [beginning + "x", beginning, beginning + " wörds x", "x" + beginning, "", None]
    table.append(pa.table({"id": pa.array(range(6), pa.int64()),
                           "body": pa.array(texts, pa.large_utf8())}))

    def ids(sql, params=None):
        return made.query_sql(f"SELECT id FROM t WHERE {sql} ORDER BY id", params).column(0).to_pylist()

    assert ids(f"body LIKE '{beginning}_%'") == [0, 2]
    assert ids(f"body LIKE '{beginning}_'") == [0]
    assert ids(f"body LIKE '{beginning}' || '%x'") == [0, 2]
    assert ids("body LIKE $1", [beginning + "%_x"]) == [2]
    assert ids(f"NOT (body LIKE '{beginning}_%' OR id = 1)") == [3, 4]
    assert ids(f"body NOT LIKE '{beginning}_%'") == [1, 3, 4]
    assert ids(f"upper(body) LIKE upper('{beginning}_%') AND id < 2") == [0]
    assert table.delete(f"body LIKE '{beginning}_%'").matched == 2
