//! What a user says about columns:
//!
//! ```text
//! map    = entry { "," entry }
//! entry  = field "=" [ column { "+" column } [ ":" conversion ] ]
//! column = name | "#" number
//! ```
//!
//! A backslash before one of `, : + # \` makes it an ordinary character of a name. A conversion goes on to
//! the next comma, and may have colons itself. An entry without a column turns the field off.

use super::conversion::Conversion;
use super::field::MapField;

/// A column, by its name or by its number from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ColumnRef {
    Name(String),
    Number(usize),
}

/// What fills a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MapEntry {
    pub(super) field: MapField,
    /// Several make a path together. None turns the field off.
    pub(super) columns: Vec<ColumnRef>,
    /// `None` if the values tell.
    pub(super) conversion: Option<Conversion>,
}

/// Which columns of a table fill which fields of entries, as far as a user says it.
///
/// ```
/// use scanns::sources::ColumnMap;
///
/// assert!(ColumnMap::parse("size=bytes,mtime=changed:epoch-ms,path=dir+name").is_ok());
/// assert!(ColumnMap::parse("length=bytes").is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnMap {
    pub(super) entries: Vec<MapEntry>,
}

impl ColumnMap {
    /// Parses `FIELD=COLUMN[:CONVERSION]`, several of them with commas between.
    ///
    /// # Errors
    /// What is wrong, and what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut map = ColumnMap::default();
        for part in split(text, ',') {
            let entry = entry(part)?;
            if map.entries.iter().any(|other| other.field == entry.field) {
                return Err(format!("{} has two columns: write one", entry.field.name()));
            }
            map.entries.push(entry);
        }
        Ok(map)
    }

    /// Adds another map, which counts where both say something of a field.
    #[must_use]
    pub fn with(mut self, other: ColumnMap) -> Self {
        self.entries.retain(|entry| other.entries.iter().all(|later| later.field != entry.field));
        self.entries.extend(other.entries);
        self
    }

    /// True if it says nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// True if it names a column, and every column by its number.
    pub(super) fn is_by_number(&self) -> bool {
        let mut columns = self.entries.iter().flat_map(|entry| &entry.columns).peekable();
        columns.peek().is_some() && columns.all(|column| matches!(column, ColumnRef::Number(_)))
    }
}

/// The map of an S3 Inventory: the key, in which bytes are written as `%XX`, is the path.
pub(in crate::record::dump) fn object_key_map() -> ColumnMap {
    let columns = vec![ColumnRef::Name("Key".into())];
    let key = MapEntry { field: MapField::Path, columns, conversion: Some(Conversion::Url) };
    ColumnMap { entries: vec![key] }
}

fn entry(text: &str) -> Result<MapEntry, String> {
    let form = "write FIELD=COLUMN or FIELD=COLUMN:CONVERSION";
    let (name, rest) = text.split_once('=').ok_or_else(|| format!("'{text}' has no column: {form}"))?;
    let field = MapField::named(name.trim()).ok_or_else(|| {
        let known: Vec<_> = MapField::ALL.iter().map(|(_, name)| *name).collect();
        format!("'{}' is not a field: the fields are {}", name.trim(), known.join(", "))
    })?;
    if rest.is_empty() {
        return Ok(MapEntry { field, columns: Vec::new(), conversion: None });
    }
    let colon = split(rest, ':').next().map_or(0, str::len);
    let (columns, conversion) = rest.split_at(colon);
    let columns = split(columns, '+').map(column).collect::<Result<Vec<_>, _>>()?;
    if columns.len() > 1 && field != MapField::Path {
        return Err(format!("only a path is made of several columns, {name} is not: write \\+ for a plus"));
    }
    let conversion = conversion.strip_prefix(':').map(|text| Conversion::parse(&unescaped(text), field));
    Ok(MapEntry { field, columns, conversion: conversion.transpose()? })
}

fn column(text: &str) -> Result<ColumnRef, String> {
    if let Some(number) = text.strip_prefix('#') {
        let number = number.parse().ok().filter(|&number: &usize| number > 0);
        return number
            .map(ColumnRef::Number)
            .ok_or_else(|| format!("'{text}' is not the number of a column: columns are counted from #1"));
    }
    match unescaped(text) {
        name if name.is_empty() => Err("a name of a column is empty".into()),
        name => Ok(ColumnRef::Name(name)),
    }
}

/// The parts of a text between separators that have no backslash before them.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_escaped = false;
    text.split(move |c: char| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        c == separator && !was_escaped
    })
}

/// The text without the backslashes that make characters ordinary.
fn unescaped(text: &str) -> String {
    let (mut plain, mut chars) = (String::new(), text.chars().peekable());
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next @ (',' | ':' | '+' | '#' | '\\')) if c == '\\' => {
                plain.push(next);
                chars.next();
            }
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_name_columns_and_conversions() {
        let map = ColumnMap::parse(r"size=bytes,mtime=a\:b:%H:%M,path=dir+#3,owner=,group=x\,y\\").unwrap();
        let name = |name: &str| ColumnRef::Name(name.into());
        let of = |field, columns, conversion| MapEntry { field, columns, conversion };
        assert_eq!(
            map.entries,
            [
                of(MapField::Size, vec![name("bytes")], None),
                of(MapField::Modified, vec![name("a:b")], Some(Conversion::Strptime("%H:%M".into()))),
                of(MapField::Path, vec![name("dir"), ColumnRef::Number(3)], None),
                of(MapField::Owner, vec![], None),
                of(MapField::Group, vec![name(r"x,y\")], None),
            ]
        );
        let later = ColumnMap::parse("size=s").unwrap();
        let both = map.clone().with(later);
        assert_eq!((both.entries.len(), &both.entries[4].columns), (5, &vec![name("s")]));
        assert!(ColumnMap::parse("path=#1,size=#2,uid=").unwrap().is_by_number() && !map.is_by_number());
    }

    #[test]
    fn mistakes_are_told() {
        for (text, expected) in [
            ("size", "'size' has no column"),
            ("length=a", "'length' is not a field: the fields are path, type, size"),
            ("size=a:epoch", "not a conversion of size"),
            ("size=a+b", "only a path"),
            ("size=#0", "counted from #1"),
            ("size=#x", "counted from #1"),
            ("path=a+", "empty"),
            ("size=a,size=b", "size has two columns"),
            ("", "has no column"),
        ] {
            let error = ColumnMap::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
