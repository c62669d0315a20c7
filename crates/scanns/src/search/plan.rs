//! From a query to what is run in every leaf: the terms once, the shape, and figures over all leaves.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use super::docset::DocSet;
use super::fields::Fields;
use super::leaf::TermRef;
use super::parse::{MAX_CLAUSES, MAX_DEPTH};
use super::patterns::{MAX_EXPANSIONS, Matcher, Near, nearest};
use super::query::{Pattern, PhraseQuery, Query, ValueRange};
use crate::error::{Error, Result};
use crate::schema::Field;

/// A query with its terms replaced by numbers.
pub(super) struct Plan<'q> {
    /// Every term that occurs in the query, once.
    pub(super) terms: Vec<PlanTerm<'q>>,
    /// The fields that are searched, by their places in [`Fields`]; at least one.
    pub(super) fields: Vec<usize>,
    /// The patterns whose terms are sought in each leaf, with the place of their field in [`Plan::fields`].
    pub(super) patterns: Vec<(usize, Matcher<'q>)>,
    /// Ranges of values.
    pub(super) ranges: Vec<&'q ValueRange>,
    /// Terms that each may match in a leaf.
    pub(super) expansions: usize,
    pub(super) root: Node,
}

/// A term and where it is sought.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct PlanTerm<'q> {
    /// The place of its field in [`Plan::fields`].
    pub(super) field: usize,
    pub(super) bytes: Cow<'q, [u8]>,
    /// Terms with the same number count as being in as many documents as the most frequent of them, and as often as all:
    /// a term that is spelt wrongly is rare, and would be worth more than the right one.
    blend: Option<usize>,
}

/// A part of the query.
pub(super) struct Node {
    /// What its score is multiplied by; those of the parts around it come on top.
    pub(super) boost: f32,
    pub(super) kind: Kind,
}

impl Node {
    /// The score of all documents that match, where it is the same.
    pub(super) fn same_score(&self) -> Option<f32> {
        let (node, boost) = innermost(self, 1.0);
        let same = matches!(node.kind, Kind::Pattern(_) | Kind::All | Kind::Exists(_) | Kind::Values(_));
        same.then_some(boost * node.boost)
    }
}

/// As [`Query`]; terms are places in [`Plan::terms`].
pub(super) enum Kind {
    Term(usize),
    Bool {
        must: Vec<Node>,
        should: Vec<Node>,
        must_not: Vec<Node>,
        at_least: usize,
    },
    /// At least two terms with their places.
    Phrase {
        terms: Vec<(u32, usize)>,
        slop: u32,
    },
    /// A place in [`Plan::patterns`].
    Pattern(usize),
    All,
    /// A place in [`Plan::fields`].
    Exists(usize),
    /// A place in [`Plan::ranges`].
    Values(usize),
}

/// A term of a list, with all boosts around it.
#[derive(Clone, Copy)]
pub(super) struct Boosted {
    pub(super) term: usize,
    pub(super) boost: f32,
}

/// What kind of query it is: those that nest little have faster ways than document at a time.
pub(super) enum Shape<'p> {
    /// Any of some terms, or a single one, and none of others.
    Any {
        terms: Vec<Boosted>,
        excluded: Vec<usize>,
    },
    Required(Required<'p>),
    Tree(&'p Node),
}

impl<'p> Shape<'p> {
    /// A single term is a shape of its own.
    fn of(required: Vec<Atom<'p>>, optional: Vec<Boosted>, excluded: Vec<usize>) -> Self {
        match (&required[..], &optional[..]) {
            (&[Atom::Term(term)], []) => Shape::Any { terms: vec![term], excluded },
            _ => Shape::Required(Required { required, optional, excluded }),
        }
    }
}

/// A query that requires something.
pub(super) struct Required<'p> {
    /// At least one.
    pub(super) required: Vec<Atom<'p>>,
    pub(super) optional: Vec<Boosted>,
    pub(super) excluded: Vec<usize>,
}

impl Required<'_> {
    /// True if a phrase is required.
    pub(super) fn has_phrase(&self) -> bool {
        self.required.iter().any(|atom| matches!(atom, Atom::Phrase { .. }))
    }
}

/// What can be required.
#[derive(Clone, Copy)]
pub(super) enum Atom<'p> {
    Term(Boosted),
    Phrase { terms: &'p [(u32, usize)], slop: u32, boost: f32 },
}

impl Atom<'_> {
    /// The terms that a document must have.
    pub(super) fn terms(&self) -> Vec<Boosted> {
        match self {
            Atom::Term(term) => vec![*term],
            Atom::Phrase { terms, boost, .. } => {
                terms.iter().map(|&(_, term)| Boosted { term, boost: *boost }).collect()
            }
        }
    }
}

impl<'q> Plan<'q> {
    /// Plans a query over the fields that there are.
    pub(super) fn new(query: &'q Query, known: &Fields) -> Result<Self> {
        let default = known.default_place();
        let mut planner = Planner {
            terms: Vec::new(),
            fields: Vec::new(),
            patterns: Vec::new(),
            ranges: Vec::new(),
            clauses: 0,
            blends: 0,
            known,
        };
        let root = planner.node(query, (default, 1.0), 0)?;
        let Planner { terms, mut fields, patterns, ranges, .. } = planner;
        if fields.is_empty() {
            fields.push(default);
        }
        let expansions = if known.is_exhaustive() { usize::MAX } else { MAX_EXPANSIONS };
        Ok(Plan { terms, fields, patterns, ranges, expansions, root })
    }

    pub(super) fn shape(&self) -> Shape<'_> {
        let (root, boost) = innermost(&self.root, 1.0);
        let shape = match atom((root, boost)) {
            Some(atom) => Some(Shape::of(vec![atom], Vec::new(), Vec::new())),
            None => flat(root, boost),
        };
        shape.unwrap_or(Shape::Tree(&self.root))
    }

    /// The field of each term, by its place in [`Plan::fields`].
    pub(super) fn field_of(&self, term: usize) -> usize {
        self.terms[term].field
    }

    /// True if the figures of a term are those of all nearest terms of a word.
    pub(super) fn is_blended(&self, term: usize) -> bool {
        self.terms.get(term).is_some_and(|term| term.blend.is_some())
    }

    /// Looks the terms up in all leaves.
    pub(super) fn find(&self, fields: &Fields) -> Result<Found> {
        let mut found = Found { leaves: Vec::new(), figures: vec![Figures::default(); self.terms.len()] };
        for leaf in 0..fields.leaves() {
            let find = |term: &PlanTerm| fields.leaf(self.fields[term.field], leaf).find(&term.bytes);
            let refs: Vec<Option<TermRef>> = self.terms.iter().map(find).collect::<Result<_>>()?;
            for (sum, term) in found.figures.iter_mut().zip(&refs) {
                sum.doc_freq += term.map_or(0, |term| u64::from(term.doc_freq));
                sum.total_freq += term.map_or(0, |term| term.total_freq);
            }
            let patterns = self.patterns.iter().map(|_| Matched::default()).collect();
            found.leaves.push(InLeaf { refs, patterns });
        }
        self.blend(&mut found.figures);
        Ok(found)
    }

    fn blend(&self, figures: &mut [Figures]) {
        let mut blends = vec![Figures::default(); self.terms.len()];
        for (term, of_term) in self.terms.iter().zip(&*figures) {
            if let Some(blend) = term.blend.and_then(|blend| blends.get_mut(blend)) {
                blend.doc_freq = of_term.doc_freq.max(blend.doc_freq);
                blend.total_freq += of_term.total_freq;
            }
        }
        for (term, of_term) in self.terms.iter().zip(figures) {
            if let Some(&blend) = term.blend.and_then(|blend| blends.get(blend)) {
                *of_term = blend;
            }
        }
    }
}

/// How frequent a term is in all leaves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub(super) doc_freq: u64,
    pub(super) total_freq: u64,
}

/// Where the terms of a plan are.
pub(super) struct Found {
    /// By leaf.
    pub(super) leaves: Vec<InLeaf>,
    /// By term.
    pub(super) figures: Vec<Figures>,
}

impl Found {
    /// What is in a leaf. Leaves are searched in order: what patterns matched in the one before is forgotten, save by those
    /// that are still at it.
    pub(super) fn in_leaf(&self, leaf: usize) -> &InLeaf {
        let before = leaf.checked_sub(1).and_then(|before| self.leaves.get(before));
        before.into_iter().flat_map(|before| &before.patterns).for_each(Matched::forget);
        &self.leaves[leaf]
    }
}

/// What of a plan is in one leaf.
pub(super) struct InLeaf {
    /// By term.
    pub(super) refs: Vec<Option<TermRef>>,
    /// By pattern.
    pub(super) patterns: Vec<Matched>,
}

/// What a pattern matches in a leaf, found when it is first asked for, for all ranges of its documents.
#[derive(Default)]
pub(super) struct Matched {
    pub(super) terms: Once<Vec<TermRef>>,
    /// The documents of its terms.
    pub(super) all: Once<DocSet>,
    /// Those of its terms whose lists are short.
    pub(super) short: Once<DocSet>,
}

impl Matched {
    fn forget(&self) {
        self.terms.forget();
        self.all.forget();
        self.short.forget();
    }
}

/// What is found by the first thread that asks for it, while others wait.
pub(super) struct Once<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Once(Mutex::new(None))
    }
}

impl<T> Once<T> {
    fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// What was found; after an error the next one tries again.
    pub(super) fn get_or_find(&self, find: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*found {
            Some(found) => Ok(Arc::clone(found)),
            None => Ok(Arc::clone(found.insert(Arc::new(find()?)))),
        }
    }
}

/// What scores may be multiplied by, all boosts together: nothing overflows.
const BOOSTS: RangeInclusive<f32> = 1e-18..=1e18;

struct Planner<'q, 'f> {
    terms: Vec<PlanTerm<'q>>,
    fields: Vec<usize>,
    patterns: Vec<(usize, Matcher<'q>)>,
    ranges: Vec<&'q ValueRange>,
    /// Clauses so far.
    clauses: usize,
    /// Numbers of [`PlanTerm::blend`] in use.
    blends: usize,
    known: &'f Fields<'f>,
}

impl<'q> Planner<'q, '_> {
    /// The node of a query whose terms are in the field at `field` of all there are, boosted by what is around it.
    fn node(&mut self, query: &'q Query, (field, around): (usize, f32), depth: usize) -> Result<Node> {
        // A parenthesis may hold a list of lists, one level for OR and one for AND, each in a field and boosted.
        if depth > 4 * MAX_DEPTH + 4 {
            return Err(Error::Options(format!("a query may be nested {MAX_DEPTH} deep")));
        }
        self.count(1)?;
        let kind = match query {
            Query::Term(term) => Kind::Term(self.number(term.into(), field, None)),
            Query::Bool(list) => {
                let mut all = |queries: &'q [Query]| {
                    queries
                        .iter()
                        .map(|query| self.node(query, (field, around), depth + 1))
                        .collect::<Result<Vec<_>>>()
                };
                Kind::Bool {
                    must: all(&list.must)?,
                    should: all(&list.should)?,
                    must_not: all(&list.must_not)?,
                    at_least: list.at_least,
                }
            }
            Query::Phrase(phrase) => self.phrase(phrase, field)?,
            Query::Pattern(Pattern::Fuzzy { term, edits, prefix }) if !self.known.is_exhaustive() => {
                self.fuzzy((term, *edits, *prefix), field)?
            }
            Query::Pattern(pattern) => {
                let field = self.field(field);
                self.patterns.push((field, Matcher::new(pattern)?));
                Kind::Pattern(self.patterns.len() - 1)
            }
            Query::All => Kind::All,
            Query::Exists => Kind::Exists(self.field(field)),
            Query::Values(range) => {
                self.ranges.push(range);
                Kind::Values(self.ranges.len() - 1)
            }
            Query::In(named, query) => {
                return self.node(query, (self.place_of(*named)?, around), depth + 1);
            }
            Query::Boost(query, boost) => {
                let boosted = around * boost;
                if !BOOSTS.contains(&boosted) {
                    let message = "boosts, and factors of them, must be positive numbers from 1e-18 to 1e18";
                    return Err(Error::Options(message.into()));
                }
                let node = self.node(query, (field, boosted), depth + 1)?;
                return Ok(Node { boost: boost * node.boost, ..node });
            }
        };
        Ok(Node { boost: 1.0, kind })
    }

    /// Counts clauses; each term may be in lists, a field and boosts of its own.
    fn count(&mut self, more: usize) -> Result<()> {
        self.clauses += more;
        match self.clauses > 4 * MAX_CLAUSES {
            true => Err(Error::Options(format!("a query may have {MAX_CLAUSES} clauses"))),
            false => Ok(()),
        }
    }

    fn phrase(&mut self, phrase: &'q PhraseQuery, field: usize) -> Result<Kind> {
        if !phrase.terms.is_sorted_by(|a, b| a.0 <= b.0) || phrase.terms.len() > MAX_CLAUSES {
            let message = format!("places in a phrase must rise, and there may be {MAX_CLAUSES} of them");
            return Err(Error::Options(message));
        }
        let terms: Vec<(u32, usize)> = phrase
            .terms
            .iter()
            .map(|(place, term)| (*place, self.number(term.into(), field, None)))
            .collect();
        Ok(match terms[..] {
            [] => Kind::Bool { must: Vec::new(), should: Vec::new(), must_not: Vec::new(), at_least: 0 },
            [(_, only)] => Kind::Term(only),
            _ => Kind::Phrase { terms, slop: phrase.slop },
        })
    }

    /// A list of the nearest terms, which count as equally frequent.
    fn fuzzy(&mut self, wanted: (&str, u8, usize), field: usize) -> Result<Kind> {
        let leaves: Vec<_> = (0..self.known.leaves()).map(|leaf| self.known.leaf(field, leaf)).collect();
        let blend = self.blends;
        self.blends += 1;
        let near = nearest((&leaves, self.known.clock()), wanted)?;
        self.count(near.len())?;
        let should = near
            .into_iter()
            .map(|Near { term, boost }| Node {
                boost,
                kind: Kind::Term(self.number(term.into(), field, Some(blend))),
            })
            .collect();
        Ok(Kind::Bool { must: Vec::new(), should, must_not: Vec::new(), at_least: 0 })
    }

    fn place_of(&self, named: Field) -> Result<usize> {
        let missing = || Error::Options("the query names a field that is not searched".into());
        self.known.place_of(named).ok_or_else(missing)
    }

    /// The place of a field among those of the plan.
    fn field(&mut self, field: usize) -> usize {
        place_in(&mut self.fields, field)
    }

    fn number(&mut self, bytes: Cow<'q, [u8]>, field: usize, blend: Option<usize>) -> usize {
        let field = self.field(field);
        place_in(&mut self.terms, PlanTerm { field, bytes, blend })
    }
}

/// The place of `wanted` in a list, to which it is added if it is not there.
fn place_in<T: PartialEq>(known: &mut Vec<T>, wanted: T) -> usize {
    known.iter().position(|known| *known == wanted).unwrap_or_else(|| {
        known.push(wanted);
        known.len() - 1
    })
}

/// The shape of a list of terms and phrases, boosted by what is around it; `None` if it is more than that.
fn flat(list: &Node, boost: f32) -> Option<Shape<'_>> {
    let Kind::Bool { must, should, must_not, at_least: at_least @ (0 | 1) } = &list.kind else { return None };
    let boost = boost * list.boost;
    let excluded = only_terms(must_not, 1.0)?.iter().map(|excluded| excluded.term).collect();
    match (&must[..], &should[..]) {
        ([], []) => None,
        // The only clause that there is must match.
        ([], [_]) => Some(Shape::of(atoms(should, boost)?, Vec::new(), excluded)),
        ([], _) => Some(Shape::Any { terms: only_terms(should, boost)?, excluded }),
        // Of what is optional something is then required, as a sum of its own.
        _ if *at_least > 0 => None,
        _ => Some(Shape::of(atoms(must, boost)?, only_terms(should, boost)?, excluded)),
    }
}

/// Nodes that are all terms and phrases, boosted by what is around them.
fn atoms(nodes: &[Node], boost: f32) -> Option<Vec<Atom<'_>>> {
    nodes.iter().map(|node| atom(innermost(node, boost))).collect()
}

/// The terms of nodes that are nothing else, boosted by what is around them.
fn only_terms(nodes: &[Node], boost: f32) -> Option<Vec<Boosted>> {
    let term = |atom| if let Atom::Term(term) = atom { Some(term) } else { None };
    atoms(nodes, boost)?.into_iter().map(term).collect()
}

/// The node that a chain of lists with one clause each ends with, and the boosts before it.
fn innermost(node: &Node, boost: f32) -> (&Node, f32) {
    let (mut node, mut boost) = (node, boost);
    while let Kind::Bool { must, should, must_not, at_least } = &node.kind {
        let only = match (&must[..], &should[..], &must_not[..], at_least) {
            ([only], [], [], 0) | ([], [only], [], 0 | 1) => only,
            _ => break,
        };
        (node, boost) = (only, boost * node.boost);
    }
    (node, boost)
}

/// A term or a phrase, boosted by what is around it.
fn atom((node, boost): (&Node, f32)) -> Option<Atom<'_>> {
    let boost = boost * node.boost;
    match &node.kind {
        Kind::Term(term) => Some(Atom::Term(Boosted { term: *term, boost })),
        Kind::Phrase { terms, slop } => Some(Atom::Phrase { terms, slop: *slop, boost }),
        _ => None,
    }
}
