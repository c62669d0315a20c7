//! Writes the index of one thread as a segment, in one sequential pass.

use super::keys::Keys;
use super::stats::SegmentStats;
use super::terms::TermsWriter;
use super::{KEYS, NORMS, SEGMENT, SPARSE, STATS, TERMS, file_name};
use crate::error::Result;
use crate::invert::Inverter;
use crate::store::{Directory, EnvelopeWriter, Unsynced};

/// Memory that a flush takes beyond the inverter's own, in bytes.
pub const FLUSH_BYTES: usize = 16 << 20;

/// A segment that is written and not yet part of a commit.
#[derive(Clone, Debug)]
pub struct Flushed {
    /// Its identity.
    pub id: u128,
    /// Its figures.
    pub stats: SegmentStats,
    /// Length of its file in bytes.
    pub bytes: u64,
}

/// Writes everything in `inverter` to a new segment `id` and empties it. The file must be synced before the commit.
///
/// # Errors
/// Whatever the directory says; the file is then removed.
pub fn flush(
    directory: &dyn Directory,
    id: u128,
    inverter: &mut Inverter,
    keys: &Keys,
) -> Result<(Flushed, Unsynced)> {
    let written = write(directory, id, inverter, keys);
    if written.is_err() {
        inverter.clear();
        // The first error is the one to tell; a file that cannot be removed now is swept at the next commit.
        let _ = directory.remove(&file_name(id));
    }
    written
}

fn write(
    directory: &dyn Directory,
    id: u128,
    inverter: &mut Inverter,
    keys: &Keys,
) -> Result<(Flushed, Unsynced)> {
    let mut out = EnvelopeWriter::create(directory, &file_name(id), SEGMENT, id)?;
    let norms = inverter.take_norms();
    let void = inverter.void_documents().to_vec();
    let max_doc = inverter.max_doc();
    let mut stats = SegmentStats {
        documents: u64::from(max_doc) - void.len() as u64,
        documents_with_terms: inverter.documents_with_terms(),
        tokens: inverter.tokens(),
        terms: 0,
        max_doc,
        void,
    };
    out.begin(TERMS)?;
    let mut terms = TermsWriter::new();
    inverter.drain_sorted(|term, postings| match postings.only() {
        Some(posting) => terms.add_single(term, posting, &mut out),
        None => terms.add(term, postings, &norms, &mut out),
    })?;
    stats.terms = terms.terms();
    let sparse = terms.finish(&mut out)?;
    for (kind, bytes) in [(SPARSE, sparse), (NORMS, norms), (KEYS, keys.encode()), (STATS, stats.encode())] {
        out.begin(kind)?;
        out.write(&bytes)?;
    }
    let unsynced = out.finish()?;
    Ok((Flushed { id, stats, bytes: unsynced.len() }, unsynced))
}
