//! Words, phrases, patterns and sets of terms in the text of a query.

use std::ops::Bound;

use super::clause::{ClauseKind, SignedClause, combine};
use super::state::QueryParser;
use super::token::{TokenKind, WordChar, text_of};
use crate::error::Result;
use crate::query::operator::Operator;
use crate::query::pattern::{Pattern, WildcardPart};
use crate::query::tree::{BestQuery, PhraseQuery, Query};
use crate::schema::Field;

/// The default number of edits of a fuzzy word.
const DEFAULT_EDITS: u8 = 2;

/// `*:*`, which means every document in other query languages.
const EVERYTHING: [WordChar; 3] = [WordChar::Anything, WordChar::Char(':'), WordChar::Anything];

/// The parts of a wildcard, whose texts are spelt by `spelling`.
pub(super) fn wildcard_parts(word: &[WordChar], spelling: impl Fn(&str) -> String) -> Vec<WildcardPart> {
    let chunks = word.chunk_by(|a, b| !a.is_wild() && !b.is_wild());
    let part = |part: &[WordChar]| match part {
        [WordChar::AnyChar, ..] => WildcardPart::AnyChar,
        [WordChar::Anything, ..] => WildcardPart::Anything,
        text => WildcardPart::Text(spelling(&text_of(text)).into_bytes()),
    };
    let mut parts: Vec<WildcardPart> = chunks.map(part).collect();
    parts.dedup_by(|a, b| *a == WildcardPart::Anything && *b == WildcardPart::Anything);
    parts
}

impl QueryParser<'_> {
    pub(super) fn word(&mut self, at: usize, word: &[WordChar]) -> Result<Option<Query>> {
        if let Some(edits) = self.edits()? {
            return self.fuzzy(at, &text_of(word), edits);
        }
        if word.iter().any(WordChar::is_wild) {
            return self.wildcard(at, word);
        }
        if self.of_paths {
            return self.path(at, &text_of(word));
        }
        let text = text_of(word);
        let found = self.terms(at, self.term_field(), &text, self.operator)?;
        match self.words_of_field {
            None => Ok(found),
            // The whole keyword, or all of these words in it.
            Some(words) => {
                let words = self.terms(at, words, &text, Operator::And)?;
                let clauses = found.into_iter().chain(words).collect();
                Ok(Some(Query::Best(BestQuery { clauses, tie: 0.0 })))
            }
        }
    }

    /// The terms of a text in a field, combined by `operator`.
    fn terms(&mut self, at: usize, field: Field, text: &str, operator: Operator) -> Result<Option<Query>> {
        let terms = self.words.terms(field, text);
        self.count(at, terms.len())?;
        let clauses = terms
            .into_iter()
            .map(|(_, term)| SignedClause::plain(Some(Query::term(field, term)), ClauseKind::Word));
        Ok(combine(clauses.collect(), operator))
    }

    /// A path, and everything below it.
    fn path(&mut self, at: usize, text: &str) -> Result<Option<Query>> {
        self.count(at, 2)?;
        let (field, path) = (self.term_field(), text.trim_end_matches('/'));
        let below = Query::pattern(field, Pattern::Prefix(format!("{path}/").into_bytes()));
        let itself = Query::pattern(field, Pattern::Set(vec![path.into()]));
        Ok(Some(if path.is_empty() { below } else { Query::any_of(vec![itself, below]) }))
    }

    /// The number of edits after a word; `None` without `~`.
    pub(super) fn edits(&mut self) -> Result<Option<u8>> {
        let Some((at, edits)) = self.suffix(TokenKind::tilde) else { return Ok(None) };
        let edits = edits.map_or(Some(DEFAULT_EDITS), |edits| u8::try_from(edits).ok());
        match edits.filter(|edits| *edits <= 2) {
            Some(edits) => Ok(Some(edits)),
            None => self.fault(at, "a fuzzy word may have up to 2 edits: write ~1 or ~2"),
        }
    }

    fn fuzzy(&mut self, at: usize, text: &str, edits: u8) -> Result<Option<Query>> {
        self.count(at, 1)?;
        let field = self.term_field();
        let term = self.words.spelling(field, text);
        Ok(Some(match edits {
            0 => Query::term(field, term),
            _ => Query::pattern(field, Pattern::Fuzzy { term, edits, prefix: 0 }),
        }))
    }

    fn wildcard(&mut self, at: usize, word: &[WordChar]) -> Result<Option<Query>> {
        self.count(at, 1)?;
        self.check_pattern(at, word.len())?;
        if self.field.is_none() && word == EVERYTHING {
            return Ok(Some(Query::All));
        }
        let field = self.term_field();
        let parts = wildcard_parts(word, |text| self.words.spelling(field, text));
        Ok(Some(match parts.as_slice() {
            [WildcardPart::Anything] if self.field.is_none() => Query::All,
            [WildcardPart::Anything] => Query::Exists(field),
            [WildcardPart::Text(prefix), WildcardPart::Anything] => {
                Query::pattern(field, Pattern::Prefix(prefix.clone()))
            }
            _ => Query::pattern(field, Pattern::Wildcard(parts)),
        }))
    }

    pub(super) fn phrase(&mut self, at: usize, text: &str) -> Result<Option<Query>> {
        let slop = match self.suffix(TokenKind::tilde) {
            Some((at, None)) => {
                return self.fault(at, "the number of places that words may move is missing: write ~1");
            }
            found => found.and_then(|(_, slop)| slop).unwrap_or(0),
        };
        if self.of_paths {
            return self.path(at, text);
        }
        let field = self.term_field();
        let mut terms = self.words.terms(field, text);
        self.count(at, terms.len())?;
        Ok(match terms.len() {
            0 => None,
            1 => terms.pop().map(|(_, term)| Query::term(field, term)),
            _ => Some(Query::Phrase(PhraseQuery { field, terms, slop })),
        })
    }

    pub(super) fn regex(&mut self, at: usize, text: &str) -> Result<Option<Query>> {
        self.check_regex(at, text)?;
        self.pattern(at, Pattern::Regex(text.to_owned()))
    }

    pub(super) fn range(
        &mut self,
        at: usize,
        from: &Bound<String>,
        to: &Bound<String>,
    ) -> Result<Option<Query>> {
        let field = self.term_field();
        let spelt =
            |bound: &Bound<String>| bound.as_ref().map(|text| self.words.spelling(field, text).into_bytes());
        let range = Pattern::Range(spelt(from), spelt(to));
        self.pattern(at, range)
    }

    fn pattern(&mut self, at: usize, pattern: Pattern) -> Result<Option<Query>> {
        self.count(at, 1)?;
        Ok(Some(Query::pattern(self.term_field(), pattern)))
    }

    pub(super) fn set(&mut self, at: usize) -> Result<Option<Query>> {
        let field = self.term_field();
        let mut terms = Vec::new();
        loop {
            let Some(token) = self.next() else {
                return self.fault(at, "this parenthesis is not closed: add )");
            };
            let text = match &token.kind {
                TokenKind::Close => break,
                TokenKind::Word(word) => text_of(word),
                TokenKind::Phrase(text) => text.clone(),
                _ => return self.fault(token.at, "in( ) contains words: put operators outside of it"),
            };
            let found = self.words.terms(field, &text);
            self.count(token.at, found.len())?;
            terms.extend(found.into_iter().map(|(_, term)| term));
        }
        Ok((!terms.is_empty()).then_some(Query::pattern(field, Pattern::Set(terms))))
    }
}
