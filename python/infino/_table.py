"""One table: change and search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from . import _infino
from ._arguments import (
    bm25_parameters,
    column_names,
    condition,
    effort,
    query_vectors,
    row_ids,
    size,
    text,
    text_filter,
    wants_all,
    weight_pair,
)
from ._convert import stream_capsule
from ._errors import InvalidInputError

if TYPE_CHECKING:
    import numpy

# What a search gives by default.
_HITS = pa.schema(
    [
        pa.field("_id", pa.decimal128(38, 0), nullable=False),
        pa.field("score", pa.float32(), nullable=False),
    ]
)
_NO_HITS = _HITS.empty_table()
_ID_BYTES = 16


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


@dataclass(frozen=True)
class MutationStats:
    """What a delete, an update or an upsert did.

    `matched`: rows that the predicate selected, or whose key was given; `n_tombstoned`: how many of
    them were removed or replaced; `n_not_found`: rows of an upsert whose key no row had, which were
    added. Rows that a concurrent change removed first are its own, and counted there.
    """

    matched: int
    n_tombstoned: int
    n_not_found: int


class Table:
    """One table of a connection. Thread-safe; not picklable: open it where it is used."""

    __slots__ = ("__weakref__", "_native")

    def __init__(self, native: _infino.Table) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """The table's name."""
        return self._native.name

    def schema(self) -> pa.Schema:
        """The columns, exactly as they were declared, added or changed; `_id` is not among them."""
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
        self._native.append(self._stream_of(data), progress)

    def _stream_of(self, data: Any, *, with_id: bool = False) -> Any:
        schema = self.schema()  # Asked each time: another program may have changed it.
        if with_id:
            schema = pa.schema([*schema, pa.field("_id", _HITS.field("_id").type)])
        return stream_capsule(data, schema)

    def delete(self, predicate: str) -> MutationStats:
        """Deletes the rows for which `predicate`, a SQL condition, is true, as one commit.

        It may name the stored columns and `_id`; rows for which it is null stay. If no row matches,
        there is no commit.
        """
        return MutationStats(*self._native.delete(text("predicate", predicate))[:3])

    def update(self, predicate: str, new_rows: Any) -> MutationStats:
        """Replaces the rows that `predicate` selects, as one commit.

        `new_rows` is anything append takes, and has as many rows as match, else ValueError: the
        i-th takes the place, and the `_id`, of the i-th in `_id` order. Rows are replaced as a
        whole: missing columns become null. However many programs update a row at once, one row of
        its `_id` is left; ConflictError if another one changed which rows match.
        """
        capsule = self._stream_of(new_rows)
        return MutationStats(*self._native.update(text("predicate", predicate), capsule)[:3])

    def upsert(self, rows: Any, on: str) -> MutationStats:
        """Replaces the rows that have the same value in the column `on`, and adds the others, as one
        commit.

        `rows` is anything append takes. A replaced row keeps its `_id`. `on` is a stored column of
        integers, booleans, text, bytes, decimals, dates or times, or `_id`; null equals nothing.
        ValueError if a value is given twice, or several rows of the table have it.
        """
        capsule = self._stream_of(rows, with_id=text("on", on) == "_id")
        return MutationStats(*self._native.upsert(capsule, on)[:3])

    def get(self, ids: Any, projection: Sequence[str] | None = None) -> pa.Table:
        """The rows of these `_id`s, in their order; those that are not there are left out.

        `ids` are whole numbers (int, Decimal), a pyarrow array of them, or what vector_search_ids
        gives. Without a projection: `_id` and all stored columns.
        """
        return _table_of(self._native.get(row_ids(ids), column_names(projection)))

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
        where: str | None = None,
    ) -> pa.Table:
        """The `k` best rows by BM25, best first, ties by `_id`.

        `where`, on this and every search, is a condition in SQL over the stored columns and `_id`:
        only rows for which it is true are found, `k` of them whenever so many match; scores stay
        those of the whole table. `mode` is "or" (default) or "and"; `projection` lists the columns of the result, `_id` and
        `score` among them (default: those two). `k1` and `b` override the column's. `stats` is
        accepted for older programs: statistics are always those of the whole table.
        """
        del stats
        return self._ranked(
            column, query, k, wants_all(mode), False, projection, bm25_parameters(k1, b), where
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
        where: str | None = None,
    ) -> pa.Table:
        """The `k` best rows by BM25 with a word that begins with `prefix`.

        The prefix is analysed as documents are; of anything but one word nothing is found. As a
        part of a query, `pref*` does the same.
        """
        return self._ranked(
            column, prefix, k, False, True, projection, bm25_parameters(k1, b), where
        )

    def _ranked(
        self,
        column: str,
        query: str,
        k: int,
        matches_all: bool,
        is_prefix: bool,
        projection: Sequence[str] | None,
        parameters: tuple[float, float] | None,
        where: str | None,
    ) -> pa.Table:
        column, query, k = text("column", column), text("query", query), size("k", k)
        limit = condition(where)
        if projection is None:
            return _result_of(
                self._native.search_hits(
                    column, query, k, matches_all, is_prefix, parameters, limit
                )
            )
        return _table_of(
            self._native.search(
                column, query, k, matches_all, is_prefix, column_names(projection), parameters,
                limit,
            )
        )

    def token_match(
        self,
        column: str,
        query: str,
        mode: str | None = None,
        projection: Sequence[str] | None = None,
        *,
        where: str | None = None,
    ) -> pa.Table:
        """All rows whose tokens match, in `_id` order; `score` is 0."""
        return _table_of(
            self._native.token_match(
                text("column", column),
                text("query", query),
                wants_all(mode),
                column_names(projection),
                condition(where),
            )
        )

    def exact_match(
        self,
        column: str,
        value: str,
        projection: Sequence[str] | None = None,
        *,
        where: str | None = None,
    ) -> pa.Table:
        """All rows whose text is `value`, byte for byte, in `_id` order; `score` is 0.

        The column has a keyword index and is stored. A null never matches.
        """
        return _table_of(
            self._native.exact_match(
                text("column", column), text("value", value), column_names(projection),
                condition(where),
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
        where: str | None = None,
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
                (text("column", column), query_vectors(query)),
                size("k", k),
                text_filter(filter_column, filter_query, filter_mode),
                effort(nprobe, target_recall),
                column_names(projection),
                condition(where),
            )
        )

    def vector_search_ids(
        self, column: str, query: Any, k: int, *, where: str | None = None
    ) -> numpy.ndarray:
        """The `_id` of the `k` nearest rows, nearest first: a numpy array of 16 bytes (uint8) a row,
        each a big-endian decimal128. Takes one vector."""
        import numpy

        ids = self._native.vector_search_ids(
            (text("column", column), query_vectors(query)), size("k", k), condition(where)
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
        where: str | None = None,
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
                (text("text_column", text_column), text("text_query", text_query),
                 wants_all(mode)),
                (text("vector_column", vector_column), query_vectors(vector_query)),
                size("k", k),
                (None if depth is None else size("depth", depth), *weight_pair(weights)),
                text_filter(filter_column, filter_query, filter_mode),
                effort(nprobe, target_recall),
                column_names(projection),
                condition(where),
            )
        )

    def count(
        self, column: str, query: str, mode: str | None = None, *, where: str | None = None
    ) -> int:
        """How many rows token_match would give."""
        return self._native.count(
            text("column", column), text("query", query), wants_all(mode), condition(where)
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Table can't be pickled; open it in the process that uses it")
