//! Reads entries of a file system out of the columns of an index.

use std::ops::ControlFlow;

use crate::column::{Column, ColumnKind};
use crate::error::{Error, Result};
use crate::index::snapshot::Snapshot;
use crate::index::snapshot::batch::{Batch, BatchColumn, BatchField, BatchOptions};
use crate::query::{Query, ValueRange};
use crate::schema::{Field, FieldKind, Value, ValueRef};
use crate::segment::Segment;
use crate::source::{Entry, EntryBatch, EntryKind};

/// The columns, in the order of [`EntryReader::columns`].
const COLUMNS: [(&str, FieldKind); 21] = [
    ("path", FieldKind::Path),
    ("type", FieldKind::Keyword),
    ("target", FieldKind::Keyword),
    ("owner", FieldKind::Keyword),
    ("group", FieldKind::Keyword),
    ("mtime", FieldKind::Date),
    ("atime", FieldKind::Date),
    ("ctime", FieldKind::Date),
    ("btime", FieldKind::Date),
    ("size", FieldKind::Unsigned),
    ("blocks", FieldKind::Unsigned),
    ("uid", FieldKind::Unsigned),
    ("gid", FieldKind::Unsigned),
    ("mode", FieldKind::Unsigned),
    ("inode", FieldKind::Unsigned),
    ("links", FieldKind::Unsigned),
    ("device", FieldKind::Unsigned),
    ("name", FieldKind::Keyword),
    ("depth", FieldKind::Unsigned),
    ("ext", FieldKind::Keyword),
    ("rdev", FieldKind::Unsigned),
];

/// The last of the columns, which indexes of earlier versions and of files alone do not have.
const OPTIONAL: &str = "rdev";

/// All columns of an entry. Its name is a part of its path.
pub(super) const ALL: [&str; 17] = [
    "type", "target", "owner", "group", "mtime", "atime", "ctime", "btime", "size", "blocks", "uid", "gid",
    "mode", "inode", "links", "device", "rdev",
];

/// A part of the documents of an index, by leaf and document: from one on, up to another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EntryPart {
    from: (usize, u32),
    to: Option<(usize, u32)>,
}

/// Receives the columns of a batch of entries, and the number of rows that are wanted.
pub(super) type VisitColumns<'v> = dyn FnMut(&[BatchColumn], usize) -> Result<ControlFlow<()>> + 'v;

/// Reads entries of an index.
#[derive(Clone, Debug)]
pub(super) struct EntryReader<'s> {
    pub(super) snapshot: &'s Snapshot,
    /// The fields of [`COLUMNS`]; `None` for one that the index does not have.
    fields: [Option<Field>; COLUMNS.len()],
}

impl<'s> EntryReader<'s> {
    /// Reads the entries of `snapshot`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if documents are not files with metadata.
    pub(super) fn new(snapshot: &'s Snapshot) -> Result<Self> {
        let mut fields = [None; COLUMNS.len()];
        for (slot, (name, kind)) in fields.iter_mut().zip(&COLUMNS) {
            let field = snapshot.schema().field(name).filter(|&field| {
                let entry = snapshot.schema().entry(field);
                entry.is_some_and(|entry| entry.kind == *kind && entry.column)
            });
            if field.is_none() && *name != OPTIONAL {
                return Err(Error::Unsupported {
                    what: "a question about the entries of a file system".into(),
                    remedy: "index files with their metadata, or import a dump".into(),
                });
            }
            *slot = field;
        }
        Ok(EntryReader { snapshot, fields })
    }

    /// The field of a column.
    pub(super) fn field(&self, name: &str) -> Field {
        let at = COLUMNS.iter().position(|(known, _)| *known == name).unwrap_or(0);
        self.fields.get(at).copied().flatten().unwrap_or_default()
    }

    /// Whether an entry has a value in a column.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the values cannot be read, as a view does.
    pub(super) fn has_values(&self, name: &str) -> Result<bool> {
        let field = self.field(name);
        if self.snapshot.is_view() {
            return Ok(self.snapshot.searcher().count(&Query::Values(ValueRange::any(field)))? > 0);
        }
        let mut columns = self.snapshot.leaves().iter().filter_map(|leaf| leaf.column(field));
        Ok(columns.any(|column| column.present() > 0))
    }

    /// The field of entries with several names; `None` in indexes of earlier versions.
    pub(super) fn linked(&self) -> Option<Field> {
        let schema = self.snapshot.schema();
        schema.field("linked").filter(|&field| {
            schema.entry(field).is_some_and(|entry| entry.kind == FieldKind::Unsigned && entry.column)
        })
    }

    /// True if every document has a value of a field.
    pub(super) fn all_have(&self, field: Field) -> bool {
        let has = |column: &Column| column.present() == u64::from(column.documents());
        self.snapshot.leaves().iter().all(|leaf| leaf.column(field).is_some_and(has))
    }

    /// False if no document has this keyword in a field.
    pub(super) fn may_have(&self, field: Field, keyword: &[u8]) -> bool {
        let terms = |leaf: &'s Segment| leaf.column(field).and_then(Column::terms);
        // Damage is reported by the query that reads the dictionary next.
        self.snapshot
            .leaves()
            .iter()
            .filter_map(terms)
            .any(|terms| !matches!(terms.find(keyword), Ok(Err(_))))
    }

    /// Calls `visit` with the entries that match `query`, segment by segment in the order of documents. They
    /// have the path and the values of the columns `wanted`.
    pub(super) fn for_each(
        &self,
        query: &Query,
        wanted: &[&str],
        visit: &mut dyn FnMut(&Entry<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.for_each_in(&EntryPart::default(), query, wanted, visit)
    }

    /// Like [`EntryReader::for_each`], for the entries of a part of the documents.
    pub(super) fn for_each_in(
        &self,
        part: &EntryPart,
        query: &Query,
        wanted: &[&str],
        visit: &mut dyn FnMut(&Entry<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let (places, fields) = self.chosen(wanted);
        self.for_each_batch_in(part, query, &fields, &mut |columns, rows| {
            for row in 0..rows {
                let row = EntryRow { columns, places: &places, row };
                if visit(&row.entry())?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Calls `visit` with the entries that match `query` and all that the index has of them, with extended
    /// attributes and ACLs: an entry that has none has an empty text if the index stores them.
    pub(super) fn for_each_with_attributes(
        &self,
        query: &Query,
        visit: &mut dyn FnMut(&Entry<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let (places, mut fields) = self.chosen(&ALL);
        let attributes = ["xattrs", "acl"].map(|name| {
            fields.push(BatchField::Values(self.attribute(name)?));
            Some(fields.len() - 1)
        });
        let mut texts = [Vec::new(), Vec::new()];
        self.for_each_batch_in(&EntryPart::default(), query, &fields, &mut |columns, rows| {
            for row in 0..rows {
                let mut known = [None; 2];
                for ((text, at), slot) in texts.iter_mut().zip(attributes).zip(&mut known) {
                    if let Some(column) = at.and_then(|at| columns.get(at)) {
                        read_lines(column, row, text);
                        *slot = Some(text.as_slice());
                    }
                }
                let [xattrs, acl] = known;
                let row = EntryRow { columns, places: &places, row };
                if visit(&Entry { xattrs, acl, ..row.entry() })?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The field of extended attributes or ACLs; `None` if the index does not store them.
    fn attribute(&self, name: &str) -> Option<Field> {
        let schema = self.snapshot.schema();
        let is_text = |kind: &FieldKind| matches!(kind, FieldKind::Text { .. } | FieldKind::Keyword);
        let is_it =
            |field: &Field| schema.entry(*field).is_some_and(|entry| is_text(&entry.kind) && entry.column);
        schema.field(name).filter(is_it)
    }

    /// The fields of the columns `wanted`, and by number in [`COLUMNS`] their places among them.
    fn chosen(&self, wanted: &[&str]) -> ([usize; COLUMNS.len()], Vec<BatchField>) {
        let mut places = [usize::MAX; COLUMNS.len()];
        let mut fields = Vec::new();
        for (at, (((name, _), field), slot)) in COLUMNS.iter().zip(&self.fields).zip(&mut places).enumerate()
        {
            if let Some(field) = field.filter(|_| at == 0 || wanted.contains(name)) {
                *slot = fields.len();
                fields.push(BatchField::Values(field));
            }
        }
        (places, fields)
    }

    /// Calls `visit` with batches of the columns of the entries of a part that match `query`, and the number
    /// of rows that belong to the part; the columns may have more.
    pub(super) fn for_each_batch_in(
        &self,
        part: &EntryPart,
        query: &Query,
        fields: &[BatchField],
        visit: &mut VisitColumns<'_>,
    ) -> Result<()> {
        let options = BatchOptions { from: part.from, ..BatchOptions::default() };
        self.snapshot.for_each_batch(query, fields, &options, &mut |batch: &Batch<'_>| {
            let rows = match part.to {
                Some((leaf, _)) if batch.leaf > leaf => 0,
                Some((leaf, to)) if batch.leaf == leaf => batch.docs.partition_point(|&doc| doc < to),
                _ => batch.docs.len(),
            };
            let goes_on = rows == 0 || visit(batch.columns, rows)?.is_continue();
            let is_last = rows < batch.docs.len();
            Ok(if goes_on && !is_last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })
    }

    /// At most this number of parts that together have all documents, in order, each with about the same
    /// number of them and at least `least`.
    pub(super) fn parts(&self, most: usize, least: u64) -> Vec<EntryPart> {
        let sizes: Vec<u32> = self.snapshot.leaves().iter().map(|leaf| leaf.stats().max_doc).collect();
        let all: u64 = sizes.iter().map(|&documents| u64::from(documents)).sum();
        let count = (all / least.max(1)).clamp(1, most.max(1) as u64);
        let place = |number: u64| {
            let mut rest = number;
            for (leaf, &documents) in sizes.iter().enumerate() {
                match u32::try_from(rest) {
                    Ok(rest) if rest < documents => return (leaf, rest),
                    _ => rest = rest.saturating_sub(u64::from(documents)),
                }
            }
            (sizes.len(), 0)
        };
        let cut = |part: u64| place(all / count * part);
        let part = |at: u64| EntryPart { from: cut(at), to: (at + 1 < count).then(|| cut(at + 1)) };
        (0..count).map(part).collect()
    }

    /// The entry at a path.
    pub(super) fn at(&self, path: &[u8]) -> Result<Option<EntryBatch>> {
        let Some(hit) = self.snapshot.hit(path)? else { return Ok(None) };
        let fields: Vec<Field> = self.fields.iter().copied().flatten().collect();
        let values = self.snapshot.field_values(&hit, &fields)?;
        let columns: Vec<BatchColumn> = COLUMNS
            .iter()
            .zip(&values)
            .map(|((_, kind), values)| {
                let mut column = BatchColumn::new(ColumnKind::of(kind));
                column.push_row(values.iter().map(Value::as_ref));
                column
            })
            .collect();
        let places = std::array::from_fn(|at| at);
        let mut batch = EntryBatch::default();
        batch.push(&EntryRow { columns: &columns, places: &places, row: 0 }.entry());
        Ok(Some(batch))
    }

    /// Calls `visit` with the paths of the entries that match `query`.
    pub(super) fn for_each_path(&self, query: &Query, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let fields = [BatchField::Values(self.field("path"))];
        self.snapshot.for_each_batch(query, &fields, &BatchOptions::default(), &mut |batch: &Batch<'_>| {
            for row in 0..batch.docs.len() {
                visit(batch.columns.first().and_then(|column| text(column, row)).unwrap_or_default());
            }
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// The text in a row.
fn text(column: &BatchColumn, row: usize) -> Option<&[u8]> {
    match column.values(row).next()? {
        ValueRef::Text(text) => Some(text),
        _ => None,
    }
}

/// Reads the texts in a row, one a line.
fn read_lines(column: &BatchColumn, row: usize, into: &mut Vec<u8>) {
    into.clear();
    for value in column.values(row) {
        if let ValueRef::Text(text) = value {
            if !into.is_empty() {
                into.push(b'\n');
            }
            into.extend_from_slice(text);
        }
    }
}

/// A row of a batch.
struct EntryRow<'b> {
    columns: &'b [BatchColumn],
    /// By number in [`COLUMNS`], the place among the columns; a greater one for columns that were not read.
    places: &'b [usize; COLUMNS.len()],
    row: usize,
}

impl<'b> EntryRow<'b> {
    fn column(&self, at: usize) -> Option<&'b BatchColumn> {
        self.columns.get(*self.places.get(at)?)
    }

    fn text(&self, at: usize) -> Option<&'b [u8]> {
        text(self.column(at)?, self.row)
    }

    fn date(&self, at: usize) -> Option<i64> {
        match self.column(at)?.values(self.row).next()? {
            ValueRef::Date(date) => Some(date),
            _ => None,
        }
    }

    fn number(&self, at: usize) -> Option<u64> {
        match self.column(at)?.values(self.row).next()? {
            ValueRef::Unsigned(number) => Some(number),
            _ => None,
        }
    }

    fn short(&self, at: usize) -> Option<u32> {
        u32::try_from(self.number(at)?).ok()
    }

    fn entry(&self) -> Entry<'b> {
        let (uid, gid) = (self.short(11), self.short(12));
        // An owner without a name is kept as a number.
        let name = |at: usize, id: Option<u32>| self.text(at).filter(|name| !is_number(name, id));
        Entry {
            path: self.text(0).unwrap_or_default(),
            kind: self.text(1).and_then(EntryKind::named),
            target: self.text(2),
            owner: name(3, uid),
            group: name(4, gid),
            mtime: self.date(5),
            atime: self.date(6),
            ctime: self.date(7),
            btime: self.date(8),
            size: self.number(9),
            blocks: self.number(10),
            uid,
            gid,
            mode: self.short(13),
            inode: self.number(14),
            links: self.number(15),
            device: self.number(16),
            rdev: self.number(20),
            ..Entry::default()
        }
    }
}

/// True if `name` is the decimal number `id`.
fn is_number(name: &[u8], id: Option<u32>) -> bool {
    let digits = name.iter().all(u8::is_ascii_digit);
    digits && std::str::from_utf8(name).ok().and_then(|name| name.parse().ok()) == id
}
