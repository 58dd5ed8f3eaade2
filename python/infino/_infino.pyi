"""The compiled part. Capsules are Arrow PyCapsules: "arrow_schema" and "arrow_array_stream"."""

import enum
from collections.abc import Callable
from typing import Any

class Compression(enum.Enum):
    zstd = ...
    lz4 = ...
    none = ...

class ColdFetchMode(enum.Enum):
    hybrid_with_prefetch = ...
    range_only = ...
    lazy_foreground_with_background_fill = ...

class ConnectOptions:
    storage_options: dict[str, str]
    cache_dir: str | None
    cache_budget_bytes: int | None
    memory_budget_bytes: int | None
    build_memory_bytes: int
    scratch_dir: str | None
    memory_cache_bytes: int
    cold_fetch_mode: ColdFetchMode
    validate: bool
    freshness_ms: int | None
    thread_count: int
    commit_timeout_ms: int
    compression: Compression
    strict_schema: bool
    def __init__(self) -> None: ...

class TextIndexOptions:
    analyzer: str
    stored: bool
    k1: float | None
    b: float | None
    stopwords: str | None
    stemmer: str | None
    positions: bool
    def __init__(self) -> None: ...

class VectorIndexOptions:
    metric: str
    rerank: str
    stored: bool
    def __init__(self) -> None: ...

class IndexSpec:
    def __init__(self) -> None: ...
    def add_text(self, column: str, options: TextIndexOptions, /) -> None: ...
    def add_vector(self, column: str, dimension: int, options: VectorIndexOptions, /) -> None: ...

class TableStats:
    @property
    def version(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def superfiles(self) -> int: ...
    @property
    def bytes(self) -> int: ...

class Hits:
    @property
    def address(self) -> int: ...

class Table:
    @property
    def name(self) -> str: ...
    def schema(self) -> Any: ...
    def stats(self) -> TableStats: ...
    def append(
        self, stream: Any, progress: Callable[[int, int, int], Any] | None
    ) -> tuple[int, int, int, int]: ...
    def search(
        self,
        column: str,
        query: str,
        k: int,
        all: bool,
        is_prefix: bool,
        projection: list[str] | None,
        parameters: tuple[float, float] | None,
        where: str,
    ) -> Any: ...
    def search_hits(
        self,
        column: str,
        query: str,
        k: int,
        all: bool,
        is_prefix: bool,
        parameters: tuple[float, float] | None,
        where: str,
    ) -> Hits | None: ...
    def exact_match(
        self, column: str, value: str, projection: list[str] | None, where: str
    ) -> Any: ...
    def token_match(
        self, column: str, query: str, all: bool, projection: list[str] | None, where: str
    ) -> Any: ...
    def count(self, column: str, query: str, all: bool, where: str) -> int: ...
    # Changes give (matched, tombstoned, not found, version).
    def delete(self, predicate: str) -> tuple[int, int, int, int]: ...
    def update(self, predicate: str, stream: Any) -> tuple[int, int, int, int]: ...
    def upsert(self, stream: Any, on: str) -> tuple[int, int, int, int]: ...
    def get(self, ids: bytes, projection: list[str] | None) -> Any: ...
    # A text is (column, query, whether all clauses match), an effort (nprobe, target recall), a
    # fusion (depth, weight of the text, of the vector). Without a projection, one query's rows are
    # Hits, or None if there are none; else a capsule.
    def vector_search(
        self,
        vector: tuple[str, Any],
        k: int,
        filter: tuple[str, str, bool] | None,
        effort: tuple[int | None, float | None],
        projection: list[str] | None,
        where: str,
    ) -> Any: ...
    def vector_search_ids(self, vector: tuple[str, Any], k: int, where: str) -> bytearray: ...
    def hybrid_search(
        self,
        text: tuple[str, str, bool],
        vector: tuple[str, Any],
        k: int,
        fusion: tuple[int | None, float, float],
        filter: tuple[str, str, bool] | None,
        effort: tuple[int | None, float | None],
        projection: list[str] | None,
        where: str,
    ) -> Any: ...

class Connection:
    @property
    def uri(self) -> str: ...
    def create_table(self, name: str, schema: Any, spec: IndexSpec) -> Table: ...
    def open_table(self, name: str) -> Table: ...
    def drop_table(self, name: str, purge: bool) -> None: ...
    def list_tables(self) -> list[str]: ...
    def schema_document(self, name: str) -> str: ...
    def evolve_schema(self, name: str, patch: str, expected_schema_id: int | None) -> str: ...
    def query_sql(self, sql: str, parameters: object | None) -> object: ...

def connect(uri: str, options: ConnectOptions) -> Connection: ...
def begin_exit() -> None: ...
def forget_other_threads() -> None: ...
