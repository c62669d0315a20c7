"""Queries as objects, which compile to the JSON of docs/QUERIES.md.

>>> from scanns import Q
>>> query = Q.text("license warranty") & (Q.field("size") > "1GiB") & ~Q.term("draft")
"""

from __future__ import annotations

import datetime as _datetime
import json
from collections.abc import Iterable, Mapping
from typing import Any, Union

Json = Union[None, bool, int, float, str, list["Json"], dict[str, "Json"]]
Comparable = Union[str, int, float, bool, _datetime.date, _datetime.datetime]
"""A value that a column can be compared with; sizes and dates may be text, as in ``"1GiB"`` and ``"2024"``."""

Term = Union[str, bytes]

__all__ = ["Comparable", "FieldQuery", "Q", "Term"]


def _term(term: Term) -> Json:
    if isinstance(term, bytes):
        return {"bytes": term.hex()}
    try:
        term.encode()
    except UnicodeEncodeError:
        return {"bytes": term.encode("utf-8", "surrogateescape").hex()}
    return term


def _value(value: Comparable) -> Json:
    if isinstance(value, bool):
        return value
    if isinstance(value, _datetime.datetime):
        if value.tzinfo is None:
            value = value.replace(tzinfo=_datetime.timezone.utc)
        return value.isoformat()
    if isinstance(value, _datetime.date):
        return value.isoformat()
    return value


class Q:
    """A query. Combine queries with ``&`` (both), ``|`` (any), ``~`` (not) and ``*`` (a factor of the score)."""

    __slots__ = ("_clause",)

    def __init__(self, clause: Mapping[str, Any]) -> None:
        """Takes a clause of the JSON of queries as it is."""
        self._clause: dict[str, Any] = dict(clause)

    # Clauses

    @staticmethod
    def text(text: str, *, operator: str | None = None, field: str | None = None) -> Q:
        """Any of the words of a text that a user has typed, or all of them with ``operator="and"``."""
        match: Json = text if operator is None else {"text": text, "operator": operator}
        return Q({"match": match})._in(field)

    @staticmethod
    def term(term: Term, *, field: str | None = None) -> Q:
        """A term as it is in the index."""
        return Q({"term": _term(term)})._in(field)

    @staticmethod
    def phrase(text: str, *, slop: int = 0, field: str | None = None) -> Q:
        """The words of a text beside each other, after moving words by up to ``slop`` places."""
        phrase: Json = text if slop == 0 else {"text": text, "slop": slop}
        return Q({"phrase": phrase})._in(field)

    @staticmethod
    def prefix(prefix: Term, *, field: str | None = None) -> Q:
        """Terms with a prefix."""
        return Q({"prefix": _term(prefix)})._in(field)

    @staticmethod
    def wildcard(pattern: str, *, field: str | None = None) -> Q:
        """Terms that match a pattern: ``?`` is one character, ``*`` any number."""
        return Q({"wildcard": pattern})._in(field)

    @staticmethod
    def regexp(pattern: str, *, field: str | None = None) -> Q:
        """Terms that a regular expression matches as a whole."""
        return Q({"regexp": pattern})._in(field)

    @staticmethod
    def fuzzy(term: str, *, edits: int = 2, prefix: int = 0, field: str | None = None) -> Q:
        """Terms within some edits of a word, whose first ``prefix`` characters are the same."""
        return Q({"fuzzy": {"term": term, "edits": edits, "prefix": prefix}})._in(field)

    @staticmethod
    def terms(terms: Iterable[Term], *, field: str | None = None) -> Q:
        """Any of the terms, which all score the same."""
        return Q({"set": [_term(term) for term in terms]})._in(field)

    @staticmethod
    def field(name: str) -> FieldQuery:
        """A field, to compare its values or to search in it."""
        return FieldQuery(name)

    @staticmethod
    def all() -> Q:
        """All documents."""
        return Q({"match_all": {}})

    @staticmethod
    def any_of(queries: Iterable[Q], *, at_least: int = 1) -> Q:
        """At least this number of the queries."""
        return Q({"bool": {"should": [query._clause for query in queries], "at_least": at_least}})

    @staticmethod
    def best_of(queries: Iterable[Q], *, tie: float = 0.0) -> Q:
        """Any of the queries; the score is the best one, plus the others times ``tie``."""
        return Q({"best": {"clauses": [query._clause for query in queries], "tie": tie}})

    @staticmethod
    def join(source: str, target: str, query: Q, *, score: str = "none") -> Q:
        """Documents whose ``target`` is a value of ``source`` in a document that matches ``query``.

        Both are names of columns of keywords or whole numbers, or ``"key"`` for the keys of documents. ``score`` is how
        documents score: ``"none"``, or the ``"max"``, ``"sum"``, ``"mean"`` or ``"min"`` of the scores of ``query``.
        """
        join = {"from": source, "to": target, "query": query.to_dict(), "score": score}
        return Q({"join": join})

    @staticmethod
    def json(text: str) -> Q:
        """A query in JSON."""
        clause = json.loads(text)
        if not isinstance(clause, dict):
            raise TypeError("a query in JSON is an object")
        return Q(clause)

    # Combinations

    def __and__(self, other: Q) -> Q:
        own, more = self._list(), other._list()
        must = own["must"] + more["must"]
        clause: dict[str, Any] = {"must": must}
        for name in ("filter", "must_not"):
            if own[name] or more[name]:
                clause[name] = own[name] + more[name]
        return Q({"bool": clause})

    def __or__(self, other: Q) -> Q:
        return Q({"bool": {"should": self._alternatives() + other._alternatives()}})

    def __invert__(self) -> Q:
        return Q({"bool": {"must": [{"match_all": {}}], "must_not": [self._clause]}})

    def __mul__(self, factor: float) -> Q:
        return Q({"query": self._clause, "boost": factor})

    __rmul__ = __mul__

    def filter(self, condition: Q) -> Q:
        """The same hits with the same scores, if they also match a condition."""
        return Q({"bool": {"must": [self._clause], "filter": [condition._clause]}})

    def scored(
        self,
        column: str,
        curve: str,
        *,
        origin: Comparable | None = None,
        scale: float | str | _datetime.timedelta | None = None,
        closeness: str | None = None,
        half: float | str | None = None,
        missing: float = 0.0,
        change: str = "multiply",
    ) -> Q:
        """The same hits, with scores that change by the number that each document has in a column.

        ``curve`` is ``"value"``, ``"log"``, ``"root"``, ``"saturate"`` with ``half``, or ``"near"`` with ``origin``,
        ``scale`` and optionally ``closeness``; ``change`` is ``"multiply"``, ``"add"`` or ``"replace"``. Documents
        without a value have the number ``missing``. docs/QUERIES.md has the formulas.

        >>> Q.text("report").scored("mtime", "near", origin="now", scale="30d")
        Q({'scored': {'query': {'match': 'report'}, 'column': 'mtime', 'curve': 'near', 'origin': 'now', 'scale': '30d'}})
        """
        if isinstance(scale, _datetime.timedelta):
            scale = scale / _datetime.timedelta(microseconds=1) * 1000.0
        scored: dict[str, Any] = {"query": self.to_dict(), "column": column, "curve": curve}
        given = {"origin": None if origin is None else _value(origin), "scale": scale, "closeness": closeness}
        given.update(half=half, missing=missing or None, change=None if change == "multiply" else change)
        scored.update({name: value for name, value in given.items() if value is not None})
        return Q({"scored": scored})

    def _in(self, field: str | None) -> Q:
        return self if field is None else Q({**self._clause, "field": field})

    def _list(self) -> dict[str, list[Any]]:
        """The query as required, filtering and excluded clauses."""
        inner = self._clause.get("bool") if len(self._clause) == 1 else None
        plain: dict[str, list[Any]] = {"must": [self._clause], "filter": [], "must_not": []}
        if not isinstance(inner, dict) or not set(inner) <= set(plain):
            return plain
        must = inner.get("must", [])
        if must == [{"match_all": {}}] and "must_not" in inner:
            must = []
        return {"must": must, "filter": inner.get("filter", []), "must_not": inner.get("must_not", [])}

    def _alternatives(self) -> list[Any]:
        inner = self._clause.get("bool") if len(self._clause) == 1 else None
        if isinstance(inner, dict) and set(inner) == {"should"}:
            return list(inner["should"])
        return [self._clause]

    # Results

    def to_dict(self) -> dict[str, Any]:
        """The query as a clause of JSON."""
        lists = self._clause.get("bool")
        if isinstance(lists, dict) and lists.get("must") == [] and not lists.get("should"):
            # Exclusions alone exclude from all documents.
            return {"bool": {**lists, "must": [{"match_all": {}}]}}
        return self._clause

    def to_json(self) -> str:
        """The query in JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __repr__(self) -> str:
        return f"Q({self.to_dict()!r})"

    def __bool__(self) -> bool:
        raise TypeError("combine queries with & and | instead of `and` and `or`, in parentheses")


class FieldQuery:
    """A field: ``Q.field("size") > "1GiB"``, ``Q.field("owner").is_in(["ann", "bob"])``."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def _values(self, **how: Json) -> Q:
        return Q({"values": {"column": self._name, **how}})

    def __gt__(self, value: Comparable) -> Q:
        return self._values(gt=_value(value))

    def __ge__(self, value: Comparable) -> Q:
        return self._values(gte=_value(value))

    def __lt__(self, value: Comparable) -> Q:
        return self._values(lt=_value(value))

    def __le__(self, value: Comparable) -> Q:
        return self._values(lte=_value(value))

    def __eq__(self, value: object) -> Q:  # type: ignore[override]
        return self._values(equals=_value(value))  # type: ignore[arg-type]

    def __ne__(self, value: object) -> Q:  # type: ignore[override]
        return ~(self == value)

    __hash__ = None  # type: ignore[assignment]

    def between(self, low: Comparable, high: Comparable) -> Q:
        """Values from ``low`` up to, and without, ``high``."""
        return self._values(gte=_value(low), lt=_value(high))

    def is_in(self, values: Iterable[Comparable]) -> Q:
        """Any of the values."""
        return Q.any_of([self == value for value in values])

    def prefix(self, prefix: str) -> Q:
        """Values with a prefix."""
        return self._values(prefix=prefix)

    def wildcard(self, pattern: str) -> Q:
        """Values that match a pattern of ``?`` and ``*``."""
        return self._values(wildcard=pattern)

    def regexp(self, pattern: str) -> Q:
        """Values that a regular expression matches as a whole."""
        return self._values(regexp=pattern)

    def exists(self) -> Q:
        """Documents with any term in the field."""
        return Q({"exists": {}, "field": self._name})

    def text(self, text: str, *, operator: str | None = None) -> Q:
        """Words of a text, in this field."""
        return Q.text(text, operator=operator, field=self._name)

    def phrase(self, text: str, *, slop: int = 0) -> Q:
        """A phrase, in this field."""
        return Q.phrase(text, slop=slop, field=self._name)

    def term(self, term: Term) -> Q:
        """A term, in this field."""
        return Q.term(term, field=self._name)
