"""Questions about file systems: find and du."""

from __future__ import annotations

import datetime
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from . import _html
from ._tables import Table

if TYPE_CHECKING:
    from ._native import ArrowStream, NativeSnapshot

__all__ = ["IncompleteWarning", "Usage", "UsageLine", "warn_incomplete"]

Word = Union[str, bytes, "os.PathLike[str]"]

# The actions of find that print by themselves.
_PRINTING = {"-print", "-print0", "-printf", "-ls", "-fprint", "-fprint0", "-fprintf", "-fls"}


_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


class IncompleteWarning(UserWarning):
    """An answer or an index leaves something out."""


def warn_incomplete(notes: Sequence[str]) -> None:
    """Warns at the line of the program that called this package."""
    if not notes:
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    for note in notes:
        warnings.warn(_html.visible(note), IncompleteWarning, stacklevel=level)


def find_command(native: NativeSnapshot, command: Sequence[Word], limit: int | None) -> list[str]:
    """The paths or the lines that an expression prints."""
    words = list(command)
    prints = any(os.fsdecode(word) in _PRINTING for word in words)
    text, notes = native.find(words if prints else _with_print0(words), limit)
    warn_incomplete(notes)
    if prints:
        end = b"\0" if any(os.fsdecode(word) == "-print0" for word in words) else b"\n"
        parts = text.split(end)
    else:
        parts = text.split(b"\0")
    if parts and not parts[-1]:
        parts.pop()
    return [os.fsdecode(part) for part in parts]


def _with_print0(words: list[Word]) -> list[Word]:
    """The command with an action. Alternatives of its expression need parentheses."""
    at = next((at for at, word in enumerate(words) if os.fsdecode(word)[:1] in ("-", "(", "!")), len(words))
    points, expression = words[:at], words[at:]
    return [*points, "(", *expression, ")", "-print0"] if expression else [*points, "-print0"]


class UsageLine(NamedTuple):
    """A directory or a value, with its bytes or entries, and the latest date if it was asked for."""

    name: str
    sum: int
    time: datetime.datetime | None


class Usage(Table):
    """The space of directories or of values. Iterate over it, or convert it into a data frame."""

    def __init__(self, lines: list[UsageLine], report: dict[str, Any], options: dict[str, Any]) -> None:
        self.lines = lines
        self.total: int = report["total"]
        """The sum of all paths."""
        self.by: str | None = options["by"]
        self.is_count: bool = options["inodes"]
        """True if sums are numbers of entries."""

    def __iter__(self) -> Iterator[UsageLine]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, at: int) -> UsageLine:
        return self.lines[at]

    def to_dict(self) -> dict[str, int]:
        """Sums by path or value."""
        return {line.name: line.sum for line in self.lines}

    def rows(self) -> list[dict[str, Any]]:
        name = self.by or "path"
        if any(line.time is not None for line in self.lines):
            return [{name: line.name, "sum": line.sum, "time": line.time} for line in self.lines]
        return [{name: line.name, "sum": line.sum} for line in self.lines]

    def _stream(self) -> ArrowStream | None:
        return None

    def __repr__(self) -> str:
        return f"<scanns.Usage: {len(self)} lines, {self.total:,} in all>"

    def _repr_html_(self) -> str:
        shown = _html.plain if self.is_count else _html.size
        head = "entries" if self.is_count else "bytes"
        return _html.bars((self.by or "path", "", head), [(line.name, None, line.sum) for line in self.lines], 0, shown)


def usage_options(native: NativeSnapshot, paths: Sequence[Word], options: dict[str, Any]) -> Usage:
    """The space of paths, with the options of du."""
    rows, summary = native.du(list(paths), json.dumps(options))
    report = json.loads(summary)
    warn_incomplete(report["notes"])

    def date(nanoseconds: int | None) -> datetime.datetime | None:
        if nanoseconds is None:
            return None
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return epoch + datetime.timedelta(microseconds=nanoseconds // 1000)

    unnamed = {"owner": "(unknown)", "group": "(unknown)", "ext": "(none)", "age": "(unknown)"}.get(options["by"], "")
    lines = [UsageLine(os.fsdecode(name) or unnamed, total, date(time)) for name, total, time in rows]
    return Usage(lines, report, options)
