//! Gives the live documents of the sources of a merge their new numbers.

use crate::error::{Error, Result};
use crate::segment::reader::Segment;
use crate::segment::renumbering::Renumbering;

/// The maximum number of documents in a segment.
const MOST_DOCUMENTS: u64 = 1 << 31;

/// New numbers for the live documents of all sources, in the order of the sources.
pub(super) fn renumber(sources: &[Segment]) -> Result<Vec<Renumbering>> {
    let live: u64 = sources.iter().map(|source| source.live_documents()).sum();
    if live > MOST_DOCUMENTS {
        return Err(Error::TooMany {
            what: "documents in one segment",
            limit: MOST_DOCUMENTS,
            remedy: "merge fewer segments at once",
        });
    }
    let mut base = 0;
    let numbers = sources.iter().map(|source| {
        let old = source.stats().max_doc;
        let numbers = if source.live_documents() == u64::from(old) {
            Renumbering::of_all(base, old)
        } else {
            Renumbering::new(base, old, |doc| source.is_live(doc))
        };
        base = numbers.end();
        numbers
    });
    Ok(numbers.collect())
}
