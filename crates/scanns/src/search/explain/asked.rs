//! The document whose score is explained, and the query that matched it.

use super::words;
use crate::search::exec::view::View;
use crate::search::leaf::LeafStats;
use crate::search::plan::QueryPlan;
use crate::search::prepared::PreparedQuery;
use crate::search::similarity::Model;
use crate::search::statistics::TermFigures;
use crate::search::top_k::Hit;

/// A document whose score is to be explained.
pub(super) struct Asked<'a, 's> {
    pub(super) prepared: &'a PreparedQuery<'a, 's, 'a>,
    pub(super) view: &'a View<'s>,
    pub(super) hit: &'a Hit,
    pub(super) model: Model,
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

    /// The sizes of a field of the plan.
    pub(super) fn stats(&self, field: usize) -> LeafStats {
        self.prepared.stats_of(field)
    }

    /// Returns the frequencies of a term.
    pub(super) fn figures(&self, term: usize) -> TermFigures {
        self.prepared.found.figures.get(term).copied().unwrap_or_default()
    }
}
