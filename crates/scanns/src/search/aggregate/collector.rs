//! Collectors, which consume the matches of a query.

use std::ops::ControlFlow;

use super::matches::{ENOUGH, Matches, each_match};
use crate::error::Result;
use crate::search::prepared::PreparedQuery;
use crate::search::similarity::Model;
use crate::search::top_k::{Hit, TopK};

/// Takes the matches of a query, batch by batch, in [`PreparedQuery::collect`].
///
/// Leaves come in order, and the documents of a leaf ascend. A tuple or a slice of collectors is a collector,
/// so that one pass over the matches feeds all of them. Calls are per batch of up to some thousand documents,
/// so a collector costs no call per document.
///
/// ```
/// use scanns::aggregate::{Collector, Matches};
///
/// /// Counts the matches of each leaf.
/// #[derive(Default)]
/// struct ByLeaf(Vec<u64>);
///
/// impl Collector for ByLeaf {
///     fn collect(&mut self, matches: &Matches<'_>) -> scanns::Result<()> {
///         self.0.resize(self.0.len().max(matches.leaf() + 1), 0);
///         self.0[matches.leaf()] += matches.count();
///         Ok(())
///     }
/// }
/// ```
pub trait Collector {
    /// Returns true if the collector reads [`Matches::scores`]. Matches are scored only if some collector
    /// needs scores.
    fn needs_scores(&self) -> bool {
        false
    }

    /// Takes a batch.
    ///
    /// # Errors
    /// An error ends the pass and is returned from it.
    fn collect(&mut self, matches: &Matches<'_>) -> Result<()>;
}

impl<C: Collector + ?Sized> Collector for &mut C {
    fn needs_scores(&self) -> bool {
        (**self).needs_scores()
    }

    fn collect(&mut self, matches: &Matches<'_>) -> Result<()> {
        (**self).collect(matches)
    }
}

impl<C: Collector> Collector for [C] {
    fn needs_scores(&self) -> bool {
        self.iter().any(C::needs_scores)
    }

    fn collect(&mut self, matches: &Matches<'_>) -> Result<()> {
        self.iter_mut().try_for_each(|collector| collector.collect(matches))
    }
}

impl<A: Collector, B: Collector> Collector for (A, B) {
    fn needs_scores(&self) -> bool {
        self.0.needs_scores() || self.1.needs_scores()
    }

    fn collect(&mut self, matches: &Matches<'_>) -> Result<()> {
        self.0.collect(matches)?;
        self.1.collect(matches)
    }
}

/// Collects the best hits by score, as [`PreparedQuery::top_k`] does.
pub struct TopHits {
    k: usize,
    top: TopK<'static>,
}

impl TopHits {
    /// Creates a collector of the best `k` hits; with `after`, only of hits that come after it.
    pub fn new(k: usize, after: Option<Hit>) -> Self {
        TopHits { k, top: TopK::new(k).after(after) }
    }

    /// Returns the hits, best first.
    pub fn finish(self) -> Vec<Hit> {
        TopK::merge(vec![self.top], self.k)
    }
}

impl Collector for TopHits {
    fn needs_scores(&self) -> bool {
        true
    }

    fn collect(&mut self, matches: &Matches<'_>) -> Result<()> {
        if self.k == 0 {
            return Ok(());
        }
        self.top.set_leaf(matches.leaf);
        for (doc, &score) in matches.docs().zip(matches.scores.unwrap_or_default()) {
            if score >= self.top.threshold() {
                self.top.push(doc, score);
            }
        }
        Ok(())
    }
}

impl PreparedQuery<'_, '_, '_> {
    /// Passes all matches to a collector, in document order. They are scored with `model` if the collector
    /// needs scores.
    ///
    /// # Errors
    /// The errors of the collector and of [`PreparedQuery::for_each_batch`].
    pub fn collect(&self, model: Model, collector: &mut (impl Collector + ?Sized)) -> Result<()> {
        if !collector.needs_scores() {
            return each_match(self, |matches| collector.collect(matches));
        }
        let (docs, scores) = (Vec::with_capacity(ENOUGH), Vec::with_capacity(ENOUGH));
        let mut batches = ScoredBatches { collector, leaf: 0, docs, scores };
        let mut outcome = Ok(());
        self.for_each_batch(model, |leaf, docs, scores| {
            outcome = batches.take(leaf, docs, scores);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        outcome?;
        batches.send()
    }
}

/// Puts small batches of scored documents together.
struct ScoredBatches<'c, C: ?Sized> {
    collector: &'c mut C,
    leaf: usize,
    docs: Vec<u32>,
    scores: Vec<f32>,
}

impl<C: Collector + ?Sized> ScoredBatches<'_, C> {
    fn take(&mut self, leaf: usize, docs: &[u32], scores: &[f32]) -> Result<()> {
        if leaf != self.leaf {
            self.send()?;
            self.leaf = leaf;
        }
        for (docs, scores) in docs.chunks(ENOUGH).zip(scores.chunks(ENOUGH)) {
            self.docs.extend_from_slice(docs);
            self.scores.extend_from_slice(scores);
            if self.docs.len() >= ENOUGH {
                self.send()?;
            }
        }
        Ok(())
    }

    fn send(&mut self) -> Result<()> {
        if self.docs.is_empty() {
            return Ok(());
        }
        let sent = self.collector.collect(&Matches::scored(self.leaf, &self.docs, &self.scores));
        self.docs.clear();
        self.scores.clear();
        sent
    }
}
