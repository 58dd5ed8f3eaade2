"""The exception classes. Each derives from InfinoError and, where the situation has a builtin
class that programs expect, from that one too."""

from __future__ import annotations

__all__ = [
    "AlreadyRunningError",
    "CancelledError",
    "CommitUnknownError",
    "ConflictError",
    "ConnectionMemoryBudgetError",
    "CorruptionError",
    "InfinoError",
    "InvalidInputError",
    "InvalidNameError",
    "NotFoundError",
    "StorageError",
]


class InfinoError(Exception):
    """The base of every error that infino raises."""


class InvalidInputError(InfinoError, ValueError):
    """The request is wrong: a column, a query, a schema, rows. A retry fails again."""


class InvalidNameError(InfinoError, RuntimeError, ValueError):
    """A table name or a URI that can't be."""


class NotFoundError(InfinoError, KeyError):
    """There is no such table, or it has been dropped."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ConflictError(InfinoError):
    """Another commit won and this one could not be put on top in time. Try again."""


class CommitUnknownError(InfinoError, RuntimeError):
    """The store never answered the commit. It may be there or not: look before you repeat it."""


class ConnectionMemoryBudgetError(InfinoError):
    """The connection's memory budget would have been exceeded. Nothing was changed."""


class AlreadyRunningError(InfinoError):
    """The same maintenance is running already."""


class StorageError(InfinoError, RuntimeError):
    """The store failed, or a bug in infino."""


class CorruptionError(InfinoError, RuntimeError):
    """Stored bytes are damaged, missing, or of a newer version."""


class CancelledError(InfinoError, RuntimeError):
    """The call was stopped before it was done. Nothing was changed."""


#: What the compiled module raises for each kind of failure.
CLASS_OF_KIND: dict[str, type[Exception]] = {
    "invalid_argument": InvalidInputError,
    "not_found": NotFoundError,
    "already_exists": InvalidInputError,
    "conflict": ConflictError,
    "commit_unknown": CommitUnknownError,
    "unavailable": StorageError,
    "resource_exhausted": ConnectionMemoryBudgetError,
    "corrupt": CorruptionError,
    "unsupported_version": CorruptionError,
    "cancelled": CancelledError,
    "internal": StorageError,
}
