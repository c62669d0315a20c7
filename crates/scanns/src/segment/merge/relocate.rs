//! Writes some documents of a segment to a new segment, under other keys and with other values of columns.
//! Their terms and stored data are those of the old documents, so nothing is read again.

use super::documents::merge_documents;
use super::pieces::FieldMerge;
use super::work::MergeWork;
use super::write::{merge_norms, write_field};
use crate::column::ColumnSet;
use crate::error::Result;
use crate::schema::Field;
use crate::segment::columns;
use crate::segment::flush::Flushed;
use crate::segment::keys::{self, Keys};
use crate::segment::layout::{SEGMENT, STATS, file_name};
use crate::segment::positions;
use crate::segment::progress::MergeProgress;
use crate::segment::reader::Segment;
use crate::segment::renumbering::Renumbering;
use crate::segment::stats::SegmentStats;
use crate::store::{Directory, EnvelopeWriter, Unsynced};

/// Documents that are written again.
pub struct RelocatedDocuments<'a> {
    /// The segment that has them.
    pub source: &'a Segment,
    /// Their numbers, ascending.
    pub documents: &'a [u32],
    /// The field of the terms that are kept.
    pub field: Field,
    /// Their new keys.
    pub keys: &'a Keys,
    /// Their new values.
    pub columns: &'a mut ColumnSet,
}

/// Writes the documents to a new segment `id`. The file must be synced before the commit.
///
/// # Errors
/// The errors of the directory and of `progress`; an error if the source is damaged. The new file is then
/// removed.
pub fn relocate(
    directory: &dyn Directory,
    id: u128,
    relocated: RelocatedDocuments<'_>,
    work: &MergeWork,
    progress: MergeProgress<'_>,
) -> Result<(Flushed, Unsynced)> {
    let written = write(directory, id, relocated, work, progress);
    if written.is_err() {
        // Report the first error; a file that cannot be removed now is removed at the next commit.
        let _ = directory.remove(&file_name(id));
    }
    written
}

fn write(
    directory: &dyn Directory,
    id: u128,
    relocated: RelocatedDocuments<'_>,
    work: &MergeWork,
    progress: MergeProgress<'_>,
) -> Result<(Flushed, Unsynced)> {
    let RelocatedDocuments { source, documents, field, keys, columns } = relocated;
    let survives = |doc: u32| documents.binary_search(&doc).is_ok();
    let numbers = [Renumbering::new(0, source.stats().max_doc, survives)];
    let max_doc = numbers.iter().map(Renumbering::survivors).sum();
    let mut out =
        EnvelopeWriter::create(directory, &file_name(id), SEGMENT, id)?.with_buffer(work.buffers.write);
    let mut stats =
        SegmentStats { documents: u64::from(max_doc), max_doc, fields: Vec::new(), void: Vec::new() };
    if source.stats().fields.iter().any(|stats| stats.field == field) {
        let sources = [source.in_field(field)];
        let (norms, kept) = (merge_norms(&sources, &numbers)?, positions::in_common(&sources)?);
        let merge =
            FieldMerge { sources: &sources, documents: &numbers, order: None, norms: &norms, kept, work };
        stats.fields.push(write_field(field, merge, &mut out, progress)?);
    }
    keys::write(keys, &mut out)?;
    merge_documents(std::slice::from_ref(source), &numbers, &mut out, progress)?;
    columns::write(columns, &mut out)?;
    out.begin(STATS)?;
    out.write(&stats.encode())?;
    let unsynced = out.finish()?;
    Ok((Flushed { id, stats, bytes: unsynced.len() }, unsynced))
}
