//! Checks of the fields of documents, before inputs are looked for.

use super::document_source::DocumentSource;
use super::found_fields::FoundFields;
use super::near_sketch::NearSketch;
use super::options::IndexOptions;
use crate::content::ContentOptions;
use crate::error::Result;

/// Refuses languages and sketches of texts that the fields of the documents do not allow.
pub(super) fn check_fields(
    known: Option<&DocumentSource>,
    options: &IndexOptions,
    contents: ContentOptions,
) -> Result<()> {
    let schema = known.map(DocumentSource::schema);
    FoundFields::check_languages(options.contents, schema)?;
    NearSketch::check(contents, options.records, schema)
}
