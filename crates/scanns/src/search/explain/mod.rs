//! How a score came about, as a tree that follows the query.
//!
//! One document is scored again, part by part, with the same arithmetic in the same order as the loops that search, so
//! the value at the root is the score of the hit bit for bit; tests hold both against each other. Here are lists, terms,
//! phrases and patterns, `formulas.rs` has what each model makes of a frequency, `soft.rs` the extended Boolean model,
//! `words.rs` how parts of a query are called.

mod formulas;
mod soft;
mod words;

use std::fmt;

use super::budget::Clock;
use super::leaf::damaged_list;
use super::plan::{Boosted, Figures, Found, Kind, Node, Plan};
use super::query::{Pattern, PhraseQuery, Query};
use super::run::{Terms, View};
use super::similarity::{Bm25, Classic, Dirichlet, Dph, JelinekMercer, Model, Pl2, Similarity, narrow};
use super::topk::Hit;
use super::{LeafStats, Searcher};
use crate::codec::norm_to_length;
use crate::error::Result;
use formulas::Match;

/// A score, or a part of one, and what it was made of.
///
/// Displayed, it is a line for each part, its value first, indented by how deep it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What it comes to; at the root the score of the hit.
    pub value: f32,
    /// What it is, and by which formula, for people.
    pub description: String,
    /// The parts of the formula.
    pub details: Vec<Explanation>,
}

impl Explanation {
    fn new(value: f32, description: impl Into<String>, details: Vec<Explanation>) -> Self {
        Explanation { value, description: description.into(), details }
    }

    /// A part that is made of nothing.
    fn plain(value: f32, description: impl Into<String>) -> Self {
        Explanation::new(value, description, Vec::new())
    }

    /// A count, which is told in full where the value cannot hold it.
    fn count(number: u64, description: &str) -> Self {
        match number < 1 << f32::MANTISSA_DIGITS {
            true => Explanation::plain(number as f32, description),
            false => Explanation::plain(number as f32, format!("{description}, {number} to be exact")),
        }
    }

    fn write(&self, depth: usize, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{:indent$}{} {}", "", self.value, self.description, indent = 2 * depth)?;
        self.details.iter().try_for_each(|detail| detail.write(depth + 1, out))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(0, out)
    }
}

impl Searcher<'_> {
    /// How a query comes to the score that it gives a document by a model; `None` if it does not find the document. Of
    /// the hit only the place counts.
    ///
    /// # Errors
    /// Those of [`Searcher::top_k`].
    pub fn explain(&self, query: &Query, model: Model, hit: &Hit) -> Result<Option<Explanation>> {
        model.check()?;
        let plan = Plan::new(query, &self.fields)?;
        if hit.leaf >= self.fields.leaves() {
            return Ok(None);
        }
        let view = View::new(&self.fields, &plan, hit.leaf)?;
        if hit.doc >= view.max_doc || !view.keeps(hit.doc) {
            return Ok(None);
        }
        let found = plan.find(&self.fields)?;
        let asked = Asked { searcher: self, query, plan: &plan, found: &found, view: &view, hit, model };
        match model {
            Model::Bm25 { k1, b } => asked.explain(|stats| Bm25::new(k1, b, stats)),
            Model::Classic => asked.explain(Classic::new),
            Model::LmDirichlet { mu } => asked.explain(|stats| Dirichlet::new(mu, stats)),
            Model::LmJelinekMercer { lambda } => asked.explain(|stats| JelinekMercer::new(lambda, stats)),
            Model::Pl2 { c } => asked.explain(|stats| Pl2::new(c, stats)),
            Model::Dph => asked.explain(Dph::new),
            Model::PNorm { p } => soft::explain(&asked, p),
        }
    }
}

/// What is to be explained.
struct Asked<'a, 's> {
    searcher: &'a Searcher<'s>,
    query: &'a Query,
    plan: &'a Plan<'a>,
    found: &'a Found,
    view: &'a View<'s>,
    hit: &'a Hit,
    model: Model,
}

impl Asked<'_, '_> {
    fn explain<S: Similarity>(&self, similarity: impl Fn(&LeafStats) -> S) -> Result<Option<Explanation>> {
        let (similarities, weights) = self.searcher.weigh(self.plan, self.found, similarity);
        let Some(found) = self.found.leaves.get(self.hit.leaf) else { return Ok(None) };
        let terms = Terms { plan: self.plan, found, weights: &weights, similarities: &similarities };
        Walker { asked: self, terms }.node(self.query, &self.plan.root, 1.0)
    }

    /// What a term of the plan is called, with its field if that is not the one that is searched.
    fn name(&self, term: usize) -> String {
        let bytes = self.plan.terms.get(term).map_or(&b""[..], |term| &term.bytes);
        self.in_field(self.plan.field_of(term), &words::term(bytes))
    }

    /// A part of the query with the field of the plan that it is in.
    fn in_field(&self, field: usize, text: &str) -> String {
        let fields = &self.searcher.fields;
        match self.plan.fields.get(field) {
            Some(&place) if place != fields.default_place() => format!("{}:{text}", fields.name(place)),
            _ => text.to_owned(),
        }
    }

    fn stats(&self, field: usize) -> LeafStats {
        self.searcher.stats_of(self.plan, field)
    }

    fn figures(&self, term: usize) -> Figures {
        self.found.figures.get(term).copied().unwrap_or_default()
    }
}

/// A part of the query with the node that the plan made of it.
type Part<'p> = (&'p Query, &'p Node);

/// Scores the document part by part.
struct Walker<'w, 's, S> {
    asked: &'w Asked<'w, 's>,
    terms: Terms<'w, S>,
}

impl<S: Similarity> Walker<'_, '_, S> {
    /// The part of a node, those around which are boosted by `boost`; `None` if the document does not match it.
    fn node(&self, query: &Query, node: &Node, boost: f32) -> Result<Option<Explanation>> {
        let boost = boost * node.boost;
        let query = words::bare(query);
        match (&node.kind, query) {
            (Kind::Term(term), _) => self.term(*term, boost),
            (Kind::Bool { must, should, must_not, at_least }, Query::Bool(list)) => self.list(
                [(&list.must, must), (&list.should, should), (&list.must_not, must_not)]
                    .map(|(queries, nodes)| queries.iter().zip(nodes).collect()),
                *at_least,
                boost,
            ),
            (Kind::Bool { should, .. }, Query::Pattern(pattern)) => {
                let near =
                    self.matching(&should.iter().map(|node| (query, node)).collect::<Vec<_>>(), boost)?;
                let what = format!("{}, by its nearest terms: sum of", words::pattern(pattern));
                Ok((!near.is_empty()).then(|| Explanation::new(sum(&near), what, near)))
            }
            (Kind::Phrase { terms, slop }, Query::Phrase(phrase)) => {
                self.phrase((phrase, terms), *slop, boost)
            }
            (Kind::Pattern(number), Query::Pattern(pattern)) => self.pattern(pattern, *number, boost),
            (Kind::All, _) => Ok(Some(constant("every document scores 1", boost, Vec::new()))),
            (Kind::Exists(field), _) => {
                let norm = self.asked.view.norms(*field).get(self.asked.hit.doc as usize);
                let what =
                    format!("{}: what has a term in the field scores 1", self.asked.in_field(*field, "*"));
                Ok(norm.is_some_and(|&norm| norm > 0).then(|| constant(&what, boost, Vec::new())))
            }
            (Kind::Values(range), _) => {
                let (range, doc) = (self.asked.plan.ranges[*range], self.asked.hit.doc);
                let set = self.asked.view.with_values(range, Some(&[doc]))?;
                let what = "a value in the range that was asked for scores 1";
                Ok((set.next(doc) == doc).then(|| constant(what, boost, Vec::new())))
            }
            // A phrase without terms.
            (Kind::Bool { .. } | Kind::Phrase { .. } | Kind::Pattern(_), _) => Ok(None),
        }
    }

    /// Those of the parts that match.
    fn matching(&self, parts: &[Part], boost: f32) -> Result<Vec<Explanation>> {
        parts.iter().filter_map(|(query, node)| self.node(query, node, boost).transpose()).collect()
    }

    fn list(
        &self,
        [must, should, must_not]: [Vec<Part>; 3],
        at_least: usize,
        boost: f32,
    ) -> Result<Option<Explanation>> {
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
            (true, true) if should.is_empty() && !must_not.is_empty() => Some(Explanation::plain(
                0.0,
                "nothing that is excluded matches, and nothing else is asked for",
            )),
            (true, true) => None,
            (true, false) => Some(Explanation::new(sum(&optional), some, optional)),
            (false, true) => Some(Explanation::new(sum(&required), "sum of", required)),
            (false, false) => {
                let parts = vec![
                    Explanation::new(sum(&required), "what is required: sum of", required),
                    Explanation::new(sum(&optional), format!("what is optional: {some}"), optional),
                ];
                // As the loops round: a list with a least number is required itself.
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
        Ok(Some(self.match_of(self.asked.plan.field_of(term), occurs, boost).explain(
            &self.asked.name(term),
            value,
            self.weight(term),
        )))
    }

    /// What the formulas need to know of a match in a field.
    fn match_of(&self, field: usize, freq: Explanation, boost: f32) -> Match {
        let norm = self.asked.view.norms(field).get(self.asked.hit.doc as usize).copied().unwrap_or(0);
        let stats = self.asked.stats(field);
        Match { model: self.asked.model, freq, boost, length: norm_to_length(norm).into(), stats }
    }

    fn weight(&self, term: usize) -> Explanation {
        let weight = self.terms.weights.get(term).copied().unwrap_or(0.0);
        let stats = self.asked.stats(self.asked.plan.field_of(term));
        let blended = self.asked.plan.is_blended(term);
        formulas::weight(self.asked.model, narrow(weight), (self.asked.figures(term), blended), &stats)
    }

    fn phrase(
        &self,
        (phrase, terms): (&PhraseQuery, &[(u32, usize)]),
        slop: u32,
        boost: f32,
    ) -> Result<Option<Explanation>> {
        let Some(&(_, first)) = terms.first() else { return Ok(None) };
        let Some(freq) = self.phrase_freq(terms, slop)? else { return Ok(None) };
        let field = self.asked.plan.field_of(first);
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

    /// What a phrase counts in the document; `None` if it is not there.
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
        let Some((field, matcher)) = self.asked.plan.patterns.get(number) else { return Ok(None) };
        let leaf = view.through(*field);
        let (mut all, mut here) = (0, Vec::new());
        matcher.each((leaf, Clock::default()), self.asked.plan.expansions, &mut |term, found| {
            all += 1;
            let source = leaf.postings(&found)?;
            let mut list = source.cursor(found.doc_freq, view.max_doc)?;
            if list.advance(doc) == doc {
                let what = format!("{}, how often it occurs in the document", words::term(term));
                here.push(Explanation::count(list.tf().into(), &what));
            }
            if list.corrupt() { Err(damaged_list()) } else { Ok(()) }
        })?;
        if here.is_empty() {
            return Ok(None);
        }
        let name = self.asked.in_field(*field, &words::pattern(pattern));
        here.insert(0, Explanation::count(all, "terms that it matches in this part of the index"));
        Ok(Some(constant(&format!("{name}: what has any of its terms scores 1"), boost, here)))
    }
}

/// A score that is 1, boosted.
fn constant(what: &str, boost: f32, mut details: Vec<Explanation>) -> Explanation {
    if boost == 1.0 {
        return Explanation::new(boost, what, details);
    }
    details.insert(0, Explanation::plain(boost, "boost"));
    Explanation::new(boost, format!("{what}, times boost"), details)
}

/// The sum of parts, rounded as the loops do it.
fn sum(parts: &[Explanation]) -> f32 {
    narrow(parts.iter().map(|part| f64::from(part.value)).sum())
}
