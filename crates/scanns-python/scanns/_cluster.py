"""What runs on the workers of a Dask cluster, and whether a cluster may be used.

Every function may run twice, or be lost with its worker: what it writes appears under its name at once or not at all.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from ._command import Finished, command_path
from ._native import NativeShard, shards_of
from ._shards import MissingShard, ShardDescription, ShardExport
from .errors import KINDS, ClusterError, ConflictError, Error, ShardError

__all__ = ["answer", "build_shard", "check_security", "command", "describe", "export_shard", "list_shards"]

# The shards that a process keeps open. An open shard takes a few descriptors, and memory for what its queries use.
_MOST_OPEN = int(os.environ.get("SCANNS_OPEN_SHARDS", "256"))

_open: OrderedDict[tuple[str, int, bytes], NativeShard] = OrderedDict()
_lock = threading.Lock()


def _keep(path: str, digest: bytes, shard: NativeShard) -> None:
    with _lock:
        _open[path, shard.fingerprint, digest] = shard
        while len(_open) > _MOST_OPEN:
            _open.popitem(last=False)


def _opened(path: str, fingerprint: int, schema: bytes | None) -> NativeShard:
    """The shard at a path, which stays open in this process. A newer commit answers that it is another one."""
    digest = b"" if schema is None else hashlib.blake2b(schema, digest_size=16).digest()
    with _lock:
        shard = _open.get((path, fingerprint, digest))
        if shard is not None:
            _open.move_to_end((path, fingerprint, digest))
            return shard
    shard = NativeShard.open(path, schema)
    _keep(path, digest, shard)
    return shard


def list_shards(paths: Sequence[str]) -> list[str]:
    """The shards of all indexes, in the order of their documents."""
    return [os.fspath(shard) for path in paths for shard in shards_of(path)]


def describe(shards: Sequence[tuple[int, str]]) -> list[ShardDescription | MissingShard]:
    """Opens shards, and describes them."""
    found: list[ShardDescription | MissingShard] = []
    for number, path in shards:
        try:
            shard = NativeShard.open(path)
            filled, several = shard.kept_fields()
            found.append(ShardDescription(path, shard.describe(), shard.fingerprint, filled, several))
            _keep(path, b"", shard)
        except Error as error:
            found.append(MissingShard(number, path, str(error)))
    return found


def answer(
    shards: Sequence[tuple[int, str, int]], schema: bytes | None, message: bytes, timeout: float | None
) -> list[bytes | str]:
    """The answers of shards to a message, or why there is none."""
    found: list[bytes | str] = []
    for number, path, fingerprint in shards:
        try:
            found.append(_opened(path, fingerprint, schema).answer(number, message, timeout))
        except Error as error:
            found.append(str(error))
    return found


def empty_directory(place: str, overwrite: bool) -> None:
    """Makes the directory of an export, in which there are no files of another one.

    Raises:
        ConflictError: there are such files, and they are to be kept.
    """
    os.makedirs(place, exist_ok=True)
    earlier = sorted(name for name in os.listdir(place) if re.fullmatch(r"part-\d{5,}\.parquet", name))
    if earlier and not overwrite:
        raise ConflictError(
            f"{place} has {len(earlier)} files of an earlier export, such as {earlier[0]}: "
            "give another directory, or overwrite=True, which removes them first"
        )
    for name in earlier:
        os.remove(os.path.join(place, name))


def export_shard(path: str, fingerprint: int, schema: bytes | None, target: str, asked: ShardExport) -> None:
    """Writes the values of the documents of a shard to a Parquet file."""
    import pyarrow
    import pyarrow.parquet as parquet

    batches = _opened(path, fingerprint, schema).export(asked)
    temporary = f"{target}.tmp-{uuid.uuid4().hex}"
    try:
        reader = pyarrow.RecordBatchReader.from_stream(batches)
        with open(temporary, "wb") as file:
            with parquet.ParquetWriter(file, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(batch)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


# Commands. The wrapper tells the kernel to stop the command when the thread that started it ends, as it does when its
# worker is killed, and ends at once if that has happened already.
_WRAPPER = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() != int(sys.argv[1]):
    sys.exit(130)
os.execv(sys.argv[2], sys.argv[2:])
"""

# How often a task looks whether it is still wanted, and what a command that is told to stop gets, in seconds.
_LOOK = 0.2
_GRACE = 20


def _is_wanted() -> bool:
    """False once the task was cancelled, or its worker closes."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return True
    state = worker.state.tasks.get(worker.get_current_task())
    closing = str(worker.status).rpartition(".")[2] in ("closing", "closed", "failed")
    return state is not None and state.state not in ("cancelled", "released") and not closing


def _run(words: Sequence[str]) -> Finished | None:
    """Runs the command to its end; ``None`` if it was stopped because nobody wants it any more."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WRAPPER, str(os.getpid()), command_path(), *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={**os.environ, "SCANNS_MESSAGES": "json"},
            start_new_session=True,
        )
        stopped = None
        try:
            while True:
                try:
                    process.wait(_LOOK)
                    break
                except subprocess.TimeoutExpired:
                    pass
                if stopped is None and not _is_wanted():
                    stopped = time.monotonic()
                    process.send_signal(signal.SIGTERM)
                elif stopped is not None and time.monotonic() - stopped > _GRACE:
                    process.kill()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if stopped is not None and process.returncode != 0:
            return None
        output.seek(0)
        errors.seek(0)
        return Finished(process.returncode, output.read(), errors.read().decode("utf-8", "replace").splitlines())


def _failure(lines: Sequence[str], code: int) -> Error:
    """The exception of a command that did not do its work."""
    messages = []
    for line in lines:
        try:
            messages.append(json.loads(line))
        except ValueError:
            messages.append({"note": line})
    for message in messages:
        error = message.get("error")
        if error is not None:
            return KINDS.get(error["kind"], ShardError)(error["message"])
    notes = "; ".join(message["note"] for message in messages if "note" in message) or "it says nothing"
    return ShardError(f"the scanns command ended with status {code}: {notes}")


def command(words: Sequence[str]) -> dict[str, Any]:
    """The object that a command prints with --json."""
    finished = _run([*words, "--json"])
    if finished is None:
        raise ShardError("the command was stopped: call this again")
    text = finished.output.decode("utf-8", "replace").strip()
    if finished.code not in (0, 1) or not text:
        raise _failure(finished.notes, finished.code)
    report: dict[str, Any] = json.loads(text.splitlines()[-1])
    return report


def build_shard(plan: str, number: int, words: Sequence[str]) -> dict[str, Any]:
    """Builds a shard of a plan in a process of its own. What went wrong is part of the report."""
    began = time.monotonic()
    finished = _run(["build-shard", plan, str(number), "--json", *words])
    seconds = time.monotonic() - began
    report: dict[str, Any] = {"shard": number, "seconds": seconds, "error": None, "stopped": finished is None}
    if finished is None:
        return {**report, "error": "it was stopped"}
    text = finished.output.decode("utf-8", "replace").strip()
    if finished.code not in (0, 1):
        return {**report, "error": str(_failure(finished.notes, finished.code))}
    built: dict[str, Any] = json.loads(text.splitlines()[-1]) if text else {}
    return {**report, "built": built, "complete": finished.code == 0}


# Security

_REMEDY = """Whoever reaches the ports of such a cluster can run any code as you. Encrypt it:

    from distributed import Client, LocalCluster, Security
    client = Client(LocalCluster(host="0.0.0.0", security=Security.temporary()))

    from dask_jobqueue.slurm import SLURMCluster
    cluster = SLURMCluster(security=True, shared_temp_directory="/shared/directory/of/yours")
    client = cluster.get_client()

    from dask_jobqueue.slurm import SLURMRunner
    runner = SLURMRunner(scheduler_file="dask-{job_id}.json", security=security, scheduler_options={"protocol": "tls"})

docs/dask.md says more. If only you can reach the network of the cluster, say so with insecure=True."""


def _is_open(address: str) -> bool:
    """True if others may connect to an address, and nothing is encrypted."""
    protocol, _, rest = address.rpartition("://")
    if protocol in ("tls", "wss", "inproc"):
        return False
    host = rest.rpartition(":")[0].strip("[]").partition("%")[0]
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


def check_security(addresses: Sequence[str], insecure: bool) -> None:
    """Refuses a cluster that everybody on the network can use."""
    open_ones = [address for address in addresses if _is_open(address)]
    if open_ones and not insecure:
        raise ClusterError(f"the cluster at {open_ones[0]} is neither encrypted nor authenticated. {_REMEDY}")
