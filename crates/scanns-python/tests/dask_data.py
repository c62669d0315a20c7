"""What the tests of shards on a Dask cluster share: records, the single index of them, plans and queries."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from conftest import WORDS, command

import scanns
from scanns import Q

RECORDS = 3000


@pytest.fixture(scope="module")
def data(request: pytest.FixtureRequest, place: Path) -> Path:
    """Files of records, with words, numbers, dates, several values and values that are missing."""
    folder = place / f"records-{request.module.__name__}"
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
    path = place / f"{data.name}.scanns"
    command("index", "-o", path, *OPTIONS, "--quiet", data)
    return scanns.open(path)


def planned(place: Path, data: Path, name: str, shards: int) -> Path:
    """A plan for an index of its own."""
    path = place / f"{name}.json"
    command("plan", "-o", path, "--shards", str(shards), "--chunk-size", "4KiB", *OPTIONS, data)
    return path


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
