"""Makes an index of a table in Parquet, CSV or JSON lines, and searches it.

    python frame_to_index.py books.parquet books.scanns id 'free software'
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import polars

import scanns


def main(table: str, path: str, key: str, query: str) -> None:
    readers: dict[str, Callable[[str], polars.DataFrame]] = {
        "parquet": polars.read_parquet,
        "csv": polars.read_csv,
        "jsonl": polars.read_ndjson,
    }
    frame = readers[table.rsplit(".", 1)[-1]](table)
    with scanns.Writer(path, key=key) as writer:
        print(writer.add(frame), "documents")
    print(scanns.open(path).search(query).to_polars())


if __name__ == "__main__":
    main(*sys.argv[1:])
