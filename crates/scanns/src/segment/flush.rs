//! Writes the documents that an index thread has in memory as a segment, in one sequential pass.

use super::columns;
use super::keys::{self, Keys};
use super::layout::{NORMS, SEGMENT, SPARSE, STATS, TERMS, file_name, of_field};
use super::stats::{FieldStats, SegmentStats};
use super::stored::StoredCollector;
use super::terms::{HeadedTerm, TermsWriter, write_sparse};
use crate::codec::{Columns, OnlyPositions, WithOffsets};
use crate::column::ColumnSet;
use crate::error::{Error, Result};
use crate::invert::{Deltas, Inverter, PostingsIter};
use crate::schema::{Field, Postings};
use crate::store::{Directory, EnvelopeWriter, Unsynced, WRITE_BUFFER};

/// Bytes of memory that a flush needs in addition to the memory of the inverter.
pub const FLUSH_BYTES: usize = 16 << 20;

/// Sizes of the buffers through which a segment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlushBuffers {
    /// Bytes per write to the file, from 512 bytes to 64 MiB.
    pub write: usize,
    /// Bytes of postings to collect before they are passed to the write buffer, from 512 bytes to 64 MiB.
    pub lists: usize,
}

impl Default for FlushBuffers {
    fn default() -> Self {
        FlushBuffers { write: WRITE_BUFFER, lists: 256 << 10 }
    }
}

impl FlushBuffers {
    /// Returns an error for sizes that are out of bounds.
    pub(crate) fn check(&self) -> Result<()> {
        match [self.write, self.lists].into_iter().find(|bytes| !(512..=64 << 20).contains(bytes)) {
            Some(bytes) => Err(Error::invalid("flush buffer", bytes, "from 512 bytes to 64 MiB")),
            None => Ok(()),
        }
    }

    /// Bytes of memory that the buffers need in addition to [`FLUSH_BYTES`].
    pub(crate) fn extra_bytes(&self) -> usize {
        let usual = Self::default();
        (self.write + 2 * self.lists).saturating_sub(usual.write + 2 * usual.lists)
    }
}

/// A segment that is written but not yet in a commit.
#[derive(Clone, Debug)]
pub struct Flushed {
    /// The identity of the segment.
    pub id: u128,
    /// The figures of the segment.
    pub stats: SegmentStats,
    /// Length of the file in bytes.
    pub bytes: u64,
}

/// The documents of a segment to be written. All members have the same documents.
pub struct SegmentContents<'a> {
    /// The inverter of each searched field, in ascending order of the fields.
    pub fields: Vec<(Field, &'a mut Inverter)>,
    /// The keys of the documents.
    pub keys: &'a Keys,
    /// Stored text and vectors.
    pub stored: &'a mut StoredCollector,
    /// Typed values.
    pub columns: &'a mut ColumnSet,
}

/// Writes `contents` to a new segment `id`, and empties everything in it except the keys. The file must be
/// synced before the commit.
///
/// # Errors
/// The errors of the directory; the file is then removed.
pub fn flush(
    directory: &dyn Directory,
    id: u128,
    mut contents: SegmentContents<'_>,
    buffers: &FlushBuffers,
) -> Result<(Flushed, Unsynced)> {
    let written = write(directory, id, &mut contents, buffers);
    if written.is_err() {
        contents.fields.iter_mut().for_each(|(_, inverter)| inverter.clear());
        // Report the first error; a file that cannot be removed now is removed at the next commit.
        let _ = directory.remove(&file_name(id));
    }
    written
}

fn write(
    directory: &dyn Directory,
    id: u128,
    contents: &mut SegmentContents<'_>,
    buffers: &FlushBuffers,
) -> Result<(Flushed, Unsynced)> {
    let SegmentContents { fields, keys, stored, columns } = contents;
    let mut out = EnvelopeWriter::create(directory, &file_name(id), SEGMENT, id)?.with_buffer(buffers.write);
    let first = fields.first().map(|(_, inverter)| inverter);
    let void = first.map_or(&[][..], |inverter| inverter.void_documents()).to_vec();
    let max_doc = first.map_or(0, |inverter| inverter.max_doc());
    let documents = u64::from(max_doc) - void.len() as u64;
    let mut stats = SegmentStats { documents, max_doc, fields: Vec::with_capacity(fields.len()), void };
    for (field, inverter) in fields {
        // Without terms, the norms say nothing: entries of file systems have no text.
        if inverter.tokens() == 0 {
            inverter.clear();
        } else {
            stats.fields.push(write_field(*field, inverter, buffers, &mut out)?);
        }
    }
    keys::write(keys, &mut out)?;
    stored.write(&mut out)?;
    columns::write(columns, &mut out)?;
    out.begin(STATS)?;
    out.write(&stats.encode())?;
    let unsynced = out.finish()?;
    Ok((Flushed { id, stats, bytes: unsynced.len() }, unsynced))
}

/// Writes the sections of one field and returns its figures.
fn write_field(
    field: Field,
    inverter: &mut Inverter,
    buffers: &FlushBuffers,
    out: &mut EnvelopeWriter,
) -> Result<FieldStats> {
    let norms = inverter.take_norms();
    let mut stats = FieldStats {
        field,
        kept: inverter.kept(),
        documents_with_terms: inverter.documents_with_terms(),
        tokens: inverter.tokens(),
        terms: 0,
        run_bytes: 0,
    };
    out.begin(of_field(TERMS, field))?;
    let mut terms = TermsWriter::new(buffers.lists, stats.kept);
    match stats.kept {
        Postings::Documents => stats.tokens = write_documents(inverter, &mut terms, &norms, out)?,
        Postings::Frequencies => inverter.drain_sorted(|(term, head), postings, _| {
            let term = HeadedTerm { term, head };
            match postings.only() {
                Some((doc, freq)) => terms.add_single(term, doc, freq, out),
                None => terms.add(term, postings, &norms, out),
            }
        })?,
        Postings::Positions => write_runs::<OnlyPositions>(inverter, &mut terms, &norms, out)?,
        Postings::Offsets => write_runs::<WithOffsets>(inverter, &mut terms, &norms, out)?,
    }
    stats.terms = terms.terms();
    stats.run_bytes = terms.run_bytes().unwrap_or(0);
    let sparse = terms.finish(out)?;
    write_rest(field, &sparse, &norms, out)?;
    Ok(stats)
}

/// Writes all terms without their frequencies; returns the number of postings.
fn write_documents(
    inverter: &mut Inverter,
    terms: &mut TermsWriter,
    norms: &[u8],
    out: &mut EnvelopeWriter,
) -> Result<u64> {
    let mut count = 0;
    inverter.drain_sorted(|(term, head), postings, _| {
        let once = postings.inspect(|_| count += 1).map(|(doc, _)| (doc, 1));
        terms.add(HeadedTerm { term, head }, once, norms, out)
    })?;
    Ok(count)
}

/// Writes all terms with their positions, and with their offsets if `C` has them.
fn write_runs<C: Columns>(
    inverter: &mut Inverter,
    terms: &mut TermsWriter,
    norms: &[u8],
    out: &mut EnvelopeWriter,
) -> Result<()> {
    inverter.drain_sorted(|(term, head), postings, deltas| {
        let term = HeadedTerm { term, head };
        match (deltas, postings.only()) {
            (None, _) => terms.add(term, postings, norms, out),
            (Some(mut deltas), Some((doc, 1))) => {
                terms.add_only::<C>(term, doc, deltas.next_occurrence(), out)
            }
            (Some(deltas), _) => {
                terms.begin_run();
                push_all::<C>(terms, postings, deltas, norms, out)?;
                terms.end_run(term, norms, out)
            }
        }
    })
}

/// Writes the sections of a field that follow its terms.
pub(super) fn write_rest(field: Field, sparse: &[u8], norms: &[u8], out: &mut EnvelopeWriter) -> Result<()> {
    out.begin(of_field(SPARSE, field))?;
    write_sparse(sparse, out)?;
    out.begin(of_field(NORMS, field))?;
    out.write(norms)
}

/// Number of deltas that are passed on together, so that the deltas of a huge document do not fill the
/// memory.
const PIECE: u32 = 1 << 14;

/// Adds the postings of a term and their deltas, except those of void documents.
fn push_all<C: Columns>(
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
            if C::OFFSETS {
                terms.push_occurrences(piece.map(|_| deltas.next_occurrence()), out)?;
            } else {
                terms.push_deltas(piece.map(|_| deltas.next_delta()), out)?;
            }
        }
    }
    Ok(())
}
