"""Threads, forks, signals and panics."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import pytest

import scanns
from scanns import _native


@pytest.mark.parametrize("how", ["detached", "waiting", "searching", "plain"])
def test_a_panic_is_an_exception(how: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BaseException) as failed:
        _native.panic_for_tests(how)
    assert "on request" in str(failed.value)
    assert how == "plain" or isinstance(failed.value, scanns.errors.InternalError)


def test_threads_share_an_index(index: scanns.Index) -> None:
    expected = {query: index.search(query, 20).keys for query in ("license", "disk tape", "licen*", "index -draft")}

    def ask(number: int) -> bool:
        query = list(expected)[number % 4]
        return index.search(query, 20).keys == expected[query] and index.count(query) > 0

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(400)))


def test_threads_share_the_results_of_a_search(index: scanns.Index) -> None:
    expected = index.search("license disk", 50, facets="ext").rows()
    for _ in range(20):
        found = index.search("license disk", 50, facets="ext")

        def read(number: int, found: scanns.Results = found) -> bool:
            facet = found.facets["ext"].to_dict()
            assert found[number].text() == index.text(found.keys[number]) and sum(facet.values()) == found.count()
            return found.rows() == expected and len(found.snippets()) == len(expected)

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(read, range(min(8, len(expected)))))


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="SKIPPED: this Python is not free-threaded")
def test_the_interpreter_stays_without_its_lock() -> None:
    code = "import sys, scanns, scanns._native; sys.exit(sys._is_gil_enabled())"
    assert subprocess.run([sys.executable, "-W", "error", "-c", code]).returncode == 0


def test_threads_share_a_writer(tmp_path: Path) -> None:
    with scanns.Writer(tmp_path / "t.scanns", {"text": "text"}) as writer:

        def add(part: int) -> int:
            return writer.add({"key": f"{part}-{number}", "text": f"word{part}"} for number in range(500))

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(add, range(4))) == 2000
    index = scanns.open(tmp_path / "t.scanns")
    assert len(index) == 2000 and index.count("word3") == 500


def test_other_threads_run_during_a_search(index: scanns.Index) -> None:
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    for _ in range(200):
        index.search("license disk tape", 100)
    stop.set()
    thread.join()
    assert ticks > 0


def _search(path_or_index: Any) -> int:
    index = path_or_index if isinstance(path_or_index, scanns.Index) else scanns.open(path_or_index)
    return index.count("license")


_SHARED: scanns.Index | None = None


def _search_shared(_number: int) -> int:
    assert _SHARED is not None
    return len(_SHARED.search("license OR disk", 50))


def test_a_forked_process_can_use_an_index(index: scanns.Index) -> None:
    global _SHARED
    _SHARED = index
    expected = len(index.search("license OR disk", 50))
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(_search_shared, range(20)) == [expected] * 20
    # The parent is not affected.
    assert len(index.search("license OR disk", 50)) == expected


def test_other_processes_open_indexes_themselves(notes: Path, index: scanns.Index) -> None:
    expected = index.count("license")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(_search, [notes] * 4) == [expected] * 4
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(_search)(notes) for _ in range(4)) == [expected] * 4


def test_an_index_is_pickled_by_its_path(index: scanns.Index) -> None:
    import pickle

    again = pickle.loads(pickle.dumps(index))
    assert again.paths == index.paths and again.count("license") == index.count("license")


def test_a_forked_process_may_end_in_any_way(index: scanns.Index, mail: Path) -> None:
    writer = scanns.Writer(mail)
    writer.add({"key": "parent", "text": "parent"})
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                writer.add({"key": "child", "text": "child"})
            except scanns.errors.ForkError:
                code = 0
            writer.close()
            del writer
            code += index.count("license") == 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    writer.commit()
    writer.close()
    assert scanns.open(mail).count("parent") == 1


def test_an_export_does_not_go_on_in_a_forked_process(index: scanns.Index) -> None:
    import pyarrow

    reader = pyarrow.RecordBatchReader.from_stream(index.export(fields=["size"], batch_rows=10))
    reader.read_next_batch()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            reader.read_next_batch()
        except Exception as error:
            code = 0 if "forked" in str(error) else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert reader.read_all().num_rows > 0


SLOW = """
import sys, threading, _thread, time, scanns
index = scanns.open(sys.argv[1])
began = time.monotonic()
try:
    while time.monotonic() - began < 20:
        if sys.argv[2] == "search":
            index.search("w* OR x* OR re\\"[a-z]+[0-9]*\\" OR *1*", 10000, sort="key")
        else:
            for batch in index.export(batch_rows=100).batches(): pass
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("what", ["search", "export"])
def test_ctrl_c_ends_what_is_running(index: scanns.Index, notes: Path, tmp_path: Path, what: str) -> None:
    path = tmp_path / "many.scanns"
    with scanns.Writer(path, {"text": scanns.Field.text(stored=True)}) as writer:
        writer.add({"key": number, "text": f"w{number} x{number % 1000} word"} for number in range(50_000))
    with subprocess.Popen([sys.executable, "-c", SLOW, str(path), what], stdout=subprocess.PIPE, text=True) as process:
        time.sleep(2.0)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        output, _ = process.communicate(timeout=30)
        spent = time.monotonic() - sent
    assert output == "interrupted\n" and process.returncode == 0
    assert spent < 5, f"{spent:.1f} s"
