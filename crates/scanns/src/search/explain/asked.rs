//! The document whose score is explained, and the query that matched it.

use super::words;
use crate::query::JoinQuery;
use crate::schema::Field;
use crate::search::exec::view::View;
use crate::search::leaf::{LeafStats, TermFigures};
use crate::search::plan::QueryPlan;
use crate::search::prepared::PreparedQuery;
use crate::search::similarity::Model;
use crate::search::top_k::Hit;
use crate::segment::has_bit;

/// A document whose score is to be explained.
pub(super) struct Asked<'a, 's> {
    pub(super) prepared: &'a PreparedQuery<'a, 's, 'a>,
    pub(super) view: &'a View<'s>,
    pub(super) hit: &'a Hit,
    pub(super) model: Model,
    /// By term.
    pub(super) figures: &'a [TermFigures],
    /// The sizes of each field of the plan.
    pub(super) stats: &'a [LeafStats],
}

impl<'a> Asked<'a, '_> {
    /// The plan of the query.
    pub(super) fn plan(&self) -> &'a QueryPlan<'a> {
        &self.prepared.plan
    }

    /// The name of a term, with its field if that is not the default field.
    pub(super) fn name(&self, term: usize) -> String {
        let bytes = self.plan().terms.get(term).map_or(&b""[..], |term| &term.bytes);
        self.in_field(self.plan().field_of(term), &words::term(bytes))
    }

    /// A part of the query with its field of the plan, unless that is the default field.
    pub(super) fn in_field(&self, field: usize, text: &str) -> String {
        let fields = self.prepared.fields();
        match self.plan().fields.get(field) {
            Some(&place) if place != fields.default_place() => format!("{}:{text}", fields.name(place)),
            _ => text.to_owned(),
        }
    }

    /// A join in short.
    pub(super) fn join_text(&self, join: &JoinQuery) -> String {
        words::join(join, &|field| self.field_name(field))
    }

    /// The name of a field, or its number.
    pub(super) fn field_name(&self, field: Field) -> String {
        match self.prepared.fields().schema().and_then(|schema| schema.entry(field)) {
            Some(entry) => entry.name.clone(),
            None => format!("field {}", field.number()),
        }
    }

    /// The sizes of a field of the plan.
    pub(super) fn stats(&self, field: usize) -> LeafStats {
        self.stats.get(field).copied().unwrap_or_default()
    }

    /// Whether a view shows a field of the plan in the document.
    pub(super) fn has(&self, field: usize) -> bool {
        self.view.only(field).is_none_or(|only| has_bit(only, self.hit.doc))
    }

    /// Returns the frequencies of a term.
    pub(super) fn figures(&self, term: usize) -> TermFigures {
        self.figures.get(term).copied().unwrap_or_default()
    }
}
