"""Builds and other work of the command."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import typing
from pathlib import Path

import pytest
from conftest import command, command_json

import scanns
from scanns._command import arguments, command_path
from scanns._work import _OPPOSITES, BuildOptions, InputOptions


def test_the_options_are_those_of_the_command() -> None:
    for verb, options, own in (
        ("index", BuildOptions, {"help", "null", "output", "json", "quiet", "infer-schema", "dump-preview"}),
        ("tune", InputOptions, {"help", "null", "json", "budget", "out", "scratch"}),
    ):
        names = set(re.findall(r"^ {2,6}(?:-., )?--([a-z-]+)", command(verb, "--help"), re.M))
        ours = {name.replace("_", "-") for name in set(typing.get_type_hints(options)) - set(_OPPOSITES)}
        assert names - own == ours
    assert set(_OPPOSITES) | set(_OPPOSITES.values()) <= set(typing.get_type_hints(BuildOptions))
    # These have no opposite: threads are pinned anyway, and that a dump has no ACLs is a statement.
    without = {"no_pin", "dump_no_acls"}
    assert {name for name in typing.get_type_hints(BuildOptions) if "no_" in name} - without == set(
        _OPPOSITES.values()
    )


def test_arguments_are_written_as_the_command_reads_them() -> None:
    given = {"skip_hidden": True, "follow": False, "key": None, "exclude": ["*.o", "-x"], "memory": 5, "schema": Path("a")}
    assert arguments(given) == ["--skip-hidden", "--exclude=*.o", "--exclude=-x", "--memory=5", "--schema=a"]


def test_a_build_is_the_one_of_the_command(tmp_path: Path, notes: Path) -> None:
    folder = notes.parent / "notes"
    report = scanns.build(
        [folder], tmp_path / "a.scanns", exclude=["*.md"], include="*", memory="256MiB", threads=1, progress=False
    )
    command("index", "-o", tmp_path / "b.scanns", "--exclude", "*.md", folder)
    ours, theirs = (command_json("info", tmp_path / f"{name}.scanns")[0] for name in "ab")
    for name in ("documents", "tokens", "records", "analyzer"):
        assert ours[name] == theirs[name]
    assert report.documents == ours["documents"] == report["documents"] and "documents" in report._repr_html_()
    assert scanns.build(folder, tmp_path / "a.scanns", exclude="*.md", progress=False).unchanged == report.documents
    listed = scanns.build([], tmp_path / "c.scanns", files_from=sorted(folder.glob("*.txt")), progress=False)
    assert listed.documents == len(list(folder.glob("*.txt")))


def test_records_with_a_schema(tmp_path: Path) -> None:
    (tmp_path / "people.jsonl").write_text('{"name": "Ann", "born": 1980}\n{"name": "Bob", "born": 1990}\n')
    schema = scanns.Schema({"name": scanns.Field.keyword(), "born": "unsigned"})
    scanns.build(tmp_path / "people.jsonl", tmp_path / "p.scanns", records="jsonl", schema=schema, progress=False)
    index = scanns.open(tmp_path / "p.scanns")
    assert index.count("name:Ann") == 1 and index.aggregate(stats="born").stats["born"].sum == 3970
    table = scanns.Schema.infer([{"a": 1}])._repr_html_()
    assert "signed" in table


def test_progress_is_reported(tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"words {number} in a line of text\n" for number in range(1_500_000)))
    seen: list[scanns.Progress] = []
    scanns.build(lines, tmp_path / "l.scanns", records="lines", threads=1, progress=seen.append)
    assert seen and seen[-1].total_bytes >= seen[-1].bytes and "documents" in str(seen[-1])
    assert "<progress" in seen[-1]._repr_html_() and seen[-1].seconds > 0


def test_an_exception_in_progress_stops_the_build_and_it_resumes(tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"words {number} in a line of text\n" for number in range(1_500_000)))

    def stop(progress: scanns.Progress) -> None:
        if progress.documents > 0:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        scanns.build(lines, tmp_path / "l.scanns", records="lines", threads=1, progress=stop)
    assert scanns.check(tmp_path / "l.scanns", progress=False).complete
    report = scanns.build(lines, tmp_path / "l.scanns", records="lines", progress=False)
    assert len(scanns.open(tmp_path / "l.scanns")) == 1_500_000 and report.complete


def test_ctrl_c_stops_a_build_with_everything_committed(tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"words {number} in a line of text\n" for number in range(1_000_000)))
    script = (
        "import sys, scanns\n"
        "try:\n"
        "    scanns.build(sys.argv[1], sys.argv[2], records='lines', threads=1,\n"
        "        progress=lambda p: print(p.documents, flush=True))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', len(scanns.open(sys.argv[2])))\n"
    )
    words = [sys.executable, "-c", script, str(lines), str(tmp_path / "l.scanns")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) > 0:
                break
        process.send_signal(signal.SIGINT)
        last = process.stdout.read().splitlines()[-1]
    assert process.returncode == 0 and re.fullmatch(r"interrupted \d+", last), last
    assert scanns.check(tmp_path / "l.scanns", progress=False).complete


def test_failed_inputs_are_a_warning_and_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("good")
    with pytest.warns(scanns.IncompleteWarning, match=r"^1 input failed: .*gone\.txt: No such file"):
        report = scanns.build([tmp_path / "good.txt", tmp_path / "gone.txt"], tmp_path / "x.scanns", progress=False)
    assert not report.complete and report.failures[0]["path"].endswith("gone.txt")
    gone = [tmp_path / "good.txt", tmp_path / "gone.txt", tmp_path / "gone2.txt"]
    with pytest.warns(scanns.IncompleteWarning, match=r"^2 inputs failed; the first is .*gone.*: No such.*Report.failures"):
        scanns.build(gone, tmp_path / "z.scanns", progress=False)
    assert repr(report) == "<scanns.Report: 1 document, 1 failed, not complete>"
    with pytest.raises(scanns.errors.InputError, match="nothing to index"):
        scanns.build(tmp_path / "gone.txt", tmp_path / "y.scanns", progress=False)
    with pytest.raises(scanns.errors.InvalidValueError, match="did you mean skip_hidden"):
        scanns.build(tmp_path, tmp_path / "y.scanns", skip_hiden=True, progress=False)  # type: ignore[call-arg]
    with pytest.raises(scanns.errors.NotAnIndexError):
        scanns.merge(tmp_path / "none.scanns", progress=False)


def test_merge_check_and_salvage(tmp_path: Path, mail: Path) -> None:
    with scanns.Writer(mail) as writer:
        writer.add({"key": "one-more", "text": "another segment"})
    assert scanns.check(mail, level="checksums", progress=False).complete
    assert scanns.merge(mail, progress=False)["segments"] == 1 or len(scanns.open(mail).segments()) == 1
    largest = max(mail.glob("*.seg"), key=lambda path: path.stat().st_size)
    damaged = bytearray(largest.read_bytes())
    damaged[len(damaged) // 3] ^= 255
    os.chmod(largest, 0o644)
    largest.write_bytes(damaged)
    report = scanns.check(mail, progress=False)
    assert not report.complete and report.lost == 101
    scanns.check(mail, salvage=True, progress=False)
    assert len(scanns.open(mail)) == 0


def test_a_missing_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCANNS_COMMAND", str(tmp_path / "none"))
    with pytest.raises((scanns.errors.CommandError, FileNotFoundError)):
        scanns.check(tmp_path, progress=False)


def test_file_systems(tree: Path) -> None:
    index = scanns.open(tree)
    folder = tree.parent / "tree"
    expected = command("find", tree, folder, "-size", "+10k", "-name", "*.h5").splitlines()
    assert sorted(index.find(folder, "-size", "+10k", "-name", "*.h5")) == sorted(expected)
    assert len(index.find("-name", "*.h5", "-o", "-name", "*.log")) == 40
    assert index.find(folder, "-type", "d", "-printf", "%f\n", limit=1) == ["tree"]
    lines = command("du", tree, "-b", "-d", "1", folder).splitlines()
    usage = index.du(folder, apparent_size=True, max_depth=1)
    assert [f"{line.sum}\t{line.name}" for line in usage] == lines
    by = index.du(folder, by="ext", apparent_size=True)
    assert by.to_dict()["h5"] == 200_000 and by.to_pandas()["sum"].sum() == by.total
    assert index.du(folder, inodes=True, summarize=True)[0].sum == int(command("du", tree, "--inodes", "-s", folder).split()[0])
    assert index.du(folder, time="mtime", summarize=True)[0].time is not None
    with pytest.warns(scanns.IncompleteWarning, match="not in the index"):
        index.du("/nonexistent")
    with pytest.raises(scanns.errors.QueryError):
        index.find("-nme", "x")
    assert index.coverage()[0]["complete"] and index.info()["entries"]


def test_tuning_writes_a_profile(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(20):
        (tmp_path / "in" / f"{number}.txt").write_text("words of a file\n" * 2000)
    report = scanns.tune(tmp_path / "in", budget=1, out=tmp_path / "profile.toml", scratch=tmp_path)
    assert (tmp_path / "profile.toml").exists() and len(report) > 0
    scanns.build(tmp_path / "in", tmp_path / "x.scanns", profile=tmp_path / "profile.toml", progress=False)
    assert command_path().endswith("scanns") and time.time() > 0
