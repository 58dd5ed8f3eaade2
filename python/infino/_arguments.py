"""Checks what callers hand over, and brings it to what the compiled module takes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ._errors import InvalidInputError

U64_MAX = 2**64 - 1
U32_MAX = 2**32 - 1


def size(name: str, value: Any, limit: int = U64_MAX) -> int:
    number = operator.index(value)  # TypeError for floats and text.
    if not 0 <= number <= limit:
        raise OverflowError(f"{name} must be from 0 to {limit}; got {number}")
    return number


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(f"{name} is no valid text: {error}") from None
    return value


def wants_all(mode: str | None, name: str = "mode") -> bool:
    if mode is None:
        return False
    folded = text(name, mode).lower()
    if folded not in ("or", "and"):
        raise InvalidInputError(f"{name} must be 'or' or 'and'; got {mode!r}")
    return folded == "and"


def text_filter(
    column: str | None, query: str | None, mode: str | None
) -> tuple[str, str, bool] | None:
    if (column is None) != (query is None):
        raise InvalidInputError("filter_column and filter_query are given together or not at all")
    if column is None or query is None:
        if mode is not None:
            raise InvalidInputError("filter_mode needs filter_column and filter_query")
        return None
    return (
        text("filter_column", column),
        text("filter_query", query),
        wants_all(mode, "filter_mode"),
    )


def condition(where: str | None) -> str:
    if where is None:
        return ""
    if not text("where", where).strip():
        raise InvalidInputError("where is an empty condition; leave it out")
    return where


def row_ids(ids: Any) -> bytes:
    """Ids as decimal128 numbers, 16 bytes each, in this machine's order of bytes; without nulls."""
    if type(ids).__module__.split(".", 1)[0] == "numpy" and getattr(ids, "ndim", 0) == 2:
        if ids.dtype != "uint8" or ids.shape[1] != 16:
            raise InvalidInputError("an array of ids has 16 bytes (uint8) a row")
        return bytes(ids[:, ::-1].tobytes())  # As vector_search_ids gives them.
    kind = pa.decimal128(38, 0)
    try:
        if isinstance(ids, (pa.ChunkedArray, pa.Array)):
            ids = ids.cast(kind).to_pylist()
        elif isinstance(ids, (str, bytes)):
            raise TypeError("ids are numbers, not text")
        array = pa.array([each for each in ids if each is not None], kind)
    except pa.ArrowTypeError as error:
        raise TypeError(f"ids are whole numbers: {error}") from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InvalidInputError(f"ids are whole numbers of up to 38 digits: {error}") from None
    return array.buffers()[1].to_pybytes()[: 16 * len(array)] if len(array) else b""


def number(name: str, value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    return float(value)


def weight_pair(weights: Sequence[float] | None) -> tuple[float, float]:
    if weights is None:
        return 1.0, 1.0
    if len(weights) != 2:
        raise InvalidInputError(
            f"weights are two numbers, of the text and of the vector; got {len(weights)}"
        )
    return number("weights", weights[0]), number("weights", weights[1])


def effort(nprobe: int | None, target_recall: float | None) -> tuple[int | None, float | None]:
    return (
        None if nprobe is None else size("nprobe", nprobe, U32_MAX),
        None if target_recall is None else number("target_recall", target_recall),
    )


def query_vectors(query: Any) -> Any:
    """pyarrow's values as memory that the compiled module reads; everything else it reads itself."""
    if isinstance(query, pa.ChunkedArray):
        query = query.combine_chunks()
        if isinstance(query, pa.ChunkedArray):  # Of no chunk, in older versions.
            query = pa.concat_arrays(query.chunks) if query.num_chunks else pa.nulls(0, query.type)
    if isinstance(query, (pa.ListScalar, pa.FixedSizeListScalar, pa.LargeListScalar)):
        query = query.values
        if query is None:
            raise InvalidInputError("a query vector can't be null")
    if not isinstance(query, pa.Array):
        return query
    if query.null_count:
        raise InvalidInputError("a query vector can't have nulls, nor can a batch of them")
    kind = query.type
    if pa.types.is_fixed_size_list(kind) and kind.list_size > 0:
        if len(query) == 0:
            return memoryview(bytes(8)).cast("d", [1, 1])[:0]
        numbers = query_vectors(query.flatten())
        if isinstance(numbers, list):
            return query.to_pylist()
        return numbers.cast("B").cast(numbers.format, [len(query), kind.list_size])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [query_vectors(each) for each in query]
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise TypeError(f"a query vector is an array of numbers, not of {kind}")
    if len(query) == 0:
        return []
    if not pa.types.is_float32(kind) and not pa.types.is_float64(kind):
        try:
            query = query.cast(pa.float64(), safe=False)
        except pa.ArrowNotImplementedError:  # Of half floats, in older versions.
            return query.to_pylist()
    letter, size = ("f", 4) if pa.types.is_float32(query.type) else ("d", 8)
    values = memoryview(query.buffers()[1]).cast("B")
    return values[size * query.offset : size * (query.offset + len(query))].cast(letter)


def column_names(columns: Sequence[str] | None) -> list[str] | None:
    if columns is None:
        return None
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise TypeError("projection must be a list of column names")
    return [text("projection", column) for column in columns]


def bm25_parameters(k1: float | None, b: float | None) -> tuple[float, float] | None:
    if (k1 is None) != (b is None):
        raise InvalidInputError("k1 and b are given together or not at all")
    return None if k1 is None or b is None else (float(k1), float(b))


def choice(kind: Any, name: str, value: str) -> Any:
    return getattr(kind, one_of(name, value, [member.name for member in kind]))


def one_of(name: str, value: Any, names: Sequence[str]) -> str:
    folded = text(name, value).lower()
    if folded not in names:
        raise InvalidInputError(f"{name} must be one of {', '.join(names)}; got {value!r}")
    return folded
