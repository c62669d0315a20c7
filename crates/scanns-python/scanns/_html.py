"""HTML for notebooks. Everything from an index is escaped: names of files may be anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

_SUFFIXES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

# Characters that change the order of others, or that nobody sees.
_HIDDEN = {
    *range(0x00, 0x20),
    *range(0x7F, 0xA0),
    0x00AD,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xD800, 0xE000),
}
_SHOWN = {code: f"\\u{code:04x}" for code in _HIDDEN} | {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def size(number: float) -> str:
    """Bytes with a unit, as the command shows them."""
    rank = 0
    value = float(number)
    while value >= 1023.95 and rank + 1 < len(_SUFFIXES):
        value /= 1024
        rank += 1
    digits = 0 if rank == 0 or value >= 1000 else 2 if value < 10 else 1
    return f"{value:.{digits}f} {_SUFFIXES[rank]}"


def visible(text: str) -> str:
    """A text in which nothing is hidden, and nothing controls a terminal."""
    return text.translate(_SHOWN)


def plain(value: object) -> str:
    """A value as text in which nothing is hidden."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    if isinstance(value, datetime):
        is_day = value.hour == value.minute == value.second == value.microsecond == 0
        value = value.date().isoformat() if is_day else value.isoformat(sep=" ", timespec="seconds")
    elif isinstance(value, float):
        value = f"{value:,.4g}"
    elif isinstance(value, int) and not isinstance(value, bool):
        value = f"{value:,}"
    return str("" if value is None else value).translate(_SHOWN)


def text(value: object) -> str:
    """A value, escaped."""
    return plain(value).translate(_ESCAPES)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table; numbers are on the right."""

    def cell(value: object) -> str:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        side = "right" if is_number else "left"
        return f'<td style="text-align:{side}">{text(value)}</td>'

    head = "".join(f'<th style="text-align:left">{text(name)}</th>' for name in heads)
    body = "".join(f"<tr>{''.join(cell(value) for value in row)}</tr>" for row in rows)
    below = f"<caption>{text(caption)}</caption>" if caption else ""
    return f"<table>{below}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def pairs(items: Iterable[tuple[str, Any]]) -> str:
    """A table of names and values."""
    rows = "".join(
        f'<tr><th style="text-align:left">{text(name)}</th><td style="text-align:left">{text(value)}</td></tr>'
        for name, value in items
    )
    return f"<table><tbody>{rows}</tbody></table>"


def is_size(name: str) -> bool:
    """True for the names of fields that count bytes."""
    return name == "size" or name.endswith(("_size", "bytes"))


def bars(
    heads: tuple[str, str, str],
    buckets: Sequence[tuple[object, int | None, int | float | None]],
    others: int = 0,
    shown_sum: Callable[[Any], str] = plain,
) -> str:
    """Values with counts, sums or both, as bars of their sums or counts. Heads are those of value, count and sum."""
    has_sums = any(total is not None for _, _, total in buckets)
    has_counts = any(count is not None for _, count, _ in buckets)
    lengths = [float((total if has_sums else count) or 0) for _, count, total in buckets]
    most = max([length for length in lengths if length > 0], default=1.0)
    rows = ""
    for (value, count, total), length in zip(buckets, lengths):
        shown = f'<td style="text-align:right">{text(count)}</td>' if has_counts else ""
        if has_sums:
            shown += f'<td style="text-align:right">{text("" if total is None else shown_sum(total))}</td>'
        width = max(0.0, 100 * length / most)
        bar = f'<div style="background:#4c78a8;height:0.8em;width:{width:.1f}%"></div>'
        rows += (
            f'<tr><td style="text-align:left">{text(value)}</td>{shown}'
            f'<td style="min-width:12em">{bar}</td></tr>'
        )
    if others:
        rows += f'<tr><td style="text-align:left"><i>others</i></td><td style="text-align:right">{text(others)}</td></tr>'
    named = [heads[0], *([heads[1]] if has_counts else []), *([heads[2]] if has_sums else []), ""]
    head = "".join(f"<th>{text(name)}</th>" for name in named)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def marked(snippet: bytes, marks: Sequence[tuple[int, int]]) -> str:
    """A snippet with its matches in bold."""
    shown, at = "", 0
    for start, end in marks:
        shown += f"{text(snippet[at:start])}<b>{text(snippet[start:end])}</b>"
        at = end
    return shown + text(snippet[at:])
