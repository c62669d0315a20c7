//! Values of columns in the text of a query: `size:>1GiB`, `mtime:[2023 TO 2024-03]`, `state:in(open
//! closed)`.

use super::state::QueryParser;
use super::token::{TokenKind, WordChar, text_of};
use crate::error::Result;
use crate::query::query_text::not_a_value;
use crate::query::tree::Query;
use crate::query::value_range::ValueRange;
use crate::schema::{Field, FieldKind};

impl QueryParser<'_> {
    /// A value of the column of the current clause, or a range or set of values.
    pub(super) fn value(&mut self, at: usize, token: &TokenKind) -> Result<Option<Query>> {
        let Some((field, kind)) = self.column.clone() else { return Ok(None) };
        self.count(at, 1)?;
        let range = match token {
            TokenKind::Range(from, to) => {
                let (from, to) = (from.as_ref().map(String::as_str), to.as_ref().map(String::as_str));
                ValueRange::between(field, &kind, from, to)
            }
            TokenKind::Phrase(text) => ValueRange::exact(field, &kind, text),
            TokenKind::Word(word) => {
                let is_wild = matches!(word.last(), Some(WordChar::Anything));
                ValueRange::parse(field, &kind, &text_of(word), is_wild)
            }
            TokenKind::Set => return self.any_value(),
            _ => return self.fault(at, "a value is missing"),
        };
        let range = range.map(|range| Some(Query::Values(range)));
        range.or_else(|expected| self.fault(at, &not_a_value(&kind, &expected)))
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
            if !matches!(token.kind, TokenKind::Word(_) | TokenKind::Phrase(_)) {
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
