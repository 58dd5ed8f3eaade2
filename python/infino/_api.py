"""The public classes, over the compiled module."""

from __future__ import annotations

import atexit
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import pyarrow as pa

from . import _infino
from ._convert import stream_capsule
from ._errors import InvalidInputError, InvalidNameError

_U64_MAX = 2**64 - 1

# What a search gives by default.
_HITS = pa.schema(
    [
        pa.field("_id", pa.decimal128(38, 0), nullable=False),
        pa.field("score", pa.float32(), nullable=False),
    ]
)
_NO_HITS = _HITS.empty_table()

# Daemon threads may still be in the library when the interpreter goes.
atexit.register(_infino.begin_exit)
os.register_at_fork(after_in_child=_infino.forget_other_threads)


def _size(name: str, value: Any, limit: int = _U64_MAX) -> int:
    number = operator.index(value)  # TypeError for floats and text.
    if not 0 <= number <= limit:
        raise OverflowError(f"{name} must be from 0 to {limit}; got {number}")
    return number


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(f"{name} is no valid text: {error}") from None
    return value


def _matches_all(mode: str | None) -> bool:
    if mode is None:
        return False
    folded = _text("mode", mode).lower()
    if folded not in ("or", "and"):
        raise InvalidInputError(f"mode must be 'or' or 'and'; got {mode!r}")
    return folded == "and"


def _projection(columns: Sequence[str] | None) -> list[str] | None:
    if columns is None:
        return None
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise TypeError("projection must be a list of column names")
    return [_text("projection", column) for column in columns]


def _parameters(k1: float | None, b: float | None) -> tuple[float, float] | None:
    if (k1 is None) != (b is None):
        raise InvalidInputError("k1 and b are given together or not at all")
    return None if k1 is None or b is None else (float(k1), float(b))


def _table_of(capsule: Any) -> pa.Table:
    return pa.RecordBatchReader._import_from_c_capsule(capsule).read_all()


class IndexSpec:
    """Which columns of a table are indexed, and how. Each call returns a new spec.

    >>> IndexSpec().fts("title").fts("body", positions=True)
    """

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        self._texts: tuple[tuple[str, dict[str, Any]], ...] = ()

    def fts(
        self,
        column: str,
        analyzer: str | None = None,
        stored: bool = True,
        k1: float | None = None,
        b: float | None = None,
        *,
        stopwords: str | None = None,
        stemmer: str | None = None,
        positions: bool = False,
    ) -> IndexSpec:
        """Adds a keyword index (BM25) over a text column.

        `stored=False` keeps the index only; `k1` and `b` (both or neither) default to 1.2 and 0.75;
        `stopwords` and `stemmer` are "english" or None; `positions` is what phrases need.
        """
        _parameters(k1, b)
        for name, value in (("stopwords", stopwords), ("stemmer", stemmer)):
            if value not in (None, "english"):
                raise InvalidInputError(f"{name} must be 'english' or None; got {value!r}")
        options = {
            "analyzer": _text("analyzer", analyzer) if analyzer is not None else "standard",
            "stored": bool(stored),
            "k1": None if k1 is None else float(k1),
            "b": None if b is None else float(b),
            "stopwords": stopwords,
            "stemmer": stemmer,
            "positions": bool(positions),
        }
        spec = IndexSpec()
        spec._texts = (*self._texts, (_text("column", column), options))
        return spec

    def _native(self) -> _infino.IndexSpec:
        native = _infino.IndexSpec()
        for column, options in self._texts:
            text = _infino.TextIndexOptions()
            for name, value in options.items():
                if value is not None:
                    setattr(text, name, value)
            native.add_text(column, text)
        return native


class Table:
    """One table of a connection. Thread-safe; not picklable: open it where it is used."""

    __slots__ = ("__weakref__", "_native", "_schema")

    def __init__(self, native: _infino.Table) -> None:
        self._native = native
        self._schema: pa.Schema | None = None

    @property
    def name(self) -> str:
        """The table's name."""
        return self._native.name

    def schema(self) -> pa.Schema:
        """The declared columns, exactly as they were declared; `_id` is not among them."""
        return pa.Schema._import_from_c_capsule(self._native.schema())

    def stats(self) -> dict[str, int]:
        """`version`, `rows`, `superfiles` and `bytes` of the newest version."""
        native = self._native.stats()
        return {
            "version": native.version,
            "rows": native.rows,
            "superfiles": native.superfiles,
            "bytes": native.bytes,
        }

    def append(
        self, data: Any, *, progress: Callable[[int, int, int], Any] | None = None
    ) -> None:
        """Adds all rows of `data` as one commit, durable on return; nothing if it fails.

        `data` is a pyarrow batch, table or batch reader, a pandas or Polars DataFrame, any object
        with the Arrow PyCapsule interface, a list of dicts, or an iterable of these. Streams are read
        in bounded memory. Columns are matched by name; missing nullable ones are null; types are
        converted only where nothing is lost. `progress(rows, superfiles, bytes)` is called as the
        append advances.
        """
        if self._schema is None:
            self._schema = self.schema()
        self._native.append(stream_capsule(data, self._schema), progress)

    def bm25_search(
        self,
        column: str,
        query: str,
        k: int,
        mode: str | None = None,
        projection: Sequence[str] | None = None,
        *,
        k1: float | None = None,
        b: float | None = None,
        stats: str | None = None,
    ) -> pa.Table:
        """The `k` best rows by BM25, best first, ties by `_id`.

        `mode` is "or" (default) or "and"; `projection` lists the columns of the result, `_id` and
        `score` among them (default: those two). `k1` and `b` override the column's. `stats` is
        accepted for older programs: statistics are always those of the whole table.
        """
        del stats
        return self._ranked(
            column, query, k, _matches_all(mode), False, projection, _parameters(k1, b)
        )

    def bm25_search_prefix(
        self,
        column: str,
        prefix: str,
        k: int,
        projection: Sequence[str] | None = None,
        *,
        k1: float | None = None,
        b: float | None = None,
    ) -> pa.Table:
        """The `k` best rows by BM25 with a word that begins with `prefix`.

        The prefix is analysed as documents are; of anything but one word nothing is found. As a
        part of a query, `pref*` does the same.
        """
        return self._ranked(column, prefix, k, False, True, projection, _parameters(k1, b))

    def _ranked(
        self,
        column: str,
        query: str,
        k: int,
        matches_all: bool,
        is_prefix: bool,
        projection: Sequence[str] | None,
        parameters: tuple[float, float] | None,
    ) -> pa.Table:
        column, query, k = _text("column", column), _text("query", query), _size("k", k)
        if projection is None:
            hits = self._native.search_hits(column, query, k, matches_all, is_prefix, parameters)
            if hits is None:
                return _NO_HITS
            batch = pa.RecordBatch._import_from_c(hits.address, _HITS)
            return pa.Table.from_batches([batch], _HITS)
        return _table_of(
            self._native.search(
                column, query, k, matches_all, is_prefix, _projection(projection), parameters
            )
        )

    def token_match(
        self,
        column: str,
        query: str,
        mode: str | None = None,
        projection: Sequence[str] | None = None,
    ) -> pa.Table:
        """All rows whose tokens match, in `_id` order; `score` is 0."""
        return _table_of(
            self._native.token_match(
                _text("column", column),
                _text("query", query),
                _matches_all(mode),
                _projection(projection),
            )
        )

    def exact_match(
        self, column: str, value: str, projection: Sequence[str] | None = None
    ) -> pa.Table:
        """All rows whose text is `value`, byte for byte, in `_id` order; `score` is 0.

        The column has a keyword index and is stored. A null never matches.
        """
        return _table_of(
            self._native.exact_match(
                _text("column", column), _text("value", value), _projection(projection)
            )
        )

    def count(self, column: str, query: str, mode: str | None = None) -> int:
        """How many rows token_match would give."""
        return self._native.count(_text("column", column), _text("query", query), _matches_all(mode))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Table can't be pickled; open it in the process that uses it")


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
        _text("name", name)
        try:
            native = self._native.create_table(name, schema.__arrow_c_schema__(), indexes._native())
        except InvalidInputError as error:
            raise _name_error(error) from None
        return Table(native)

    def open_table(self, name: str) -> Table:
        """Opens a table. KeyError if there is none of that name."""
        return Table(self._native.open_table(_text("name", name)))

    def drop_table(self, name: str, purge: bool = True) -> None:
        """Drops a table, and deletes its objects with `purge`. A name that is not there is no
        error."""
        self._native.drop_table(_text("name", name), bool(purge))

    def list_tables(self) -> list[str]:
        """All names, sorted."""
        return self._native.list_tables()

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
    build_memory_bytes: int | None = None,
    scratch_dir: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    compression: str | None = None,
) -> Connection:
    """Connects to a folder (a path or file://PATH, created if absent) or to memory://.

    `connection_memory_budget_bytes` makes an append fail instead of holding more;
    `build_memory_bytes` (1 GiB) is what building superfiles may hold before it puts index data into
    `scratch_dir` (the system's folder for temporary files), where superfiles of more than 8 MiB go
    too, and how long superfiles get before the next one starts. `freshness`: how many seconds old a table's version may be before a query looks for a
    newer one. `compression` of the columns: "zstd" (default), "lz4" or "none". `storage_options`,
    `cache_dir`, `cache_budget_bytes`, `cold_fetch_mode` and `api_key` concern remote stores and are
    accepted everywhere.
    """
    del api_key
    options = _infino.ConnectOptions()
    if storage_options is not None:
        options.storage_options = {
            _text("storage option", key): _text(f"storage option {key}", value)
            for key, value in storage_options.items()
        }
    if cache_dir is not None:
        options.cache_dir = os.fspath(cache_dir)
    if cache_budget_bytes is not None:
        options.cache_budget_bytes = _size("cache_budget_bytes", cache_budget_bytes)
    if connection_memory_budget_bytes is not None:
        options.memory_budget_bytes = _size(
            "connection_memory_budget_bytes", connection_memory_budget_bytes
        )
    if cold_fetch_mode is not None:
        options.cold_fetch_mode = _choice(
            _infino.ColdFetchMode, "cold_fetch_mode", cold_fetch_mode
        )
    if validate is not None:
        options.validate = bool(validate)
    if freshness is not None:
        if not 0 <= freshness < 1e9:
            raise InvalidInputError(f"freshness must be from 0 to 1e9 seconds; got {freshness!r}")
        options.freshness_ms = int(freshness * 1000)
    if build_memory_bytes is not None:
        options.build_memory_bytes = _size("build_memory_bytes", build_memory_bytes)
    if scratch_dir is not None:
        options.scratch_dir = os.fspath(scratch_dir)
    if threads is not None:
        options.thread_count = _size("threads", threads, 4096)
    if compression is not None:
        options.compression = _choice(_infino.Compression, "compression", compression)
    try:
        return Connection(_infino.connect(_text("uri", os.fspath(uri)), options))
    except InvalidInputError as error:
        raise InvalidNameError(str(error)) from None


def _choice(kind: Any, name: str, value: str) -> Any:
    folded = _text(name, value).lower()
    names = [member.name for member in kind]
    if folded not in names:
        raise InvalidInputError(f"{name} must be one of {', '.join(names)}; got {value!r}")
    return getattr(kind, folded)
