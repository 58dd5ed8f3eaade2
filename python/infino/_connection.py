"""The tables under one URI."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import pyarrow as pa

from . import _infino
from ._arguments import (
    choice,
    size,
    text,
)
from ._errors import InvalidInputError, InvalidNameError
from ._parameters import parameters_capsule
from ._index_spec import IndexSpec
from ._table import Table

# Daemon threads may still be in the library when the interpreter goes.
atexit.register(_infino.begin_exit)
os.register_at_fork(after_in_child=_infino.forget_other_threads)


class Connection:
    """The tables under one URI. Thread-safe; not picklable: connect where it is used."""

    __slots__ = ("__weakref__", "_native")

    def __init__(self, native: _infino.Connection) -> None:
        self._native = native

    @property
    def uri(self) -> str:
        """What was connected to."""
        return self._native.uri

    def create_table(self, name: str, schema: pa.Schema, indexes: IndexSpec) -> Table:
        """Creates an empty table. ValueError if the name is taken or the schema can't be."""
        if not isinstance(schema, pa.Schema) and not hasattr(schema, "__arrow_c_schema__"):
            raise TypeError(f"schema must be a pyarrow.Schema, not {type(schema).__name__}")
        if not isinstance(indexes, IndexSpec):
            raise TypeError(f"indexes must be an IndexSpec, not {type(indexes).__name__}")
        text("name", name)
        try:
            native = self._native.create_table(name, schema.__arrow_c_schema__(), indexes._native())
        except InvalidInputError as error:
            raise _name_error(error) from None
        return Table(native)

    def open_table(self, name: str) -> Table:
        """Opens a table. KeyError if there is none of that name."""
        return Table(self._native.open_table(text("name", name)))

    def drop_table(self, name: str, purge: bool = True) -> None:
        """Drops a table, and deletes its objects with `purge`. A name that is not there is no
        error."""
        self._native.drop_table(text("name", name), bool(purge))

    def list_tables(self) -> list[str]:
        """All names, sorted."""
        return self._native.list_tables()

    def schema(
        self,
        name: str,
        patch: Mapping[str, Any] | None = None,
        expected_schema_id: int | None = None,
    ) -> dict[str, Any]:
        """The schema of a table as a document (docs/schema.md), after `patch` has changed it: a
        document with the fields to add, rename, widen or drop. One commit, in which no row is
        rewritten; a table that does not exist is created. ConflictError if its schema_id is another
        than `expected_schema_id`."""
        text("name", name)
        if expected_schema_id is not None:
            expected_schema_id = size("expected_schema_id", expected_schema_id, 2**62)
        if patch is None and expected_schema_id is None:
            return json.loads(self._native.schema_document(name))
        if patch is not None and not isinstance(patch, Mapping):
            raise TypeError(f"patch must be a dict, not {type(patch).__name__}")
        try:
            document = json.dumps(dict(patch or {}), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"the patch is no JSON document: {error}") from None
        try:
            return json.loads(self._native.evolve_schema(name, document, expected_schema_id))
        except InvalidInputError as error:
            raise _name_error(error) from None

    def query_sql(
        self, sql: str, params: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> pa.Table:
        """Runs one reading SQL statement over the tables, in DuckDB's dialect, with the searches as
        table functions. `params` are the values of ? or $1 (a sequence) or of $name (a mapping).
        ValueError for anything wrong in the statement, or one that would write."""
        parameters = None if params is None else parameters_capsule(params)
        return pa.RecordBatchReader._import_from_c_capsule(
            self._native.query_sql(text("sql", sql), parameters)
        ).read_all()

    def create_database(self) -> None:
        """Does nothing: a folder or bucket needs no creating. For programs that call it."""

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Connection can't be pickled; connect in the process that uses it")


def _name_error(error: InvalidInputError) -> Exception:
    text = str(error)
    wrong_name = "invalid table name" in text or "URI" in text or "connect" in text
    return InvalidNameError(text) if wrong_name else error


def connect(
    uri: str | os.PathLike[str],
    *,
    storage_options: Mapping[str, str] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    cache_budget_bytes: int | None = None,
    connection_memory_budget_bytes: int | None = None,
    cold_fetch_mode: str | None = None,
    validate: bool | None = None,
    api_key: str | None = None,
    freshness: float | None = None,
    memory_cache_bytes: int | None = None,
    build_memory_bytes: int | None = None,
    scratch_dir: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    compression: str | None = None,
    strict_schema: bool = False,
) -> Connection:
    """Connects to a folder (a path or file://PATH, created if absent), to memory://, or to a bucket:
    s3://BUCKET/PREFIX, az://CONTAINER/PREFIX, gs://BUCKET/PREFIX. `storage_options` say how that is
    reached, by the names that object_store uses (docs/storage.md), else the usual environment.

    `connection_memory_budget_bytes` makes an append fail instead of holding more;
    `build_memory_bytes` (1 GiB) is what building superfiles may hold before it puts index data into
    `scratch_dir` (the system's folder for temporary files), where superfiles of more than 8 MiB go
    too, and how long superfiles get before the next one starts. `memory_cache_bytes` (512 MiB) is for
    what queries read; vector searches are quickest where half of it holds their tables' codes and
    vectors. `freshness`: how many seconds old a table's version may be before a query looks for a
    newer one. `compression` of the columns: "zstd" (default), "lz4" or "none". With `strict_schema`
    an append with a column that its table does not have fails; without, the column is added.
    `cache_dir`, `cache_budget_bytes`, `cold_fetch_mode` and `api_key` are accepted everywhere.
    """
    del api_key
    options = _infino.ConnectOptions()
    if storage_options is not None:
        options.storage_options = {
            text("storage option", key): text(f"storage option {key}", value)
            for key, value in storage_options.items()
        }
    if cache_dir is not None:
        options.cache_dir = os.fspath(cache_dir)
    if cache_budget_bytes is not None:
        options.cache_budget_bytes = size("cache_budget_bytes", cache_budget_bytes)
    if connection_memory_budget_bytes is not None:
        options.memory_budget_bytes = size(
            "connection_memory_budget_bytes", connection_memory_budget_bytes
        )
    if cold_fetch_mode is not None:
        options.cold_fetch_mode = choice(
            _infino.ColdFetchMode, "cold_fetch_mode", cold_fetch_mode
        )
    if validate is not None:
        options.validate = bool(validate)
    if freshness is not None:
        if not 0 <= freshness < 1e9:
            raise InvalidInputError(f"freshness must be from 0 to 1e9 seconds; got {freshness!r}")
        options.freshness_ms = int(freshness * 1000)
    if memory_cache_bytes is not None:
        options.memory_cache_bytes = size("memory_cache_bytes", memory_cache_bytes)
    if build_memory_bytes is not None:
        options.build_memory_bytes = size("build_memory_bytes", build_memory_bytes)
    if scratch_dir is not None:
        options.scratch_dir = os.fspath(scratch_dir)
    if threads is not None:
        options.thread_count = size("threads", threads, 4096)
    if compression is not None:
        options.compression = choice(_infino.Compression, "compression", compression)
    options.strict_schema = bool(strict_schema)
    try:
        return Connection(_infino.connect(text("uri", os.fspath(uri)), options))
    except InvalidInputError as error:
        raise InvalidNameError(str(error)) from None
