//! Other values for documents that are indexed: columns of numbers are changed in place, the documents stay as they are.
//!
//! What a [`Setting`] says is applied by whoever writes: `live/` for programs, [`update`] on request.

use std::path::Path;

use super::maintain::{Selection, existing, ids, selected};
use super::writer::Writer;
use crate::column::{ColumnKind, NewValues};
use crate::error::{Error, Result};
use crate::schema::{Field, Schema, Value, literal};
use crate::segment::Changes;
use crate::store::{Directory, FsDirectory};

/// The values that documents get in a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) field: Field,
    kind: ColumnKind,
    orders: Vec<u64>,
}

impl Setting {
    /// Values for a field, none to have documents without.
    ///
    /// # Errors
    /// [`Error::Options`] for a field that is no column of numbers, or is kept with the document as well, and for values of
    /// another kind.
    pub(super) fn new(schema: &Schema, field: Field, values: &[Value]) -> Result<Self> {
        let refuse = |why: String| Err(Error::Options(why));
        let Some(entry) = schema.entry(field) else {
            return refuse("a field is one of another schema: take fields from that of the index".into());
        };
        let (name, kind) = (&entry.name, ColumnKind::of(&entry.kind));
        if !entry.column || !kind.is_number() {
            return refuse(format!(
                "the values of field '{name}' cannot be changed in place: those of columns of numbers, dates, true and \
                 false can. Replace the documents"
            ));
        }
        if entry.stored {
            return refuse(format!(
                "the values of field '{name}' are kept with the documents too, which would not change: replace them"
            ));
        }
        let orders = values.iter().map(|value| kind.order_of(value.as_ref())).collect::<Option<Vec<u64>>>();
        match orders {
            Some(orders) => Ok(Setting { field, kind, orders }),
            None => refuse(format!("field '{name}' has values of kind {}", entry.kind.name())),
        }
    }

    /// Notes it for a document.
    pub(super) fn put(&self, document: u32, changes: &mut Changes) {
        let (_, values) = changes.entry(self.field).or_insert_with(|| (self.kind, NewValues::new()));
        values.insert(document, self.orders.clone());
    }

    /// Memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.orders.capacity() * 8
    }
}

/// What an update did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateReport {
    /// Documents that were selected.
    pub documents: u64,
    /// Bytes written for them, with the commit.
    pub bytes_written: u64,
}

/// Gives documents of the index at `path` other values, each field those written beside its name, and commits.
///
/// # Errors
/// [`Error::NotAnIndex`]; [`Error::Options`] for a field that cannot be changed in place or a value that it cannot have; a
/// query that does not parse, another writer, a full disk: nothing is changed then.
pub fn update(path: &Path, what: &Selection, values: &[(String, Vec<String>)]) -> Result<UpdateReport> {
    existing(path)?;
    update_in(&FsDirectory::new(path), what, values)
}

/// Like [`update`], in any directory.
pub fn update_in(
    directory: &dyn Directory,
    what: &Selection,
    values: &[(String, Vec<String>)],
) -> Result<UpdateReport> {
    let writer = Writer::open(directory)?;
    let segments = ids(&writer)?;
    let schema = writer.manifest().map(|manifest| manifest.schema).unwrap_or_default();
    let settings = values.iter().map(|(name, values)| read(&schema, name, values));
    let settings = settings.collect::<Result<Vec<Setting>>>()?;
    let mut documents = 0;
    for (&id, found) in segments.iter().zip(selected(&writer, &segments, what)?) {
        let segment = writer.segment(id)?;
        let mut live: Vec<u32> = found.into_iter().flatten().filter(|&doc| segment.is_live(doc)).collect();
        live.sort_unstable();
        live.dedup();
        let mut changes = Changes::new();
        for &document in &live {
            settings.iter().for_each(|setting| setting.put(document, &mut changes));
        }
        if !changes.is_empty() {
            writer.change(id, |segment| segment.set(&changes))?;
        }
        documents += live.len() as u64;
    }
    if writer.has_changed() {
        writer.commit().inspect_err(|_| writer.roll_back())?;
    }
    Ok(UpdateReport { documents, bytes_written: writer.bytes_written() })
}

/// What is written of a field and its values.
fn read(schema: &Schema, name: &str, values: &[String]) -> Result<Setting> {
    let Some(field) = schema.field(name) else {
        let all: Vec<&str> = schema.columns().map(|(_, entry)| entry.name.as_str()).collect();
        let known = if all.is_empty() {
            "it has no columns".into()
        } else {
            format!("its columns are {}", all.join(", "))
        };
        return Err(Error::Options(format!("the index has no field '{name}': {known}")));
    };
    let kind = schema.entry(field).map(|entry| &entry.kind);
    let value = |text: &String| {
        let refuse = |why: String| Error::Options(format!("'{text}' is no value of field '{name}': {why}"));
        // Of a date that is written in part, its beginning.
        kind.map_or(Ok((Value::Boolean(false), Value::Boolean(false))), |kind| literal(kind, text))
            .map(|(first, _)| first)
            .map_err(refuse)
    };
    Setting::new(schema, field, &values.iter().map(value).collect::<Result<Vec<Value>>>()?)
}
