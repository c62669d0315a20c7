//! Queries as programs build them, including queries that no text yields.

use std::ops::Bound;

use fastrand::Rng;
use scanns::Query;
use scanns::query::{
    BestQuery, BoolQuery, JoinOn, JoinQuery, JoinScore, Pattern, PhraseQuery, ScoreChange, ScoredQuery,
    WildcardPart,
};
use scanns::schema::Field;

use super::columns;
use super::text::regex;
use super::world::{World, word};

/// A term: a word, a part of one, or bytes that are not UTF-8.
fn term(random: &mut Rng) -> Vec<u8> {
    let mut term = word(random).to_lowercase().into_bytes();
    match random.u8(0..12) {
        0 => term.truncate(random.usize(0..=term.len())),
        1 => term.push(random.u8(..)),
        2 => term = Vec::new(),
        _ => {}
    }
    term
}

fn terms(random: &mut Rng) -> Vec<Vec<u8>> {
    (0..random.usize(0..6)).map(|_| term(random)).collect()
}

/// A searched field.
fn field(random: &mut Rng, world: &World) -> Field {
    let fields = world.fields();
    fields[random.usize(0..fields.len())]
}

/// Terms of one field.
fn words(random: &mut Rng, world: &World) -> Vec<Query> {
    let field = field(random, world);
    terms(random).into_iter().map(|term| Query::term(field, term)).collect()
}

/// A query.
pub fn query(random: &mut Rng, world: &World, depth: usize) -> Query {
    match random.u8(0..23) {
        0..6 if depth < 4 => {
            let several = |most: usize, random: &mut Rng| {
                (0..random.usize(0..=most)).map(|_| query(random, world, depth + 1)).collect()
            };
            Query::Bool(BoolQuery {
                must: several(2, random),
                filter: several(1, random),
                should: several(5, random),
                must_not: several(1, random),
                at_least: if random.bool() { 0 } else { random.usize(0..5) },
            })
        }
        6..8 => Query::any_of(words(random, world)),
        8..10 => Query::all_of(words(random, world)),
        10..12 => phrase(random, world),
        12..14 => Query::pattern(field(random, world), pattern(random)),
        14 => Query::All,
        18 if random.bool() => columns::range(random, world),
        18 => Query::ValuePattern { field: columns::field(random, world).0, pattern: pattern(random) },
        15 => Query::Exists(field(random, world)),
        16..18 if depth < 8 => {
            let boost = [0.5, 3.0, 1e18, 1e-18, 0.0, -1.0, f32::NAN, f32::INFINITY, 1e30][random.usize(0..9)];
            Query::Boost(Box::new(query(random, world, depth + 1)), boost)
        }
        19 if depth < 8 => Query::Best(BestQuery {
            clauses: (0..random.usize(0..4)).map(|_| query(random, world, depth + 1)).collect(),
            tie: [0.0, 0.3, 1.0, 1.5, -1.0, f32::NAN][random.usize(0..6)],
        }),
        20 if depth < 8 => {
            let on = |random: &mut Rng| match random.u8(0..3) {
                0 => JoinOn::Key,
                _ => JoinOn::Column(columns::field(random, world).0),
            };
            let score = ["none", "max", "sum", "mean", "min"][random.usize(0..5)];
            Query::Join(JoinQuery {
                from: on(random),
                to: on(random),
                query: Box::new(query(random, world, depth + 1)),
                score: JoinScore::parse(score).unwrap(),
            })
        }
        21 if depth < 8 => {
            let query = Box::new(query(random, world, depth + 1));
            let change = [ScoreChange::Multiply, ScoreChange::Add, ScoreChange::Replace][random.usize(0..3)];
            Query::Scored(ScoredQuery { query, by: columns::score(random, world), change })
        }
        _ => Query::term(field(random, world), term(random)),
    }
}

/// A phrase; its positions rise, stay or, rarely, fall, which is refused.
fn phrase(random: &mut Rng, world: &World) -> Query {
    let mut place = 0u32;
    let terms = (0..random.usize(0..6))
        .map(|_| {
            place = match random.u8(0..30) {
                0 => place.wrapping_sub(1),
                1 => u32::MAX - 2,
                2..6 => place,
                6..10 => place.saturating_add(random.u32(1..4)),
                _ => place.saturating_add(1),
            };
            (place, term(random))
        })
        .collect();
    let slop = [0, 0, 1, 2, 5, 1000, u32::MAX][random.usize(0..7)];
    Query::Phrase(PhraseQuery { field: field(random, world), terms, slop })
}

fn pattern(random: &mut Rng) -> Pattern {
    let bound = |random: &mut Rng| match random.u8(0..4) {
        0 => Bound::Unbounded,
        1 => Bound::Excluded(term(random)),
        _ => Bound::Included(term(random)),
    };
    match random.u8(0..6) {
        0 => Pattern::Prefix(term(random)),
        1 => {
            let part = |random: &mut Rng| match random.u8(0..3) {
                0 => WildcardPart::AnyChar,
                1 => WildcardPart::Anything,
                _ => WildcardPart::Text(term(random)),
            };
            Pattern::Wildcard((0..random.usize(0..6)).map(|_| part(random)).collect())
        }
        2 => Pattern::Regex(regex(random)),
        3 => Pattern::Fuzzy {
            term: String::from_utf8_lossy(&term(random)).into_owned(),
            edits: random.u8(0..5),
            prefix: [0, 0, 1, 3, usize::MAX][random.usize(0..5)],
        },
        4 => Pattern::Range(bound(random), bound(random)),
        _ => Pattern::Set(terms(random)),
    }
}
