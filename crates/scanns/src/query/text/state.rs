//! The state of a query parser: the remaining tokens, the current field, and the limits.

use super::fault::fault;
use super::token::{QueryToken, TokenKind};
use crate::error::Result;
use crate::query::limits::{MAX_CLAUSES, MAX_DEPTH, MAX_PATTERN};
use crate::query::named_column::NamedColumn;
use crate::query::operator::Operator;
use crate::query::query_text::{QueryText, WeightedField, in_best_field};
use crate::query::regex::{RegexFault, regex_fault};
use crate::query::tree::Query;
use crate::schema::Field;

/// The text of a query that is being parsed, and how far it is parsed.
pub(super) struct QueryParser<'a> {
    pub(super) text: &'a str,
    /// The remaining tokens.
    pub(super) tokens: &'a [QueryToken],
    pub(super) operator: Operator,
    pub(super) words: &'a mut dyn QueryText,
    /// The field of the current clause, unless it is a column.
    pub(super) field: Option<Field>,
    /// The field with the words of the current field, which is a keyword.
    pub(super) words_of_field: Option<Field>,
    /// Whether the values of the current field are paths, which stand for everything below them too.
    pub(super) of_paths: bool,
    /// The default field in which the current clause is looked up, if it names no field.
    pub(super) looked_up: Option<Field>,
    /// The column of the current clause, if its words are values.
    pub(super) column: Option<NamedColumn>,
    /// Whether the clauses of the current list are counted, as in `(a b c)@2`.
    pub(super) counts: bool,
    pub(super) depth: usize,
    /// The number of terms so far.
    pub(super) terms: usize,
}

impl<'a> QueryParser<'a> {
    /// Begins a nested clause. A parser that has returned an error is not used again, so only clauses without
    /// an error call [`QueryParser::leave`].
    pub(super) fn enter(&mut self, at: usize) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fault(at, "nested more than 64 deep: write fewer parentheses");
        }
        Ok(())
    }

    /// Ends a nested clause.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The field of the current terms.
    pub(super) fn term_field(&self) -> Field {
        let default = || self.words.default_fields().first().map(|default| default.field);
        self.field.or(self.looked_up).or_else(default).unwrap_or_default()
    }

    /// The query of the next tokens in the field that was named, or in the best of the default fields.
    pub(super) fn in_best_field(
        &mut self,
        mut clause: impl FnMut(&mut Self) -> Result<Option<Query>>,
    ) -> Result<Option<Query>> {
        let defaults = self.words.default_fields();
        if self.field.is_some() || matches!(defaults, [WeightedField { weight: 1.0, .. }]) {
            return clause(self);
        }
        let (defaults, tokens, terms) = (defaults.to_vec(), self.tokens, self.terms);
        let query = in_best_field(&defaults, |field| {
            // The same tokens and terms again.
            (self.tokens, self.terms, self.looked_up) = (tokens, terms, Some(field));
            clause(self)
        });
        self.looked_up = None;
        query
    }

    /// Counts terms of the query.
    pub(super) fn count(&mut self, at: usize, terms: usize) -> Result<()> {
        self.terms += terms;
        if self.terms > MAX_CLAUSES {
            return self.fault(at, "more than 1,024 terms: ask for fewer at a time");
        }
        Ok(())
    }

    /// Refuses a pattern that is too long.
    pub(super) fn check_pattern(&self, at: usize, length: usize) -> Result<()> {
        if length > MAX_PATTERN {
            return self
                .fault(at, "a pattern of more than 1,000 characters: write a shorter one, such as *part*");
        }
        Ok(())
    }

    /// Refuses a regular expression that is too long or cannot be compiled. `at` is the place of `re"`.
    pub(super) fn check_regex(&self, at: usize, expression: &str) -> Result<()> {
        self.check_pattern(at, expression.chars().count())?;
        let Some(RegexFault { after, message }) = regex_fault(expression) else { return Ok(()) };
        // In the text of the query, a backslash stands before each quote.
        let quotes = expression.chars().take(after).filter(|char| *char == '"').count();
        self.fault(at + "re\"".len() + after + quotes, &message)
    }

    /// The next token.
    pub(super) fn peek(&self) -> Option<&'a QueryToken> {
        self.tokens.first()
    }

    /// Takes the next token.
    pub(super) fn next(&mut self) -> Option<&'a QueryToken> {
        let (token, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(token)
    }

    /// Takes the next token if `wanted` returns a value for it; returns this value and the position of the
    /// token.
    pub(super) fn suffix<T>(&mut self, wanted: fn(&TokenKind) -> Option<T>) -> Option<(usize, T)> {
        let token = self.peek()?;
        let found = wanted(&token.kind)?;
        self.next();
        Some((token.at, found))
    }

    /// The position after the last character.
    pub(super) fn end(&self) -> usize {
        self.text.chars().count() + 1
    }

    /// An error about the character at `at`, counted from 1.
    pub(super) fn fault<T>(&self, at: usize, message: &str) -> Result<T> {
        Err(fault(self.text, at, message))
    }
}
