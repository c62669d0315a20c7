//! Reads entries of a file system out of the columns of an index.

use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::index::snapshot::Snapshot;
use crate::index::snapshot::batch::{Batch, BatchColumn, BatchField, BatchOptions};
use crate::query::Query;
use crate::schema::{Field, FieldKind, ValueRef};
use crate::source::{Entry, EntryKind};

/// The columns, in the order of [`EntryReader::columns`].
const COLUMNS: [(&str, FieldKind); 18] = [
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
];

/// Reads entries of an index.
#[derive(Clone, Debug)]
pub(super) struct EntryReader<'s> {
    pub(super) snapshot: &'s Snapshot,
    /// The fields of [`COLUMNS`].
    fields: [Field; COLUMNS.len()],
}

impl<'s> EntryReader<'s> {
    /// Reads the entries of `snapshot`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if documents are not files with metadata.
    pub(super) fn new(snapshot: &'s Snapshot) -> Result<Self> {
        let mut fields = [Field::default(); COLUMNS.len()];
        for (slot, (name, kind)) in fields.iter_mut().zip(&COLUMNS) {
            let field = snapshot.schema().field(name).filter(|&field| {
                let entry = snapshot.schema().entry(field);
                entry.is_some_and(|entry| entry.kind == *kind && entry.column)
            });
            *slot = field.ok_or_else(|| Error::Unsupported {
                what: "a question about the entries of a file system".into(),
                remedy: "index files with their metadata, or import a dump".into(),
            })?;
        }
        Ok(EntryReader { snapshot, fields })
    }

    /// The field of a column.
    pub(super) fn field(&self, name: &str) -> Field {
        let at = COLUMNS.iter().position(|(known, _)| *known == name).unwrap_or(0);
        self.fields.get(at).copied().unwrap_or_default()
    }

    /// Calls `visit` with the entries that match `query`, segment by segment in the order of documents.
    pub(super) fn for_each(
        &self,
        query: &Query,
        visit: &mut dyn FnMut(&Entry<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        // The name is a part of the path.
        let fields: Vec<BatchField> =
            self.fields.iter().take(COLUMNS.len() - 1).map(|&field| BatchField::Values(field)).collect();
        self.snapshot.for_each_batch(query, &fields, &BatchOptions::default(), &mut |batch: &Batch<'_>| {
            for row in 0..batch.docs.len() {
                if visit(&entry(batch.columns, row))?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
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

/// The entry in a row of the columns.
fn entry(columns: &[BatchColumn], row: usize) -> Entry<'_> {
    let texts = |at: usize| columns.get(at).and_then(|column| text(column, row));
    let date = |at: usize| match columns.get(at)?.values(row).next()? {
        ValueRef::Date(date) => Some(date),
        _ => None,
    };
    let number = |at: usize| match columns.get(at)?.values(row).next()? {
        ValueRef::Unsigned(number) => Some(number),
        _ => None,
    };
    let short = |at: usize| number(at).and_then(|number| u32::try_from(number).ok());
    let (uid, gid) = (short(11), short(12));
    // An owner without a name is kept as a number.
    let name = |at: usize, id: Option<u32>| texts(at).filter(|name| !is_number(name, id));
    Entry {
        path: texts(0).unwrap_or_default(),
        kind: texts(1).and_then(EntryKind::named),
        target: texts(2),
        owner: name(3, uid),
        group: name(4, gid),
        mtime: date(5),
        atime: date(6),
        ctime: date(7),
        btime: date(8),
        size: number(9),
        blocks: number(10),
        uid,
        gid,
        mode: short(13),
        inode: number(14),
        links: number(15),
        device: number(16),
        ..Entry::default()
    }
}

/// True if `name` is the decimal number `id`.
fn is_number(name: &[u8], id: Option<u32>) -> bool {
    let digits = name.iter().all(u8::is_ascii_digit);
    digits && std::str::from_utf8(name).ok().and_then(|name| name.parse().ok()) == id
}
