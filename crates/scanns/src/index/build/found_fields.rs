//! Fields of what is found in the content of files: in web pages, documents and scientific files.
//!
//! | field | |
//! |---|---|
//! | `format` | what the file is, if its text had to be found: HTML, PDF, HDF5, … |
//! | `title`, `author` | of the document |
//! | `language` | as the document declares it, or as its text looks, if that is asked for |
//! | `code` | the language of source code |
//! | `created` | when the document was written, as it says |
//! | `subject`, `keywords` | what the document says it is about |
//! | `var`, `units`, `shape`, `dtype` | of the variables of a scientific file |
//! | `dim` | its dimensions, `lat=180` |
//! | `attr` | other attributes, `name=value` |
//!
//! All are keywords in columns, with any number of values. Indexes of earlier versions, and those that find
//! no text in formats, do not have them.

use crate::column::ColumnSet;
use crate::content::ContentOptions;
use crate::error::{Error, Result};
use crate::schema::{Field, FieldEntry, FieldKind, Schema, ValueRef};

/// The field that has the language of a text.
pub(super) const LANGUAGE: &str = "language";

const NAMES: [&str; 14] = [
    "format", "title", "author", LANGUAGE, "created", "subject", "keywords", "var", "units", "shape", "dim",
    "dtype", "attr", "code",
];

/// The fields, as far as the schema has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundFields {
    fields: Vec<(&'static str, Field)>,
}

impl FoundFields {
    /// Adds the fields to a schema.
    pub(super) fn add(schema: &mut Schema) -> Result<()> {
        for name in NAMES {
            schema.add(FieldEntry::new(name, FieldKind::Keyword).column().not_searched())?;
        }
        Ok(())
    }

    /// Refuses to find out languages where there is no field for them. `requested` is what a build asks for.
    pub(super) fn check_languages(requested: Option<ContentOptions>, schema: Option<&Schema>) -> Result<()> {
        let finds = requested.is_some_and(|requested| requested.languages && !requested.names_only);
        let has_field = |schema: &Schema| schema.field(LANGUAGE).is_some();
        if !finds || schema.is_none_or(has_field) {
            return Ok(());
        }
        Err(Error::Conflict {
            what: "finding out the languages of texts".into(),
            with: format!("the fields of the index, of which none is '{LANGUAGE}'"),
            remedy: "leave it out, or index files with the fields that are found in them, or web archives"
                .into(),
        })
    }

    /// The fields of a schema.
    pub(crate) fn of(schema: &Schema) -> Self {
        let field = |name: &'static str| {
            let field = schema.field(name)?;
            let entry = schema.entry(field)?;
            (entry.kind == FieldKind::Keyword && entry.column).then_some((name, field))
        };
        FoundFields { fields: NAMES.into_iter().filter_map(field).collect() }
    }

    /// The fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        self.fields.iter().map(|(_, field)| *field)
    }

    /// Adds a value to the current document, if the index has its field.
    pub(super) fn push(&self, name: &str, value: &[u8], columns: &mut ColumnSet) {
        if let Some((_, field)) = self.fields.iter().find(|(known, _)| *known == name) {
            columns.push(*field, ValueRef::Text(value));
        }
    }
}
