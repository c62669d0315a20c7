//! Changes column values of indexed documents in place. The documents are not indexed again.

use super::maintain::{Selection, open_segments, selected};
use crate::error::{Error, Result};
use crate::index::commit::column_setting::ColumnSetting;
use crate::index::commit::writer::Writer;
use crate::schema::{Schema, Value, literal};
use crate::segment::Changes;
use crate::store::Directory;

/// The result of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpdateReport {
    /// The number of selected documents.
    pub documents: u64,
    /// The number of bytes written, including the commit.
    pub bytes_written: u64,
}

/// Sets new values in the selected documents of an index, and commits. `values` contains the name of each
/// field and its values as text; a field without values is cleared.
///
/// # Errors
/// Returns an error, and changes nothing, for [`Error::NotAnIndex`]; [`Error::UnknownField`],
/// [`Error::InvalidField`] or [`Error::InvalidValue`] for a field that does not exist or cannot be changed in
/// place, or for an invalid value; a query that does not parse; another writer; or a full disk.
pub(crate) fn update_in(
    directory: &dyn Directory,
    selection: &Selection,
    values: &[(String, Vec<String>)],
) -> Result<UpdateReport> {
    let writer = Writer::open(directory)?;
    let segments = open_segments(&writer)?;
    let schema = writer.manifest().map(|manifest| manifest.schema).unwrap_or_default();
    let settings = values.iter().map(|(name, values)| read_setting(&schema, name, values));
    let settings = settings.collect::<Result<Vec<ColumnSetting>>>()?;
    let mut documents = 0;
    for (segment, found) in segments.iter().zip(selected(&writer, &segments, selection)?) {
        let mut live: Vec<u32> = found.into_iter().flatten().filter(|&doc| segment.is_live(doc)).collect();
        live.sort_unstable();
        live.dedup();
        let mut changes = Changes::new();
        for &document in &live {
            settings.iter().for_each(|setting| setting.put(document, &mut changes));
        }
        if !changes.is_empty() {
            writer.change(segment.id(), |segment| segment.set(&changes))?;
        }
        documents += live.len() as u64;
    }
    if writer.has_changed() {
        writer.commit().inspect_err(|_| writer.roll_back())?;
    }
    Ok(UpdateReport { documents, bytes_written: writer.bytes_written() })
}

/// Parses the values of a field.
fn read_setting(schema: &Schema, name: &str, texts: &[String]) -> Result<ColumnSetting> {
    let field = schema.field(name).zip(schema.field(name).and_then(|field| schema.entry(field)));
    let Some((field, entry)) = field else {
        let known = schema.columns().map(|(_, entry)| entry.name.clone()).collect();
        return Err(Error::UnknownField { field: name.to_owned(), known });
    };
    let value = |text: &String| {
        // A partial date means its first moment.
        let value = literal(&entry.kind, text).map(|(first, _)| first);
        value.map_err(|expected| {
            let expected = expected.strip_prefix("write ").unwrap_or(&expected);
            Error::invalid(format!("value of field '{name}'"), format!("'{text}'"), expected)
        })
    };
    ColumnSetting::new(schema, field, &texts.iter().map(value).collect::<Result<Vec<Value>>>()?)
}
