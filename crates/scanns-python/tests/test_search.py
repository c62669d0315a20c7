"""Searches give what the command prints."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import command, command_json

import scanns
from scanns import Q


def shown(key: str) -> str:
    """A key as the command shows it in JSON."""
    return key.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@pytest.mark.parametrize("query", ["license warranty", '"disk tape"', "+index -draft", "licen*", "number7~1", "ext:md"])
@pytest.mark.parametrize("model", ["bm25", "tf-idf", "dph", "lm-dirichlet"])
def test_hits_and_scores_are_those_of_the_command(index: scanns.Index, notes: Path, query: str, model: str) -> None:
    expected = command_json("search", notes, "-k", "20", "--model", model, query)
    found = index.search(query, 20, model=model)
    assert [(hit.rank, shown(hit.key), f"{hit.score:.5f}") for hit in found] == [
        (one["rank"], one["key"], f"{one['score']:.5f}") for one in expected
    ]
    assert found.count() == index.count(query) == int(command("search", notes, "--count", query))


def test_parameters_of_models_and_fields_are_passed_on(index: scanns.Index, notes: Path) -> None:
    expected = command_json("search", notes, "--k1", "0.9", "--b", "0.4", "license disk")
    found = index.search("license disk", model=scanns.Model("bm25", k1=0.9, b=0.4))
    assert found.keys == [one["key"] for one in expected]
    with pytest.raises(scanns.errors.InvalidValueError, match="parameters of bm25"):
        index.search("a", model=scanns.Model("bm25", mu=3))
    with pytest.raises(scanns.errors.InvalidValueError, match="unknown model"):
        index.search("a", model="bm26")
    with pytest.raises(scanns.errors.FieldError, match="no field 'titel'"):
        index.search("a", field="titel")
    expected = command_json("search", notes, "--field", "text^3", "--default-operator", "and", "license disk")
    found = index.search("license disk", field=["text^3"], default_operator="and")
    assert [round(score, 4) for score in found.scores] == [round(one["score"], 4) for one in expected]


@pytest.mark.parametrize("sort", ["key", "-key", "size:desc,name", "ext,-size", "score", "mtime:first"])
def test_orders_are_those_of_the_command(index: scanns.Index, notes: Path, sort: str) -> None:
    expected = command_json("search", notes, "-k", "30", f"--sort={sort}", "license")
    found = index.search("license", 30, sort=sort)
    assert [shown(key) for key in found.keys] == [one["key"] for one in expected]
    if sort == "size:desc,name":
        assert [list(hit.sort) for hit in found][0] == expected[0]["sort"]


def test_pages_are_parts_of_the_whole(index: scanns.Index) -> None:
    for sort in ("score", "key", "size:desc"):
        whole = index.search("license disk", 40, sort=sort)
        page = index.search("license disk", 8, sort=sort, after="start")
        keys, ranks = list(page.keys), [hit.rank for hit in page]
        while page.after and len(keys) < 40:
            page = index.search("license disk", 8, sort=sort, after=page.after)
            keys += page.keys
            ranks += [hit.rank for hit in page]
        assert keys == whole.keys[: len(keys)] and ranks == list(range(1, len(keys) + 1))
    token = index.search("license", 5).after
    assert token is not None
    for wrong in (lambda: index.search("disk", 5, after=token), lambda: index.search("license", 5, after=token + "0")):
        with pytest.raises(scanns.errors.InvalidValueError, match="after"):
            wrong()


def test_facets_are_those_of_the_command(index: scanns.Index, notes: Path) -> None:
    texts = ["ext", "ext:1:by=sum(size)", "size:ranges:..20,20..60,60..", "size:every:40", "mtime:year", "ext > stats:size:50"]
    arguments = [word for text in texts for word in ("--facet", text)]
    expected = command_json("search", notes, "--count", *arguments, "--stats", "size:50,99", "--distinct", "name", "*")
    found = index.aggregate("*", facets=texts, stats="size:50,99", distinct="name")
    for text, answer in zip(texts, expected[1 : 1 + len(texts)]):
        facet = found.facets[text]
        assert [bucket.count for bucket in facet] == [one["count"] for one in answer["buckets"]], text
        assert (facet.total, facet.others, facet.documents, facet.missing) == tuple(
            answer[name] for name in ("total", "others", "documents", "missing")
        )
    assert found.facets["ext:1:by=sum(size)"][0].sum == expected[2]["buckets"][0]["nested"][0]["sum"]
    assert found.stats["size:50,99"].sum == expected[-2]["sum"]
    assert found.stats["size:50,99"].percentiles[99] == expected[-2]["percentiles"]["99"]
    assert found.distinct["name"].values == expected[-1]["values"] == 123
    nested = found.facets["ext > stats:size:50"].rows()[0]
    assert nested["p50"] == expected[6]["buckets"][0]["nested"][0]["percentiles"]["50"]


def test_groups_are_those_of_the_command(index: scanns.Index, notes: Path) -> None:
    expected = command_json("search", notes, "--group", "ext:2", "license")
    found = index.groups("license", "ext", hits=2)
    assert [hit.key for group in found for hit in group.hits] == [one["key"] for one in expected]
    assert [group.count for group in found] == list(dict.fromkeys(one["group_count"] for one in expected))


def test_snippets_explanations_and_documents(index: scanns.Index, notes: Path) -> None:
    expected = command_json("search", notes, "-k", "3", "--snippets", "--explain", "license")
    found = index.search("license", 3)
    for hit, snippets, one in zip(found, found.snippets(), expected):
        assert [(snippet.text, snippet.start, [list(mark) for mark in snippet.marks]) for snippet in snippets] == [
            (part["text"], part["start"], part["marks"]) for part in one["snippets"]
        ]
        explanation = hit.explain()
        assert explanation is not None and explanation.description == one["explanation"]["description"]
        assert explanation.value == one["explanation"]["value"] == pytest.approx(hit.score, rel=1e-6)
        assert index.explain("license", hit.key) == explanation
        assert "<b>license</b>" in snippets[0]._repr_html_()
        assert index.snippets("license", hit.key)[0] == snippets[0].text
        text = hit.text()
        assert text is not None and b"license" in text and index.text(hit.key) == text
        assert hit["size"] == len(text) == hit.fields("size")["size"]
    assert index.explain("license", "nothing") is None and index.document("nothing") is None
    document = index.document(found[0].key)
    assert document is not None and document["_key"] == found[0].key and document["ext"] == found[0]["ext"]


def test_terms_suggestions_and_similar_documents(index: scanns.Index, notes: Path) -> None:
    for words, options in (([], {}), (["--all"], {"limit": None})):
        expected = command_json("terms", notes, "n", *words)
        assert [tuple(term) for term in index.terms("n", **options)] == [
            (one["term"], one["documents"], one["occurrences"]) for one in expected
        ]
    (suggestion,) = index.suggest("licence")
    assert suggestion.word == "licence" and "license" in suggestion.near
    key = index.search("warranty", 1)[0].key
    expected = command_json("search", notes, "--like", key)
    assert index.like(key).keys == [one["key"] for one in expected]
    assert key not in index.like(key).keys
    assert len(index.like(text="license warranty disk")) > 0
    expected = command_json("search", notes, "--rm3", "license warranty")
    found = index.search("license warranty", rm3=True)
    assert [round(score, 4) for score in found.scores] == [round(one["score"], 4) for one in expected]


def test_queries_as_objects_are_those_of_text(index: scanns.Index) -> None:
    same = [
        (Q.text("license disk"), "license disk"),
        (Q.text("license disk", operator="and"), "license AND disk"),
        (Q.term("license") & Q.term("disk"), "+license +disk"),
        (Q.term("license") & ~Q.term("disk"), "+license -disk"),
        (Q.term("license") | Q.term("disk") | Q.term("tape"), "license disk tape"),
        (Q.phrase("disk tape"), '"disk tape"'),
        (Q.prefix("licen"), "licen*"),
        (Q.wildcard("l?cen*"), "l?cen*"),
        (Q.all() & (Q.field("size") > "40"), "* size:>40"),
        (Q.field("ext") == "md", "ext:md"),
        (Q.field("size").between(20, 60), "* size:>=20 size:<60"),
        (~Q.term("license"), "* NOT license"),
        (Q.any_of([Q.term("license"), Q.term("disk"), Q.term("tape")], at_least=2), "(license disk tape)@2"),
        (Q.fuzzy("licence", edits=1), "licence~1"),
        (Q.regexp("licen.e"), 're"licen.e"'),
        (Q.field("ext").is_in(["md", "txt"]), "ext:md OR ext:txt"),
        (Q.join("ext", "ext", Q.field("ext") == "md", score="max"), "ext:md"),
    ]
    for query, text in same:
        assert index.count(query) == index.count(text), (query, text)
    boosted = index.search(Q.term("license") * 2).scores
    assert boosted == [2 * score for score in index.search(Q.term("license")).scores]
    for scored, text in [
        (Q.term("license").scored("size", "log"), "license^log(size)"),
        (Q.term("license").scored("size", "near", origin=40, scale="5"), "license^near(size,40,5)"),
        (Q.term("license").scored("size", "saturate", half=9, change="add", missing=0.5), "license^+saturate(size,9,missing=0.5)"),
    ]:
        assert index.search(scored).scores == index.search(text).scores != index.search("license").scores, text
    filtered = index.search(Q.term("license").filter(Q.field("ext") == "md"))
    assert set(filtered.scores) <= set(index.search("license", 200).scores)
    assert index.count({"match": "license"}) == index.count("license")
    assert index.query_json("license -disk", field="text").startswith("{")
    with pytest.raises(TypeError, match="&"):
        assert Q.all() and Q.all()


def test_errors_are_of_their_kind_with_the_message_of_the_engine(index: scanns.Index, place: Path) -> None:
    with pytest.raises(scanns.errors.QueryError, match="character") as failed:
        index.search('license "disk')
    assert failed.value.at == 9
    with pytest.raises(scanns.errors.QueryError, match="edits"):
        index.search({"fuzzy": {"term": "a", "edits": 9}})
    with pytest.raises(scanns.errors.NotAnIndexError, match="no such directory"):
        scanns.open(place / "nothing.scanns")
    with pytest.raises(scanns.errors.FieldError, match="no field 'nothing'"):
        index.search("a", sort="nothing")
    with pytest.raises(scanns.errors.FieldError):
        index.aggregate(facets="nothing")
    with pytest.raises(scanns.errors.InvalidValueError, match="is unknown"):
        index.aggregate(facets="ext:often")
    with pytest.raises(scanns.errors.InvalidValueError):
        scanns.open([])


def test_several_paths_are_one_index(index: scanns.Index, notes: Path, tmp_path: Path) -> None:
    with pytest.raises(scanns.errors.ConflictError, match="the same index"):
        scanns.open([notes, notes])
    copy = tmp_path / "copy.scanns"
    shutil.copytree(notes, copy)
    both = scanns.open([notes, copy])
    assert len(both) == 2 * len(index)
    found = both.search("license", k=1)
    assert found[0].key == index.search("license")[0].key
    rest = both.search("license", k=1000, after=found.after)
    assert len(rest) == both.count("license") - 1


def test_a_query_whose_time_is_up_says_so(index: scanns.Index) -> None:
    assert index.search("*", timeout=0.0).partial
    assert not index.search("license", timeout=60).partial
    with pytest.raises(scanns.errors.InvalidValueError):
        index.search("license", timeout=-1)


def test_facts_are_those_of_the_command(index: scanns.Index, notes: Path) -> None:
    (expected,) = command_json("info", notes)
    facts = index.info()
    for name in ("documents", "tokens", "analyzer", "generation", "index_bytes", "records", "store"):
        assert facts[name] == expected[name], name
    assert len(index) == 123 and "123" in repr(index)
    assert sum(segment["documents"] for segment in index.segments()) == 123
    assert {column["name"] for column in index.columns()} <= set(index.fields)


def test_many_queries_at_once(index: scanns.Index) -> None:
    queries = ["license", "disk", "tape", "warranty index"] * 10
    assert [found.keys for found in index.search_many(queries)] == [index.search(query).keys for query in queries]


def test_a_changed_source_costs_its_own_snippets_alone(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text(f"one word in {name}")
    scanns.build([tmp_path / f"{name}.txt" for name in "abc"], tmp_path / "r.scanns", store="reference", positions=True)
    found = scanns.open(tmp_path / "r.scanns").search("word", sort="key")
    assert [snippet.text for (snippet,) in found.snippets()] == [f"one word in {name}" for name in "abc"]
    (tmp_path / "b.txt").write_text("something else, and longer")
    with pytest.warns(scanns.IncompleteWarning, match=r"no snippets: .*b\.txt") as warned:
        snippets = found.snippets()
    assert len(warned) == 1 and [len(one) for one in snippets] == [1, 0, 1]
    (tmp_path / "c.txt").unlink()
    (tmp_path / "c.txt").write_text("changed, too")
    with pytest.warns(scanns.IncompleteWarning, match=r"b\.txt.*; 2 hits have no snippets for this reason"):
        found.snippets()
    with pytest.warns(scanns.IncompleteWarning, match=r"b\.txt"):
        assert scanns.open(tmp_path / "r.scanns").snippets("word", tmp_path / "b.txt") == []
    assert found[0].text() == b"one word in a"
    with pytest.raises(scanns.errors.SourceChangedError):
        found[1].text()
