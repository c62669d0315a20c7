"""Builds, merges, checks and tuning, which the command does in a process of its own."""

from __future__ import annotations

import datetime
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Union

from . import _html
from ._files import IncompleteWarning
from ._progress import Shown, finish, watcher
from ._schema import Schema
from .errors import InvalidValueError

if TYPE_CHECKING:
    from ._command import Finished

try:
    from typing import Unpack
except ImportError:  # pragma: no cover
    from typing_extensions import Unpack

__all__ = ["BuildOptions", "InputOptions", "Report", "build", "check", "merge", "tune"]

PathLike = Union[str, "os.PathLike[str]"]
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
    detect_language: bool
    near_duplicates: bool
    encoding: str
    dump: bool | str
    dump_format: str
    dump_root: PathLike
    map: str | Sequence[str]
    dump_no_header: bool
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
        return f"Report({self._values!r})"

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

    ``options`` are those of the command: ``skip_hidden=True``, ``exclude=["*.o"]``, ``content="none"``,
    ``records="jsonl"``. ``schema`` may be a :class:`Schema`. ``progress`` shows progress on a terminal or in a notebook;
    a function is called with it. If Ctrl-C stops the build, what was indexed is committed, and the same call resumes it.
    Inputs that failed are listed in the report, and a warning says how many.
    """
    words = ["index", f"--output={os.fspath(output)}"]
    report = _work(words, _several(paths), dict(options), progress)
    if not report.complete:
        failed = report.get("failed", 0)
        what = f"{failed:,} inputs failed" if failed else "something was left out"
        note = f"; {report.notes[0]}" if report.notes else ""
        warnings.warn(f"{what}, see the report{note}", IncompleteWarning, stacklevel=2)
    return report


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
    return _work(["merge"], [os.fspath(path)], options, progress)


def check(path: PathLike, *, level: str | None = None, salvage: bool = False, progress: Shown = True) -> Report:
    """Verifies an index; with ``salvage`` commits its intact segments. ``Report.complete`` is false if it is damaged."""
    return _work(["check"], [os.fspath(path)], {"level": level, "salvage": salvage}, progress)


def tune(
    paths: PathLike | Sequence[PathLike],
    *,
    budget: Time | None = None,
    out: PathLike = "scanns-profile.toml",
    scratch: PathLike | None = None,
    **options: Unpack[InputOptions],
) -> Report:
    """Finds the parameters of builds that suit this machine and data, and writes them to a profile."""
    given = {"budget": budget, "out": out, "scratch": scratch, **options}
    return _work(["tune"], _several(paths), given, False)


def _several(paths: PathLike | Sequence[PathLike]) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]


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

    for name in ("json", "quiet", "output", "null", "infer_schema", "dump_preview"):
        if name in options:
            raise InvalidValueError(f"'{name}' is not an option of this function")
    for name in _TIMES:
        value = options.get(name)
        if value is not None:
            options[name] = [_time(one) for one in value] if isinstance(value, (list, tuple)) else _time(value)
    given: Iterable[bytes] | None = None
    listed = options.get("files_from")
    if listed is not None and not isinstance(listed, (str, os.PathLike)):
        given = (os.fsencode(path) + b"\0" for path in listed)
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
                run([*words, "--json", *arguments(options), "--", *paths], watch=watcher(progress), input=given)
            )
        finally:
            finish(progress)
