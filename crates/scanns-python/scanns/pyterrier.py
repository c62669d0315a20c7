"""scanns in PyTerrier: a retriever, an indexer and RM3 as transformers.

>>> import pyterrier as pt
>>> from scanns.pyterrier import ScannsIndex
>>> index = ScannsIndex("cacm.scanns")
>>> index.indexer(analyzer="english").index(documents)
>>> pt.Experiment([index.bm25(), index.rm3()], topics, qrels, ["map", "P_30"])

The text of a topic is searched as words: its characters have no meaning in the language of queries.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy
import pandas
import pyterrier

from . import _index
from ._results import Model
from ._schema import Field, Schema
from ._writer import Writer
from .query import Q

__all__ = ["ScannsIndex", "ScannsIndexer", "ScannsRetriever", "ScannsRm3"]


class ScannsRetriever(pyterrier.Transformer):
    """Finds documents for topics: a frame with ``qid`` and ``query`` becomes one with ``docno``, ``score`` and ``rank``."""

    def __init__(
        self,
        index: str | os.PathLike[str] | _index.Index,
        *,
        model: str | Model = "bm25",
        num_results: int = 1000,
        field: str | None = None,
        rm3: bool = False,
        rm3_documents: int = 10,
        rm3_terms: int = 10,
        rm3_weight: float = 0.5,
        verbose: bool = False,
    ) -> None:
        super().__init__()
        self.index = index if isinstance(index, _index.Index) else _index.open_index(index)
        self.model = model
        self.num_results = num_results
        self.field = field
        self.rm3 = rm3
        self.rm3_documents = rm3_documents
        self.rm3_terms = rm3_terms
        self.rm3_weight = rm3_weight
        self.verbose = verbose

    def _options(self) -> dict[str, Any]:
        names = ("model", "num_results", "field", "rm3", "rm3_documents", "rm3_terms", "rm3_weight", "verbose")
        return {name: getattr(self, name) for name in names}

    def fuse_rank_cutoff(self, k: int) -> ScannsRetriever | None:
        """The same retriever with fewer results, for ``retriever % k``."""
        if k >= self.num_results:
            return self
        return type(self)(self.index, **{**self._options(), "num_results": k})

    def transform(self, inp: pandas.DataFrame) -> pandas.DataFrame:
        """Searches for all topics of a frame."""
        pyterrier.validate.query_frame(inp, ["query"])
        rows = inp.to_dict(orient="records")
        searched = pyterrier.tqdm(rows, desc="scanns", unit="q") if self.verbose else rows
        parts = [self._results(row) for row in searched]
        columns = [*inp.columns, "docno", "score", "rank"]
        if not parts:
            empty = {name: inp[name] for name in inp.columns}
            return pandas.DataFrame(
                {**empty, "docno": pandas.Series(dtype=str), "score": pandas.Series(dtype=float), "rank": pandas.Series(dtype=int)}
            )
        return pandas.concat(parts, ignore_index=True)[columns]

    def _results(self, row: Mapping[Any, Any]) -> pandas.DataFrame:
        found = self.index.search(
            Q.text(row["query"]),
            self.num_results,
            model=self.model,
            field=self.field,
            rm3=self.rm3,
            rm3_documents=self.rm3_documents,
            rm3_terms=self.rm3_terms,
            rm3_weight=self.rm3_weight,
        )
        docnos, scores = _told_apart(found.keys, found.scores)
        count = len(docnos)
        same = {str(name): [value] * count for name, value in row.items()}
        ranks = numpy.arange(pyterrier.model.FIRST_RANK, pyterrier.model.FIRST_RANK + count)
        return pandas.DataFrame({**same, "docno": docnos, "score": scores, "rank": ranks})

    def __repr__(self) -> str:
        return f"ScannsRetriever({self.index!r}, model={self.model!r}, num_results={self.num_results})"


def _told_apart(keys: list[str], scores: list[float]) -> tuple[list[str], list[float]]:
    """Sorts documents with equal scores by name, and lowers scores by the least possible step until all differ.

    Tools that compute measures order equal scores in different ways; `scanns eval` and Anserini do the same.
    """
    found = sorted(zip(scores, keys), key=lambda one: (-one[0], one[1]))
    least = numpy.float32(-numpy.inf)
    before = numpy.float32(numpy.inf)
    apart = []
    for score, _ in found:
        own = numpy.float32(score)
        before = own if own < before else numpy.nextafter(before, least)
        apart.append(float(before))
    return [key for _, key in found], apart


class ScannsRm3(pyterrier.Transformer):
    """RM3 as a retriever: the query is run, extended by words of the best documents, and run again."""

    def __init__(self, index: str | os.PathLike[str] | _index.Index, **options: Any) -> None:
        super().__init__()
        self.retriever = ScannsRetriever(index, rm3=True, **options)

    def fuse_rank_cutoff(self, k: int) -> pyterrier.Transformer | None:
        """The same with fewer results."""
        return self.retriever.fuse_rank_cutoff(k)

    def transform(self, inp: pandas.DataFrame) -> pandas.DataFrame:
        """Searches for all topics of a frame, with expansion."""
        return self.retriever.transform(inp)


class ScannsIndexer(pyterrier.Indexer):
    """Indexes dictionaries with ``docno`` and ``text``."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        fields: Iterable[str] = ("text",),
        analyzer: str = "english",
        positions: bool = True,
        vectors: bool = True,
        overwrite: bool = False,
    ) -> None:
        super().__init__()
        self.path = os.fspath(path)
        self.fields = list(fields)
        self.analyzer = analyzer
        self.positions = positions
        self.vectors = vectors
        self.overwrite = overwrite

    def index(self, iter: Iterable[Mapping[str, Any]], **kwargs: Any) -> ScannsIndex:
        """Indexes documents. RM3 needs the vectors of the first field."""
        if self.overwrite and os.path.isdir(self.path):
            import shutil

            shutil.rmtree(self.path)
        text = Field.text(analyzer=self.analyzer, positions=self.positions, default=True)
        schema = Schema({name: text for name in self.fields})
        wanted = ["docno", *self.fields]
        with Writer(self.path, schema, key="docno", vectors=self.vectors) as writer:
            writer.add(_only(iter, wanted))
        return ScannsIndex(self.path)


def _only(documents: Iterable[Mapping[str, Any]], wanted: list[str]) -> Iterator[dict[str, Any]]:
    for document in documents:
        yield {name: document[name] for name in wanted if name in document}


class ScannsIndex(pyterrier.Artifact):
    """An index of scanns as an artifact of PyTerrier."""

    ARTIFACT_TYPE = "sparse_index"
    ARTIFACT_FORMAT = "scanns"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(Path(path))
        self._folder = os.fspath(path)

    def open(self) -> _index.Index:
        """The newest commit of the index."""
        return _index.open_index(self._folder)

    def built(self) -> bool:
        """True if the index exists."""
        return Path(self._folder).is_dir()

    def indexer(self, **options: Any) -> ScannsIndexer:
        """An indexer that writes this index."""
        return ScannsIndexer(self._folder, **options)

    def retriever(self, model: str | Model = "bm25", **options: Any) -> ScannsRetriever:
        """A retriever with a model."""
        return ScannsRetriever(self._folder, model=model, **options)

    def bm25(self, *, k1: float = 1.2, b: float = 0.75, **options: Any) -> ScannsRetriever:
        """Okapi BM25."""
        return self.retriever(Model("bm25", k1=k1, b=b), **options)

    def lm_dirichlet(self, *, mu: float = 2000.0, **options: Any) -> ScannsRetriever:
        """A language model with Dirichlet smoothing."""
        return self.retriever(Model("lm-dirichlet", mu=mu), **options)

    def rm3(self, model: str | Model = "bm25", **options: Any) -> ScannsRm3:
        """Retrieval with expansion by RM3."""
        return ScannsRm3(self._folder, model=model, **options)
