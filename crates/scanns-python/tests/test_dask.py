"""Searches and builds on a Dask cluster give what one process gives, whatever dies meanwhile.

With SCANNS_LONG set, as ci/soak.sh does, workers and schedulers are killed, too.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import WORDS, command

import scanns
from scanns import Q

distributed = pytest.importorskip("distributed", reason="SKIPPED: pip install distributed")

from distributed.chaos import KillWorker  # noqa: E402

import scanns.dask  # noqa: E402
from scanns import _cluster  # noqa: E402
from scanns import dask as scanns_dask  # noqa: E402

LONG = bool(os.environ.get("SCANNS_LONG"))

# What waits for processes that die takes longer than a test of every change may, and depends on the load.
kills_processes = pytest.mark.skipif(not LONG, reason="SKIPPED: it kills processes; ci/soak.sh runs it")
RECORDS = 3000


@pytest.fixture(scope="module")
def data(place: Path) -> Path:
    """Files of records, with words, numbers, dates, several values and values that are missing."""
    folder = place / "records"
    folder.mkdir()
    seed = int(os.environ.get("SCANNS_SEED", "1"))
    print(f"SCANNS_SEED={seed}")
    rng = random.Random(seed)
    for part in range(6):
        with open(folder / f"part-{part}.jsonl", "w", encoding="utf-8") as file:
            for number in range(RECORDS // 6):
                words = rng.choices(WORDS, range(1, 11), k=rng.randrange(1, 30))
                record: dict[str, Any] = {
                    "text": " ".join(words) + rng.choice(["", " naïve", f" rare{number}"]),
                    "author": rng.choice(["ann", "bob", "cleo", "dora"]),
                    "size": rng.randrange(100_000),
                    "weight": rng.random() * 1e6,
                    "when": f"20{rng.randrange(10, 25)}-0{rng.randrange(1, 10)}-1{rng.randrange(10)}T00:00:00Z",
                }
                if rng.random() < 0.3:
                    del record["author"]
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return folder


OPTIONS = ["--records", "jsonl", "--store", "content", "--positions"]


@pytest.fixture(scope="module")
def single(place: Path, data: Path) -> scanns.Index:
    path = place / "single.scanns"
    command("index", "-o", path, *OPTIONS, "--quiet", data)
    return scanns.open(path)


def planned(place: Path, data: Path, name: str, shards: int) -> Path:
    """A plan for an index of its own."""
    path = place / f"{name}.json"
    command("plan", "-o", path, "--shards", str(shards), "--chunk-size", "4KiB", *OPTIONS, data)
    return path


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        with distributed.Client(made) as client:
            yield client


@pytest.fixture(params=[1, 4, 16], scope="module")
def sharded(request: pytest.FixtureRequest, place: Path, data: Path, cluster: Any) -> Any:
    """The same documents in shards, built by the cluster."""
    plan = planned(place, data, f"shards-{request.param}", request.param)
    report = scanns.dask.build(plan, cluster, progress=False)
    assert (report.shards, report.built, report.documents) == (request.param, request.param, RECORDS)
    assert report.complete and report.again == 0
    return scanns.dask.open(report.index, cluster)


QUERIES: list[Any] = [
    "license warranty",
    '"disk tape"',
    "+index -draft",
    "licen*",
    "rare1~1 naive",
    "author:ann size:>50000",
    "*",
    "nowhere",
    Q.text("disk") | Q.term("tape") * 2,
    {"phrase": "search disk"},
]


def figures(answer: Any) -> Any:
    """What is computed over all matches."""
    facets = {name: (facet.rows(), facet.total, facet.others, facet.missing) for name, facet in answer.facets.items()}
    stats = {name: one.to_dict() for name, one in answer.stats.items()}
    return facets, stats, {name: repr(one) for name, one in answer.distinct.items()}


def test_answers_are_those_of_one_index(sharded: Any, single: scanns.Index) -> None:
    computed = {
        "facets": ["author", "author > stats:weight:50,99", "size:ranges:..10,10..50000,50000..", "when:year"],
        "stats": ["size:50,99", "weight"],
        "distinct": ["author", "size"],
    }
    for model in ("bm25", "dph", scanns.Model("lm-dirichlet", mu=500)):
        for query, found in zip(QUERIES, sharded.search_many(QUERIES, 20, model=model, count=True)):
            expected = single.search(query, 20, model=model)
            assert found.keys == expected.keys, query
            assert found.scores == expected.scores, query
            assert found.total == expected.count() == sharded.count(query)
            assert [hit.rank for hit in found] == [hit.rank for hit in expected]
    for sort in ("key", "-key", "size:desc,author", "when,-weight", "author:first"):
        found, expected = sharded.search("disk", 30, sort=sort), single.search("disk", 30, sort=sort)
        assert found.keys == expected.keys, sort
        if "key" not in sort:
            assert [hit.sort for hit in found] == [hit.sort for hit in expected]
    for query in QUERIES:
        assert figures(sharded.aggregate(query, **computed)) == figures(single.aggregate(query, **computed))
    page = sharded.search("disk", 5, skip=10)
    assert page.keys == single.search("disk", 15).keys[10:] and page[0].rank == 11


def test_hits_have_fields_texts_and_reasons(sharded: Any, single: scanns.Index) -> None:
    found = sharded.search("warranty rare7", 10, content=True, explain=True, snippets=True)
    expected = single.search("warranty rare7", 10)
    snippets = expected.snippets()
    for hit, other, parts in zip(found, expected, snippets):
        assert hit.fields() == {name: value for name, value in other.fields().items() if name != "_key"}
        assert hit.text() == other.text() and hit.snippets() == parts and hit.problem is None
        assert hit.explain() is not None and f"{hit.score:.3}"[:4] in hit.explain()
    assert found.to_pandas().equals(expected.to_pandas())
    assert list(found.to_pandas().dtypes) == list(expected.to_pandas().dtypes)
    assert "rank" in found._repr_html_() and "hits" in repr(found)


def test_groups_are_those_of_one_index(sharded: Any, single: scanns.Index) -> None:
    for options in ({"hits": 3, "missing": True}, {"sort": "size:desc"}):
        found, expected = sharded.groups("disk", "author", 3, **options), single.groups("disk", "author", 3, **options)
        assert (found.total, found.missing, len(found)) == (expected.total, expected.missing, len(expected))
        for group, other in zip(found, expected):
            assert (group.value, group.count) == (other.value, other.count)
            assert (group.hits.keys, group.hits.scores) == (other.hits.keys, other.hits.scores)


def test_many_queries_travel_in_batches(sharded: Any, single: scanns.Index) -> None:
    queries = [f"{first} {second}" for first in WORDS for second in WORDS]
    sharded._batch = 16
    found = sharded.search_many(queries, 3, shown=["size"])
    assert [one.keys for one in found] == [one.keys for one in single.search_many(queries, 3)]
    assert found[0].to_arrow().column_names == ["rank", "score", "_key", "size"]
    assert sharded.search_many([]) == []


def test_exports_have_all_documents(sharded: Any, single: scanns.Index, tmp_path: Path) -> None:
    import pyarrow.parquet

    files = sharded.export(tmp_path / "out", "author:ann", fields=["_key", "size"])
    assert len(files) == len(sharded.shards) and sorted(map(str, (tmp_path / "out").iterdir())) == files
    table = pyarrow.concat_tables(pyarrow.parquet.read_table(file) for file in files)
    assert table.equals(single.export("author:ann", fields=["_key", "size"]).to_arrow())


def test_faults_of_queries_are_those_of_one_index(sharded: Any) -> None:
    with pytest.raises(scanns.errors.QueryError):
        sharded.search('disk "tape')
    with pytest.raises(scanns.errors.FieldError, match="no field 'titel'"):
        sharded.search("disk", fields="titel")
    with pytest.raises(scanns.errors.FieldError):
        sharded.search("disk", facets="nothing")


def test_indexes_with_different_fields_are_searched_together(cluster: Any, tmp_path: Path) -> None:
    paths = []
    for name, schema in (("a", {"text": "text", "size": "unsigned"}), ("b", {"author": "keyword", "text": "text"})):
        with scanns.Writer(tmp_path / f"{name}.scanns", schema) as writer:
            writer.add({"key": f"{name}-{number}", "text": f"disk {name} {number}"} for number in range(20))
        paths.append(tmp_path / f"{name}.scanns")
    both, expected = scanns.dask.open(paths, cluster), scanns.open(paths).search("disk a", 40)
    found = both.search("disk a", 40)
    assert (found.keys, found.scores) == (expected.keys, expected.scores) and len(both) == 40
    assert {hit.shard for hit in found} == {0, 1}
    with scanns.Writer(paths[0]) as writer:
        writer.add({"key": "later", "text": "disk"})
    # Workers that have the earlier commit open go on to answer from it.
    try:
        assert both.search("disk a", 40).keys == found.keys
    except scanns.errors.ShardError as error:
        assert "describe the shards again" in str(error)
    assert scanns.dask.open(paths, cluster).count("disk") == 41


def test_a_damaged_shard_is_named(cluster: Any, place: Path, data: Path, tmp_path: Path) -> None:
    plan = planned(tmp_path, data, "damaged", 4)
    path = Path(scanns.dask.build(plan, cluster, progress=False).index)
    index = scanns.dask.open(path, cluster)
    whole = index.count("*")
    bad = path / "shard-00002"
    for file in bad.iterdir():
        file.write_bytes(b"damaged")
    with pytest.raises(scanns.errors.ShardError, match="shard 2, .*shard-00002"):
        scanns.dask.open(path, cluster)
    some = scanns.dask.open(path, cluster, allow_missing=True)
    with pytest.warns(scanns.IncompleteWarning, match="lacks 1 of 4 shards; shard 2"):
        found = some.search("disk", count=True)
        assert [one.shard for one in found.missing] == [2] and "shard-00002" in found._repr_html_()
        assert 0 < some.count("*") < whole
    assert 2 not in found.shards
    with pytest.raises(scanns.errors.ShardError, match="cannot be used"):
        scanns.dask.build(plan, cluster, progress=False)


# Chaos


@pytest.fixture
def slow_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command whose builds of shards take a while, and count."""
    script = tmp_path / "slow-scanns"
    real = scanns._command.command_path()
    script.write_text(
        f'#!/bin/sh\n[ "$1" = build-shard ] && echo "$3" >> {tmp_path}/attempts && sleep ${{SLOW:-0.4}}\nexec {real} "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("SCANNS_COMMAND", str(script))
    return tmp_path / "attempts"


def started(words: list[str], log: Path) -> subprocess.Popen[bytes]:
    with open(log, "ab") as file:
        return subprocess.Popen([sys.executable, "-m", "dask", *words], stdout=file, stderr=file, start_new_session=True)


class Processes:
    """A scheduler, and two workers, which can be killed and may be replaced."""

    def __init__(self, place: Path, name: str, replaces: bool = False) -> None:
        self.file = place / f"{name}.json"
        self.log = place / f"{name}.log"
        local = ["--host", "127.0.0.1", "--scheduler-file", str(self.file)]
        self.own = ["worker", *local, "--nthreads", "1", "--no-dashboard", "--death-timeout", "20", "--no-nanny"]
        self.scheduler = started(["scheduler", *local, "--port", "0", "--no-dashboard"], self.log)
        self.workers = [started(self.own, self.log) for _ in range(2)]
        self.lost = 0
        self.closing = threading.Event()
        self.keeper = threading.Thread(target=self.replace if replaces else lambda: None)
        self.keeper.start()

    def replace(self) -> None:
        while not self.closing.wait(0.1):
            for at, worker in enumerate(self.workers):
                if worker.poll() is not None:
                    self.lost += 1
                    self.workers[at] = started(self.own, self.log)

    def close(self) -> None:
        self.closing.set()
        self.keeper.join()
        for process in [*self.workers, self.scheduler]:
            if process.poll() is None:
                process.kill()
            process.wait()


@kills_processes
@pytest.mark.parametrize("mode", ["sys.exit", "graceful", "segfault"])
def test_builds_and_searches_outlive_workers(
    mode: str, slow_command: Path, data: Path, single: scanns.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A task may be lost with as many workers as it takes.
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "50")
    shards, delay, least = 4, "3 s", 2
    processes = Processes(tmp_path, "chaos", replaces=True)
    try:
        with distributed.Client(scheduler_file=str(processes.file), timeout=30) as client:
            client.wait_for_workers(2)
            client.register_plugin(KillWorker(delay=delay, mode=mode))
            plan = planned(tmp_path, data, "chaos-plan", shards)
            report = scanns.dask.build(plan, client, progress=False, retries=50)
            assert (report.documents, report.complete, report.shards) == (RECORDS, True, shards)
            index, began = scanns.dask.open(report.index, client), time.monotonic()
            for query in itertools.cycle(QUERIES):
                found, expected = index.search(query, facets="author"), single.search(query, facets="author")
                assert (found.keys, found.scores) == (expected.keys, expected.scores)
                assert figures(found) == figures(expected)
                if time.monotonic() - began > least and processes.lost:
                    break
    finally:
        processes.close()
    left = [name for name in os.listdir(report.index) if ".tmp-" in name or ".run-" in name]
    assert not left


@kills_processes
def test_a_build_goes_on_after_the_scheduler_died(
    slow_command: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOW", "1")
    plan = planned(tmp_path, data, "resumed", 6)
    first = Processes(tmp_path, "first")
    try:
        with distributed.Client(scheduler_file=str(first.file), timeout=30) as client:

            def kill(state: scanns_dask.BuildState) -> None:
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


def test_two_builds_of_one_shard_make_one(cluster: Any, data: Path, tmp_path: Path) -> None:
    plan = planned(tmp_path, data, "twice", 2)
    workers = list(cluster.nthreads())
    both = [
        cluster.submit(_cluster.build_shard, str(plan), 1, ["--threads=1"], workers=[worker], pure=False)
        for worker in workers
    ]
    reports = [future.result() for future in both]
    assert [report["error"] for report in reports] == [None, None]
    report = scanns.dask.build(plan, cluster, progress=False)
    assert (report.built, report.documents) == (1, RECORDS)


@kills_processes
def test_a_shard_of_a_worker_that_hangs_is_taken_over(
    data: Path, single: scanns.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanns_dask, "_SLOW_SECONDS", 0.3)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        with distributed.Client(made) as client:
            stopped = list(client.run(os.getpid).values())[0]

            def hang(state: scanns_dask.BuildState) -> None:
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


def test_an_interrupted_build_stops_its_commands(
    cluster: Any, slow_command: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Enough(Exception):
        pass

    def stop(state: scanns_dask.BuildState) -> None:
        raise Enough

    pid = os.getpid()
    plan = planned(tmp_path, data, "stopped", 4)
    with pytest.raises(Enough):
        scanns.dask.build(plan, cluster, progress=stop)
    for _ in range(100):
        running = subprocess.run(["pgrep", "-f", str(plan)], capture_output=True, text=True).stdout.split()
        if not set(running) - {str(pid)}:
            break
        time.sleep(0.1)
    else:
        pytest.fail(f"still running: {running}")


def test_a_shard_that_cannot_be_built_says_why(cluster: Any, data: Path, tmp_path: Path) -> None:
    plan = planned(tmp_path, data, "refused", 3)
    with pytest.raises(scanns.errors.ShardError, match="(?s)failed 2 times.*shards are complete, and the same call goes on"):
        scanns.dask.build(plan, cluster, memory="nothing", retries=1, progress=False)
    os.rename(data / "part-3.jsonl", tmp_path / "kept")
    try:
        with pytest.warns(scanns.IncompleteWarning, match="inputs failed"):
            report = scanns.dask.build(plan, cluster, progress=False)
        assert not report.complete and "part-3" in json.dumps(report.assembled["failures"])
    finally:
        shutil.move(tmp_path / "kept", data / "part-3.jsonl")


# Security


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.5:8786", "tcp://[2001:db8::1]:8786", "tcp://node17:8786", "ucx://10.0.0.5:1", "ws://10.1.1.1:80"]
)
def test_clusters_that_are_open_to_all_are_refused(address: str) -> None:
    with pytest.raises(scanns.errors.ClusterError, match=r"(?s)Security.temporary\(\).*SLURMRunner.*insecure=True"):
        _cluster.check_security(["tcp://127.0.0.1:1", address], insecure=False)
    _cluster.check_security([address], insecure=True)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tls://10.0.0.5:8786", "inproc://10.0.0.5/1/2"])
def test_clusters_of_one_user_are_accepted(address: str) -> None:
    _cluster.check_security([address], insecure=False)


def test_an_encrypted_cluster_beyond_loopback_is_used(single: scanns.Index) -> None:
    pytest.importorskip("cryptography", reason="SKIPPED: pip install cryptography")
    security = distributed.Security.temporary()
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, host="0.0.0.0", security=security, processes=False, dashboard_address=None
    ) as made:
        with distributed.Client(made, security=security) as client:
            index = scanns.dask.open(single.paths, client)
            assert index.search("disk").scores == single.search("disk").scores
    with pytest.raises(scanns.errors.ClusterError):
        scanns.dask.open(single.paths, client)


def test_threads_share_an_index(cluster: Any, single: scanns.Index) -> None:
    index, found = scanns.dask.open(single.paths, cluster), []
    threads = [threading.Thread(target=lambda: found.append(index.search("disk").scores)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [single.search("disk").scores] * 4
