"""Documents from programs."""

from __future__ import annotations

import datetime
import pickle
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import SCHEMA, command_json

import scanns
from scanns import Q

# Not every Python has wheels of all.
pandas = pytest.importorskip("pandas", reason="SKIPPED: pip install pandas")
polars = pytest.importorskip("polars", reason="SKIPPED: pip install polars")
pyarrow = pytest.importorskip("pyarrow", reason="SKIPPED: pip install pyarrow")


def test_values_of_all_types_come_back(mail: Path) -> None:
    index = scanns.open(mail)
    document = index.document("mail-7")
    assert document == {
        "_key": "mail-7",
        "text": "quota and license of mail 7",
        "author": "bob",
        "tags": "a",
        "size": 700,
        "delta": 43,
        "weight": 1.75,
        "read": False,
        "when": datetime.datetime(2024, 8, 1, tzinfo=datetime.timezone.utc),
        "raw": b"\x07",
    }
    assert index.document("mail-8")["tags"] == ["a", "b"]  # type: ignore[index]
    assert index.count('"license of mail"') > 0 and index.count("author:ann") == 34
    assert index.count(Q.field("when") >= datetime.date(2024, 6, 1)) == index.count("when:>=2024-06-01")
    (info,) = command_json("info", mail)
    assert info["documents"] == 100


def test_changes_are_visible_after_a_commit(mail: Path) -> None:
    before = scanns.open(mail)
    with scanns.Writer(mail) as writer:
        writer.update({"key": "mail-1", "text": "changed", "size": 1})
        writer.delete("mail-2")
        writer.delete(query="author:cleo")
        writer.delete(query=Q.field("size") > 9000)
        writer.set("mail-3", size=12345, read=None)
        writer.note("version", b"7")
        assert len(scanns.open(mail)) == 100
        assert writer.commit() == 3
    after = before.reopen()
    assert len(before) == 100 and after.generation == 3 and after.reopen() is after
    assert after.note("version") == b"7"
    assert after.count("text:changed") == 1 and after.hit("mail-2") is None
    assert after.count("author:cleo") == 0 and after.count(Q.field("size") > 9000) == 1
    assert after.hit("mail-3").fields("size", "read") == {"size": 12345, "read": None}  # type: ignore[union-attr]


def test_blocks_become_visible_together_and_replace_as_documents_do(mail: Path) -> None:
    def block(*keys: str, text: str = "block") -> list[dict[str, Any]]:
        return [{"key": key, "author": key, "text": f"{text} {number}"} for number, key in enumerate(keys)]

    def texts(index: scanns.Index, key: str) -> list[Any]:
        return sorted(hit.fields("text")["text"] for hit in index.search(f'author:"{key}"'))

    with scanns.Writer(mail) as writer:
        assert writer.add_block([]) == 0
        # Documents of one block with equal keys stay; earlier ones go, committed or not.
        assert writer.add_block(iter(block("mail-1", "new", "new"))) == 3
        assert texts(writer.snapshot(), "mail-1") == ["block 0"]
        assert texts(writer.snapshot(), "new") == ["block 1", "block 2"]
        assert writer.add_block(block("new", "other", text="again")) == 2
        assert texts(writer.snapshot(), "new") == ["again 0"]
        writer.add({"key": "other", "author": "other", "text": "alone"})
        assert texts(writer.snapshot(), "other") == ["alone"]
        assert writer.add_block(block("other", text="beside"), replace=False) == 1
        assert texts(writer.snapshot(), "other") == ["alone", "beside 0"]
        # A query says what a block replaces instead.
        writer.add_block(block("thread", "reply-1", "reply-2"))
        replies = Q.field("author").is_in(["thread", "reply-1", "reply-2"])
        assert writer.add_block(block("thread", "reply-3", text="fewer"), replace=replies) == 2
        assert texts(writer.snapshot(), "thread") == ["fewer 0"] and texts(writer.snapshot(), "reply-1") == []
        with pytest.raises(scanns.errors.InvalidValueError):
            writer.add_block([{"key": "thread", "size": -1}], replace="author:thread")
        assert writer.add_block(block("reply-3"), replace="author:thread") == 1
        assert texts(writer.snapshot(), "thread") == [] and len(texts(writer.snapshot(), "reply-3")) == 2
        assert writer.add_block([], replace="author:reply-3") == 0
        assert texts(writer.snapshot(), "reply-3") == []
        with pytest.raises(scanns.errors.InvalidValueError, match="replace: .*give True, False"):
            writer.add_block(block("x"), replace=3)  # type: ignore[arg-type]
        # Nothing of a block is added if one document is refused.
        before = writer.snapshot().count(Q.all())
        with pytest.raises(scanns.errors.InvalidValueError, match="document 1: .*size"):
            writer.add_block([{"key": "a", "text": "x"}, {"key": "b", "size": -1}])
        assert writer.snapshot().count(Q.all()) == before
        assert writer.delete("new") == 1 and writer.delete("other") == 2
    assert scanns.open(mail).count(Q.all()) == 100


def test_threads_that_add_blocks_with_the_same_keys_leave_one_block(mail: Path) -> None:
    keys = [f"shared-{number}" for number in range(8)]

    def add(name: int) -> None:
        for turn in range(20):
            order = random.Random(name * 100 + turn).sample(keys, len(keys))
            writer.add_block([{"key": key, "text": f"thread{name}x{turn}"} for key in order])

    with scanns.Writer(mail) as writer:
        threads = [threading.Thread(target=add, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    index = scanns.open(mail)
    assert len(index) == 108
    (text,) = {hit.fields("text")["text"] for hit in index.search(Q.prefix("thread"), 100)}
    assert index.count(text) == 8


def test_an_exception_discards_what_was_not_committed(mail: Path) -> None:
    with pytest.raises(ZeroDivisionError), scanns.Writer(mail) as writer:
        writer.add({"key": "new", "text": "new"})
        1 / 0  # noqa: B018
    assert len(scanns.open(mail)) == 100
    with pytest.raises(scanns.errors.UnsupportedError, match="closed"):
        writer.add({"key": "new", "text": "new"})


def test_documents_that_do_not_fit_are_refused_with_their_number(mail: Path) -> None:
    with scanns.Writer(mail) as writer:
        wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
            ({"key": "x", "titel": "a"}, scanns.errors.FieldError, "no field 'titel'"),
            ({"key": "x", "size": -1}, scanns.errors.InvalidValueError, "field 'size' holds whole numbers from 0"),
            ({"key": "x", "size": "big"}, scanns.errors.InvalidValueError, "not str"),
            ({"key": "x", "when": "tomorrow"}, scanns.errors.InvalidValueError, "dates"),
            ({"text": "x"}, scanns.errors.InvalidValueError, "no 'key'"),
            ({"key": "", "text": "x"}, scanns.errors.InvalidValueError, "key"),
        ]
        for document, kind, message in wrong:
            with pytest.raises(kind, match=message) as failed:
                writer.add([{"key": "good", "text": "good"}, document])
            notes = getattr(failed.value, "__notes__", [])
            assert "document 1" in str(failed.value) or any("document 1" in note for note in notes)
        with pytest.raises(scanns.errors.InvalidValueError, match="dictionary"):
            writer.add(["text"])
    assert scanns.open(mail).count("text:good") == 1


def test_a_snapshot_of_a_writer_shows_what_is_not_committed(mail: Path) -> None:
    committed = scanns.open(mail)
    with scanns.Writer(mail) as writer:
        same = writer.snapshot()
        assert same.committed and len(same) == 100 and same.generation == committed.generation
        writer.add({"key": "mail-1", "text": "changed", "size": 1})
        writer.add({"key": "new", "text": "fresh", "author": "dan"})
        writer.delete("mail-2")
        writer.delete(query="author:cleo")
        writer.set("mail-3", size=12345)
        snapshot = writer.snapshot(threads=1)
        assert not snapshot.committed and "not committed" in repr(snapshot)
        assert len(scanns.open(mail)) == 100 and len(committed) == 100
        with pytest.raises(scanns.errors.UnsupportedError, match="commit"):
            pickle.dumps(snapshot)
        writer.commit()
        after = scanns.open(mail)
        assert snapshot.reopen().generation == after.generation
        for query in ["text:changed", "fresh", "author:cleo", "size:>9000", "license of mail", "*"]:
            assert snapshot.count(query) == after.count(query)
            found, expected = (index.search(query, 1000) for index in (snapshot, after))
            assert found.keys == expected.keys and found.scores == expected.scores
        assert snapshot.hit("mail-2") is None
        assert snapshot.hit("mail-3").fields("size") == {"size": 12345}  # type: ignore[union-attr]
        writer.add({"key": "gone", "text": "soon"})
        late = writer.snapshot()
        writer.roll_back()
    assert late.count("soon") == 1 and snapshot.count("soon") == 0 and scanns.open(mail).count("soon") == 0
    with pytest.raises(scanns.Error, match="closed"):
        writer.snapshot()


def keys_of(path: Path) -> list[str]:
    return sorted(scanns.open(path).search("*", 100_000, sort="key").keys)


@pytest.mark.parametrize("form", ["dictionaries", "table"])
@pytest.mark.parametrize("bad", [0, 1, 255, 256, 300, 699])
def test_all_documents_before_a_wrong_one_are_added(tmp_path: Path, form: str, bad: int) -> None:
    rows = [{"key": f"{number:03}", "size": -1 if number == bad else number} for number in range(700)]
    given: Any = rows if form == "dictionaries" else pyarrow.Table.from_pylist(rows)
    with scanns.Writer(tmp_path / "w.scanns", {"text": "text", "size": "unsigned"}) as writer:
        with pytest.raises(scanns.Error, match=f"document {bad}: .*size"):
            writer.add(given)
    assert keys_of(tmp_path / "w.scanns") == [f"{number:03}" for number in range(bad)]


def test_a_generator_that_fails_keeps_what_it_gave(tmp_path: Path) -> None:
    def documents() -> Any:
        yield from ({"key": number, "text": "a"} for number in range(300))
        raise RuntimeError("no more")

    with scanns.Writer(tmp_path / "w.scanns", {"text": "text"}) as writer:
        with pytest.raises(RuntimeError, match="no more"):
            writer.add(documents())
    assert len(scanns.open(tmp_path / "w.scanns")) == 300


def test_changes_agree_with_a_dictionary(tmp_path: Path) -> None:
    """Random additions, deletions, settings and commits, compared with lists of documents by key."""
    seed = random.randrange(1 << 30)
    print("seed", seed)
    numbers = random.Random(seed)
    path = tmp_path / "w.scanns"
    expected: dict[str, list[int]] = {}
    writer = scanns.Writer(path, {"text": "text", "size": "unsigned"})
    for step in range(600):
        key = f"k{numbers.randrange(30)}"
        what = numbers.choice(["add", "add", "keep", "delete", "set", "commit", "open"])
        if what in ("add", "keep"):
            form: Any = {"key": key, "size": step} if numbers.random() < 0.7 else pyarrow.table({"key": [key], "size": [step]})
            assert writer.add(form, replace=what == "add") == 1
            expected[key] = [*(expected.get(key, []) if what == "keep" else []), step]
        elif what == "delete":
            assert writer.delete(key) == len(expected.pop(key, [])), (step, key)
        elif what == "set":
            count = len(expected.get(key, []))
            assert writer.set(key, size=step) == count, (step, key)
            if count:
                expected[key] = [step] * count
        elif numbers.random() < 0.3:
            writer.commit()
            found = scanns.open(path).export(fields="_key,size").rows()
            assert sorted((row["_key"], row["size"]) for row in found) == sorted(
                (key, size) for key, sizes in expected.items() for size in sizes
            )
            if what == "open":
                writer.close()
                writer = scanns.Writer(path)
    writer.roll_back()


def test_threads_with_the_same_keys_leave_one_document_of_each(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with scanns.Writer(tmp_path / "w.scanns", {"text": "text"}) as writer, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda part: writer.add({"key": n, "text": f"of {part}"} for n in range(500)), range(8)))
    assert len(scanns.open(tmp_path / "w.scanns")) == 500


def test_changes_return_the_number_of_documents(mail: Path) -> None:
    with scanns.Writer(mail) as writer:
        assert writer.set("mail-77x", size=1) == 0 and writer.set("mail-77", size=1, read=None) == 1
        assert writer.delete("mail-77") == 1 and writer.delete("mail-77") == 0
        assert writer.delete(query="author:cleo") == 33 and writer.delete(query=Q.term("nothing")) == 0
        with pytest.raises(scanns.errors.InvalidValueError, match="set: name at least one field"):
            writer.set("mail-1")
        with pytest.raises(scanns.errors.InvalidValueError, match=r"query: 3 \(int\)"):
            writer.delete(query=3)  # type: ignore[arg-type]


def test_a_writer_that_is_closed_with_changes_warns(mail: Path) -> None:
    import gc
    import warnings

    writer = scanns.Writer(mail)
    writer.add([{"key": "new", "text": "new"}, {"key": "newer", "text": "new"}])
    writer.delete("mail-1")
    with pytest.warns(ResourceWarning, match="2 added documents and 1 other change not committed: commit") as warned:
        writer.close()
    assert warned[0].filename == __file__
    writer = scanns.Writer(mail)
    writer.delete("mail-1")
    with pytest.warns(ResourceWarning, match="1 other change not committed"):
        del writer
        gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer = scanns.Writer(mail)
        writer.add({"key": "new", "text": "new"})
        writer.roll_back()
        writer = scanns.Writer(mail)
        writer.add({"key": "new", "text": "new"})
        writer.commit()
        writer.close()
        with scanns.Writer(mail) as writer:
            writer.add({"key": "newest", "text": "new"})
        del writer
        gc.collect()
    assert len(scanns.open(mail)) == 102


def test_schemas_are_inferred_checked_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "new.scanns"
    with scanns.Writer(path) as writer:
        writer.add([{"key": 1, "title": "a title", "n": 1, "x": 1}, {"key": 2, "x": 1.5, "ok": True, "day": datetime.date(2024, 1, 2)}])
    index = scanns.open(path)
    assert {name: field["type"] for name, field in index.fields.items()} == {
        "title": "text", "n": "signed", "x": "float", "ok": "boolean", "day": "date",
    }
    assert index.document("2")["day"].day == 2  # type: ignore[index]
    with pytest.raises(scanns.errors.ConflictError):
        scanns.Writer(path, {"title": "keyword"})
    with pytest.raises(scanns.errors.InvalidValueError, match="unknown type"):
        scanns.Schema({"a": "string"})
    with pytest.raises(scanns.errors.InvalidValueError, match="types"):
        scanns.Schema.infer([{"a": "x"}, {"a": 1}])
    with pytest.raises(scanns.errors.LockedError):
        with scanns.Writer(path), scanns.Writer(path):
            pass
    with pytest.raises(scanns.errors.NotAnIndexError):
        scanns.Writer(tmp_path / "none.scanns").commit()


def test_dates_are_read_in_all_their_forms(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    same = [
        datetime.datetime(2024, 2, 29, 12, 30, 1, 5, tzinfo=datetime.timezone.utc),
        datetime.datetime(2024, 2, 29, 12, 30, 1, 5),
        datetime.datetime(2024, 2, 29, 14, 30, 1, 5, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
        datetime.datetime(2024, 2, 29, 4, 0, 1, 5, tzinfo=datetime.timezone(datetime.timedelta(hours=-8, minutes=-30))),
        pandas.Timestamp("2024-02-29T12:30:01.000005Z"),
        numpy.datetime64("2024-02-29T12:30:01.000005"),
        "2024-02-29T12:30:01.000005Z",
        1709209801000005000,
    ]
    with scanns.Writer(tmp_path / "d.scanns", {"text": "text", "when": "date"}) as writer:
        writer.add({"key": number, "when": date} for number, date in enumerate(same))
        writer.add([{"key": "early", "when": datetime.date(1901, 3, 1)}, {"key": "late", "when": datetime.date(2100, 2, 28)}])
    index = scanns.open(tmp_path / "d.scanns")
    for number in range(len(same)):
        assert index.document(str(number))["when"] == same[0], number  # type: ignore[index]
    assert index.document("early")["when"].date() == datetime.date(1901, 3, 1)  # type: ignore[index]
    assert index.document("late")["when"].date() == datetime.date(2100, 2, 28)  # type: ignore[index]
    seed = random.randrange(1 << 30)
    print("seed", seed)
    numbers = random.Random(seed)
    days = [datetime.date.fromordinal(numbers.randrange(615000, 820000)) for _ in range(500)]
    with scanns.Writer(tmp_path / "r.scanns", {"text": "text", "when": "date"}) as writer:
        writer.add({"key": number, "when": day} for number, day in enumerate(days))
    found = scanns.open(tmp_path / "r.scanns").export().to_arrow()
    assert [moment.as_py().date() for moment in found["when"]] == days


@pytest.mark.parametrize("form", ["pyarrow", "pandas", "polars", "batches", "views", "dictionary"])
def test_tables_are_documents(tmp_path: Path, form: str) -> None:
    rows = [
        {
            "key": f"k{number}",
            "text": None if number % 5 == 0 else f"text of {number}",
            "author": "ann",
            "tags": ["a", "b"][: number % 3],
            "size": number,
            "delta": -number,
            "weight": number / 2,
            "read": number % 2 == 0,
            "when": datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc),
            "raw": b"\x00\xff",
        }
        for number in range(1000)
    ]
    table: Any = pyarrow.Table.from_pylist(rows)
    if form == "pandas":
        table = table.drop_columns(["tags"]).to_pandas()
    elif form == "polars":
        table = polars.from_arrow(table)
    elif form == "batches":
        table = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=77))
    elif form == "views":
        table = table.set_column(1, "text", table["text"].cast(pyarrow.string_view()))
    elif form == "dictionary":
        table = table.set_column(2, "author", table["author"].dictionary_encode())
    with scanns.Writer(tmp_path / "arrow.scanns", SCHEMA) as writer:
        assert writer.add(table) == 1000
    with scanns.Writer(tmp_path / "dicts.scanns", SCHEMA) as writer:
        writer.add(rows)
    ours, theirs = (scanns.open(tmp_path / f"{name}.scanns").export().to_arrow() for name in ("arrow", "dicts"))
    for name in theirs.column_names:
        if form != "pandas" or name != "tags":
            assert ours[name].to_pylist() == theirs[name].to_pylist(), name


def test_tables_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with scanns.Writer(tmp_path / "x.scanns", SCHEMA) as writer:
        for table, kind, message in (
            (pyarrow.table({"text": ["a"]}), scanns.errors.InvalidValueError, "without a column 'key'"),
            (pyarrow.table({"key": ["a"], "titel": ["a"]}), scanns.errors.FieldError, "titel"),
            (pyarrow.table({"key": ["a"], "size": [-1]}), scanns.errors.FieldError, "size"),
            (pyarrow.table({"key": ["a"], "size": ["1"]}), scanns.errors.FieldError, "size"),
            (pyarrow.table({"key": [None], "size": [1]}), scanns.errors.InvalidValueError, "key"),
            (pyarrow.table({"key": ["a"], "size": [{"a": 1}]}), scanns.errors.UnsupportedError, "cast"),
        ):
            with pytest.raises(kind, match=message):
                writer.add(table)
        writer.add(pandas.DataFrame({"key": ["a"], "text": ["fine"]}).convert_dtypes())
    assert scanns.open(tmp_path / "x.scanns").count("fine") == 1
