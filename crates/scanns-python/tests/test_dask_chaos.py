"""Builds and searches on a Dask cluster end as they would without it, whatever dies or hangs meanwhile.

With SCANNS_LONG set, as ci/soak.sh does, workers, their commands and schedulers are killed and stopped. Each test runs
SCANNS_RUNS times. SCANNS_SEED is the first seed.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from dask_data import QUERIES, RECORDS, data, figures, planned, single, slow_command

import scanns

distributed = pytest.importorskip("distributed", reason="SKIPPED: pip install distributed")

import cloudpickle  # noqa: E402
from distributed.chaos import KillWorker  # noqa: E402

import scanns.dask  # noqa: E402
from scanns import _tasks  # noqa: E402

__all__ = ["data", "single", "slow_command"]

LONG = bool(os.environ.get("SCANNS_LONG"))
RUNS = int(os.environ.get("SCANNS_RUNS", "1"))
SEED = int(os.environ.get("SCANNS_SEED", "1"))

# What waits for processes that die takes longer than a test of every change may, and depends on the load.
kills_processes = pytest.mark.skipif(not LONG, reason="SKIPPED: it kills processes; ci/soak.sh runs it")
# Seconds that a worker lives on average. It takes one to three to start.
LIFE = 4.0

# The workers cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Killer(KillWorker):  # type: ignore[misc]
    """Kills its worker from within, after a time that depends on a seed and on the name of the worker."""

    def __init__(self, mode: str, seed: int) -> None:
        super().__init__(delay=LIFE, mode=mode)
        self.seed = seed

    async def setup(self, worker: Any) -> None:
        random.seed(f"{self.seed} {worker.name}")
        await super().setup(worker)


def started(words: list[str], log: Path) -> subprocess.Popen[bytes]:
    with open(log, "ab") as file:
        return subprocess.Popen([sys.executable, "-m", "dask", *words], stdout=file, stderr=file, start_new_session=True)


class Processes:
    """A scheduler and two workers. Workers that end are replaced, if that is wanted, as a batch system would."""

    def __init__(self, place: Path, name: str, replaces: bool = False, nannies: bool = False) -> None:
        self.file = place / f"{name}.json"
        self.log = place / f"{name}.log"
        local = ["--host", "127.0.0.1", "--scheduler-file", str(self.file)]
        self.own = ["worker", *local, "--nthreads", "1", "--no-dashboard", "--death-timeout", "20"]
        self.own.append("--nanny" if nannies else "--no-nanny")
        self.scheduler = started(["scheduler", *local, "--port", "0", "--no-dashboard"], self.log)
        self.made = 0
        # When each worker was started, by its process.
        self.began: dict[int, float] = {}
        self.workers = [self.worker() for _ in range(2)]
        # The workers that have ended or were harmed.
        self.lost = 0
        self.closing = threading.Event()
        self.threads = [threading.Thread(target=self.replace)] if replaces else []
        for thread in self.threads:
            thread.start()

    def worker(self) -> subprocess.Popen[bytes]:
        self.made += 1
        worker = started([*self.own, "--name", f"worker-{self.made}"], self.log)
        self.began[worker.pid] = time.monotonic()
        return worker

    def replace(self) -> None:
        while not self.closing.wait(0.1):
            for at, worker in enumerate(self.workers):
                if worker.poll() is not None:
                    self.lost += 1
                    self.workers[at] = self.worker()

    def harm(self, mode: str, seed: int) -> None:
        """Kills or stops workers now and then, from another thread. The first two are ready."""
        start = time.monotonic() - min(self.began.values())
        self.threads.append(threading.Thread(target=self.harm_often, args=(mode, start, random.Random(seed))))
        self.threads[-1].start()

    def harm_often(self, mode: str, start: float, rng: random.Random) -> None:
        while not self.closing.wait(rng.expovariate(2 / LIFE)):
            worker = rng.choice(self.workers)
            # On a busy machine workers that have hardly started would be killed all the time.
            if time.monotonic() - self.began[worker.pid] < start:
                continue
            victims = children(worker.pid, b"spawn_main") if mode == "nanny" else [worker.pid]
            for victim in victims:
                self.lost += 1
                if mode == "stop":
                    send(victim, signal.SIGSTOP)
                    self.closing.wait(rng.uniform(1, LIFE))
                    send(victim, signal.SIGCONT)
                else:
                    send(victim, signal.SIGKILL)

    def close(self) -> None:
        self.closing.set()
        for thread in self.threads:
            thread.join()
        for process in [*self.workers, self.scheduler]:
            # The child of a nanny ends with it.
            if process.poll() is None:
                process.kill()
            process.wait()


def send(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


def children(process: int, words: bytes) -> list[int]:
    """The children of a process whose command has these words."""
    try:
        known = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        own = [tid for task in Path(f"/proc/{process}/task").iterdir() for tid in (task / "children").read_text().split()]
        return [int(pid) for pid in sorted({*known, *own}) if words in Path(f"/proc/{pid}/cmdline").read_bytes()]
    except OSError:
        return []


@kills_processes
@pytest.mark.parametrize("run", range(RUNS))
@pytest.mark.parametrize("mode", ["sys.exit", "graceful", "segfault", "kill", "nanny", "stop"])
def test_builds_and_searches_outlive_workers(
    mode: str,
    run: int,
    slow_command: Path,
    data: Path,
    single: scanns.Index,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seed = SEED + run
    print(f"SCANNS_SEED={seed}")
    # A task may be lost with as many workers as it takes, and is slow soon.
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "50")
    monkeypatch.setattr(_tasks, "_SLOW_SECONDS", 1.0)
    monkeypatch.setattr(_tasks, "_READ_SECONDS", 2.0)
    shards, least = 8, 5
    processes = Processes(tmp_path, "chaos", replaces=True, nannies=mode == "nanny")
    try:
        with distributed.Client(scheduler_file=str(processes.file), timeout=30) as client:
            client.wait_for_workers(2)
            if mode in ("kill", "nanny", "stop"):
                processes.harm(mode, seed)
            else:
                client.register_plugin(Killer(mode, seed))
            plan = planned(tmp_path, data, "chaos-plan", shards)
            began = time.monotonic()
            report = scanns.dask.build(plan, client, progress=False, retries=50)
            built = time.monotonic() - began
            assert (report.documents, report.complete, report.shards) == (RECORDS, True, shards)
            index, began, searches = scanns.dask.open(report.index, client), time.monotonic(), 0
            for query in itertools.cycle(QUERIES):
                found, expected = index.search(query, facets="author"), single.search(query, facets="author")
                assert (found.keys, found.scores) == (expected.keys, expected.scores)
                assert figures(found) == figures(expected)
                searches += 1
                if time.monotonic() - began > least and processes.lost:
                    break
            spent = time.monotonic() - began
            print(
                f"{mode} {seed}: {processes.lost} workers lost; build {built:.1f} s, {report.again} repeated;"
                f" {searches} searches {spent:.1f} s"
            )
    finally:
        processes.close()
    left = [name for name in os.listdir(report.index) if ".tmp-" in name or ".run-" in name]
    assert not left
    names = ["_key", "size", "author", "weight"]
    whole = scanns.open(report.index).export(fields=names).to_arrow()
    assert whole.equals(single.export(fields=names).to_arrow())


@kills_processes
@pytest.mark.parametrize("run", range(RUNS))
def test_a_build_goes_on_after_the_scheduler_died(
    run: int, slow_command: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOW", "1")
    plan = planned(tmp_path, data, "resumed", 6)
    first = Processes(tmp_path, "first")
    try:
        with distributed.Client(scheduler_file=str(first.file), timeout=30) as client:

            def kill(state: scanns.dask.BuildState) -> None:
                if state.done >= 2 and first.scheduler.poll() is None:
                    first.scheduler.kill()

            with pytest.raises(scanns.errors.ClusterError, match="the scheduler is gone"):
                scanns.dask.build(plan, client, progress=kill)
    finally:
        first.close()
    done = sum(1 for name in os.listdir(tmp_path / "resumed.scanns") if name.startswith("shard-") and "." not in name)
    assert 2 <= done < 6
    second = Processes(tmp_path, "second")
    try:
        with distributed.Client(scheduler_file=str(second.file), timeout=30) as client:
            report = scanns.dask.build(plan, client, progress=False)
            assert (report.shards, report.documents) == (6, RECORDS) and report.built <= 6 - done
            assert scanns.dask.build(plan, client, progress=False).built == 0
    finally:
        second.close()


@kills_processes
@pytest.mark.parametrize("run", range(RUNS))
def test_a_shard_of_a_worker_that_hangs_is_taken_over(
    run: int, data: Path, single: scanns.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tasks, "_SLOW_SECONDS", 0.3)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        with distributed.Client(made) as client:
            stopped = list(client.run(os.getpid).values())[0]

            def hang(state: scanns.dask.BuildState) -> None:
                if state.done >= 2:
                    os.kill(stopped, signal.SIGSTOP)

            try:
                report = scanns.dask.build(planned(tmp_path, data, "hung", 6), client, progress=hang)
                assert report.documents == RECORDS and report.again >= 1
            finally:
                os.kill(stopped, signal.SIGCONT)
            index = scanns.dask.open(report.index, client)
            os.kill(stopped, signal.SIGSTOP)
            try:
                assert index.search("disk").scores == single.search("disk").scores
            finally:
                os.kill(stopped, signal.SIGCONT)


