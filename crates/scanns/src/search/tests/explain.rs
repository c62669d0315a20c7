use super::fixture::{Document, MapLeaf, random_documents};
use super::ranking::{
    MODELS, collect, in_another_field, is_plain, is_soft, leaves_of, random_query, searcher_over,
};
use crate::query::{BoolQuery, Pattern, PhraseQuery, Query, WildcardPart};
use crate::schema::Field;
use crate::search::{Explanation, Hit, Leaf, Model, Searcher};

/// Documents of each leaf whose scores are explained.
const EXPLAINED: usize = 12;

/// Fails if a part that claims to be a sum or a product is not.
fn check_arithmetic(explanation: &Explanation) {
    let Explanation { value, description, details } = explanation;
    let parts = || details.iter().map(|part| f64::from(part.value));
    let off = |expected: f64| (f64::from(*value) - expected).abs() > 1e-5 * expected.abs().max(1e-5);
    if description.ends_with("sum of") || description.ends_with("sum over its words of") {
        assert!(!off(parts().sum()), "{explanation}");
    }
    let product = [": idf · tf", ": tf · idf · norm", ": boost · idf · tf", ": boost · tf · idf · norm"];
    if product.iter().any(|formula| description.ends_with(formula)) {
        assert!(!off(parts().product()), "{explanation}");
    }
    details.iter().for_each(check_arithmetic);
}

#[test]
fn explanations_of_random_queries_have_the_scores_of_hits_bit_for_bit_and_of_nothing_else() {
    for seed in 1..=12 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let documents: Vec<Vec<Document>> = (0..1 + random.u64(..3))
            .map(|_| {
                let count = random.u64(..300) as usize;
                random_documents(&mut random, count, seed % 2 == 0)
            })
            .collect();
        let others = in_another_field(&mut random, &documents);
        let [leaves, beside] = [&documents, &others].map(|of| leaves_of(of, |number| number % 2 == 0));
        let searcher = searcher_over(&[&leaves, &beside]);
        for round in 0..90 {
            let depth = random.u64(..3);
            let (query, model) = (random_query(&mut random, depth), MODELS[round % MODELS.len()]);
            if is_soft(model) && !is_plain(&query) {
                continue;
            }
            let hits = collect(&searcher, &query, model);
            for (leaf, part) in documents.iter().enumerate() {
                for _ in 0..EXPLAINED.min(part.len()) {
                    let doc = random.u32(..part.len() as u32);
                    let hit = hits.iter().find(|hit| (hit.leaf, hit.doc) == (leaf, doc));
                    let asked = Hit { score: 0.0, leaf, doc };
                    let found = searcher.explain(&query, model, &asked).unwrap();
                    let values = (
                        found.as_ref().map(|found| found.value.to_bits()),
                        hit.map(|hit| hit.score.to_bits()),
                    );
                    assert_eq!(values.0, values.1, "{hit:?} of {query:?} by {model:?}: {found:?}");
                    found.iter().for_each(check_arithmetic);
                }
            }
        }
    }
}

#[test]
fn damaged_lists_are_explained_or_refused_but_never_panic() {
    for seed in 1..=20 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut leaves = leaves_of(&[random_documents(&mut random, 600, false)], |_| true);
        leaves[0].damage(&mut random);
        let searcher = searcher_over(&[&leaves, &leaves]);
        for round in 0..60 {
            let query = random_query(&mut random, 1);
            let hit = Hit { score: 0.0, leaf: 0, doc: random.u32(..600) };
            let _ = searcher.explain(&query, MODELS[round % MODELS.len()], &hit);
        }
    }
}

fn word(name: &str) -> Query {
    Query::term(Field::default(), name)
}

/// The explanation of a query for one of three documents; empty if it does not match.
fn explained(query: &Query, model: Model, doc: u32) -> String {
    let documents = ["a a b", "a", "b c"].map(Document::of);
    let leaf = MapLeaf::new(&documents, true);
    let searcher = Searcher::new(vec![&leaf as &dyn Leaf]);
    let hits = searcher.top_k(query, model, 10).unwrap();
    let found = searcher.explain(query, model, &Hit { score: 0.0, leaf: 0, doc }).unwrap();
    let score = hits.iter().find(|hit| hit.doc == doc).map(|hit| hit.score.to_bits());
    assert_eq!(found.as_ref().map(|found| found.value.to_bits()), score, "{query:?}");
    found.map_or(String::new(), |found| found.to_string())
}

#[test]
fn bm25_is_explained_by_its_formula() {
    let expected = "\
0.25753623 a: idf · tf
  0.47000363 idf, ln(1 + (N - n + 0.5) / (n + 0.5))
    3 N, documents with terms
    2 n, documents with the term
  0.54794514 tf, freq / (freq + k1 · (1 - b + b · length / average))
    2 freq, how often it occurs in the document
    1.2 k1, how quickly more occurrences stop mattering
    0.75 b, how much length matters
    3 length, tokens of the document, as rounded in the index
    2 average, the mean length of documents
      6 tokens of all documents
      3 documents with terms
";
    assert_eq!(explained(&word("a"), Model::default(), 0), expected);
    assert_eq!(explained(&word("a"), Model::default(), 2), "", "it does not match");
}

#[test]
fn every_model_is_explained_by_the_parts_of_its_formula() {
    let boosted = Query::Boost(Box::new(word("a")), 2.0);
    for (model, parts) in [
        (
            Model::Classic,
            &[
                "a: boost · tf · idf · norm\n  2 boost\n  1.4142135 tf, √freq\n    2 freq",
                "1.287682 idf",
                "0.57735026 norm",
            ][..],
        ),
        // Three of six tokens: p = 4 / 7.
        (
            Model::LmDirichlet { mu: 0.5 },
            &["  2 boost\n  2 freq", "0.2857143 mu · p", "    3 F, ", "  0.5 mu, "],
        ),
        (Model::LmJelinekMercer { lambda: 0.25 }, &["0.14285715 lambda · p", "    6 T, ", "  0.25 lambda, "]),
        // t = 2 · log2(1 + 2 / 3).
        (Model::Pl2 { c: 1.0 }, &["  1.4739312 t, ", "  1 rate, F / N", "    1 c, ", "    2 average, "]),
        (Model::Dph, &["  0.6666667 r, ", "  1 rarity, N / F", "  3 length, "]),
    ] {
        let text = explained(&boosted, model, 0);
        for part in parts {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }
}

#[test]
fn lists_tell_required_from_optional_clauses() {
    let list =
        BoolQuery { must: vec![word("b")], should: vec![word("a"), word("x")], ..BoolQuery::default() };
    let text = explained(&Query::Bool(list.clone()), Model::default(), 0);
    let lines: Vec<&str> =
        text.lines().filter(|line| line.contains("sum of") || line.contains("idf · tf")).collect();
    let ends =
        ["sum of", "required clauses: sum of", "b: idf · tf", "optional clauses: sum of", "a: idf · tf"];
    assert!(lines.len() == 5 && lines.iter().zip(ends).all(|(line, end)| line.ends_with(end)), "{text}");
    let two = Query::Bool(BoolQuery {
        should: vec![word("a"), word("b"), word("x")],
        at_least: 2,
        ..BoolQuery::default()
    });
    assert!(explained(&two, Model::default(), 0).contains(" 2 of 3 match, 2 must: sum of\n"));
    assert_eq!(explained(&two, Model::default(), 1), "");
    let not = Query::Bool(BoolQuery { must_not: vec![word("c")], ..BoolQuery::default() });
    assert_eq!(
        explained(&not, Model::default(), 0),
        "0 no excluded clause matches, and there are no other clauses\n"
    );
    assert_eq!(explained(&not, Model::default(), 2), "");
}

#[test]
fn phrases_say_how_often_they_occur() {
    let phrase = |slop, terms: [(u32, &str); 2]| {
        let terms = terms.map(|(place, term)| (place, term.into())).to_vec();
        Query::Phrase(PhraseQuery { field: Field::default(), terms, slop })
    };
    let text = explained(&phrase(0, [(0, "a"), (1, "b")]), Model::Classic, 0);
    assert!(
        text.contains("\"a b\": tf · idf · norm\n") && text.contains("1 freq, how often the phrase"),
        "{text}"
    );
    assert!(text.contains("2.575364 idf, the sum over its words\n    1.287682 a: idf"), "{text}");
    for (terms, freq) in [([(0, "a"), (1, "b")], "1"), ([(0, "b"), (1, "a")], "0.33333334")] {
        let text = explained(&phrase(3, terms), Model::LmDirichlet { mu: 0.1 }, 0);
        assert!(text.contains("~3: sum over its words of\n"), "{text}");
        assert_eq!(text.matches(&format!("{freq} freq, the sum of 1 / (1 + moves)")).count(), 2, "{text}");
    }
    assert_eq!(explained(&phrase(0, [(0, "b"), (1, "a")]), Model::Classic, 0), "");
}

#[test]
fn patterns_say_which_terms_they_found() {
    let text = explained(&Query::pattern(Field::default(), Pattern::Prefix(Vec::new())), Model::default(), 0);
    let expected = "\
1 *: documents with any of its terms score 1
  3 terms that it matches in this segment
  2 a, how often it occurs in the document
  1 b, how often it occurs in the document
";
    assert_eq!(text, expected);
    let wild = Pattern::Wildcard(vec![WildcardPart::AnyChar]);
    let boosted = Query::pattern(Field::default(), wild).boosted(2.0);
    assert!(
        explained(&boosted, Model::default(), 1)
            .starts_with("2 ?: documents with any of its terms score 1, times boost\n  2 boost\n")
    );
    let documents = ["color", "colour", "colours"].map(Document::of);
    let leaf = MapLeaf::new(&documents, false);
    let searcher = Searcher::new(vec![&leaf as &dyn Leaf]);
    let fuzzy =
        Query::pattern(Field::default(), Pattern::Fuzzy { term: "colour".into(), edits: 1, prefix: 1 });
    let found =
        searcher.explain(&fuzzy, Model::default(), &Hit { score: 0.0, leaf: 0, doc: 2 }).unwrap().unwrap();
    assert!(found.to_string().contains("colour~1, by its nearest terms: sum of\n"), "{found}");
    assert!(found.to_string().contains("colours: boost · idf · tf\n    0.8333333 boost\n"), "{found}");
    assert!(
        found.to_string().contains("1 n, documents with the most frequent of the nearest terms"),
        "{found}"
    );
}

#[test]
fn p_norm_is_explained_by_degrees_of_match() {
    let list = BoolQuery {
        must: vec![word("a")],
        should: vec![word("b")],
        must_not: vec![word("c")],
        ..BoolQuery::default()
    };
    let text = explained(&Query::Bool(list), Model::PNorm { p: 2.0 }, 0);
    for part in [
        "and, p = 2: 1 - (sum of (w · (1 - d))^p / sum of w^p)^(1/p) over the d of\n",
        "  0.76052576 a: d, freq / highest freq · idf / highest idf\n    2 freq",
        "  0 not, so d counts instead of 1 - d: c: d, freq",
        "  0.38026288 or, p = 2",
        "    0.38026288 b: d, freq",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn fields_are_named_and_missing_documents_explain_nothing() {
    let documents = vec![vec![Document::of("a")]];
    let leaves = leaves_of(&documents, |_| true);
    let searcher = searcher_over(&[&leaves, &leaves]);
    let other = Field::new(1).unwrap();
    let query = Query::term(other, "a");
    let hit = Hit { score: 0.0, leaf: 0, doc: 0 };
    let text =
        |searcher: &Searcher| searcher.explain(&query, Model::Classic, &hit).unwrap().unwrap().description;
    assert_eq!(text(&searcher), "field 1:a: tf · idf · norm");
    let named = searcher.naming(|field| if field == other { "title".into() } else { "text".into() });
    assert_eq!(text(&named), "title:a: tf · idf · norm");
    for hit in [Hit { doc: 1, ..hit }, Hit { leaf: 1, ..hit }] {
        assert!(named.explain(&query, Model::Classic, &hit).unwrap().is_none());
    }
    assert!(named.explain(&query, Model::PNorm { p: 0.5 }, &hit).is_err());
}
