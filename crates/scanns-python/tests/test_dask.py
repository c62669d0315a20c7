"""Searches and builds on a Dask cluster give what one process gives. test_dask_chaos.py kills workers meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import WORDS, command
from dask_data import QUERIES, RECORDS, data, figures, planned, single, slow_command

import scanns

distributed = pytest.importorskip("distributed", reason="SKIPPED: pip install distributed")

import scanns.dask  # noqa: E402
from scanns import _cluster, _tasks  # noqa: E402

__all__ = ["data", "single", "slow_command"]


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
    found = sharded.search_many(queries, 3, fields=["size"])
    assert [one.keys for one in found] == [one.keys for one in single.search_many(queries, 3)]
    assert found[0].to_arrow().column_names == ["rank", "score", "_key", "size"]
    assert sharded.search_many([]) == []


def test_exports_have_all_documents(sharded: Any, single: scanns.Index, tmp_path: Path) -> None:
    import pyarrow.parquet

    files = sharded.export(tmp_path / "out", "author:ann", fields=["_key", "size"])
    assert len(files) == len(sharded.shards) and sorted(map(str, (tmp_path / "out").iterdir())) == files
    table = pyarrow.concat_tables(pyarrow.parquet.read_table(file) for file in files)
    assert table.equals(single.export("author:ann", fields=["_key", "size"]).to_arrow())
    # A fuzzy word has more near terms than it may stand for, and each shard has others.
    for number, query in enumerate(["rare1~2", "tape rare2~1 -licen*"]):
        assert single.count(query) > 0
        files = sharded.export(tmp_path / str(number), query)
        table = pyarrow.concat_tables(pyarrow.parquet.read_table(file) for file in files)
        expected = single.export(query).to_arrow()
        assert table.select(expected.column_names).equals(expected)
    for wrong in ({"fields": ["nothing"]}, {"fields": []}, {"query": '"disk'}):
        with pytest.raises((scanns.errors.FieldError, scanns.errors.QueryError, scanns.errors.InvalidValueError)):
            sharded.export(tmp_path / "wrong", **wrong)
    assert not (tmp_path / "wrong").exists()
    # Files of an export to more shards would be rows of this one.
    (tmp_path / "out" / "part-00099.parquet").write_bytes(b"earlier")
    with pytest.raises(scanns.errors.ConflictError, match="files of an earlier export, such as part-00000.parquet"):
        sharded.export(tmp_path / "out", "author:ann")
    files = sharded.export(tmp_path / "out", "author:ann", overwrite=True)
    assert sorted(map(str, (tmp_path / "out").iterdir())) == files


def test_a_shard_without_time_for_terms_is_missing(sharded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(scanns.errors.ShardError, match="shard 0.*time was up"):
        sharded.search("rare1~2", timeout=0.0)
    monkeypatch.setattr(sharded, "_allow_missing", True)
    with pytest.warns(scanns.IncompleteWarning, match="time was up"):
        found = sharded.search("rare1~2", facets="author", timeout=0.0)
    assert found.partial and not {one.shard for one in found.missing} & set(found.shards)
    assert 0 < len(found.missing) and {one.index for one in found.missing} <= set(sharded.shards)
    if len(found.missing) == len(sharded.shards):
        assert len(found) == 0 and found.facets["author"].rows() == []


def test_faults_of_queries_are_those_of_one_index(sharded: Any) -> None:
    with pytest.raises(scanns.errors.QueryError):
        sharded.search('disk "tape')
    with pytest.raises(scanns.errors.FieldError, match="no field 'titel'"):
        sharded.search("disk", field="titel")
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


# Builds that fail


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


def test_only_a_cluster_without_workers_for_long_is_an_error(
    single: scanns.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as made, distributed.Client(made) as client:
        known = _tasks.Cluster(client, insecure=False)
        # A worker was there a moment ago, though nothing came for an hour.
        known._seen = time.monotonic() - 5
        known.must_run(time.monotonic() - 3600)
        known._seen -= 3600
        with pytest.raises(scanns.errors.ClusterError, match="no worker for 60 seconds"):
            known.must_run(time.monotonic() - 3600)
        known.must_run(time.monotonic())
        monkeypatch.setattr(_tasks, "_PATIENCE", 0.5)
        with pytest.raises(scanns.errors.ClusterError, match="no worker"):
            scanns.dask.open(single.paths, client)


def test_threads_share_an_index(cluster: Any, single: scanns.Index) -> None:
    index, found = scanns.dask.open(single.paths, cluster), []
    threads = [threading.Thread(target=lambda: found.append(index.search("disk").scores)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [single.search("disk").scores] * 4
