"""Tables in buckets: on real servers, over a network that fails."""

from __future__ import annotations

import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time
import uuid

import infino
import pyarrow as pa
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "services"))
import proxy as proxies  # noqa: E402
import servers  # noqa: E402

SCHEMA = pa.schema([("id", pa.int64()), ("body", pa.large_utf8())])
POINTER = "_supertable/current"


def start(kind):
    try:
        with servers.running(kind) as server:
            yield server
    except servers.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module", params=list(servers.KINDS))
def server(request):
    yield from start(request.param)


@pytest.fixture(scope="module")
def seaweedfs():
    yield from start("seaweedfs")


def fresh(server):
    """A URI in the server's bucket that no test has had."""
    return f"{server.uri}/{uuid.uuid4().hex}"


def connect(server, uri, **options):
    # Servers on a busy machine may be slow.
    return infino.connect(uri, storage_options={**server.options, "timeout": "30s", **options})


def notes(connection, rows=("a quick fox", "a lazy dog")):
    table = connection.create_table("notes", SCHEMA, infino.IndexSpec().fts("body"))
    table.append([{"id": i, "body": text} for i, text in enumerate(rows)])
    return table


def ids(result):
    return result.column("id").to_pylist()


def run(code, *arguments, **options):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True,
                          timeout=120, **options)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_table_lives_in_a_bucket(server):
    uri = fresh(server) + "/mäggi top+100%/日本"
    connection = connect(server, uri)
    table = notes(connection)
    table.append([{"id": 2, "body": "a quick hare"}])
    assert ids(table.bm25_search("body", "fox", 5, projection=["id"])) == [0]
    assert table.count("body", "quick") == 2
    assert table.delete("id = 0") is not None
    assert table.count("body", "quick") == 1
    assert ids(connection.query_sql("SELECT id FROM notes ORDER BY id")) == [1, 2]
    # Another process finds it all.
    code = """
import json, sys, infino
c = infino.connect(sys.argv[1], storage_options=json.loads(sys.argv[2]))
t = c.open_table("notes")
t.append([{"id": 3, "body": "quick again"}])
print(c.list_tables(), t.count("body", "quick"))
"""
    assert run(code, uri, json.dumps(server.options)).strip() == "['notes'] 2"
    again = connect(server, uri)
    assert ids(again.query_sql("SELECT id FROM notes ORDER BY id")) == [1, 2, 3]
    assert connect(server, server.uri + "/elsewhere-" + uuid.uuid4().hex).list_tables() == []
    again.drop_table("notes")
    assert again.list_tables() == []


def test_a_long_superfile_is_sent_in_parts(server):
    connection = connect(server, fresh(server))
    count = 200_000
    table = connection.create_table("long", SCHEMA, infino.IndexSpec().fts("body"))
    texts = [os.urandom(40).hex() for _ in range(count)]
    table.append(pa.table({"id": list(range(count)), "body": pa.array(texts, pa.large_utf8())},
                          schema=SCHEMA))
    row = connection.query_sql("SELECT sum(id) AS s, count(*) AS n FROM long")
    assert (row["s"].to_pylist(), row["n"].to_pylist()) == ([count * (count - 1) // 2], [count])
    assert ids(table.bm25_search("body", texts[777], 3, projection=["id"])) == [777]


WRITER = """
import json, sys, infino
t = infino.connect(sys.argv[1], storage_options=json.loads(sys.argv[2])).open_table("notes")
for i in range(4):
    t.append([{"id": int(sys.argv[3]) * 100 + i, "body": "raced"}])
"""


def test_eight_racing_writers_lose_nothing(seaweedfs):
    uri = fresh(seaweedfs)
    connection = connect(seaweedfs, uri)
    notes(connection, rows=())
    options = json.dumps(seaweedfs.options)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, uri, options, str(i)],
                         stderr=subprocess.PIPE, text=True)
        for i in range(8)
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=300)
        assert writer.returncode == 0, errors[-2000:]
    found = ids(connect(seaweedfs, uri).query_sql("SELECT id FROM notes ORDER BY id"))
    assert found == sorted(w * 100 + i for w in range(8) for i in range(4))


def in_child(server, uri, queue):
    try:
        queue.put(connect(server, uri).open_table("notes").count("body", "fox"))
    except Exception as error:  # noqa: BLE001
        queue.put(repr(error))


def test_a_forked_child_has_requests_of_its_own(seaweedfs):
    uri = fresh(seaweedfs)
    table = notes(connect(seaweedfs, uri))
    assert table.count("body", "fox") == 1
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def with_the_parents_table():
        queue.put(table.count("body", "dog"))

    for target, arguments in ((in_child, (seaweedfs, uri, queue)), (with_the_parents_table, ())):
        child = context.Process(target=target, args=arguments)
        child.start()
        assert queue.get(timeout=60) == 1
        child.join(timeout=60)
        assert child.exitcode == 0
    assert table.count("body", "fox") == 1


def test_a_killed_server_is_an_error_in_time_and_no_loss():
    for server in start("seaweedfs"):
        uri = fresh(server)
        notes(connect(server, uri))
        table = connect(server, uri, timeout="10s").open_table("notes")
        server.kill()
        begin = time.monotonic()
        with pytest.raises(infino.InfinoError) as caught:
            infino.connect(uri, storage_options=server.options).open_table("notes")
        assert time.monotonic() - begin < 10
        assert "bkt" in str(caught.value) and server.url in str(caught.value)
        with pytest.raises(infino.InfinoError):
            table.append([{"id": 9, "body": "not sent"}])
        server.restart()
        deadline = time.monotonic() + 60
        while True:
            try:
                assert connect(server, uri).open_table("notes").count("body", "fox") == 1
                break
            except infino.InfinoError:
                assert time.monotonic() < deadline
        table.append([{"id": 3, "body": "sent"}])
        assert connect(server, uri).open_table("notes").count("body", "sent") == 1


INSISTING_WRITER = """
import json, sys, time, infino
options = {**json.loads(sys.argv[2]), "timeout": "5s"}
t = None
until = time.monotonic() + 20
i = 0
while time.monotonic() < until:
    i += 1
    row = int(sys.argv[3]) * 100000 + i
    try:
        t = t or infino.connect(sys.argv[1], storage_options=options).open_table("notes")
        t.append([{"id": row, "body": "raced"}])
        print(row, flush=True)
    except infino.InfinoError:
        time.sleep(0.2)
"""


def test_writers_on_a_server_that_is_killed_lose_nothing_and_repeat_nothing():
    for server in start("seaweedfs"):
        uri = fresh(server)
        notes(connect(server, uri), rows=())
        options = json.dumps(server.options)
        writers = [
            subprocess.Popen([sys.executable, "-c", INSISTING_WRITER, uri, options, str(i)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for i in range(1, 4)
        ]
        for _ in range(2):
            time.sleep(4)
            server.restart()
        acknowledged = []
        for writer in writers:
            out, errors = writer.communicate(timeout=180)
            assert writer.returncode == 0, errors[-2000:]
            acknowledged += [int(line) for line in out.split()]
        found = ids(connect(server, uri).query_sql("SELECT id FROM notes ORDER BY id"))
        assert len(found) == len(set(found))
        assert set(acknowledged) <= set(found)
        assert acknowledged


@pytest.fixture
def faulty(seaweedfs):
    """A proxy in front of the server, and a server that is reached through it."""
    between = proxies.Proxy(seaweedfs.url)
    through = servers.Server(seaweedfs.name, seaweedfs.uri,
                             {**seaweedfs.options, "aws_endpoint": between.url}, between.url,
                             seaweedfs.log, seaweedfs.start)
    yield between, through
    between.close()


def once(matches, what, times=1):
    """A fault that befalls the first requests that match."""
    left = [times]

    def fault(request):
        if left[0] and matches(request):
            left[0] -= 1
            return what
        return None

    fault.left = left
    return fault


def is_swap(request):
    return request.method == "PUT" and request.path.endswith(POINTER)


def test_keys_are_escaped_once_and_the_bucket_is_in_the_path(faulty):
    between, through = faulty
    notes(connect(through, through.uri + "/mäggi top/" + uuid.uuid4().hex))
    assert all(request.path.startswith("/bkt") for request in between.log)
    objects = [request.path for request in between.log if request.method == "PUT"]
    assert objects and all(path.startswith("/bkt/m%C3%A4ggi%20top/") for path in objects)
    assert all("%25" not in request.path for request in between.log)


def test_the_pointer_is_written_conditionally(faulty):
    between, through = faulty
    notes(connect(through, fresh(through)))
    swaps = [request.headers for request in between.log if is_swap(request)]
    assert len(swaps) > 1
    assert swaps[0].get("if-none-match") == "*"
    assert all("if-match" in headers for headers in swaps[1:])


def test_a_session_token_is_sent(faulty):
    between, through = faulty
    with pytest.raises(infino.InfinoError):
        connect(through, fresh(through), aws_session_token="T0K", timeout="1s").list_tables()
    assert between.log
    assert all(r.headers.get("x-amz-security-token") == "T0K" for r in between.log)


@pytest.mark.parametrize(
    ("matches", "what", "times"),
    [
        pytest.param(is_swap, "drop", 1, id="the answer to a swap is lost"),
        pytest.param(is_swap, (409, "<Error><Code>ConditionalRequestConflict</Code></Error>"), 1,
                     id="a swap meets a conflict"),
        pytest.param(lambda r: r.method == "PUT", (503, "<Error><Code>SlowDown</Code></Error>"), 2,
                     id="puts are throttled"),
        pytest.param(lambda r: r.method == "GET", (500, "<Error><Code>InternalError</Code></Error>"),
                     2, id="reads fail inside"),
        pytest.param(lambda r: r.method == "PUT", "drop", 3, id="answers to puts are lost"),
        pytest.param(lambda r: r.method == "GET", "drop", 3, id="answers to reads are lost"),
    ],
)
def test_a_passing_fault_is_not_noticed(faulty, matches, what, times):
    between, through = faulty
    uri = fresh(through)
    connection = connect(through, uri)
    notes(connection)
    between.fault = once(matches, what, times)
    fresh_connection = connect(through, uri)
    fresh_connection.open_table("notes").append([{"id": 7, "body": "through it all"}])
    assert between.fault.left == [0]
    assert ids(connect(through, uri).query_sql("SELECT id FROM notes ORDER BY id")) == [0, 1, 7]


def test_credentials_that_expire_say_so(faulty):
    between, through = faulty
    uri = fresh(through)
    table = notes(connect(through, uri))
    between.fault = lambda request: (
        400, "<Error><Code>ExpiredToken</Code><Message>The token has expired.</Message></Error>")
    with pytest.raises(infino.InfinoError, match="ExpiredToken") as caught:
        table.append([{"id": 7, "body": "x"}])
    assert "s3://bkt" in str(caught.value) and "credentials" in str(caught.value)
    between.fault = lambda request: None
    assert connect(through, uri).open_table("notes").count("body", "x") == 0


def test_a_misspelt_option_is_named():
    with pytest.raises(infino.InfinoError, match="aws_regoin.*aws_region"):
        infino.connect("s3://b/p", storage_options={"aws_regoin": "x"})
    with pytest.raises(infino.InfinoError, match="aws_allow_http"):
        infino.connect("s3://b/p", storage_options={"aws_endpoint": "http://127.0.0.1:1"})


def test_options_have_short_names_in_any_case(seaweedfs):
    short = {key.removeprefix("aws_").upper(): value for key, value in seaweedfs.options.items()}
    connection = infino.connect(fresh(seaweedfs), storage_options=short)
    assert connection.list_tables() == []


def test_environment_and_shared_configuration_are_read_where_nothing_is_said(seaweedfs, tmp_path):
    given = seaweedfs.options
    code = "import infino, sys; print(infino.connect(sys.argv[1]).list_tables())"
    bare = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    bare |= {"HOME": str(tmp_path), "AWS_ALLOW_HTTP": "true"}
    in_environment = {
        "AWS_ACCESS_KEY_ID": given["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": given["aws_secret_access_key"],
        "AWS_ENDPOINT_URL": given["aws_endpoint"],
    }
    assert run(code, fresh(seaweedfs), env={**bare, **in_environment}).strip() == "[]"
    folder = tmp_path / ".aws"
    folder.mkdir()
    (folder / "credentials").write_text(
        f"[other]\naws_access_key_id={given['aws_access_key_id']}\n"
        f"aws_secret_access_key = {given['aws_secret_access_key']}\n")
    (folder / "config").write_text(
        f"[profile other]\nregion = us-east-1\nendpoint_url = {given['aws_endpoint']}\n")
    assert run(code, fresh(seaweedfs), env={**bare, "AWS_PROFILE": "other"}).strip() == "[]"


def test_what_others_commit_is_seen_within_a_second_or_so(seaweedfs):
    uri = fresh(seaweedfs)
    mine = notes(connect(seaweedfs, uri))
    theirs = connect(seaweedfs, uri).open_table("notes")
    assert theirs.count("body", "fox") == 1
    mine.append([{"id": 5, "body": "another fox"}])
    assert mine.count("body", "fox") == 2
    deadline = time.monotonic() + 5
    while theirs.count("body", "fox") != 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
