"""Results and exports in pyarrow, pandas, Polars and DuckDB, and in notebooks."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from conftest import command

import scanns

# Not every Python has wheels of all.
duckdb = pytest.importorskip("duckdb", reason="SKIPPED: pip install duckdb")
pandas = pytest.importorskip("pandas", reason="SKIPPED: pip install pandas")
polars = pytest.importorskip("polars", reason="SKIPPED: pip install polars")
pyarrow = pytest.importorskip("pyarrow", reason="SKIPPED: pip install pyarrow")


def test_an_export_is_what_the_command_exports(mail: Path, tmp_path: Path) -> None:
    for query in (None, "author:ann", "size:>5000"):
        words = [] if query is None else [query]
        command("export", mail, *words, "-o", tmp_path / "all.parquet")
        expected = duckdb.sql(f"select * from '{tmp_path / 'all.parquet'}'").to_arrow_table()
        table = scanns.open(mail).export(query).to_arrow()
        assert table.column_names == expected.column_names
        assert table.num_rows == expected.num_rows
        for name in table.column_names:
            assert table[name].to_pylist() == expected[name].to_pylist(), name


def test_every_reader_of_arrow_reads_an_export(mail: Path) -> None:
    index = scanns.open(mail)
    export = index.export("*", fields=["_key", "author", "size", "when"])
    frame, polar, table = export.to_pandas(), export.to_polars(), pyarrow.table(export)
    assert isinstance(frame, pandas.DataFrame) and isinstance(polar, polars.DataFrame)
    assert len(frame) == len(polar) == table.num_rows == 100
    assert str(frame["when"].dtype) == "datetime64[ns, UTC]" and frame["size"].sum() == polar["size"].sum() == 495000
    ((total,),) = duckdb.sql("select sum(size) from export").fetchall()
    assert total == 495000
    assert len(export.rows()) == 100


def test_an_export_streams_batches(mail: Path) -> None:
    export = scanns.open(mail).export(fields=["size"], batch_rows=7)
    batches = list(export.batches())
    assert len(batches) >= 15 and max(batch.num_rows for batch in batches) <= 7
    reader = pyarrow.RecordBatchReader.from_stream(export)
    assert reader.read_next_batch().num_rows == 7
    del reader  # The thread behind it ends.


def test_batches_can_be_read_by_any_thread(mail: Path) -> None:
    export = scanns.open(mail).export(batch_rows=10)
    sums: list[int] = []
    readers = [pyarrow.RecordBatchReader.from_stream(export) for _ in range(4)]
    threads = [threading.Thread(target=lambda r=r: sums.append(r.read_all()["size"].to_pandas().sum())) for r in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sums == [495000] * 4


def test_hits_are_tables(mail: Path) -> None:
    found = scanns.open(mail).search("mail", 20, sort="size:desc")
    frame = found.to_pandas()
    assert list(frame.columns)[:3] == ["rank", "score", "_key"] and list(frame["_key"]) == found.keys
    assert list(frame["rank"]) == list(range(1, 21)) and frame["size"].iloc[0] == 9900
    assert found.with_fields("author").to_polars().columns == ["rank", "score", "_key", "author"]
    assert [hit["author"] for hit in found] == list(frame["author"])
    assert found.rows()[0]["author"] == frame["author"].iloc[0]
    empty = scanns.open(mail).search("nothing")
    assert len(empty) == 0 and empty.to_pandas().empty and empty.after is None


def test_tables_of_hits_show_the_fields_that_were_asked_for(mail: Path) -> None:
    index = scanns.open(mail)
    for fields in ("size, author", ["size", "_key", "author"]):
        found = index.search("mail", 20, fields=fields)
        frame = found.to_pandas()
        assert list(frame.columns) == ["rank", "score", "_key", "size", "author"]
        assert found.rows() == frame.to_dict(orient="records")
        assert [row["author"] for row in found.rows()] == [hit["author"] for hit in found]
        assert ">author</th>" in found._repr_html_() and str(found[0]["author"]) in found._repr_html_()
    assert list(index.search("mail", fields=[]).to_pandas().columns) == ["rank", "score", "_key"]
    with pytest.raises(scanns.errors.FieldError, match="no field 'sise' is a column or stored; such fields are: .*size"):
        index.search("mail", fields="sise")


def test_facets_are_tables(mail: Path) -> None:
    facet = scanns.open(mail).aggregate(facets="author > sum:size").facets["author > sum:size"]
    frame = facet.to_pandas().set_index("author")
    assert frame["sum"].sum() == 495000 and frame["count"].sum() == 100
    assert facet.to_polars()["count"].sum() == 100


def test_text_that_is_not_unicode_is_bytes_in_tables_and_an_error_in_streams(notes: Path, tmp_path: Path) -> None:
    index = scanns.open(notes)
    export = index.export(fields="_key,name,size")
    command("export", notes, "--fields", "_key,name,size", "-o", tmp_path / "e.arrow")
    expected = pyarrow.ipc.open_file(tmp_path / "e.arrow").read_all()
    for table in (export.to_arrow(), export.to_polars().to_arrow(), pyarrow.Table.from_pylist(export.rows())):
        assert table["name"].to_pylist() == expected["name"].to_pylist() and b"\xff" in b"".join(table["_key"].to_pylist())
    assert export.to_arrow().schema.types == expected.schema.types
    frame = export.to_pandas()
    assert b"bad-\xff.txt" in set(frame["name"]) and frame["size"].sum() > 0
    with pytest.raises(scanns.errors.InvalidValueError, match=r"field '_key' has a text .*binary=\['_key'\]"):
        list(export.batches())
    with pytest.raises(Exception, match="not valid UTF-8: name it in binary="):
        pyarrow.table(export)
    names = index.export(fields=["_key", "name"], binary="_key,name")
    assert any(b"\xff" in name.as_py() for batch in names.batches() for name in batch["name"])
    hit = next(hit for hit in index.search("name that is not text", 200) if "\udcff" in hit.key)
    assert hit["name"].encode("utf-8", "surrogateescape") == b"bad-\xff.txt"
    assert index.search("name", 200).to_arrow().num_rows > 0


def test_scores_are_shown_where_there_are_any(mail: Path) -> None:
    index = scanns.open(mail)
    for sort, scored in (("size:desc", False), ("key", False), ("score", True), ("score:desc,size", True), (None, True)):
        found = index.search("mail", 5, sort=sort, fields="size")
        assert found.to_arrow()["score"].null_count == (0 if scored else 5), sort
        assert all((row["score"] is not None) == scored for row in found.rows())
        shown = found._repr_html_()
        assert ("<th style=\"text-align:left\">score</th>" in shown) == scored and ("score" in repr(found[0])) == scored
        assert ("score" in found[0]._repr_html_()) == scored and "mail-" in found[0]._repr_html_()
    empty = index.search("nothing", sort="size")
    assert empty.to_arrow().num_rows == 0


def test_answers_are_shown_with_and_without_hits(mail: Path) -> None:
    index = scanns.open(mail)
    asked: dict[str, str] = {"facets": "author", "stats": "size", "distinct": "author"}
    found, alone = index.search("mail", 3, **asked), index.aggregate("mail", **asked)  # type: ignore[arg-type]
    assert repr(found) == "<scanns.Results: 3 hits, facets 'author', stats 'size', distinct 'author'>"
    assert repr(alone) == "<scanns.Results: facets 'author', stats 'size', distinct 'author'>"
    assert repr(index.search("mail", 1)) == "<scanns.Results: 1 hit>"
    for answers in (found, alone):
        shown = answers._repr_html_()
        assert "documents" in shown and "deviation" in shown and "distinct values" in shown
    hit = found[0]
    assert hit["_key"] == hit.key and hit.fields("_key", "size") == {"_key": hit.key, "size": hit["size"]}


def test_html_is_escaped(notes: Path, tree: Path) -> None:
    index = scanns.open(notes)
    found = index.search("hostile turned name", 200, facets="name:all")
    shown = found._repr_html_() + found.with_fields("name")._repr_html_() + index._repr_html_()
    shown += index.groups("name", "name", 200)._repr_html_() + scanns.open(tree).du(str(tree.parent / "tree"))._repr_html_()
    assert "<img" not in shown and "&lt;img src=x onerror=alert(1)&gt;" in shown
    assert "\u202e" not in shown and "\\u202e" in shown
    assert "\udcff" not in shown
    shown.encode()

