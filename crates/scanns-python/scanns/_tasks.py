"""What the program that uses a Dask cluster does with tasks whose workers may be lost, hang or be slow."""

from __future__ import annotations

import contextlib
import queue
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _cluster
from .errors import ClusterError, InvalidValueError

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Attempts", "Cluster", "Task", "raised", "reason", "slow_after", "taken"]

# Seconds without any worker after which there is an error.
_PATIENCE = 60.0
# A task that takes longer than this, in seconds, and this many times the median, is started again elsewhere.
_SLOW_SECONDS = 10.0
_SLOW_FACTOR = 3.0
# Seconds after which a result that a worker has, but does not send, is computed again elsewhere.
_READ_SECONDS = 30.0
# Seconds between two looks at tasks of which nothing is heard.
_LOOK = 0.25
# Seconds for which what the scheduler says of its workers is used again.
_WORKERS_AGE = 1.0
# How often a task is tried that was lost with as many workers as Dask allows.
_TRIES = 3


class Task(NamedTuple):
    """A call, and the worker that should run it."""

    call: Callable[..., Any]
    values: Sequence[Any]
    worker: str | None = None


class Cluster:
    """A client, and what is done with it. Any number of threads may use it."""

    def __init__(self, client: Client, insecure: bool) -> None:
        if client.asynchronous:
            raise InvalidValueError("client: an asynchronous client cannot be used here: make one that is not")
        scheduler = getattr(client, "scheduler", None)
        if client.status != "running" or scheduler is None:
            raise ClusterError(f"the client is {client.status}: connect to a cluster")
        self.client = client
        # The threads of the workers, when the scheduler was asked, and when there was a worker last.
        self._threads: dict[str, int] = {}
        self._asked = self._seen = float("-inf")
        _cluster.check_security([scheduler.address, *self.threads()], insecure)

    def threads(self) -> dict[str, int]:
        """The number of threads of each worker, as they were a moment ago at least."""
        now = time.monotonic()
        if now - self._asked > _WORKERS_AGE:
            self._threads, self._asked = self.asked(self.client.nthreads), now
            if self._threads:
                self._seen = now
        return self._threads

    def asked(self, call: Callable[..., Any], *values: Any, **options: Any) -> Any:
        """What the scheduler answers."""
        try:
            return call(*values, **options)
        except OSError as error:
            raise self._gone(error) from error

    def _gone(self, error: OSError) -> ClusterError:
        return ClusterError(f"the scheduler is gone: start a cluster, and call this again ({error})")

    def submit(self, call: Callable[..., Any], *values: Any, workers: Iterable[str] | None = None) -> Future[Any]:
        """Starts a task, on one of `workers` as long as they are there."""
        where: dict[str, Any] = {} if workers is None else {"workers": list(workers), "allow_other_workers": True}
        future: Future[Any] = self.asked(self.client.submit, call, *values, pure=False, **where)
        return future

    def run(self, call: Callable[..., Any], *values: Any) -> Any:
        """The result of one task."""
        (result,) = self.gather([Task(call, values)])
        for _ in range(_TRIES - 1):
            if _is_killed(result):
                (result,) = self.gather([Task(call, values)])
        return raised(result)

    def must_run(self, since: float) -> None:
        """Raises an exception if there is no scheduler, or was no worker for long. `since` is the begin of the work."""
        if self.client.status != "running":
            raise ClusterError(f"the scheduler is gone, the client is {self.client.status}: start a cluster, and call this again")
        # A worker that is there for a moment only counts, too.
        if not self.threads() and time.monotonic() - max(since, self._seen) > _PATIENCE:
            raise ClusterError(f"the cluster has had no worker for {_PATIENCE:.0f} seconds: start workers")

    def gather(self, tasks: Sequence[Task]) -> list[Any]:
        """The results of tasks. Slow ones are started again elsewhere. The exception of a task is its result."""
        done: queue.SimpleQueue[int] = queue.SimpleQueue()
        attempts: list[Attempts] = []
        results: dict[int, Any] = {}
        times: dict[int, float] = {}
        began = time.monotonic()
        try:
            for at, task in enumerate(tasks):
                attempts.append(Attempts(self, task, partial(_tell, done, at)))
            while len(results) < len(tasks):
                heard = taken(done)
                spent = time.monotonic() - began
                left = [at for at in range(len(tasks)) if at not in results]
                ended = {at: future for at in left if (future := attempts[at].ended()) is not None}
                times.update((at, spent) for at in ended if at not in times)
                # Results are read together, but not later than a look without news.
                if len(ended) == len(left) or not heard:
                    found = self.read(list(ended.values()))
                    results.update((at, found[future.key]) for at, future in ended.items() if future.key in found)
                    for at, future in ended.items():
                        if at not in results and future.status == "finished":
                            attempts[at].give_up(future)
                if not heard:
                    self.must_run(began)
                    slow = slow_after(times.values())
                    for at in left:
                        if at not in results and at not in ended:
                            attempts[at].again_if_slow(slow)
        finally:
            self.cancel([future for one in attempts for future in one.futures])
        return [results[at] for at in range(len(tasks))]

    def read(self, futures: Sequence[Future[Any]]) -> dict[object, Any]:
        """The results of futures that have ended, by key, all in one message; the exception of a task is its result.

        A result whose worker was lost meanwhile, or does not send it, is left out.
        """
        found: dict[object, Any] = {future.key: _failure(future) for future in futures if future.status in _FAILED}
        wanted = {future.key: future for future in futures if future.status == "finished"}
        if not wanted:
            return found

        # The types of distributed do not say what these return.
        client: Any = self.client

        async def all_values() -> Any:
            return await client.gather(wanted, errors="skip", asynchronous=True)

        try:
            values = client.sync(all_values, callback_timeout=_READ_SECONDS)
        except TimeoutError:
            return found
        except OSError as error:
            raise self._gone(error) from error
        found.update((key, values[key]) for key, future in wanted.items() if future.status == "finished")
        return found

    def cancel(self, futures: Sequence[Future[Any]]) -> None:
        """Stops tasks that are not done; there may be no scheduler any more."""
        left = [future for future in futures if not future.done()]
        if left:
            with contextlib.suppress(Exception):
                self.client.cancel(left, force=True)

    def others(self, futures: Sequence[Future[Any]]) -> list[str]:
        """The workers that run no attempt of a task."""
        own = {future.key for future in futures}
        busy = {address for address, keys in self.asked(self.client.processing).items() if own.intersection(keys)}
        return [address for address in self.threads() if address not in busy]


class Attempts:
    """The attempts of one task. `tell` is called when one of them has ended."""

    def __init__(self, cluster: Cluster, task: Task, tell: Callable[[Any], None]) -> None:
        self._cluster = cluster
        self._task = task
        self._tell = tell
        self.began = time.monotonic()
        self._patience = 0.0
        self.futures: list[Future[Any]] = []
        self._start([task.worker] if task.worker else None)

    def _start(self, workers: Sequence[str] | None) -> None:
        future = self._cluster.submit(self._task.call, *self._task.values, workers=workers)
        future.add_done_callback(self._tell)
        self.futures.append(future)

    def ended(self) -> Future[Any] | None:
        """The first attempt that has a result, or one that failed if all have."""
        for future in self.futures:
            if future.status == "finished":
                return future
        return self.futures[0] if all(future.status in _FAILED for future in self.futures) else None

    def again_if_slow(self, seconds: float) -> bool:
        """Starts a task once more if it takes longer than this, on a worker that runs none of its attempts.

        After each attempt there is more patience, so that a task that is only long has few.
        """
        spent = time.monotonic() - self.began
        if spent <= max(self._patience, seconds):
            return False
        self._patience = _SLOW_FACTOR * spent
        others = self._cluster.others(self.futures)
        if others:
            self._start(others)
        return bool(others)

    def give_up(self, future: Future[Any]) -> None:
        """Forgets an attempt whose result cannot be read, and starts another if none is left."""
        self.futures.remove(future)
        if not self.futures:
            self._start(self._cluster.others([future]) or None)


def slow_after(times: Iterable[float]) -> float:
    """The seconds after which a task is slow, from those that others took."""
    known = list(times)
    return max(_SLOW_SECONDS, _SLOW_FACTOR * (statistics.median(known) if known else _SLOW_SECONDS))


def _tell(done: queue.SimpleQueue[int], at: int, _future: object) -> None:
    done.put(at)


def taken(done: queue.SimpleQueue[Any]) -> list[Any]:
    """What has ended, or nothing after a while."""
    found: list[Any] = []
    try:
        found.append(done.get(timeout=_LOOK))
        while True:
            found.append(done.get_nowait())
    except queue.Empty:
        return found


_FAILED = ("error", "cancelled")


def _failure(future: Future[Any]) -> Exception:
    error = future.exception(timeout=_PATIENCE) if future.status == "error" else None
    if isinstance(error, Exception):
        return error
    return ClusterError("the task was cancelled, or the scheduler is gone: start a cluster, and call this again")


def raised(result: Any) -> Any:
    """A result; raises it if it is an exception."""
    if isinstance(result, Exception):
        raise result
    return result


def _is_killed(result: Any) -> bool:
    """True if Dask has given up a task because too many workers were lost with it."""
    return type(result).__name__ == "KilledWorker"


def reason(error: Exception) -> str:
    """Why a task failed."""
    if _is_killed(error):
        return f"the workers that were asked were killed: {error}"
    return str(error) or type(error).__name__
