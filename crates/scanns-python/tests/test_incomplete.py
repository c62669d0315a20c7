"""What answers and indexes lack is said, in the words of the command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import scanns
from scanns._command import command_path

# A tree of which two directories could not be read, and one was left out.
GAPS = """[1,2,{"progname":"ncdu"},[{"name":"/r"},
[{"name":"a"},{"name":"f","asize":10}],
[{"name":"locked","read_error":true}],
[{"name":"b"},[{"name":"deep","read_error":true}],{"name":"other","excluded":"othfs"}]]]"""


def notes_of(*words: str | os.PathLike[str]) -> list[str]:
    """What the command says on standard error, without where it tells more."""
    environment = {**os.environ, "SCANNS_MESSAGES": "json"}
    done = subprocess.run([command_path(), *map(str, words)], capture_output=True, text=True, env=environment)
    messages = [json.loads(line) for line in done.stderr.splitlines()]
    return [plain(message["note"]) for message in messages if "note" in message]


def plain(note: str) -> str:
    """A note without the parts in which the command and Python speak of their own options."""
    note = re.sub(r"; (scanns info .* --completeness|Index\.coverage\(\)) tells more$", "", note)
    return re.sub(r"(regular files alone): .*", r"\1", note)


def told(ask: Callable[[], object]) -> list[str]:
    """The warnings that an answer gives."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ask()
    assert all(issubclass(one.category, scanns.IncompleteWarning) for one in seen)
    assert all(one.filename == __file__ for one in seen), [one.filename for one in seen]
    return [plain(str(one.message)) for one in seen]


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of a dump that was not read everywhere."""
    place = tmp_path_factory.mktemp("gaps")
    (place / "d.ncdu").write_text(GAPS)
    with pytest.warns(scanns.IncompleteWarning, match="2 paths could not be read"):
        scanns.build(place / "d.ncdu", place / "gaps.scanns", dump="ncdu", progress=False)
    return place / "gaps.scanns"


def test_an_index_says_that_entries_may_be_missing(gaps: Path, mail: Path) -> None:
    index = scanns.open(gaps)
    assert not index.complete and len(index.missing) == 1
    assert index.missing == notes_of("search", gaps, "name:f")
    assert index.missing[0].startswith("entries may be missing: 2 paths could not be read; the first is /r/locked: ")
    whole = scanns.open(mail)
    assert whole.complete and whole.missing == [] and told(lambda: whole.search("mail")) == []


@pytest.mark.parametrize("how", ["search", "count", "export", "aggregate", "groups", "search_many"])
def test_the_first_answer_warns_once(gaps: Path, how: str) -> None:
    index = scanns.open(gaps)
    questions: dict[str, Callable[[], object]] = {
        "search": lambda: index.search("name:f"),
        "count": lambda: index.count("name:f"),
        "export": lambda: index.export(),
        "aggregate": lambda: index.aggregate(facets="ext"),
        "groups": lambda: index.groups("*", "ext"),
        "search_many": lambda: index.search_many(["name:f", "name:g"]),
    }
    with pytest.warns(scanns.IncompleteWarning, match="2 paths could not be read.*coverage"):
        questions[how]()
    assert all(told(question) == [] for question in questions.values())


@pytest.mark.parametrize(
    "words",
    [["/r"], [], ["/r/b"], ["/r/b", "-maxdepth", "1"], ["/r/a"], ["/r/locked"], ["/r/b/other"], ["/none"], ["/r", "/r/none"]],
)
def test_find_and_du_say_what_the_command_says(gaps: Path, words: list[str]) -> None:
    index = scanns.open(gaps)
    assert told(lambda: index.find(*words)) == notes_of("find", gaps, *words)
    if words and "-maxdepth" not in words:
        assert told(lambda: index.du(*words)) == notes_of("du", gaps, *words)
        # A file system is asked about again and again, so each answer says it.
        assert told(lambda: index.du(*words, by="ext")) == notes_of("du", gaps, "--by", "ext", *words)


@pytest.mark.parametrize("path", ["tmp", "tmp/x/deep", "", "a", "objects"])
def test_places_that_a_scan_left_out_are_named(tmp_path: Path, path: str) -> None:
    for name in ("a/f.txt", "tmp/x/deep", "tmp/y", "objects/only.o"):
        (tmp_path / "r" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "r" / name).write_text("text")
    target = tmp_path / "part.scanns"
    scanns.build(tmp_path / "r", target, content="none", exclude=["tmp/", "*.o"], progress=False)
    index, asked = scanns.open(target), tmp_path / "r" / path
    notes = told(lambda: index.find(asked))
    assert notes == notes_of("find", target, asked) and told(lambda: index.du(asked)) == notes_of("du", target, asked)
    assert any("was left out of the scan" in note for note in notes) == (path in ("tmp", "tmp/x/deep", "objects"))
    assert index.complete


def test_a_scan_that_was_stopped_is_not_complete(tmp_path: Path) -> None:
    for name in ("a/f.txt", "b/g.txt"):
        (tmp_path / "r" / name).parent.mkdir(parents=True)
        (tmp_path / "r" / name).write_text("text")
    target = tmp_path / "part.scanns"
    with pytest.raises(scanns.errors.CancelledError):
        scanns.build(tmp_path / "r", target, content="none", time_limit=1, max_ops=1, progress=False)
    index = scanns.open(target)
    assert index.missing == [f"entries may be missing: the scan of {tmp_path / 'r'} was stopped"]
    with pytest.warns(scanns.IncompleteWarning, match="was stopped"):
        index.count("*")
    assert told(lambda: index.find(tmp_path / "r")) == notes_of("find", target, tmp_path / "r")


def test_an_index_of_text_says_that_it_has_files_alone(tmp_path: Path) -> None:
    (tmp_path / "r/d").mkdir(parents=True)
    (tmp_path / "r/d/f.txt").write_text("text")
    scanns.build(tmp_path / "r", tmp_path / "t.scanns", progress=False)
    index = scanns.open(tmp_path / "t.scanns")
    for words in (["-type", "d"], [tmp_path / "r/d"], [tmp_path / "none"]):
        assert told(lambda words=words: index.find(*words)) == notes_of("find", tmp_path / "t.scanns", *words)
    assert told(lambda: index.du(tmp_path / "r")) == notes_of("du", tmp_path / "t.scanns", tmp_path / "r")
    with pytest.warns(scanns.IncompleteWarning, match='content="none"'):
        index.find("-type", "d")
