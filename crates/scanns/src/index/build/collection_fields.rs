//! The fields of a new index of a collection.

use super::options::IndexOptions;
use crate::error::Result;
use crate::record::{CollectionFormat, Sources, TextFieldOptions};
use crate::schema::{Analyzer, Schema, Store};

/// The fields of a collection; `None` for other records.
pub(super) fn collection_fields(
    options: &IndexOptions,
    key: Option<&str>,
) -> Result<Option<(Schema, Sources)>> {
    let Some(format) = CollectionFormat::of(options.records) else { return Ok(None) };
    let (schema, mut sources) = format.fields(&TextFieldOptions {
        analyzer: options.analyzer.clone().unwrap_or(Analyzer::Standard),
        postings: options.postings.unwrap_or_default(),
        stored: options.stored.store.is_none_or(|store| store == Store::Content),
    })?;
    if let Some(key) = key {
        sources.choose_key(&schema, key)?;
    }
    Ok(Some((schema, sources)))
}
