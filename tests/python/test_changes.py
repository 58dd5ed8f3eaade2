"""delete, update, upsert, get, and conditions on searches."""

import decimal
import threading

import numpy as np
import pyarrow as pa
import pytest

import infino
from infino import IndexSpec, MutationStats

from helpers import BODY, connection, folder, hits, rows, run, text_table, vector_rows, vector_schema


def knows_sql():
    _, table = text_table(["x"], "memory://")
    try:
        table.count("body", "x", where="id = 0")
    except infino.InvalidInputError as error:
        if "no SQL" in str(error):
            return False
        raise
    return True


needs_sql = pytest.mark.skipif(not knows_sql(), reason="this build has no SQL")


def all_rows(table):
    """id and body of every row; all bodies have the word `all`."""
    found = table.token_match("body", "all", projection=["id", "body"])
    return dict(zip(found.column("id").to_pylist(), found.column("body").to_pylist(), strict=True))


def row_ids(table):
    found = table.token_match("body", "all", projection=["id", "_id"])
    return dict(zip(found.column("id").to_pylist(), found.column("_id").to_pylist(), strict=True))


@pytest.fixture(params=["memory", "disk"])
def table(request):
    made, table = text_table([f"all w{i}" for i in range(6)],
                             "memory://" if request.param == "memory" else folder())
    yield table
    del made


def test_the_statistics_of_a_change_print_their_fields():
    assert "MutationStats" in infino.__all__
    stats = MutationStats(matched=3, n_tombstoned=2, n_not_found=1)
    assert repr(stats) == "MutationStats(matched=3, n_tombstoned=2, n_not_found=1)"


def test_upsert_replaces_by_key_and_adds_the_others(table):
    before = row_ids(table)
    stats = table.upsert([{"id": 4, "body": "all four"}, {"id": 77, "body": "all new"},
                          {"id": 1, "body": "all one"}], "id")
    assert stats == MutationStats(matched=2, n_tombstoned=2, n_not_found=1)
    assert all_rows(table) == {0: "all w0", 1: "all one", 2: "all w2", 3: "all w3", 4: "all four",
                               5: "all w5", 77: "all new"}
    after = row_ids(table)
    assert {key: after[key] for key in before} == before
    assert hits(table, "w4") == [] and hits(table, "four") == [4]
    assert table.stats()["rows"] == 7


@pytest.mark.parametrize("given", [
    lambda columns: pa.table(columns, schema=BODY),
    lambda columns: pa.record_batch(columns, schema=BODY),
    lambda columns: pa.table(columns, schema=BODY).to_pandas(),
    lambda columns: (row for row in pa.table(columns, schema=BODY).to_pylist()),
    lambda columns: pa.table(columns, schema=BODY).to_reader(),
])
def test_upsert_takes_what_append_takes(table, given):
    stats = table.upsert(given({"id": [9, 2], "body": ["all nine", "all two"]}), "id")
    assert (stats.matched, stats.n_not_found) == (1, 1)
    assert all_rows(table)[2] == "all two" and all_rows(table)[9] == "all nine"


def test_upsert_refuses_what_is_ambiguous_and_changes_nothing(table):
    table.append(rows(["all twin", "all twin"], 20))
    version = table.stats()["version"]
    with pytest.raises(ValueError, match="7"):
        table.upsert([{"id": 7, "body": "all a"}, {"id": 7, "body": "all b"}], "id")
    with pytest.raises(ValueError, match="all twin"):
        table.upsert([{"id": 1, "body": "all twin"}], "body")
    with pytest.raises(ValueError, match="nope"):
        table.upsert([{"id": 1, "body": "all"}], "nope")
    with pytest.raises(TypeError):
        table.upsert([{"id": 1, "body": "all"}], 3)
    assert table.stats()["version"] == version
    assert table.upsert([], "id") == MutationStats(0, 0, 0)
    assert table.stats()["version"] == version


def test_upsert_by_id(table):
    ids = row_ids(table)
    stats = table.upsert([{"_id": ids[3], "id": 300, "body": "all moved"},
                          {"_id": None, "id": 400, "body": "all added"}], "_id")
    assert (stats.matched, stats.n_not_found) == (1, 1)
    assert row_ids(table)[300] == ids[3] and 3 not in all_rows(table)


def test_get_gives_rows_in_the_order_asked_for(table):
    ids = row_ids(table)
    asked = [ids[4], ids[0], 12345, ids[4]]
    found = table.get(asked)
    assert found.column_names == ["_id", "id", "body"]
    assert found.schema.field("_id").type == pa.decimal128(38, 0)
    assert found.column("id").to_pylist() == [4, 0, 4]
    assert table.get([int(each) for each in asked], ["body"]).column_names == ["body"]
    array = pa.array([ids[2], None, ids[1]], pa.decimal128(38, 0))
    assert table.get(array).column("id").to_pylist() == [2, 1]
    assert table.get(pa.chunked_array([array, array])).num_rows == 4
    assert table.get([]).num_rows == 0
    with pytest.raises(TypeError):
        table.get("1")
    with pytest.raises(TypeError):
        table.get([1.5])
    with pytest.raises(ValueError, match="valid columns: _id, id, body"):
        table.get([1], ["score"])


def test_get_takes_what_vector_search_ids_gives():
    made = infino.connect("memory://")
    table = made.create_table("t", vector_schema(16), IndexSpec().fts("body").vector("v", 16, "l2"))
    matrix = np.eye(16, dtype="f4")
    table.append(vector_rows(matrix))
    found = table.get(table.vector_search_ids("v", matrix[5], 1), ["id", "v"])
    assert found.column("id").to_pylist() == [5]
    assert np.allclose(found.column("v").to_pylist()[0], matrix[5], atol=1e-3)


def test_upserted_vectors_move():
    made = infino.connect("memory://")
    table = made.create_table("t", vector_schema(16), IndexSpec().fts("body").vector("v", 16, "l2"))
    matrix = np.eye(16, dtype="f4")
    table.append(vector_rows(matrix[:8]))
    table.upsert(vector_rows(matrix[12:13], first=3, bodies=["moved"]), "id")
    near = lambda vector, k: table.vector_search("v", vector, k, projection=["id"]).column(0).to_pylist()
    assert near(matrix[12], 1) == [3]
    assert near(matrix[3], 1) != [3] and len(near(matrix[3], 9)) == 8
    assert hits(table, "moved") == [3]


def test_handles_that_upsert_the_same_keys_leave_one_row_each():
    path = folder()
    text_table(["all seed"], path)
    failed = []

    def work(number):
        table = connection(path).open_table("t")
        try:
            for turn in range(4):
                table.upsert([{"id": key, "body": f"all {number} {turn}"} for key in range(5)], "id")
        except Exception as error:  # noqa: BLE001: whatever it is, the test has failed
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    table = connection(path).open_table("t")
    assert sorted(table.token_match("body", "all", projection=["id"]).column(0).to_pylist()) == [
        0, 1, 2, 3, 4]
    assert table.stats()["rows"] == 5


def test_processes_that_upsert_the_same_keys_leave_one_row_each():
    import subprocess
    import sys

    path = folder()
    text_table(["all seed"], path)
    code = ("import infino\nt = infino.connect(%r).open_table('t')\n"
            "for turn in range(5): t.upsert([{'id': k, 'body': 'all %d'} for k in range(4)], 'id')")
    running = [subprocess.Popen([sys.executable, "-c", code % (path, n)], stderr=subprocess.PIPE)
               for n in range(3)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()[-400:]
    table = connection(path).open_table("t")
    assert sorted(all_rows(table)) == [0, 1, 2, 3] and table.stats()["rows"] == 4


def test_a_forked_child_may_change_a_table_that_its_parent_changed():
    out = run(f"""
        import os, infino, pyarrow as pa
        t = infino.connect({folder()!r}).create_table(
            "t", pa.schema([("id", pa.int64()), ("body", pa.large_utf8())]),
            infino.IndexSpec().fts("body"))
        t.append([{{"id": i, "body": "all"}} for i in range(3)])
        t.upsert([{{"id": 1, "body": "all parent"}}], "id")
        child = os.fork()
        if child == 0:
            t.upsert([{{"id": 2, "body": "all child"}}], "id")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(t.count("body", "child"), t.count("body", "parent"), t.count("body", "all"))
    """)
    assert out.split() == ["1", "1", "3"]


# What needs SQL.


@needs_sql
def test_delete_removes_where_a_predicate_is_true(table):
    assert table.delete("id in (1, 3)") == MutationStats(2, 2, 0)
    assert sorted(all_rows(table)) == [0, 2, 4, 5]
    assert table.delete("id in (1, 3)") == MutationStats(0, 0, 0)
    assert table.count("body", "all") == 4 and hits(table, "w3") == []


@needs_sql
def test_delete_leaves_rows_for_which_it_is_null():
    made = infino.connect("memory://")
    table = made.create_table("t", pa.schema([("id", pa.int64()), ("c", pa.int64()),
                                              ("body", pa.large_utf8())]), IndexSpec().fts("body"))
    table.append([{"id": 1, "c": 1, "body": "all"}, {"id": 2, "c": None, "body": "all"}])
    assert table.delete("c >= 1").n_tombstoned == 1
    assert sorted(all_rows(table)) == [2]


@needs_sql
def test_delete_where_not_over_a_null_condition():
    _, table = text_table(["all"] * 6)
    table.delete("not (id >= 4 and cast(null as boolean))")
    assert sorted(all_rows(table)) == [4, 5]


@needs_sql
def test_quotes_in_predicates_neither_break_nor_widen_them():
    _, table = text_table(["O'Brien", "all other"])
    assert table.delete("body = 'O''Brien'").n_tombstoned == 1
    assert table.delete("body = 'x'' or 1=1 --'").matched == 0
    assert sorted(all_rows(table)) == [1]


@needs_sql
@pytest.mark.parametrize("predicate", ["", "id", "id = ", "nope = 1", "id = 1; drop table t",
                                       "exists (select 1)"])
def test_a_bad_predicate_is_a_value_error(table, predicate):
    with pytest.raises(ValueError):
        table.delete(predicate)
    with pytest.raises(ValueError):
        table.update(predicate, [{"id": 1, "body": "x"}])
    assert len(all_rows(table)) == 6


@needs_sql
def test_ten_are_found_when_the_ten_best_were_deleted():
    _, table = text_table(["alpha " * (1 + i % 7) + "x " * (i % 3) for i in range(50)])
    best = hits(table, "alpha", 10)
    table.delete(f"id in ({','.join(map(str, best))})")
    found = hits(table, "alpha", 10)
    assert len(found) == 10 and not set(found) & set(best)


@needs_sql
def test_deleted_vectors_use_up_no_places():
    made = infino.connect("memory://")
    table = made.create_table("t", vector_schema(16), IndexSpec().fts("body").vector("v", 16, "l2"))
    matrix = np.random.default_rng(0).normal(size=(100, 16)).astype("f4")
    table.append(vector_rows(matrix))
    order = np.argsort(((matrix - matrix[0]) ** 2).sum(1))[:30]
    table.delete(f"id in ({','.join(map(str, order))})")
    found = table.vector_search("v", matrix[0], 10, projection=["id"]).column(0).to_pylist()
    assert len(found) == 10 and not set(found) & set(order.tolist())


@needs_sql
def test_an_emptied_table_is_empty_and_can_be_filled_again():
    made = infino.connect("memory://")
    table = made.create_table("t", vector_schema(16), IndexSpec().fts("body").vector("v", 16, "l2"))
    table.append(vector_rows(np.eye(16)[:5], bodies=["all"] * 5))
    assert table.delete("true").matched == 5
    assert table.vector_search("v", np.eye(16)[0], 3).num_rows == 0 and hits(table, "all") == []
    assert table.stats()["rows"] == 0
    table.append(vector_rows(np.eye(16)[6:7], first=6, bodies=["all"]))
    found = table.vector_search("v", np.eye(16)[0], 3, projection=["id"]).column(0).to_pylist()
    assert found == [6] == hits(table, "all")


@needs_sql
def test_update_replaces_whole_rows_and_keeps_their_ids(table):
    ids = row_ids(table)
    assert table.update("id >= 4", [{"id": 40, "body": "all a"}, {"id": 50, "body": "all b"}]) == (
        MutationStats(2, 2, 0))
    assert row_ids(table)[40] == ids[4] and row_ids(table)[50] == ids[5]
    assert table.update("id = 40", [{"id": 41}]).matched == 1
    assert table.get([ids[4]]).to_pylist() == [{"_id": ids[4], "id": 41, "body": None}]
    assert table.update(f"_id = {ids[5]}", [{"id": 51, "body": "all c"}]).matched == 1
    assert hits(table, "b") == [] and hits(table, "c") == [51]


@needs_sql
def test_update_with_another_number_of_rows_changes_nothing(table):
    before = all_rows(table)
    with pytest.raises(ValueError, match="predicate matched 1 rows; new_rows has 2"):
        table.update("id = 2", [{"id": 2, "body": "all"}, {"id": 22, "body": "all"}])
    with pytest.raises(ValueError, match="predicate matched 0 rows; new_rows has 1"):
        table.update("id = 99", [{"id": 5, "body": "all"}])
    assert all_rows(table) == before


@needs_sql
def test_handles_that_delete_other_rows_at_once_both_do():
    path = folder()
    text_table(["all"] * 12, path)
    handles = [connection(path).open_table("t") for _ in range(2)]
    threads = [threading.Thread(target=handles[k].delete, args=(f"id between {k * 5} and {k * 5 + 4}",))
               for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(all_rows(connection(path).open_table("t"))) == [10, 11]


@needs_sql
def test_handles_that_update_one_row_at_once_leave_one_row():
    for _ in range(6):
        path = folder()
        text_table(["all"], path)
        handles = [connection(path).open_table("t") for _ in range(2)]

        def work(number, handles=handles):
            try:
                handles[number].update("id = 0", [{"id": 0, "body": f"all {number}"}])
            except (infino.ConflictError, ValueError):
                pass

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(all_rows(connection(path).open_table("t"))) == 1


@needs_sql
def test_a_condition_limits_every_search():
    made = infino.connect("memory://")
    table = made.create_table("t", vector_schema(16), IndexSpec().fts("body").vector("v", 16, "l2"))
    matrix = np.random.default_rng(1).normal(size=(60, 16)).astype("f4")
    table.append(vector_rows(matrix, bodies=["all " + "x " * (i % 5) for i in range(60)]))
    scores = dict(zip(*table.bm25_search("body", "x", 60, projection=["id", "score"]).to_pydict().values(),
                      strict=True))
    found = table.bm25_search("body", "x", 5, projection=["id", "score"], where="id % 3 = 0").to_pydict()
    assert len(found["id"]) == 5 and all(i % 3 == 0 for i in found["id"])
    assert all(scores[i] == score for i, score in zip(found["id"], found["score"], strict=True))
    only = lambda result: result.column("id").to_pylist()
    assert only(table.bm25_search_prefix("body", "al", 99, ["id"], where="id < 4")) == [0, 1, 2, 3]
    assert only(table.token_match("body", "all", projection=["id"], where="id < 4")) == [0, 1, 2, 3]
    assert only(table.exact_match("body", "all x ", ["id"], where="id < 20")) == [1, 6, 11, 16]
    assert table.count("body", "all", where="id < 4") == 4
    near = only(table.vector_search("v", matrix[0], 4, projection=["id"], where="id >= 50"))
    distances = ((matrix - matrix[0]) ** 2).sum(1)
    assert near == sorted(range(50, 60), key=lambda i: distances[i])[:4]
    both = only(table.hybrid_search("body", "x", "v", matrix[0], 5, projection=["id"],
                                    where="id >= 50"))
    assert len(both) == 5 and min(both) >= 50
    ids = table.vector_search_ids("v", matrix[0], 3, where="id >= 50")
    assert only(table.get(ids)) == near[:3]
    with pytest.raises(ValueError):
        table.count("body", "all", where="nope = 1")


def test_an_empty_condition_is_a_mistake(table):
    with pytest.raises(ValueError):
        table.count("body", "all", where=" ")
    with pytest.raises(TypeError):
        table.count("body", "all", where=3)
    assert isinstance(row_ids(table)[0], decimal.Decimal)
