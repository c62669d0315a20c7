use std::ops::{Bound, ControlFlow};

use super::fixture::{Document, MapLeaf, one_in, random_documents};
use super::oracle::Oracle;
use crate::query::{BestQuery, BoolQuery, Pattern, PhraseQuery, Query};
use crate::schema::Field;
use crate::search::{Hit, Leaf, Model, Searcher};

/// The last one cannot prune.
pub(crate) const MODELS: [Model; 9] = [
    Model::Bm25 { k1: 1.2, b: 0.75 },
    Model::Bm25 { k1: 0.0, b: 1.0 },
    Model::Classic,
    Model::LmDirichlet { mu: 50.0 },
    Model::LmDirichlet { mu: 2000.0 },
    Model::LmJelinekMercer { lambda: 0.3 },
    Model::Pl2 { c: 1.0 },
    Model::Dph,
    Model::PNorm { p: 2.0 },
];

fn term(random: &mut fastrand::Rng) -> Query {
    Query::term(field(random), format!("t{}", random.u64(..9)))
}

fn terms(random: &mut fastrand::Rng, most: u64) -> Vec<Query> {
    (0..random.u64(..most + 1)).map(|_| term(random)).collect()
}

/// The default field, or sometimes the other one.
fn field(random: &mut fastrand::Rng) -> Field {
    Field::new(u16::from(one_in(random, 8))).unwrap()
}

fn boosted(random: &mut fastrand::Rng, depth: u64) -> Query {
    let inner = random_query(random, depth.saturating_sub(1));
    inner.boosted([0.5, 2.0, 0.1, 3.7][random.usize(..4)])
}

/// Flat lists of every kind, then more and more nested ones.
pub(crate) fn random_query(random: &mut fastrand::Rng, depth: u64) -> Query {
    let mut list = BoolQuery::default();
    match random.u64(..8 + 2 * depth) {
        0 => return term(random),
        5 => return boosted(random, depth),
        6 => return special(random),
        7 => return required(random, 0),
        1 => list.must = terms(random, 4),
        2 => list.should = terms(random, 6),
        3 => return best(random, depth),
        4 => {
            (list.must, list.should, list.must_not) = (terms(random, 2), terms(random, 2), terms(random, 2));
            list.filter = terms(random, 1);
        }
        _ => {
            for part in [&mut list.must, &mut list.filter, &mut list.should, &mut list.must_not] {
                part.extend((0..random.u64(..3)).map(|_| random_query(random, depth - 1)));
            }
        }
    }
    if list.should.len() > 1 && one_in(random, 4) {
        list.at_least = random.usize(..list.should.len() + 1);
    }
    Query::Bool(list)
}

/// Lists of words that are looked up in both fields, or the best of any queries.
fn best(random: &mut fastrand::Rng, depth: u64) -> Query {
    let tie = [0.0, 0.3, 1.0][random.usize(..3)];
    if depth > 0 && one_in(random, 3) {
        let clauses = (0..random.u64(..4)).map(|_| random_query(random, depth - 1)).collect();
        return Query::Best(BestQuery { clauses, tie });
    }
    let group = |random: &mut fastrand::Rng| {
        let word = format!("t{}", random.u64(..9));
        let mut clauses: Vec<Query> =
            (0..2).map(|field| Query::term(Field::new(field).unwrap(), word.as_str())).collect();
        if one_in(random, 3) {
            clauses[0] = clauses[0].clone().boosted(2.5);
        }
        let best = Query::Best(BestQuery { clauses, tie });
        if one_in(random, 4) { best.boosted(0.7) } else { best }
    };
    let mut should: Vec<Query> = (0..random.u64(1..5)).map(|_| group(random)).collect();
    should.extend(terms(random, 1));
    let must_not = if one_in(random, 3) { terms(random, 1) } else { Vec::new() };
    let list = BoolQuery { should, must_not, ..BoolQuery::default() };
    if one_in(random, 4) { Query::Bool(list).boosted(3.0) } else { Query::Bool(list) }
}

/// Terms and phrases, some of them required, some boosted.
fn required(random: &mut fastrand::Rng, slop: u32) -> Query {
    let clause = |random: &mut fastrand::Rng| {
        let query = if one_in(random, 2) { phrase(random, slop) } else { term(random) };
        if one_in(random, 3) { Query::Boost(Box::new(query), 1.7) } else { query }
    };
    Query::Bool(BoolQuery {
        must: (0..random.u64(1..4)).map(|_| clause(random)).collect(),
        should: terms(random, 2),
        must_not: terms(random, 1),
        ..BoolQuery::default()
    })
}

fn phrase(random: &mut fastrand::Rng, slop: u32) -> Query {
    let mut place = 0;
    let terms = (0..random.u64(..4))
        .map(|_| {
            place += random.u32(1..3);
            (place, format!("t{}", random.u64(..9)).into_bytes())
        })
        .collect();
    Query::Phrase(PhraseQuery { field: field(random), terms, slop: random.u32(..=slop) })
}

/// Phrases, patterns, and queries without terms.
fn special(random: &mut fastrand::Rng) -> Query {
    let name = |random: &mut fastrand::Rng| format!("t{}", random.u64(..9)).into_bytes();
    let bound = |random: &mut fastrand::Rng| match random.u8(..3) {
        0 => Bound::Unbounded,
        1 => Bound::Included(name(random)),
        _ => Bound::Excluded(name(random)),
    };
    let field = field(random);
    let pattern = match random.u64(..9) {
        0 => return Query::All,
        1 => return Query::Exists(field),
        2..=4 => return phrase(random, 0),
        5 => Pattern::Prefix(["", "t", "t3", "u"][random.usize(..4)].as_bytes().to_vec()),
        6 => Pattern::Range(bound(random), bound(random)),
        7 => Pattern::Set((0..random.u64(..4)).map(|_| name(random)).collect()),
        _ => {
            let (term, edits) = (String::from_utf8(name(random)).unwrap(), random.u8(1..3));
            Pattern::Fuzzy { term, edits, prefix: random.usize(..3) }
        }
    };
    Query::pattern(field, pattern)
}

/// True if all models can rank the query.
pub(super) fn is_plain(query: &Query) -> bool {
    match query {
        Query::Term(_) => true,
        Query::Boost(query, _) => is_plain(query),
        Query::Best(best) => best.clauses.iter().all(is_plain),
        Query::Bool(list) => {
            list.at_least == 0
                && list.filter.is_empty()
                && list.must.iter().chain(&list.should).chain(&list.must_not).all(is_plain)
        }
        _ => false,
    }
}

pub(super) fn collect(searcher: &Searcher, query: &Query, model: Model) -> Vec<Hit> {
    let mut hits = Vec::new();
    searcher
        .for_each(query, model, |hit| {
            hits.push(hit);
            ControlFlow::Continue(())
        })
        .unwrap();
    hits
}

pub(super) fn is_soft(model: Model) -> bool {
    matches!(model, Model::PNorm { .. })
}

/// True if the order of additions may change the last bit.
fn by_logarithms(model: Model) -> bool {
    !is_soft(model) && !matches!(model, Model::Bm25 { .. } | Model::Classic)
}

/// Compares all hits, the best hits and their number with the oracle.
pub(super) fn check(searcher: &Searcher, oracle: &Oracle, query: &Query, model: Model, k: usize) {
    if is_soft(model) && !is_plain(query) {
        // Fuzzy words become lists of terms, and a least number of 1 has no effect.
        let _ = searcher.top_k(query, model, k);
        return;
    }
    let (expected, found) = (oracle.all(query, model), collect(searcher, query, model));
    assert_eq!(found.len(), expected.len(), "number of hits of {query:?} by {model:?}");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((found.leaf, found.doc), (expected.leaf, expected.doc), "{query:?} by {model:?}");
        let exact = found.score.to_bits() == expected.score.to_bits();
        let off = (found.score - expected.score).abs();
        let close = is_soft(model) && off < 1e-5 || by_logarithms(model) && off <= 1e-6 * expected.score;
        assert!(exact || close, "{found:?} is not {expected:?}: {query:?} by {model:?}");
    }
    let mut best = found.clone();
    best.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.leaf, a.doc).cmp(&(b.leaf, b.doc))));
    best.truncate(k);
    assert_eq!(searcher.top_k(query, model, k).unwrap(), best, "best {k} of {query:?} by {model:?}");
    if !is_soft(model) && !by_logarithms(model) {
        assert_eq!(best, oracle.top(query, model, k));
    }
    if !is_soft(model) {
        assert_eq!(searcher.count(query).unwrap(), expected.len() as u64, "count of {query:?}");
    }
}

pub(super) fn leaves_of(documents: &[Vec<Document>], packed: impl Fn(usize) -> bool) -> Vec<MapLeaf> {
    documents.iter().enumerate().map(|(number, part)| MapLeaf::new(part, packed(number))).collect()
}

/// A searcher over fields 0, 1 and so on.
pub(super) fn searcher_over<'l>(fields: &[&'l [MapLeaf]]) -> Searcher<'l> {
    let field = |(number, leaves): (u16, &&'l [MapLeaf])| {
        (Field::new(number).unwrap(), leaves.iter().map(|leaf| leaf as &dyn Leaf).collect())
    };
    Searcher::over((0..).zip(fields).map(field).collect(), Field::default())
}

/// The same field twice, so that every query names a known field.
pub(super) fn searcher(leaves: &[MapLeaf]) -> Searcher<'_> {
    searcher_over(&[leaves, leaves])
}

/// Other texts for the same documents.
pub(super) fn in_another_field(
    random: &mut fastrand::Rng,
    documents: &[Vec<Document>],
) -> Vec<Vec<Document>> {
    let other = |leaf: &Vec<Document>| {
        let texts = random_documents(random, leaf.len(), false);
        texts.into_iter().zip(leaf).map(|(text, of)| Document { dead: of.dead, ..text }).collect()
    };
    documents.iter().map(other).collect()
}

#[test]
fn random_queries_over_small_leaves_agree_with_the_oracle() {
    for seed in 1..=25 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let documents: Vec<Vec<Document>> = (0..1 + random.u64(..4))
            .map(|_| {
                let count = random.u64(..400) as usize;
                random_documents(&mut random, count, seed % 2 == 0)
            })
            .collect();
        let others = in_another_field(&mut random, &documents);
        let [leaves, beside] = [&documents, &others].map(|of| leaves_of(of, |number| number % 2 == 0));
        let searcher = searcher_over(&[&leaves, &beside]);
        let oracle = Oracle::over(&[&documents, &others]);
        for round in 0..18 {
            let query = random_query(&mut random, 2);
            let k = [1, 3, 10, 50, 10_000][random.u64(..5) as usize];
            check(&searcher, &oracle, &query, MODELS[round % 9], k);
        }
    }
}

#[test]
fn pruning_over_long_lists_loses_and_adds_nothing() {
    for seed in 1..=3 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let documents: Vec<Vec<Document>> =
            [30_000, 9_000].map(|count| random_documents(&mut random, count, seed == 3)).into();
        let leaves = leaves_of(&documents, |_| true);
        let searcher = searcher(&leaves);
        for round in 0..80 {
            let query = random_query(&mut random, 0);
            let model = MODELS[round % 8];
            let mut expected = collect(&searcher, &query, model);
            expected.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.leaf, a.doc).cmp(&(b.leaf, b.doc))));
            for k in [1, 10, 300] {
                let found = searcher.top_k(&query, model, k).unwrap();
                assert_eq!(
                    found[..],
                    expected[..k.min(expected.len())],
                    "best {k} of {query:?} by {model:?}"
                );
            }
        }
    }
}

#[test]
fn required_clauses_give_the_hits_of_document_at_a_time() {
    for seed in 1..=3 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let documents: Vec<Vec<Document>> =
            [9_000, 2_500].map(|count| random_documents(&mut random, count, seed == 3)).into();
        let leaves = leaves_of(&documents, |_| true);
        let searcher = searcher(&leaves);
        for round in 0..120 {
            let query = required(&mut random, 3);
            let model = MODELS[round % 8];
            // A clause that matches nothing makes the planner treat the query as nested.
            let nothing = Query::pattern(Field::default(), Pattern::Set(Vec::new()));
            let nested = BoolQuery { should: vec![query.clone(), nothing], ..BoolQuery::default() };
            let mut expected = collect(&searcher, &Query::Bool(nested), model);
            assert_eq!(collect(&searcher, &query, model), expected, "{query:?} by {model:?}");
            assert_eq!(searcher.count(&query).unwrap(), expected.len() as u64);
            expected.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.leaf, a.doc).cmp(&(b.leaf, b.doc))));
            for k in [1, 10, 300] {
                let found = searcher.top_k(&query, model, k).unwrap();
                assert_eq!(
                    found[..],
                    expected[..k.min(expected.len())],
                    "best {k} of {query:?} by {model:?}"
                );
            }
        }
    }
}

/// Documents of equal length that contain the `words` for which `has` is true.
fn documents_with(count: usize, words: &[&str], has: impl Fn(usize, &str) -> bool) -> Vec<Document> {
    let text = |doc| {
        let here = words.iter().map(|&word| if has(doc, word) { word } else { "-" });
        here.collect::<Vec<_>>().join(" ")
    };
    (0..count).map(|doc| Document::of(&text(doc))).collect()
}

#[test]
fn lists_that_end_early_do_not_mislead_the_others() {
    let documents = documents_with(10_000, &["a", "b", "c", "x"], |doc, word| match word {
        "a" => doc < 128 || doc == 5_000,
        "b" => doc < 128 || doc == 9_000 || doc == 9_001,
        "c" => doc == 0,
        _ => true,
    });
    let leaves = leaves_of(&[documents], |_| true);
    let searcher = searcher(&leaves);
    let word = |word: &str| Query::term(Field::default(), word);
    let list =
        BoolQuery { must: vec![word("a"), word("b")], should: vec![word("c")], ..BoolQuery::default() };
    for model in [Model::default(), Model::Dph] {
        assert_eq!(collect(&searcher, &Query::Bool(list.clone()), model).len(), 128);
        assert_eq!(searcher.top_k(&Query::Bool(list.clone()), model, 1).unwrap()[0].doc, 0);
    }
}

#[test]
fn bounds_are_rounded_as_scores_are() {
    let documents = documents_with(6_000, &["a", "b", "c", "d"], |doc, word| {
        word != "d" || doc % 128 == 0 && (20..28).contains(&(doc / 128))
    });
    let leaves = leaves_of(&[documents], |_| true);
    let searcher = searcher(&leaves);
    let word = |word: &str| Query::term(Field::default(), word);
    for shift in 20..28 {
        let light = |of: &str| Query::Boost(Box::new(word(of)), (-shift as f32).exp2());
        let list = BoolQuery {
            must: vec![word("a"), light("b")],
            should: vec![light("c"), word("d")],
            ..BoolQuery::default()
        };
        let (query, model) = (Query::Bool(list), Model::Bm25 { k1: 0.0, b: 1.0 });
        let mut expected = collect(&searcher, &query, model);
        expected.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        assert_eq!(searcher.top_k(&query, model, 100).unwrap()[..], expected[..100], "2^-{shift}");
    }
}

#[test]
fn long_lists_agree_with_the_oracle() {
    let mut random = fastrand::Rng::with_seed(0xabcdef);
    let documents = [random_documents(&mut random, 3_000, false), random_documents(&mut random, 3_000, true)];
    let leaves = leaves_of(&documents, |_| true);
    let (searcher, oracle) = (searcher(&leaves), Oracle::new(&documents));
    let word = |number: u32| Query::term(Field::default(), format!("t{number}"));
    for flat in [vec![word(0)], vec![word(0), word(1)], vec![word(3), word(0), word(2)]] {
        let and = Query::Bool(BoolQuery { must: flat.clone(), ..BoolQuery::default() });
        let or = Query::Bool(BoolQuery { should: flat, ..BoolQuery::default() });
        for query in [and, or] {
            check(&searcher, &oracle, &query, Model::default(), 10);
            check(&searcher, &oracle, &query, Model::Classic, 10);
        }
    }
}

#[test]
fn ties_go_to_the_first_documents_across_leaves() {
    let documents = vec![vec![Document::of("same words"); 3_000]; 3];
    let leaves = leaves_of(&documents, |_| true);
    let searcher = searcher(&leaves);
    let (same, words) = (Query::term(Field::default(), b"same"), Query::term(Field::default(), b"words"));
    let both = vec![same.clone(), words];
    for query in [
        same,
        Query::Bool(BoolQuery { must: both.clone(), ..BoolQuery::default() }),
        Query::Bool(BoolQuery { should: both, ..BoolQuery::default() }),
    ] {
        for k in [1, 10, 4_000] {
            let found = searcher.top_k(&query, Model::default(), k).unwrap();
            let places: Vec<(usize, u32)> = found.iter().map(|hit| (hit.leaf, hit.doc)).collect();
            let expected: Vec<(usize, u32)> =
                (0..3).flat_map(|leaf| (0..3_000).map(move |doc| (leaf, doc))).take(k).collect();
            assert_eq!(places, expected);
        }
    }
}

#[test]
fn scores_do_not_depend_on_how_documents_are_spread_over_leaves() {
    let mut random = fastrand::Rng::with_seed(5);
    let documents = random_documents(&mut random, 1_000, false);
    let whole = leaves_of(std::slice::from_ref(&documents), |_| true);
    let parts: Vec<Vec<Document>> = documents.chunks(130).map(<[Document]>::to_vec).collect();
    let parts = leaves_of(&parts, |number| number % 3 > 0);
    let (whole, parts) = (searcher(&whole), searcher(&parts));
    for _ in 0..100 {
        let query = random_query(&mut random, 2);
        let moved: Vec<(u32, u32)> = collect(&parts, &query, Model::default())
            .iter()
            .map(|hit| (hit.leaf as u32 * 130 + hit.doc, hit.score.to_bits()))
            .collect();
        let whole = collect(&whole, &query, Model::default());
        assert_eq!(whole.iter().map(|hit| (hit.doc, hit.score.to_bits())).collect::<Vec<_>>(), moved);
    }
}

#[test]
fn zero_hits_are_an_empty_answer_and_breaking_ends_the_visit() {
    let documents = [vec![Document::of("a"); 500], vec![Document::of("a b"); 500]];
    let leaves = leaves_of(&documents, |_| true);
    let searcher = searcher(&leaves);
    let query = Query::term(Field::default(), b"a");
    assert!(searcher.top_k(&query, Model::default(), 0).unwrap().is_empty());
    assert!(searcher.top_k(&Query::nothing(), Model::default(), 5).unwrap().is_empty());
    assert_eq!(searcher.top_k(&query, Model::default(), usize::MAX).unwrap().len(), 1_000);
    let mut seen = 0;
    searcher
        .for_each(&query, Model::default(), |_| {
            seen += 1;
            if seen == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(seen, 7);
    assert!(searcher.top_k(&query, Model::PNorm { p: 0.5 }, 5).is_err());
    assert!(searcher.top_k(&query, Model::Bm25 { k1: 1.0, b: 2.0 }, 5).is_err());
    assert!(searcher.top_k(&query, Model::LmDirichlet { mu: 0.0 }, 5).is_err());
    assert!(searcher.top_k(&query, Model::LmJelinekMercer { lambda: 1.5 }, 5).is_err());
    assert!(searcher.top_k(&query, Model::Pl2 { c: f32::NAN }, 5).is_err());
    let boosted = |query: &Query, boost| Query::Boost(Box::new(query.clone()), boost);
    for boost in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e19] {
        assert!(searcher.top_k(&boosted(&query, boost), Model::default(), 5).is_err(), "{boost}");
    }
    assert!(searcher.top_k(&boosted(&boosted(&query, 1e10), 1e10), Model::default(), 5).is_err());
    assert_eq!(searcher.top_k(&boosted(&query, 1e18), Model::default(), 5).unwrap().len(), 5);
    for p in [200.0, f64::INFINITY] {
        assert_eq!(searcher.top_k(&boosted(&query, 0.01), Model::PNorm { p }, 5).unwrap().len(), 5);
    }
    let least = BoolQuery { must: vec![query.clone()], at_least: 1, ..BoolQuery::default() };
    assert!(searcher.top_k(&Query::Bool(least), Model::default(), 5).unwrap().is_empty());
    let hits = searcher.top_k(&Query::term(Field::default(), b"b"), Model::default(), 1).unwrap();
    assert_eq!(searcher.key(&hits[0]).unwrap(), b"document 0");
    assert!(Searcher::new(Vec::new()).top_k(&query, Model::default(), 3).unwrap().is_empty());
}

#[test]
fn damaged_lists_give_an_error_or_an_answer_but_never_a_panic() {
    for seed in 1..=50 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let documents = [random_documents(&mut random, 2_500, false)];
        let mut leaves = leaves_of(&documents, |_| true);
        leaves[0].damage(&mut random);
        let searcher = searcher(&leaves);
        for _ in 0..10 {
            let query = random_query(&mut random, 1);
            let _ = searcher.top_k(&query, Model::default(), 10);
            let _ = searcher.count(&query);
        }
    }
}
