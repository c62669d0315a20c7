//! Values of columns that documents got after their segment was written: a file beside it, a new one for each commit that
//! changes more.
//!
//! For each column with changed values the file has the blocks in which they are, and an index over all blocks of the
//! column, which leads to those of the segment where nothing was changed. So what is written for a few values are a few
//! blocks and the index, and what is read is as quick as before. The sections are numbered as in a segment.
//!
//! ```text
//! blocks = block …           as in the segment; the index counts their offsets from the end of its blocks on
//! index                      as in the segment
//! ```
//!
//! Until they are committed, such files are in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::columns::fields_of;
use super::{file_name, of_field};
use crate::column::{BLOCKS, Column, ColumnKind, Entry, INDEX, NewValues};
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::store::{Directory, Envelope, EnvelopeWriter, FileKind, RamDirectory};

/// Format of the files.
const UPDATES: FileKind = FileKind { magic: *b"SCANNUPD", format: 1 };

/// Blocks between two looks at what was changed are few; this is enough for their buffer.
const BUFFER: usize = 64 << 10;

/// By field, what its values are, and the documents that get others.
pub type Changes = BTreeMap<Field, (ColumnKind, NewValues)>;

/// Changed values of one segment.
#[derive(Debug)]
pub struct Updates {
    file: Envelope,
    /// The commit that they are of; 0 as long as they are in memory only.
    generation: u64,
}

/// The columns of a segment: as it was written, what they became, and its documents.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) id: u128,
    pub(super) documents: u32,
    pub(super) columns: &'a [(Field, Column)],
}

impl Updates {
    /// Opens what a commit wrote for a segment.
    pub(super) fn open(directory: &dyn Directory, id: u128, generation: u64) -> Result<Self> {
        let name = updates_file_name(id, generation);
        let file = Envelope::open(directory, &name, UPDATES)?;
        match file.id() == id {
            true => Ok(Updates { file, generation }),
            false => Err(Error::corrupt(name, format!("it is of segment {:032x}", file.id()))),
        }
    }

    /// The commit that they are of; 0 as long as they are in memory only.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.file.file_len()
    }

    /// Verifies all checksums.
    pub(super) fn verify(&self, go_on: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        self.file.verify(go_on)
    }

    /// Fields of which values were changed.
    pub(super) fn fields(&self) -> BTreeSet<Field> {
        fields_of(&self.file)
    }

    /// The columns of a segment with these changes.
    pub(super) fn apply(&self, written: Written<'_>) -> Result<Vec<(Field, Column)>> {
        let mut columns: BTreeMap<Field, Column> = written.columns.iter().cloned().collect();
        for field in self.fields() {
            let section = |kind| self.file.shared_section(of_field(kind, field)).map(Arc::clone);
            let column = match columns.get(&field) {
                Some(column) => column.with_newer(section(BLOCKS)?, section(INDEX)?)?,
                None => Column::open(section, written.documents)?,
            };
            columns.insert(field, column);
        }
        Ok(columns.into_iter().collect())
    }

    /// The columns `now` of a segment with other values, in memory.
    pub(super) fn made_of(
        written: Written<'_>,
        now: &[(Field, Column)],
        before: Option<&Updates>,
        changes: &Changes,
    ) -> Result<Self> {
        let memory = RamDirectory::new();
        write(&memory, 0, (written, now), before, changes)?;
        Ok(Updates { generation: 0, ..Updates::open(&memory, written.id, 0)? })
    }

    /// Writes them as those of a commit, durably; returns the bytes written.
    pub(super) fn write(
        &self,
        directory: &dyn Directory,
        generation: u64,
        columns: (Written<'_>, &[(Field, Column)]),
    ) -> Result<u64> {
        write(directory, generation, columns, Some(self), &Changes::new())
    }
}

/// Writes a file with what was changed before and what is changed now.
fn write(
    directory: &dyn Directory,
    generation: u64,
    (written, now): (Written<'_>, &[(Field, Column)]),
    before: Option<&Updates>,
    changes: &Changes,
) -> Result<u64> {
    let name = updates_file_name(written.id, generation);
    let mut out = EnvelopeWriter::create(directory, &name, UPDATES, written.id)?.with_buffer(BUFFER);
    let fields = before.map(Updates::fields).unwrap_or_default();
    let none = NewValues::new();
    for field in fields.into_iter().chain(changes.keys().copied()).collect::<BTreeSet<Field>>() {
        let (of_written, of_now) = (find(written.columns, field), find(now, field));
        let change = changes.get(&field);
        let kind = of_now.map(Column::kind).or(change.map(|(kind, _)| *kind));
        let kind = kind.filter(|kind| kind.is_number() && change.is_none_or(|(of, _)| of == kind));
        let values = change.map_or(&none, |(_, values)| values);
        let Some(kind) = kind else {
            return Err(Error::corrupt(file_name(written.id), "a column has another kind than its field"));
        };
        out.begin(of_field(BLOCKS, field))?;
        let index = kind.rewrite(of_written, of_now, written.documents, values, &mut out)?;
        out.begin(of_field(INDEX, field))?;
        out.write(&index)?;
    }
    out.finish()?.sync()
}

/// The column of a field.
pub(super) fn find(columns: &[(Field, Column)], field: Field) -> Option<&Column> {
    let place = columns.binary_search_by_key(&field, |(field, _)| *field).ok()?;
    columns.get(place).map(|(_, column)| column)
}

/// Calls `visit` with each document whose values are others in `now` than in `then`, and with those it has now. Both are of
/// one segment, and `now` has all changes of `then` and perhaps more.
pub(super) fn each_difference(
    (then, now): (Option<&Column>, &Column),
    mut visit: impl FnMut(u32, Vec<u64>),
) -> Result<()> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for block in 0..now.blocks() {
        let entry = now.entry(block)?;
        if let Some(then) = then {
            let place = then.block_of(entry.first)?;
            let before = then.entry(place)?;
            // How values are written is in the entry, and not in the block.
            let same = Entry { offset: entry.offset, ..before } == entry;
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
                visit(doc, new.clone());
            }
        }
    }
    Ok(())
}

/// Name of the file of the changed values of segment `id` that commit `generation` published.
pub fn updates_file_name(id: u128, generation: u64) -> String {
    format!("{id:032x}-{generation:010}.upd")
}
