//! Runs the queries inside the joins of a prepared query.
//!
//! The query inside a join may have joins itself. Theirs are found first, so that the memory of the stack
//! does not grow with the work of each.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::Result;
use crate::search::exec::bits::docs_of;
use crate::search::exec::match_bits::{MatchedDocs, visit_all};
use crate::search::exec::strategy::Want;
use crate::search::joining::gatherer::ValueGatherer;
use crate::search::joining::values::JoinValues;
use crate::search::plan::found::{FoundValues, LeafJoin, ScoredJoins};
use crate::search::prepared::PreparedQuery;
use crate::search::similarity::Model;

impl PreparedQuery<'_, '_, '_> {
    /// Finds the values of all joins, unless they are known. Scores are not needed.
    pub(crate) fn find_joined(&self) -> Result<()> {
        for (number, found) in self.found.joins.iter().enumerate() {
            if found.get().is_none() {
                let values = self.joined_values(number)?;
                // Another thread may have found the same meanwhile.
                found.get_or_init(|| values);
            }
        }
        Ok(())
    }

    /// Finds the values of all joins, with the scores of a model where the query needs them.
    pub(crate) fn score_joined(&self, model: Model) -> Result<ScoredJoins> {
        let mut all: Vec<FoundValues> = self.found.joins.clone();
        for (number, _) in self.plan.joins.iter().enumerate().filter(|(_, join)| join.is_scored) {
            let Some(inside) = self.joined.get(number) else { continue };
            let mut gatherer = self.gatherer(number);
            let mut outcome = Ok(());
            inside.for_each_batch(model, |leaf, docs, scores| {
                outcome = gatherer.take(leaf, docs.iter().copied().zip(scores.iter().copied()));
                if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            outcome?;
            let values = Arc::new(ValueGatherer::join(vec![gatherer])?);
            // Which documents match does not depend on scores.
            if let Some(found) = self.found.joins.get(number) {
                found.get_or_init(|| Arc::clone(&values));
            }
            if let Some(found) = all.get_mut(number) {
                *found = Arc::new(values.into());
            }
        }
        self.find_joined()?;
        if self.plan.joins.iter().all(|join| !join.is_scored) {
            return Ok(ScoredJoins { leaves: Vec::new() });
        }
        let of_leaf = |_| all.iter().map(|found| LeafJoin::of(Arc::clone(found))).collect();
        Ok(ScoredJoins { leaves: (0..self.fields().leaves()).map(of_leaf).collect() })
    }

    /// The values of a join, found by all threads of the query.
    fn joined_values(&self, number: usize) -> Result<Arc<JoinValues>> {
        let Some(inside) = self.joined.get(number) else {
            return ValueGatherer::join(Vec::new()).map(Arc::new);
        };
        inside.find_joined()?;
        let ranges = inside.ranges(Want::All);
        let gatherers = ranges.fold(
            inside.fields().clock(),
            || self.gatherer(number),
            |gatherer, range| {
                let (view, terms) = (inside.view(range)?, inside.unscored(range.leaf));
                let mut outcome = Ok(());
                visit_all(&inside.plan.root, &view, terms, |matched| {
                    outcome = take_matched(gatherer, range.leaf, matched);
                    if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                })?;
                outcome.map(ControlFlow::Continue)
            },
        )?;
        ValueGatherer::join(gatherers).map(Arc::new)
    }

    fn gatherer(&self, number: usize) -> ValueGatherer<'_> {
        let fields = self.fields();
        let on = self.plan.joins[number].query.from;
        ValueGatherer::new(on, fields.all_leaves(), fields.join_memory())
    }
}

fn take_matched(gatherer: &mut ValueGatherer, leaf: usize, matched: MatchedDocs) -> Result<()> {
    match matched {
        MatchedDocs::Docs(docs) => gatherer.take(leaf, docs.iter().map(|&doc| (doc, 0.0))),
        MatchedDocs::Window(start, bits) => gatherer.take(leaf, docs_of(start, bits).map(|doc| (doc, 0.0))),
    }
}
