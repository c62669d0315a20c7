//! Text to [`Query`].
//!
//! ```text
//! list   = and ((OR | ' ') and)*            ' ' is the default operator; AND where that is chosen
//! and    = clause (AND clause)*
//! clause = ('+' | '-' | NOT) primary | primary
//! primary = '(' list ')' | word
//! ```
//!
//! `NOT` binds tighter than `AND`, `AND` tighter than `OR`. As in Lucene, `+a` makes a clause of a list
//! required, `-a` and `NOT a` make it an exclusion from the list, also after `OR`: `a OR (NOT b)` is the
//! Boolean reading. Operators are upper case. A backslash takes the meaning from any character. `+` and `-` are
//! operators only in front of a word or a parenthesis. `name:` in front of more text is reserved for fields
//! (`http://x`, `std::x` and `12:30` are not fields), quotes for phrases.

use super::lex::{Token, TokenKind, tokens};
use super::query::{BoolQuery, Operator, Query};
use crate::error::{Error, Result};

/// Terms that a query may have.
pub const MAX_CLAUSES: usize = 1024;

/// How deep parentheses and negations may be nested.
pub const MAX_DEPTH: usize = 64;

/// Parses `text`; `analyze` yields the terms of a word as the index's analyzer does. Words of several terms
/// combine by `operator`, words of none disappear with their clause.
pub fn parse(text: &str, operator: Operator, mut analyze: impl FnMut(&str) -> Vec<Vec<u8>>) -> Result<Query> {
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens: &tokens, operator, analyze: &mut analyze, depth: 0, clauses: 0 };
    let query = parser.list()?;
    match parser.tokens.first() {
        None => Ok(query.unwrap_or_else(Query::nothing)),
        Some(token) => parser.fault(token.at, "this parenthesis closes nothing: remove it or write \\)"),
    }
}

/// What a clause does in its list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occur {
    Plain,
    Must,
    MustNot,
}

/// A clause; without a query if its words have no terms.
struct Clause {
    occur: Occur,
    query: Option<Query>,
    /// The clause is the terms of one word, or one term.
    word: bool,
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    operator: Operator,
    analyze: &'a mut dyn FnMut(&str) -> Vec<Vec<u8>>,
    depth: usize,
    clauses: usize,
}

impl Parser<'_> {
    fn list(&mut self) -> Result<Option<Query>> {
        let mut clauses = Vec::new();
        while let Some(token) = self.tokens.first() {
            match token.kind {
                TokenKind::Close => break,
                TokenKind::Or if clauses.is_empty() => return self.lonely(token.at, "OR"),
                TokenKind::Or => {
                    self.tokens = &self.tokens[1..];
                    if !self.at_clause() {
                        return self.lonely(token.at, "OR");
                    }
                }
                _ => {}
            }
            clauses.push(self.and()?);
        }
        Ok(combine(clauses, Operator::Or))
    }

    /// Clauses joined by AND; a single one keeps its sign for the list that it stands in.
    fn and(&mut self) -> Result<Clause> {
        let mut clauses = vec![self.clause()?];
        while let Some(token) = self.tokens.first() {
            if token.kind == TokenKind::And {
                self.tokens = &self.tokens[1..];
                if !self.at_clause() {
                    return self.lonely(token.at, "AND");
                }
            } else if self.operator == Operator::Or || !self.at_clause() {
                break;
            }
            clauses.push(self.clause()?);
        }
        match clauses.pop() {
            Some(only) if clauses.is_empty() => Ok(only),
            last => {
                clauses.extend(last);
                Ok(Clause { occur: Occur::Plain, query: combine(clauses, Operator::And), word: false })
            }
        }
    }

    fn at_clause(&self) -> bool {
        !matches!(
            self.tokens.first().map(|token| &token.kind),
            None | Some(TokenKind::Close | TokenKind::And | TokenKind::Or)
        )
    }

    fn clause(&mut self) -> Result<Clause> {
        let Some((token, rest)) = self.tokens.split_first() else {
            return self.fault(self.text.chars().count() + 1, "something is missing at the end");
        };
        self.tokens = rest;
        match &token.kind {
            TokenKind::And => self.lonely(token.at, "AND"),
            TokenKind::Or => self.lonely(token.at, "OR"),
            TokenKind::Close => {
                self.fault(token.at, "this parenthesis closes nothing: remove it or write \\)")
            }
            TokenKind::Not if !self.at_clause() => self.lonely(token.at, "NOT"),
            TokenKind::Plus => self.signed(token.at, Occur::Must),
            TokenKind::Minus | TokenKind::Not => self.signed(token.at, Occur::MustNot),
            TokenKind::Open => {
                let query = self.nested(token.at, Self::list)?;
                let Some((_, rest)) = self.tokens.split_first() else {
                    return self.fault(token.at, "this parenthesis is not closed: add ) or write \\(");
                };
                self.tokens = rest;
                Ok(Clause { occur: Occur::Plain, query, word: false })
            }
            TokenKind::Word(word) => {
                let query = self.word(token.at, word)?;
                Ok(Clause { occur: Occur::Plain, query, word: true })
            }
        }
    }

    /// The clause after a sign; a sign on top of another applies to the list of that clause alone.
    fn signed(&mut self, at: usize, occur: Occur) -> Result<Clause> {
        let inner = self.nested(at, Self::clause)?;
        let query =
            if inner.occur == Occur::Plain { inner.query } else { combine(vec![inner], Operator::Or) };
        Ok(Clause { occur, query, word: false })
    }

    fn nested<T>(&mut self, at: usize, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fault(at, "nested more than 64 deep: write fewer parentheses");
        }
        let result = inner(self)?;
        self.depth -= 1;
        Ok(result)
    }

    fn word(&mut self, at: usize, word: &str) -> Result<Option<Query>> {
        let terms = (self.analyze)(word);
        self.clauses += terms.len();
        if self.clauses > MAX_CLAUSES {
            return self.fault(at, "more than 1,024 terms: ask for fewer at a time");
        }
        let clauses = terms
            .into_iter()
            .map(|term| Clause { occur: Occur::Plain, query: Some(Query::Term(term)), word: true })
            .collect();
        Ok(combine(clauses, self.operator))
    }

    fn lonely<T>(&self, at: usize, operator: &str) -> Result<T> {
        self.fault(
            at,
            &format!("{operator} lacks a term beside it: add one, or write \\{operator} for the word"),
        )
    }

    fn fault<T>(&self, at: usize, message: &str) -> Result<T> {
        Err(fault(self.text, at, message))
    }
}

/// The error for what is wrong with `query` at character `at`, counted from 1.
pub(super) fn fault(query: &str, at: usize, message: &str) -> Error {
    Error::Query { query: query.to_owned(), message: message.to_owned(), at }
}

/// One query of the clauses of a list in which `operator` stands between them.
///
/// The terms of a word join the list where the operator is the same, since the word might have been written as
/// several. Everything else in parentheses keeps its own list, and so its own rounding of scores.
fn combine(clauses: Vec<Clause>, operator: Operator) -> Option<Query> {
    let mut list = BoolQuery::default();
    for Clause { occur, query, word } in clauses {
        let Some(query) = query else { continue };
        match (occur, operator) {
            (Occur::MustNot, _) => list.must_not.push(query),
            (Occur::Must, _) => list.must.push(query),
            (Occur::Plain, Operator::And) => match query {
                Query::Bool(inner) if word && inner.should.is_empty() => list.must.extend(inner.must),
                query => list.must.push(query),
            },
            (Occur::Plain, Operator::Or) => match query {
                Query::Bool(inner) if word && inner.must.is_empty() => list.should.extend(inner.should),
                query => list.should.push(query),
            },
        }
    }
    match (list.must.len(), list.should.len(), list.must_not.len()) {
        (0, 0, 0) => None,
        (1, 0, 0) => list.must.pop(),
        (0, 1, 0) => list.should.pop(),
        _ => Some(Query::Bool(list)),
    }
}
