"""Progress of a build: a line on a terminal, or a bar in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Union

from . import _html

__all__ = ["Progress", "watcher"]

Watch = Callable[["Progress"], object]
Shown = Union[bool, Watch]
"""True to show progress where people see it, False for none, or a function that is called with it."""

_LABELS = {"walking": "finding files", "flushing": "writing", "ordering": "reordering"}
_STEPS = ("scanning", "ordering")


class Progress:
    """The state of a build."""

    def __init__(self, state: dict[str, Any], seconds: float) -> None:
        self.phase: str = state["phase"]
        """walking, indexing, flushing, committing, merging, ordering or scanning."""
        self.bytes: int = state["bytes"]
        """Bytes read; of a scan, entries."""
        self.total_bytes: int = state["total_bytes"]
        """Bytes to read, or 0 while that is not known."""
        self.files: int = state["files"]
        self.total_files: int = state["total_files"]
        self.documents: int = state["documents"]
        self.failures: int = state["failures"]
        self.segments: int = state["segments"]
        self.seconds = seconds
        """Since the beginning."""

    @property
    def fraction(self) -> float | None:
        """What is done, from 0 to 1; ``None`` while the total is not known."""
        if self.phase == "walking" or self.total_bytes == 0:
            return None
        return min(1.0, self.bytes / self.total_bytes)

    def __str__(self) -> str:
        label = _LABELS.get(self.phase, self.phase)
        share = "" if self.fraction is None else f" {self.fraction:4.0%}"
        amount = f"{self.bytes:,} entries" if self.phase in _STEPS else _html.size(self.bytes)
        failed = f", {self.failures:,} failed" if self.failures else ""
        return f"{label}{share}: {self.documents:,} documents, {amount}{failed}, {self.seconds:.0f} s"

    def _repr_html_(self) -> str:
        value = "" if self.fraction is None else f' value="{self.fraction:.3f}"'
        return f'<div><progress max="1"{value} style="width:30em"></progress> {_html.text(self)}</div>'


def watcher(shown: Shown) -> Callable[[dict[str, Any]], None] | None:
    """What takes the states of a build; ``None`` if nobody wants them."""
    began = time.monotonic()
    show: Watch | None
    if callable(shown):
        show = shown
    elif not shown:
        show = None
    else:
        show = _notebook() or _terminal()
    if show is None:
        return None
    watch = show
    return lambda state: void(watch(Progress(state, time.monotonic() - began)))


def void(_value: object) -> None:
    """Nothing."""


def _notebook() -> Watch | None:
    """A bar in the cell that runs, if this is a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display

    handle: list[Any] = []

    def show(progress: Progress) -> None:
        if handle:
            handle[0].update(progress)
        else:
            handle.append(display(progress, display_id=True))  # type: ignore[no-untyped-call]

    return show


def _terminal() -> Watch | None:
    """A line that is written again and again, if people see it."""
    if not (sys.stderr and sys.stderr.isatty()):
        return None

    def show(progress: Progress) -> None:
        sys.stderr.write(f"\r\x1b[K{progress}")
        sys.stderr.flush()

    return show


def finish(shown: Shown) -> None:
    """Removes the line of a terminal."""
    if shown is True and _notebook() is None and sys.stderr and sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
