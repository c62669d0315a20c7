"""What all tests share: small indexes, and the command to compare with."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import scanns
from scanns._command import command_path

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("SCANNS_TEST_DATA", ROOT / ".." / "shared" / "data"))

WORDS = ["license", "warranty", "index", "search", "disk", "tape", "node", "quota", "draft", "plan"]


def command(*words: str | os.PathLike[str]) -> str:
    """What the command prints."""
    done = subprocess.run([command_path(), *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def command_json(*words: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The objects that the command prints with --json."""
    return [json.loads(line) for line in command(*words, "--json").splitlines()]


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scanns")


@pytest.fixture(scope="session")
def notes(place: Path) -> Path:
    """An index of files of text, with hostile names."""
    folder = place / "notes"
    folder.mkdir()
    for number in range(120):
        own = [word for at, word in enumerate(WORDS) if (number >> (at % 7)) & 1 or number % (at + 2) == 0]
        text = " ".join(own * (1 + number % 3)) + f" number{number}\n"
        (folder / f"note-{number:03}.{'md' if number % 3 else 'txt'}").write_text(text)
    (folder / "<img src=x onerror=alert(1)>.txt").write_text("license of a hostile name\n")
    (folder / "a\u202ecod.txt").write_text("license of a turned name\n")
    with open(os.fsencode(folder) + b"/bad-\xff.txt", "w") as file:
        file.write("license of a name that is not text\n")
    path = place / "notes.scanns"
    report = scanns.build(folder, path, store="content", positions=True, vectors=True, progress=False)
    assert report.complete and report.documents == 123
    return path


@pytest.fixture(scope="session")
def index(notes: Path) -> scanns.Index:
    return scanns.open(notes)


@pytest.fixture(scope="session")
def tree(place: Path) -> Path:
    """An index of a file system."""
    folder = place / "tree"
    for owner in ("ann", "bob"):
        for number in range(20):
            (folder / owner / f"run{number % 4}").mkdir(parents=True, exist_ok=True)
            name = f"out{number}.{'h5' if number % 2 else 'log'}"
            (folder / owner / f"run{number % 4}" / name).write_bytes(b"x" * (number * 1000))
    path = place / "tree.scanns"
    scanns.build(folder, path, content="none", progress=False)
    return path


SCHEMA = {
    "text": scanns.Field.text(positions=True, stored=True, default=True),
    "author": scanns.Field.keyword(stored=True),
    "tags": scanns.Field.keyword(),
    "size": scanns.Field.unsigned(),
    "delta": scanns.Field.signed(),
    "weight": scanns.Field.float(),
    "read": scanns.Field.boolean(),
    "when": scanns.Field.date(),
    "raw": scanns.Field.bytes(),
}


@pytest.fixture
def mail(tmp_path: Path) -> Iterator[Path]:
    """An index of documents of all types."""
    import datetime

    path = tmp_path / "mail.scanns"
    with scanns.Writer(path, SCHEMA) as writer:
        writer.add(
            {
                "key": f"mail-{number}",
                "text": f"{WORDS[number % 10]} and {WORDS[number % 7]} of mail {number}",
                "author": ["ann", "bob", "cleo"][number % 3],
                "tags": ["a", "b"][: number % 3],
                "size": number * 100,
                "delta": 50 - number,
                "weight": number / 4,
                "read": number % 2 == 0,
                "when": datetime.datetime(2024, 1 + number % 12, 1, tzinfo=datetime.timezone.utc),
                "raw": bytes([number]),
            }
            for number in range(100)
        )
    yield path
