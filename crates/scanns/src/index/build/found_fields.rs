//! Fields of what is found in the content of files: in web pages, documents and scientific files.
//!
//! | field | |
//! |---|---|
//! | `format` | what the file is, if its text had to be found: HTML, PDF, HDF5, … |
//! | `title`, `author` | of the document |
//! | `language` | as the document declares it, or as its text looks, if that is asked for |
//! | `code` | the language of source code |
//! | `created` | when the document was written, as it says: a date |
//! | `subject`, `keywords` | what the document says it is about |
//! | `var`, `units`, `shape`, `dtype` | of the variables of a scientific file |
//! | `dim` | its dimensions, `lat=180` |
//! | `attr` | other attributes, `name=value` |
//!
//! All others are keywords. All are in columns, with any number of values. Indexes of earlier versions, and
//! those that find no text in formats, do not have them; in some, `created` is a keyword, too.

use crate::column::ColumnSet;
use crate::content::ContentOptions;
use crate::error::{Error, Result};
use crate::schema::{Field, FieldEntry, FieldKind, Schema, ValueRef, parse_date};

/// The field that has the language of a text.
pub(super) const LANGUAGE: &str = "language";

/// The field of a date.
const CREATED: &str = "created";

/// The field of values that have no field of their own.
const ATTRIBUTE: &str = "attr";

const NAMES: [&str; 14] = [
    "format", "title", "author", LANGUAGE, CREATED, "subject", "keywords", "var", "units", "shape", "dim",
    "dtype", ATTRIBUTE, "code",
];

/// The fields, as far as the schema has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundFields {
    fields: Vec<(&'static str, Field)>,
    /// Whether `created` is a date.
    has_date: bool,
}

impl FoundFields {
    /// Adds the fields to a schema.
    pub(super) fn add(schema: &mut Schema) -> Result<()> {
        for name in NAMES {
            let kind = if name == CREATED { FieldKind::Date } else { FieldKind::Keyword };
            schema.add(FieldEntry::new(name, kind).column().not_searched())?;
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
            let is_date = name == CREATED && entry.kind == FieldKind::Date;
            ((is_date || entry.kind == FieldKind::Keyword) && entry.column).then_some((name, field))
        };
        let entry = schema.field(CREATED).and_then(|field| schema.entry(field));
        FoundFields {
            fields: NAMES.into_iter().filter_map(field).collect(),
            has_date: entry.is_some_and(|entry| entry.kind == FieldKind::Date),
        }
    }

    /// The fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        self.fields.iter().map(|(_, field)| *field)
    }

    /// Adds a value to the current document, if the index has its field.
    pub(super) fn push(&self, name: &str, value: &[u8], columns: &mut ColumnSet) {
        let Some((_, field)) = self.fields.iter().find(|(known, _)| *known == name) else { return };
        if name != CREATED || !self.has_date {
            return columns.push(*field, ValueRef::Text(value));
        }
        match written_date(value) {
            Some(date) => columns.push(*field, ValueRef::Date(date)),
            // A date that nobody can read is kept as it is.
            None => self.push(ATTRIBUTE, &[CREATED.as_bytes(), b"=", value].concat(), columns),
        }
    }
}

/// A date as documents have it, in nanoseconds since 1970: also a year, a month, a zone of whole hours, and a
/// date as cameras write it. A period is its beginning.
fn written_date(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    if let Some(date) = parse_date(text) {
        return Some(date);
    }
    let mut date = text.to_vec();
    match text {
        [_, _, _, _] => date.extend_from_slice(b"-01-01"),
        [_, _, _, _, b'-', _, _] => date.extend_from_slice(b"-01"),
        [_, _, _, _, b':', _, _, b':', ..] => {
            let colons = date.iter_mut().take(8).filter(|byte| **byte == b':');
            colons.for_each(|byte| *byte = b'-');
        }
        [.., b'+' | b'-', _, _] if text.contains(&b'T') => date.extend_from_slice(b":00"),
        _ => return None,
    }
    parse_date(&date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_documents_have_them() {
        let first = parse_date(b"2020-02-01");
        for text in [
            "2020-02-01",
            "2020-02",
            " 2020-02-01T00:00:00Z",
            "2020-02-01T01:00:00+01",
            "2020:02:01 00:00:00",
        ] {
            assert_eq!(written_date(text.as_bytes()), first, "{text}");
        }
        assert_eq!(written_date(b"2020"), parse_date(b"2020-01-01"));
        for text in ["", "spring", "abcd", "2020-13", "20:0:-1:", "2020:02:31", "T+01"] {
            assert_eq!(written_date(text.as_bytes()), None, "{text}");
        }
    }
}
