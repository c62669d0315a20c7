//! One schema for several indexes: the fields of all of them, by name.

use std::collections::BTreeSet;

use super::{Field, FieldEntry, FieldKind, Postings, Schema};
use crate::error::{Error, Result};

/// The numbers that the fields of one schema have in a joined schema, and the other way round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldNumbers {
    /// By number in the joined schema.
    own: Vec<Option<Field>>,
    /// By number in the schema itself.
    joined: Vec<Field>,
}

impl FieldNumbers {
    /// The number of a field of the joined schema in the schema itself, if it has the field.
    pub(crate) fn own(&self, joined: Field) -> Option<Field> {
        self.own.get(usize::from(joined.number())).copied().flatten()
    }

    /// The number of a field of the schema itself in the joined schema.
    pub(crate) fn joined(&self, own: Field) -> Option<Field> {
        self.joined.get(usize::from(own.number())).copied()
    }
}

/// Returns a schema with the fields of all `schemas`, in the order in which they first occur, and for each
/// schema the numbers of its fields. Each schema has the name of its index, for messages.
///
/// Fields are the same if their names are. Words without a field search the fields that they search in any of
/// the indexes.
///
/// # Errors
/// [`Error::Conflict`] if two indexes have fields of the same name that differ otherwise;
/// [`Error::InvalidField`] for too many fields.
pub(crate) fn joined_schema(schemas: &[(String, &Schema)]) -> Result<(Schema, Vec<FieldNumbers>)> {
    let mut all = Schema::new();
    let mut owners: Vec<&str> = Vec::new();
    for (index, schema) in schemas {
        for (_, entry) in schema.fields() {
            match all.field(&entry.name).and_then(|field| Some((field, all.entry(field)?))) {
                Some((field, known)) => {
                    if let Some(problem) = difference(known, entry) {
                        let owner = owners.get(usize::from(field.number())).copied().unwrap_or_default();
                        return Err(conflict(&entry.name, &problem, owner, index));
                    }
                }
                None => {
                    all.add(entry.clone())?;
                    owners.push(index);
                }
            }
        }
    }
    if schemas.iter().any(|(_, schema)| schema.fields != all.fields) {
        search_defaults_of_all(&mut all, schemas);
    }
    let numbers = schemas.iter().map(|(_, schema)| numbers(schema, &all)).collect();
    Ok((all, numbers))
}

/// Lets words without a field search what they search in any of the indexes.
fn search_defaults_of_all(all: &mut Schema, schemas: &[(String, &Schema)]) {
    let defaults: BTreeSet<&str> = schemas
        .iter()
        .flat_map(|(_, schema)| schema.default_fields().into_iter().map(|field| schema.entry(field)))
        .flatten()
        .map(|entry| entry.name.as_str())
        .collect();
    for entry in &mut all.fields {
        entry.by_default = defaults.contains(entry.name.as_str());
    }
}

fn numbers(schema: &Schema, all: &Schema) -> FieldNumbers {
    FieldNumbers {
        own: all.fields().map(|(_, entry)| schema.field(&entry.name)).collect(),
        joined: schema.fields().map(|(_, entry)| all.field(&entry.name).unwrap_or_default()).collect(),
    }
}

/// How two fields of the same name differ: what each of them is.
fn difference(known: &FieldEntry, other: &FieldEntry) -> Option<[String; 2]> {
    if known.kind != other.kind {
        return Some([known, other].map(|entry| match &entry.kind {
            FieldKind::Text { analyzer, postings } => {
                format!("text of analyzer {} that keeps {}", analyzer.name(), kept(*postings))
            }
            kind => format!("of kind {}", kind.name()),
        }));
    }
    for (name, is) in [
        ("searched", (|entry| entry.searched) as fn(&FieldEntry) -> bool),
        ("a column", |entry| entry.column),
        ("stored", |entry| entry.stored),
    ] {
        if is(known) != is(other) {
            return Some([known, other].map(|entry| match is(entry) {
                true => name.to_owned(),
                false => format!("not {name}"),
            }));
        }
    }
    None
}

/// What postings contain, in a word.
fn kept(postings: Postings) -> &'static str {
    match postings {
        Postings::Documents => "documents",
        Postings::Frequencies => "frequencies",
        Postings::Positions => "positions",
        Postings::Offsets => "offsets",
    }
}

fn conflict(field: &str, [known, other]: &[String; 2], first: &str, second: &str) -> Error {
    Error::Conflict {
        what: format!("opening {first} and {second} as one: field {field}, which is {known} in the first"),
        with: format!("field {field} of the second, which is {other}"),
        remedy: "search them one by one, or build one of them again with the fields of the other".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Analyzer;

    fn text(name: &str) -> FieldEntry {
        FieldEntry::text(name)
    }

    fn schema(entries: &[FieldEntry]) -> Schema {
        let mut schema = Schema::new();
        for entry in entries {
            schema.add(entry.clone()).unwrap();
        }
        schema
    }

    fn names(schema: &Schema, fields: &[Field]) -> Vec<String> {
        fields.iter().map(|&field| schema.entry(field).unwrap().name.clone()).collect()
    }

    #[test]
    fn fields_are_the_same_by_name_and_keep_their_numbers_apart() {
        let owner = FieldEntry::new("owner", FieldKind::Keyword).column();
        let size = FieldEntry::new("size", FieldKind::Unsigned).column();
        let (a, b) = (schema(&[text("text"), owner.clone()]), schema(&[size, owner, text("body")]));
        let (all, numbers) = joined_schema(&[("a".into(), &a), ("b".into(), &b)]).unwrap();
        let fields: Vec<Field> = all.fields().map(|(field, _)| field).collect();
        assert_eq!(names(&all, &fields), ["text", "owner", "size", "body"]);
        assert_eq!(names(&all, &all.default_fields()), ["text", "body"]);
        for (schema, numbers) in [&a, &b].into_iter().zip(&numbers) {
            for (field, entry) in schema.fields() {
                let joined = numbers.joined(field).unwrap();
                assert_eq!(all.entry(joined).unwrap().name, entry.name);
                assert_eq!(numbers.own(joined), Some(field));
            }
        }
        let body = all.field("body").unwrap();
        assert_eq!((numbers[0].own(body), numbers[1].joined(Field::new(3).unwrap())), (None, None));
    }

    #[test]
    fn equal_schemas_are_their_join_and_default_fields_are_those_of_each_index() {
        let a = schema(&[text("title").searched_by_default(), text("body")]);
        assert_eq!(joined_schema(&[("a".into(), &a), ("b".into(), &a)]).unwrap().0, a);
        let b = schema(&[text("body"), text("note")]);
        let (all, _) = joined_schema(&[("a".into(), &a), ("b".into(), &b)]).unwrap();
        assert_eq!(names(&all, &all.default_fields()), ["title", "body", "note"]);
    }

    #[test]
    fn fields_that_differ_are_named_with_their_indexes() {
        let of_kind = |kind| schema(&[FieldEntry::new("size", kind).column()]);
        let message = |a: &Schema, b: &Schema| {
            joined_schema(&[("a.scanns".into(), a), ("b.scanns".into(), b)]).unwrap_err().to_string()
        };
        let said = message(&of_kind(FieldKind::Unsigned), &of_kind(FieldKind::Signed));
        for part in ["a.scanns", "b.scanns", "field size", "unsigned", "signed"] {
            assert!(said.contains(part), "{said}");
        }
        let said = message(&schema(&[text("text")]), &schema(&[text("text").positions()]));
        assert!(said.contains("keeps frequencies") && said.contains("keeps positions"), "{said}");
        let said = message(&schema(&[text("text")]), &schema(&[text("text").stored()]));
        assert!(said.contains("not stored"), "{said}");
        let english = FieldKind::Text { analyzer: Analyzer::English, postings: Postings::Frequencies };
        let said = message(&schema(&[text("text")]), &schema(&[FieldEntry::new("text", english)]));
        assert!(said.contains("english") && said.contains("standard"), "{said}");
    }
}
