"""What Dask costs, on this machine: tasks per second, a round of messages, queries, and builds.

    python dask_speed.py overhead [QUERIES]
    python dask_speed.py build FOLDER [SHARDS] [ROUNDS]

`overhead` makes small indexes, so that Dask and messages take nearly all of the time. `build` compares two workers of one thread
with one process of two threads, and with a build of which a worker is killed half way; rounds are interleaved.
"""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import distributed

import scanns
import scanns.dask
from scanns import _cluster
from scanns._command import command_path

WORDS = ["license", "warranty", "index", "search", "disk", "tape", "node", "quota", "draft", "plan"]


def cluster(workers: int = 2) -> distributed.LocalCluster:
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)


def seconds(call: Callable[[], Any], times: int) -> float:
    """The median of several calls."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def overhead(queries: int = 200) -> None:
    with tempfile.TemporaryDirectory() as folder, cluster() as made, distributed.Client(made) as client:
        paths = []
        for shard in range(16):
            path = Path(folder, f"{shard}.scanns")
            with scanns.Writer(path, {"text": "text"}) as writer:
                writer.add(
                    {"key": f"{shard}-{number}", "text": f"{WORDS[number % 10]} {WORDS[number % 7]}"}
                    for number in range(100)
                )
            paths.append(path)
        count = 2000
        tasks = seconds(lambda: client.gather(client.map(abs, range(count), pure=False)), 3)
        print(f"{count / tasks:,.0f} tasks/s, {seconds(lambda: client.submit(abs, 1, pure=False).result(), 100) * 1e6:,.0f} us alone")
        texts = [f"{WORDS[at % 10]} {WORDS[at % 9]}" for at in range(queries)]
        for shards in (1, 4, 16):
            own = [str(path) for path in paths[:shards]]
            single, index = scanns.open(own), scanns.dask.open(own, client)
            at = iter(range(10**9))
            one = seconds(lambda: index.search(texts[next(at) % queries]), 50)
            many = seconds(lambda: index.search_many(texts), 3) / queries
            alone = seconds(lambda: single.search(texts[next(at) % queries]), 50)
            search = index._set.search(_questions(texts[:1]), False)
            message = search.next()
            assert message is not None
            numbered = [(number, shard.path, shard.fingerprint) for number, shard in enumerate(index._shards)]
            local = seconds(lambda: _cluster.answer(numbered, None, message, None), 50)
            dask = seconds(lambda: index._ask(message, None), 50)
            print(
                f"{shards:2} shards: a round {dask * 1e6:8,.0f} us, of which messages {local * 1e6:6,.0f} us;"
                f" a search {one * 1e3:6.1f} ms, in batches {many * 1e3:6.2f} ms, in one process {alone * 1e3:6.2f} ms"
            )


def _questions(texts: list[str]) -> list[Any]:
    from scanns._shards import Question

    return [Question(text, 10, None, "or") for text in texts]


def build(folder: str, shards: int = 8, rounds: int = 3) -> None:
    times: dict[str, list[float]] = {"one process, 2 threads": [], "2 workers of 1 thread": [], "one worker killed": []}
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
        for number in range(rounds):
            for name, taken in times.items():
                began = time.perf_counter()
                if name.startswith("one process"):
                    path = Path(place, "single.scanns")
                    subprocess.run([command_path(), "index", "-o", path, "--threads=2", "--quiet", folder], check=False)
                    taken.append(time.perf_counter() - began)
                    shutil.rmtree(path)
                    continue
                plan = Path(place, f"plan-{number}.json")
                words = ["plan", "-o", plan, f"--shards={shards}", "--quiet", folder]
                subprocess.run([command_path(), *map(str, words)], check=False)
                with cluster() as made, distributed.Client(made) as client:
                    victim = list(client.run(os.getpid).values())[0]

                    def kill(state: scanns.dask.BuildState, victim: int = victim, wanted: list[int] = [1]) -> None:
                        if name == "one worker killed" and state.done >= state.shards // 2 and wanted:
                            wanted.pop()
                            os.kill(victim, signal.SIGKILL)

                    began = time.perf_counter()
                    report = scanns.dask.build(plan, client, progress=kill)
                    taken.append(time.perf_counter() - began)
                shutil.rmtree(report.index)
            print({name: [f"{one:.1f}" for one in taken] for name, taken in times.items()}, "load", os.getloadavg()[0], flush=True)
    first = statistics.median(times["one process, 2 threads"])
    usual = statistics.median(times["2 workers of 1 thread"])
    print(f"rate of Dask {first / usual:.0%} of one process; with a worker killed {statistics.median(times['one worker killed']) / usual:.2f} times")


if __name__ == "__main__":
    print(f"distributed {distributed.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    if sys.argv[1:2] == ["overhead"]:
        overhead(*map(int, sys.argv[2:]))
    elif sys.argv[1:2] == ["build"]:
        build(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        sys.exit(__doc__)
