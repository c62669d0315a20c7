//! Conversion of queries for tantivy.
//!
//! A prefix becomes a range of terms, which needs no automaton and is the fastest way in tantivy. Prefixes
//! and fuzzy words have a score of 1.

use std::ops::Bound;

use anyhow::{Result, bail};
use scanns_peers::form::{Form, Sign};
use tantivy::Term;
use tantivy::query::{
    BooleanQuery, FuzzyTermQuery, InvertedIndexRangeQuery, Occur, PhraseQuery, Query, RegexQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

/// Converts a query.
///
/// # Errors
/// If the query belongs to no class that is measured with tantivy.
pub fn query(form: &Form, field: Field) -> Result<Box<dyn Query>> {
    let term = |text: &str| Term::from_field_text(field, text);
    Ok(match form {
        Form::Term(text) => Box::new(TermQuery::new(term(text), IndexRecordOption::WithFreqs)),
        Form::Phrase { slop, terms } => {
            let terms = terms.iter().map(|(place, text)| Ok((usize::try_from(*place)?, term(text))));
            let terms = terms.collect::<Result<Vec<_>>>()?;
            Box::new(PhraseQuery::new_with_offset_and_slop(terms, *slop))
        }
        Form::Prefix(prefix) => {
            let end = after(prefix).map_or(Bound::Unbounded, |end| Bound::Excluded(term(&end)));
            Box::new(InvertedIndexRangeQuery::new(Bound::Included(term(prefix)), end))
        }
        Form::Regex(text) => Box::new(RegexQuery::from_pattern(text, field)?),
        Form::Fuzzy { edits, term: text } => Box::new(FuzzyTermQuery::new(term(text), *edits, true)),
        Form::Bool { least: 0, clauses } => {
            let clause = |(sign, form): &(Sign, Form)| {
                let occur = match sign {
                    Sign::Must => Occur::Must,
                    Sign::Should => Occur::Should,
                    Sign::MustNot => Occur::MustNot,
                };
                Ok((occur, query(form, field)?))
            };
            Box::new(BooleanQuery::new(clauses.iter().map(clause).collect::<Result<_>>()?))
        }
        other => bail!("tantivy is not measured with the query {other}"),
    })
}

/// The least text that is greater than all texts with the prefix `prefix`, which is ASCII.
fn after(prefix: &str) -> Option<String> {
    let mut end: Vec<char> = prefix.chars().collect();
    let last = end.pop()?;
    end.push(char::from_u32(u32::from(last) + 1)?);
    Some(end.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_letter() {
        assert_eq!(after("abc").as_deref(), Some("abd"));
        assert_eq!(after("z").as_deref(), Some("{"));
        assert_eq!(after(""), None);
    }

    #[test]
    fn what_is_not_measured_is_refused() {
        let of = |line: &str| query(&line.parse()?, Field::from_field_id(0));
        of("bool 0 2 + term a - fuzzy 1 b").unwrap();
        assert!(of("bool 1 1 | term a").is_err() && of("wildcard a*").is_err());
    }
}
