"""infino: a search engine that lives on object storage, in your process.

>>> import infino, pyarrow as pa
>>> connection = infino.connect("memory://")
>>> schema = pa.schema([("id", pa.int64()), ("body", pa.large_utf8())])
>>> table = connection.create_table("notes", schema, infino.IndexSpec().fts("body"))
>>> table.append([{"id": 1, "body": "a quick brown fox"}])
>>> table.bm25_search("body", "fox", 10, projection=["id"]).to_pylist()
[{'id': 1}]
"""

import logging as _logging

from ._connection import Connection, connect
from ._errors import (
    AlreadyRunningError,
    CancelledError,
    CommitUnknownError,
    ConflictError,
    ConnectionMemoryBudgetError,
    CorruptionError,
    InfinoError,
    InvalidInputError,
    InvalidNameError,
    NotFoundError,
    StorageError,
)
from ._index_spec import IndexSpec
from ._table import MutationStats, Table
from ._version import __version__

__all__ = [
    "AlreadyRunningError",
    "CancelledError",
    "CommitUnknownError",
    "ConflictError",
    "Connection",
    "ConnectionMemoryBudgetError",
    "CorruptionError",
    "IndexSpec",
    "InfinoError",
    "InvalidInputError",
    "InvalidNameError",
    "MutationStats",
    "NotFoundError",
    "StorageError",
    "Table",
    "__version__",
    "connect",
]

# Messages about retries and overtaken commits; silent unless the program sets up logging.
_logging.getLogger("infino").addHandler(_logging.NullHandler())
