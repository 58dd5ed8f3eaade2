"""Runs tests/sql/*.test: SQL and the rows that it gives, written for people to read.

A file is blocks between blank lines; lines that begin with # are comments. A block begins with

- `table NAME`: its columns follow, one a line, as `name type [fts [positions]]` or
  `name vector[DIMENSION] METRIC`;
- `rows NAME`: one append, a JSON object a line. Short vectors are filled up with zeros;
- `query`: the statement, `----`, the names of the columns, and the rows, cells between ` | `.
  A cell `~x` is a number within 1e-5 of x (1e-3 if x is an integer);
- `error WORDS`: the statement, which is a ValueError with the words.

In a statement, '<1,2>' is the vector 1, 2, 0, … of 16 dimensions.
"""

import datetime
import json
import pathlib
import re

import pyarrow as pa
import pytest

import infino
from infino import IndexSpec

FILES = sorted((pathlib.Path(__file__).parent.parent / "sql").glob("*.test"))
TYPES = {"int64": pa.int64(), "int32": pa.int32(), "utf8": pa.utf8(), "large_utf8": pa.large_utf8(),
         "float64": pa.float64(), "bool": pa.bool_(), "date32": pa.date32(),
         "timestamp[us]": pa.timestamp("us"), "list<utf8>": pa.list_(pa.utf8()),
         "decimal(7,2)": pa.decimal128(7, 2)}
DIMENSION = 16


def blocks_of(file):
    """(line, first line, the other lines) of each block."""
    blocks, lines = [], []
    for number, line in enumerate([*file.read_text().split("\n"), ""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            lines.append((number, line))
        elif lines:
            blocks.append((lines[0][0], lines[0][1], [text for _, text in lines[1:]]))
            lines = []
    return blocks


def make_table(made, name, lines):
    fields, spec = [], IndexSpec()
    for line in lines:
        column, type_, *index = line.split(" ")
        vector = re.fullmatch(r"vector\[(\d+)\]", type_)
        if vector:
            fields.append((column, pa.list_(pa.float32(), int(vector[1]))))
            spec = spec.vector(column, int(vector[1]), index[0])
        else:
            fields.append((column, TYPES[type_]))
        if index[:1] == ["fts"]:
            spec = spec.fts(column, positions="positions" in index)
    made.create_table(name, pa.schema(fields), spec)


def append_rows(made, name, lines):
    table = made.open_table(name)
    schema = table.schema()
    rows = [json.loads(line) for line in lines]
    columns = []
    for field in schema:
        values = [row[field.name] for row in rows]
        if pa.types.is_fixed_size_list(field.type):
            values = [value + [0.0] * (field.type.list_size - len(value)) for value in values]
        if pa.types.is_date(field.type) or pa.types.is_timestamp(field.type):
            columns.append(pa.array(values, pa.string()).cast(field.type))
        elif pa.types.is_decimal(field.type):
            columns.append(pa.array(values, pa.string()).cast(field.type))
        else:
            columns.append(pa.array(values, field.type))
    table.append(pa.table(columns, schema=schema))


def written(cell):
    """A cell as the files have it."""
    if cell is None:
        return "NULL"
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime.datetime):
        return str(cell)
    return "0.0" if cell == 0 and isinstance(cell, float) else str(cell)


def same(cell, wanted):
    if wanted.startswith("~"):
        return abs(cell - float(wanted[1:])) < (1e-5 if "." in wanted else 1e-3)
    return written(cell) == wanted


def statement_of(lines):
    """The SQL, with whole vectors."""
    def vector(match):
        values = match[1].split(",")
        return "'" + ",".join(values + ["0"] * (DIMENSION - len(values))) + "'"

    return re.sub(r"'<([-\d.,]+)>'", vector, "\n".join(lines))


def check_query(made, lines):
    divider = lines.index("----")
    found = made.query_sql(statement_of(lines[:divider]))
    names, *rows = [line.split(" | ") for line in lines[divider + 1:]]
    assert found.column_names == names
    cells = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    shown = [" | ".join(map(written, row)) for row in cells]
    assert len(cells) == len(rows), shown
    for row, wanted in zip(cells, rows, strict=True):
        assert len(row) == len(wanted)
        assert all(same(*pair) for pair in zip(row, wanted, strict=True)), (wanted, shown)


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_file(file):
    made = infino.connect("memory://")
    checked, faults = 0, []
    for number, first, lines in blocks_of(file):
        kind, _, rest = first.partition(" ")
        try:
            if kind == "table":
                make_table(made, rest, lines)
            elif kind == "rows":
                append_rows(made, rest, lines)
            elif kind == "query":
                check_query(made, lines)
            elif kind == "error":
                with pytest.raises(ValueError) as caught:
                    made.query_sql(statement_of(lines))
                assert rest.lower() in str(caught.value).lower()
            else:
                pytest.fail(f"{file.name}:{number}: what is '{kind}'?")
        except (AssertionError, pytest.fail.Exception, infino.InfinoError) as fault:
            faults.append(f"{file.name}:{number}: {fault}")
        checked += kind in ("query", "error")
    assert not faults, "\n\n".join(faults)
    assert checked > 10


def test_there_are_files():
    assert len(FILES) >= 4
