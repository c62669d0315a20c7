"""Wrong arguments are named at the call, with what is expected."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import scanns
from scanns.errors import FieldError, InvalidValueError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nonsense": False}, r"build\(\) has no option 'nonsense'; scanns index --help"),
        ({"nonsense": None}, r"build\(\) has no option 'nonsense'"),
        ({"position": True}, r"build\(\) has no option 'position': did you mean positions"),
        ({"skip_hiden": True}, "did you mean skip_hidden"),
        ({"quiet": True}, r"build\(\) has no option 'quiet': use progress=False"),
        ({"positions": "yes"}, r"positions: 'yes' \(str\): give True or False"),
        ({"skip_hidden": 1}, r"skip_hidden: 1 \(int\): give True or False"),
        ({"decompress": True, "no_decompress": True}, "contradicts"),
        ({"memory": "abc"}, "^invalid value 'abc' for 'memory': 'abc' is not a size.*512MiB$"),
        ({"records": "jsonx"}, "'jsonx' for 'records' .*possible values: auto, file.* tip: .*'jsonl'$"),
    ],
)
def test_wrong_options_of_builds(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(InvalidValueError, match=message) as failed:
        scanns.build(tmp_path / "a.txt", tmp_path / "x.scanns", progress=False, **options)
    assert "Usage" not in str(failed.value) and "--position" not in str(failed.value)
    assert not (tmp_path / "x.scanns").exists()


def test_builds_of_nothing_and_wrong_paths(tmp_path: Path) -> None:
    for paths in ([], ()):
        with pytest.raises(InvalidValueError, match="paths: there are none: give files or directories, or files_from"):
            scanns.build(paths, tmp_path / "x.scanns", progress=False)
    with pytest.raises(InvalidValueError, match=r"path: 3 \(int\): give a path"):
        scanns.build(3, tmp_path / "x.scanns", progress=False)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match=r"path: 3 \(int\): give a path"):
        scanns.open(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="tune"):
        scanns.tune(tmp_path, schema="x")  # type: ignore[call-arg]
    (tmp_path / "a.txt").write_text("word")
    scanns.build(bytes(tmp_path / "a.txt"), bytes(tmp_path / "b.scanns"), progress=False)
    assert scanns.open(bytes(tmp_path / "b.scanns")).count("word") == 1


def test_compressed_files_are_read_as_they_are_both_ways(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"word"))
    counts = {}
    for name, options in {"on": {}, "off": {"decompress": False}, "no": {"no_decompress": True}, "yes": {"decompress": True}}.items():
        path = tmp_path / f"{name}.scanns"
        scanns.build(tmp_path / "a.txt.gz", path, progress=False, **options)  # type: ignore[arg-type]
        counts[name] = scanns.open(path).count("word")
    assert counts == {"on": 1, "off": 0, "no": 0, "yes": 1}


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda index: index.search("a", k="10"), r"k: '10' \(str\): give a whole number from 0"),
        (lambda index: index.search("a", k=-1), r"k: -1 \(int\): give a whole number from 0"),
        (lambda index: index.search("a", k=None), r"k: None \(NoneType\): give a whole number"),
        (lambda index: index.search("a", k=2.5), r"k: 2.5 \(float\): give a whole number"),
        (lambda index: index.search("a", timeout="1"), r"timeout: '1' \(str\): give seconds"),
        (lambda index: index.count("a", timeout="1"), r"timeout: '1' \(str\): give seconds"),
        (lambda index: index.groups("a", "ext", k="1"), r"k: '1' \(str\)"),
        (lambda index: index.groups("a", "ext", hits="1"), r"hits: '1' \(str\)"),
        (lambda index: index.search("a", collapse="5"), r"collapse: '5' \(str\)"),
        (lambda index: index.search(3), r"query: 3 \(int\): give a text, a scanns.Q, or a dictionary"),
        (lambda index: index.search(b"a"), r"query: b'a' \(bytes\)"),
        (lambda index: index.search("a", model=3), r"model: 3 \(int\): give a name such as 'bm25'"),
        (lambda index: index.search("a", sort=3), r"sort: 3 \(int\): give a text"),
        (lambda index: index.search("a", fields=3), r"fields: 3 \(int\): give a text"),
        (lambda index: index.export(batch_rows=0), r"batch_rows: 0 \(int\): give a whole number from 1"),
        (lambda index: index.export(binary="sise"), "binary: 'sise' is not exported; the fields are: _key, "),
        (lambda index: scanns.Model("bm52"), "unknown model.*bm52.*bm25, tf-idf"),
        (lambda index: scanns.Model("bm25", k2=3), "parameters of bm25: k1, b"),
        (lambda index: scanns.Model("bm25", k1="x"), r"model: k1='x' \(str\): give a number"),
        (lambda index: scanns.Model(3), r"model: 3 \(int\): give a name"),
        (lambda index: scanns.Writer("x", {"x": "double"}), "'double' .*called float: use text, keyword, unsigned"),
    ],
)
def test_wrong_arguments_are_named(index: scanns.Index, question: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        question(index)


def test_numbers_of_other_kinds_are_accepted(index: scanns.Index) -> None:
    numpy = pytest.importorskip("numpy", reason="SKIPPED: pip install numpy")
    assert len(index.search("license", k=numpy.int64(3), timeout=numpy.float64(5))) == 3
    assert len(index.search("license", k=0)) == 0 and index.search("license", timeout=5).count() > 0
    for timeout in (-1, float("nan"), 1e300):
        with pytest.raises(InvalidValueError, match="timeout"):
            index.search("license", timeout=timeout)


def test_fields_of_exports_are_texts_or_lists_and_checked_at_the_call(index: scanns.Index) -> None:
    assert index.export(fields="size, ext").fields == index.export(fields=["size", "ext"]).fields == ["size", "ext"]
    assert index.export(fields="_key").fields == ["_key"]
    for fields in ("exts", ["exts"], ["size", "exts"]):
        with pytest.raises(FieldError, match="no field 'exts' is a column or stored; such fields are: .*ext"):
            index.export(fields=fields)


def test_the_help_of_builds_names_options() -> None:
    import typing

    named = set(re.findall(r"``([a-z_]+)[=`]", scanns.build.__doc__ or "")) - {"options", "progress", "like", "search"}
    assert {"skip_hidden", "exclude", "positions", "content", "decompress"} <= named
    assert named <= set(typing.get_type_hints(scanns.BuildOptions))
