//! What a selection selects in a commit, before anything is deleted or changed.

use std::ops::{ControlFlow, Range};

use super::maintain::{Selection, named_or_below};
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::search::Model;
use crate::segment::Segment;

/// The documents that a selection selects.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview {
    /// The number of selected documents.
    pub selected: u64,
    /// The number of documents of the index.
    pub documents: u64,
    /// The keys of the first selected documents.
    pub keys: Vec<Vec<u8>>,
}

/// What `selection` selects in a commit, with at most this number of keys.
///
/// # Errors
/// A query that does not parse, or keys that cannot be read.
pub(super) fn preview(snapshot: &Snapshot, selection: &Selection, most: usize) -> Result<Preview> {
    let mut found = Preview { selected: 0, documents: snapshot.info().documents, keys: Vec::new() };
    match selection {
        Selection::Query(text, operator) => {
            let (searcher, query) = (snapshot.searcher(), snapshot.parse(text, *operator)?);
            found.selected = searcher.count(&query)?;
            let mut outcome = Ok(());
            searcher.for_each(&query, Model::Classic, |hit| {
                if found.keys.len() >= most {
                    return ControlFlow::Break(());
                }
                match searcher.key(&hit) {
                    Ok(key) => found.keys.push(key),
                    Err(error) => outcome = Err(error),
                }
                if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            outcome?;
        }
        Selection::Keys(keys) => {
            let segments = snapshot.open_segments();
            for (segment, ranges) in
                segments.iter().zip(named_or_below(segments, keys, snapshot.has_entries())?)
            {
                for document in live(segment, ranges) {
                    found.selected += 1;
                    if found.keys.len() < most {
                        found.keys.push(segment.key(document)?);
                    }
                }
            }
        }
    }
    Ok(found)
}

/// The documents of these ranges that are not deleted, each once.
fn live(segment: &Segment, mut ranges: Vec<Range<u32>>) -> impl Iterator<Item = u32> {
    ranges.sort_by_key(|range| range.start);
    let mut next = 0;
    let fresh = ranges.into_iter().flat_map(move |range| {
        let fresh = range.start.max(next)..range.end;
        next = next.max(range.end);
        fresh
    });
    fresh.filter(|&document| segment.is_live(document))
}

#[cfg(test)]
mod tests {
    use crate::index::{Index, Selection};
    use crate::query::Operator;
    use crate::schema::{Document, FieldEntry, Schema};

    #[test]
    fn a_preview_counts_what_a_deletion_deletes() {
        let place = tempfile::tempdir().unwrap();
        let mut schema = Schema::new();
        let text = schema.add(FieldEntry::text("text")).unwrap();
        let index = Index::create(place.path().join("a.scanns"), &schema).unwrap();
        let writer = index.writer().unwrap();
        for (at, key) in ["/d/a", "/d/b", "/d2", "/e/f/g", "plain"].iter().enumerate() {
            writer.add(&Document::new(*key).text(text, if at % 2 == 0 { "even" } else { "odd" })).unwrap();
            writer.commit().unwrap();
        }
        writer.delete("/d/b").unwrap();
        writer.commit().unwrap();
        drop(writer);
        let keys = |keys: &[&str]| Selection::Keys(keys.iter().map(|key| key.as_bytes().to_vec()).collect());
        for selection in [
            keys(&["/d/b"]),
            keys(&["/absent", "nothing"]),
            Selection::Query("odd".into(), Operator::Or),
            keys(&["/d", "/d/a", "/d/"]),
            Selection::Query("even odd".into(), Operator::Or),
        ] {
            let before = index.preview(&selection, 1).unwrap();
            assert_eq!(before.keys.len() as u64, before.selected.min(1));
            let all = index.preview(&selection, 9).unwrap();
            assert_eq!((all.selected, all.keys.len() as u64), (before.selected, before.selected));
            let deleted = index.delete(&selection).unwrap();
            assert_eq!(
                (deleted.deleted, deleted.documents),
                (before.selected, before.documents - before.selected),
                "{selection:?}"
            );
        }
    }
}
