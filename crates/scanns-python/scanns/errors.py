"""The exceptions of scanns: one class for each kind of failure that a program may handle.

Messages are those of the engine. They say what is wrong and what to do.
"""

from __future__ import annotations


class Error(Exception):
    """The base class of all exceptions of this package."""


class NotAnIndexError(Error):
    """The path is not an index."""


class FormatError(Error):
    """The index was written by a newer or a much older version of scanns."""


class DamagedError(Error):
    """A file of the index is damaged. `scanns.check(path, salvage=True)` keeps the intact segments."""


class LockedError(Error):
    """Another process is writing to the index."""


class QueryError(Error):
    """A query cannot be parsed, or the index cannot answer it."""

    at: int | None = None
    """The character of the fault in a query of text, from 1."""


class FieldError(Error):
    """The index has no such field, or the field cannot be used like this."""


class InvalidValueError(Error, ValueError):
    """An argument or a value is not allowed."""


class ConflictError(Error):
    """Two settings exclude each other, or a setting does not fit the index."""


class InputError(Error):
    """The inputs of a build cannot be read, or there are none."""


class SourceChangedError(Error):
    """A file has changed since it was indexed, and the index does not store its text."""


class UnsupportedError(Error):
    """The request is valid, but this index or this version cannot do it."""


class WriterFailedError(Error):
    """The writer failed earlier. Its uncommitted changes are lost."""


class ResourceError(Error):
    """The operating system refused a file, memory or threads."""


class CancelledError(Error):
    """The work was stopped. Earlier commits are kept."""


class ForkError(Error):
    """An object was used in a process that was forked after the object had been made."""


class ShardError(Error):
    """A shard of an index cannot be opened, does not answer, or cannot be built."""


class ClusterError(Error):
    """The cluster has no workers, has lost its scheduler, or is open to everybody on the network."""


class CommandError(Error):
    """The `scanns` command is missing or failed in an unknown way."""


class InternalError(Error):
    """A bug in scanns, please report it."""


KINDS: dict[str, type[Error]] = {
    "NotAnIndex": NotAnIndexError,
    "NewerFormat": FormatError,
    "OlderFormat": FormatError,
    "Corrupt": DamagedError,
    "Locked": LockedError,
    "SourceChanged": SourceChangedError,
    "WriterFailed": WriterFailedError,
    "Query": QueryError,
    "QueryJson": QueryError,
    "Expression": QueryError,
    "UnknownField": FieldError,
    "InvalidField": FieldError,
    "UnknownName": InvalidValueError,
    "InvalidValue": InvalidValueError,
    "InvalidAnalyzer": InvalidValueError,
    "Usage": InvalidValueError,
    "Conflict": ConflictError,
    "Dump": InputError,
    "Changes": InputError,
    "NoInput": InputError,
    "Unsupported": UnsupportedError,
    "NotIndexed": UnsupportedError,
    "UnknownHit": UnsupportedError,
    "Io": ResourceError,
    "System": ResourceError,
    "OutOfMemory": ResourceError,
    "TooMany": ResourceError,
    "Cancelled": CancelledError,
    "DamagedPlan": DamagedError,
    "Shard": ShardError,
    "ShardAnswer": ShardError,
    "WorkerPanicked": InternalError,
}
"""The exception for each kind of error that the command reports."""
