//! The terms of a plan, looked up in every leaf.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use crate::error::Result;
use crate::search::doc_set::DocSet;
use crate::search::joining::leaf_numbers::{LeafNumbers, ScoredDocs};
use crate::search::joining::values::JoinValues;
use crate::search::leaf::{TermFigures, TermRef};
use crate::search::number_set::NumberSet;
use crate::search::plan::together::FindTogether;
use crate::sys::lock;

/// The terms of a plan, as found in each leaf. Lists that have an entry for each leaf are flat, because
/// queries of a few terms over many leaves would spend much of their time on allocations.
#[derive(Default)]
pub(crate) struct FoundTerms {
    pub(super) leaves: usize,
    /// By leaf, and then by term; `None` if the leaf does not contain it.
    pub(super) refs: Vec<Option<TermRef>>,
    /// By leaf, and then by pattern.
    pub(super) patterns: Vec<PatternMatches>,
    /// By leaf, and then by pattern of values.
    pub(super) value_patterns: Vec<ValueMatches>,
    /// By leaf, and then by join.
    pub(super) leaf_joins: Vec<LeafJoin>,
    /// By join: its values, which are found before its documents.
    pub(crate) joins: Vec<FoundValues>,
    /// By term. They are found on first use, since a view reads lists for them.
    pub(super) figures: OnceLock<Vec<TermFigures>>,
}

impl FoundTerms {
    /// The terms in one leaf.
    ///
    /// Leaves are searched in order, so the matches of patterns in the previous leaf are dropped here.
    /// Threads that still use them keep them alive.
    pub(crate) fn in_leaf(&self, leaf: usize) -> LeafTerms<'_> {
        if let Some(before) = leaf.checked_sub(1).and_then(|before| self.leaf(before)) {
            before.patterns.iter().for_each(PatternMatches::forget);
            before.value_patterns.iter().for_each(ValueMatches::forget);
            before.joins.iter().for_each(LeafJoin::forget);
        }
        self.leaf(leaf).unwrap_or_default()
    }

    /// The terms in one leaf; `None` if there are fewer leaves.
    pub(crate) fn leaf(&self, leaf: usize) -> Option<LeafTerms<'_>> {
        if leaf >= self.leaves {
            return None;
        }
        Some(LeafTerms {
            refs: self.part(&self.refs, leaf)?,
            patterns: self.part(&self.patterns, leaf)?,
            value_patterns: self.part(&self.value_patterns, leaf)?,
            joins: self.part(&self.leaf_joins, leaf)?,
        })
    }

    /// The terms in each leaf.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = LeafTerms<'_>> {
        (0..self.leaves).map_while(|leaf| self.leaf(leaf))
    }

    /// The part of a list that belongs to a leaf.
    fn part<'l, T>(&self, list: &'l [T], leaf: usize) -> Option<&'l [T]> {
        let each = list.len().checked_div(self.leaves)?;
        list.get(leaf * each..(leaf + 1) * each)
    }
}

/// The terms of a plan in one leaf.
#[derive(Clone, Copy, Default)]
pub(crate) struct LeafTerms<'f> {
    /// By term; `None` if the leaf does not contain it.
    pub(crate) refs: &'f [Option<TermRef>],
    /// By pattern.
    pub(crate) patterns: &'f [PatternMatches],
    /// By pattern of values.
    pub(crate) value_patterns: &'f [ValueMatches],
    /// By join.
    pub(crate) joins: &'f [LeafJoin],
}

impl LeafTerms<'_> {
    /// The number of documents of the leaf that contain a term.
    pub(crate) fn doc_freq(&self, term: usize) -> u32 {
        self.refs.get(term).copied().flatten().map_or(0, |found| found.doc_freq)
    }
}

/// The matches of a pattern in a leaf. They are found on first use and serve all ranges of documents of the
/// leaf.
#[derive(Default)]
pub(crate) struct PatternMatches {
    pub(crate) terms: FindOnce<PatternTerms>,
    /// The documents of all its terms.
    pub(crate) all: FindOnce<DocSet>,
    /// The documents of its terms with short lists.
    pub(crate) short: FindOnce<DocSet>,
}

/// The values of a leaf that a pattern matches. They are found on first use, by all threads that need them.
#[derive(Default)]
pub(crate) struct ValueMatches {
    /// The numbers of terms of the dictionary of a column: of the terms that match, or of directories whose
    /// paths may match.
    pub(crate) terms: FindTogether<NumberSet, NumberSet>,
    /// The documents with a value that matches.
    pub(crate) docs: FindTogether<DocSet, DocSet>,
}

impl ValueMatches {
    fn forget(&self) {
        self.terms.forget();
        self.docs.forget();
    }
}

/// The values of a join, once they are found.
pub(crate) type FoundValues = Arc<OnceLock<Arc<JoinValues>>>;

/// A join in a leaf. All but its values is found on first use, by all threads that need it.
pub(crate) struct LeafJoin {
    pub(crate) values: FoundValues,
    /// The values that the leaf has.
    pub(crate) numbers: FindOnce<LeafNumbers>,
    /// The documents with one of the values.
    pub(crate) docs: FindTogether<DocSet, DocSet>,
    /// The same documents with scores.
    pub(crate) scored: FindTogether<ScoredDocs, ScoredDocs>,
}

impl LeafJoin {
    /// A join whose values are or will be these.
    pub(crate) fn of(values: FoundValues) -> Self {
        LeafJoin {
            values,
            numbers: FindOnce::default(),
            docs: FindTogether::default(),
            scored: FindTogether::default(),
        }
    }

    fn forget(&self) {
        self.numbers.forget();
        self.docs.forget();
        self.scored.forget();
    }
}

/// The joins of a plan under a model.
pub(crate) struct ScoredJoins {
    /// By leaf; none if no join has scores.
    pub(crate) leaves: Vec<Vec<LeafJoin>>,
}

impl ScoredJoins {
    /// The joins in a leaf, whose terms are `found`. Those of the previous leaf are dropped, as in
    /// [`FoundTerms::in_leaf`].
    pub(crate) fn in_leaf<'j>(&'j self, leaf: usize, found: LeafTerms<'j>) -> &'j [LeafJoin] {
        if let Some(before) = leaf.checked_sub(1).and_then(|before| self.leaves.get(before)) {
            before.iter().for_each(LeafJoin::forget);
        }
        self.leaves.get(leaf).map_or(found.joins, Vec::as_slice)
    }
}

/// The terms that a pattern matches in a leaf.
pub(crate) enum PatternTerms {
    Listed(Vec<TermRef>),
    /// The documents of all of the terms, which are too many to be kept.
    Docs(Arc<DocSet>),
}

impl PatternMatches {
    fn forget(&self) {
        self.terms.forget();
        self.all.forget();
        self.short.forget();
    }
}

/// A value that the first thread computes while other threads that need it wait.
pub(crate) struct FindOnce<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for FindOnce<T> {
    fn default() -> Self {
        FindOnce(Mutex::new(None))
    }
}

impl<T> FindOnce<T> {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<T>>> {
        lock(&self.0)
    }

    fn forget(&self) {
        *self.lock() = None;
    }

    /// The value. After an error the next caller tries again.
    pub(crate) fn get_or_find(&self, find: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut found = self.lock();
        match &*found {
            Some(found) => Ok(Arc::clone(found)),
            None => Ok(Arc::clone(found.insert(Arc::new(find()?)))),
        }
    }
}
