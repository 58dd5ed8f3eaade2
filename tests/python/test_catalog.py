"""Connections and tables: names, creating, dropping, URIs, errors."""

import os
import pathlib
import pickle
import shutil
import threading
import time

import pyarrow as pa
import pytest

import infino
from helpers import BODY, connection, folder, hits, rows, superfiles, text_table
from infino import IndexSpec


def test_the_package_shows_what_programs_use():
    for name in infino.__all__:
        assert hasattr(infino, name)
    assert infino.__version__.startswith("0.11.")
    assert issubclass(infino.ConflictError, infino.InfinoError)
    assert not issubclass(infino.InfinoError, (ValueError, RuntimeError))
    package = pathlib.Path(infino.__file__).parent
    assert (package / "py.typed").exists()
    assert (package / "_infino.pyi").exists()


def test_tables_are_created_opened_listed_and_dropped():
    path = folder()
    c = connection(path)
    assert c.list_tables() == []
    for name in ("b", "a", "A", "a-b", "9x", "select", "information_schema", "x_1"):
        c.create_table(name, BODY, IndexSpec().fts("body"))
    assert c.list_tables() == sorted(["b", "a", "A", "a-b", "9x", "select", "information_schema",
                                      "x_1"])
    assert connection(path).open_table("b").count("body", "x") == 0
    c.drop_table("a")
    c.drop_table("unknown")
    assert "a" not in connection(path).list_tables()
    with pytest.raises(KeyError, match="open_table|a"):
        c.open_table("a")


def test_a_taken_name_is_a_value_error():
    c = connection()
    c.create_table("a", BODY, IndexSpec())
    with pytest.raises(ValueError, match="a"):
        c.create_table("a", BODY, IndexSpec())


@pytest.mark.parametrize("name", ["", "_x", "../x", "a/b", "a.b", "a b", "ü", 'a"b', "a\0b", "x" * 300])
def test_impossible_names_are_refused(name):
    c = connection()
    with pytest.raises(RuntimeError, match="name"):
        c.create_table(name, BODY, IndexSpec())
    assert c.list_tables() == []


def test_the_schema_comes_back_as_declared():
    schema = pa.schema([
        pa.field("id", pa.int64(), nullable=False), pa.field("body", pa.large_utf8()),
        pa.field("emb", pa.list_(pa.field("item", pa.float32()), 4)), pa.field("s", pa.utf8()),
        pa.field("n", pa.struct([("a", pa.int32()), ("b", pa.list_(pa.utf8()))]))],
        metadata={"a": "b"})
    path = folder()
    connection(path).create_table("t", schema, IndexSpec().fts("body"))
    found = connection(path).open_table("t").schema()
    assert found.equals(schema.remove_metadata(), check_metadata=True)
    assert found.field("emb").type.list_size == 4


@pytest.mark.parametrize("schema, spec, word", [
    (pa.schema([("_id", pa.int64())]), IndexSpec(), "_id"),
    (pa.schema([("a", pa.int64()), ("a", pa.int64())]), IndexSpec(), "a"),
    (pa.schema([("a", pa.int64())]), IndexSpec().fts("b"), "b"),
    (pa.schema([("a", pa.int64())]), IndexSpec().fts("a"), "a"),
    (pa.schema([("a", pa.large_utf8())]), IndexSpec().fts("a").fts("a"), "a"),
    (pa.schema([("a", pa.large_utf8())]), IndexSpec().fts("a", "Standard"), "Standard"),
    (pa.schema([("a", pa.large_utf8())]), IndexSpec().fts("a", k1=0.0, b=0.5), "k1"),
    (pa.schema([("a", pa.large_utf8())]), IndexSpec().fts("a", k1=1.0, b=2.0), "b"),
    (pa.schema([("a", pa.month_day_nano_interval())]), IndexSpec(), "a"),
])
def test_what_can_not_be_created_says_why(schema, spec, word):
    c = connection()
    with pytest.raises(ValueError, match=word):
        c.create_table("t", schema, spec)
    assert c.list_tables() == []


def test_index_specs_are_values():
    base = IndexSpec()
    more = base.fts("a")
    assert more is not base
    c = connection()
    c.create_table("t", pa.schema([("b", pa.int64())]), base)
    with pytest.raises(ValueError):
        IndexSpec().fts("a", k1=1.2)
    with pytest.raises(ValueError):
        IndexSpec().fts("a", stemmer="klingon")
    with pytest.raises(TypeError):
        c.create_table("u", BODY, None)


def test_dropping_and_creating_again_gives_an_empty_table():
    for purge in (True, False):
        path = folder()
        c, t = text_table(["old one", "old two"], path)
        assert len(hits(t, "old")) == 2
        c.drop_table("t", purge)
        t = c.create_table("t", BODY, IndexSpec().fts("body"))
        assert hits(t, "old") == []
        t.append(rows(["fresh"], 7))
        assert hits(t, "old") == []
        assert hits(c.open_table("t"), "fresh") == [7]
        assert len(superfiles(path)) == (1 if purge else 2)


def test_purging_leaves_no_object():
    path = folder()
    c, t = text_table(["a"], path)
    c.drop_table("t", purge=True)
    left = [os.path.join(base, f) for base, _, files in os.walk(path) for f in files]
    assert [f for f in left if "_catalog" not in f] == []


def test_a_handle_of_a_dropped_table_takes_nothing():
    path = folder()
    c, t = text_table(["x"], path)
    other = connection(path).open_table("t")
    assert other.count("body", "x") == 1
    c.drop_table("t", purge=False)
    for call in (lambda: other.append(rows(["ghost"])), lambda: other.count("body", "x"),
                 lambda: t.append(rows(["ghost"])), lambda: other.bm25_search("body", "x", 1)):
        with pytest.raises(KeyError):
            call()
    assert connection(path).list_tables() == []


def test_racing_creators_have_one_winner():
    path = folder()
    results = []

    def create():
        try:
            connection(path).create_table("t", BODY, IndexSpec().fts("body"))
            results.append("won")
        except ValueError as error:
            results.append(str(error))

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count("won") == 1
    assert len(results) == 4
    assert all("'t'" in r or '"t"' in r or "(t)" in r for r in results if r != "won"), results
    assert connection(path).list_tables() == ["t"]
    connection(path).open_table("t").append(rows(["x"]))


def test_an_open_handle_sees_other_writers():
    path = folder()
    _, a = text_table(["x"], path)
    b = connection(path).open_table("t")
    assert b.count("body", "x") == 1
    a.append(rows(["x"], 1))
    assert b.count("body", "x") == 2


def test_another_folder_under_the_same_path_is_another_database():
    path = folder() + "/db"
    text_table(["one"], path)
    assert hits(connection(path).open_table("t"), "one") == [0]
    shutil.rmtree(path)
    text_table(["two", "three"], path)
    t = connection(path).open_table("t")
    assert hits(t, "one") == []
    assert hits(t, "three") == [1]


def test_odd_paths_are_taken_as_they_are():
    base = folder()
    names = ["a b", "a%20b", "%41", "A", "ü#1?x", "日本 語", "~", "+"]
    for n, name in enumerate(names):
        text_table([f"only{n}"], os.path.join(base, name))
    for n, name in enumerate(names):
        t = connection(os.path.join(base, name)).open_table("t")
        assert hits(t, f"only{n}") == [0]
        assert t.count("body", f"only{(n + 1) % len(names)}") == 0
        assert superfiles(os.path.join(base, name))
    assert sorted(os.listdir(base)) == sorted(names)
    path = pathlib.Path(base) / "as a path"
    infino.connect(path).create_table("t", BODY, IndexSpec())
    assert infino.connect("file://" + str(path)).list_tables() == ["t"]


@pytest.mark.parametrize("uri", ["", "memory://foo", "S3://b/p", "hdfs://x/y", "s3a://b"])
def test_unknown_uris_are_refused(uri):
    with pytest.raises(RuntimeError, match=uri.split(":")[0] or "folder"):
        infino.connect(uri)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(RuntimeError, match="file"):
        infino.connect(tmp_path / "file")


def test_all_keywords_of_connect_are_accepted():
    c = infino.connect(folder(), storage_options={"aws_region": "x"}, cache_dir=folder(),
                       cache_budget_bytes=1 << 20, connection_memory_budget_bytes=0,
                       cold_fetch_mode="Range_Only", validate=True, api_key="k", freshness=0.5,
                       build_memory_bytes=1 << 28, scratch_dir=folder(), threads=2, compression="LZ4")
    c.create_database()
    t = c.create_table("t", BODY, IndexSpec().fts("body"))
    t.append(rows(["x"]))
    assert hits(t, "x") == [0]
    with pytest.raises(ValueError, match="cold_fetch_mode"):
        infino.connect(folder(), cold_fetch_mode="warm")
    with pytest.raises(TypeError):
        infino.connect(5)


def test_handles_are_not_pickled():
    c, t = text_table(["a"])
    for handle in (c, t):
        with pytest.raises(TypeError):
            pickle.dumps(handle)


def test_damage_is_noticed_and_named():
    path = folder()
    c, t = text_table([f"word{i} all" for i in range(2000)], path)
    [file] = superfiles(path)
    data = bytearray(pathlib.Path(file).read_bytes())
    data[len(data) // 3] ^= 0x10
    pathlib.Path(file).write_bytes(bytes(data))
    fresh = connection(path).open_table("t")
    with pytest.raises(RuntimeError, match="parquet|superfile"):
        for i in range(0, 2000, 50):
            fresh.bm25_search("body", f"word{i}", 1, projection=["body"])
            fresh.bm25_search("body", "all", 2000, projection=["body", "id", "_id"])


def test_freshness_bounds_how_old_a_view_may_be():
    path = folder()
    _, a = text_table(["x"], path)
    b = infino.connect(path, freshness=60).open_table("t")
    assert b.count("body", "x") == 1
    a.append(rows(["x"], 1))
    assert b.count("body", "x") == 1
    b.append(rows(["x"], 2))
    assert b.count("body", "x") == 3


def test_stats_tell_what_a_table_is():
    path = folder()
    _, t = text_table(["a", "b"], path)
    t.append(rows(["c"], 2))
    stats = t.stats()
    assert stats["rows"] == 3 and stats["superfiles"] == 2 and stats["version"] == 3
    assert stats["bytes"] == sum(os.path.getsize(f) for f in superfiles(path))


def test_opening_reads_little_and_time_passes():
    path = folder()
    text_table(["a"] * 100, path)
    started = time.monotonic()
    connection(path).open_table("t")
    assert time.monotonic() - started < 5


def test_two_databases_with_one_cache_folder_do_not_mix():
    cache = folder()
    paths = [folder(), folder()]
    for n, path in enumerate(paths):
        t = infino.connect(path, cache_dir=cache).create_table(
            "t", BODY, IndexSpec().fts("body"))
        t.append(rows([f"db{n} same"], n * 10))
    for n, path in enumerate(paths):
        t = infino.connect(path, cache_dir=cache).open_table("t")
        assert hits(t, "same") == [n * 10]
        assert hits(t, f"db{n}") == [n * 10]
        assert hits(t, f"db{1 - n}") == []
