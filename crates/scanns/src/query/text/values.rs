//! Values of columns in the text of a query: `size:>1GiB`, `mtime:[2023 TO 2024-03]`, `name:*.html`,
//! `state:in(open closed)`.

use std::ops::Bound;

use super::leaves::wildcard_parts;
use super::state::QueryParser;
use super::token::{TokenKind, WordChar, sign_of, text_of};
use crate::error::Result;
use crate::query::named_column::NamedColumn;
use crate::query::pattern::{Pattern, WildcardPart};
use crate::query::tree::Query;
use crate::query::value_range::ValueRange;
use crate::schema::FieldKind;

impl QueryParser<'_> {
    /// A value of the column of the current clause, or a range, pattern or set of values.
    pub(super) fn value(&mut self, at: usize, token: &TokenKind) -> Result<Option<Query>> {
        let Some(column) = self.column.clone() else { return Ok(None) };
        self.count(at, 1)?;
        if let Some(query) = self.value_pattern(at, &column, token)? {
            return Ok(Some(query));
        }
        let NamedColumn { field, kind, .. } = &column;
        let mut faultless = 0;
        let found = match token {
            TokenKind::Range(from, to) => {
                let (from, to) = (from.as_ref().map(String::as_str), to.as_ref().map(String::as_str));
                self.check_bounds(at, &column, [from, to])?;
                ValueRange::between(*field, kind, from, to).map(Query::Values)
            }
            TokenKind::Phrase(text) => column.exact(text),
            TokenKind::Word(word) => match sign_of(word) {
                Some('=') => column.exact(text_of(word).trim_start_matches('=').trim_start()),
                Some(_) => {
                    self.check_bounds(at, &column, [Bound::Included(&text_of(word)), Bound::Unbounded])?;
                    ValueRange::parse(*field, kind, &text_of(word)).map(Query::Values)
                }
                None => {
                    faultless = column.faultless(&text_of(word));
                    column.exact(&text_of(word))
                }
            },
            TokenKind::Set => return self.any_value(),
            _ => return self.fault(at, "a value is missing"),
        };
        found.map(Some).or_else(|_| self.fault(at + faultless, &column.not_a_value()))
    }

    /// Refuses bounds that could be read in another way than they are meant.
    fn check_bounds(&self, at: usize, column: &NamedColumn, bounds: [Bound<&str>; 2]) -> Result<()> {
        for bound in bounds {
            if let Bound::Included(text) | Bound::Excluded(text) = bound
                && let Some(message) = column.ambiguous_bound(text)
            {
                return self.fault(at, &message);
            }
        }
        Ok(())
    }

    /// The pattern of values that a token means; `None` if it means a value or a range of values.
    fn value_pattern(&mut self, at: usize, column: &NamedColumn, token: &TokenKind) -> Result<Option<Query>> {
        let (field, mut length) = (column.field, 0);
        let pattern = match token {
            TokenKind::Regex(text) => {
                if column.has_patterns() {
                    self.check_regex(at, text)?;
                }
                Pattern::Regex(text.clone())
            }
            TokenKind::Word(word) => match self.edits()? {
                Some(0) => Pattern::Set(vec![text_of(word).into_bytes()]),
                Some(edits) => Pattern::Fuzzy { term: text_of(word), edits, prefix: 0 },
                // After a comparison, ? and * are characters.
                None if sign_of(word).is_some() || !word.iter().any(WordChar::is_wild) => return Ok(None),
                None => {
                    let parts = wildcard_parts(word, str::to_owned);
                    if let Some(range) = wildcard_range(column, &parts) {
                        return Ok(Some(Query::Values(range)));
                    }
                    length = word.len();
                    Pattern::Wildcard(parts)
                }
            },
            _ => return Ok(None),
        };
        if !column.has_patterns() {
            return self.fault(at, &column.no_pattern());
        }
        self.check_pattern(at, length)?;
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
    pub(super) fn column_of(&self, name: &str) -> Option<NamedColumn> {
        let (field, kind) = self.words.column(name)?;
        let has_values = !matches!(kind, FieldKind::Text { .. } | FieldKind::Bytes);
        let is_column = self.words.field(name).is_err() || (has_values && self.next_sign().is_some());
        is_column.then(|| NamedColumn { field, kind, name: name.to_owned() })
    }

    /// The sign of a comparison at the front of the next word.
    pub(super) fn next_sign(&self) -> Option<char> {
        match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Word(word)) => sign_of(word),
            _ => None,
        }
    }
}

/// The range of values that a wildcard means, which is found faster: any value, or those with a prefix.
fn wildcard_range(column: &NamedColumn, parts: &[WildcardPart]) -> Option<ValueRange> {
    match (parts, &column.kind) {
        ([WildcardPart::Anything], _) => Some(ValueRange::any(column.field)),
        ([WildcardPart::Text(prefix), WildcardPart::Anything], FieldKind::Keyword | FieldKind::Path) => {
            Some(ValueRange::prefix(column.field, prefix))
        }
        _ => None,
    }
}
