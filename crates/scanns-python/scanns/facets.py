"""Facets: counts by value, statistics and numbers of different values, in the words of the command.

``ext``, ``ext:20:by=value``, ``size:ranges:..1MiB,1MiB..1GiB``, ``mtime:month`` and ``owner > sum:size`` mean
what they mean to ``scanns search --facet``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _html
from ._tables import Table
from .errors import InvalidValueError

if TYPE_CHECKING:
    from ._native import ArrowStream

__all__ = ["Bucket", "Distinct", "Facet", "Stats", "parse_size"]

_UNITS = ("year", "month", "week", "day", "hour")
_POWERS = "kmgtp"


def parse_size(text: str) -> int:
    """The bytes of ``4GiB``, ``1.5g`` or ``64k``; ``kB`` is 1000."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    suffix = text[len(digits) :].strip().lower()
    factor = 1
    if suffix and suffix != "b":
        power = _POWERS.find(suffix[0]) + 1
        base = {"": 1024, "ib": 1024, "b": 1000}.get(suffix[1:])
        if power == 0 or base is None:
            raise InvalidValueError(f"'{text}' is not a size: write bytes, or a number with k, m, g or t")
        factor = base**power
    try:
        return int(digits) * factor if digits.isdigit() else round(float(digits) * factor)
    except ValueError:
        raise InvalidValueError(f"'{text}' is not a size: write bytes, or a number with k, m, g or t") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float(parse_size(text))


def _bound(text: str, kind: str) -> str:
    return str(parse_size(text)) if text and kind == "unsigned" else text


class _Level:
    """A facet as it was asked for: what the engine computes, and how its answer is arranged."""

    def __init__(self, text: str, kinds: dict[str, str]) -> None:
        own, _, nested = text.partition(" > ")
        self.text = text
        self.by_sum: str | None = None
        self.limit: int | None = 10
        self.nested_name: str | None = None
        self.inner: _Level | None = None
        self.spec = self._facet(own.strip(), kinds)
        self.field: str = self.spec["field"]
        within: list[Any] = []
        if self.by_sum is not None:
            within.append({"kind": "stats", "field": self.by_sum, "percentiles": []})
            self.spec["limit"] = None
        if nested:
            within.append(self._nested(nested, kinds))
        self.spec["nested"] = within

    def _facet(self, text: str, kinds: dict[str, str]) -> dict[str, Any]:
        name, _, how = text.partition(":")
        word, _, rest = how.partition(":")
        if word == "ranges":
            return {"kind": "ranges", "field": name, "ranges": [self._range(r, kinds.get(name, "")) for r in rest.split(",")]}
        if word == "every":
            length, _, offset = rest.partition(",")
            return {"kind": "every", "field": name, "interval": _number(length), "offset": _number(offset or "0")}
        if word == "below":
            return {"kind": "below", "field": name, "below": rest, "limit": 100}
        if word in _UNITS:
            return {"kind": "calendar", "field": name, "unit": word}
        return self._terms(name, how)

    @staticmethod
    def _range(text: str, kind: str) -> tuple[str, str, str]:
        low, dots, high = text.partition("..")
        if not dots:
            raise InvalidValueError(f"'{text}' is not a range: write FROM..TO")
        return text, _bound(low, kind), _bound(high, kind)

    def _terms(self, name: str, how: str) -> dict[str, Any]:
        by_value, prefix = False, ""
        while how:
            word, _, how = how.partition(":")
            if word == "all":
                self.limit = None
            elif word in ("by=count", "by=value"):
                by_value = word == "by=value"
            elif word == "prefix":
                prefix, how = how, ""
            elif word.startswith("by=sum(") and word.endswith(")"):
                self.by_sum = word[len("by=sum(") : -1]
            elif word.isdigit():
                self.limit = int(word)
            else:
                raise InvalidValueError(
                    f"'{word}' is unknown: write a number, all, by=value, by=sum(FIELD), prefix:TEXT, "
                    "ranges:A..B,B..C, every:N, year, month, week, day, hour or below:DIR/"
                )
        return {"kind": "terms", "field": name, "limit": self.limit, "by_value": by_value, "prefix": prefix}

    def _nested(self, text: str, kinds: dict[str, str]) -> dict[str, Any]:
        kind, _, of = text.partition(":")
        self.nested_name = text
        if kind == "sum":
            return {"kind": "stats", "field": of, "percentiles": []}
        if kind == "stats":
            return _stats(of)
        if kind == "distinct":
            return _distinct(of)
        self.inner = _Level(text, kinds)
        return self.inner.spec

    def arrange(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Orders buckets by a sum, and keeps those to show."""
        if self.by_sum is not None:

            def total(bucket: dict[str, Any]) -> float:
                found = bucket["nested"][0]["sum"]
                return float("-inf") if found is None else found

            buckets = sorted(answer["buckets"], key=total, reverse=True)
            shown = buckets if self.limit is None else buckets[: self.limit]
            answer["others"] += sum(bucket["count"] for bucket in buckets[len(shown) :])
            answer["buckets"] = shown
        if self.inner is not None:
            for bucket in answer["buckets"]:
                self.inner.arrange(bucket["nested"][-1])
        return answer


def _stats(text: str) -> dict[str, Any]:
    name, _, percents = text.partition(":")
    try:
        percentiles = [float(percent) for percent in percents.split(",")] if percents else []
    except ValueError:
        raise InvalidValueError(f"'{percents}' has something else than percentiles: write 0 to 100") from None
    return {"kind": "stats", "field": name, "percentiles": percentiles}


def _distinct(text: str) -> dict[str, Any]:
    name, _, how = text.partition(":")
    if how not in ("", "estimate"):
        raise InvalidValueError(f"'{how}' is unknown: write FIELD or FIELD:estimate")
    return {"kind": "distinct", "field": name, "exact": how == ""}


def _several(texts: str | Sequence[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


class Request:
    """Everything that a search computes over all matches."""

    def __init__(
        self,
        kinds: dict[str, str],
        facets: str | Sequence[str] = (),
        stats: str | Sequence[str] = (),
        distinct: str | Sequence[str] = (),
    ) -> None:
        self.levels = [_Level(text, kinds) for text in _several(facets)]
        self.stats = _several(stats)
        self.distinct = _several(distinct)

    def to_json(self) -> str:
        specs = [level.spec for level in self.levels]
        specs += [_stats(text) for text in self.stats] + [_distinct(text) for text in self.distinct]
        return json.dumps(specs) if specs else ""

    def answers(self, found: list[dict[str, Any]]) -> tuple[dict[str, Facet], dict[str, Stats], dict[str, Distinct]]:
        """The answers by their texts."""
        answers = iter(found)
        facets = {level.text: Facet(level, level.arrange(next(answers))) for level in self.levels}
        stats = {text: Stats(next(answers)) for text in self.stats}
        distinct = {text: Distinct(next(answers)) for text in self.distinct}
        return facets, stats, distinct


class Stats:
    """Statistics of the values of a column."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.documents: int = answer["documents"]
        """Documents with a value."""
        self.missing: int = answer["missing"]
        """Documents without a value."""
        self.values: int = answer["values"]
        self.min: Any = answer["min"]
        self.max: Any = answer["max"]
        self.sum: int | float | None = answer["sum"]
        self.mean: float | None = answer["mean"]
        """The mean; of dates in nanoseconds since 1970."""
        self.deviation: float | None = answer["deviation"]
        self.percentiles: dict[float, Any] = answer["percentiles"]

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))

    def __repr__(self) -> str:
        return f"Stats({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"

    def _repr_html_(self) -> str:
        return _html.pairs(self.to_dict().items())


class Distinct:
    """The number of different values of a column."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.values: int = answer["values"]
        self.exact: bool = answer["exact"]
        """False for an estimate."""
        self.missing: int = answer["missing"]
        """Documents without a value."""

    def __int__(self) -> int:
        return self.values

    def __repr__(self) -> str:
        return f"Distinct(values={self.values}, exact={self.exact}, missing={self.missing})"

    def _repr_html_(self) -> str:
        return _html.pairs([("distinct values", self.values), ("exact", self.exact), ("missing", self.missing)])


class Bucket:
    """The documents that share a value, a range, an interval or a directory."""

    def __init__(self, level: _Level, answer: dict[str, Any]) -> None:
        self.value: Any = answer["value"]
        """The value; of a range its text, of an interval or a unit of the calendar its first value."""
        self.count: int = answer["count"]
        self.sum: int | float | None = None
        """The sum that was asked for, to show or to order by."""
        self.stats: Stats | None = None
        self.distinct: Distinct | None = None
        self.facet: Facet | None = None
        """The facet of these documents, if one was asked for."""
        nested = list(answer["nested"])
        if level.by_sum is not None:
            self.sum = nested.pop(0)["sum"]
        if level.nested_name is None:
            return
        kind = level.nested_name.partition(":")[0]
        if kind == "distinct" and level.inner is None:
            self.distinct = Distinct(nested[0])
        elif level.inner is None:
            self.stats = Stats(nested[0])
            self.sum = self.stats.sum
        else:
            self.facet = Facet(level.inner, nested[0])

    def __repr__(self) -> str:
        more = "" if self.sum is None else f", sum={self.sum!r}"
        return f"Bucket({self.value!r}, count={self.count}{more})"


class Facet(Table):
    """A facet: iterate over its buckets, or convert it into a data frame."""

    def __init__(self, level: _Level, answer: dict[str, Any]) -> None:
        self.field: str = level.field
        self.name: str = level.text
        kind, _, of = (level.nested_name or "").partition(":")
        self._sum_of = level.by_sum or (of.partition(":")[0] if kind in ("sum", "stats") else None)
        self.buckets: list[Bucket] = [Bucket(level, bucket) for bucket in answer["buckets"]]
        self.documents: int = answer["documents"]
        """Matching documents."""
        self.missing: int = answer["missing"]
        """Matching documents without a value."""
        self.total: int = answer["total"]
        """Buckets, shown or not."""
        self.others: int = answer["others"]
        """The sum of the counts of buckets that are not shown."""

    def __iter__(self) -> Iterator[Bucket]:
        return iter(self.buckets)

    def __len__(self) -> int:
        return len(self.buckets)

    def __getitem__(self, at: int) -> Bucket:
        return self.buckets[at]

    def to_dict(self) -> dict[Any, int]:
        """Counts by value."""
        return {bucket.value: bucket.count for bucket in self.buckets}

    def rows(self) -> list[dict[str, Any]]:
        """A row for each bucket, and for each bucket of the facets inside."""
        rows: list[dict[str, Any]] = []
        for bucket in self.buckets:
            row: dict[str, Any] = {self.field: bucket.value, "count": bucket.count}
            if bucket.sum is not None:
                row["sum"] = bucket.sum
            if bucket.stats is not None:
                row.update({name: getattr(bucket.stats, name) for name in ("mean", "deviation", "min", "max")})
                row.update({f"p{percent:g}": value for percent, value in bucket.stats.percentiles.items()})
            if bucket.distinct is not None:
                row["distinct"] = bucket.distinct.values
            if bucket.facet is None:
                rows.append(row)
                continue
            outer = {self.field: bucket.value}
            for inner in bucket.facet.rows():
                rows.append({**outer, **{(f"{k}_2" if k == self.field else k): v for k, v in inner.items()}})
        return rows

    def _stream(self) -> ArrowStream | None:
        return None

    def __repr__(self) -> str:
        return f"Facet({self.name!r}, {self.to_dict()!r})"

    def _repr_html_(self) -> str:
        rows = [(bucket.value, bucket.count, bucket.sum) for bucket in self.buckets]
        shown = _html.size if self._sum_of is not None and _html.is_size(self._sum_of) else _html.plain
        return _html.bars((self.name, "documents", f"sum({self._sum_of})"), rows, self.others, shown)
