//! Explains a score as a tree that follows the query.
//!
//! One document is scored again, part by part, with the same arithmetic in the same order as in search, so
//! the value at the root equals the score of the hit bit for bit; tests compare the two. This file covers
//! lists, terms, phrases and patterns; `formulas.rs` has the formulas of the models, `soft.rs` the extended
//! Boolean model, `words.rs` the text of parts of a query.

mod asked;
mod explanation;
mod formulas;
mod soft;
mod words;

use super::best_score::BestScore;
use super::budget::Clock;
use super::leaf::{LeafStats, damaged_list};
use super::plan::node::{DocSource, NodeKind, PlanNode};
use super::plan::shape::Boosted;
use super::prepared::{PreparedQuery, Weights};
use super::searcher::Searcher;
use super::similarity::{Bm25, Classic, Dirichlet, Dph, JelinekMercer, Model, Pl2, Similarity, narrow};
use crate::codec::norm_to_length;
use crate::error::Result;
use crate::query::{Pattern, PhraseQuery, Query, ScoreChange, ScoredQuery};
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::value_scorer::ValueScorer;
use crate::search::exec::view::View;
use crate::search::exec::{joined, value_filter, value_pattern};
use crate::search::top_k::Hit;
use asked::Asked;
pub use explanation::Explanation;
use formulas::Match;
pub(crate) use words::clause as clause_text;

impl Searcher<'_> {
    /// Explains the score of a hit; see [`PreparedQuery::explain`].
    pub fn explain(&self, query: &Query, model: Model, hit: &Hit) -> Result<Option<Explanation>> {
        self.prepare(query)?.explain(model, hit)
    }
}

impl PreparedQuery<'_, '_, '_> {
    /// Explains the score of a document under a model. Returns `None` if the query does not match the
    /// document.
    ///
    /// Only the leaf and the document of the hit are used.
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::top_k`].
    pub fn explain(&self, model: Model, hit: &Hit) -> Result<Option<Explanation>> {
        model.check()?;
        if hit.leaf >= self.fields().leaves() {
            return Ok(None);
        }
        let view = View::new(self.fields(), &self.plan, hit.leaf)?;
        if hit.doc >= view.max_doc || !view.keeps(hit.doc) {
            return Ok(None);
        }
        let stats =
            (0..self.plan.fields.len()).map(|field| self.stats_of(field)).collect::<Result<Vec<_>>>()?;
        let asked =
            Asked { prepared: self, view: &view, hit, model, figures: self.figures()?, stats: &stats };
        match model {
            Model::Bm25 { k1, b } => explain(&asked, |stats| Bm25::new(k1, b, stats)),
            Model::Classic => explain(&asked, Classic::new),
            Model::LmDirichlet { mu } => explain(&asked, |stats| Dirichlet::new(mu, stats)),
            Model::LmJelinekMercer { lambda } => explain(&asked, |stats| JelinekMercer::new(lambda, stats)),
            Model::Pl2 { c } => explain(&asked, |stats| Pl2::new(c, stats)),
            Model::Dph => explain(&asked, Dph::new),
            Model::PNorm { p } => soft::explain(&asked, p),
        }
    }
}

/// Explains the score under one similarity.
fn explain<S: Similarity>(
    asked: &Asked,
    similarity: impl Fn(&LeafStats) -> S,
) -> Result<Option<Explanation>> {
    let PreparedQuery { plan, found, query, .. } = asked.prepared;
    let Weights { similarities, weights } = asked.prepared.weigh(similarity)?;
    let Some(found) = found.leaf(asked.hit.leaf) else { return Ok(None) };
    let joins = asked.prepared.score_joined(asked.model)?;
    let joins = joins.in_leaf(asked.hit.leaf, found);
    let terms = BoundTerms { plan, found, joins, weights: &weights, similarities: &similarities };
    Explainer { asked, terms }.node(query, &plan.root, 1.0)
}

/// A part of the query with its node of the plan.
type ExplainedPart<'p> = (&'p Query, &'p PlanNode);

/// The clauses of a list.
struct ListParts<'p> {
    must: Vec<ExplainedPart<'p>>,
    should: Vec<ExplainedPart<'p>>,
    must_not: Vec<ExplainedPart<'p>>,
}

/// Scores the document part by part.
struct Explainer<'w, 's, S> {
    asked: &'w Asked<'w, 's>,
    terms: BoundTerms<'w, S>,
}

impl<S: Similarity> Explainer<'_, '_, S> {
    /// The explanation of a node inside boosts whose product is `boost`; `None` if the document does not
    /// match it.
    fn node(&self, query: &Query, node: &PlanNode, boost: f32) -> Result<Option<Explanation>> {
        let boost = boost * node.boost;
        let query = words::bare(query);
        match (&node.kind, query) {
            (NodeKind::Term(term), _) => self.term(*term, boost),
            (NodeKind::Bool { must, should, must_not, at_least }, Query::Bool(list)) => self.list(
                ListParts {
                    must: list.must.iter().chain(&list.filter).zip(must).collect(),
                    should: list.should.iter().zip(should).collect(),
                    must_not: list.must_not.iter().zip(must_not).collect(),
                },
                *at_least,
                boost,
            ),
            (NodeKind::Bool { should, .. }, Query::Pattern { pattern, .. }) => {
                let near =
                    self.matching(&should.iter().map(|node| (query, node)).collect::<Vec<_>>(), boost)?;
                let what = format!("{}, by its nearest terms: sum of", words::pattern(pattern));
                Ok((!near.is_empty()).then(|| Explanation::new(sum(&near), what, near)))
            }
            (NodeKind::Best { any, tie }, Query::Best(best)) => {
                let parts: Vec<_> = best.clauses.iter().zip(any).collect();
                Ok(best_of(self.matching(&parts, boost)?, *tie))
            }
            (NodeKind::Phrase { terms, slop }, Query::Phrase(phrase)) => {
                self.phrase(phrase, terms, *slop, boost)
            }
            (NodeKind::Docs(source), query) => self.docs(*source, query, boost),
            (NodeKind::Joined(join), _) => self.joined(*join, boost),
            (NodeKind::Scored(node, _), Query::Scored(scored)) => self.scored(scored, node, boost),
            (NodeKind::Filter(node), query) => {
                let found = self.node(query, node, boost)?;
                let what = "a condition that must hold, and does not change the score";
                Ok(found.map(|found| Explanation::new(0.0, what, vec![found])))
            }
            // A phrase without terms.
            (
                NodeKind::Bool { .. }
                | NodeKind::Best { .. }
                | NodeKind::Phrase { .. }
                | NodeKind::Scored(..),
                _,
            ) => Ok(None),
        }
    }

    /// The constant score of a set of documents.
    fn docs(&self, source: DocSource, query: &Query, boost: f32) -> Result<Option<Explanation>> {
        let (view, doc) = (self.asked.view, self.asked.hit.doc);
        if self.asked.plan().field_of_source(source).is_some_and(|field| !self.asked.has(field)) {
            return Ok(None);
        }
        let what = match (source, query) {
            (DocSource::All, _) => "every document scores 1".to_owned(),
            (DocSource::Pattern(number), Query::Pattern { pattern, .. }) => {
                return self.pattern(pattern, number, boost);
            }
            (DocSource::Pattern(_), _) => return Ok(None),
            (DocSource::Exists(field), _) => {
                if view.norms(field).get(doc as usize).is_none_or(|&norm| norm == 0) {
                    return Ok(None);
                }
                format!("{}: documents with a term in the field score 1", self.asked.in_field(field, "*"))
            }
            (DocSource::Values(range), _) => {
                let set = value_filter::filter(view, self.asked.plan().ranges[range], Some(&[doc]))?;
                if set.next(doc) != doc {
                    return Ok(None);
                }
                "documents with a value in the range score 1".to_owned()
            }
            (DocSource::ValuePattern(number), Query::ValuePattern { pattern, .. }) => {
                if value_pattern::docs(view, self.asked.plan(), &self.terms.found, number)?.next(doc) != doc {
                    return Ok(None);
                }
                format!("{}: documents with a value that matches score 1", words::pattern(pattern))
            }
            (DocSource::ValuePattern(_), _) => return Ok(None),
            (DocSource::Joined(number), _) => {
                let join = self.asked.plan().joins[number].query;
                if joined::docs(view, join, &self.terms.joins[number])?.next(doc) != doc {
                    return Ok(None);
                }
                format!("{}: documents that the join matches score 1", self.asked.join_text(join))
            }
        };
        Ok(Some(constant(&what, boost, Vec::new())))
    }

    /// A score that a column changes.
    fn scored(&self, scored: &ScoredQuery, node: &PlanNode, boost: f32) -> Result<Option<Explanation>> {
        let Some(inside) = self.node(&scored.query, node, boost)? else { return Ok(None) };
        let mut scorer = ValueScorer::new(self.asked.view, scored, boost)?;
        let (number, value) =
            (scorer.number(self.asked.hit.doc)?, scorer.score(self.asked.hit.doc, inside.value)?);
        let by = words::value_score(&scored.by, &|field| self.asked.field_name(field));
        let number = Explanation::plain(narrow(number), by);
        Ok(Some(match scored.change {
            ScoreChange::Multiply => Explanation::new(value, "product of", vec![inside, number]),
            ScoreChange::Add if boost == 1.0 => Explanation::new(value, "sum of", vec![inside, number]),
            ScoreChange::Add => Explanation::new(
                value,
                format!("the first plus {boost} times the second"),
                vec![inside, number],
            ),
            ScoreChange::Replace if boost == 1.0 => {
                Explanation::new(value, "instead of the score of the query inside", vec![number])
            }
            ScoreChange::Replace => {
                let what = format!("{boost} times a number instead of the score of the query inside");
                Explanation::new(value, what, vec![number])
            }
        }))
    }

    /// The score of a document that a join matches.
    fn joined(&self, number: usize, boost: f32) -> Result<Option<Explanation>> {
        let (join, doc) = (self.asked.plan().joins[number].query, self.asked.hit.doc);
        let found = joined::scored(self.asked.view, join, &self.terms.joins[number])?;
        let at = found.next(0, doc);
        let score = found.docs.get(at).filter(|&&found| found == doc).and_then(|_| found.scores.get(at));
        let what = || format!("{}: {} of the scores inside", self.asked.join_text(join), join.score.name());
        Ok(score.map(|&score| Explanation::plain(score * boost, what())))
    }

    /// The explanations of the parts that match.
    fn matching(&self, parts: &[ExplainedPart], boost: f32) -> Result<Vec<Explanation>> {
        parts.iter().filter_map(|(query, node)| self.node(query, node, boost).transpose()).collect()
    }

    fn list(&self, parts: ListParts, at_least: usize, boost: f32) -> Result<Option<Explanation>> {
        let ListParts { must, should, must_not } = parts;
        for (query, node) in &must_not {
            if self.node(query, node, boost)?.is_some() {
                return Ok(None);
            }
        }
        let (required, optional) = (self.matching(&must, boost)?, self.matching(&should, boost)?);
        if required.len() < must.len() || optional.len() < at_least {
            return Ok(None);
        }
        let some = match at_least {
            0 | 1 => "sum of".to_owned(),
            _ => format!("{} of {} match, {at_least} must: sum of", optional.len(), should.len()),
        };
        Ok(match (required.is_empty(), optional.is_empty()) {
            (true, true) if should.is_empty() && !must_not.is_empty() => {
                Some(Explanation::plain(0.0, "no excluded clause matches, and there are no other clauses"))
            }
            (true, true) => None,
            (true, false) => Some(Explanation::new(sum(&optional), some, optional)),
            (false, true) => Some(Explanation::new(sum(&required), "sum of", required)),
            (false, false) => {
                let parts = vec![
                    Explanation::new(sum(&required), "required clauses: sum of", required),
                    Explanation::new(sum(&optional), format!("optional clauses: {some}"), optional),
                ];
                // Rounded as in search: a list with a least number of matches is required itself.
                let value = match at_least {
                    0 => parts.iter().map(|part| part.value).sum(),
                    _ => sum(&parts),
                };
                Some(Explanation::new(value, "sum of", parts))
            }
        })
    }

    fn term(&self, term: usize, boost: f32) -> Result<Option<Explanation>> {
        let (view, doc) = (self.asked.view, self.asked.hit.doc);
        if !self.asked.has(self.asked.plan().field_of(term)) {
            return Ok(None);
        }
        let Some(source) = self.terms.source(view, term)? else { return Ok(None) };
        let mut clause = self.terms.clause(view, Boosted { term, boost }, &source)?;
        let here = clause.cursor.advance(doc) == doc;
        let freq = if here { clause.cursor.tf() } else { 0 };
        if clause.cursor.corrupt() {
            return Err(damaged_list());
        }
        if !here {
            return Ok(None);
        }
        let occurs = Explanation::count(freq.into(), "freq, how often it occurs in the document");
        let value = clause.scorer.score(doc, freq);
        Ok(Some(self.match_of(self.asked.plan().field_of(term), occurs, boost).explain(
            &self.asked.name(term),
            value,
            self.weight(term),
        )))
    }

    /// The data about a match in a field that the formulas need.
    fn match_of(&self, field: usize, freq: Explanation, boost: f32) -> Match {
        let norm = self.asked.view.norms(field).get(self.asked.hit.doc as usize).copied().unwrap_or(0);
        let stats = self.asked.stats(field);
        Match { model: self.asked.model, freq, boost, length: norm_to_length(norm).into(), stats }
    }

    fn weight(&self, term: usize) -> Explanation {
        let weight = self.terms.weights.get(term).copied().unwrap_or(0.0);
        let stats = self.asked.stats(self.asked.plan().field_of(term));
        let blended = self.asked.plan().is_blended(term);
        formulas::weight(self.asked.model, narrow(weight), self.asked.figures(term), blended, &stats)
    }

    fn phrase(
        &self,
        phrase: &PhraseQuery,
        terms: &[(u32, usize)],
        slop: u32,
        boost: f32,
    ) -> Result<Option<Explanation>> {
        let Some(&(_, first)) = terms.first() else { return Ok(None) };
        let field = self.asked.plan().field_of(first);
        if !self.asked.has(field) {
            return Ok(None);
        }
        let Some(freq) = self.phrase_freq(terms, slop)? else { return Ok(None) };
        let name = self.asked.in_field(field, &words::phrase(phrase));
        let occurs = match slop {
            0 => Explanation::plain(freq, "freq, how often the phrase occurs in the document"),
            _ => Explanation::plain(freq, "freq, the sum of 1 / (1 + moves) over all places of the phrase"),
        };
        let weights = terms.iter().map(|&(_, term)| self.terms.weights[term]);
        let doc = self.asked.hit.doc;
        let score = |weight: f64| {
            let weight = self.terms.similarities[field].boosted(weight, boost);
            self.terms.scorer(self.asked.view, field, weight).score_freq(doc, freq)
        };
        let of_terms = terms.iter().map(|&(_, term)| (term, self.weight(term)));
        if self.terms.similarities[field].weights_add() {
            let weight: f64 = weights.sum();
            let named = of_terms.map(|(term, weight)| Explanation {
                description: format!("{}: {}", self.asked.name(term), weight.description),
                ..weight
            });
            let idf = Explanation::new(narrow(weight), "idf, the sum over its words", named.collect());
            return Ok(Some(self.match_of(field, occurs, boost).explain(&name, score(weight), idf)));
        }
        let parts: Vec<Explanation> = of_terms
            .zip(weights)
            .map(|((term, weight), number)| {
                let matched = self.match_of(field, occurs.clone(), boost);
                matched.explain(&self.asked.name(term), score(number), weight)
            })
            .collect();
        let value = parts.iter().map(|part| part.value).sum();
        Ok(Some(Explanation::new(value, format!("{name}: sum over its words of"), parts)))
    }

    /// The frequency of a phrase in the document; `None` if it does not occur.
    fn phrase_freq(&self, terms: &[(u32, usize)], slop: u32) -> Result<Option<f32>> {
        let (view, doc) = (self.asked.view, self.asked.hit.doc);
        let sources = terms.iter().map(|&(_, term)| self.terms.source(view, term));
        let Some(sources) = sources.collect::<Result<Option<Vec<_>>>>()? else { return Ok(None) };
        let lists: Vec<_> = sources.iter().collect();
        let mut matcher = self.terms.phrase_matcher(view, terms, slop, &lists)?;
        let freq = matcher.freq(doc);
        if matcher.corrupt() {
            return Err(damaged_list());
        }
        Ok((freq > 0.0).then_some(freq))
    }

    fn pattern(&self, pattern: &Pattern, number: usize, boost: f32) -> Result<Option<Explanation>> {
        let (view, doc) = (self.asked.view, self.asked.hit.doc);
        let Some((field, matcher)) = self.asked.plan().patterns.get(number) else { return Ok(None) };
        let leaf = view.through(*field);
        let (mut all, mut here) = (0, Vec::new());
        let mut matching = matcher.matching(leaf.into(), Clock::default())?;
        while matching.next()? {
            let found = matching.found()?;
            if !leaf.is_shown(&found)? {
                continue;
            }
            all += 1;
            let source = leaf.postings(&found)?;
            let mut list = source.cursor(found.doc_freq, view.max_doc)?;
            if list.advance(doc) == doc {
                let what = format!("{}, how often it occurs in the document", words::term(matching.term()));
                here.push(Explanation::count(list.tf().into(), &what));
            }
            if list.corrupt() {
                return Err(damaged_list());
            }
        }
        if here.is_empty() {
            return Ok(None);
        }
        let name = self.asked.in_field(*field, &words::pattern(pattern));
        here.insert(0, Explanation::count(all, "terms that it matches in this segment"));
        Ok(Some(constant(&format!("{name}: documents with any of its terms score 1"), boost, here)))
    }
}

/// The best of the clauses that match, if there are any.
fn best_of(parts: Vec<Explanation>, tie: f32) -> Option<Explanation> {
    let mut best = BestScore::new();
    parts.iter().for_each(|part| best.add(part.value));
    let what = format!("the best of, plus {tie} times the others");
    (!parts.is_empty()).then(|| Explanation::new(best.value(tie), what, parts))
}

/// A score of 1, boosted.
fn constant(what: &str, boost: f32, mut details: Vec<Explanation>) -> Explanation {
    if boost == 1.0 {
        return Explanation::new(boost, what, details);
    }
    details.insert(0, Explanation::plain(boost, "boost"));
    Explanation::new(boost, format!("{what}, times boost"), details)
}

/// The sum of several parts, rounded as in search.
fn sum(parts: &[Explanation]) -> f32 {
    narrow(parts.iter().map(|part| f64::from(part.value)).sum())
}
