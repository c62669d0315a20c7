"""Several indexes that are searched as one, wherever they are: questions, and the answers of all shards together.

How messages reach the shards is left to a subclass of :class:`Sharded`.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from . import _html
from ._files import IncompleteWarning
from ._index import Query
from ._request import Texts, shown_fields, sort_spec
from ._native import ArrowStream, NativeShardHits, NativeShardSet
from ._results import Model, Snippet, model_spec
from ._tables import Table
from .errors import InvalidValueError
from .facets import Request
from .query import Q

if TYPE_CHECKING:
    from .facets import Distinct, Facet, Stats

__all__ = ["MissingShard", "ShardDescription", "ShardGroup", "ShardGroups", "ShardHit", "ShardResults", "Sharded"]

# Batches of questions that are under way at the same time, so that shards work while answers are put together.
_BATCHES = 4
# Rows of a batch of an export.
_ROWS = 65_536


@dataclass(frozen=True)
class MissingShard:
    """A shard that an answer lacks: its number, its index and the reason."""

    shard: int
    index: str
    reason: str


class ShardDescription(NamedTuple):
    """What is known of a shard that can be opened."""

    path: str
    message: bytes
    """The description for the engine."""
    fingerprint: int
    """The number of the commit."""
    filled: list[str]
    """The fields of which some document has a value."""
    several: list[str]
    """The fields of which a document may have several values."""


class ShardExport(NamedTuple):
    """An export of one shard in the form that the native module takes."""

    number: int
    message: bytes
    """The message that asks for the hits of the query."""
    fields: list[str]
    binary: list[str]
    several: list[str]
    """The fields of which a document of some shard may have several values."""
    rows: int


class Question:
    """A question in the form that the native module takes."""

    def __init__(self, query: Query, k: int, searched: Texts | None, operator: str) -> None:
        self.is_json = not isinstance(query, str)
        if isinstance(query, str):
            self.query = query
        else:
            self.query = query.to_json() if isinstance(query, Q) else json.dumps(query)
        self.operator = operator
        self.searched = searched if searched is None or isinstance(searched, str) else ",".join(searched)
        self.k = k
        self.skip = 0
        self.model: tuple[str, list[tuple[str, float]]] = ("bm25", [])
        self.sort: list[tuple[str, bool, bool]] = []
        self.aggregations = ""
        self.group: tuple[str, int, int, bool] | None = None
        self.count = False
        self.fields: list[str] = []
        self.content = False
        self.explain = False
        self.snippets: tuple[str | None, int, int] | None = None


class ShardHit:
    """A document that a query found in a shard."""

    __slots__ = ("_at", "_hits", "key", "rank", "score", "shard")

    def __init__(self, hits: NativeShardHits, at: int, rank: int, score: float, key: str, shard: int) -> None:
        self._hits = hits
        self._at = at
        self.rank = rank
        """The place among the hits, from 1."""
        self.score = score
        self.key = key
        self.shard = shard
        """The number of the shard that has the document."""

    @property
    def sort(self) -> tuple[Any, ...]:
        """The values that the hit was sorted by."""
        return self._hits.sorted(self._at)

    def fields(self) -> dict[str, Any]:
        """The values of the fields that were asked for; several values are a list."""
        found = self._hits.values(self._at)
        return {name: None if not values else values[0] if len(values) == 1 else values for name, values in found.items()}

    def __getitem__(self, name: str) -> Any:
        return self.fields()[name]

    def text(self) -> bytes | None:
        """The text of the document, if ``content=True`` asked for it and the index stores it."""
        return self._hits.document(self._at)

    def explain(self) -> str | None:
        """How the score was computed, if ``explain=True`` asked for it."""
        return self._hits.explanation(self._at)

    def snippets(self) -> list[Snippet]:
        """The parts of the text that match best, if ``snippets=True`` asked for them."""
        return [Snippet(*found) for found in self._hits.snippets(self._at) or []]

    @property
    def problem(self) -> str | None:
        """Why the text of the document could not be read."""
        return self._hits.problem(self._at)

    def __repr__(self) -> str:
        return f"ShardHit(rank={self.rank}, score={self.score:.4f}, key={self.key!r}, shard={self.shard})"


class ShardResults(Table):
    """The hits of all shards, and what was computed over all matches."""

    def __init__(
        self,
        hits: NativeShardHits,
        numbers: Sequence[int],
        first: int,
        count: int | None,
        partial: bool,
        missing: list[MissingShard],
        sorted_by: list[str],
    ) -> None:
        self._hits = hits
        self._first = first
        self._sorted_by = sorted_by
        self.keys: list[str] = hits.keys()
        """The keys of all hits."""
        self.scores: list[float] = hits.scores()
        """The scores of all hits."""
        self.shards: list[int] = [numbers[shard] for shard in hits.shards()]
        """The numbers of the shards of all hits."""
        self.total = count
        """The number of all documents that match, if ``count=True`` asked for it."""
        self.partial = partial
        """True if the time of a shard was up: there may be more and better hits."""
        self.missing = missing
        """The shards that the answer lacks, which ``allow_missing`` allows."""
        self.facets: dict[str, Facet] = {}
        """Facets by their texts."""
        self.stats: dict[str, Stats] = {}
        """Statistics by their texts."""
        self.distinct: dict[str, Distinct] = {}
        """Numbers of different values by their texts."""

    def _stream(self) -> ArrowStream:
        return self._hits.arrow(self._first)

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary for each hit: rank, score, key and fields."""
        return [{"rank": hit.rank, "score": hit.score, "_key": hit.key, **hit.fields()} for hit in self]

    def __len__(self) -> int:
        return len(self.keys)

    def _hit(self, at: int) -> ShardHit:
        return ShardHit(self._hits, at, self._first + at, self.scores[at], self.keys[at], self.shards[at])

    @overload
    def __getitem__(self, at: int) -> ShardHit: ...

    @overload
    def __getitem__(self, at: slice) -> list[ShardHit]: ...

    def __getitem__(self, at: int | slice) -> ShardHit | list[ShardHit]:
        places = range(len(self))[at]
        return self._hit(places) if isinstance(places, int) else [self._hit(place) for place in places]

    def __iter__(self) -> Iterator[ShardHit]:
        return (self._hit(at) for at in range(len(self)))

    def __repr__(self) -> str:
        more = ", partial" if self.partial else ""
        lacks = f", {len(self.missing)} shards missing" if self.missing else ""
        return f"<scanns.dask.ShardResults: {len(self)} hits{more}{lacks}>"

    def _repr_html_(self) -> str:
        rows = [(hit.rank, f"{hit.score:.4f}", hit.key, *hit.sort) for hit in self]
        notes = [f"Shard {one.shard} is missing ({one.index}): {one.reason}" for one in self.missing]
        if self.partial:
            notes.append("The time was up: there may be more and better hits.")
        shown = _html.table(["rank", "score", "key", *self._sorted_by], rows, " ".join(notes)) if rows or notes else ""
        answers: list[Facet | Stats] = [*self.facets.values(), *self.stats.values()]
        return shown + "".join(answer._repr_html_() for answer in answers)


@dataclass(frozen=True)
class ShardGroup:
    """The documents with one value, and the best of them."""

    value: Any
    count: int
    hits: ShardResults


class ShardGroups(Sequence[ShardGroup]):
    """The best hits of each value of a column."""

    def __init__(self, field: str, groups: list[ShardGroup], total: int, missing: int) -> None:
        self.field = field
        self.groups = groups
        self.total = total
        """The number of values, shown or not."""
        self.missing = missing
        """The number of documents without a value."""

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, at: Any) -> Any:
        return self.groups[at]

    def __repr__(self) -> str:
        return f"<scanns.dask.ShardGroups by {self.field}: {len(self)} of {self.total}>"


class Sharded:
    """Several shards that are searched as one. A subclass carries the messages."""

    def __init__(
        self,
        shards: Sequence[ShardDescription | MissingShard],
        *,
        allow_missing: bool = False,
        batch: int = 64,
    ) -> None:
        if batch < 1:
            raise InvalidValueError(f"batch: {batch} is not a number of queries: at least 1")
        self._numbers = [number for number, shard in enumerate(shards) if isinstance(shard, ShardDescription)]
        self._shards = [shard for shard in shards if isinstance(shard, ShardDescription)]
        self.missing = [shard for shard in shards if isinstance(shard, MissingShard)]
        """The shards that could not be opened."""
        self._set = NativeShardSet([shard.message for shard in self._shards])
        self._allow_missing = allow_missing
        self._batch = batch
        self._kinds = dict(self._set.fields())
        filled = {name for shard in self._shards for name in shard.filled}
        self._filled = [name for name in self._kinds if name in filled]
        self._several = sorted({name for shard in self._shards for name in shard.several})

    def _ask(self, message: bytes, timeout: float | None) -> list[bytes | str]:
        """The answers of all open shards to a message, in their order; a text says why there is none."""
        raise NotImplementedError

    @property
    def fields(self) -> dict[str, str]:
        """The types of the fields of all shards, by name."""
        return dict(self._kinds)

    @property
    def shards(self) -> list[str]:
        """The paths of the shards that are open, in the order of their documents."""
        return [shard.path for shard in self._shards]

    def __len__(self) -> int:
        return self._set.documents

    def __repr__(self) -> str:
        lacks = f", {len(self.missing)} missing" if self.missing else ""
        return f"<scanns.dask.{type(self).__name__}: {len(self):,} documents in {len(self._shards)} shards{lacks}>"

    def _answers(self, questions: Sequence[Question], timeout: float | None) -> list[dict[str, Any]]:
        """The answers to questions, which travel together."""
        search = self._set.search(questions, self._allow_missing)
        while (message := search.next()) is not None:
            search.take(self._ask(message, timeout))
        answers = search.finish(self._several)
        for answer in answers:
            answer["missing"] = [*self.missing, *(self._missing(*one) for one in answer["missing"])]
        return answers

    def _exports(
        self, query: Query, fields: list[str], binary: list[str], operator: str
    ) -> tuple[list[tuple[int, ShardExport]], list[MissingShard]]:
        """What to ask of each shard for an export, by the place of the shard; and the shards that are missing."""
        question = Question(query, 0, None, operator)
        question.fields = [name for name in fields if name != "_key"]
        search = self._set.search([question], self._allow_missing)
        message = search.next()
        assert message is not None
        answers = self._ask(message, None)
        search.take(answers)
        message = search.next()
        assert message is not None
        lost = {at: reason for at, reason in enumerate(answers) if isinstance(reason, str)}
        asked = [at for at in range(len(self._shards)) if at not in lost]
        exports = [ShardExport(at, message, fields, binary, self._several, _ROWS) for at in asked]
        missing = [*self.missing, *(self._missing(at, "", reason) for at, reason in lost.items())]
        return list(zip(asked, exports)), missing

    def _missing(self, shard: int, _name: str, reason: str) -> MissingShard:
        return MissingShard(self._numbers[shard], self._shards[shard].path, reason)

    def _results(self, question: Question, answer: dict[str, Any], hits: NativeShardHits) -> ShardResults:
        sorted_by = [name for name, _, _ in question.sort if name != "_key"]
        first = question.skip + 1
        return ShardResults(
            hits, self._numbers, first, answer["count"], answer["partial"], answer["missing"], sorted_by
        )

    def search_many(
        self,
        queries: Iterable[Query],
        k: int = 10,
        *,
        skip: int = 0,
        model: str | Model = "bm25",
        field: Texts | None = None,
        fields: Texts | None = None,
        default_operator: str = "or",
        sort: Texts | None = None,
        facets: Texts = (),
        stats: Texts = (),
        distinct: Texts = (),
        count: bool = False,
        content: bool = False,
        explain: bool = False,
        snippets: bool | str = False,
        snippet_length: int = 160,
        snippet_count: int = 2,
        timeout: float | None = None,
    ) -> list[ShardResults]:
        """The answers to many queries, as :meth:`search` gives them. Batches of queries travel together."""
        request = Request(self._kinds, facets, stats, distinct) if facets or stats or distinct else None
        questions = []
        for query in queries:
            question = Question(query, k, field, default_operator)
            question.skip = skip
            question.model = model_spec(model)
            question.sort = sort_spec(sort)
            question.aggregations = "" if request is None else request.to_json()
            question.count = count
            question.fields = self._filled if fields is None else shown_fields(fields, self._filled)
            question.content = content
            question.explain = explain
            if snippets:
                question.snippets = (snippets if isinstance(snippets, str) else None, snippet_length, snippet_count)
            questions.append(question)
        found = []
        for question, answer in zip(questions, self._in_batches(questions, timeout)):
            results = self._results(question, answer, answer["hits"])
            if request is not None:
                results.facets, results.stats, results.distinct = request.answers(answer["aggregated"])
            found.append(results)
        self._warn({one.shard: one for results in found for one in results.missing})
        return found

    def _in_batches(self, questions: list[Question], timeout: float | None) -> list[dict[str, Any]]:
        batches = [questions[at : at + self._batch] for at in range(0, len(questions), self._batch)]
        if len(batches) <= 1:
            return self._answers(questions, timeout) if questions else []
        with ThreadPoolExecutor(_BATCHES, "scanns batches") as pool:
            done = pool.map(lambda batch: self._answers(batch, timeout), batches)
            return [answer for answers in done for answer in answers]

    def _warn(self, missing: dict[int, MissingShard]) -> None:
        if missing:
            first = missing[min(missing)]
            what = f"the answer lacks {len(missing)} of {len(self._shards) + len(self.missing)} shards"
            text = f"{what}; shard {first.shard} ({first.index}): {first.reason}"
            warnings.warn(text, IncompleteWarning, stacklevel=4)

    def search(self, query: Query, k: int = 10, **options: Any) -> ShardResults:
        """The best ``k`` documents of all shards, after the first ``skip``, and what is computed over all matches.

        ``model``, ``field``, ``fields``, ``default_operator``, ``sort``, ``facets``, ``stats`` and ``distinct`` are those
        of :meth:`scanns.Index.search`. ``count=True`` counts all matches. ``content``, ``explain`` and ``snippets`` ask for the text of each hit, for
        how its score was computed, and for the best parts of its text. After ``timeout`` seconds a shard answers with
        what it has found, and :attr:`ShardResults.partial` is true. Options are those of :meth:`search_many`.
        """
        return self.search_many([query], k, **options)[0]

    def count(self, query: Query, *, field: Texts | None = None, default_operator: str = "or") -> int:
        """The number of documents that match."""
        question = Question(query, 0, field, default_operator)
        question.count = True
        (answer,) = self._answers([question], None)
        self._warn({one.shard: one for one in answer["missing"]})
        return int(answer["count"])

    def aggregate(self, query: Query = "*", **options: Any) -> ShardResults:
        """Facets, statistics and numbers of different values over all matches, without hits."""
        return self.search(query, 0, **options)

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
    ) -> ShardGroups:
        """The best hits of each value of a column: the first ``k`` values, ``hits`` of each."""
        question = Question(query, 0, field, default_operator)
        question.model = model_spec(model)
        question.sort = sort_spec(sort)
        question.group = (group, k, hits, missing)
        question.fields = self._filled
        (answer,) = self._answers([question], timeout)
        self._warn({one.shard: one for one in answer["missing"]})
        rows, total, without = answer["groups"]
        made = [ShardGroup(value, count, self._results(question, answer, found)) for value, count, found in rows]
        return ShardGroups(group, made, total, without)
