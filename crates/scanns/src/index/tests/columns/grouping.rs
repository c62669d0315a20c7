use super::counting::directory;
use super::sorting::{any_key, compare};
use super::*;
use crate::error::Error;
use crate::search::aggregate::GroupBy;
use crate::search::{Missing, SortBy, SortKey};

/// The groups of a document.
fn groups_of(known: &Known, field: Field, is_path: bool, missing: bool) -> Vec<Option<Value>> {
    let mut groups: Vec<Option<Value>> = Vec::new();
    for value in known.of(field) {
        let value = if is_path { Value::Text(directory(value)) } else { value.clone() };
        if !groups.contains(&Some(value.clone())) {
            groups.push(Some(value));
        }
    }
    if groups.is_empty() && missing {
        groups.push(None);
    }
    groups
}

#[test]
fn groups_have_their_first_hits_in_order() {
    let seed = 0x5eed_0c40;
    let mut random = Rng::with_seed(seed);
    for round in 0..120 {
        let fixture = Fixture::new(&mut random, 120);
        let (query, model, searcher) =
            (fixture.query(&mut random), Model::Classic, fixture.snapshot.searcher());
        let name = ["owner", "owner", "size", "flag", "path"][random.usize(..5)];
        let (field, missing) = (fixture.field(name), random.bool());
        let mut keys: Vec<SortKey> = (0..random.usize(..3)).map(|_| any_key(&fixture, &mut random)).collect();
        let by = GroupBy {
            field,
            keys: keys.clone(),
            groups: random.usize(..9),
            hits: random.usize(..4),
            missing,
        };
        if keys.is_empty() {
            keys.push(SortKey { by: SortBy::Score, descending: true, missing: Missing::Last });
        }
        let mut known = fixture.known(&searcher, &query, model);
        known.sort_by(|left, right| compare(&keys, left, right));
        let mut expected: Vec<(Option<Value>, Vec<&Known>)> = Vec::new();
        for known in &known {
            let mut own = groups_of(known, field, name == "path", missing);
            own.sort_by(|a, b| {
                order(a.as_ref().unwrap_or(&Value::Unsigned(0)), b.as_ref().unwrap_or(&Value::Unsigned(0)))
            });
            for group in own {
                match expected.iter_mut().find(|(value, _)| *value == group) {
                    Some((_, members)) => members.push(known),
                    None => expected.push((group, vec![known])),
                }
            }
        }
        let found = searcher.top_groups(&query, model, &by).unwrap();
        let what = format!("seed {seed:x} round {round} {query:?} {by:?}");
        assert_eq!(found.total, expected.len() as u64, "{what}");
        assert_eq!(
            found.missing,
            known.iter().filter(|one| one.of(field).is_empty()).count() as u64,
            "{what}"
        );
        assert_eq!(found.groups.len(), by.groups.min(expected.len()), "{what}");
        for (group, (value, members)) in found.groups.iter().zip(&expected) {
            assert_eq!(&group.value, value, "{what}");
            assert_eq!(group.count, members.len() as u64, "{what}");
            let hits: Vec<_> = group.hits.iter().map(|found| (found.hit.leaf, found.hit.doc)).collect();
            let first: Vec<_> = members.iter().take(by.hits).map(|one| (one.leaf, one.doc)).collect();
            assert_eq!(hits, first, "{what} {value:?}");
        }
    }
}

/// In the extended Boolean model more documents match if scores are requested: no document may match that is
/// not counted first.
#[test]
fn groups_of_texts_and_bytes_are_refused_whatever_matches() {
    let fixture = (1..).map(|seed| Fixture::new(&mut Rng::with_seed(seed), 120)).find(|fixture| {
        let blob = fixture.field("blob");
        fixture.given.iter().any(|given| !given[&blob].is_empty())
    });
    let fixture = fixture.unwrap();
    let searcher = fixture.snapshot.searcher();
    let by = GroupBy { field: fixture.field("blob"), keys: vec![], groups: 3, hits: 1, missing: false };
    for text in ["*", "nothing", "+nothing +w1 +w0"] {
        let query = fixture.snapshot.parse(text, Operator::Or).unwrap();
        for model in [Model::Classic, Model::PNorm { p: 2.0 }] {
            let refused = searcher.top_groups(&query, model, &by);
            assert!(matches!(refused, Err(Error::Unsupported { .. })), "{text} by {model:?}: {refused:?}");
        }
    }
}
