//! Sketches of the texts of documents that are being indexed, by which near-duplicates are found.
//!
//! An index has them if its first build was to store them: `contents` of the manifest says so, since records
//! may have a field of the same name. The text of a file is the text that is searched. The text of a record
//! is the values of the texts that are searched by default, one after the other.

use crate::content::{ContentOptions, SKETCH};
use crate::error::{Error, Result};
use crate::schema::{Field, FieldEntry, FieldKind, Records, Schema, ValueRef};
use crate::tokenize::DocumentSketch;

/// The sketch of the current document.
pub(super) struct NearSketch {
    field: Field,
    /// The fields of records whose values are its text.
    texts: Vec<Field>,
    sketch: DocumentSketch,
}

impl NearSketch {
    /// Adds the column to the schema of a new index, if it is to have sketches.
    ///
    /// # Errors
    /// The schema has a field of this name.
    pub(super) fn add(schema: &mut Schema, contents: Option<ContentOptions>) -> Result<()> {
        if contents.is_some_and(|contents| contents.near_duplicates) {
            schema.add(FieldEntry::new(SKETCH, FieldKind::Unsigned).column().not_searched())?;
        }
        Ok(())
    }

    /// Refuses sketches of documents that have none, and in an index that was made without them.
    pub(super) fn check(contents: ContentOptions, records: Records, schema: Option<&Schema>) -> Result<()> {
        let unsupported =
            |what: &str, remedy: &str| Err(Error::Unsupported { what: what.into(), remedy: remedy.into() });
        if !contents.near_duplicates {
            return Ok(());
        }
        if contents.names_only {
            return unsupported("finding near-duplicates where no text is read", "index the text of files");
        }
        if records == Records::Lines {
            return unsupported(
                "finding near-duplicates among lines",
                "index files or records, or use an index without near-duplicates",
            );
        }
        if schema.is_some_and(|schema| contents.sketch_field(schema).is_none()) {
            return Err(Error::Conflict {
                what: "finding near-duplicates".into(),
                with: "the index, which was made without sketches of texts".into(),
                remedy: "make another index, or leave it out".into(),
            });
        }
        Ok(())
    }

    /// The sketch of the first document of an index with this schema; `None` if the index has no sketches.
    pub(super) fn of(schema: &Schema, field: Option<Field>) -> Option<Self> {
        let is_text = |field: &Field| {
            schema.entry(*field).is_some_and(|entry| matches!(entry.kind, FieldKind::Text { .. }))
        };
        let texts = schema.default_fields().into_iter().filter(is_text).collect();
        Some(NearSketch { field: field?, texts, sketch: DocumentSketch::default() })
    }

    /// Begins a document.
    pub(super) fn begin(&mut self) {
        self.sketch.clear();
    }

    /// Adds the next bytes of the text of a file.
    pub(super) fn text(&mut self, text: &[u8]) {
        self.sketch.add_text(text);
    }

    /// Adds a value of a record, if it is part of its text.
    pub(super) fn value(&mut self, field: Field, value: ValueRef<'_>) {
        if let ValueRef::Text(text) = value
            && self.texts.contains(&field)
        {
            self.sketch.add_text(text);
            self.sketch.end_word();
        }
    }

    /// The field and the sketch of the document; `None` if its text is too short.
    pub(super) fn finish(&self) -> Option<(Field, ValueRef<'static>)> {
        Some((self.field, ValueRef::Unsigned(self.sketch.finish()?)))
    }
}
