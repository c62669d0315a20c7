"""What the native module is asked: orders, requests, and the tokens of pages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Union

from .errors import FieldError, InvalidValueError

Texts = Union[str, Sequence[str]]
AnyPath = Union[str, bytes, "os.PathLike[str]"]


class SearchRequest:
    """A search; the fields are read by the native module."""

    __slots__ = ("after", "aggregations", "collapse", "k", "model", "sort", "timeout", "without")

    def __init__(self, k: int, model: tuple[str, list[tuple[str, float]]], sort: list[tuple[str, bool, bool]]) -> None:
        self.k = k
        self.model = model
        self.sort = sort
        self.after: tuple[int, int, int] | None = None
        self.aggregations = ""
        self.timeout: float | None = None
        self.collapse: int | None = None
        self.without: tuple[int, int] | None = None


class LikeRequest(NamedTuple):
    """The words of a document or a text to search for."""

    text: bytes | None
    min_freq: int
    min_docs: int
    max_docs: int | None
    terms: int


def given(value: object) -> str:
    """A value of a wrong type or size, for a message."""
    text = repr(value)
    return f"{text[:60]}{'…' if len(text) > 60 else ''} ({type(value).__name__})"


def paths_of(path: AnyPath | Iterable[AnyPath]) -> list[str]:
    """A path, or several."""
    several = [path] if isinstance(path, (str, bytes, os.PathLike)) else path
    try:
        return [os.fsdecode(one) for one in several]
    except TypeError:
        raise InvalidValueError(f"path: {given(path)}: give a path, or a list of paths") from None


def names_of(name: str, texts: Texts | Any) -> list[str]:
    """The names in a text with commas, or in several texts."""
    if isinstance(texts, str):
        texts = texts.split(",")
    elif isinstance(texts, bytes) or not hasattr(texts, "__iter__"):
        raise InvalidValueError(f"{name}: {given(texts)}: give a text such as 'size,owner', or a list of texts")
    names = list(texts)
    for one in names:
        if not isinstance(one, str):
            raise InvalidValueError(f"{name}: {given(one)} is not the name of a field: give texts")
    return [one.strip() for one in names]


def check_whole(name: str, value: Any, least: int = 0) -> None:
    """Refuses what is not a whole number of at least ``least``."""
    try:
        is_fine = least <= value.__index__() < 1 << 63
    except (AttributeError, TypeError):
        is_fine = False
    if not is_fine:
        raise InvalidValueError(f"{name}: {given(value)}: give a whole number from {least}")


def check_timeout(value: Any) -> None:
    """Refuses what is not a number of seconds, or ``None``."""
    if value is None:
        return
    try:
        is_fine = not isinstance(value, str) and 0 <= float(value) <= 1e9
    except (TypeError, ValueError):
        is_fine = False
    if not is_fine:
        raise InvalidValueError(f"timeout: {given(value)}: give seconds, such as 0.5, or None for no limit")


def check_request(request: SearchRequest) -> None:
    """Says what of a search has a wrong type, after the native module has refused it."""
    check_whole("k", request.k)
    if request.collapse is not None:
        check_whole("collapse", request.collapse)
    for name, value in request.model[1]:
        if isinstance(value, str) or not hasattr(value, "__float__"):
            raise InvalidValueError(f"model: {name}={given(value)}: give a number")


def sort_spec(sort: Texts | None) -> list[tuple[str, bool, bool]]:
    """The columns of an order, as in ``size:desc,owner``: name, descending, and missing values first."""
    if sort is None or sort == "score":
        return []
    if sort in ("key", "-key"):
        return [("_key", sort == "-key", False)]
    specs = []
    for text in names_of("sort", sort):
        name, *parts = text.split(":")
        plain = name.removeprefix("-")
        if not plain or plain == "key":
            raise InvalidValueError("write score, key, -key, or fields as in size:desc,owner")
        descending, first = plain != name or plain == "score", False
        for part in parts:
            if part not in ("asc", "desc", "first", "last"):
                raise InvalidValueError(f"'{part}' after '{name}' is unknown: use asc, desc, first or last")
            descending = part == "desc" if part in ("asc", "desc") else descending
            first = part == "first" if part in ("first", "last") else first
        specs.append((plain, descending, first))
    return specs


def kept_fields(fields: Texts, known: Sequence[str]) -> list[str]:
    """The names of fields whose values can be read, or of the key.

    Raises:
        FieldError: a field is neither a column nor stored.
    """
    names = names_of("fields", fields)
    for name in names:
        if name not in known and name != "_key":
            raise FieldError(f"no field '{name}' is a column or stored; such fields are: {', '.join(known)}")
    return names


def shown_fields(fields: Texts, known: Sequence[str]) -> list[str]:
    """The same without the key, which is always shown."""
    return [name for name in kept_fields(fields, known) if name != "_key"]


def digest(text: str) -> str:
    """A hash of what all pages of a search have in common."""
    # Imported here, as it takes longer than the rest of the package.
    import hashlib

    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _check(text: str) -> str:
    """A checksum of a token, which shows whether it was changed."""
    import hashlib

    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()


def page_token(parts: list[int], search: str) -> str:
    """The token of a page: the fingerprint of the index, the rank and the place of its last hit."""
    text = f"{'-'.join(f'{part:x}' for part in parts)}-{search}"
    return f"{text}-{_check(text)}"


def place_after(token: str, search: str, fingerprint: int) -> tuple[int, tuple[int, int, int] | None]:
    """The first rank of the page after a token, and the place before it.

    Raises:
        InvalidValueError: the token was changed, or belongs to another search or another commit.
    """
    if token == "start":
        return 1, None
    text, _, check = token.rpartition("-")
    if _check(text) != check:
        raise InvalidValueError(f"after: '{token}' is not the token of a page: use Results.after as it is")
    *numbers, asked = text.split("-")
    found, rank, leaf, doc, score = (int(number, 16) for number in numbers)
    if asked != search:
        raise InvalidValueError("after: the token belongs to another query, model or order: use the same")
    if found != fingerprint:
        raise InvalidValueError("after: the index has changed since that page: start again")
    return rank + 1, (leaf, doc, score)
