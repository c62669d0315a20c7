"""Runs the `scanns` command, which the wheel contains, in a process of its own.

Builds and other long work run there: their memory is returned to the system, and nothing that happens in them can end
the interpreter. The command writes its progress, notes and errors as lines of JSON.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sysconfig
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from . import errors

__all__ = ["Finished", "command_path", "run"]

# What a user sends twice to end a command at once.
_STOPPED = 130


class Finished(NamedTuple):
    """A command that has ended, with what it printed."""

    code: int
    output: bytes
    notes: list[str]


def command_path() -> str:
    """The path of the command: `SCANNS_COMMAND`, the one of this package, or the first in `PATH`."""
    given = os.environ.get("SCANNS_COMMAND")
    if given:
        return given
    for scheme in (None, f"{os.name}_user"):
        folder = sysconfig.get_path("scripts") if scheme is None else sysconfig.get_path("scripts", scheme)
        own = os.path.join(folder, "scanns")
        if os.access(own, os.X_OK):
            return own
    found = shutil.which("scanns")
    if found is None:
        raise errors.CommandError("the scanns command is missing: install the package again, or set SCANNS_COMMAND")
    return found


def arguments(options: Mapping[str, Any]) -> list[str]:
    """The options of the command for keyword arguments: `skip_hidden=True` is `--skip-hidden`."""
    words = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        values = value if isinstance(value, (list, tuple)) else [value]
        for one in values:
            if one is True:
                words.append(option)
            elif one is not None and one is not False:
                words.append(f"{option}={os.fsdecode(one) if isinstance(one, (bytes, os.PathLike)) else one}")
    return words


class _Messages:
    """The messages of a command as they arrive."""

    def __init__(self, watch: Callable[[dict[str, Any]], None] | None) -> None:
        self.watch = watch
        self.notes: list[str] = []
        self.error: dict[str, Any] | None = None

    def take(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip("\n")
        message: dict[str, Any]
        try:
            message = json.loads(text)
        except ValueError:
            message = {"note": text} if text else {}
        if "note" in message:
            self.notes.append(message["note"])
        elif "error" in message:
            self.error = message["error"]
        elif "progress" in message and self.watch is not None:
            self.watch(message["progress"])


def run(
    words: Sequence[str],
    *,
    watch: Callable[[dict[str, Any]], None] | None = None,
    input: Iterable[bytes] | None = None,
) -> Finished:
    """Runs the command to its end.

    If Ctrl-C or `watch` raises an exception, the command is told to stop, which commits what it has done, and the
    exception is raised when it has ended.
    """
    environment = {**os.environ, "SCANNS_MESSAGES": "json"}
    process = subprocess.Popen(
        [command_path(), *words],
        stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        # Ctrl-C in a terminal reaches this process only, which passes it on.
        start_new_session=True,
    )
    messages = _Messages(watch)
    output: list[bytes] = []
    helpers = [threading.Thread(target=lambda: output.append(process.stdout.read()), daemon=True)]  # type: ignore[union-attr]
    if input is not None:
        helpers.append(threading.Thread(target=_feed, args=(process, input), daemon=True))
    for helper in helpers:
        helper.start()
    try:
        _listen(process, messages)
    except BaseException:
        _stop(process, messages)
        raise
    finally:
        for helper in helpers:
            helper.join()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    finished = Finished(process.returncode, b"".join(output), messages.notes)
    _must_be_done(finished, messages.error)
    return finished


def _feed(process: subprocess.Popen[bytes], input: Iterable[bytes]) -> None:
    try:
        with process.stdin as pipe:  # type: ignore[union-attr]
            for part in input:
                pipe.write(part)
    except BrokenPipeError:
        # The command has ended, and says why.
        pass


def _listen(process: subprocess.Popen[bytes], messages: _Messages) -> None:
    for line in process.stderr:  # type: ignore[union-attr]
        messages.take(line)
    process.wait()


def _stop(process: subprocess.Popen[bytes], messages: _Messages) -> None:
    """Tells the command to stop, and waits until it has committed. Another Ctrl-C ends it at once."""
    messages.watch = None
    process.send_signal(signal.SIGINT)
    try:
        _listen(process, messages)
    except BaseException:
        process.kill()
        process.wait()
        raise


def _of_keywords(message: str) -> str:
    """A message about options of the command as one about keyword arguments."""
    text = message.partition("\n\nUsage:")[0].partition("\n\nFor more information")[0]
    text = re.sub(r"--([a-z][a-z-]*)(?: <[A-Z_]+>)?(=?)", lambda found: found[1].replace("-", "_") + found[2], text)
    return re.sub(r"\s*\n\s*", " ", text)


def _must_be_done(finished: Finished, error: dict[str, Any] | None) -> None:
    """Raises the exception of a command that did not do its work."""
    if finished.code in (0, 1):
        return
    if finished.code == _STOPPED:
        raise errors.CancelledError("the command was stopped; what it has committed is kept")
    if error is None:
        notes = "; ".join(finished.notes[-3:]) or "it says nothing"
        raise errors.CommandError(f"the scanns command ended with status {finished.code}: {notes}")
    message = error["message"]
    if error["kind"] == "Usage":
        message = _of_keywords(message)
    made = errors.KINDS.get(error["kind"], errors.CommandError)(message)
    if isinstance(made, errors.QueryError):
        made.at = error.get("at")
    raise made
