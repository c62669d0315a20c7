"""The speed of the package beside the library and beside tantivy-py, in one run.

    python speed.py LIBRARY_SPEED [FOLDER]

LIBRARY_SPEED is the program of `cargo build --profile python -p scanns-python --example library_speed`. Rounds of the
contestants alternate; figures are medians. Text follows Zipf's law, the same for each run.
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow

import scanns

DOCUMENTS = 100_000
ROWS = 10_000_000
QUERIES = ["w1", "w30", "w3000", "w10 w200", "+w10 +w200", "w5 w50 w500 w5000", "w70*", "nothing"]


def documents() -> list[dict[str, str]]:
    numbers = random.Random(1)
    words = [f"w{rank}" for rank in range(1, 50_001)]
    weights = [1 / rank for rank in range(1, 50_001)]
    made = []
    for number in range(DOCUMENTS):
        text = " ".join(numbers.choices(words, weights, k=60))
        made.append({"key": f"doc-{number}", "text": text, "author": f"author{number % 100}"})
    return made


def median(times: int, run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def adding(library: str, folder: Path, made: list[dict[str, str]]) -> None:
    lines = folder / "documents.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in made))
    table = pyarrow.Table.from_pylist(made)
    fields: dict[str, Any] = {"text": scanns.Field.text(), "author": scanns.Field.keyword()}
    seconds: dict[str, list[float]] = {}

    def python(given: object) -> float:
        path = folder / "add.scanns"
        shutil.rmtree(path, ignore_errors=True)
        writer = scanns.Writer(path, fields)
        began = time.perf_counter()
        writer.add(given)
        writer.commit()
        spent = time.perf_counter() - began
        writer.close()
        return spent

    def rust() -> float:
        path = folder / "rust.scanns"
        shutil.rmtree(path, ignore_errors=True)
        done = subprocess.run([library, "add", path, lines], capture_output=True, check=True)
        spent: float = json.loads(done.stdout)[1]
        return spent

    contestants: dict[str, Callable[[], float]] = {
        "library, one thread": rust,
        "list of dictionaries": lambda: python(made),
        "table of Arrow": lambda: python(table),
    }
    try:
        import tantivy
    except ImportError:
        print("SKIPPED tantivy: pip install tantivy")
    else:

        def other() -> float:
            path = folder / "tantivy"
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
            builder = tantivy.SchemaBuilder()
            builder.add_text_field("text", stored=False)
            builder.add_text_field("key", stored=True, tokenizer_name="raw")
            builder.add_text_field("author", stored=False, tokenizer_name="raw", fast=True)
            index = tantivy.Index(builder.build(), str(path))
            began = time.perf_counter()
            writer = index.writer(heap_size=256_000_000, num_threads=1)
            for one in made:
                writer.add_document(tantivy.Document.from_dict(one))
            writer.commit()
            return time.perf_counter() - began

        contestants["tantivy-py, one thread"] = other
    for _ in range(5):
        for name, run in contestants.items():
            seconds.setdefault(name, []).append(run())
    own = statistics.median(seconds["library, one thread"])
    print(f"\nadd and commit {len(made):,} documents, {lines.stat().st_size / 1e6:.0f} MB of JSON")
    for name, all_of in seconds.items():
        spent = statistics.median(all_of)
        print(f"  {name:24} {spent:6.2f} s {len(made) / spent:10,.0f} documents/s  {own / spent:5.0%} of the library")


def searching(library: str, folder: Path) -> None:
    path = folder / "add.scanns"
    queries = folder / "queries.txt"
    queries.write_text("\n".join(QUERIES))
    index = scanns.open(path, threads=1)
    done = subprocess.run([library, "search", path, queries], capture_output=True, check=True)
    alone = json.loads(done.stdout)
    ask: Callable[[str], object] | None = None
    if (folder / "tantivy").is_dir():
        import tantivy

        other = tantivy.Index.open(str(folder / "tantivy"))
        searcher = other.searcher()

        def ask(text: str) -> object:
            found = searcher.search(other.parse_query(text, ["text"]), 10)
            return [searcher.doc(address)["key"] for _, address in found.hits]

    print("\nsearch, 10 hits with keys, microseconds: library, Python, difference, tantivy-py")
    added = []
    for text in QUERIES:
        ours = median(201, lambda: index.search(text).keys) * 1e6
        theirs = median(201, lambda: ask(text)) * 1e6 if ask and "*" not in text else float("nan")
        added.append(ours - alone[text])
        print(f"  {text:22} {alone[text]:8.1f} {ours:8.1f} {ours - alone[text]:8.1f} {theirs:8.1f}")
    print(f"  median of the differences: {statistics.median(added):.1f} µs")


def exporting(library: str, folder: Path) -> None:
    path = folder / "numbers.scanns"
    numbers = pyarrow.array(range(ROWS))
    hashed = pyarrow.compute.bit_wise_and(pyarrow.compute.multiply(numbers, 2_654_435_761), 0xFFFFFFFF)
    columns = {"key": numbers, "text": pyarrow.nulls(ROWS, pyarrow.string()), "a": numbers, "b": hashed}
    columns |= {"c": pyarrow.compute.shift_right(hashed, 16), "d": pyarrow.compute.negate(numbers)}
    fields: dict[str, Any] = {"text": scanns.Field.text(), "a": "unsigned", "b": "unsigned", "c": "unsigned", "d": "signed"}
    with scanns.Writer(path, fields) as writer:
        writer.add(pyarrow.table(columns))
    index = scanns.open(path)
    export = index.export(fields=["a", "b", "c", "d"])
    size = 4 * 8 * ROWS

    def stream() -> None:
        for _ in pyarrow.RecordBatchReader.from_stream(export):
            pass

    done = subprocess.run([library, "export", path, "a,b,c,d"], capture_output=True, check=True)
    print(f"\nexport {ROWS:,} rows of 4 integers, {size / 1e6:.0f} MB")
    for name, spent in (
        ("library, batches alone", statistics.median(json.loads(done.stdout))),
        ("batch by batch", median(5, stream)),
        ("to_arrow", median(5, export.to_arrow)),
        ("to_polars", median(5, export.to_polars)),
    ):
        print(f"  {name:24} {spent:6.3f} s  {size / spent / 1e9:5.2f} GB/s")


def main(library: str, place: str | None = None) -> None:
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        adding(library, folder, documents())
        searching(library, folder)
        exporting(library, folder)


if __name__ == "__main__":
    import pyarrow.compute

    main(*sys.argv[1:])
