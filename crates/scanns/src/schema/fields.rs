//! The fields of documents: their names, their kinds, and whether they are searched, stored, or columns.

use serde::{Deserialize, Serialize};

use super::{Analyzer, Postings};
use crate::error::{Error, Result};

/// The maximum number of fields of an index.
pub const MAX_FIELDS: u16 = 64;

/// The maximum length of the name of a field, in bytes.
pub(crate) const MAX_NAME: usize = 255;

/// True if the names of fields may contain this character.
pub(crate) fn fits_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// A field of a schema, identified by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u16")]
pub struct Field(u16);

impl TryFrom<u16> for Field {
    type Error = &'static str;

    fn try_from(number: u16) -> std::result::Result<Self, Self::Error> {
        Field::new(number).ok_or("a number of a field is too high")
    }
}

impl Field {
    /// The first field of a schema.
    pub(crate) const FIRST: Field = Field(0);

    /// A field that no schema has.
    pub(crate) const NONE: Field = Field(u16::MAX);

    /// The field with this number; below [`MAX_FIELDS`].
    pub(crate) const fn new(number: u16) -> Option<Self> {
        if number < MAX_FIELDS { Some(Field(number)) } else { None }
    }

    /// The number of the field in its schema.
    pub(crate) const fn number(self) -> u16 {
        self.0
    }
}

/// The kind of a field: the type of its values, and how they are searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Text that is searched by its words.
    Text {
        /// The analyzer that finds the words.
        analyzer: Analyzer,
        /// The details that postings contain.
        postings: Postings,
    },
    /// A text that is searched as a whole: a name, a tag, an owner.
    Keyword,
    /// A number from 0 to 2⁶⁴ - 1; not searched.
    Unsigned,
    /// A number from -2⁶³ to 2⁶³ - 1; not searched.
    Signed,
    /// A number of double precision; not searched.
    Float,
    /// Any bytes; not searched.
    Bytes,
    /// True or false; not searched.
    Boolean,
    /// A point in time, as nanoseconds since 1970 in UTC, in the years 1677 to 2262; not searched.
    Date,
    /// The path of a file: a directory and a name in it; not searched.
    Path,
}

impl FieldKind {
    /// The name of the kind: `text`, `keyword`, `unsigned`, `signed`, `float`, `bytes`, `boolean`, `date` or
    /// `path`.
    pub fn name(&self) -> &'static str {
        match self {
            FieldKind::Text { .. } => "text",
            FieldKind::Keyword => "keyword",
            FieldKind::Unsigned => "unsigned",
            FieldKind::Signed => "signed",
            FieldKind::Float => "float",
            FieldKind::Bytes => "bytes",
            FieldKind::Boolean => "boolean",
            FieldKind::Date => "date",
            FieldKind::Path => "path",
        }
    }

    /// The details that postings of such a field contain; `None` if it cannot be searched.
    pub fn postings(&self) -> Option<Postings> {
        match self {
            FieldKind::Text { postings, .. } => Some(*postings),
            FieldKind::Keyword => Some(Postings::Documents),
            _ => None,
        }
    }
}

/// One field of a schema.
///
/// ```
/// use scanns::schema::{Analyzer, FieldEntry, FieldKind, Schema};
///
/// # fn main() -> scanns::Result<()> {
/// let mut schema = Schema::new();
/// schema.add(FieldEntry::text("title").analyzer(Analyzer::parse("english")?).positions().stored())?;
/// schema.add(FieldEntry::new("size", FieldKind::Unsigned).column())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldEntry {
    /// The name of the field: letters, digits, `_`, `-` and `.`.
    pub name: String,
    /// The kind of the field.
    pub kind: FieldKind,
    /// True if the values are stored with the document, in order, and can be read back.
    pub stored: bool,
    /// True if the values are a column, by which documents can be sorted, filtered, counted and grouped.
    pub column: bool,
    /// True if the terms are indexed; the kind must allow it.
    pub searched: bool,
    /// True if words of a query that name no field search this field; see [`Schema::default_fields`].
    pub by_default: bool,
}

impl FieldEntry {
    /// Creates a field that is searched if its kind allows it, and is neither stored nor a column.
    pub fn new(name: &str, kind: FieldKind) -> Self {
        let searched = kind.postings().is_some();
        FieldEntry { name: name.into(), kind, stored: false, column: false, searched, by_default: false }
    }

    /// Creates a field of text with the analyzer `standard`, whose postings contain frequencies.
    pub fn text(name: &str) -> Self {
        let kind = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies };
        FieldEntry::new(name, kind)
    }

    /// Sets the analyzer; no effect on a field that is not text.
    #[must_use]
    pub fn analyzer(mut self, analyzer: Analyzer) -> Self {
        if let FieldKind::Text { analyzer: old, .. } = &mut self.kind {
            *old = analyzer;
        }
        self
    }

    /// Adds positions to the postings, which phrases need; no effect on a field that is not text.
    #[must_use]
    pub fn positions(self) -> Self {
        self.with_postings(Postings::Positions)
    }

    /// Adds positions and offsets to the postings, which snippets use; no effect on a field that is not text.
    #[must_use]
    pub fn offsets(self) -> Self {
        self.with_postings(Postings::Offsets)
    }

    fn with_postings(mut self, new: Postings) -> Self {
        if let FieldKind::Text { postings, .. } = &mut self.kind {
            *postings = new;
        }
        self
    }

    /// Stores the values, so that they can be read back.
    #[must_use]
    pub fn stored(self) -> Self {
        FieldEntry { stored: true, ..self }
    }

    /// Makes the field a column.
    #[must_use]
    pub fn column(self) -> Self {
        FieldEntry { column: true, ..self }
    }

    /// Makes the field one of those that words without a field search.
    #[must_use]
    pub fn searched_by_default(self) -> Self {
        FieldEntry { by_default: true, ..self }
    }

    /// Does not index the terms of the field.
    #[must_use]
    pub fn not_searched(self) -> Self {
        FieldEntry { searched: false, ..self }
    }

    /// True if the values of the field can be the keys of documents: a searched keyword that is a column.
    pub fn can_be_key(&self) -> bool {
        self.kind == FieldKind::Keyword && self.searched && self.column
    }

    /// The details that the postings contain; `None` if the field is not searched.
    pub fn postings(&self) -> Option<Postings> {
        self.kind.postings().filter(|_| self.searched)
    }
}

/// The fields of the documents of an index. A schema is fixed when the index is created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    pub(super) fields: Vec<FieldEntry>,
}

/// The field for the bytes of files and lines.
const TEXT: &str = "text";

impl Schema {
    /// Creates a schema without fields.
    pub fn new() -> Self {
        Schema::default()
    }

    /// The schema of an index of files, with one field: `text`.
    pub fn of_files(analyzer: Analyzer, postings: Postings) -> Self {
        let kind = FieldKind::Text { analyzer, postings };
        Schema { fields: vec![FieldEntry::new(TEXT, kind)] }
    }

    /// Adds a field.
    ///
    /// # Errors
    /// [`Error::InvalidField`] for a name that is taken, empty, too long or contains a character other than
    /// letters, digits, `_`, `-` and `.`; for more than [`MAX_FIELDS`] fields; for a field that is neither
    /// searched nor stored nor a column; and for a field that is searched although its kind cannot be.
    pub fn add(&mut self, entry: FieldEntry) -> Result<Field> {
        let name = entry.name.as_str();
        let refuse = |problem: &str, remedy: &str| {
            Err(Error::InvalidField { field: name.into(), problem: problem.into(), remedy: remedy.into() })
        };
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits_name) {
            return refuse("has an invalid name", "use letters, digits, '_', '-' and '.', at most 255 bytes");
        }
        if self.field(name).is_some() {
            return refuse("already exists", "give it another name");
        }
        if entry.searched && entry.kind.postings().is_none() {
            return refuse("has a kind that cannot be searched by terms", "make it a column to filter by it");
        }
        if entry.by_default && !entry.searched {
            return refuse(
                "has no terms that words could find",
                "search it, or leave out that it is a default",
            );
        }
        if !entry.searched && !entry.stored && !entry.column {
            let problem = "would be neither searched nor stored nor a column";
            return refuse(problem, "choose at least one of these, or remove the field");
        }
        let number = u16::try_from(self.fields.len()).unwrap_or(u16::MAX);
        match Field::new(number) {
            None => refuse("is one too many", "an index has at most 64 fields"),
            Some(field) => {
                self.fields.push(entry);
                Ok(field)
            }
        }
    }

    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<Field> {
        self.fields().find(|(_, entry)| entry.name == name).map(|(field, _)| field)
    }

    /// The entry of a field; `None` for a field of another schema.
    pub fn entry(&self, field: Field) -> Option<&FieldEntry> {
        self.fields.get(usize::from(field.0))
    }

    /// All fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = (Field, &FieldEntry)> {
        (0..).map(Field).zip(&self.fields)
    }

    /// The fields that are searched, with the details that their postings contain.
    pub fn searched(&self) -> impl Iterator<Item = (Field, Postings)> {
        self.fields().filter_map(|(field, entry)| Some((field, entry.postings()?)))
    }

    /// The searched field with this name.
    ///
    /// # Errors
    /// The names of the searched fields.
    pub fn searched_field(&self, name: &str) -> std::result::Result<Field, Vec<&str>> {
        let named = |field| self.entry(field).map_or("", |entry| entry.name.as_str());
        let mut searched = self.searched().map(|(field, _)| field);
        searched
            .find(|&field| named(field) == name)
            .ok_or_else(|| self.searched().map(|(field, _)| named(field)).collect())
    }

    /// The field to search if a query names none: `text`, or else the first text, or else the first keyword.
    pub fn default_field(&self) -> Option<Field> {
        let is_text = |entry: &FieldEntry| entry.searched && matches!(entry.kind, FieldKind::Text { .. });
        let named = self.fields().find(|(_, entry)| entry.name == TEXT && entry.postings().is_some());
        let text = || self.fields().find(|(_, entry)| is_text(entry));
        named.or_else(text).map(|(field, _)| field).or_else(|| self.searched().next().map(|(field, _)| field))
    }

    /// The fields to search if a query names none, in order: those that are searched by default, or else all
    /// searched texts, or else [`Schema::default_field`].
    pub fn default_fields(&self) -> Vec<Field> {
        let is_text = |entry: &FieldEntry| entry.searched && matches!(entry.kind, FieldKind::Text { .. });
        let of = |wanted: &dyn Fn(&FieldEntry) -> bool| -> Vec<Field> {
            self.fields().filter(|(_, entry)| wanted(entry)).map(|(field, _)| field).collect()
        };
        let mut found = of(&|entry| entry.by_default);
        if found.is_empty() {
            found = of(&is_text);
        }
        if found.is_empty() {
            found.extend(self.default_field());
        }
        found
    }

    /// The field for the bytes of files and lines, with its analyzer and the details of its postings.
    pub(crate) fn text(&self) -> Option<(Field, &Analyzer, Postings)> {
        let field = self.field(TEXT)?;
        match &self.entry(field)?.kind {
            FieldKind::Text { analyzer, postings } => Some((field, analyzer, *postings)),
            _ => None,
        }
    }

    /// The analyzer of a field; `None` if the field is searched as a whole, or not at all.
    pub fn analyzer(&self, field: Field) -> Option<&Analyzer> {
        match &self.entry(field)?.kind {
            FieldKind::Text { analyzer, .. } => Some(analyzer),
            _ => None,
        }
    }

    /// The fields that are columns.
    pub fn columns(&self) -> impl Iterator<Item = (Field, &FieldEntry)> {
        self.fields().filter(|(_, entry)| entry.column)
    }

    /// True if the values of some field are stored.
    pub fn stores(&self) -> bool {
        self.fields.iter().any(|entry| entry.stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name_and_bad_ones_refused() {
        let mut schema = Schema::new();
        let text = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies };
        assert_eq!(schema.default_field(), None);
        let owner = schema.add(FieldEntry::new("owner", FieldKind::Keyword)).unwrap();
        assert_eq!(schema.default_field(), Some(owner));
        let title = schema.add(FieldEntry::new("title", text.clone()).stored()).unwrap();
        assert_eq!(schema.default_field(), Some(title));
        let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).stored()).unwrap();
        let body = schema.add(FieldEntry::new("text", text)).unwrap();
        assert_eq!(schema.default_field(), Some(body));
        assert_eq!(schema.default_fields(), [title, body]);
        assert_eq!(schema.field("size"), Some(size));
        assert_eq!(schema.field("nothing"), None);
        assert!(schema.searched().map(|(field, _)| field).eq([owner, title, body]));
        for (name, kind, stored) in [
            ("owner", FieldKind::Keyword, true),
            ("", FieldKind::Keyword, true),
            ("a b", FieldKind::Keyword, true),
        ] {
            assert!(schema.add(FieldEntry { stored, ..FieldEntry::new(name, kind) }).is_err(), "{name}");
        }
        assert!(schema.add(FieldEntry::new("time", FieldKind::Signed)).is_err());
        let tag = schema.add(FieldEntry::new("tag", FieldKind::Keyword).searched_by_default()).unwrap();
        assert_eq!(schema.default_fields(), [tag]);
        let unsearched = FieldEntry::new("x", FieldKind::Keyword).not_searched().stored();
        assert!(schema.add(unsearched.searched_by_default()).is_err());
        for number in 5..64 {
            schema.add(FieldEntry::new(&format!("f{number}"), FieldKind::Bytes).stored()).unwrap();
        }
        assert!(schema.add(FieldEntry::new("f64", FieldKind::Bytes).stored()).is_err());
    }
}
