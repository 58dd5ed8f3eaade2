"""The public classes, over the compiled module."""

from __future__ import annotations

import atexit
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from . import _infino
from ._convert import stream_capsule
from ._errors import InvalidInputError, InvalidNameError

if TYPE_CHECKING:
    import numpy

_U64_MAX = 2**64 - 1
_U32_MAX = 2**32 - 1

# What a search gives by default.
_HITS = pa.schema(
    [
        pa.field("_id", pa.decimal128(38, 0), nullable=False),
        pa.field("score", pa.float32(), nullable=False),
    ]
)
_NO_HITS = _HITS.empty_table()
_ID_BYTES = 16

_METRICS = ("cosine", "l2sq", "l2", "negdot", "dot")
_TIERS = ("sq8_residual", "fp32", "fp16", "sq8", "none")
_DIMENSIONS = range(16, 4097)

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


def _matches_all(mode: str | None, name: str = "mode") -> bool:
    if mode is None:
        return False
    folded = _text(name, mode).lower()
    if folded not in ("or", "and"):
        raise InvalidInputError(f"{name} must be 'or' or 'and'; got {mode!r}")
    return folded == "and"


def _filter(
    column: str | None, query: str | None, mode: str | None
) -> tuple[str, str, bool] | None:
    if (column is None) != (query is None):
        raise InvalidInputError("filter_column and filter_query are given together or not at all")
    if column is None or query is None:
        if mode is not None:
            raise InvalidInputError("filter_mode needs filter_column and filter_query")
        return None
    return (
        _text("filter_column", column),
        _text("filter_query", query),
        _matches_all(mode, "filter_mode"),
    )


def _number(name: str, value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    return float(value)


def _weights(weights: Sequence[float] | None) -> tuple[float, float]:
    if weights is None:
        return 1.0, 1.0
    if len(weights) != 2:
        raise InvalidInputError(
            f"weights are two numbers, of the text and of the vector; got {len(weights)}"
        )
    return _number("weights", weights[0]), _number("weights", weights[1])


def _effort(nprobe: int | None, target_recall: float | None) -> tuple[int | None, float | None]:
    return (
        None if nprobe is None else _size("nprobe", nprobe, _U32_MAX),
        None if target_recall is None else _number("target_recall", target_recall),
    )


def _query_vectors(query: Any) -> Any:
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
        numbers = _query_vectors(query.flatten())
        if isinstance(numbers, list):
            return query.to_pylist()
        return numbers.cast("B").cast(numbers.format, [len(query), kind.list_size])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [_query_vectors(each) for each in query]
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


def _result_of(found: Any) -> pa.Table:
    """The rows of a search: None, Hits or a capsule."""
    if found is None:
        return _NO_HITS
    if isinstance(found, _infino.Hits):
        batch = pa.RecordBatch._import_from_c(found.address, _HITS)
        return pa.Table.from_batches([batch], _HITS)
    return _table_of(found)


class IndexSpec:
    """Which columns of a table are indexed, and how. Each call returns a new spec.

    >>> IndexSpec().fts("title").fts("body", positions=True).vector("embedding", 384)
    """

    __slots__ = ("_texts", "_vectors")

    def __init__(self) -> None:
        self._texts: tuple[tuple[str, dict[str, Any]], ...] = ()
        self._vectors: tuple[tuple[str, int, dict[str, Any]], ...] = ()

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
        spec._vectors = self._vectors
        return spec

    def vector(
        self,
        column: str,
        dim: int,
        metric: str | int | None = "cosine",
        _metric: str | None = None,
        *,
        rerank: str | None = "sq8_residual",
        stored: bool = False,
        n_cent: int | None = None,
    ) -> IndexSpec:
        """Adds a nearest-neighbour index over a column of `dim` (16 to 4096) float32 numbers a row.

        `metric` is "cosine" (1 - cosine), "l2sq" or "l2" (squared Euclidean) or "negdot" or "dot"
        (the inner product, negated): what a distance is, the less the nearer. `rerank` is how
        precisely vectors are kept: "fp32", "fp16", "sq8_residual" (2 bytes a number), "sq8" (1) or
        "none". `stored=True` keeps them as they came, too, as a column of the data files. `n_cent`,
        also in the third place, is accepted for older programs and means nothing.
        """
        del n_cent
        if isinstance(metric, int) and not isinstance(metric, bool):
            metric = _metric
        elif _metric is not None:
            raise TypeError("vector takes one metric")
        dimension = _size("dim", dim, _U32_MAX)
        if dimension not in _DIMENSIONS:
            raise InvalidInputError(
                f"column {column!r}: vectors have from {_DIMENSIONS[0]} to {_DIMENSIONS[-1]} "
                f"dimensions; got {dimension}"
            )
        options = {
            "metric": _one_of("metric", "cosine" if metric is None else metric, _METRICS),
            "rerank": _one_of("rerank", "sq8_residual" if rerank is None else rerank, _TIERS),
            "stored": bool(stored),
        }
        spec = IndexSpec()
        spec._texts = self._texts
        spec._vectors = (*self._vectors, (_text("column", column), dimension, options))
        return spec

    def _native(self) -> _infino.IndexSpec:
        native = _infino.IndexSpec()
        for column, options in self._texts:
            text = _infino.TextIndexOptions()
            for name, value in options.items():
                if value is not None:
                    setattr(text, name, value)
            native.add_text(column, text)
        for column, dimension, options in self._vectors:
            vector = _infino.VectorIndexOptions()
            for name, value in options.items():
                setattr(vector, name, value)
            native.add_vector(column, dimension, vector)
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
            return _result_of(
                self._native.search_hits(column, query, k, matches_all, is_prefix, parameters)
            )
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

    def vector_search(
        self,
        column: str,
        query: Any,
        k: int,
        filter_column: str | None = None,
        filter_query: str | None = None,
        filter_mode: str | None = None,
        projection: Sequence[str] | None = None,
        *,
        nprobe: int | None = None,
        target_recall: float | None = None,
        rerank_mult: int | None = None,
    ) -> pa.Table:
        """The `k` rows nearest to `query`, nearest first, ties by `_id`; `score` is the distance.

        `query` is a sequence of numbers or an array of any numeric type; a sequence of those, or an
        array of two dimensions, is a batch, whose result has a first column `query` that counts them
        from 0. `filter_column` and `filter_query` limit the search to the rows that match a text
        query (`filter_mode` "or" or "and"): `k` rows are found whenever so many match.
        `target_recall` (0.99) is the share of the nearest rows that is to be found, for queries that
        are distributed like the rows; 1 compares all. `nprobe` overrides it: how many reference
        points' rows are looked at. `rerank_mult` is accepted for older programs and means nothing.
        """
        del rerank_mult
        return _result_of(
            self._native.vector_search(
                (_text("column", column), _query_vectors(query)),
                _size("k", k),
                _filter(filter_column, filter_query, filter_mode),
                _effort(nprobe, target_recall),
                _projection(projection),
            )
        )

    def vector_search_ids(self, column: str, query: Any, k: int) -> numpy.ndarray:
        """The `_id` of the `k` nearest rows, nearest first: a numpy array of 16 bytes (uint8) a row,
        each a big-endian decimal128. Takes one vector."""
        import numpy

        ids = self._native.vector_search_ids(
            (_text("column", column), _query_vectors(query)), _size("k", k)
        )
        return numpy.frombuffer(ids, numpy.uint8).reshape(-1, _ID_BYTES)

    def hybrid_search(
        self,
        text_column: str,
        text_query: str,
        vector_column: str,
        vector_query: Any,
        k: int,
        mode: str | None = None,
        projection: Sequence[str] | None = None,
        *,
        depth: int | None = None,
        weights: Sequence[float] | None = None,
        filter_column: str | None = None,
        filter_query: str | None = None,
        filter_mode: str | None = None,
        nprobe: int | None = None,
        target_recall: float | None = None,
        rerank_mult: int | None = None,
    ) -> pa.Table:
        """The `k` best rows of a keyword and a vector search together, best first, ties by `_id`.

        `score` is the sum over both searches of weight / (60 + rank), ranks from 1; `weights` are
        those of text and vector (1 and 1). Each search contributes its first `depth` rows (`k`).
        `mode` is the text query's; a filter, `nprobe` and `target_recall` are as in vector_search,
        and the filter is both searches'.
        """
        del rerank_mult
        return _result_of(
            self._native.hybrid_search(
                (_text("text_column", text_column), _text("text_query", text_query),
                 _matches_all(mode)),
                (_text("vector_column", vector_column), _query_vectors(vector_query)),
                _size("k", k),
                (None if depth is None else _size("depth", depth), *_weights(weights)),
                _filter(filter_column, filter_query, filter_mode),
                _effort(nprobe, target_recall),
                _projection(projection),
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
    memory_cache_bytes: int | None = None,
    build_memory_bytes: int | None = None,
    scratch_dir: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    compression: str | None = None,
) -> Connection:
    """Connects to a folder (a path or file://PATH, created if absent) or to memory://.

    `connection_memory_budget_bytes` makes an append fail instead of holding more;
    `build_memory_bytes` (1 GiB) is what building superfiles may hold before it puts index data into
    `scratch_dir` (the system's folder for temporary files), where superfiles of more than 8 MiB go
    too, and how long superfiles get before the next one starts. `memory_cache_bytes` (512 MiB) is for
    what queries read; vector searches are quickest where half of it holds their tables' codes and
    vectors. `freshness`: how many seconds old a table's version may be before a query looks for a
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
    if memory_cache_bytes is not None:
        options.memory_cache_bytes = _size("memory_cache_bytes", memory_cache_bytes)
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
    return getattr(kind, _one_of(name, value, [member.name for member in kind]))


def _one_of(name: str, value: Any, names: Sequence[str]) -> str:
    folded = _text(name, value).lower()
    if folded not in names:
        raise InvalidInputError(f"{name} must be one of {', '.join(names)}; got {value!r}")
    return folded
