"""PyTerrier: an experiment on CACM with measures that are computed by others."""

from __future__ import annotations

import re
from pathlib import Path

import pandas
import pytest
from conftest import DATA, ROOT

pyterrier = pytest.importorskip("pyterrier")

import scanns
from scanns.pyterrier import ScannsIndex, ScannsRetriever

CACM = DATA / "cacm"


def test_a_retriever_is_a_transformer(tmp_path: Path) -> None:
    documents = [{"docno": f"d{number}", "text": text} for number, text in enumerate(["red apple", "red cherry", "green lime"])]
    index = ScannsIndex(tmp_path / "fruit.scanns").indexer().index(documents)
    topics = pandas.DataFrame({"qid": ["1", "2", "3"], "query": ["red apples", "lime: (green", "nothing"]})
    found = index.bm25()(topics)
    assert list(found.columns) == ["qid", "query", "docno", "score", "rank"]
    assert list(found["docno"]) == ["d0", "d1", "d2"] and list(found["rank"]) == [0, 1, 0]
    assert list((index.bm25() % 1)(topics)["docno"]) == ["d0", "d2"]
    fused = (index.bm25() % 1).compile()
    assert isinstance(fused, ScannsRetriever) and fused.num_results == 1
    assert index.bm25()(topics.iloc[:0]).empty and index.built()
    assert len(index.rm3()(topics)) >= 3
    assert pyterrier.inspect.transformer_outputs(index.bm25(), ["qid", "query"]) == list(found.columns)
    with pytest.raises(Exception, match="query"):
        index.bm25()(pandas.DataFrame({"qid": ["1"]}))


def _published() -> dict[str, list[float]]:
    """The figures of docs/QUERIES.md: MAP, MAP with RM3, P@30 and P@30 with RM3."""
    text = (ROOT / "docs/QUERIES.md").read_text()
    rows = re.findall(r"^\| `(\S+) [^`]*` \|([0-9. |]+)\|$", text, re.M)
    return {name: [float(cell) for cell in cells.split("|")] for name, cells in rows}


@pytest.mark.skipif(not CACM.is_dir(), reason=f"SKIPPED: no CACM in {DATA}")
def test_an_experiment_on_cacm_gives_the_published_figures(tmp_path: Path) -> None:
    from ir_measures import AP, P
    from cacm import documents, qrels, topics

    index = ScannsIndex(tmp_path / "cacm.scanns").indexer(analyzer="english").index(documents(CACM))
    assert len(index.open()) == 3204
    models = {"bm25": scanns.Model("bm25", k1=0.9, b=0.4), "lm-dirichlet": scanns.Model("lm-dirichlet", mu=1000)}
    systems = [make(model) for model in models.values() for make in (index.retriever, index.rm3)]
    table = pyterrier.Experiment(systems, topics(CACM), qrels(CACM), [AP, P @ 30], names=[f"{n}{r}" for n in models for r in ("", "+rm3")])
    published = _published()
    for at, name in enumerate(models):
        plain, expanded = table.iloc[2 * at], table.iloc[2 * at + 1]
        ours = [plain["AP"], expanded["AP"], plain["P@30"], expanded["P@30"]]
        assert [round(figure, 4) for figure in ours] == published[name], name
