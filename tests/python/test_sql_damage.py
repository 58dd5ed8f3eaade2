"""SQL over damaged files: an error that names the object, or the right rows, and nothing else."""

import os
import pathlib
import random
import shutil

import numpy as np
import pyarrow as pa
import pytest

import infino
from helpers import connection, folder, superfiles
from infino import IndexSpec

SEED = int(os.environ.get("INFINO_TEST_SEED", "20260101"))
STATEMENTS = [
    "SELECT count(*) n, sum(id) s, sum(hash(body) % 1000) h, sum((f * 1e6)::BIGINT) f, count(l) c "
    "FROM t",
    "SELECT id, body, f, l FROM t WHERE id % 7 = 3 ORDER BY id",
    "SELECT body, count(*) n FROM t GROUP BY body ORDER BY body LIMIT 20",
    "SELECT id, body FROM t WHERE id = 333",
    "SELECT id, body, score FROM bm25_search('t', 'body', 'w3 w5', 7) WHERE id > 100 ORDER BY id",
    "SELECT id FROM t WHERE f IS NULL OR f < -2 ORDER BY id",
]


@pytest.fixture(scope="module")
def original():
    path = folder()
    schema = pa.schema([("id", pa.int64()), ("body", pa.large_utf8()), ("f", pa.float64()),
                        ("l", pa.list_(pa.int32()))])
    table = connection(path).create_table("t", schema, IndexSpec().fts("body"))
    generator = np.random.default_rng(0)
    for part in range(3):
        numbers = range(part * 300, part * 300 + 300)
        table.append(pa.table([
            pa.array(numbers), pa.array([f"w{i % 13} text {i * 7919 % 1000}" for i in numbers],
                                        pa.large_utf8()),
            pa.array([None if i % 5 == 0 else float(x) for i, x in
                      zip(numbers, generator.normal(size=300), strict=True)]),
            pa.array([[i, i % 3] if i % 4 else None for i in numbers], pa.list_(pa.int32()))],
            schema=schema))
    made = connection(path)
    return path, [made.query_sql(sql) for sql in STATEMENTS]


def damaged(original, damage):
    """A copy of the table whose files went through `damage`. Returns what each statement gave."""
    path, answers = original
    copy = folder() + "/copy"
    shutil.copytree(path, copy)
    damage(copy)
    outcomes = []
    made = connection(copy)
    for sql, wanted in zip(STATEMENTS, answers, strict=True):
        try:
            found = made.query_sql(sql)
        except infino.InfinoError as error:
            assert isinstance(error, RuntimeError), (sql, repr(error))
            outcomes.append(str(error))
        else:
            assert found.equals(wanted), sql
            outcomes.append(None)
    shutil.rmtree(copy)
    return outcomes


def test_a_flipped_byte_is_noticed_or_not_met(original):
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(SEED)
    noticed = 0
    for _ in range(100):
        def flip(copy):
            file = pathlib.Path(generator.choice(superfiles(copy)))
            content = bytearray(file.read_bytes())
            # Half of them in Parquet's footer.
            first = generator.choice([0, len(content) - 2500])
            content[generator.randrange(first, len(content))] ^= 1 << generator.randrange(8)
            file.write_bytes(content)

        noticed += any(damaged(original, flip))
    assert noticed > 40


def test_any_flipped_bit_of_a_footer_is_noticed(original):
    print(f"INFINO_TEST_SEED={SEED}")
    generator = random.Random(SEED)
    for _ in range(150):
        def flip(copy):
            file = pathlib.Path(generator.choice(superfiles(copy)))
            content = bytearray(file.read_bytes())
            length = 8 + int.from_bytes(content[-8:-4], "little")
            content[-1 - generator.randrange(length)] ^= 1 << generator.randrange(8)
            file.write_bytes(content)

        outcomes = damaged(original, flip)
        assert outcomes[0] and "footer has a wrong checksum" in outcomes[0]


@pytest.mark.parametrize("share", [0, 0.3, 0.999])
def test_a_file_cut_short_is_noticed(original, share):
    def cut(copy):
        for file in superfiles(copy):
            os.truncate(file, int(os.path.getsize(file) * share))

    outcomes = damaged(original, cut)
    assert all(outcomes)
    assert all(".parquet" in outcome for outcome in outcomes)


def test_a_missing_file_is_noticed_and_named(original):
    def remove(copy):
        os.remove(superfiles(copy)[1])

    outcomes = damaged(original, remove)
    assert outcomes[0] and ".parquet" in outcomes[0]
    assert outcomes[1]


def test_a_file_that_is_another_one_is_noticed(original):
    def swap(copy):
        one, two, _ = superfiles(copy)
        shutil.copyfile(two, one + ".x")
        shutil.copyfile(one, two)
        os.rename(one + ".x", one)

    outcomes = damaged(original, swap)
    assert outcomes[0] and outcomes[1]


def test_a_damaged_table_leaves_the_others_and_the_connection_alone(original):
    path, _ = original
    copy = folder() + "/copy"
    shutil.copytree(path, copy)
    for file in superfiles(copy):
        os.truncate(file, 100)
    made = connection(copy)
    made.create_table("whole", pa.schema([("id", pa.int64())]), IndexSpec()).append([{"id": 1}])
    for _ in range(3):
        with pytest.raises(RuntimeError):
            made.query_sql(STATEMENTS[0])
        assert made.query_sql("SELECT id FROM whole").to_pylist() == [{"id": 1}]
