"""The values of an SQL statement's parameters, as one Arrow row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ._errors import InvalidInputError


def parameters_capsule(params: Sequence[Any] | Mapping[str, Any]) -> Any:
    """An "arrow_array_stream" PyCapsule of one row, whose columns are named as the parameters."""
    if isinstance(params, Mapping):
        named = {str(name): value for name, value in params.items()}
    elif isinstance(params, Sequence) and not isinstance(params, (str, bytes, bytearray)):
        named = {str(number): value for number, value in enumerate(params, start=1)}
    else:
        raise TypeError(f"params must be a list or a dict, not {type(params).__name__}")
    arrays = [_array_of(name, value) for name, value in named.items()]
    fields = [pa.field(name, array.type) for name, array in zip(named, arrays, strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields)) if arrays else None
    if batch is None:
        batch = pa.RecordBatch.from_struct_array(pa.array([{}], pa.struct([])))
    return pa.RecordBatchReader.from_batches(batch.schema, [batch]).__arrow_c_stream__()


def _array_of(name: str, value: Any) -> pa.Array:
    """The value alone in an array. Arrays of numbers, as NumPy's, are lists."""
    if isinstance(value, pa.Scalar):
        return pa.repeat(value, 1)
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):
        value = value.tolist()
    try:
        return pa.array([value])
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
        raise InvalidInputError(f"parameter {name}: {error}") from None
