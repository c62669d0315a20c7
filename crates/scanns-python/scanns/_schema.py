"""The fields of documents, with the names of schema files."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _html
from ._request import given
from .errors import InvalidValueError

__all__ = ["Field", "Schema"]


class Field:
    """A field: its type, and whether it is searched, stored or a column.

    A column is for filters, orders, facets and exports; a stored field can be read back from hits. ``default`` fields
    are those that words without a field search.
    """

    __slots__ = ("analyzer", "column", "default", "postings", "searched", "stored", "type")

    def __init__(
        self,
        type: str,
        *,
        analyzer: str | None = None,
        postings: str | None = None,
        searched: bool | None = None,
        default: bool = False,
        column: bool = False,
        stored: bool = False,
    ) -> None:
        self.type = type
        self.analyzer = analyzer
        self.postings = postings
        self.searched = searched
        self.default = default
        self.column = column
        self.stored = stored

    @staticmethod
    def text(
        *, analyzer: str = "standard", positions: bool = False, offsets: bool = False, default: bool = False, stored: bool = False
    ) -> Field:
        """Text that is searched by its words. Phrases need positions."""
        postings = "offsets" if offsets else "positions" if positions else "frequencies"
        return Field("text", analyzer=analyzer, postings=postings, default=default, stored=stored)

    @staticmethod
    def keyword(*, column: bool = True, searched: bool = True, stored: bool = False, default: bool = False) -> Field:
        """A text that is searched as a whole: a name, a tag, an owner."""
        return Field("keyword", column=column, searched=searched, stored=stored, default=default)

    @staticmethod
    def unsigned(*, column: bool = True, stored: bool = False) -> Field:
        """Whole numbers from 0 to 2**64 - 1."""
        return Field("unsigned", column=column, stored=stored)

    @staticmethod
    def signed(*, column: bool = True, stored: bool = False) -> Field:
        """Whole numbers from -2**63 to 2**63 - 1."""
        return Field("signed", column=column, stored=stored)

    @staticmethod
    def float(*, column: bool = True, stored: bool = False) -> Field:
        """Numbers of double precision."""
        return Field("float", column=column, stored=stored)

    @staticmethod
    def boolean(*, column: bool = True, stored: bool = False) -> Field:
        """True or false."""
        return Field("boolean", column=column, stored=stored)

    @staticmethod
    def date(*, column: bool = True, stored: bool = False) -> Field:
        """Points in time, to the nanosecond."""
        return Field("date", column=column, stored=stored)

    @staticmethod
    def path(*, column: bool = True, stored: bool = False) -> Field:
        """Paths of files."""
        return Field("path", column=column, stored=stored)

    @staticmethod
    def bytes(*, stored: bool = True, column: bool = False) -> Field:
        """Any bytes."""
        return Field("bytes", column=column, stored=stored)

    def to_dict(self) -> dict[str, Any]:
        """The field with the names of schema files; what is not set is left out."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not None}

    def __repr__(self) -> str:
        return f"Field({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items() if value)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Field) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(tuple(self.to_dict().items()))


class Schema(dict[str, Field]):
    """Fields by name. A schema is fixed when an index is created."""

    def __init__(self, fields: Mapping[str, Field | str] | Iterable[tuple[str, Field | str]] = ()) -> None:
        """A field may be the name of its type."""
        made = dict(fields)
        super().__init__({name: made_field(field) for name, field in made.items()})

    @staticmethod
    def infer(documents: Iterable[Mapping[str, Any]], *, key: str = "key") -> Schema:
        """A schema that fits documents: texts are searched with positions and stored, other values are columns."""
        schema = Schema()
        for document in documents:
            for name, value in document.items():
                while isinstance(value, (list, tuple, set)):
                    value = next(iter(value), None)
                if value is None or name == key:
                    continue
                field = _inferred(name, value)
                known = schema.setdefault(name, field)
                if known.type != field.type:
                    schema[name] = _common(name, known, field)
        return schema

    def to_json(self) -> str:
        """The fields in the form of the native module."""
        return json.dumps([{"name": name, **field.to_dict()} for name, field in self.items()])

    def to_toml(self) -> str:
        """A schema file for ``scanns index --schema``."""
        lines = ["format = 1"]
        for name, field in self.items():
            lines += ["", "[[field]]", f"name = {json.dumps(name)}"]
            lines += [f"{option} = {json.dumps(value)}" for option, value in field.to_dict().items()]
        return "\n".join(lines) + "\n"

    def _repr_html_(self) -> str:
        rows = [
            (name, field.type, field.analyzer or "", field.column, field.stored) for name, field in self.items()
        ]
        return _html.table(["field", "type", "analyzer", "column", "stored"], rows)


def made_field(field: Field | str) -> Field:
    """The field of a type: text is stored with positions, other types are columns."""
    if isinstance(field, Field):
        return field
    if field == "text":
        return Field.text(positions=True, stored=True)
    makers = {
        "keyword": Field.keyword,
        "unsigned": Field.unsigned,
        "signed": Field.signed,
        "float": Field.float,
        "boolean": Field.boolean,
        "date": Field.date,
        "path": Field.path,
        "bytes": Field.bytes,
    }
    maker = makers.get(field)
    if maker is None:
        hint = ", which is called float" if field == "double" else ""
        raise InvalidValueError(f"unknown type {given(field)}{hint}: use text, {', '.join(makers)}")
    return maker()


def _inferred(name: str, value: Any) -> Field:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return Field.boolean()
    if isinstance(value, (datetime.date, datetime.datetime)) or type(value).__name__ in ("datetime64", "Timestamp"):
        return Field.date()
    if isinstance(value, os.PathLike):
        return Field.path()
    if isinstance(value, str):
        return Field.text(positions=True, stored=True)
    if isinstance(value, bytes):
        return Field.bytes()
    if hasattr(value, "__index__"):
        return Field.signed()
    if hasattr(value, "__float__"):
        return Field.float()
    raise InvalidValueError(f"field '{name}' has a value of type {type(value).__name__}: give a schema")


def _common(name: str, one: Field, other: Field) -> Field:
    if {one.type, other.type} == {"signed", "float"}:
        return Field.float()
    raise InvalidValueError(f"field '{name}' has values of types {one.type} and {other.type}: give a schema")
