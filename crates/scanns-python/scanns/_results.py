"""Results of searches: hits, groups, explanations and exports."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from . import _html
from ._native import ArrowStream, NativeHits, NativeQuery, NativeSnapshot
from ._files import warn_incomplete
from ._request import SearchRequest, check_request, check_whole, given
from ._tables import Table, needed
from .errors import InvalidValueError

if TYPE_CHECKING:
    import polars
    import pyarrow

    from ._index import Index
    from .facets import Distinct, Facet, Request, Stats

__all__ = ["Explanation", "Export", "Group", "Groups", "Hit", "Model", "Results", "Snippet", "Suggestion", "TermCount"]

ModelSpec = tuple[str, list[tuple[str, float]]]

_Table = TypeVar("_Table")


class Model:
    """A ranking model with its parameters: ``Model("bm25", k1=0.9, b=0.4)``.

    The names are those of the command: bm25 (k1, b), tf-idf, lm-dirichlet (mu), lm-jelinek-mercer (``lambda_``),
    pl2 (c), dph and p-norm (p).
    """

    __slots__ = ("name", "parameters")

    def __init__(self, name: str = "bm25", **parameters: float) -> None:
        self.name = name
        self.parameters = {written.rstrip("_"): value for written, value in parameters.items()}
        try:
            NativeSnapshot.check_model((name, list(self.parameters.items())))
        except TypeError:
            if not isinstance(name, str):
                raise InvalidValueError(f"model: {given(name)}: give a name such as 'bm25'") from None
            check_request(SearchRequest(0, (name, list(self.parameters.items())), []))
            raise

    def __repr__(self) -> str:
        return f"Model({self.name!r}{''.join(f', {name}={value!r}' for name, value in self.parameters.items())})"


_PLAIN: dict[str, ModelSpec] = {}


def model_spec(model: str | Model) -> ModelSpec:
    """The name and the parameters of a model."""
    if isinstance(model, str):
        return _PLAIN.setdefault(model, (model, []))
    if not isinstance(model, Model):
        raise InvalidValueError(f"model: {given(model)}: give a name such as 'bm25', or a scanns.Model")
    return model.name, list(model.parameters.items())


class Snippet(NamedTuple):
    """A part of a text. Marks are the beginnings and ends of matches, in bytes of the part."""

    bytes: bytes
    start: int
    """Where the part begins in the text, in bytes."""
    marks: list[tuple[int, int]]

    @property
    def text(self) -> str:
        """The part; bytes that are not UTF-8 are replaced."""
        return self.bytes.decode("utf-8", "replace")

    def _repr_html_(self) -> str:
        return _html.marked(self.bytes, self.marks)


class Explanation(NamedTuple):
    """A part of a score, with the parts that it is computed from."""

    value: float
    description: str
    details: list[Explanation]

    @staticmethod
    def of(found: dict[str, Any]) -> Explanation:
        """The explanation in JSON."""
        details = [Explanation.of(detail) for detail in found["details"]]
        return Explanation(found["value"], found["description"], details)

    def lines(self, depth: int = 0) -> Iterator[str]:
        """The lines of the explanation, indented."""
        yield f"{'  ' * depth}{self.value:g} {self.description}"
        for detail in self.details:
            yield from detail.lines(depth + 1)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<pre>{chr(10).join(_html.text(line) for line in self.lines())}</pre>"


class TermCount(NamedTuple):
    """A term, the number of documents that contain it, and the number of its occurrences."""

    term: str
    documents: int
    occurrences: int


class Suggestion(NamedTuple):
    """A word of a query that few documents contain, and terms that may be meant."""

    word: str
    documents: int
    near: list[str]


class Hit:
    """A document that a query found."""

    __slots__ = ("_at", "_results", "key", "rank", "score")

    def __init__(self, results: Results, at: int, rank: int, score: float, key: str) -> None:
        self._results = results
        self._at = at
        self.rank = rank
        """The place among the hits, from 1."""
        self.score = score
        """The score; 0.0 in an order by columns, which needs none."""
        self.key = key
        """The name of the document: a path, a path with a line number, or what a program gave it."""

    @property
    def sort(self) -> tuple[Any, ...]:
        """The values that the hit was sorted by."""
        return self._results._native.sorted(self._at)

    @property
    def near_duplicates(self) -> int:
        """With ``collapse``, the number of later hits that nearly repeat this one."""
        near = self._results._native.near()
        return near[self._at] if near else 0

    def fields(self, *names: str) -> dict[str, Any]:
        """The values of fields, by default of all that some document of the index has; several values are a list."""
        shown = list(names) or self._results._index._shown_fields()
        found = {"_key": self.key, **dict(zip(shown, self._values(shown)))}
        return {name: found[name] for name in names} if names else found

    def _values(self, names: list[str]) -> list[Any]:
        """The values of fields, in this order."""
        own = [name for name in names if name != "_key"]
        found = self._results._native.values(self._at, own) if own else {}
        several = (found.get(name, [self.key]) for name in names)
        return [None if not values else values[0] if len(values) == 1 else values for values in several]

    def __getitem__(self, name: str) -> Any:
        return self.fields(name)[name]

    def text(self) -> bytes | None:
        """The text of the document, if the index stores it."""
        return self._results._native.document(self._at)

    def explain(self) -> Explanation | None:
        """How the score is computed."""
        found = self._results._native.explain(self._at)
        return None if found is None else Explanation.of(json.loads(found))

    def __repr__(self) -> str:
        score = f"score={self.score:.4f}, " if self._results._native.scored else ""
        return f"Hit(rank={self.rank}, {score}key={self.key!r})"

    def _repr_html_(self) -> str:
        score = [("score", f"{self.score:.4f}")] if self._results._native.scored else []
        shown = self._results._names()
        values = [(name, value) for name, value in zip(shown, self._values(shown)) if value is not None]
        return _html.pairs([("rank", self.rank), *score, ("key", self.key), *values])


class Results(Table):
    """The hits of a search, and what was computed over all matches."""

    def __init__(
        self,
        index: Index,
        query: NativeQuery,
        native: NativeHits,
        request: SearchRequest,
        first: int,
        aggregations: Request | None,
        answers: list[dict[str, Any]],
    ) -> None:
        self._index = index
        self._query = query
        self._native = native
        self._request = request
        self._first = first
        self._keys: list[str] | None = None
        self._scores: list[float] | None = None
        self.fields: list[str] | None = None
        """The fields that tables show besides rank, score and key; ``None`` for all that some document has."""
        self.facets: dict[str, Facet] = {}
        """Facets by their texts."""
        self.stats: dict[str, Stats] = {}
        """Statistics by their texts."""
        self.distinct: dict[str, Distinct] = {}
        """Numbers of different values by their texts."""
        if aggregations is not None:
            self.facets, self.stats, self.distinct = aggregations.answers(answers)

    @property
    def partial(self) -> bool:
        """True if the time was up: there may be more and better hits."""
        return self._native.partial

    @property
    def keys(self) -> list[str]:
        """The keys of all hits."""
        if self._keys is None:
            self._keys = self._native.keys()
        return self._keys

    @property
    def scores(self) -> list[float]:
        """The scores of all hits."""
        if self._scores is None:
            self._scores = self._native.scores()
        return self._scores

    @property
    def after(self) -> str | None:
        """The token for the next page; ``None`` if this page is not full."""
        count = len(self._native)
        if count == 0 or count < self._request.k or self._request.collapse is not None:
            return None
        rank = self._first + count - 1
        return self._index._token(self._query, self._request, rank, self._native.place(count - 1))

    def count(self) -> int:
        """The number of all documents that match."""
        return self._index._native.count(self._query, self._request.timeout)[0]

    def snippets(self, *, snippet_length: int = 160, snippet_count: int = 2, field: str | None = None) -> list[list[Snippet]]:
        """The parts of each hit that match best; none for a hit whose text is not stored.

        With ``store="reference"`` there are none for a hit whose file has changed, either, and a warning names it.
        """
        found, changed = self._native.snippets(snippet_length, snippet_count, field)
        warn_changed(changed)
        return [[Snippet(text, start, marks) for text, start, marks, _ in hit or []] for hit in found]

    def with_fields(self, *names: str) -> FieldTable:
        """The hits with the values of fields, as a table: ``results.with_fields("size").to_pandas()``."""
        return FieldTable(self, ["_key", *names])

    def _stream(self) -> ArrowStream:
        return self._native.arrow(["_key", *self._names()], self._first)

    def _names(self) -> list[str]:
        return self._index._shown_fields() if self.fields is None else self.fields

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary for each hit: rank, score, key and fields."""
        return _rows(self, self._names())

    def __len__(self) -> int:
        return len(self._native)

    def _hit(self, at: int) -> Hit:
        return Hit(self, at, self._first + at, self.scores[at], self.keys[at])

    @overload
    def __getitem__(self, at: int) -> Hit: ...

    @overload
    def __getitem__(self, at: slice) -> list[Hit]: ...

    def __getitem__(self, at: int | slice) -> Hit | list[Hit]:
        places = range(len(self))[at]
        return self._hit(places) if isinstance(places, int) else [self._hit(place) for place in places]

    def __iter__(self) -> Iterator[Hit]:
        return (self._hit(at) for at in range(len(self)))

    def __repr__(self) -> str:
        more = ", partial" if self.partial else ""
        named = [("facets", list(self.facets)), ("stats", list(self.stats)), ("distinct", list(self.distinct))]
        answers = "".join(f", {name} {', '.join(map(repr, answers))}" for name, answers in named if answers)
        hits = "1 hit" if len(self) == 1 else f"{len(self):,} hits"
        shown = answers.removeprefix(", ") if answers and self._request.k == 0 else f"{hits}{answers}"
        return f"<scanns.Results: {shown}{more}>"

    def _repr_html_(self) -> str:
        names = self.fields or []
        scored = self._native.scored
        rows = [
            (hit.rank, *([f"{hit.score:.4f}"] if scored else []), hit.key, *hit.sort, *hit._values(names)) for hit in self
        ]
        heads = ["rank", *(["score"] if scored else []), "key", *(name for name, _, _ in self._request.sort if name != "_key"), *names]
        caption = "The time was up: there may be more and better hits." if self.partial else ""
        shown = _html.table(heads, rows, caption) if rows or not self._answers() else ""
        return shown + "".join(answer._repr_html_() for answer in self._answers())

    def _answers(self) -> list[Facet | Stats | Distinct]:
        return [*self.facets.values(), *self.stats.values(), *self.distinct.values()]


def _rows(results: Results, names: list[str]) -> list[dict[str, Any]]:
    same = ["rank", "score", "_key", *names]
    scored = results._native.scored
    return [
        dict(zip(same, (hit.rank, hit.score if scored else None, hit.key, *hit._values(names)))) for hit in results
    ]


class FieldTable(Table):
    """Hits with the values of some fields."""

    def __init__(self, results: Results, names: list[str]) -> None:
        self._results = results
        self._names = names

    def _stream(self) -> ArrowStream:
        return self._results._native.arrow(self._names, self._results._first)

    def rows(self) -> list[dict[str, Any]]:
        return _rows(self._results, [name for name in self._names if name != "_key"])

    def _repr_html_(self) -> str:
        rows = self.rows()
        return _html.table(["rank", "score", *self._names], [list(row.values()) for row in rows])


class Group:
    """The documents with one value, and the best of them."""

    __slots__ = ("count", "hits", "value")

    def __init__(self, value: Any, count: int, hits: Results) -> None:
        self.value = value
        self.count = count
        self.hits = hits

    def __repr__(self) -> str:
        return f"Group({self.value!r}, count={self.count}, hits={list(self.hits)!r})"


class Groups:
    """The best hits of each value of a column."""

    def __init__(self, field: str, groups: list[Group], total: int, missing: int) -> None:
        self.field = field
        self.groups = groups
        self.total = total
        """The number of values, shown or not."""
        self.missing = missing
        """The number of documents without a value."""

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, at: int) -> Group:
        return self.groups[at]

    def __repr__(self) -> str:
        return f"<scanns.Groups by {self.field}: {len(self)} of {self.total}>"

    def _repr_html_(self) -> str:
        rows = [(group.value, group.count, hit.key, f"{hit.score:.4f}") for group in self.groups for hit in group.hits]
        return _html.table([self.field, "documents", "key", "score"], rows)


def warn_changed(changed: list[str]) -> None:
    """Warns that snippets are missing, since sources have changed."""
    if changed:
        more = "" if len(changed) == 1 else f"; {len(changed):,} hits have no snippets for this reason"
        warn_incomplete([f"no snippets: {changed[0]}{more}"])


# What the native module says of a text in the stream of an export that Arrow cannot hold.
_NOT_UNICODE = re.compile(r"field '(.*)' has a text that is not valid UTF-8: name it in binary= to get bytes")


class Export(Table):
    """The values of all documents that match. Each use reads the index again, batch by batch."""

    def __init__(
        self, native: NativeSnapshot, query: NativeQuery, names: list[str], binary: list[str], batch_rows: int
    ) -> None:
        if not names:
            raise InvalidValueError("fields: name at least one field, or leave it out for all")
        check_whole("batch_rows", batch_rows, 1)
        for name in binary:
            if name not in names:
                raise InvalidValueError(f"binary: '{name}' is not exported; the fields are: {', '.join(names)}")
        self._native = native
        self._query = query
        self._binary = binary
        self._batch_rows = batch_rows
        self.fields = names

    def _stream(self) -> ArrowStream:
        return self._native.export(self._query, self.fields, self._binary, self._batch_rows)

    def _read(self, read: Callable[[Export], _Table]) -> _Table:
        """Reads the whole export. A field with a text that is not valid UTF-8 is read again as bytes."""
        export = self
        while True:
            try:
                return read(export)
            except Exception as error:
                name = _not_unicode(error)
                if name is None or name in export._binary:
                    raise
                binary = [*export._binary, name]
                export = Export(self._native, self._query, self.fields, binary, self._batch_rows)

    def to_arrow(self) -> pyarrow.Table:
        """All rows as a table of pyarrow. A field in which a text is not valid UTF-8 has bytes."""
        return self._read(needed("pyarrow").table)

    def to_polars(self) -> polars.DataFrame:
        """All rows as a data frame of Polars. A field in which a text is not valid UTF-8 has bytes."""
        frame: polars.DataFrame = self._read(needed("polars").DataFrame)
        return frame

    def rows(self) -> list[dict[str, Any]]:
        """All rows as dictionaries; needs pyarrow."""
        rows: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return rows

    def batches(self) -> Iterator[Any]:
        """The record batches of pyarrow, one after the other.

        Raises:
            InvalidValueError: a text is not valid UTF-8, and its field is not in ``binary``.
        """
        try:
            yield from needed("pyarrow").RecordBatchReader.from_stream(self)
        except Exception as error:
            name = _not_unicode(error)
            if name is None:
                raise
            hint = f"name it in binary= to get bytes, as in export(binary=['{name}'])"
            raise InvalidValueError(f"field '{name}' has a text that is not valid UTF-8: {hint}") from None

    def __repr__(self) -> str:
        return f"<scanns.Export of {', '.join(self.fields)}>"


def _not_unicode(error: Exception) -> str | None:
    """The field whose text Arrow cannot hold, if that is the error."""
    found = _NOT_UNICODE.search(str(error))
    return None if found is None else found[1]
