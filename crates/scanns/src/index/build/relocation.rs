//! Moves the documents of files that were moved, so that their text is not read again.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering;

use super::document_source::{DocumentSource, TextField};
use super::file_fields::{FileFields, MissingDates};
use super::index_threads::BuildCall;
use super::report::IndexReport;
use crate::column::ColumnSet;
use crate::content::SKETCH;
use crate::error::{Error, Result};
use crate::index::commit::ledger::Ledger;
use crate::index::commit::moved_files::MovedFile;
use crate::index::commit::writer::SegmentDocuments;
use crate::schema::Field;
use crate::segment::{Keys, MergeWork, RelocatedDocuments, Segment, relocate};

/// Writes the documents of moved files under their new paths, together with the deletes of the old ones.
/// If the build is stopped, the next one moves the rest.
pub(super) fn relocate_moved(
    ledger: &Ledger<'_>,
    source: &DocumentSource,
    call: BuildCall<'_>,
    moved: Vec<MovedFile>,
    report: &mut IndexReport,
) -> Result<()> {
    let DocumentSource::Text(TextField { field, files: Some(fields), .. }) = source else { return Ok(()) };
    let mut by_segment: BTreeMap<u128, Vec<MovedFile>> = BTreeMap::new();
    moved.into_iter().for_each(|file| by_segment.entry(file.place.segment).or_default().push(file));
    for (id, mut files) in by_segment {
        let Some(segment) = ledger.writer().segment(id)? else { continue };
        files.sort_unstable_by_key(|file| file.place.document);
        let relocation = Relocation { ledger, source, fields, field: *field, call };
        match relocation.relocate(&segment, &files) {
            Ok(()) => {
                report.moved += files.len() as u64;
                report.segments += 1;
            }
            Err(Error::Cancelled) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What all segments need.
struct Relocation<'a> {
    ledger: &'a Ledger<'a>,
    source: &'a DocumentSource,
    fields: &'a FileFields,
    field: Field,
    call: BuildCall<'a>,
}

impl Relocation<'_> {
    /// Copies what was found in the text of a document: it does not depend on its path.
    fn copy_found(&self, segment: &Segment, document: u32, columns: &mut ColumnSet) -> Result<()> {
        let mut values = Vec::new();
        for field in self.fields.found.fields().chain(self.source.schema().field(SKETCH)) {
            if let Some(column) = segment.column(field) {
                column.values_of(document, &mut values)?;
                values.drain(..).for_each(|value| columns.push(field, value.as_ref()));
            }
        }
        Ok(())
    }

    /// Moves documents of one segment; `files` are in the order of their documents.
    fn relocate(&self, segment: &Segment, files: &[MovedFile]) -> Result<()> {
        let BuildCall { options, cancel, .. } = self.call;
        let writer = self.ledger.writer();
        let (mut columns, mut missing) = (ColumnSet::new(self.source.schema()), MissingDates::default());
        let mut keys = Keys::default();
        for MovedFile { input, place, .. } in files {
            keys.paths.push(input.path.as_os_str().as_bytes().to_vec());
            keys.stamps.push(input.stamp());
            self.fields.push(&input.entry(), &mut columns, &mut missing);
            self.copy_found(segment, place.document, &mut columns)?;
            columns.end_document()?;
        }
        let documents: Vec<u32> = files.iter().map(|file| file.place.document).collect();
        let relocated = RelocatedDocuments {
            source: segment,
            documents: &documents,
            field: self.field,
            keys: &keys,
            columns: &mut columns,
        };
        let work = MergeWork { buffers: options.buffers, ..MergeWork::default() };
        let mut go_on = |_| if cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) };
        let id = writer.new_id();
        let written = relocate(writer.directory(), id, relocated, &work, &mut go_on)
            .and_then(|(flushed, unsynced)| unsynced.sync().map(|_| flushed));
        let flushed = written.inspect_err(|_| writer.give_up(id))?;
        let replaced = files.iter().filter(|file| file.replaces).map(|file| file.input.key());
        let mut deletions = self.ledger.deletions_of(&replaced.collect::<Vec<_>>())?;
        let gone = files.iter().filter(|file| file.place.is_gone).map(|file| file.place.document);
        let documents = gone.map(|document| document..document + 1).collect();
        deletions.push(SegmentDocuments { id: segment.id(), documents });
        writer.take_in(Some(&flushed), deletions, Vec::new());
        Ok(())
    }
}
