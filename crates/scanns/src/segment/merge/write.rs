//! Writes the merged segment, section by section.

use std::collections::BTreeSet;

use super::columns::merge_columns;
use super::documents::merge_documents;
use super::documents_in_order::merge_documents_in_order;
use super::pieces::{FieldMerge, merge_terms};
use super::renumber::renumber;
use super::work::MergeWork;
use crate::error::Result;
use crate::schema::Field;
use crate::segment::flush::{Flushed, write_rest};
use crate::segment::keys::{self, KeySource};
use crate::segment::layout::{SEGMENT, STATS, TERMS, file_name, of_field};
use crate::segment::order::DocumentOrder;
use crate::segment::positions;
use crate::segment::progress::MergeProgress;
use crate::segment::reader::Segment;
use crate::segment::renumbering::Renumbering;
use crate::segment::stats::{FieldStats, SegmentStats};
use crate::store::{Directory, EnvelopeWriter, Unsynced};

/// A merged segment that is written but not yet in a commit.
#[derive(Debug)]
pub struct Merged {
    /// The new segment.
    pub segment: Flushed,
    /// The new numbers of the documents of each source.
    documents: Vec<Renumbering>,
    /// The order into which the documents were then put.
    order: Option<DocumentOrder>,
}

impl Merged {
    /// Returns the new number of a document of a source; `None` if the document did not survive.
    pub fn number(&self, source: usize, doc: u32) -> Option<u32> {
        let kept = self.documents.get(source)?.get(doc)?;
        self.order.as_ref().map_or(Some(kept), |order| order.number(kept))
    }
}

/// Writes the live documents of `sources` to a new segment `id`. They keep their order or get the given one,
/// which must have been computed for these sources. The file must be synced before the commit.
///
/// # Errors
/// The errors of the directory and of `progress`; an error if a source is damaged;
/// [`Error::TooMany`](crate::Error::TooMany) for more than 2³¹ documents. The new file is then removed.
pub fn merge(
    directory: &dyn Directory,
    id: u128,
    sources: &[Segment],
    order: Option<DocumentOrder>,
    work: &MergeWork,
    progress: MergeProgress<'_>,
) -> Result<(Merged, Unsynced)> {
    let written = write(directory, id, sources, order, work, progress);
    if written.is_err() {
        // Report the first error; a file that cannot be removed now is removed at the next commit.
        let _ = directory.remove(&file_name(id));
    }
    written
}

fn write(
    directory: &dyn Directory,
    id: u128,
    sources: &[Segment],
    order: Option<DocumentOrder>,
    work: &MergeWork,
    progress: MergeProgress<'_>,
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
        let (norms, kept) = (merge_norms(&sources, &documents)?, positions::in_common(&sources)?);
        let norms = order.as_ref().map(|order| order.apply(&norms)).unwrap_or(norms);
        let merge = FieldMerge {
            sources: &sources,
            documents: &documents,
            order: order.as_ref(),
            norms: &norms,
            kept,
            work,
        };
        stats.fields.push(write_field(field, merge, &mut out, progress)?);
    }
    let readers = sources.iter().map(Segment::keys).collect::<Result<Vec<_>>>()?;
    let keys: Vec<_> =
        readers.into_iter().zip(&documents).map(|(keys, documents)| KeySource { keys, documents }).collect();
    match &order {
        None => {
            keys::merge(&keys, &mut out)?;
            merge_documents(sources, &documents, &mut out, progress)?;
        }
        Some(order) => {
            keys::merge_in_order(&keys, &documents, order, &mut out)?;
            merge_documents_in_order(sources, &documents, order, &mut out, progress)?;
        }
    }
    merge_columns(sources, &documents, order.as_ref(), &mut out, progress)?;
    out.begin(STATS)?;
    out.write(&stats.encode())?;
    let unsynced = out.finish()?;
    Ok((Merged { segment: Flushed { id, stats, bytes: unsynced.len() }, documents, order }, unsynced))
}

/// Writes the sections of one field and returns its figures.
pub(super) fn write_field(
    field: Field,
    merge: FieldMerge<'_>,
    out: &mut EnvelopeWriter,
    progress: MergeProgress<'_>,
) -> Result<FieldStats> {
    out.begin(of_field(TERMS, field))?;
    let merged = merge_terms(merge, out, progress)?;
    write_rest(field, &merged.sparse, merge.norms, out)?;
    Ok(FieldStats {
        field,
        kept: merge.kept,
        documents_with_terms: merge.norms.iter().filter(|&&norm| norm > 0).count() as u64,
        tokens: merged.tokens,
        terms: merged.terms,
        run_bytes: merged.run_bytes,
    })
}

/// The norms of the survivors in the order of the sources.
pub(super) fn merge_norms(sources: &[Segment], documents: &[Renumbering]) -> Result<Vec<u8>> {
    let mut all = Vec::with_capacity(documents.last().map_or(0, |numbers| numbers.end() as usize));
    for (source, numbers) in sources.iter().zip(documents) {
        let norms = source.norms()?;
        if numbers.shift().is_some() {
            all.extend_from_slice(norms);
        } else {
            let survivors = (0..).zip(norms).filter(|(doc, _)| numbers.get(*doc).is_some());
            all.extend(survivors.map(|(_, norm)| norm));
        }
    }
    Ok(all)
}
