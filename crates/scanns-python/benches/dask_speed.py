"""What Dask costs, on this machine: tasks per second, a round of messages, queries, and builds.

    python dask_speed.py overhead [--queries N]
    python dask_speed.py build PATH... [--shards N] [--rounds N] [--options="--records jsonl"]

`overhead` makes small indexes, so that Dask and messages take nearly all of the time. `build` compares two workers of one thread
with one process of two threads, and with a build of which a worker is killed at a random time; rounds are interleaved, and the
medians count. Indexes are written to TMPDIR.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import os
import random
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time
import warnings
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
        count = 500
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


MODES = ["one process of 2 threads", "2 workers of 1 thread", "a worker killed"]


def build(path: str, shards: int, rounds: int, options: list[str]) -> None:
    """Compares builds of what is at a path. The time to plan and to assemble counts, that to start workers does not."""
    times: dict[str, list[float]] = {mode: [] for mode in MODES}
    documents: set[int] = set()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as place:
        for number in range(rounds):
            for mode, taken in times.items():
                one = single_build if mode == MODES[0] else sharded_build
                usual = statistics.median(times[MODES[1]]) if mode == MODES[2] else None
                kill_at = None if usual is None else usual * rng.uniform(0.2, 0.9)
                spent, found = one(Path(place), path, shards, options, kill_at)
                taken.append(spent)
                documents.add(found)
            shown = ", ".join(f"{mode} {taken[-1]:.1f} s" for mode, taken in times.items())
            print(f"round {number + 1}: {shown}, load {os.getloadavg()[0]:.1f}", flush=True)
    assert len(documents) == 1, f"builds have different numbers of documents: {documents}"
    one_process, usual, killed = (statistics.median(taken) for taken in times.values())
    print(
        f"{path}: {documents.pop():,} documents in {shards} shards; medians {one_process:.1f}, {usual:.1f}, {killed:.1f} s;"
        f" rate of Dask {one_process / usual:.0%} of one process; with a worker killed {killed / usual:.2f} times"
    )


def single_build(place: Path, path: str, shards: int, options: list[str], kill_at: float | None) -> tuple[float, int]:
    index = place / "single.scanns"
    began = time.perf_counter()
    subprocess.run([command_path(), "index", "-o", index, "--threads=2", "--quiet", *options, path], check=False)
    spent = time.perf_counter() - began
    found = len(scanns.open(index))
    shutil.rmtree(index)
    return spent, found


def sharded_build(place: Path, path: str, shards: int, options: list[str], kill_at: float | None) -> tuple[float, int]:
    plan = place / "plan.json"
    with cluster() as made, distributed.Client(made) as client:
        victim = list(client.run(os.getpid).values())[0]
        began = time.perf_counter()
        words = ["plan", "-o", plan, f"--shards={shards}", "--quiet", *options, path]
        subprocess.run([command_path(), *words], check=False)
        timer = threading.Timer(kill_at or 0, os.kill, (victim, signal.SIGKILL))
        if kill_at is not None:
            timer.start()
        report = scanns.dask.build(plan, client, progress=False)
        spent = time.perf_counter() - began
        timer.cancel()
    shutil.rmtree(report.index)
    for file in place.glob("plan.*"):
        file.unlink()
    return spent, report.documents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    asked = verbs.add_parser("overhead")
    asked.add_argument("--queries", type=int, default=200)
    asked = verbs.add_parser("build")
    asked.add_argument("paths", nargs="+")
    asked.add_argument("--shards", type=int, default=16)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--options", default="", help="options of scanns index, as one word")
    chosen = parser.parse_args()
    package = importlib.metadata.version("distributed")
    print(f"distributed {package}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    if chosen.verb == "overhead":
        overhead(chosen.queries)
        return
    for path in chosen.paths:
        build(path, chosen.shards, chosen.rounds, chosen.options.split())


if __name__ == "__main__":
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    main()
