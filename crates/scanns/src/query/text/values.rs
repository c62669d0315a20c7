//! Values of columns in the text of a query: `size:>1GiB`, `mtime:[2023 TO 2024-03]`, `name:*.html`,
//! `state:in(open closed)`.

use super::leaves::wildcard_parts;
use super::state::QueryParser;
use super::token::{TokenKind, WordChar, text_of};
use crate::error::Result;
use crate::query::pattern::{Pattern, WildcardPart};
use crate::query::query_text::{has_patterns, no_pattern, not_a_value};
use crate::query::tree::Query;
use crate::query::value_range::ValueRange;
use crate::schema::{Field, FieldKind};

/// A column, and the kind of its values.
struct Column<'k> {
    field: Field,
    kind: &'k FieldKind,
}

/// Whether a word has signs for any characters. After a comparison they are characters.
fn is_wildcard(word: &[WordChar]) -> bool {
    let is_compared = matches!(word.first(), Some(WordChar::Char('<' | '>' | '=')));
    !is_compared && word.iter().any(|unit| !matches!(unit, WordChar::Char(_)))
}

impl QueryParser<'_> {
    /// A value of the column of the current clause, or a range, pattern or set of values.
    pub(super) fn value(&mut self, at: usize, token: &TokenKind) -> Result<Option<Query>> {
        let Some((field, kind)) = self.column.clone() else { return Ok(None) };
        self.count(at, 1)?;
        if let Some(query) = self.value_pattern(at, Column { field, kind: &kind }, token)? {
            return Ok(Some(query));
        }
        let range = match token {
            TokenKind::Range(from, to) => {
                let (from, to) = (from.as_ref().map(String::as_str), to.as_ref().map(String::as_str));
                ValueRange::between(field, &kind, from, to)
            }
            TokenKind::Phrase(text) => ValueRange::exact(field, &kind, text),
            TokenKind::Word(word) => ValueRange::parse(field, &kind, &text_of(word)),
            TokenKind::Set => return self.any_value(),
            _ => return self.fault(at, "a value is missing"),
        };
        let range = range.map(|range| Some(Query::Values(range)));
        range.or_else(|expected| self.fault(at, &not_a_value(&kind, &expected)))
    }

    /// The pattern of values that a token means; `None` if it means a value or a range of values.
    fn value_pattern(&mut self, at: usize, column: Column, token: &TokenKind) -> Result<Option<Query>> {
        let Column { field, kind } = column;
        let pattern = match token {
            TokenKind::Regex(text) => Pattern::Regex(text.clone()),
            TokenKind::Word(word) => match self.edits()? {
                Some(0) => Pattern::Set(vec![text_of(word).into_bytes()]),
                Some(edits) => Pattern::Fuzzy { term: text_of(word), edits, prefix: 0 },
                None if is_wildcard(word) => {
                    let parts = wildcard_parts(word, str::to_owned);
                    match (parts.as_slice(), kind) {
                        ([WildcardPart::Anything], _) => {
                            return Ok(Some(Query::Values(ValueRange::any(field))));
                        }
                        // A range, which is found faster.
                        (
                            [WildcardPart::Text(prefix), WildcardPart::Anything],
                            FieldKind::Keyword | FieldKind::Path,
                        ) => return Ok(Some(Query::Values(ValueRange::prefix(field, prefix)))),
                        _ => Pattern::Wildcard(parts),
                    }
                }
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        if !has_patterns(kind) {
            return self.fault(at, &no_pattern(kind));
        }
        Ok(Some(Query::ValuePattern { field, pattern }))
    }

    /// Any of several values.
    fn any_value(&mut self) -> Result<Option<Query>> {
        let mut should = Vec::new();
        loop {
            let Some(token) = self.next() else {
                return self.fault(self.end(), "the parenthesis of in( is not closed: add )");
            };
            if token.kind == TokenKind::Close {
                break;
            }
            if !matches!(token.kind, TokenKind::Word(_) | TokenKind::Phrase(_) | TokenKind::Regex(_)) {
                return self.fault(token.at, "in( ) contains values: put operators outside of it");
            }
            should.extend(self.value(token.at, &token.kind)?);
        }
        Ok((!should.is_empty()).then_some(Query::any_of(should)))
    }

    /// The column with this name, if a value of it follows. If the field is also searched, its words are only
    /// values if they are compared.
    pub(super) fn column_of(&self, name: &str) -> Option<(Field, FieldKind)> {
        let (field, kind) = self.words.column(name)?;
        let compares = match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Word(word)) => text_of(word).starts_with(['<', '>']),
            _ => false,
        };
        let has_values = !matches!(kind, FieldKind::Text { .. } | FieldKind::Bytes);
        (self.words.field(name).is_err() || (compares && has_values)).then_some((field, kind))
    }
}
