"""Which columns are indexed, and how."""

from __future__ import annotations

from typing import Any

from . import _infino
from ._arguments import (
    U32_MAX,
    bm25_parameters,
    one_of,
    size,
    text,
)
from ._errors import InvalidInputError

_METRICS = ("cosine", "l2sq", "l2", "negdot", "dot")
_TIERS = ("sq8_residual", "fp32", "fp16", "sq8", "none")
_DIMENSIONS = range(16, 4097)


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
        bm25_parameters(k1, b)
        for name, value in (("stopwords", stopwords), ("stemmer", stemmer)):
            if value not in (None, "english"):
                raise InvalidInputError(f"{name} must be 'english' or None; got {value!r}")
        options = {
            "analyzer": text("analyzer", analyzer) if analyzer is not None else "standard",
            "stored": bool(stored),
            "k1": None if k1 is None else float(k1),
            "b": None if b is None else float(b),
            "stopwords": stopwords,
            "stemmer": stemmer,
            "positions": bool(positions),
        }
        spec = IndexSpec()
        spec._texts = (*self._texts, (text("column", column), options))
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
        dimension = size("dim", dim, U32_MAX)
        if dimension not in _DIMENSIONS:
            raise InvalidInputError(
                f"column {column!r}: vectors have from {_DIMENSIONS[0]} to {_DIMENSIONS[-1]} "
                f"dimensions; got {dimension}"
            )
        options = {
            "metric": one_of("metric", "cosine" if metric is None else metric, _METRICS),
            "rerank": one_of("rerank", "sq8_residual" if rerank is None else rerank, _TIERS),
            "stored": bool(stored),
        }
        spec = IndexSpec()
        spec._texts = self._texts
        spec._vectors = (*self._vectors, (text("column", column), dimension, options))
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
