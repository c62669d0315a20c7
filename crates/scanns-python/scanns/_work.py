"""Builds, merges, checks and tuning, which the command does in a process of its own."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Union

from . import _html
from ._files import warn_incomplete
from ._index import open_index
from ._progress import Shown, finish, watcher
from ._request import given, paths_of
from ._schema import Schema
from .errors import InvalidValueError

if TYPE_CHECKING:
    from ._command import Finished

try:
    from typing import Unpack
except ImportError:  # pragma: no cover
    from typing_extensions import Unpack

__all__ = ["BuildOptions", "InputOptions", "Report", "build", "check", "merge", "tune"]

PathLike = Union[str, bytes, "os.PathLike[str]"]
Size = Union[int, str]
"""Bytes, or text as in ``"4GiB"``."""
Time = Union[int, float, str, datetime.timedelta]
"""Seconds, or text as in ``"5m"``."""


class InputOptions(TypedDict, total=False):
    """Which files to read, how to split them into documents and terms, and what to use of the machine."""

    files_from: PathLike | Iterable[PathLike]
    follow: bool
    include: str | Sequence[str]
    exclude: str | Sequence[str]
    gitignore: bool
    skip_hidden: bool
    records: str
    analyzer: str
    delimiters: str
    positions: bool
    offsets: bool
    threads: int
    memory: Size
    segment_memory: Size


class BuildOptions(InputOptions, total=False):
    """The options of ``scanns index``, which ``scanns index --help`` describes."""

    schema: PathLike | Schema
    key: str
    csv_delimiter: str
    csv_quote: str
    csv_header: str
    no_metadata: bool
    metadata: bool
    access: bool
    passwd: PathLike
    group: PathLike
    content: str
    extract: str
    extract_time: Time
    extract_memory: Size
    extract_cache: PathLike
    extract_cache_size: Size
    binary: str
    no_decompress: bool
    decompress: bool
    detect_language: bool
    near_duplicates: bool
    encoding: str
    dump: bool | str
    dump_format: str
    dump_root: PathLike
    map: str | Sequence[str]
    dump_no_header: bool
    dump_header: bool
    dump_no_acls: bool
    one_file_system: bool
    pseudo: bool
    snapshots: bool
    max_ops: int
    lazy: bool
    xattrs: bool
    acl: bool
    changes: bool | str
    mdt: str
    store: str
    compression: str
    vectors: bool
    profile: PathLike
    polite: bool
    read_threads: int
    index_threads: int
    block_size: Size
    blocks: int
    queue_depth: int
    chunk_size: Size
    direct: str
    drop_cache: bool
    no_uring: bool
    uring: bool
    pin: bool
    no_pin: bool
    arena_page: str
    reindex: bool
    keep_removed: bool
    commit_every: Time | Sequence[Time]
    time_limit: Time
    merge_rate: Size
    snapshot: str


_TIMES = ("extract_time", "commit_every", "time_limit", "budget")


class Report(Mapping[str, Any]):
    """What was done: a mapping with the names of the command's ``--json``, which are attributes, too."""

    def __init__(self, finished: Finished) -> None:
        text = finished.output.decode("utf-8", "replace").strip()
        self._values: dict[str, Any] = json.loads(text.splitlines()[-1]) if text else {}
        self.complete: bool = finished.code == 0
        """False if inputs failed or something is damaged."""
        self.notes: list[str] = finished.notes
        """What the command had to say."""

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(f"the report has no {name}: it has {', '.join(self.__dict__.get('_values', ()))}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        named = ("documents", "unchanged", "removed", "failed", "lost")
        counts = [f"{self[name]:,} {name}" for name in named if isinstance(self.get(name), int) and self[name]]
        counts = [count.removesuffix("s") if count == "1 documents" else count for count in counts]
        state = "complete" if self.complete else "not complete"
        return f"<scanns.Report: {', '.join([*counts, state])}>"

    def _repr_html_(self) -> str:
        plain = [(name, value) for name, value in self.items() if not isinstance(value, (list, dict))]
        return _html.pairs([*plain, *(("note", note) for note in self.notes)])


def build(
    paths: PathLike | Sequence[PathLike],
    output: PathLike,
    *,
    progress: Shown = True,
    **options: Unpack[BuildOptions],
) -> Report:
    """Indexes files and directories, or updates an index, as ``scanns index -o OUTPUT PATHS`` does.

    ``options`` are those of the command, with underscores:

    - ``exclude=["*.o"]``, ``include="*.txt"``, ``skip_hidden=True``, ``gitignore=True``: which files to read
    - ``files_from``: a list of files, or any iterable of paths
    - ``content="none"``: names and metadata alone, for :meth:`Index.find` and :meth:`Index.du`
    - ``dump=True``: the paths are dumps of file systems; ``dump_format`` describes their lines
    - ``records="jsonl"``: what a document is: file, lines, jsonl, csv, mbox, warc and more
    - ``schema``: the fields of records, a :class:`Schema` or a file
    - ``analyzer="english"``: how text becomes terms
    - ``positions=True``: for phrases; ``offsets=True`` also for exact snippets
    - ``store="content"``: keeps the text, for snippets; ``store="reference"`` reads the files again
    - ``near_duplicates=True``: for ``search(collapse=True)``; ``vectors=True`` for ``like``
    - ``decompress=False``: reads compressed files as they are
    - ``threads=2``, ``memory="2GiB"``, ``polite=True``: what to use of the machine
    - ``commit_every="10m"``, ``time_limit="2h"``: when to commit, and when to stop

    ``scanns.BuildOptions`` has all names, and ``scanns index --help`` describes them. ``progress`` shows progress on a
    terminal or in a notebook; a function is called with it. If Ctrl-C stops the build, what was indexed is committed, and
    the same call resumes it. Inputs that failed are listed in the report, and a warning names the first.
    """
    sources = paths_of(paths)
    if not sources and options.get("files_from") is None:
        raise InvalidValueError("paths: there are none: give files or directories, or files_from")
    words = ["index", f"--output={os.fsdecode(output)}"]
    report = _work(words, sources, _checked("build", dict(options), BuildOptions), progress)
    if not report.complete:
        warn_incomplete([_lack(report, os.fsdecode(output))])
    return report


def _lack(report: Report, index: str) -> str:
    """What a build that is not complete left out."""
    failures = report.get("failures") or []
    failed = report.get("failed", 0) or len(failures)
    if failures:
        path, reason = failures[0].get("path", ""), failures[0].get("reason", "")
        if failed == 1:
            return f"1 input failed: {path}: {reason}"
        return f"{failed:,} inputs failed; the first is {path}: {reason}; Report.failures lists them"
    known = report.notes or open_index(index).missing or ["the report tells more"]
    what = "1 input failed" if failed == 1 else f"{failed:,} inputs failed" if failed else "something was left out"
    return f"{what}: {known[0]}"


def merge(
    path: PathLike,
    *,
    segments: int | None = None,
    reorder: bool = False,
    memory: Size | None = None,
    rate: Size | None = None,
    threads: int | None = None,
    progress: Shown = True,
) -> Report:
    """Merges segments into one or a few, and frees the space of deleted documents."""
    options = {"segments": segments, "reorder": reorder, "memory": memory, "rate": rate, "threads": threads}
    return _work(["merge"], [os.fsdecode(path)], options, progress)


def check(path: PathLike, *, level: str | None = None, salvage: bool = False, progress: Shown = True) -> Report:
    """Verifies an index; with ``salvage`` commits its intact segments. ``Report.complete`` is false if it is damaged."""
    return _work(["check"], [os.fsdecode(path)], {"level": level, "salvage": salvage}, progress)


def tune(
    paths: PathLike | Sequence[PathLike],
    *,
    budget: Time | None = None,
    out: PathLike = "scanns-profile.toml",
    scratch: PathLike | None = None,
    **options: Unpack[InputOptions],
) -> Report:
    """Finds the parameters of builds that suit this machine and data, and writes them to a profile."""
    own = {"budget": budget, "out": out, "scratch": scratch, **_checked("tune", dict(options), InputOptions)}
    return _work(["tune"], paths_of(paths), own, False)


_OPPOSITES = {
    "decompress": "no_decompress",
    "metadata": "no_metadata",
    "uring": "no_uring",
    "dump_header": "dump_no_header",
}
"""Options that are on unless the command is told otherwise, and how it is told."""

_ELSEWHERE = {
    "json": "the report has what it prints",
    "quiet": "use progress=False",
    "output": "it is the second argument",
    "null": "files_from takes any paths",
    "infer_schema": "use scanns.Schema.infer, or the command",
    "dump_preview": "use the command",
}


def _checked(function: str, options: dict[str, Any], known: type) -> dict[str, Any]:
    """The options as the command has them.

    Raises:
        InvalidValueError: there is no such option, or it is on or off and has another value.
    """
    from typing import get_type_hints

    kinds = get_type_hints(known)
    checked: dict[str, Any] = {}
    for name, value in options.items():
        if name not in kinds:
            raise InvalidValueError(_unknown(function, name, list(kinds)))
        if kinds[name] is bool and value is not None and type(value).__name__ not in ("bool", "bool_"):
            raise InvalidValueError(f"{name}: {given(value)}: give True or False")
        own = _OPPOSITES.get(name)
        if own is None:
            checked[name] = bool(value) if kinds[name] is bool else value
        elif value is not None and options.get(own) is not None and bool(options[own]) == bool(value):
            raise InvalidValueError(f"{name}={value} contradicts {own}={options[own]}: leave one of them out")
        elif value is not None:
            checked[own] = not value
    return checked


def _unknown(function: str, name: str, known: list[str]) -> str:
    import difflib

    if name in _ELSEWHERE:
        return f"{function}() has no option '{name}': {_ELSEWHERE[name]}"
    near = difflib.get_close_matches(name, known, 3, 0.7)
    meant = f": did you mean {' or '.join(near)}?" if near else ";"
    return f"{function}() has no option '{name}'{meant} scanns {_VERBS[function]} --help describes all options"


_VERBS = {"build": "index", "tune": "tune"}


def _time(value: object) -> object:
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if isinstance(value, (int, float)):
        return f"{round(value * 1000)}ms"
    return value


def _work(words: list[str], paths: list[str], options: dict[str, Any], progress: Shown) -> Report:
    # Imported here, since only builds run the command.
    import tempfile

    from ._command import arguments, run

    for name in _TIMES:
        value = options.get(name)
        if value is not None:
            options[name] = [_time(one) for one in value] if isinstance(value, (list, tuple)) else _time(value)
    piped: Iterable[bytes] | None = None
    listed = options.get("files_from")
    if listed is not None and not isinstance(listed, (str, bytes, os.PathLike)):
        piped = (os.fsencode(path) + b"\0" for path in listed)
        options["files_from"] = "-"
        words = [*words, "--null"]
    with tempfile.TemporaryDirectory(prefix="scanns-") as folder:
        if isinstance(options.get("schema"), Schema):
            path = os.path.join(folder, "schema.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(options["schema"].to_toml())
            options["schema"] = path
        try:
            return Report(
                run([*words, "--json", *arguments(options), "--", *paths], watch=watcher(progress), input=piped)
            )
        finally:
            finish(progress)
