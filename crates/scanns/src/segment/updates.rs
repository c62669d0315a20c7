//! Column values that were changed after their segment was written, in a separate file. Each commit that
//! changes more values writes a new file.
//!
//! For each column with changed values the file has the blocks that contain them and an index over all blocks
//! of the column; for unchanged blocks, the index refers to the segment. So changing a few values writes a
//! few blocks and the index, and reading is as fast as before. The sections are numbered as in a segment.
//!
//! ```text
//! blocks = block …           as in the segment; their offsets begin at the end of the segment's blocks
//! index                      as in the segment
//! ```
//!
//! Until they are committed, such files are in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::columns::{fields_of, find};
use super::layout::{file_name, of_field, updates_file_name};
use crate::column::{BLOCKS, Column, ColumnKind, INDEX, JumpEntry, NewValues};
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::store::{Directory, Envelope, EnvelopeWriter, FileKind, RamDirectory};

/// Kind and format version of the files.
const UPDATES: FileKind = FileKind { magic: *b"SCANNUPD", format: 2, oldest: 1 };

/// Bytes of the write buffer; an update writes few blocks.
const BUFFER: usize = 64 << 10;

/// The kind of the values of each field, and the new values of documents.
pub type Changes = BTreeMap<Field, (ColumnKind, NewValues)>;

/// Changed values of one segment.
#[derive(Debug)]
pub struct Updates {
    file: Envelope,
    /// The generation of the commit that published them; 0 while they are only in memory.
    generation: u64,
}

/// The columns of a segment before and after the updates so far.
#[derive(Clone, Copy)]
pub(super) struct SegmentColumns<'a> {
    /// The segment.
    pub(super) id: u128,
    /// Number of its documents.
    pub(super) documents: u32,
    /// The columns as they were written with the segment.
    pub(super) written: &'a [(Field, Column)],
    /// The columns with all updates so far.
    pub(super) now: &'a [(Field, Column)],
}

impl Updates {
    /// Opens the file that commit `generation` published for segment `id`.
    pub(super) fn open(directory: &dyn Directory, id: u128, generation: u64) -> Result<Self> {
        let name = updates_file_name(id, generation);
        let file = Envelope::open(directory, &name, UPDATES)?;
        if file.id() == id {
            Ok(Updates { file, generation })
        } else {
            Err(Error::corrupt(name, format!("it belongs to segment {:032x}", file.id())))
        }
    }

    /// Returns the generation of the commit that published them; 0 while they are only in memory.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.file.file_len()
    }

    /// Verifies all checksums.
    pub(super) fn verify(&self, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        self.file.verify(progress)
    }

    /// The fields whose values were changed.
    pub(super) fn fields(&self) -> BTreeSet<Field> {
        fields_of(&self.file)
    }

    /// The columns of a segment of `documents` documents with these updates; `written` are the columns of the
    /// segment file.
    pub(super) fn apply(&self, written: &[(Field, Column)], documents: u32) -> Result<Vec<(Field, Column)>> {
        let mut columns: BTreeMap<Field, Column> = written.iter().cloned().collect();
        for field in self.fields() {
            let section = |kind| self.file.shared_section(of_field(kind, field)).map(Arc::clone);
            let column = match columns.get(&field) {
                Some(column) => column.with_newer(section(BLOCKS)?, section(INDEX)?)?,
                None => Column::open(section, documents)?,
            };
            columns.insert(field, column);
        }
        Ok(columns.into_iter().collect())
    }

    /// Adds `changes` to the updates `before`; the result is in memory.
    pub(super) fn with_changes(
        columns: SegmentColumns<'_>,
        before: Option<&Updates>,
        changes: &Changes,
    ) -> Result<Self> {
        let memory = RamDirectory::new();
        write(&memory, 0, columns, before, changes)?;
        Ok(Updates { generation: 0, ..Updates::open(&memory, columns.id, 0)? })
    }

    /// Writes the updates durably, as the file that commit `generation` publishes. Returns the bytes written.
    pub(super) fn write(
        &self,
        directory: &dyn Directory,
        generation: u64,
        columns: SegmentColumns<'_>,
    ) -> Result<u64> {
        write(directory, generation, columns, Some(self), &Changes::new())
    }
}

/// Writes a file with the updates `before` and `changes`.
fn write(
    directory: &dyn Directory,
    generation: u64,
    columns: SegmentColumns<'_>,
    before: Option<&Updates>,
    changes: &Changes,
) -> Result<u64> {
    let name = updates_file_name(columns.id, generation);
    let mut out = EnvelopeWriter::create(directory, &name, UPDATES, columns.id)?.with_buffer(BUFFER);
    let fields = before.map(Updates::fields).unwrap_or_default();
    let none = NewValues::new();
    for field in fields.into_iter().chain(changes.keys().copied()).collect::<BTreeSet<Field>>() {
        let (written, now) = (find(columns.written, field), find(columns.now, field));
        let change = changes.get(&field);
        let kind = now.map(Column::kind).or(change.map(|(kind, _)| *kind));
        let kind = kind.filter(|kind| kind.is_number() && change.is_none_or(|(of, _)| of == kind));
        let values = change.map_or(&none, |(_, values)| values);
        let Some(kind) = kind else {
            let what = "the kind of a column differs from the kind of its field";
            return Err(Error::corrupt(file_name(columns.id), what));
        };
        out.begin(of_field(BLOCKS, field))?;
        let index = kind.rewrite(written, now, columns.documents, values, &mut out)?;
        out.begin(of_field(INDEX, field))?;
        out.write(&index)?;
    }
    out.finish()?.sync()
}

/// The documents whose values in `now` differ from their values in `then`, with their values in `now`. Both
/// are states of the same column; `now` has all changes of `then` and perhaps more. Blocks that both share
/// are not read.
pub(super) fn differences(then: Option<&Column>, now: &Column) -> Result<NewValues> {
    let (mut old, mut new, mut changed) = (Vec::new(), Vec::new(), NewValues::new());
    for block in 0..now.blocks() {
        let entry = now.entry(block)?;
        if let Some(then) = then {
            let place = then.block_of(entry.first)?;
            let before = then.entry(place)?;
            // The encoding of the values is in the entry, not in the block.
            let same = JumpEntry { offset: entry.offset, ..before } == entry;
            if same && then.block_bytes(place, &before)? == now.block_bytes(block, &entry)? {
                continue;
            }
        }
        for doc in entry.first..entry.first + entry.documents {
            old.clear();
            new.clear();
            then.map_or(Ok(()), |then| then.get(doc, &mut old))?;
            now.get(doc, &mut new)?;
            if old != new {
                changed.insert(doc, new.clone());
            }
        }
    }
    Ok(changed)
}
