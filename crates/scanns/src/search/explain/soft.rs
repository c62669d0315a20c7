//! Explains scores of the extended Boolean model: degrees of match of terms, and their means.

use super::asked::Asked;
use super::explanation::Explanation;
use super::formulas;
use crate::error::Result;
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::pnorm;
use crate::search::exec::pnorm::PNorm;
use crate::search::leaf::damaged_list;
use crate::search::plan::node::{NodeKind, PlanNode};
use crate::search::similarity::{Model, narrow};

/// Explains the score of the document.
pub(super) fn explain(asked: &Asked<'_, '_>, p: f64) -> Result<Option<Explanation>> {
    pnorm::check(&asked.plan().root)?;
    let Some(found) = asked.prepared.found.leaf(asked.hit.leaf) else { return Ok(None) };
    let terms = BoundTerms::unscored(asked.plan(), found);
    let mut freqs = Vec::with_capacity(found.refs.len());
    for term in 0..found.refs.len() {
        let has_field = asked.has(asked.plan().field_of(term));
        let Some(source) = terms.source(asked.view, term)?.filter(|_| has_field) else {
            freqs.push(0.0);
            continue;
        };
        let mut list = terms.cursor(asked.view, term, &source)?;
        let here = list.advance(asked.hit.doc) == asked.hit.doc;
        freqs.push(if here { f64::from(list.tf()) } else { 0.0 });
        if list.corrupt() {
            return Err(damaged_list());
        }
    }
    let mut wanted = vec![false; freqs.len()];
    pnorm::mark_wanted(&asked.plan().root, false, &mut wanted);
    if !freqs.iter().zip(&wanted).any(|(&freq, &wanted)| wanted && freq > 0.0) {
        return Ok(None);
    }
    let soft = asked.prepared.soft(p)?;
    let mut degrees = freqs.clone();
    soft.weigh(&mut degrees);
    let document = Soft { asked, soft, p, freqs, degrees };
    Ok(Some(document.node(&asked.plan().root)))
}

/// A document and its degrees of match.
struct Soft<'a, 's> {
    asked: &'a Asked<'a, 's>,
    soft: PNorm,
    p: f64,
    /// By term of the plan.
    freqs: Vec<f64>,
    degrees: Vec<f64>,
}

impl Soft<'_, '_> {
    fn node(&self, node: &PlanNode) -> Explanation {
        let value = narrow(self.soft.score(node, &self.degrees));
        let (must, should, must_not) = match &node.kind {
            NodeKind::Term(term) => return self.term(*term, value),
            NodeKind::Bool { must, should, must_not, .. } => (&must[..], &should[..], &must_not[..]),
            NodeKind::Best { any, .. } => (&[][..], &any[..], &[][..]),
            // `pnorm::check` refuses these.
            NodeKind::Phrase { .. }
            | NodeKind::Docs(_)
            | NodeKind::Joined(_)
            | NodeKind::Filter(_)
            | NodeKind::Scored(..) => return Explanation::plain(value, "nothing"),
        };
        let any = should.iter().map(|node| self.part(node, "")).collect();
        let p = self.p;
        let or = format!("or, p = {p}: (sum of (w · d)^p / sum of w^p)^(1/p) over the d of");
        if must.is_empty() && must_not.is_empty() {
            return Explanation::new(value, or, any);
        }
        let mut parts: Vec<Explanation> = must.iter().map(|node| self.part(node, "")).collect();
        parts.extend(must_not.iter().map(|node| self.part(node, "not, so d counts instead of 1 - d: ")));
        if !should.is_empty() {
            let degree = self.soft.any(should, &self.degrees);
            parts.push(Explanation::new(narrow(degree), or, any));
        }
        let and = format!("and, p = {p}: 1 - (sum of (w · (1 - d))^p / sum of w^p)^(1/p) over the d of");
        Explanation::new(value, and, parts)
    }

    /// A part of a list, with its weight if it has one.
    fn part(&self, node: &PlanNode, front: &str) -> Explanation {
        let part = self.node(node);
        let weight = if node.boost == 1.0 { String::new() } else { format!("w = {}: ", node.boost) };
        Explanation { description: format!("{front}{weight}{}", part.description), ..part }
    }

    fn term(&self, term: usize, value: f32) -> Explanation {
        let highest = self.freqs.iter().copied().fold(1.0, f64::max);
        let freq = self.freqs.get(term).copied().unwrap_or(0.0);
        let stats = self.asked.stats(self.asked.plan().field_of(term));
        let blended = self.asked.plan().is_blended(term);
        let model = Model::PNorm { p: self.p };
        let ((idf, share), figures) = (self.soft.idf(term), self.asked.figures(term));
        let details = vec![
            Explanation::plain(narrow(freq), "freq, how often it occurs in the document"),
            Explanation::plain(narrow(highest), "the highest freq of the words of the query in the document"),
            Explanation::new(
                narrow(share),
                "idf / highest idf of the words of the query",
                vec![formulas::weight(model, narrow(idf), figures, blended, &stats)],
            ),
        ];
        let name = self.asked.name(term);
        Explanation::new(value, format!("{name}: d, freq / highest freq · idf / highest idf"), details)
    }
}
