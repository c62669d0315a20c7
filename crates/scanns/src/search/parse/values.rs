//! Values of columns in the text of a query: `size:>1GiB`, `mtime:[2023 TO 2024-03]`, `state:in(open closed)`.

use super::Parser;
use crate::error::Result;
use crate::schema::{Field, FieldKind};
use crate::search::lex::{TokenKind, Unit, text_of};
use crate::search::query::{BoolQuery, Query, ValueRange};

impl Parser<'_> {
    /// A value of a column, or a range of them.
    pub(super) fn value(&mut self, at: usize, kind: &TokenKind) -> Result<Option<Query>> {
        let Some((field, of)) = self.column.clone() else { return Ok(None) };
        self.count(at, 1)?;
        let range = match kind {
            TokenKind::Range(from, to) => ValueRange::between(
                field,
                &of,
                (from.as_ref().map(String::as_str), to.as_ref().map(String::as_str)),
            ),
            TokenKind::Phrase(text) => ValueRange::exact(field, &of, text),
            TokenKind::Word(units) => {
                let wild = matches!(units.last(), Some(Unit::Anything));
                ValueRange::parse(field, &of, &text_of(units), wild)
            }
            TokenKind::Set => return self.any_value(),
            _ => return self.fault(at, "a value is missing"),
        };
        range.map(|range| Some(Query::Values(range))).or_else(|expected| {
            self.fault(at, &format!("this is no value of a field that holds {}: {expected}", of.name()))
        })
    }

    /// Any of some values.
    fn any_value(&mut self) -> Result<Option<Query>> {
        let mut should = Vec::new();
        loop {
            let Some((token, rest)) = self.tokens.split_first() else {
                return self
                    .fault(self.text.chars().count() + 1, "the parenthesis of in( is not closed: add )");
            };
            self.tokens = rest;
            if token.kind == TokenKind::Close {
                break;
            }
            if !matches!(token.kind, TokenKind::Word(_) | TokenKind::Phrase(_)) {
                return self.fault(token.at, "in( ) holds values: put operators outside of it");
            }
            should.extend(self.value(token.at, &token.kind)?);
        }
        Ok((!should.is_empty()).then_some(Query::Bool(BoolQuery { should, ..BoolQuery::default() })))
    }

    /// The column of that name, if what follows is values of it: a field that is searched too has words, unless they are
    /// compared.
    pub(super) fn column_of(&self, name: &str) -> Option<(Field, FieldKind)> {
        let column = self.words.column(name)?;
        let compares = match self.tokens.first().map(|token| &token.kind) {
            Some(TokenKind::Word(units)) => text_of(units).starts_with(['<', '>']),
            _ => false,
        };
        let has_values = !matches!(column.1, FieldKind::Text { .. } | FieldKind::Bytes);
        (self.words.field(name).is_err() || (compares && has_values)).then_some(column)
    }
}
