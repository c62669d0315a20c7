//! The interface between the parsers and an index: its fields, and its analysis of text.

use crate::error::Result;
use crate::query::tree::{BestQuery, Query};
use crate::schema::{Field, FieldKind};

/// A field to search, and its weight beside other fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedField {
    /// The field.
    pub field: Field,
    /// The factor of the scores in this field, greater than 0.
    pub weight: f32,
}

impl WeightedField {
    /// The first field of a schema, with a weight of 1.
    pub const FIRST: WeightedField = WeightedField { field: Field::FIRST, weight: 1.0 };
}

impl From<Field> for WeightedField {
    fn from(field: Field) -> Self {
        WeightedField { field, weight: 1.0 }
    }
}

/// Resolves the names of fields in a query, and turns its text into terms as the index does.
pub trait QueryText {
    /// The fields of terms without a field in the query; at least one.
    fn default_fields(&self) -> &[WeightedField];

    /// The searched field with this name.
    ///
    /// # Errors
    /// The names of all fields that a query may use, if there is no such field.
    fn field(&self, name: &str) -> std::result::Result<Field, Vec<String>>;

    /// The field with this name and the kind of its values, if the field is a column.
    fn column(&self, _name: &str) -> Option<(Field, FieldKind)> {
        None
    }

    /// The terms of a text, analyzed as in documents, with their positions from 0.
    fn terms(&mut self, field: Field, text: &str) -> Vec<(u32, Vec<u8>)>;

    /// Spells a part of a term as the analyzer of the field spells terms, for example in lower case.
    fn spelling(&self, field: Field, text: &str) -> String;
}

/// The share of the other fields in the score of a word that several fields contain; `docs/QUERIES.md`
/// compares shares.
const TIE: f32 = 0.3;

/// A clause that is looked up in each of these fields; the field where it scores best decides. `clause`
/// returns the clause in a field, or `None` if it has no terms there.
pub(super) fn in_best_field(
    fields: &[WeightedField],
    mut clause: impl FnMut(Field) -> Result<Option<Query>>,
) -> Result<Option<Query>> {
    let mut clauses: Vec<Query> = Vec::with_capacity(fields.len());
    for &WeightedField { field, weight } in fields {
        match clause(field)? {
            None => {}
            // In every field the same.
            Some(Query::All) => return Ok(Some(Query::All)),
            Some(found) => clauses.push(if weight == 1.0 { found } else { found.boosted(weight) }),
        }
    }
    Ok(match clauses.len() {
        0 | 1 => clauses.pop(),
        _ => Some(Query::Best(BestQuery { clauses, tie: TIE })),
    })
}

/// The message for a name that is not the name of a field; `known` are the names that a query may use.
pub(super) fn no_such_field(name: &str, known: &[String]) -> String {
    match known {
        [] => format!("there is no field '{name}' to search"),
        known if known.iter().any(|known| known == name) => {
            format!("the field '{name}' is a column without terms: compare its values")
        }
        known => {
            let meant = nearest(name, known).map(|near| format!("did you mean {near}? "));
            let meant = meant.unwrap_or_default();
            format!("there is no field '{name}': {meant}there are {}", known.join(", "))
        }
    }
}

/// The known name that differs least from `name`, by at most half of its characters and at most three.
fn nearest<'k>(name: &str, known: &'k [String]) -> Option<&'k str> {
    let name = name.to_lowercase();
    let most = (name.chars().count() / 2).clamp(1, 3);
    let distances = known.iter().map(|known| (edits(&name, &known.to_lowercase()), known.as_str()));
    distances.filter(|(edits, _)| *edits <= most).min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// The number of characters to insert, remove or replace to turn `a` into `b`.
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (number, a) in a.chars().enumerate() {
        let (mut before, mut last) = (number, number + 1);
        for (place, b) in b.chars().enumerate() {
            let replaced = before + usize::from(a != b);
            let Some(slot) = row.get_mut(place + 1) else { break };
            before = *slot;
            last = replaced.min(last + 1).min(before + 1);
            *slot = last;
        }
        if let Some(first) = row.first_mut() {
            *first = number + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_no_distant_one() {
        let known = ["text", "title", "mtime", "owner"].map(str::to_owned);
        for (name, meant) in [
            ("titles", "did you mean title? "),
            ("tilte", "did you mean title? "),
            ("Owner", "did you mean owner? "),
            ("mtim", "did you mean mtime? "),
            ("size", ""),
        ] {
            let expected = format!("there is no field '{name}': {meant}there are text, title, mtime, owner");
            assert_eq!(no_such_field(name, &known), expected);
        }
        assert_eq!(no_such_field("x", &[]), "there is no field 'x' to search");
        assert!(no_such_field("mtime", &known).contains("column without terms"));
    }

    #[test]
    fn edits_are_those_of_a_slow_definition() {
        fn slow(a: &[char], b: &[char]) -> usize {
            match (a, b) {
                ([], rest) | (rest, []) => rest.len(),
                ([x, a @ ..], [y, b @ ..]) if x == y => slow(a, b),
                ([_, without_a @ ..], [_, without_b @ ..]) => {
                    1 + slow(without_a, without_b).min(slow(without_a, b)).min(slow(a, without_b))
                }
            }
        }
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..500 {
            let mut word = || -> String { (0..random.usize(..6)).map(|_| random.char('a'..='c')).collect() };
            let (a, b) = (word(), word());
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(edits(&a, &b), slow(&chars(&a), &chars(&b)), "seed {seed}: {a} {b}");
        }
    }
}
