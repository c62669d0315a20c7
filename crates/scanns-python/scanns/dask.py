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

import contextlib
import os
import queue
import statistics
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
from ._shards import MissingShard, Sharded, ShardDescription, ShardGroup, ShardGroups, ShardHit, ShardResults
from .errors import ClusterError, InvalidValueError, ShardError

if TYPE_CHECKING:
    from distributed import Client, Future

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

# Seconds without any worker after which there is an error.
_PATIENCE = 60.0
# A task that takes longer than this, in seconds, and this many times the median, is started again elsewhere.
_SLOW_SECONDS = 10.0
_SLOW_FACTOR = 3.0
# Seconds between two looks at tasks of which nothing is heard.
_LOOK = 0.25


class _Cluster:
    """A client, and what is done with it."""

    def __init__(self, client: Client, insecure: bool) -> None:
        if client.asynchronous:
            raise InvalidValueError("client: an asynchronous client cannot be used here: make one that is not")
        scheduler = getattr(client, "scheduler", None)
        if client.status != "running" or scheduler is None:
            raise ClusterError(f"the client is {client.status}: connect to a cluster")
        self.client = client
        _cluster.check_security([scheduler.address, *self.threads()], insecure)

    def threads(self) -> dict[str, int]:
        """The number of threads of each worker."""
        found: dict[str, int] = self.asked(self.client.nthreads)
        return found

    def asked(self, call: Callable[..., Any], *values: Any, **options: Any) -> Any:
        """What the scheduler answers."""
        try:
            return call(*values, **options)
        except OSError as error:
            raise ClusterError(f"the scheduler is gone: start a cluster, and call this again ({error})") from error

    def submit(self, call: Callable[..., Any], *values: Any, workers: Sequence[str] | None = None, soft: bool = True) -> Future[Any]:
        where: dict[str, Any] = {} if workers is None else {"workers": list(workers), "allow_other_workers": soft}
        future: Future[Any] = self.asked(self.client.submit, call, *values, pure=False, **where)
        return future

    def run(self, call: Callable[..., Any], *values: Any) -> Any:
        """The result of one task."""
        return self.gather([(call, values, None)])[0]

    def must_run(self, since: float) -> None:
        """Raises an exception if nothing can come any more. `since` is when there was something last."""
        if self.client.status != "running":
            raise ClusterError(f"the scheduler is gone, the client is {self.client.status}: start a cluster, and call this again")
        if time.monotonic() - since > _PATIENCE and not self.threads():
            raise ClusterError(f"the cluster has had no worker for {_PATIENCE:.0f} seconds: start workers")

    def gather(self, tasks: Sequence[tuple[Callable[..., Any], Sequence[Any], str | None]]) -> list[Any]:
        """The results of tasks, each with a worker that is preferred. Slow ones are started again elsewhere.

        The exception of a task is its result.
        """
        first = [self.submit(call, *values, workers=[worker] if worker else None) for call, values, worker in tasks]
        own: list[list[Future[Any]]] = [[future] for future in first]
        done: queue.SimpleQueue[int] = queue.SimpleQueue()
        for at, future in enumerate(first):
            future.add_done_callback(lambda _, at=at: done.put(at))
        results: dict[int, Any] = {}
        began = last = time.monotonic()
        times: list[float] = []
        try:
            while len(results) < len(tasks):
                finished = _taken(done)
                for at in finished if finished else range(len(tasks)):
                    if at not in results and (ended := _ended(own[at])) is not None:
                        results[at] = _result(ended)
                        last = time.monotonic()
                        times.append(last - began)
                if finished:
                    continue
                self.must_run(last)
                slow = _SLOW_FACTOR * (statistics.median(times) if times else _SLOW_SECONDS)
                if time.monotonic() - began > max(_SLOW_SECONDS, slow):
                    for at in set(range(len(tasks))) - set(results):
                        if len(own[at]) == 1:
                            self._again(own[at], tasks[at], lambda _, at=at: done.put(at))
        finally:
            self.cancel([future for futures in own for future in futures])
        return [results[at] for at in range(len(tasks))]

    def _again(self, own: list[Future[Any]], task: tuple[Any, ...], tell: Callable[..., Any]) -> None:
        """Starts a task a second time on other workers, if there are any."""
        others = self.others(own[0])
        if others:
            own.append(self.submit(task[0], *task[1], workers=others, soft=False))
            own[-1].add_done_callback(tell)

    def cancel(self, futures: Sequence[Future[Any]]) -> None:
        """Stops tasks that are not done; there may be no scheduler any more."""
        left = [future for future in futures if not future.done()]
        if left:
            with contextlib.suppress(Exception):
                self.client.cancel(left, force=True)

    def others(self, future: Future[Any]) -> list[str]:
        """The workers that do not run a task."""
        busy = {address for address, keys in self.asked(self.client.processing).items() if future.key in keys}
        return [address for address in self.threads() if address not in busy]


def _taken(done: queue.SimpleQueue[Any]) -> set[Any]:
    """What has ended, or nothing after a while."""
    found: set[Any] = set()
    try:
        found.add(done.get(timeout=_LOOK))
        while True:
            found.add(done.get_nowait())
    except queue.Empty:
        return found


def _ended(futures: Sequence[Future[Any]]) -> Future[Any] | None:
    """The first of several attempts that has a result, or one that failed if all have."""
    for future in futures:
        if future.status == "finished":
            return future
    failed = [future for future in futures if future.status in ("error", "cancelled")]
    return failed[0] if len(failed) == len(futures) else None


def _result(future: Future[Any]) -> Any:
    if future.status == "cancelled":
        return ClusterError("the task was cancelled, or the scheduler is gone: start a cluster, and call this again")
    try:
        return future.result(timeout=_PATIENCE)
    except Exception as error:
        return error


def _reason(error: Exception) -> str:
    if type(error).__name__ == "KilledWorker":
        return f"the workers that were asked were killed: {error}"
    return str(error) or type(error).__name__


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
    cluster = _Cluster(client, insecure)
    paths = [index] if isinstance(index, (str, os.PathLike)) else list(index)
    if not paths:
        raise InvalidValueError("no path: give the path of an index, or several")
    shards = _raised(cluster.run(_cluster.list_shards, [os.path.abspath(path) for path in paths]))
    return ShardedIndex(cluster, shards, allow_missing, batch)


def _raised(result: Any) -> Any:
    if isinstance(result, Exception):
        raise result
    return result


def _blocks(count: int, threads: dict[str, int]) -> list[tuple[range, str | None]]:
    """Cuts numbers into one block for each thread of the cluster, always in the same way, so that a worker gets the
    shards that it has open."""
    slots = [worker for worker in sorted(threads) for _ in range(threads[worker])][:count] or [""]
    cuts = [count * at // len(slots) for at in range(len(slots) + 1)]
    return [(range(*cuts[at : at + 2]), slots[at] or None) for at in range(len(slots))]


class ShardedIndex(Sharded):
    """An index whose shards are searched by the workers of a cluster. Any number of threads may use it."""

    def __init__(self, cluster: _Cluster, paths: list[str], allow_missing: bool, batch: int) -> None:
        self._cluster = cluster
        blocks = _blocks(len(paths), cluster.threads())
        numbered = [[(number, paths[number]) for number in block] for block, _ in blocks]
        tasks = [(_cluster.describe, [block], worker) for block, (_, worker) in zip(numbered, blocks)]
        found: list[ShardDescription | MissingShard] = []
        for block, result in zip(numbered, cluster.gather(tasks)):
            if isinstance(result, Exception):
                result = [MissingShard(number, path, _reason(result)) for number, path in block]
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
            (_cluster.answer, (block, self._schema, message, timeout), worker)
            for block, (_, worker) in zip(asked, blocks)
        ]
        answers: list[bytes | str] = []
        for block, result in zip(asked, self._cluster.gather(tasks)):
            if isinstance(result, ClusterError):
                raise result
            answers += [_reason(result)] * len(block) if isinstance(result, Exception) else result
        return answers

    def export(
        self,
        directory: PathLike,
        query: Query | None = None,
        *,
        fields: Sequence[str] | None = None,
        binary: Sequence[str] = (),
        default_operator: str = "or",
    ) -> list[str]:
        """Writes the values of all documents that match to Parquet files, one for each shard, and returns their paths.

        ``fields`` are columns and stored fields, and ``_key``; all that some document has by default. A file appears
        under its name when it is complete. The workers need pyarrow.
        """
        place = os.path.abspath(directory)
        names = ["_key", *self._filled] if fields is None else list(fields)
        self._cluster.client.submit(os.makedirs, place, exist_ok=True, pure=False).result()
        threads = self._cluster.threads()
        workers = [worker for block, worker in _blocks(len(self._shards), threads) for _ in block]
        files = [os.path.join(place, f"part-{number:05}.parquet") for number in self._numbers]
        rest = (query, names, list(binary), default_operator)
        tasks = [
            (_cluster.export_shard, (shard.path, shard.fingerprint, file, *rest), worker)
            for shard, file, worker in zip(self._shards, files, workers)
        ]
        rows = 0
        for shard, found in zip(self._shards, self._cluster.gather(tasks)):
            if isinstance(found, Exception):
                raise ShardError(f"{shard.path} cannot be exported: {_reason(found)}") from found
            rows += found
        # A fuzzy word or a pattern may stand for other terms in a shard than in all of them.
        count = len(self) if query is None else self.count(query, default_operator=default_operator)
        if rows != count:
            raise ShardError(
                f"the files have {rows:,} documents, and the query matches {count:,}: its patterns or fuzzy words have too"
                " many terms, make them narrower"
            )
        if self.missing:
            self._warn({one.shard: one for one in self.missing})
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
    return _Build(_Cluster(client, insecure), os.path.abspath(plan), threads, memory, scratch, retries, progress).run()


class _Build:
    def __init__(
        self,
        cluster: _Cluster,
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
        self.last = self.began
        self.running: dict[int, list[Future[Any]]] = {}
        self.started: dict[int, float] = {}
        self.failures: dict[int, list[str]] = {}
        self.times: list[float] = []
        self.again = self.done = self.total = 0
        self.ended: queue.SimpleQueue[int] = queue.SimpleQueue()

    def run(self) -> BuildReport:
        status = _raised(self.cluster.run(_cluster.command, ["plan", f"--status={self.plan}"]))
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
            self.cluster.cancel([future for futures in self.running.values() for future in futures])
            if self.progress is True and sys.stderr.isatty():
                sys.stderr.write("\n")
        assembled = _raised(self.cluster.run(_cluster.command, ["assemble", self.plan]))
        failed = int(assembled.get("failed", 0))
        if failed:
            warnings.warn(f"{failed:,} inputs failed, see the report", IncompleteWarning, stacklevel=3)
        return BuildReport(
            assembled["index"], assembled["documents"], self.total, built, self.again, failed == 0, assembled
        )

    def _build(self, missing: deque[int]) -> None:
        slots = 0
        while missing or self.running:
            if missing or not self.running or slots == 0 or not self.ended.qsize():
                slots = sum(self.cluster.threads().values())
            while missing and self._under_way() < max(1, slots):
                self._start(missing.popleft())
            if not missing:
                self._help(slots - self._under_way())
            for number in _taken(self.ended) or list(self.running):
                if number in self.running:
                    self._look(number, missing)
            self.cluster.must_run(self.last)
            self._show()

    def _under_way(self) -> int:
        return sum(len(futures) for futures in self.running.values())

    def _start(self, number: int, workers: list[str] | None = None) -> None:
        call = (self.plan, number, self.words)
        future = self.cluster.submit(_cluster.build_shard, *call, workers=workers, soft=workers is None)
        future.add_done_callback(lambda _: self.ended.put(number))
        self.running.setdefault(number, []).append(future)
        self.started.setdefault(number, time.monotonic())

    def _help(self, idle: int) -> None:
        """Starts the slowest shard again on another worker, if threads are idle."""
        if idle <= 0 or not self.times:
            return
        limit = max(_SLOW_SECONDS, _SLOW_FACTOR * statistics.median(self.times))
        slow = [number for number, futures in self.running.items() if len(futures) == 1]
        slow = [number for number in slow if time.monotonic() - self.started[number] > limit]
        for number in sorted(slow, key=self.started.__getitem__)[:idle]:
            others = self.cluster.others(self.running[number][0])
            if others:
                self.again += 1
                self._start(number, others)

    def _look(self, number: int, missing: deque[int]) -> None:
        """Takes the result of a shard, if it has one."""
        ended = _ended(self.running[number])
        if ended is None:
            return
        result = _result(ended)
        error = _reason(result) if isinstance(result, Exception) else result["error"]
        self.last = time.monotonic()
        # The attempts that are not needed any more.
        self.cluster.cancel(self.running.pop(number))
        began = self.started.pop(number)
        if error is None:
            self.done += 1
            self.times.append(self.last - began)
            return
        self.cluster.must_run(self.last)
        failures = self.failures.setdefault(number, [])
        failures.append(error)
        if len(failures) > self.retries:
            what = f"shard {number} of {self.plan} failed {len(failures)} times, the last time with: {error}"
            raise ShardError(f"{what}; {self.done} of {self.total} shards are complete, and the same call goes on")
        self.again += 1
        missing.append(number)

    def _show(self) -> None:
        seconds = time.monotonic() - self.began
        state = BuildState(self.total, self.done, len(self.running), self.again, seconds)
        if callable(self.progress):
            self.progress(state)
        elif self.progress and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{state}")
            sys.stderr.flush()


