//! Finds fields by the names that requests give. Columns that mean nothing to people do not exist for them.

use scanns::Snapshot;
use scanns::query::WeightedField;
use scanns::schema::{Field, FieldEntry, FieldKind};

use crate::problem::Problem;

/// The maximum number of fields that words search.
const MOST_SEARCHED: usize = 16;

/// Names as a message lists them.
fn list<'s>(names: impl Iterator<Item = &'s str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// A name as a message shows it.
fn cut(name: &str) -> String {
    name.chars().take(60).collect()
}

/// The fields that people know.
pub(super) fn known(snapshot: &Snapshot) -> impl Iterator<Item = (Field, &FieldEntry)> {
    snapshot.schema().fields().filter(|(field, _)| !snapshot.is_internal(*field))
}

/// A field that is a column, with its kind; `parameter` names it.
pub(super) fn column<'s>(
    snapshot: &'s Snapshot,
    name: &str,
    parameter: &'static str,
) -> Result<(Field, &'s FieldKind), Problem> {
    let found = known(snapshot).find(|(_, entry)| entry.name == name && entry.column);
    found.map(|(field, entry)| (field, &entry.kind)).ok_or_else(|| {
        let columns = list(known(snapshot).filter(|(_, entry)| entry.column).map(|(_, entry)| &*entry.name));
        Problem::parameter(parameter, format!("'{}' is not a column; the columns are: {columns}", cut(name)))
    })
}

/// A field whose values the index keeps.
pub(super) fn kept(snapshot: &Snapshot, name: &str) -> Result<Field, Problem> {
    let is_kept = |entry: &FieldEntry| entry.column || entry.stored;
    let found = known(snapshot).find(|(_, entry)| entry.name == name && is_kept(entry));
    found.map(|(field, _)| field).ok_or_else(|| {
        let kept = list(known(snapshot).filter(|(_, entry)| is_kept(entry)).map(|(_, entry)| &*entry.name));
        let detail = format!("no field '{}' is a column or stored; such fields are: {kept}", cut(name));
        Problem::parameter("fields", detail)
    })
}

/// A field that words can search.
pub(super) fn searched(snapshot: &Snapshot, name: &str) -> Result<Field, Problem> {
    snapshot.schema().searched_field(name).map_err(|names| {
        let detail = format!("there is no field '{}' to search: there are {}", cut(name), names.join(", "));
        Problem::parameter("field", detail)
    })
}

/// The fields that words search: those of a list such as `title^3,body`, or the default fields.
pub(super) fn weighted(snapshot: &Snapshot, names: Option<&str>) -> Result<Vec<WeightedField>, Problem> {
    let Some(names) = names else {
        return Ok(snapshot.schema().default_fields().into_iter().map(WeightedField::from).collect());
    };
    let one = |name: &str| {
        let (name, weight) = name.split_once('^').unwrap_or((name, "1"));
        let weight = weight.parse().ok().filter(|weight: &f32| *weight > 0.0 && weight.is_finite());
        let wrong = || Problem::parameter("field", "write a weight as in title^3,body^0.5");
        Ok(WeightedField { weight: weight.ok_or_else(wrong)?, field: searched(snapshot, name)? })
    };
    if names.split(',').count() > MOST_SEARCHED {
        return Err(Problem::parameter("field", format!("words search at most {MOST_SEARCHED} fields")));
    }
    names.split(',').map(|name| one(name.trim())).collect()
}

/// The field of snippets and of similar documents, among those that words search.
pub(super) fn main_field(snapshot: &Snapshot, fields: &[WeightedField]) -> Field {
    let default = snapshot.schema().default_field().filter(|main| fields.iter().any(|of| of.field == *main));
    default.or(fields.first().map(|first| first.field)).unwrap_or_default()
}
