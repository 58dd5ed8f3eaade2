"""What callers hand to append, as one Arrow stream."""

from __future__ import annotations

import array
import contextlib
import datetime
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from ._errors import InvalidInputError

ACCEPTED = (
    "a pyarrow batch, table or batch reader, a pandas or Polars DataFrame, any object with "
    "__arrow_c_stream__ or __arrow_c_array__, a list of dicts, or an iterable of these"
)

#: Rows of dicts that become one batch.
_ROWS_A_BATCH = 8192


def stream_capsule(data: Any, schema: pa.Schema) -> Any:
    """The rows of `data` as an "arrow_array_stream" PyCapsule. Nothing is read yet where `data` is a
    stream itself."""
    return _reader(data, schema).__arrow_c_stream__()


def _reader(data: Any, schema: pa.Schema) -> Any:
    if isinstance(data, pa.RecordBatch):
        return pa.RecordBatchReader.from_batches(data.schema, [data])
    if _is_pandas(data):
        return _from_pandas(data, schema).to_reader()
    if _is_polars_with_objects(data):
        return _from_polars_objects(data, schema).to_reader()
    if hasattr(data, "__arrow_c_stream__"):
        return data
    if hasattr(data, "__arrow_c_array__"):
        batch = pa.record_batch(data)
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])
    if isinstance(data, (list, tuple)):
        return _from_sequence(data, schema)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes, bytearray, Mapping)):
        return _from_iterator(iter(data), schema)
    raise TypeError(f"append takes {ACCEPTED}; got {type(data).__name__}")


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.split(".", 1)[0] == "pandas" and hasattr(data, "columns")


def _from_pandas(frame: Any, schema: pa.Schema) -> pa.Table:
    """Missing values of any kind become null; columns of the table take the table's types."""
    fields = []
    vectors: dict[str, pa.Array] = {}
    for name in frame.columns:
        if not isinstance(name, str):
            raise InvalidInputError(f"column names are strings; the DataFrame has {name!r}")
        index = schema.get_field_index(name)
        if index < 0:
            fields.append(pa.field(name, _new_type(pa.Array.from_pandas(frame[name]).type)))
            continue
        field = pa.field(name, schema.field(index).type)
        fields.append(field)
        if _holds_vectors(field.type) and frame.columns.is_unique and frame[name].dtype == object:
            missing = frame[name].isna()
            vectors[name] = _array_of(
                [None if gone else value for value, gone in zip(frame[name], missing, strict=True)],
                field)
    rest = frame.drop(columns=list(vectors)) if vectors else frame
    others = pa.schema([field for field in fields if field.name not in vectors])
    try:
        table = pa.Table.from_pandas(rest, schema=others, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InvalidInputError(f"the DataFrame does not fit the table: {error}") from None
    if vectors:
        arrays = [vectors[f.name] if f.name in vectors else table.column(f.name) for f in fields]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    return table.replace_schema_metadata(None)


def _is_polars_with_objects(data: Any) -> bool:
    """Python objects in a Polars frame are addresses to everyone but Polars."""
    return type(data).__module__.split(".", 1)[0] == "polars" and any(
        str(kind) == "Object" for kind in getattr(data, "dtypes", ()))


def _from_polars_objects(frame: Any, schema: pa.Schema) -> pa.Table:
    columns = {}
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        if str(kind) == "Object":
            columns[name] = _column_of(name, frame[name].to_list(), schema)
        else:
            columns[name] = frame[name].to_arrow()
    return pa.table(columns)


def _from_sequence(rows: list[Any] | tuple[Any, ...], schema: pa.Schema) -> Any:
    if rows and not isinstance(rows[0], Mapping):
        return _from_iterator(iter(rows), schema)
    if not rows:
        return pa.RecordBatchReader.from_batches(pa.schema([]), [])
    # Small inputs are one batch, which is one superfile.
    batch = _batch_of(rows, schema, _columns_of(rows, schema))
    return pa.RecordBatchReader.from_batches(batch.schema, [batch])


def _from_iterator(items: Iterator[Any], schema: pa.Schema) -> pa.RecordBatchReader:
    try:
        first = next(items)
    except StopIteration:
        return pa.RecordBatchReader.from_batches(schema, [])
    if isinstance(first, Mapping):
        return _from_dicts(itertools.chain([first], items), schema)
    head = _batches_of(first, schema)
    first_batch = next(head, None)
    batch_schema = first_batch.schema if first_batch is not None else schema

    def batches() -> Iterator[pa.RecordBatch]:
        if first_batch is not None:
            yield first_batch
        yield from head
        for item in items:
            for batch in _batches_of(item, schema):
                yield batch if batch.schema.equals(batch_schema) else batch.cast(batch_schema)

    return pa.RecordBatchReader.from_batches(batch_schema, batches())


def _batches_of(item: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    if isinstance(item, (str, bytes, bytearray, Mapping)) or not (
        isinstance(item, (list, tuple)) or hasattr(item, "__arrow_c_stream__")
        or hasattr(item, "__arrow_c_array__") or _is_pandas(item)
    ):
        raise TypeError(f"append takes {ACCEPTED}; got an iterable of {type(item).__name__}")
    reader = _reader(item, schema)
    if not isinstance(reader, pa.RecordBatchReader):
        reader = pa.RecordBatchReader._import_from_c_capsule(reader.__arrow_c_stream__())
    yield from reader


def _from_dicts(rows: Iterator[Any], schema: pa.Schema) -> pa.RecordBatchReader:
    """A stream of dicts: every batch has all columns of the table, since later rows may name any, and
    the new ones that the first rows tell the types of."""
    head = list(itertools.islice(rows, _ROWS_A_BATCH))
    new = [name for name in _columns_of(head, schema) if schema.get_field_index(name) < 0]
    flat = [_flat(row, schema) for row in head]
    fields = [pa.field(f.name, f.type) for f in schema]
    for name in new:
        kind = _column_of(name, [row.get(name) for row in flat], schema).type
        if not pa.types.is_null(kind):
            fields.append(pa.field(name, kind))
    whole = pa.schema(fields)

    def batches() -> Iterator[pa.RecordBatch]:
        first, chunk = 0, head
        while chunk:
            for name in _columns_of(chunk, whole, first):
                if whole.get_field_index(name) < 0:
                    _refuse_late(name, chunk, schema, first)
            yield _batch_of(chunk, whole, list(whole.names), first)
            first += len(chunk)
            chunk = list(itertools.islice(rows, _ROWS_A_BATCH))

    return pa.RecordBatchReader.from_batches(whole, batches())


def _refuse_late(name: str, rows: list[Any], schema: pa.Schema, first: int) -> None:
    """A column that a stream comes up with too late has no place any more, unless it says nothing."""
    for position, row in enumerate(rows, first):
        if _flat(row, schema).get(name) is not None:
            raise InvalidInputError(
                f"row {position}: the table has no column {name!r}, and the first {_ROWS_A_BATCH} rows "
                "of the stream did not have it; append the rows as a list, or add the column first")


def _flat(row: Mapping[str, Any], schema: pa.Schema) -> Mapping[str, Any]:
    """A nested dict under a key that is no column becomes dotted columns."""
    nested = [key for key, value in row.items()
              if isinstance(value, Mapping) and schema.get_field_index(key) < 0]
    if not nested:
        return row
    flat = dict(row)
    for key in nested:
        for inner, value in _flat(flat.pop(key), schema).items():
            flat[f"{key}.{inner}"] = value
    return _flat(flat, schema) if any(
        isinstance(v, Mapping) and schema.get_field_index(k) < 0 for k, v in flat.items()) else flat


def _columns_of(rows: Iterable[Any], schema: pa.Schema, first: int = 0) -> list[str]:
    """The columns that any of the rows names, those of the table first and in its order."""
    named: dict[str, None] = {}
    for position, row in enumerate(rows, first):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {position} is no dict but {type(row).__name__}")
        for key in _flat(row, schema):
            if key not in named:
                if not isinstance(key, str):
                    raise InvalidInputError(f"row {position}: keys are column names; got {key!r}")
                named[key] = None
    known = [name for name in schema.names if name in named]
    return known + [name for name in named if schema.get_field_index(name) < 0]


def _column_of(name: str, values: list[Any], schema: pa.Schema, first: int = 0) -> pa.Array:
    """The values of a column: of the table's type, or of what they tell where it is a new one."""
    index = schema.get_field_index(name)
    if index >= 0:
        return _array_of(values, pa.field(name, schema.field(index).type), first)
    try:
        array = pa.array(values)
        return array.cast(_new_type(array.type))
    except (pa.ArrowException, OverflowError, UnicodeError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"the table has no column {name!r}, and its values are of no one type to add it with: "
            f"{error}") from None


def _new_type(kind: pa.DataType) -> pa.DataType:
    """The type of a new column whose values have that one: text is made for long texts."""
    return pa.large_utf8() if pa.types.is_string(kind) else kind


def _batch_of(
    rows: Iterable[Any], schema: pa.Schema, columns: list[str], first: int = 0
) -> pa.RecordBatch:
    """The rows as one batch; messages count them from `first`."""
    flat = [_flat(row, schema) for row in rows]
    arrays = [_column_of(name, [row.get(name) for row in flat], schema, first) for name in columns]
    if not arrays:  # Rows without any key: as many rows of nulls.
        if not len(schema):
            raise InvalidInputError("the table has no columns")
        columns = [schema.field(0).name]
        arrays = [pa.nulls(len(flat), schema.field(0).type)]
    return pa.RecordBatch.from_arrays(arrays, names=columns)


def _holds_vectors(kind: pa.DataType) -> bool:
    return pa.types.is_fixed_size_list(kind) and pa.types.is_float32(kind.value_type)


def _vectors_of(values: list[Any], field: pa.Field, first: int) -> pa.Array | None:
    """A column of vectors, from numpy's ten times as quickly as pyarrow makes it; None where there
    is anything but sequences of numbers. InvalidInputError for one of a wrong length."""
    size = field.type.list_size
    numbers = array.array("f")
    numpy = sys.modules.get("numpy")
    # Beyond the range of floats numbers become infinite, which the table refuses.
    quiet = numpy.errstate(over="ignore") if numpy else contextlib.nullcontext()
    with quiet:
        for position, value in enumerate(values, first):
            before = len(numbers)
            try:
                if isinstance(value, (list, tuple)):
                    numbers.extend(array.array("f", value))
                elif numpy and isinstance(value, numpy.ndarray) and value.dtype.kind in "fiu":
                    if value.ndim != 1:
                        return None
                    numbers.frombytes(value.astype(numpy.float32).tobytes())
                else:
                    return None
            except (TypeError, OverflowError):
                return None
            if len(numbers) - before != size:
                raise InvalidInputError(
                    f"row {position}: column {field.name!r}: the vector has "
                    f"{len(numbers) - before} dimensions; the column has {size}")
    floats = pa.Array.from_buffers(pa.float32(), len(numbers), [None, pa.py_buffer(numbers)])
    return pa.Array.from_buffers(field.type, len(values), [None], children=[floats])


def _array_of(values: list[Any], field: pa.Field, first: int = 0) -> pa.Array:
    kind = field.type
    if _holds_vectors(kind) and (vectors := _vectors_of(values, field, first)) is not None:
        return vectors
    _refuse_lossy(values, field, first)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        values = [_parse_time(value, field) if isinstance(value, str) else value for value in values]
    if pa.types.is_dictionary(kind):
        return _array_of(values, pa.field(field.name, kind.value_type), first)
    try:
        return pa.array(values, type=kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError,
            UnicodeError, TypeError, ValueError) as error:
        for position, value in enumerate(values, first):
            try:
                pa.array([value], type=kind)
            except (pa.ArrowException, OverflowError, UnicodeError, TypeError, ValueError) as reason:
                raise InvalidInputError(
                    f"row {position}: column {field.name!r} is {kind} and can't hold "
                    f"{_shown(value)}: {reason}") from None
        raise InvalidInputError(f"column {field.name!r}: {error}") from None


def _refuse_lossy(values: list[Any], field: pa.Field, first: int) -> None:
    """What Arrow would convert and a table must not: a float or bool into an integer column, a
    number into text."""
    kind = field.type
    if pa.types.is_integer(kind):
        refused: tuple[type, ...] = (float, bool)
    elif pa.types.is_floating(kind):
        refused = (bool,)
    else:
        return
    for position, value in enumerate(values, first):
        if isinstance(value, refused):
            raise InvalidInputError(
                f"row {position}: column {field.name!r} is {kind} and can't hold {_shown(value)}")


def _parse_time(text: str, field: pa.Field) -> Any:
    try:
        if pa.types.is_date(field.type):
            return datetime.date.fromisoformat(text)
        value = datetime.datetime.fromisoformat(text)
        if value.tzinfo is not None and field.type.tz is None:
            raise ValueError("it has a time zone and the column has none")
        return value
    except ValueError as error:
        raise InvalidInputError(
            f"column {field.name!r} is {field.type} and can't hold {_shown(text)}: {error}") from None


def _shown(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 80 else text[:77] + "..."
