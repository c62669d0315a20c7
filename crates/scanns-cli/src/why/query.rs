//! Which parts of a query a document matches, and why not the others.

use std::io::Write;

use anyhow::Result;
use scanns::index::{ClauseRole, TracedClause};
use scanns::query::{Operator, Pattern, PhraseQuery, Term, WeightedField};
use scanns::schema::Field;
use scanns::search::Model;
use scanns::{Hit, Query, Snapshot};
use serde_json::{Value, json};

use super::analysis::{ChangedWord, changed_words};
use crate::args::WhyArgs;
use crate::output::Output;
use crate::quoting::harmless;
use crate::report;
use crate::search::fields as named_fields;
use crate::search::fields::for_people;
use crate::units;

/// Words of this length can be the beginning of others that are meant.
const LEAST_PREFIX: usize = 3;

/// The places by which the words of a phrase may be moved before they count as apart.
const NEAR: u32 = 10;

/// A query that is explained for a document.
struct TracedQuery<'a> {
    snapshot: &'a Snapshot,
    hit: Hit,
    fields: &'a [WeightedField],
}

/// Where a search shows the document.
struct Place {
    rank: u64,
    count: u64,
    score: f32,
}

/// Explains whether a query finds a document; returns true if it does.
pub(super) fn explain(args: &WhyArgs, snapshot: &Snapshot, path: &[u8], out: &mut Output) -> Result<bool> {
    let text = args.query.join(" ");
    let fields = named_fields(snapshot, args.field.as_deref())?;
    let operator: Operator = args.default_operator.into();
    let query = snapshot.parse_in(&fields, &text, operator)?;
    let Some(hit) = snapshot.hit(path)? else {
        if args.json {
            out.json(&json!({ "query": text, "matches": false, "seen": false }))?;
        } else {
            writeln!(out, "no query finds it, since the user does not see it")?;
        }
        return Ok(false);
    };
    let traced = snapshot.trace(&query, &hit)?;
    let changed = changed_words(snapshot, &fields, &text);
    let place = if traced.matches { place(snapshot, &query, &hit)? } else { None };
    let asked = TracedQuery { snapshot, hit, fields: &fields };
    if args.json {
        out.json(&asked.as_json(&text, &traced, &changed, place.as_ref())?)?;
    } else {
        out.quoted(path)?;
        match &place {
            Some(Place { rank, count, score }) => writeln!(
                out,
                ": found, at place {} of {}, with a score of {}",
                units::count(*rank),
                units::count(*count),
                report::short_float(*score)
            )?,
            None => writeln!(out, ": not found")?,
        }
        for ChangedWord { word, steps } in &changed {
            let steps: Vec<String> = steps.iter().map(|(name, terms)| step(name, terms)).collect();
            writeln!(out, "  the word {}: {}", harmless(word), steps.join(", then "))?;
        }
        asked.print(out, &traced, 1)?;
    }
    Ok(traced.matches)
}

/// What a step of an analyzer made of a word.
fn step(name: &str, terms: &[String]) -> String {
    match terms {
        [] => format!("{name} leaves it out"),
        terms => format!("{name} makes {}", harmless(&terms.join(" "))),
    }
}

/// The place of a document among all that the query finds, best first.
fn place(snapshot: &Snapshot, query: &Query, hit: &Hit) -> Result<Option<Place>> {
    let searcher = snapshot.searcher();
    let prepared = searcher.prepare(query)?;
    let model = Model::default();
    let Some(own) = prepared.explain(model, hit)? else { return Ok(None) };
    let (mut rank, mut count) = (1, 0);
    for found in prepared.hits(model)? {
        let found = found?;
        count += 1;
        let is_before = (found.leaf, found.doc) < (hit.leaf, hit.doc);
        rank += u64::from(found.score > own.value || found.score.total_cmp(&own.value).is_eq() && is_before);
    }
    Ok(Some(Place { rank, count, score: own.value }))
}

impl TracedQuery<'_> {
    /// Prints a part of the query and the parts in it.
    fn print(&self, out: &mut Output, clause: &TracedClause, level: usize) -> Result<()> {
        let is_list = !clause.clauses.is_empty();
        let indent = "  ".repeat(level);
        let yes = if clause.matches { "yes" } else { "no " };
        let what = match &clause.query {
            Query::Best(_) => "in any of several fields".to_owned(),
            Query::Bool(_) if is_list => "all together".to_owned(),
            Query::Bool(_) => "no words are left".to_owned(),
            _ => clause.text.clone(),
        };
        let role = match clause.role {
            _ if level == 1 => "",
            ClauseRole::Must | ClauseRole::Filter => " (must match)",
            ClauseRole::MustNot => " (must not match)",
            ClauseRole::Should => "",
        };
        let why = self.reason(clause)?.map_or_else(String::new, |why| format!(": {why}"));
        writeln!(out, "{indent}{yes} {}{role}{}", harmless(&what), harmless(&why))?;
        clause.clauses.iter().try_for_each(|clause| self.print(out, clause, level + 1))
    }

    /// Why a part without parts does not match, if there is something to say.
    fn reason(&self, clause: &TracedClause) -> Result<Option<String>> {
        if clause.matches {
            return Ok(None);
        }
        match clause.query.unboosted() {
            Query::Term(term) => self.of_term(term).map(Some),
            Query::Phrase(phrase) => self.of_phrase(phrase).map(Some),
            Query::Values(range) => self.of_values(range.field).map(Some),
            Query::ValuePattern { field, .. } => self.of_values(*field).map(Some),
            Query::Exists(_) => Ok(Some("the document has nothing there".into())),
            _ => Ok(None),
        }
    }

    fn matches(&self, query: &Query) -> Result<bool> {
        Ok(self.snapshot.trace(query, &self.hit)?.matches)
    }

    fn of_term(&self, Term { field, text }: &Term) -> Result<String> {
        let word = String::from_utf8_lossy(text);
        let near =
            |edits| Query::pattern(*field, Pattern::Fuzzy { term: word.to_string(), edits, prefix: 0 });
        let longer = Query::pattern(*field, Pattern::Prefix(text.clone()));
        if text.len() >= LEAST_PREFIX && self.matches(&longer)? {
            return Ok(format!("the document has longer words: {word}* finds it"));
        }
        for edits in [1, 2] {
            if word.chars().count() > 2 * usize::from(edits) && self.matches(&near(edits))? {
                return Ok(format!("the document has a word that differs a little: {word}~{edits} finds it"));
            }
        }
        for (other, _) in self.snapshot.schema().fields().filter(|(_, entry)| entry.postings().is_some()) {
            let is_asked = self.fields.iter().any(|asked| asked.field == other);
            if other != *field && !is_asked && self.matches(&Query::term(other, text.clone()))? {
                return Ok(format!("the document has it in the field {}", self.name(other)));
            }
        }
        match self.snapshot.doc_freq(*field, text)? {
            0 => Ok("no document has it".into()),
            count => {
                Ok(format!("the document does not have it; {} do", units::counted(count, "other document")))
            }
        }
    }

    fn of_phrase(&self, phrase: &PhraseQuery) -> Result<String> {
        let words = phrase.terms.iter().map(|(_, text)| Query::term(phrase.field, text.clone())).collect();
        if !self.matches(&Query::all_of(words))? {
            return Ok("the document does not have all of its words".into());
        }
        let apart = PhraseQuery { slop: NEAR, ..phrase.clone() };
        Ok(match self.matches(&Query::Phrase(apart))? {
            true => format!("the document has its words near each other: the phrase with ~{NEAR} finds it"),
            false => "the document has its words, but not beside each other".into(),
        })
    }

    fn of_values(&self, field: Field) -> Result<String> {
        let name = self.name(field);
        let values = self.snapshot.field_values(&self.hit, &[field])?.into_iter().flatten();
        let values: Vec<String> = values.map(|value| for_people(&name, &value)).collect();
        Ok(match &values[..] {
            [] => format!("the document has no value of {name}"),
            values => format!("{name} is {}", values.join(", ")),
        })
    }

    fn name(&self, field: Field) -> String {
        self.snapshot.schema().entry(field).map_or_else(String::new, |entry| entry.name.clone())
    }

    fn as_json(
        &self,
        text: &str,
        traced: &TracedClause,
        changed: &[ChangedWord],
        place: Option<&Place>,
    ) -> Result<Value> {
        let steps = |word: &ChangedWord| -> Vec<Value> {
            word.steps.iter().map(|(step, terms)| json!({ "step": step, "terms": terms })).collect()
        };
        let words = changed.iter().map(|word| json!({ "word": word.word, "steps": steps(word) }));
        let place = place.map(|place| {
            json!({ "rank": place.rank, "count": place.count, "score": report::short_float(place.score) })
        });
        let words: Vec<Value> = words.collect();
        let (matches, clause) = (traced.matches, self.clause_json(traced)?);
        Ok(json!({ "query": text, "matches": matches, "place": place, "words": words, "clause": clause }))
    }

    fn clause_json(&self, clause: &TracedClause) -> Result<Value> {
        let role = match clause.role {
            ClauseRole::Must => "must",
            ClauseRole::Filter => "filter",
            ClauseRole::Should => "should",
            ClauseRole::MustNot => "must_not",
        };
        let clauses: Vec<Value> =
            clause.clauses.iter().map(|clause| self.clause_json(clause)).collect::<Result<_>>()?;
        let (text, matches, reason) = (&clause.text, clause.matches, self.reason(clause)?);
        Ok(json!({ "text": text, "role": role, "matches": matches, "reason": reason, "clauses": clauses }))
    }
}
