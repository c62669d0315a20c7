//! Writes the index of one thread as a segment, in one sequential pass.

use super::keys::{self, Keys};
use super::positions;
use super::stats::SegmentStats;
use super::stored::Collector;
use super::terms::TermsWriter;
use super::{NORMS, SEGMENT, SPARSE, STATS, TERMS, file_name};
use crate::error::{Error, Result};
use crate::invert::{Deltas, Inverter, PostingsIter};
use crate::store::{Directory, EnvelopeWriter, Unsynced, WRITE_BUFFER};

/// Memory that a flush takes beyond the inverter's own, in bytes.
pub const FLUSH_BYTES: usize = 16 << 20;

/// Sizes of the buffers that a segment passes on its way to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlushBuffers {
    /// Bytes gathered for a write to the file, from 512 bytes to 64 MiB.
    pub write: usize,
    /// Bytes of postings gathered for the checksum and the buffer of writes, from 512 bytes to 64 MiB.
    pub lists: usize,
}

impl Default for FlushBuffers {
    fn default() -> Self {
        FlushBuffers { write: WRITE_BUFFER, lists: 256 << 10 }
    }
}

impl FlushBuffers {
    /// Refuses sizes out of bounds.
    pub(crate) fn check(&self) -> Result<()> {
        let fits = |bytes: usize| (512..=64 << 20).contains(&bytes);
        match fits(self.write) && fits(self.lists) {
            true => Ok(()),
            false => Err(Error::Options("buffers of a flush must have from 512 bytes to 64 MiB".into())),
        }
    }

    /// Memory that they take beyond [`FLUSH_BYTES`].
    pub(crate) fn extra_bytes(&self) -> usize {
        let usual = Self::default();
        (self.write + 2 * self.lists).saturating_sub(usual.write + 2 * usual.lists)
    }
}

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

/// Writes everything in `inverter` and `stored` to a new segment `id` and empties them. The file must be synced before the commit.
///
/// # Errors
/// Whatever the directory says; the file is then removed.
pub fn flush(
    directory: &dyn Directory,
    id: u128,
    inverter: &mut Inverter,
    keys: &Keys,
    stored: &mut Collector,
    buffers: &FlushBuffers,
) -> Result<(Flushed, Unsynced)> {
    let written = write(directory, id, inverter, keys, stored, buffers);
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
    stored: &mut Collector,
    buffers: &FlushBuffers,
) -> Result<(Flushed, Unsynced)> {
    let mut out = EnvelopeWriter::create(directory, &file_name(id), SEGMENT, id)?.with_buffer(buffers.write);
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
    let mut terms = TermsWriter::new(buffers.lists, inverter.kept());
    inverter.drain_sorted(|term, postings, deltas| match (deltas, postings.only()) {
        (None, Some(posting)) => terms.add_single(term, posting, &mut out),
        (None, None) => terms.add(term, postings, &norms, &mut out),
        (Some(mut deltas), Some((doc, 1))) => terms.add_only(term, doc, deltas.next_delta(), &mut out),
        (Some(deltas), _) => {
            terms.begin_run();
            push_all(&mut terms, postings, deltas, &norms, &mut out)?;
            terms.end_run(term, &norms, &mut out)
        }
    })?;
    stats.terms = terms.terms();
    let run_bytes = terms.run_bytes();
    let sparse = terms.finish(&mut out)?;
    for (kind, bytes) in [(SPARSE, sparse), (NORMS, norms)] {
        out.begin(kind)?;
        out.write(&bytes)?;
    }
    positions::write(run_bytes, &mut out)?;
    keys::write(keys, &mut out)?;
    stored.write(&mut out)?;
    out.begin(STATS)?;
    out.write(&stats.encode())?;
    let unsynced = out.finish()?;
    Ok((Flushed { id, stats, bytes: unsynced.len() }, unsynced))
}

/// Deltas that are taken at once, so that those of a huge document do not gather in memory.
const PIECE: u32 = 1 << 14;

/// Adds what is kept of a term in documents that are not void.
fn push_all(
    terms: &mut TermsWriter,
    mut postings: PostingsIter<'_>,
    mut deltas: Deltas<'_>,
    norms: &[u8],
    out: &mut EnvelopeWriter,
) -> Result<()> {
    while let Some(((doc, freq), live)) = postings.next_of_all() {
        if !live {
            deltas.skip(freq);
            continue;
        }
        terms.push_posting(doc, freq, norms);
        for start in (0..freq).step_by(PIECE as usize) {
            let piece = start..freq.min(start.saturating_add(PIECE));
            terms.push_deltas(piece.map(|_| deltas.next_delta()), out)?;
        }
    }
    Ok(())
}
