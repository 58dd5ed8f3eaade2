"""Searches as table functions of SQL: the rows and scores of the methods, anywhere in FROM."""

import numpy as np
import pyarrow as pa
import pytest

import infino
from helpers import BODY, connection, ids, rows, text_table
from infino import IndexSpec

SCHEMA = pa.schema([("id", pa.int64()), ("body", pa.large_utf8()), ("price", pa.float64()),
                    ("v", pa.list_(pa.float32(), 16)), ("plain", pa.utf8())])
COUNT = 300
MATRIX = np.random.default_rng(7).normal(size=(COUNT, 16)).astype("f4")
TEXTS = [" ".join(["err"] * (1 + i % 4) + [f"w{i % 11}"] + ["pad"] * (i % 6)) for i in range(COUNT)]
QUERY = MATRIX[5] + MATRIX[9] / 4
WRITTEN = ",".join(repr(float(x)) for x in QUERY)


def made_table(made, name="docs", metric="l2sq", appends=5):
    table = made.create_table(name, SCHEMA,
                              IndexSpec().fts("body", positions=True).vector("v", 16, metric))
    for part in np.array_split(np.arange(COUNT), appends):
        table.append(pa.table([
            pa.array(part), pa.array([TEXTS[i] for i in part], pa.large_utf8()),
            pa.array(part / 2),
            pa.FixedSizeListArray.from_arrays(pa.array(MATRIX[part].ravel()), 16),
            pa.array([f"p{i % 3}" for i in part])], schema=SCHEMA))
    return table


@pytest.fixture(scope="module")
def docs():
    made = connection()
    made_table(made)
    return made


def found(made, sql, params=None):
    """(id, score) of the rows, in the order of the result."""
    table = made.query_sql(sql.replace("{v}", WRITTEN), params)
    return list(zip(ids(table), table.column("score").to_pylist(), strict=True))


def hits(table):
    return list(zip(ids(table), table.column("score").to_pylist(), strict=True))


ID_SCORE = ["id", "score"]

# A call, and what the method gives.
CALLS = [
    ("bm25_search('docs', 'body', 'w3', 9)", lambda t: t.bm25_search("body", "w3", 9)),
    ("bm25_search('docs', 'body', 'err w3 -w4', 1 + 6)",
     lambda t: t.bm25_search("body", "err w3 -w4", 7)),
    ("bm25_search('docs', 'body', '\"err w3\" w5*', 50)",
     lambda t: t.bm25_search("body", '"err w3" w5*', 50)),
    ("bm25_search('docs', 'body', concat('err', ' w3'), 9, 'AND')",
     lambda t: t.bm25_search("body", "err w3", 9, "and")),
    ("bm25_search('docs', 'body', 'err w3', 9, mode = 'and')",
     lambda t: t.bm25_search("body", "err w3", 9, "and")),
    ("bm25_search('docs', 'body', 'err w3', 9, mode => NULL)",
     lambda t: t.bm25_search("body", "err w3", 9)),
    ("bm25_search('docs', 'body', 'err w3', 9, k1 := 0.5, b := 0)",
     lambda t: t.bm25_search("body", "err w3", 9, k1=0.5, b=0)),
    ("bm25_search('docs', 'body', 'w3', 0)", lambda t: t.bm25_search("body", "w3", 0)),
    ("bm25_search('docs', 'body', 'err', 9223372036854775807)",
     lambda t: t.bm25_search("body", "err", 2**63 - 1)),
    ("bm25_search_prefix('docs', 'body', 'w1', 40)",
     lambda t: t.bm25_search_prefix("body", "w1", 40)),
    ("bm25_search_prefix('docs', 'body', 'pa', 9, k1 = 2, b = 0.1)",
     lambda t: t.bm25_search_prefix("body", "pa", 9, k1=2, b=0.1)),
    ("token_match('docs', 'body', 'w3 w4')", lambda t: t.token_match("body", "w3 w4")),
    ("token_match('docs', 'body', 'w3 pad', 'and')",
     lambda t: t.token_match("body", "w3 pad", "and")),
    ("token_match('docs', 'body', 'w3 -pad', mode = 'or')",
     lambda t: t.token_match("body", "w3 -pad")),
    ("exact_match('docs', 'body', 'err w0')", lambda t: t.exact_match("body", "err w0")),
    ("exact_match('docs', 'body', 'nope')", lambda t: t.exact_match("body", "nope")),
    ("vector_search('docs', 'v', '{v}', 9)", lambda t: t.vector_search("v", QUERY, 9)),
    ("vector_search('docs', 'v', ' [{v}] ', 9)", lambda t: t.vector_search("v", QUERY, 9)),
    ("vector_search('docs', 'v', [{v}], 9)", lambda t: t.vector_search("v", QUERY, 9)),
    ("vector_search('docs', 'v', ARRAY[{v}], 9)", lambda t: t.vector_search("v", QUERY, 9)),
    ("vector_search('docs', 'v', [{v}]::FLOAT[16], 9)", lambda t: t.vector_search("v", QUERY, 9)),
    ("vector_search('docs', 'v', list_value({v}), 9)", lambda t: t.vector_search("v", QUERY, 9)),
    ("vector_search('docs', 'v', '{v}', 9, target_recall = 1, nprobe = 2)",
     lambda t: t.vector_search("v", QUERY, 9, target_recall=1, nprobe=2)),
    ("vector_search('docs', 'v', '{v}', 9, filter_column = 'body', filter_query = 'w3 pad', "
     "filter_mode = 'and')", lambda t: t.vector_search("v", QUERY, 9, "body", "w3 pad", "and")),
    ("vector_search('docs', 'v', '{v}', 1000000000)", lambda t: t.vector_search("v", QUERY, 10**9)),
    ("hybrid_search('docs', 'body', 'w3', 'v', '{v}', 9)",
     lambda t: t.hybrid_search("body", "w3", "v", QUERY, 9)),
    ("hybrid_search('docs', 'body', 'w3 pad', 'v', [{v}], 9, mode = 'and', depth = 40, "
     "text_weight = 2, vector_weight = 0.5)",
     lambda t: t.hybrid_search("body", "w3 pad", "v", QUERY, 9, "and", depth=40, weights=(2, 0.5))),
    ("hybrid_search('docs', 'body', 'err', 'v', '{v}', 9, filter_column = 'body', "
     "filter_query = 'w3')",
     lambda t: t.hybrid_search("body", "err", "v", QUERY, 9, filter_column="body",
                               filter_query="w3")),
]


@pytest.mark.parametrize(("call", "method"), CALLS, ids=[call for call, _ in CALLS])
def test_a_call_gives_the_rows_and_scores_of_the_method(docs, call, method):
    class Projected:
        """The table, with `id` and `score` in every result."""

        def __getattr__(self, name):
            of_table = getattr(docs.open_table("docs"), name)
            return lambda *arguments, **options: of_table(*arguments, **options,
                                                          projection=ID_SCORE)

    wanted = hits(method(Projected()))
    assert found(docs, f"SELECT id, score FROM {call}") == wanted
    assert sorted(found(docs, f"SELECT id, score FROM {call} ORDER BY id")) == sorted(wanted)
    counted = docs.query_sql(f"SELECT count(*) n FROM {call}".replace("{v}", WRITTEN))
    assert counted.to_pylist() == [{"n": len(wanted)}]
    whole = docs.query_sql(f"SELECT * FROM {call}".replace("{v}", WRITTEN))
    assert whole.column_names == ["_id", "id", "body", "price", "plain", "score"]
    assert whole.schema.types == [pa.decimal128(38, 0), pa.int64(), pa.large_utf8(), pa.float64(),
                                  pa.large_utf8(), pa.float32()]
    assert [(row["id"], row["body"], row["price"]) for row in whole.to_pylist()] == [
        (i, TEXTS[i], i / 2) for i, _ in wanted]


@pytest.mark.parametrize("metric", ["cosine", "l2sq", "dot"])
def test_each_metric_has_the_order_and_scores_of_the_method(metric):
    made = connection()
    table = made_table(made, metric=metric)
    wanted = hits(table.vector_search("v", QUERY, 20, projection=ID_SCORE))
    assert found(made, "SELECT id, score FROM vector_search('docs', 'v', '{v}', 20) "
                       "ORDER BY score, _id") == wanted


def test_vectors_and_all_else_may_be_parameters(docs):
    wanted = found(docs, "SELECT id, score FROM vector_search('docs', 'v', '{v}', 5)")
    for vector in (QUERY, QUERY.tolist(), tuple(QUERY.tolist()), QUERY.astype("f8"), WRITTEN,
                   f"[{WRITTEN}]", pa.scalar(QUERY.tolist(), pa.list_(pa.float32())),
                   pa.scalar(QUERY.tolist(), pa.list_(pa.float32(), 16))):
        if isinstance(vector, tuple):
            vector = list(vector)
        assert found(docs, "SELECT id, score FROM vector_search('docs', 'v', ?, 5)",
                     [vector]) == wanted
        assert found(docs, "SELECT id, score FROM vector_search($t, $c, $v, $k)",
                     {"t": "docs", "c": "v", "v": vector, "k": 5}) == wanted
    assert found(docs, "SELECT id, score FROM bm25_search(?, ?, ?, ?, mode = ?) WHERE id % ? = 1",
                 ["docs", "body", "err w3", 6, "and", 2]) == found(
        docs, "SELECT id, score FROM bm25_search('docs', 'body', 'err w3', 6, 'and') "
              "WHERE id % 2 = 1")


WRONG = [
    ("bm25_search('nope', 'body', 'x', 3)", "nope"),
    ("bm25_search('docs', 'nope', 'x', 3)", "nope"),
    ("bm25_search('docs', 'plain', 'x', 3)", "plain"), ("bm25_search('docs', 'v', 'x', 3)", "v"),
    ("bm25_search('docs', 'body', 'x', -1)", "-1"),
    ("bm25_search('docs', 'body', 'x', 3, 'xor')", "xor"),
    ("bm25_search('docs', 'body', '-x', 3)", "positive"),
    ("bm25_search('docs', 'body', 'x')", "bm25"),
    ("bm25_search('docs', 'body', 'x', 'y')", "bm25"),
    ("bm25_search('docs', 'body', 'x', 2.5)", "bm25"),
    ("bm25_search('docs', 'body', 'x', NULL)", "null"),
    ("bm25_search('docs', 'body', NULL, 3)", "null"),
    ("bm25_search('docs', NULL, 'x', 3)", "null"), ("bm25_search(NULL, 'body', 'x', 3)", "null"),
    ("bm25_search('docs', 'body', 'x', 3, nope = 1)", "nope"),
    ("bm25_search('docs', 'body', 'x', 3, k1 = 1)", "b"),
    ("bm25_search('docs', 'body', 'x', 3, k1 = -1, b = 0.5)", "k1"),
    ("bm25_search('docs', 'body', 'x', 3, k1 = 1, b = 7)", "b"),
    ("bm25_search('docs', 'body', 'x', 3, k1 = 'nan', b = 0.5)", "k1"),
    ("token_match('docs', 'body', 'x', 'nor')", "nor"),
    ("token_match('docs', 'nope', 'x')", "nope"),
    ("token_match('nope', 'body', 'x')", "nope"), ("exact_match('docs', 'plain', 'x')", "plain"),
    ("exact_match('docs', 'body', NULL)", "null"),
    ("bm25_search_prefix('docs', 'id', 'x', 3)", "id"),
    ("vector_search('nope', 'v', '{v}', 3)", "nope"),
    ("vector_search('docs', 'nope', '{v}', 3)", "nope"),
    ("vector_search('docs', 'body', '{v}', 3)", "body"),
    ("vector_search('docs', 'v', '{v}', -3)", "-3"),
    ("vector_search('docs', 'v', '1,2', 3)", "16"), ("vector_search('docs', 'v', [1, 2], 3)", "16"),
    ("vector_search('docs', 'v', '', 3)", "16"), ("vector_search('docs', 'v', 'a,b', 3)", "a,b"),
    ("vector_search('docs', 'v', ['a', 'b'], 3)", "numbers"),
    ("vector_search('docs', 'v', NULL, 3)", "null"), ("vector_search('docs', 'v', 5, 3)", "5"),
    ("vector_search('docs', 'v', [1.0, NULL], 3)", "null"),
    ("vector_search('docs', 'v', list_resize([0.5e0], 16, 'nan'::DOUBLE), 3)", "finite"),
    ("vector_search('docs', 'v', list_resize([0.5e0], 16, 'inf'::DOUBLE), 3)", "finite"),
    ("vector_search('docs', 'v', '{v}', 3, target_recall = 2)", "target_recall"),
    ("vector_search('docs', 'v', '{v}', 3, nprobe = -1)", "nprobe"),
    ("vector_search('docs', 'v', '{v}', 3, filter_column = 'body')", "filter_query"),
    ("vector_search('docs', 'v', '{v}', 3, filter_mode = 'and')", "filter"),
    ("vector_search('docs', 'v', '{v}', 3, filter_column = 'plain', filter_query = 'x')", "plain"),
    ("hybrid_search('docs', 'body', 'x', 'nope', '{v}', 3)", "nope"),
    ("hybrid_search('docs', 'nope', 'x', 'v', '{v}', 3)", "nope"),
    ("hybrid_search('docs', 'body', 'x', 'v', '1', 3)", "16"),
    ("hybrid_search('docs', 'body', 'x', 'v', '{v}', 3, depth = 0)", "depth"),
    ("hybrid_search('docs', 'body', 'x', 'v', '{v}', 3, text_weight = -1)", "weight"),
    ("hybrid_search('docs', 'body', 'x', 'v', '{v}', 3, text_weight = 0, vector_weight = 0)",
     "weight"),
    ("docs d, LATERAL bm25_search('docs', 'body', d.body, 1)", "bm25_search"),
    ("vector_search('docs', 'v', (SELECT [1.0]), 3)", "subquer"),
]


@pytest.mark.parametrize(("call", "word"), WRONG, ids=[call[:60] for call, _ in WRONG])
def test_a_wrong_call_is_a_value_error_that_names_what_is_wrong(docs, call, word):
    for sql in (f"SELECT * FROM {call}", f"SELECT count(*) FROM {call} WHERE id > 3"):
        with pytest.raises(ValueError) as caught:
            docs.query_sql(sql.replace("{v}", WRITTEN))
        assert word in str(caught.value).lower()
        assert "RecordBatch" not in str(caught.value)


def test_searches_of_an_empty_table_are_empty():
    made = infino.connect("memory://")
    made.create_table("docs", SCHEMA, IndexSpec().fts("body").vector("v", 16, "cosine"))
    for call in ("bm25_search('docs', 'body', 'a', 3)",
                 "bm25_search_prefix('docs', 'body', 'a', 3)",
                 "token_match('docs', 'body', 'a')", "exact_match('docs', 'body', 'a')",
                 "vector_search('docs', 'v', '{v}', 3)",
                 "hybrid_search('docs', 'body', 'a', 'v', '{v}', 3)"):
        for where in ("", " WHERE id > 5", " WHERE score > 0"):
            sql = f"SELECT * FROM {call}{where}".replace("{v}", WRITTEN)
            empty = made.query_sql(sql)
            assert empty.num_rows == 0
            assert empty.schema.types == [pa.decimal128(38, 0), pa.int64(), pa.large_utf8(),
                                          pa.float64(), pa.large_utf8(), pa.float32()]


def test_a_column_called_score_does_not_hide_the_score():
    made = infino.connect("memory://")
    schema = BODY.append(pa.field("score", pa.int64())).append(pa.field("Score_1", pa.utf8()))
    table = made.create_table("t", schema, IndexSpec().fts("body"))
    table.append([{"id": i, "body": "x " * (3 - i), "score": 10 + i, "Score_1": "s"}
                  for i in range(3)])
    assert made.query_sql("SELECT score FROM t ORDER BY id").column(0).to_pylist() == [10, 11, 12]
    whole = made.query_sql("SELECT * EXCLUDE (_id) FROM bm25_search('t', 'body', 'x', 9)")
    assert whole.column_names == ["id", "body", "score_1", "Score_1_1", "score"]
    assert whole.column("score_1").to_pylist() == [10, 11, 12]
    scores = whole.column("score").to_pylist()
    assert scores == table.bm25_search("body", "x", 9).column("score").to_pylist()
    filtered = made.query_sql("SELECT id FROM bm25_search('t', 'body', 'x', 1) WHERE score_1 = 12")
    assert ids(filtered) == [2]
    again = made.query_sql("SELECT t.score s FROM bm25_search('t', 'body', 'x', 9) h "
                           "JOIN t USING (_id) ORDER BY h.score DESC")
    assert again.column("s").to_pylist() == [10, 11, 12]


def test_the_case_of_a_table_counts_where_two_differ_in_it():
    made = infino.connect("memory://")
    for number, name in enumerate(("docs", "Docs", "Lone")):
        made.create_table(name, BODY, IndexSpec().fts("body")).append(rows(["x"], number))
    for number, name in enumerate(("docs", "Docs", "Lone", "LONE")):
        assert ids(made.query_sql(f"SELECT id FROM bm25_search('{name}', 'body', 'x', 3)")) == [
            min(number, 2)]
    with pytest.raises(ValueError, match="Docs"):
        made.query_sql("SELECT id FROM bm25_search('DOCS', 'body', 'x', 3)")


# Composed with the rest of SQL.


def test_searches_are_joined_with_tables(docs):
    top = "bm25_search('docs', 'body', 'w3 w4', 12)"
    wanted = found(docs, f"SELECT id, score FROM {top}")
    joined = f"FROM {top} h JOIN docs d ON h._id = d._id"
    assert found(docs, f"SELECT d.id, h.score {joined} ORDER BY h.score DESC, h._id") == wanted
    assert found(docs, f"SELECT d.id, h.score FROM docs d JOIN {top} h USING (_id) "
                       f"ORDER BY score DESC, _id") == wanted
    everything = docs.query_sql(f"SELECT d.id, h.score FROM docs d LEFT JOIN {top} h USING (_id)")
    assert everything.num_rows == COUNT
    assert sum(row["score"] is not None for row in everything.to_pylist()) == 12
    inside = docs.query_sql(f"SELECT id FROM docs WHERE _id IN (SELECT _id FROM {top}) ORDER BY id")
    assert ids(inside) == sorted(i for i, _ in wanted)
    outside = docs.query_sql(f"SELECT id FROM docs d WHERE NOT EXISTS "
                             f"(SELECT 1 FROM {top} h WHERE h._id = d._id)")
    assert sorted(ids(outside)) == sorted(set(range(COUNT)) - {i for i, _ in wanted})


def test_searches_are_put_together(docs):
    one, two = "token_match('docs', 'body', 'w3')", "token_match('docs', 'body', 'pad')"
    three = {i for i in range(COUNT) if i % 11 == 3}
    padded = {i for i in range(COUNT) if i % 6}
    for word, wanted in (("UNION", three | padded), ("INTERSECT", three & padded),
                         ("EXCEPT", three - padded)):
        sql = f"SELECT id FROM {one} {word} SELECT id FROM {two} ORDER BY id"
        assert ids(docs.query_sql(sql)) == sorted(wanted)
    both = docs.query_sql(f"SELECT id FROM {one} UNION ALL SELECT id FROM {two}")
    assert sorted(ids(both)) == sorted([*three, *padded])
    grouped = docs.query_sql(f"SELECT plain, count(*) n, max(score) m FROM {one} GROUP BY plain "
                             f"HAVING count(*) > 1 ORDER BY plain")
    assert grouped.to_pylist() == [
        {"plain": f"p{r}", "n": sum(i % 3 == r for i in three), "m": 0.0} for r in range(3)]
    ranked = docs.query_sql("SELECT id, row_number() OVER (ORDER BY score DESC, _id) r "
                            "FROM bm25_search('docs', 'body', 'w3', 9) QUALIFY r <= 4 ORDER BY r")
    wanted = found(docs, "SELECT id, score FROM bm25_search('docs', 'body', 'w3', 4)")
    assert ids(ranked) == [i for i, _ in wanted]
    common = docs.query_sql(f"WITH a AS (SELECT id FROM {one}), b AS MATERIALIZED (SELECT id FROM "
                            f"{two}) SELECT a.id FROM a JOIN b USING (id) ORDER BY id")
    assert ids(common) == sorted(three & padded)
    twice = docs.query_sql(f"WITH a AS NOT MATERIALIZED (SELECT id FROM {one}) "
                           f"SELECT x.id FROM a x JOIN a y USING (id) ORDER BY id")
    assert ids(twice) == sorted(three)


def test_reciprocal_ranks_are_fused_by_hand(docs):
    sql = """
        WITH t AS (SELECT _id, row_number() OVER (ORDER BY score DESC, _id) AS r
                   FROM bm25_search('docs', 'body', 'w3 w5', 30)),
             v AS (SELECT _id, row_number() OVER (ORDER BY score, _id) AS r
                   FROM vector_search('docs', 'v', '{v}', 30))
        SELECT d.id, (coalesce(1.0 / (60 + t.r), 0) + coalesce(1.0 / (60 + v.r), 0))::FLOAT AS score
        FROM t FULL OUTER JOIN v ON t._id = v._id JOIN docs d ON d._id = coalesce(t._id, v._id)
        ORDER BY score DESC, d._id LIMIT 10"""
    by_hand = found(docs, sql)
    wanted = hits(docs.open_table("docs").hybrid_search(
        "body", "w3 w5", "v", QUERY, 10, projection=ID_SCORE, depth=30))
    assert [i for i, _ in by_hand] == [i for i, _ in wanted]
    assert [s for _, s in by_hand] == pytest.approx([s for _, s in wanted], rel=1e-6)


def test_searches_see_appends_at_once():
    made, table = text_table(["a"])
    for number in range(1, 6):
        table.append(rows(["a b"], number))
        counted = made.query_sql(
            "SELECT count(*) n, max(id) m FROM bm25_search('t', 'body', 'a', 99)")
        assert counted.to_pylist() == [{"n": number + 1, "m": number}]
