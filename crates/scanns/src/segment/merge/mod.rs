//! Several segments become one: terms are merged in order, deleted documents fall out, the rest is renumbered.
//!
//! Documents keep their order: those of the first source come first. Blocks of postings and of positions are copied where
//! a source lost no document, see `codec/postings/carry.rs`.
//!
//! Everything streams from the sources to the one new file; what is held in memory are the norms, a byte for every
//! document of all sources, a bit and a half for every document of a source that lost some, the sparse index of the new
//! segment, 20 bytes for 64 terms, the list of the term at hand, and where several threads work, the pieces that they have
//! not written yet. `pieces.rs` shares the work among threads, `terms.rs` steps through the terms, in the order that
//! `tournament.rs` finds, `renumber.rs` says what becomes of a document.
//!
//! A merge that is given an order numbers documents by that, and copies nothing: see `reorder/`.

mod pieces;
mod renumber;
mod reorder;
mod terms;
mod tournament;

pub use renumber::Renumbering;
pub use reorder::{Order, Reordering};

use std::collections::BTreeSet;

use super::flush::{FlushBuffers, Flushed, write_rest};
use super::reader::Segment;
use super::stats::{FieldStats, SegmentStats};
use super::{SEGMENT, STATS, TERMS, columns, file_name, keys, of_field, positions, stored};
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::store::{Directory, EnvelopeWriter, Unsynced};
use pieces::{Job, merge_terms};

/// Document numbers in a segment.
const MOST_DOCUMENTS: u64 = 1 << 31;

/// Called now and then with the bytes written so far; its error ends the merge.
pub type GoOn<'a> = &'a mut (dyn FnMut(u64) -> Result<()> + Send);

/// How a merge is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeWork {
    /// Buffers of the new file.
    pub buffers: FlushBuffers,
    /// Threads that merge terms, at least 1.
    pub threads: usize,
    /// Bytes of the sources that one of several threads merges at a time.
    pub piece: u64,
}

impl Default for MergeWork {
    fn default() -> Self {
        MergeWork { buffers: FlushBuffers::default(), threads: 1, piece: 4 << 20 }
    }
}

/// A merge that is written and not yet part of a commit.
#[derive(Debug)]
pub struct Merged {
    /// The new segment.
    pub segment: Flushed,
    /// By source: what became of its documents.
    documents: Vec<Renumbering>,
    /// The order that they were then put in.
    order: Option<Order>,
}

impl Merged {
    /// The new number of a document of a source; `None` if it did not survive.
    pub fn number(&self, source: usize, doc: u32) -> Option<u32> {
        let kept = self.documents.get(source)?.get(doc)?;
        self.order.as_ref().map_or(Some(kept), |order| order.number(kept))
    }
}

/// Writes the live documents of `sources` to a new segment `id`, which must be synced before a commit. They keep their
/// order, or get the one given, which must be of these sources.
///
/// # Errors
/// Whatever the directory and `go_on` say, and damage in a source; the new file is then removed. More than 2³¹ documents
/// are refused.
pub fn merge(
    directory: &dyn Directory,
    id: u128,
    sources: &[Segment],
    order: Option<Order>,
    work: &MergeWork,
    go_on: GoOn<'_>,
) -> Result<(Merged, Unsynced)> {
    let written = write(directory, id, sources, order, work, go_on);
    if written.is_err() {
        // The first error is the one to tell; a file that cannot be removed now is swept at the next commit.
        let _ = directory.remove(&file_name(id));
    }
    written
}

fn write(
    directory: &dyn Directory,
    id: u128,
    sources: &[Segment],
    order: Option<Order>,
    work: &MergeWork,
    go_on: GoOn<'_>,
) -> Result<(Merged, Unsynced)> {
    let documents = renumber(sources)?;
    let mut out =
        EnvelopeWriter::create(directory, &file_name(id), SEGMENT, id)?.with_buffer(work.buffers.write);
    let max_doc = documents.last().map_or(0, Renumbering::end);
    let of_sources = sources.iter().flat_map(|source| &source.stats().fields);
    let fields: BTreeSet<Field> = of_sources.map(|stats| stats.field).collect();
    let mut stats =
        SegmentStats { documents: u64::from(max_doc), max_doc, fields: Vec::new(), void: Vec::new() };
    for field in fields {
        let sources: Vec<Segment> = sources.iter().map(|source| source.in_field(field)).collect();
        stats.fields.push(write_field(&sources, (&documents, order.as_ref()), work, &mut out, go_on)?);
    }
    let readers = sources.iter().map(|source| source.keys()).collect::<Result<Vec<_>>>()?;
    let readers: Vec<_> = readers.into_iter().zip(&documents).collect();
    match &order {
        None => {
            keys::merge(&readers, &mut out)?;
            stored::merge(sources, &documents, &mut out, go_on)?;
        }
        Some(order) => {
            keys::reorder(&readers, &documents, order, &mut out)?;
            stored::reorder(sources, &documents, order, &mut out, go_on)?;
        }
    }
    columns::merge(sources, &documents, order.as_ref(), &mut out, go_on)?;
    out.begin(STATS)?;
    out.write(&stats.encode())?;
    let unsynced = out.finish()?;
    Ok((Merged { segment: Flushed { id, stats, bytes: unsynced.len() }, documents, order }, unsynced))
}

/// Writes the sections of the field that all `sources` are seen through.
fn write_field(
    sources: &[Segment],
    (documents, order): (&[Renumbering], Option<&Order>),
    work: &MergeWork,
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<FieldStats> {
    let field = sources.first().map(|source| source.field_stats().field).unwrap_or_default();
    let norms = merge_norms(sources, documents)?;
    let norms = order.map(|order| order.apply(&norms)).unwrap_or(norms);
    let kept = positions::in_common(sources)?;
    out.begin(of_field(TERMS, field))?;
    let merged = merge_terms(Job { sources, documents, order, norms: &norms, kept, work }, out, go_on)?;
    write_rest(field, &merged.sparse, &norms, out)?;
    Ok(FieldStats {
        field,
        kept,
        documents_with_terms: norms.iter().filter(|&&norm| norm > 0).count() as u64,
        tokens: merged.tokens,
        terms: merged.terms,
        run_bytes: merged.run_bytes,
    })
}

/// New numbers for the live documents of all sources.
fn renumber(sources: &[Segment]) -> Result<Vec<Renumbering>> {
    let live: u64 = sources.iter().map(|source| source.live_documents()).sum();
    if live > MOST_DOCUMENTS {
        return Err(Error::Options(format!(
            "{live} documents are more than the 2^31 that one segment holds"
        )));
    }
    let mut base = 0;
    Ok(sources
        .iter()
        .map(|source| {
            let old = source.stats().max_doc;
            let numbers = match source.live_documents() == u64::from(old) {
                true => Renumbering::of_all(base, old),
                false => Renumbering::new(base, old, |doc| source.is_live(doc)),
            };
            base = numbers.end();
            numbers
        })
        .collect())
}

fn merge_norms(sources: &[Segment], documents: &[Renumbering]) -> Result<Vec<u8>> {
    let mut all = Vec::with_capacity(documents.last().map_or(0, |numbers| numbers.end() as usize));
    for (source, numbers) in sources.iter().zip(documents) {
        let norms = source.norms()?;
        match numbers.shift() {
            Some(_) => all.extend_from_slice(norms),
            None => {
                all.extend(
                    (0..).zip(norms).filter(|(doc, _)| numbers.get(*doc).is_some()).map(|(_, norm)| norm),
                );
            }
        }
    }
    Ok(all)
}
