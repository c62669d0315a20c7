"""Documents from programs: dictionaries, lists of dictionaries, and tables of Arrow."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Union, cast

from ._index import Index
from ._native import NativeWriter
from ._request import check_whole, given
from ._schema import Field, Schema
from .errors import InvalidValueError, NotAnIndexError
from .query import Q

__all__ = ["Writer"]

Document = Mapping[str, Any]
Key = Union[str, bytes, int, "os.PathLike[str]"]


class _WriterRequest(NamedTuple):
    schema: str | None
    memory: int | None
    lanes: int
    store: str | None
    compression: str | None
    vectors: bool | None
    key: str


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


class Writer:
    """Adds, replaces and deletes documents. Changes are visible to others, and durable, after :meth:`commit`.

    :meth:`snapshot` searches them before.

    At the end of a ``with`` block the writer commits; after an exception it discards what was not committed.

    >>> with scanns.Writer("mail.scanns", {"text": "text", "author": "keyword"}) as writer:
    ...     writer.add({"key": "mail-1", "text": "The index is ready.", "author": "Ann"})
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: Schema | Mapping[str, Field | str] | None = None,
        *,
        key: str = "key",
        memory: int | None = None,
        lanes: int = 0,
        store: str | None = None,
        compression: str | None = None,
        vectors: bool | None = None,
    ) -> None:
        """Opens an index, or creates one.

        A new index needs a schema, or takes one that fits the first documents. ``key`` is the entry of documents that
        is their key. ``memory`` is in bytes, half of the machine's by default.
        """
        self.path = os.fspath(path)
        self._key = key
        self._settings = (memory, lanes, store, compression, vectors, key)
        self._native: NativeWriter | None = None
        self._closed = False
        fields = None if schema is None else schema if isinstance(schema, Schema) else Schema(schema)
        if fields is not None or os.path.isdir(self.path):
            self._native = self._open(fields)

    def _open(self, schema: Schema | None) -> NativeWriter:
        json = None if schema is None else schema.to_json()
        return NativeWriter.open(self.path, _WriterRequest(json, *self._settings))

    def _opened(self, sample: list[Document] | None = None) -> NativeWriter:
        if self._native is None:
            if sample is None or self._closed:
                raise NotAnIndexError(f"{self.path} has no fields yet: add a document, or give a schema")
            self._native = self._open(Schema.infer(sample, key=self._key))
        return self._native

    def add(self, documents: Document | Iterable[Document] | object, *, replace: bool = True) -> int:
        """Adds documents: a dictionary, several of them, or a table or batches of Arrow. Returns their number.

        A document replaces those with the same key that were committed or added before, in the same commit. With
        ``replace=False`` they stay, and a key may have several documents. If a document is refused, the exception says
        which one, counted from 0: all before it are added, it and those after it are not.
        """
        if hasattr(documents, "__arrow_c_stream__"):
            return self._add_arrow(documents, replace)
        several = cast(Iterable[Document], [documents] if isinstance(documents, Mapping) else documents)
        if self._native is None:
            # Fields are inferred from all documents of the first call.
            several = list(several)
            return self._opened(several).add(several, replace)
        return self._native.add(several, replace)

    def add_block(self, documents: Iterable[Document], *, replace: bool | str | Q = True) -> int:
        """Adds documents that become visible together, such as an article and its comments. Returns their number.

        Every commit, every snapshot, and the index after a crash has all of them or none, whatever other threads do
        meanwhile. They replace earlier documents with their keys in the same step, unless ``replace`` is False, or a query,
        which says what they replace instead; documents of the block with equal keys all stay. If a document is refused,
        none is added, and none is deleted.
        """
        several = list(documents)
        if isinstance(replace, bool):
            return self._opened(several).add_block(several, replace) if several else 0
        query = replace.to_json() if isinstance(replace, Q) else replace
        if not isinstance(query, str):
            raise InvalidValueError(f"replace: {given(replace)}: give True, False, a text or a scanns.Q")
        return self._opened(several).replace_matching(several, query, isinstance(replace, Q))

    def _add_arrow(self, table: object, replace: bool) -> int:
        if self._native is None:
            from ._tables import needed

            made = needed("pyarrow").table(table)
            sample: list[Document] = made.slice(0, 1000).to_pylist()
            return self._opened(sample).add_arrow(made, replace)
        return self._native.add_arrow(table, replace)

    def update(self, documents: Document | Iterable[Document] | object) -> int:
        """Adds documents, and deletes earlier ones with the same keys in the same commit, as :meth:`add` does."""
        return self.add(documents, replace=True)

    def delete(self, key: Key | None = None, *, query: str | Q | None = None) -> int:
        """Deletes the documents with a key, or those that match a query and were committed or added before.

        Returns the number of documents with the key, 0 if there are none. Of a query it is the number of committed
        documents that match: those that were added since are deleted, too, but not counted.
        """
        if (key is None) == (query is None):
            raise TypeError("give a key or a query")
        if key is not None:
            return self._opened().delete(key)
        if isinstance(query, Q):
            return self._opened().delete_matching(query.to_json(), True)
        if not isinstance(query, str):
            raise InvalidValueError(f"query: {given(query)}: give a text or a scanns.Q")
        return self._opened().delete_matching(query, False)

    def set(self, key: Key, values: Mapping[str, Any] | None = None, /, **fields: Any) -> int:
        """Sets columns of numbers, dates or booleans without indexing the documents again; ``None`` clears one.

        Returns the number of documents with the key, 0 if there are none.
        """
        changes = {**(values or {}), **fields}
        if not changes:
            raise InvalidValueError("set: name at least one field, as in set('mail-1', size=6)")
        count = 0
        for name, value in changes.items():
            count = self._opened().set(key, name, value)
        return count

    def note(self, name: str, value: bytes | None) -> None:
        """Sets a note of the next commit, which :meth:`Index.note` returns; ``None`` removes it."""
        self._opened().note(name, value)

    def commit(self) -> int:
        """Makes all changes durable and visible. Returns the number of the commit."""
        return self._opened().commit()

    def snapshot(self, *, threads: int | None = None) -> Index:
        """Opens the state of the writer for searches, with everything that was added, set and deleted so far.

        Nothing is committed: others see the last commit, and :meth:`roll_back` discards what this index shows. The
        index stays as it is, whatever the writer does. It costs as much as writing the documents that are new since the
        last snapshot. ``threads`` is as in :func:`scanns.open`.
        """
        if threads is not None:
            check_whole("threads", threads, 1)
        native = self._opened().snapshot(threads or os.cpu_count() or 1)
        return Index(native, [self.path], threads)

    def merge(self) -> None:
        """Merges the segments that are due; they are part of the next commit."""
        self._opened().merge()

    def roll_back(self) -> None:
        """Discards what was not committed, and closes the writer."""
        self._closed = True
        if self._native is not None:
            self._native.close()

    def close(self) -> None:
        """Closes the writer. What was not committed is lost, and a :class:`ResourceWarning` says how much it is."""
        self._warn_of_loss(2)
        self.roll_back()

    def _warn_of_loss(self, level: int) -> None:
        documents, others = (0, 0) if self._native is None else self._native.pending()
        parts = [_counted(documents, "added document"), _counted(others, "other change")]
        if documents or others:
            lost = " and ".join(part for part, count in zip(parts, (documents, others)) if count)
            what = f"{self.path}: {lost} not committed: commit() keeps them, roll_back() discards them without this warning"
            warnings.warn(what, ResourceWarning, stacklevel=level + 1, source=self)

    def __del__(self) -> None:
        # A writer that could not be opened has no attributes.
        if not getattr(self, "_closed", True):
            self._warn_of_loss(1)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._native is not None and self._native.is_open:
                self._native.commit()
        finally:
            self.roll_back()

    def __repr__(self) -> str:
        return f"<scanns.Writer {self.path}>"
