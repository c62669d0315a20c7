//! The leaves of a searcher, seen through each field that can be searched.

use super::budget::{Budget, Clock};
use super::leaf::{Leaf, LeafStats};
use crate::schema::Field;

/// By field, then by leaf. All fields have the same leaves, with the same documents.
pub(super) struct Fields<'a> {
    fields: Vec<FieldLeaves<'a>>,
    /// The place of the field that is searched where none is named.
    default: usize,
    exhaustive: bool,
    clock: Clock<'a>,
}

struct FieldLeaves<'a> {
    field: Field,
    leaves: Vec<&'a dyn Leaf>,
    stats: LeafStats,
    /// What explanations call it.
    name: String,
}

impl<'a> Fields<'a> {
    /// Of at least one field; `default` is the first one if it is none of them.
    pub(super) fn new(fields: Vec<(Field, Vec<&'a dyn Leaf>)>, default: Field) -> Self {
        let with_stats = |(field, leaves): (Field, Vec<&'a dyn Leaf>)| {
            let mut stats = LeafStats::default();
            for part in leaves.iter().map(|leaf| leaf.stats()) {
                stats.documents += part.documents;
                stats.documents_with_terms += part.documents_with_terms;
                stats.total_length += part.total_length;
            }
            FieldLeaves { field, leaves, stats, name: format!("field {}", field.number()) }
        };
        let fields: Vec<_> = fields.into_iter().map(with_stats).collect();
        let default = fields.iter().position(|known| known.field == default).unwrap_or(0);
        Fields { fields, default, exhaustive: false, clock: Clock::default() }
    }

    /// Ends queries when the budget has run out.
    pub(super) fn limit(&mut self, budget: &'a Budget) {
        self.clock = Clock(Some(budget));
    }

    /// Whether queries may go on.
    pub(super) fn clock(&self) -> Clock<'a> {
        self.clock
    }

    /// Has patterns match all terms that they can, and fuzzy words too.
    pub(super) fn exhaust(&mut self) {
        self.exhaustive = true;
    }

    /// True if patterns match all terms that they can.
    pub(super) fn is_exhaustive(&self) -> bool {
        self.exhaustive
    }

    /// Gives the fields their names.
    pub(super) fn call(&mut self, name: impl Fn(Field) -> String) {
        self.fields.iter_mut().for_each(|field| field.name = name(field.field));
    }

    /// What the field at `place` is called.
    pub(super) fn name(&self, place: usize) -> &str {
        self.fields.get(place).map_or("", |field| &field.name)
    }

    /// The place of the field that is searched where none is named.
    pub(super) fn default_place(&self) -> usize {
        self.default
    }

    /// The place of a field, if it can be searched.
    pub(super) fn place_of(&self, field: Field) -> Option<usize> {
        self.fields.iter().position(|known| known.field == field)
    }

    /// The field at `place`.
    pub(super) fn field(&self, place: usize) -> Field {
        self.fields[place].field
    }

    /// The leaves, seen through some field.
    pub(super) fn all_leaves(&self) -> &[&'a dyn Leaf] {
        self.fields.first().map_or(&[], |first| &first.leaves)
    }

    /// How many leaves there are.
    pub(super) fn leaves(&self) -> usize {
        self.fields.first().map_or(0, |first| first.leaves.len())
    }

    /// A leaf, seen through the field at `place`.
    pub(super) fn leaf(&self, place: usize, leaf: usize) -> &'a dyn Leaf {
        self.fields[place].leaves[leaf]
    }

    /// Figures of the field at `place`, over all leaves.
    pub(super) fn stats(&self, place: usize) -> LeafStats {
        self.fields.get(place).map_or(LeafStats::default(), |field| field.stats)
    }
}
