"""An open index: searches, exports, terms, and questions about file systems."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from . import _html
from ._files import Usage, find_command, usage_options, warn_incomplete
from ._native import NativeHits, NativeQuery, NativeSnapshot
from ._request import AnyPath, LikeRequest, SearchRequest, Texts, check_request, check_timeout, check_whole, digest
from ._request import given, kept_fields, names_of, page_token, paths_of, place_after, shown_fields, sort_spec
from ._results import Explanation, Export, Group, Groups, Hit, Model, Results, Suggestion, TermCount, model_spec
from ._results import warn_changed
from .errors import InvalidValueError, UnsupportedError
from .facets import Request
from .query import Q

PathLike = Union[str, "os.PathLike[str]"]
Query = Union[str, Q, Mapping[str, Any]]
"""A query in the language of the command, an object, or JSON as a dictionary."""

__all__ = ["Index", "open_index"]


def open_index(path: AnyPath | Sequence[AnyPath], *, threads: int | None = None) -> Index:
    """Opens the newest commit of an index.

    Later commits do not change it; :meth:`Index.reopen` opens them. ``threads`` is the number of threads that
    share a query; all cores by default. Several paths are several indexes that are searched as one.
    """
    paths = paths_of(path)
    if not paths:
        raise InvalidValueError("no path: give the path of an index, or several")
    if threads is not None:
        check_whole("threads", threads, 1)
    return Index(NativeSnapshot.open(paths, threads or os.cpu_count() or 1), paths, threads)


def _reopened(paths: list[str], threads: int | None) -> Index:
    return open_index(paths, threads=threads)


class Index:
    """One commit of an index, open for reading. Any number of threads may use it at the same time."""

    def __init__(self, native: NativeSnapshot, paths: list[str], threads: int | None = None) -> None:
        self._native = native
        self._threads = threads
        self.paths = paths
        """The paths of the index."""
        self._missing: list[str] | None = None
        self._warns = True
        self._kinds: dict[str, str] | None = None
        self._filled: list[str] | None = None

    # Facts

    def info(self) -> dict[str, Any]:
        """What ``scanns info --json`` tells: documents, fields, size and more."""
        facts: dict[str, Any] = json.loads(self._native.info())
        return facts

    stats = info

    @property
    def generation(self) -> int:
        """The number of the commit, from 1; of a writer's snapshot, the number of the commit before it, or 0."""
        return self._native.generation

    @property
    def committed(self) -> bool:
        """False for a snapshot of a writer, :meth:`Writer.snapshot`, that shows what was not committed."""
        return self._native.committed

    @property
    def fields(self) -> dict[str, dict[str, Any]]:
        """The fields by name, each with its type and how it is kept."""
        return {field["name"]: field for field in self.info()["fields"]}

    def columns(self) -> list[dict[str, Any]]:
        """Statistics of each column: documents, values, the least and the greatest value, bytes."""
        columns: list[dict[str, Any]] = json.loads(self._native.columns())
        return columns

    def segments(self) -> list[dict[str, Any]]:
        """The segments, in the order of documents."""
        segments: list[dict[str, Any]] = json.loads(self._native.segments())
        return segments

    def coverage(self) -> list[dict[str, Any]]:
        """What an index of file systems covers: scans and dumps, when, and whether they are complete."""
        covered: list[dict[str, Any]] = json.loads(self._native.coverage())
        return covered

    @property
    def missing(self) -> list[str]:
        """What answers may lack, in sentences: a scan was stopped, or could not read some paths. Empty if nothing."""
        if self._missing is None:
            self._missing = self._native.missing()
        return list(self._missing)

    @property
    def complete(self) -> bool:
        """False if entries may be missing, because a scan was stopped or could not read something.

        :attr:`missing` says why. The first answer that is about everything in the index gives an
        :class:`IncompleteWarning`, too.
        """
        return not self.missing

    def _warn_once(self) -> None:
        """Warns at the first answer that entries may be missing."""
        self._warns = False
        warn_incomplete([f"{text}; Index.coverage() tells more" for text in self.missing])

    def note(self, name: str) -> bytes | None:
        """A note that a writer added to the commit."""
        return self._native.note(name)

    def reopen(self) -> Index:
        """Opens the newest commit: this index again if nothing was committed since."""
        new = open_index(self.paths, threads=self._threads)
        return self if new._native.fingerprint == self._native.fingerprint else new

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process opens the newest commit.
        if not self.committed:
            raise UnsupportedError("a snapshot of a writer cannot be pickled: commit, and pickle scanns.open(path)")
        return _reopened, (self.paths, self._threads)

    def __len__(self) -> int:
        documents: int = self.info()["documents"]
        return documents

    def __repr__(self) -> str:
        state = f"commit {self.generation}" if self.committed else "not committed"
        return f"<scanns.Index {', '.join(self.paths)}: {state}, {len(self):,} documents>"

    def _repr_html_(self) -> str:
        info = self.info()
        names = ("documents", "deleted", "tokens", "records", "analyzer", "key", "store", "segments", "generation")
        rows = [("index", ", ".join(self.paths)), *((name, info[name]) for name in names)]
        rows.append(("size", _html.size(info["index_bytes"])))
        rows.append(("fields", ", ".join(f"{field['name']} ({field['type']})" for field in info["fields"])))
        return _html.pairs(rows)

    def _shown_fields(self) -> list[str]:
        """The fields of hits: those that some document has."""
        if self._filled is None:
            empty = {column["name"] for column in self.columns() if column["documents"] == 0}
            stored = {name for name, field in self.fields.items() if field["stored"]}
            self._filled = [name for name in self._native.kept_fields() if name not in empty or name in stored]
        return self._filled

    # Queries

    def _parsed(self, query: Query | NativeQuery, searched: Texts | None, operator: str) -> NativeQuery:
        if isinstance(query, NativeQuery):
            return query
        names = searched if searched is None or isinstance(searched, str) else ",".join(searched)
        if isinstance(query, str):
            return self._native.parse(query, operator, names)
        if isinstance(query, Q):
            text = query.to_json()
        elif isinstance(query, Mapping):
            text = json.dumps(query)
        else:
            raise InvalidValueError(f"query: {given(query)}: give a text, a scanns.Q, or a dictionary of JSON")
        return self._native.parse_json(text, operator, names)

    def _aggregations(self, facets: Texts, stats: Texts, distinct: Texts) -> Request:
        if self._kinds is None:
            self._kinds = {name: field["type"] for name, field in self.fields.items()}
        return Request(self._kinds, facets, stats, distinct)

    def query_json(self, query: Query, *, field: Texts | None = None, default_operator: str = "or") -> str:
        """A query as JSON, as ``scanns search --print-query`` prints it."""
        return self._native.query_json(self._parsed(query, field, default_operator))

    def search(
        self,
        query: Query,
        k: int = 10,
        *,
        model: str | Model = "bm25",
        field: Texts | None = None,
        fields: Texts | None = None,
        default_operator: str = "or",
        sort: Texts | None = None,
        facets: Texts = (),
        stats: Texts = (),
        distinct: Texts = (),
        after: str | None = None,
        collapse: int | bool | None = None,
        rm3: bool = False,
        rm3_documents: int = 10,
        rm3_terms: int = 10,
        rm3_weight: float = 0.5,
        timeout: float | None = None,
    ) -> Results:
        """The best ``k`` documents, and what is computed over all matches.

        ``field`` names the fields that words search, with weights as in ``title^3,body``. ``fields`` are those that
        tables of the hits show, columns and stored fields; by default all that some document has. ``sort`` is
        ``score``, ``key``, ``-key`` or columns as in ``size:desc,owner``. ``facets``, ``stats`` and ``distinct`` are texts as
        on the command line. ``after`` is :attr:`Results.after` of the page before. ``collapse`` shows near-duplicates
        once. ``rm3`` extends the query by words of its best documents. After ``timeout`` seconds the answer is what
        was found so far, and :attr:`Results.partial` is true.
        """
        shown = None if fields is None else shown_fields(fields, self._native.kept_fields())
        parsed = self._parsed(query, field, default_operator)
        spec = model_spec(model)
        if rm3:
            parsed = self._native.expand(parsed, spec, (rm3_documents, rm3_terms, rm3_weight))
        found = self._run(parsed, k, spec, sort, facets, stats, distinct, after, collapse, timeout)
        found.fields = shown
        return found

    def _run(
        self,
        parsed: NativeQuery,
        k: int,
        spec: tuple[str, list[tuple[str, float]]],
        sort: Texts | None = None,
        facets: Texts = (),
        stats: Texts = (),
        distinct: Texts = (),
        after: str | None = None,
        collapse: int | bool | None = None,
        timeout: float | None = None,
        without: tuple[int, int] | None = None,
    ) -> Results:
        request = SearchRequest(k, spec, sort_spec(sort) if sort is not None else [])
        if timeout is not None:
            check_timeout(timeout)
            request.timeout = timeout
        request.without = without
        aggregations = None
        if facets or stats or distinct:
            aggregations = self._aggregations(facets, stats, distinct)
            request.aggregations = aggregations.to_json()
        if collapse is not None and collapse is not False:
            request.collapse = 5 if collapse is True else collapse
        first = 1
        if after is not None:
            first, request.after = place_after(after, self._digest(parsed, request), self._native.fingerprint)
        try:
            native, answers = self._native.search(parsed, request)
        except (TypeError, OverflowError):
            check_request(request)
            raise
        if self._warns:
            self._warn_once()
        return Results(self, parsed, native, request, first, aggregations, answers)

    # Pages

    def _digest(self, parsed: NativeQuery, request: SearchRequest) -> str:
        return digest(f"{self._native.query_json(parsed)} {request.model} {request.sort} {self.paths}")

    def _token(self, parsed: NativeQuery, request: SearchRequest, rank: int, place: tuple[int, int, int]) -> str:
        return page_token([self._native.fingerprint, rank, *place], self._digest(parsed, request))

    # Other questions

    def count(
        self,
        query: Query,
        *,
        field: Texts | None = None,
        default_operator: str = "or",
        timeout: float | None = None,
    ) -> int:
        """The number of documents that match."""
        check_timeout(timeout)
        count, _ = self._native.count(self._parsed(query, field, default_operator), timeout)
        if self._warns:
            self._warn_once()
        return count

    def aggregate(
        self,
        query: Query = "*",
        *,
        facets: Texts = (),
        stats: Texts = (),
        distinct: Texts = (),
        default_operator: str = "or",
        timeout: float | None = None,
    ) -> Results:
        """Facets, statistics and numbers of different values over all matches, without hits."""
        return self.search(
            query,
            0,
            facets=facets,
            stats=stats,
            distinct=distinct,
            default_operator=default_operator,
            timeout=timeout,
        )

    def groups(
        self,
        query: Query,
        group: str,
        k: int = 10,
        *,
        hits: int = 1,
        missing: bool = False,
        model: str | Model = "bm25",
        field: Texts | None = None,
        default_operator: str = "or",
        sort: Texts | None = None,
        timeout: float | None = None,
    ) -> Groups:
        """The best hits of each value of a column: the first ``k`` values, ``hits`` of each."""
        parsed = self._parsed(query, field, default_operator)
        check_timeout(timeout)
        request = SearchRequest(k, model_spec(model), sort_spec(sort))
        request.timeout = timeout
        try:
            rows, total, without = self._native.groups(parsed, request, (group, hits, missing))
        except (TypeError, OverflowError):
            check_request(request)
            check_whole("hits", hits)
            raise
        if self._warns:
            self._warn_once()
        made = [
            Group(value, count, Results(self, parsed, native, request, 1, None, [])) for value, count, native in rows
        ]
        return Groups(group, made, total, without)

    def _found(self, key: object, query: Query | NativeQuery, model: str | Model = "bm25") -> NativeHits | None:
        return self._native.hit(key, self._parsed(query, None, "or"), model_spec(model))

    def hit(self, key: str | bytes | PathLike) -> Hit | None:
        """The document with a key; ``None`` if there is none."""
        parsed = self._parsed("*", None, "or")
        native = self._found(key, parsed)
        if native is None:
            return None
        request = SearchRequest(1, model_spec("bm25"), [])
        return Results(self, parsed, native, request, 1, None, [])[0]

    def document(self, key: str | bytes | PathLike) -> dict[str, Any] | None:
        """The values of a document by field, with its key as ``_key``; ``None`` if there is none.

        A field with several values has a list.
        """
        hit = self.hit(key)
        return None if hit is None else hit.fields()

    def text(self, key: str | bytes | PathLike) -> bytes | None:
        """The text of a document, if the index stores it."""
        hit = self.hit(key)
        return None if hit is None else hit.text()

    def explain(self, query: Query, key: str | bytes | PathLike, *, model: str | Model = "bm25") -> Explanation | None:
        """How the score of a document is computed; ``None`` if the query does not match it."""
        native = self._found(key, query, model)
        text = None if native is None else native.explain(0)
        return None if text is None else Explanation.of(json.loads(text))

    def snippets(
        self,
        query: Query,
        key: str | bytes | PathLike,
        *,
        snippet_length: int = 160,
        snippet_count: int = 2,
    ) -> list[str]:
        """The parts of a document that match best, if the index stores its text."""
        native = self._found(key, query)
        if native is None:
            return []
        (found,), changed = native.snippets(snippet_length, snippet_count)
        warn_changed(changed)
        return [text.decode("utf-8", "replace") for text, _, _, _ in found or []]

    def terms(self, prefix: str | bytes = "", *, limit: int | None = 20, field: str | None = None) -> list[TermCount]:
        """The most frequent terms with a prefix, or all of them in order with ``limit=None``."""
        return [TermCount(*row) for row in self._native.terms(prefix, limit, field)]

    def suggest(self, query: Query, *, few: int = 0, most: int = 3) -> list[Suggestion]:
        """Words of a query that at most ``few`` documents contain, with up to ``most`` terms that may be meant."""
        rows = self._native.suggest(self._parsed(query, None, "or"), few, most)
        return [Suggestion(*row) for row in rows]

    def like(
        self,
        key: str | bytes | PathLike | None = None,
        k: int = 10,
        *,
        text: str | bytes | None = None,
        model: str | Model = "bm25",
        field: str | None = None,
        like_terms: int = 25,
        like_min_freq: int = 1,
        like_min_docs: int = 2,
        like_max_docs: int | None = None,
    ) -> Results:
        """Documents like the one with a key, which is left out, or like a text."""
        if (key is None) == (text is None):
            raise InvalidValueError("give the key of a document, or a text")
        example, without = None, None
        if key is not None:
            example = self._found(key, "*")
            if example is None:
                raise InvalidValueError(f"the index has no document {key!r}: give a key that search returns, or a text")
            leaf, doc, _ = example.place(0)
            without = (leaf, doc)
        given = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        request = LikeRequest(given, like_min_freq, like_min_docs, like_max_docs, like_terms)
        parsed = self._native.like(example, request, field)
        return self._run(parsed, k, model_spec(model), without=without)

    def export(
        self,
        query: Query | None = None,
        *,
        fields: Texts | None = None,
        binary: Texts = (),
        default_operator: str = "or",
        batch_rows: int = 65_536,
    ) -> Export:
        """The values of all documents that match, as a stream of record batches.

        ``fields`` are columns and stored fields, and ``_key``, as in ``_key,size``; all by default. A field in which
        a text is not valid UTF-8 has bytes in whole tables; in streams of batches name it in ``binary``. Nothing is
        read before the first batch is asked for.
        """
        parsed = self._parsed("*" if query is None else query, None, default_operator)
        known = self._native.kept_fields()
        names = ["_key", *known] if fields is None else kept_fields(fields, known)
        export = Export(self._native, parsed, names, names_of("binary", binary) if binary else [], batch_rows)
        if self._warns:
            self._warn_once()
        return export

    # File systems

    def find(self, *command: str | bytes | PathLike, limit: int | None = None) -> list[str]:
        """Paths for an expression of GNU find: ``find("/data", "-size", "+1G", "-mtime", "+365")``.

        Without start points the whole index is searched. An expression with ``-printf`` and the like gives the
        lines that it prints. A start point that is not in the index, or in which entries may be missing, gives an
        :class:`IncompleteWarning`.
        """
        return find_command(self._native, command, limit)

    def du(
        self,
        *paths: str | bytes | PathLike,
        all: bool = False,
        apparent_size: bool = False,
        inodes: bool = False,
        max_depth: int | None = None,
        summarize: bool = False,
        separate_dirs: bool = False,
        count_links: bool = False,
        one_file_system: bool = False,
        time: str | None = None,
        exclude: Texts = (),
        by: str | None = None,
    ) -> Usage:
        """The space at and below paths, in bytes, as GNU du sums it up; with ``inodes`` the number of entries.

        ``by`` sums up by ``owner``, ``group``, ``ext``, ``age`` or ``type`` instead of by directory.
        """
        if not paths:
            raise UnsupportedError("give the paths to sum up, as in du('/data')")
        options = {
            "all": all,
            "apparent_size": apparent_size,
            "inodes": inodes,
            "max_depth": 0 if summarize else max_depth,
            "separate_dirs": separate_dirs,
            "count_links": count_links,
            "one_file_system": one_file_system,
            "time": time,
            "exclude": [exclude] if isinstance(exclude, str) else list(exclude),
            "by": by,
        }
        return usage_options(self._native, paths, options)

    def search_many(self, queries: Iterable[Query], k: int = 10, *, threads: int | None = None, **options: Any) -> list[Results]:
        """The results of many queries, in their order, with several threads."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
            return list(pool.map(lambda query: self.search(query, k, **options), queries))
