"""The CACM collection: documents, topics and judgements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas


def documents(folder: Path) -> Iterator[dict[str, str]]:
    """The documents, as PyTerrier takes them."""
    with open(folder / "docs.jsonl", encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            yield {"docno": str(record["id"]), "text": record["contents"]}


def topics(folder: Path) -> pandas.DataFrame:
    """The topics."""
    return pandas.read_csv(folder / "queries.tsv", sep="\t", names=["qid", "query"], dtype=str, quoting=3)


def qrels(folder: Path) -> pandas.DataFrame:
    """The judgements as Anserini ships them, with which the published figures were made."""
    path = folder / "qrels.anserini-as-shipped.txt"
    frame = pandas.read_csv(path, sep=r"\s+", names=["qid", "_", "docno", "label"], dtype={"qid": str, "docno": str})
    return frame[["qid", "docno", "label"]]
