"""Builds and searches over shards on a Dask cluster.

>>> import scanns.dask
>>> from distributed import Client
>>> client = Client()
>>> scanns.dask.build("plan.json", client)
>>> index = scanns.dask.open("plan.scanns", client)
>>> index.search("license warranty").to_pandas()

Everything that a cluster does are tasks that may be lost and run again. The answers of :class:`ShardedIndex` are those
of a single index to the last digit.
"""

from __future__ import annotations

import os
import queue
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _cluster
from ._files import IncompleteWarning
from ._index import PathLike, Query
from ._request import Texts, names_of
from ._shards import MissingShard, Sharded, ShardDescription, ShardGroup, ShardGroups, ShardHit, ShardResults
from ._tasks import Attempts, Cluster, Task, reason, slow_after, taken
from .errors import ClusterError, InvalidValueError, ShardError

if TYPE_CHECKING:
    from distributed import Client

__all__ = [
    "BuildReport",
    "BuildState",
    "MissingShard",
    "ShardGroup",
    "ShardGroups",
    "ShardHit",
    "ShardResults",
    "ShardedIndex",
    "build",
    "open",
]


def open(  # noqa: A001
    index: PathLike | Sequence[PathLike],
    client: Client,
    *,
    allow_missing: bool = False,
    batch: int = 64,
    insecure: bool = False,
) -> ShardedIndex:
    """Opens an assembled index, or several indexes, for searches on a cluster.

    All workers must see the paths. With ``allow_missing`` an answer may lack shards that cannot be opened or do not
    answer, and says which; otherwise they are errors. ``batch`` is the number of queries that travel together.
    """
    cluster = Cluster(client, insecure)
    paths = [index] if isinstance(index, (str, os.PathLike)) else list(index)
    if not paths:
        raise InvalidValueError("no path: give the path of an index, or several")
    shards = cluster.run(_cluster.list_shards, [os.path.abspath(path) for path in paths])
    return ShardedIndex(cluster, shards, allow_missing, batch)


def _blocks(count: int, threads: dict[str, int]) -> list[tuple[range, str | None]]:
    """Cuts numbers into one block for each thread of the cluster, always in the same way, so that a worker gets the
    shards that it has open."""
    slots = [worker for worker in sorted(threads) for _ in range(threads[worker])][:count] or [""]
    cuts = [count * at // len(slots) for at in range(len(slots) + 1)]
    return [(range(*cuts[at : at + 2]), slots[at] or None) for at in range(len(slots))]


class ShardedIndex(Sharded):
    """An index whose shards are searched by the workers of a cluster. Any number of threads may use it."""

    def __init__(self, cluster: Cluster, paths: list[str], allow_missing: bool, batch: int) -> None:
        self._cluster = cluster
        blocks = _blocks(len(paths), cluster.threads())
        numbered = [[(number, paths[number]) for number in block] for block, _ in blocks]
        tasks = [Task(_cluster.describe, [block], worker) for block, (_, worker) in zip(numbered, blocks)]
        found: list[ShardDescription | MissingShard] = []
        for block, result in zip(numbered, cluster.gather(tasks)):
            if isinstance(result, Exception):
                result = [MissingShard(number, path, reason(result)) for number, path in block]
            found += result
        missing = [shard for shard in found if isinstance(shard, MissingShard)]
        if missing and (not allow_missing or len(missing) == len(found)):
            one = missing[0]
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            raise ShardError(f"shard {one.shard}, {one.index}, cannot be opened{more}: {one.reason}")
        super().__init__(found, allow_missing=allow_missing, batch=batch)
        # Shards of one plan have one schema. Others get the schema of all.
        self._schema = None if self._have_one_schema() else self._set.schema_message()

    def _have_one_schema(self) -> bool:
        from ._native import NativeShardSet

        own = self._set.schema_message()
        return all(NativeShardSet([shard.message]).schema_message() == own for shard in self._shards)

    def _ask(self, message: bytes, timeout: float | None) -> list[bytes | str]:
        blocks = _blocks(len(self._shards), self._cluster.threads())
        asked = [[(at, self._shards[at].path, self._shards[at].fingerprint) for at in block] for block, _ in blocks]
        tasks = [
            Task(_cluster.answer, (block, self._schema, message, timeout), worker)
            for block, (_, worker) in zip(asked, blocks)
        ]
        answers: list[bytes | str] = []
        for block, result in zip(asked, self._cluster.gather(tasks)):
            if isinstance(result, ClusterError):
                raise result
            answers += [reason(result)] * len(block) if isinstance(result, Exception) else result
        return answers

    def export(
        self,
        directory: PathLike,
        query: Query | None = None,
        *,
        fields: Texts | None = None,
        binary: Texts = (),
        default_operator: str = "or",
        overwrite: bool = False,
    ) -> list[str]:
        """Writes the values of all documents that match to Parquet files, one for each shard, and returns their paths.

        ``fields`` are columns and stored fields, and ``_key``; all that some document has by default. A file appears
        under its name when it is complete. A directory with the files of an earlier export is refused, unless
        ``overwrite`` removes those first. The workers need pyarrow.
        """
        place = os.path.abspath(directory)
        names = ["_key", *self._filled] if fields is None else names_of("fields", fields)
        if not names:
            raise InvalidValueError("fields: name at least one field, or leave it out for all")
        # What is wrong with the query or the fields is said before anything is written.
        exports, missing = self._exports("*" if query is None else query, names, names_of("binary", binary) if binary else [], default_operator)
        self._cluster.run(_cluster.empty_directory, place, overwrite)
        workers = [worker for block, worker in _blocks(len(self._shards), self._cluster.threads()) for _ in block]
        files = [os.path.join(place, f"part-{self._numbers[at]:05}.parquet") for at, _ in exports]
        tasks = []
        for (at, asked), file in zip(exports, files):
            shard = self._shards[at]
            call = (shard.path, shard.fingerprint, self._schema, file, asked)
            tasks.append(Task(_cluster.export_shard, call, workers[at]))
        for (at, _), found in zip(exports, self._cluster.gather(tasks)):
            if isinstance(found, Exception):
                raise ShardError(f"{self._shards[at].path} cannot be exported: {reason(found)}") from found
        self._warn({one.shard: one for one in missing})
        return files


# Builds


class BuildState(NamedTuple):
    """How far a build is."""

    shards: int
    done: int
    running: int
    again: int
    """Attempts that were repeated, because they failed, were lost or were slow."""
    seconds: float

    def __str__(self) -> str:
        again = f", {self.again} repeated" if self.again else ""
        return f"{self.done} of {self.shards} shards, {self.running} running{again}, {self.seconds:.0f} s"


@dataclass(frozen=True)
class BuildReport:
    """What a build has done."""

    index: str
    documents: int
    shards: int
    built: int
    """The shards that this call has built; the others were there."""
    again: int
    """Attempts that were repeated, because they failed, were lost or were slow."""
    complete: bool
    """False if inputs failed."""
    assembled: dict[str, Any]
    """The report of ``scanns assemble --json``, which lists the inputs that failed."""


def build(
    plan: PathLike,
    client: Client,
    *,
    threads: int = 1,
    memory: int | str | None = None,
    scratch: PathLike | None = None,
    retries: int = 3,
    progress: bool | Callable[[BuildState], object] = True,
    insecure: bool = False,
) -> BuildReport:
    """Builds the missing shards of a plan on a cluster, and assembles them.

    Each thread of a worker builds one shard at a time, with ``threads`` threads, ``memory`` and ``scratch`` of
    ``scanns build-shard``. A shard whose worker is lost, or that fails, is built again, ``retries`` times at most; one that
    takes much longer than the others is started on another worker, too. After anything has died, the same call goes
    on: shards that are complete stay.
    """
    return _Build(Cluster(client, insecure), os.path.abspath(plan), threads, memory, scratch, retries, progress).run()


class _Build:
    def __init__(
        self,
        cluster: Cluster,
        plan: str,
        threads: int,
        memory: int | str | None,
        scratch: PathLike | None,
        retries: int,
        progress: bool | Callable[[BuildState], object],
    ) -> None:
        self.cluster = cluster
        self.plan = plan
        self.words = [f"--threads={threads}"]
        if memory is not None:
            self.words.append(f"--memory={memory}")
        if scratch is not None:
            self.words.append(f"--scratch={os.path.abspath(scratch)}")
        self.retries = retries
        self.progress = progress
        self.began = time.monotonic()
        self.running: dict[int, Attempts] = {}
        self.failures: dict[int, int] = {}
        self.times: list[float] = []
        self.again = self.done = self.total = 0
        self.ended: queue.SimpleQueue[int] = queue.SimpleQueue()

    def run(self) -> BuildReport:
        status = self.cluster.run(_cluster.command, ["plan", f"--status={self.plan}"])
        shards = status["shards"]
        for shard in shards:
            if shard["state"] == "unusable":
                raise ShardError(f"shard {shard['shard']} of {self.plan} cannot be used: {shard['reason']}")
        missing = deque(shard["shard"] for shard in shards if shard["state"] != "done")
        self.total, built = len(shards), len(missing)
        self.done = self.total - built
        try:
            self._build(missing)
        finally:
            self.cluster.cancel([future for attempts in self.running.values() for future in attempts.futures])
            if self.progress is True and sys.stderr.isatty():
                sys.stderr.write("\n")
        assembled = self.cluster.run(_cluster.command, ["assemble", self.plan])
        failed = int(assembled.get("failed", 0))
        if failed:
            warnings.warn(f"{failed:,} inputs failed, see the report", IncompleteWarning, stacklevel=3)
        return BuildReport(
            assembled["index"], assembled["documents"], self.total, built, self.again, failed == 0, assembled
        )

    def _build(self, missing: deque[int]) -> None:
        while missing or self.running:
            slots = max(1, sum(self.cluster.threads().values()))
            while missing and self._under_way() < slots:
                self._start(missing.popleft())
            if not missing:
                self._help(slots - self._under_way())
            for number in dict.fromkeys(taken(self.ended) or self.running):
                if number in self.running:
                    self._look(number, missing)
            self.cluster.must_run(self.began)
            self._show()

    def _under_way(self) -> int:
        return sum(len(attempts.futures) for attempts in self.running.values())

    def _start(self, number: int) -> None:
        task = Task(_cluster.build_shard, (self.plan, number, self.words))
        self.running[number] = Attempts(self.cluster, task, lambda _: self.ended.put(number))

    def _help(self, idle: int) -> None:
        """Starts the slowest shards again on other workers, if threads are idle."""
        if idle <= 0 or not self.times:
            return
        limit = slow_after(self.times)
        for attempts in sorted(self.running.values(), key=lambda attempts: attempts.began):
            if idle > 0 and attempts.again_if_slow(limit):
                self.again += 1
                idle -= 1

    def _look(self, number: int, missing: deque[int]) -> None:
        """Takes the result of a shard, if it has one."""
        attempts = self.running[number]
        ended = attempts.ended()
        if ended is None:
            return
        result = self.cluster.read([ended]).get(ended.key)
        if result is None and ended.status != "finished":
            # Its worker was lost just now, so Dask runs it again.
            return
        if isinstance(result, dict) and result["error"] is None:
            self.done += 1
            self.times.append(time.monotonic() - attempts.began)
            # The attempts that are not needed any more.
            self.cluster.cancel(self.running.pop(number).futures)
            return
        attempts.futures.remove(ended)
        if result is not None:
            self.cluster.must_run(self.began)
            self._count(number, result)
        self.again += 1
        if not attempts.futures:
            del self.running[number]
            missing.append(number)

    def _count(self, number: int, result: Any) -> None:
        """Counts an attempt that failed. One that was stopped with its worker does not count."""
        if isinstance(result, dict) and result["stopped"]:
            return
        error = reason(result) if isinstance(result, Exception) else result["error"]
        failures = self.failures[number] = self.failures.get(number, 0) + 1
        if failures > self.retries:
            what = f"shard {number} of {self.plan} failed {failures} times, the last time with: {error}"
            raise ShardError(f"{what}; {self.done} of {self.total} shards are complete, and the same call goes on")

    def _show(self) -> None:
        seconds = time.monotonic() - self.began
        state = BuildState(self.total, self.done, len(self.running), self.again, seconds)
        if callable(self.progress):
            self.progress(state)
        elif self.progress and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{state}")
            sys.stderr.flush()


