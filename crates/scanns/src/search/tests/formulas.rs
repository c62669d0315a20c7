use super::fixture::{Document, MapLeaf};
use crate::codec::Impact;
use crate::query::{BoolQuery, Query};
use crate::schema::Field;
use crate::search::similarity::{Bm25, Classic, Similarity};
use crate::search::{Leaf, LeafStats, Model, Searcher};

/// Scores of a query for three documents: 3, 1 and 2 tokens.
fn scores(query: &Query, model: Model) -> Vec<(u32, f32)> {
    let documents = ["a a b", "a", "b c"].map(Document::of);
    let leaf = MapLeaf::new(&documents, true);
    let searcher = Searcher::new(vec![&leaf as &dyn Leaf]);
    let mut hits: Vec<(u32, f32)> =
        searcher.top_k(query, model, 10).unwrap().iter().map(|hit| (hit.doc, hit.score)).collect();
    hits.sort_by_key(|&(doc, _)| doc);
    hits
}

fn term(name: &str) -> Query {
    Query::term(Field::default(), name)
}

fn assert_close(found: &[(u32, f32)], expected: &[(u32, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            found.0 == expected.0 && (f64::from(found.1) - expected.1).abs() < 1e-6,
            "{found:?} {expected:?}"
        );
    }
}

#[test]
fn bm25_agrees_with_a_computation_by_hand() {
    // N = 3, n = 2, average length 2: idf = ln(1 + 1.5 / 2.5) = 0.470004; for document 0, f = 2 and L = 3:
    // 1.2 · (0.25 + 0.75 · 1.5) = 1.65 and idf · 2 / (2 + 1.65); for document 1, 0.75 and idf / 1.75.
    let idf = 1.6f64.ln();
    assert_close(&scores(&term("a"), Model::default()), &[(0, idf * 2.0 / 3.65), (1, idf / 1.75)]);
}

#[test]
fn tf_idf_agrees_with_a_computation_by_hand() {
    // idf = ln(4 / 3) + 1 = 1.287682.
    let idf = (4.0f64 / 3.0).ln() + 1.0;
    let expected = [(0, 2f64.sqrt() * idf / 3f64.sqrt()), (1, idf)];
    assert_close(&scores(&term("a"), Model::Classic), &expected);
}

#[test]
fn p_norm_agrees_with_a_computation_by_hand() {
    // a and b are in two documents, c in one: idf(a) / idf(c) = (ln(4/3) + 1) / (ln 2 + 1) = r. In document 0
    // a has 2 of at most 2 occurrences and b 1, so d = r, r/2, 0; in 1 r, 0, 0; in 2 0, r, 1.
    let r = ((4.0f64 / 3.0).ln() + 1.0) / (2f64.ln() + 1.0);
    let all = || vec![term("a"), term("b"), term("c")];
    let or = Query::Bool(BoolQuery { should: all(), ..BoolQuery::default() });
    let and = Query::Bool(BoolQuery { must: all(), ..BoolQuery::default() });
    let rms = |x: f64, y: f64, z: f64| ((x * x + y * y + z * z) / 3.0).sqrt();
    let soft = Model::PNorm { p: 2.0 };
    assert_close(
        &scores(&or, soft),
        &[(0, rms(r, r / 2.0, 0.0)), (1, rms(r, 0.0, 0.0)), (2, rms(0.0, r, 1.0))],
    );
    let missing = [(0, 1.0 - rms(1.0 - r, 1.0 - r / 2.0, 1.0)), (1, 1.0 - rms(1.0 - r, 1.0, 1.0))];
    assert_close(&scores(&and, soft), &[missing[0], missing[1], (2, 1.0 - rms(1.0, 1.0 - r, 0.0))]);
    let hard = Model::PNorm { p: f64::INFINITY };
    assert_close(&scores(&or, hard), &[(0, r), (1, r), (2, 1.0)]);
    assert_close(&scores(&and, hard), &[(0, 0.0), (1, 0.0), (2, 0.0)]);
    let linear = Model::PNorm { p: 1.0 };
    let mean = [(0, r / 2.0), (1, r / 3.0), (2, (r + 1.0) / 3.0)];
    assert_close(&scores(&or, linear), &mean);
    assert_close(&scores(&and, linear), &mean);
    let without = BoolQuery { must: vec![term("a")], must_not: vec![term("b")], ..BoolQuery::default() };
    // Only a and b count here, and their idfs are equal: d(a) = 1 in both, d(b) = 1/2 and 0.
    assert_close(&scores(&Query::Bool(without), linear), &[(0, 0.75), (1, 1.0)]);
}

#[test]
fn language_models_agree_with_a_computation_by_hand() {
    // a occurs 3 times among 6 tokens: p = 4/7. In document 0 f = 2 and L = 3, in document 1 both are 1.
    let p = 4.0 / 7.0;
    let dirichlet = |f: f64, length: f64| ((1.0 + f / (0.5 * p)) * (0.5 / (length + 0.5))).ln().max(0.0);
    let expected = [(0, dirichlet(2.0, 3.0)), (1, dirichlet(1.0, 1.0))];
    assert_close(&scores(&term("a"), Model::LmDirichlet { mu: 0.5 }), &expected);
    let mixed = |f: f64, length: f64| (1.0 + 0.75 * f / length / (0.25 * p)).ln();
    let expected = [(0, mixed(2.0, 3.0)), (1, mixed(1.0, 1.0))];
    assert_close(&scores(&term("a"), Model::LmJelinekMercer { lambda: 0.25 }), &expected);
    // Less likely in the document than in the collection: 0, and still a hit.
    let low = scores(&term("a"), Model::LmDirichlet { mu: 2000.0 });
    assert!(low.len() == 2 && low.iter().all(|hit| (0.0..0.001).contains(&hit.1)), "{low:?}");
}

#[test]
fn divergence_from_randomness_agrees_with_a_computation_by_hand() {
    // c occurs once in 3 documents of 2 tokens on average, in document 2 of 2 tokens: t = log₂ 2 = 1, λ =
    // 1/3, and (log₂ 3 + (1/3 - 1) log₂ e + ½ log₂ 2π) / 2 = 0.974457.
    assert_close(&scores(&term("c"), Model::Pl2 { c: 1.0 }), &[(2, 0.974_456_9)]);
    // r = 1/2, (1/4) / 2 · (log₂ 3 + ½ log₂ π) = 0.301339.
    assert_close(&scores(&term("c"), Model::Dph), &[(2, 0.301_338_8)]);
}

#[test]
fn models_are_found_by_name() {
    assert_eq!(Model::parse("bm25").unwrap(), Model::Bm25 { k1: 1.2, b: 0.75 });
    assert_eq!(Model::parse("tf-idf").unwrap(), Model::parse("classic").unwrap());
    assert_eq!(Model::parse("p-norm").unwrap(), Model::PNorm { p: 2.0 });
    for name in ["lm-dirichlet", "lm-jelinek-mercer", "pl2", "dph"] {
        Model::parse(name).unwrap().check().unwrap();
    }
    assert!(Model::parse("vibes").is_err());
}

#[test]
fn scores_and_bounds_are_multiples_of_the_unit_of_their_weight() {
    let seed = 0x5eed_0915;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..2_000 {
        let documents = 1 + random.u64(..3_000_000);
        let stats = LeafStats {
            documents,
            documents_with_terms: documents,
            total_length: documents * (1 + random.u64(..500)),
        };
        let (k1, b) = (random.f32() * 3.0, random.f32());
        let boost = 10f32.powi(random.i32(-9..9)) * (0.1 + random.f32());
        let doc_freq = 1 + random.u64(..documents);
        fn check<S: Similarity>(random: &mut fastrand::Rng, similarity: &S, doc_freq: u64, boost: f32) {
            let weight = similarity.boosted(similarity.weight(doc_freq, doc_freq), boost);
            let unit = similarity.unit(weight).unwrap();
            for _ in 0..50 {
                let freq = 1 + (random.u32(..) >> random.u32(..32)).min(u32::MAX - 1);
                let norm = random.u8(..);
                let score = f64::from(similarity.score(weight, freq as f32, norm));
                let impact = Impact { tf_code: 1 + random.u8(..254), norm };
                let bound = f64::from(similarity.bound(weight, &[impact]));
                assert_eq!((score / unit).fract(), 0.0, "{score} of {freq} and {norm}, unit {unit}");
                assert_eq!((bound / unit).fract(), 0.0, "{bound} of {impact:?}, unit {unit}");
            }
        }
        println!("seed {seed:x} round {round}: bm25 {k1} {b}, {doc_freq} of {documents}, boost {boost}");
        check(&mut random, &Bm25::new(k1, b, &stats), doc_freq, boost);
        check(&mut random, &Classic::new(&stats), doc_freq, boost);
    }
}
