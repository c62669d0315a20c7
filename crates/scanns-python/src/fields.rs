//! Fields by name, and schemas as JSON.

use std::str::FromStr;

use pyo3::PyResult;
use scanns::columns::ColumnKind;
use scanns::query::WeightedField;
use scanns::schema::{Analyzer, Field, FieldEntry, FieldKind, Postings, Schema};
use scanns::{Error, Snapshot};
use scanns_arrow::ColumnLayout;
use serde::Deserialize;

use crate::errors::{raise, wrong};

/// The key of a document among its fields.
pub const KEY: &str = "_key";

/// A field as the package describes it, with the names of schema files.
#[derive(Debug, Deserialize)]
struct FieldSpec {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    analyzer: Option<String>,
    postings: Option<String>,
    searched: Option<bool>,
    #[serde(default)]
    default: bool,
    #[serde(default)]
    column: bool,
    #[serde(default)]
    stored: bool,
}

/// The schema that a list of fields in JSON describes.
pub fn schema_of(json: &str) -> PyResult<Schema> {
    let specs: Vec<FieldSpec> =
        serde_json::from_str(json).map_err(|error| wrong("schema", error, "a list of fields"))?;
    let mut schema = Schema::new();
    for spec in specs {
        let entry = entry_of(spec).map_err(|error| raise(&error))?;
        schema.add(entry).map_err(|error| raise(&error))?;
    }
    Ok(schema)
}

fn entry_of(spec: FieldSpec) -> scanns::Result<FieldEntry> {
    let analyzer = spec.analyzer.as_deref().map_or(Ok(Analyzer::Standard), Analyzer::parse)?;
    let postings = match spec.postings.as_deref() {
        None | Some("frequencies") => Postings::Frequencies,
        Some("positions") => Postings::Positions,
        Some("documents") => Postings::Documents,
        Some("offsets") => Postings::Offsets,
        Some(other) => {
            return Err(Error::UnknownName {
                what: "postings",
                name: other.into(),
                known: "frequencies, positions, documents or offsets".into(),
            });
        }
    };
    let kind = match spec.kind.as_str() {
        "text" => FieldKind::Text { analyzer, postings },
        "keyword" => FieldKind::Keyword,
        "unsigned" => FieldKind::Unsigned,
        "signed" => FieldKind::Signed,
        "float" => FieldKind::Float,
        "boolean" => FieldKind::Boolean,
        "date" => FieldKind::Date,
        "path" => FieldKind::Path,
        "bytes" => FieldKind::Bytes,
        other => {
            return Err(Error::UnknownName {
                what: "type",
                name: other.into(),
                known: "text, keyword, unsigned, signed, float, boolean, date, path or bytes".into(),
            });
        }
    };
    let FieldSpec { name, searched, default, column, stored, .. } = spec;
    let mut entry = FieldEntry::new(&name, kind);
    entry.searched = searched.unwrap_or(entry.searched);
    Ok(FieldEntry { stored, column, by_default: default, ..entry })
}

/// The name of postings in schema files.
pub fn name_of_postings(postings: Postings) -> &'static str {
    match postings {
        Postings::Frequencies => "frequencies",
        Postings::Positions => "positions",
        Postings::Documents => "documents",
        Postings::Offsets => "offsets",
    }
}

fn unknown(schema: &Schema, name: &str, fits: impl Fn(&FieldEntry) -> bool) -> Error {
    let fields = schema.fields().filter(|(_, entry)| fits(entry));
    Error::UnknownField { field: name.into(), known: fields.map(|(_, entry)| entry.name.clone()).collect() }
}

/// A field that is searched.
pub fn searched(schema: &Schema, name: &str) -> scanns::Result<Field> {
    let found = schema.searched_field(name);
    found.map_err(|_| unknown(schema, name, |entry| entry.postings().is_some()))
}

/// A field that is a column.
pub fn column(schema: &Schema, name: &str) -> scanns::Result<Field> {
    let found = schema.columns().find(|(_, entry)| entry.name == name);
    found.map(|(field, _)| field).ok_or_else(|| unknown(schema, name, |entry| entry.column))
}

/// A field that is a column or stored.
pub fn kept(schema: &Schema, name: &str) -> scanns::Result<Field> {
    let is_kept = |entry: &FieldEntry| entry.column || entry.stored;
    let found = schema.fields().find(|(_, entry)| entry.name == name && is_kept(entry));
    found.map(|(field, _)| field).ok_or_else(|| unknown(schema, name, is_kept))
}

/// The names of the fields that are columns or stored, without those that mean nothing to people: sketches
/// and access classes.
pub fn all_kept(snapshot: &Snapshot) -> Vec<String> {
    let kept = snapshot.schema().fields();
    let kept = kept.filter(|(field, entry)| (entry.column || entry.stored) && !snapshot.is_internal(*field));
    kept.map(|(_, entry)| entry.name.clone()).collect()
}

/// The fields that words search: those in a list such as `title^3,body`, or the default fields.
pub fn weighted(schema: &Schema, names: Option<&str>) -> PyResult<Vec<WeightedField>> {
    let Some(names) = names else {
        return Ok(schema.default_fields().into_iter().map(WeightedField::from).collect());
    };
    let one = |name: &str| {
        let (name, weight) = name.split_once('^').unwrap_or((name, "1"));
        let weight = f32::from_str(weight).ok().filter(|weight| *weight > 0.0 && weight.is_finite());
        let weight = weight.ok_or_else(|| wrong("field", names, "weights as in title^3,body^0.5"))?;
        let field = searched(schema, name).map_err(|error| raise(&error))?;
        Ok(WeightedField { field, weight })
    };
    names.split(',').map(|name| one(name.trim())).collect()
}

/// The layout of a field of an index, or of the key.
pub fn layout_of(snapshot: &Snapshot, name: &str) -> scanns::Result<ColumnLayout> {
    layout_in(snapshot.schema(), name, |field| snapshot.may_have_several(field))
}

/// The layout of a field, or of the key. `several` says whether documents may have several values.
pub fn layout_in(
    schema: &Schema,
    name: &str,
    several: impl Fn(Field) -> bool,
) -> scanns::Result<ColumnLayout> {
    if name == KEY {
        let (name, kind) = (name.to_owned(), ColumnKind::Text);
        return Ok(ColumnLayout { name, kind, required: true, several: false, binary: false });
    }
    let field = kept(schema, name)?;
    let kind = schema.entry(field).map_or(ColumnKind::Text, |entry| ColumnKind::of(&entry.kind));
    Ok(ColumnLayout { name: name.into(), kind, required: false, several: several(field), binary: false })
}
