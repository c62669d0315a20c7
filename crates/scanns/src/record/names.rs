//! Names in records, names in schemas, and which fields take the values of a name.
//!
//! The members of a record may have any names. A field has a *source*: the name in records whose values it
//! takes, by default the field's own name. Several fields may have the same source, for example a title that
//! is searched by its words and sorted as a whole. A name in a record leads to the fields with this source.
//! If there are none, it is mapped by [`map_name`] and leads to the fields whose source is the result. Names
//! that map to the same name are therefore one field.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::schema::{Field, FieldEntry, MAX_NAME, Schema, ValueFormat, fits_name};

/// Appends the name of a member, after a dot if it is not the first one; the result is cut to the maximum
/// length of names.
pub(super) fn push_name(name: &mut String, inside: bool, member: &str) {
    if inside && name.len() < MAX_NAME {
        name.push('.');
    }
    name.push_str(cut(member, MAX_NAME - name.len().min(MAX_NAME)));
}

/// The longest prefix of whole characters of a text that has at most `most` bytes.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|&end| end <= most).last().unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// The name in a schema for the name `source` in records.
///
/// Characters other than letters, digits, `_`, `-` and `.` become `_`. An empty name becomes `_`; empty parts
/// before or after a dot stay empty. The result is cut to 255 bytes.
pub fn map_name(source: &str) -> String {
    if source.is_empty() {
        return "_".into();
    }
    cut(source, MAX_NAME).chars().map(|c| if fits_name(c) { c } else { '_' }).collect()
}

/// How the fields of documents follow from records: for each field, the name in records whose values it takes
/// and how these values are written; and the field whose values are the keys of documents, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    fields: Vec<(String, Field)>,
    /// The formats that are not [`ValueFormat::Auto`], in the order of fields.
    formats: Vec<(Field, ValueFormat)>,
    key: Option<Field>,
}

impl Sources {
    /// Creates sources where every field takes the values of its own name.
    pub fn of(schema: &Schema) -> Self {
        let fields = schema.fields().map(|(field, entry)| (entry.name.clone(), field)).collect();
        Sources { fields, formats: Vec::new(), key: None }
    }

    /// Makes a field take the values of the name `source` in records, and no others.
    pub fn set(&mut self, field: Field, source: &str) {
        self.fields.retain(|(_, other)| *other != field);
        self.fields.push((source.into(), field));
        // Equal mappings must compare equal.
        self.fields.sort_unstable_by_key(|(_, field)| *field);
    }

    /// Makes a field take no values from records.
    pub(crate) fn remove(&mut self, field: Field) {
        self.fields.retain(|(_, other)| *other != field);
    }

    /// The names in records whose values fields take.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(source, _)| source.as_str())
    }

    /// The name in records whose values a field takes.
    pub fn source(&self, field: Field) -> Option<&str> {
        self.fields.iter().find(|(_, other)| *other == field).map(|(source, _)| source.as_str())
    }

    /// Sets how the values of a field are written in records.
    pub fn set_format(&mut self, field: Field, format: ValueFormat) {
        self.formats.retain(|(other, _)| *other != field);
        self.formats.extend((format != ValueFormat::Auto).then_some((field, format)));
        self.formats.sort_unstable_by_key(|(field, _)| *field);
    }

    /// Makes the values of a field the keys of documents. The field must be a searched keyword and a column.
    pub fn set_key(&mut self, field: Field) {
        self.key = Some(field);
    }

    /// Makes the field with this name, or with this name in records, the key of documents.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if there is no such field, or it is not a searched keyword and a column.
    pub fn choose_key(&mut self, schema: &Schema, name: &str) -> Result<()> {
        let fields: Vec<_> = schema.fields().filter(|(_, entry)| entry.can_be_key()).collect();
        let is_named = |entry: &FieldEntry, field| entry.name == name || self.source(field) == Some(name);
        let found = fields.iter().find(|(field, entry)| is_named(entry, *field)).map(|(field, _)| *field);
        let expected = || match fields.iter().map(|(_, entry)| entry.name.as_str()).collect::<Vec<_>>() {
            names if names.is_empty() => "a schema with a searched keyword that is a column".into(),
            names => format!("a searched keyword that is a column: {}", names.join(", ")),
        };
        self.set_key(found.ok_or_else(|| Error::invalid("key", format!("'{name}'"), expected()))?);
        Ok(())
    }

    /// The field whose values are the keys of documents; `None` if the places of records are their keys.
    pub fn key(&self) -> Option<Field> {
        self.key
    }

    /// How the values of a field are written in records.
    pub fn format(&self, field: Field) -> ValueFormat {
        let found = self.formats.iter().find(|(other, _)| *other == field);
        found.map_or(ValueFormat::Auto, |(_, format)| *format)
    }
}

/// The fields that a name leads to, as a range of [`Targets`]; empty for an unknown name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NameTarget {
    start: u16,
    end: u16,
}

impl NameTarget {
    pub fn is_unknown(self) -> bool {
        self.start == self.end
    }
}

/// [`Sources`] as a look-up table.
pub(super) struct Targets {
    fields: Vec<Field>,
    names: HashMap<String, NameTarget>,
}

impl Targets {
    pub fn new(sources: &Sources) -> Self {
        let mut sorted = sources.fields.clone();
        sorted.sort();
        let mut names = HashMap::<String, NameTarget>::new();
        // There are at most 64 fields.
        for (at, (source, _)) in (0..).zip(&sorted) {
            let fresh = NameTarget { start: at, end: at };
            names.entry(source.clone()).or_insert(fresh).end = at + 1;
        }
        Targets { fields: sorted.into_iter().map(|(_, field)| field).collect(), names }
    }

    /// The target of a name in a record.
    pub fn find(&self, source: &str) -> NameTarget {
        let known = self.names.get(source).or_else(|| self.names.get(&map_name(source)));
        known.copied().unwrap_or_default()
    }

    /// The fields of a target.
    #[inline]
    pub fn fields(&self, target: NameTarget) -> &[Field] {
        self.fields.get(target.start.into()..target.end.into()).unwrap_or_default()
    }
}
