//! Parses tokens into a query: lists, signs, fields, groups and boosts, by recursive descent.

use super::clause::{ClauseKind, Sign, SignedClause, combine, join, kind_of};
use super::fault::fault;
use super::lex::{Named, tokens};
use super::state::QueryParser;
use super::token::{QueryToken, TokenKind};
use crate::error::Result;
use crate::query::operator::Operator;
use crate::query::query_text::{QueryText, no_such_field};
use crate::query::tree::Query;
use crate::schema::{Field, FieldKind};

/// Parses the text form of a query.
///
/// `words` resolves fields and turns words into terms. Several terms of a word are combined by `operator`; a
/// clause whose text has no terms is removed. A query without any clauses left matches nothing.
///
/// # Errors
/// [`Error::Query`](crate::Error::Query) with the position of the fault.
pub fn parse(text: &str, operator: Operator, words: &mut dyn QueryText) -> Result<Query> {
    let tokens = tokens(text, &|name| named(words, name))?;
    let (field, column) = (None, None);
    let mut parser = QueryParser {
        text,
        tokens: &tokens,
        operator,
        words,
        field,
        words_of_field: None,
        of_paths: false,
        looked_up: None,
        column,
        counts: false,
        depth: 0,
        terms: 0,
    };
    let query = parser.list()?.query;
    match parser.tokens.first() {
        None => Ok(query.unwrap_or_else(Query::nothing)),
        Some(token) => parser.fault(token.at, CLOSES_NOTHING),
    }
}

/// What a name in a query names.
fn named(words: &dyn QueryText, name: &str) -> Named {
    match words.column(name) {
        Some((_, FieldKind::Keyword | FieldKind::Path)) => Named::Strings,
        Some((_, FieldKind::Text { .. } | FieldKind::Bytes)) => Named::Field,
        Some(_) => Named::Numbers,
        None if words.field(name).is_ok() => Named::Field,
        None => Named::Nothing,
    }
}

const CLOSES_NOTHING: &str = "this parenthesis closes nothing: remove it or write \\)";

impl QueryParser<'_> {
    fn list(&mut self) -> Result<SignedClause> {
        let mut clauses = Vec::new();
        // The last clauses that are joined by OR.
        let mut joined = Vec::new();
        while let Some(token) = self.peek() {
            match token.kind {
                TokenKind::Close => break,
                TokenKind::Or if joined.is_empty() => return self.lonely(token.at, "OR"),
                TokenKind::Or => {
                    self.next();
                    if !self.at_clause() {
                        return self.lonely(token.at, "OR");
                    }
                }
                _ => clauses.append(&mut join(std::mem::take(&mut joined))),
            }
            joined.push(self.and()?);
        }
        clauses.append(&mut join(joined));
        let kind = kind_of(&clauses);
        Ok(SignedClause::plain(combine(clauses, Operator::Or), kind))
    }

    /// Clauses joined by AND. A single clause keeps its sign for the list that contains it.
    fn and(&mut self) -> Result<SignedClause> {
        let mut clauses = vec![self.clause()?];
        while let Some(token) = self.peek() {
            if token.kind == TokenKind::And {
                self.next();
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
                let kind = kind_of(&clauses);
                Ok(SignedClause::plain(combine(clauses, Operator::And), kind))
            }
        }
    }

    fn clause(&mut self) -> Result<SignedClause> {
        let Some(token) = self.next() else {
            return self.fault(self.end(), "a clause is missing at the end");
        };
        match &token.kind {
            TokenKind::And => self.lonely(token.at, "AND"),
            TokenKind::Or => self.lonely(token.at, "OR"),
            TokenKind::Close => self.fault(token.at, CLOSES_NOTHING),
            TokenKind::Not if !self.at_clause() => self.lonely(token.at, "NOT"),
            TokenKind::Plus => self.signed(token.at, Sign::Must),
            TokenKind::Minus | TokenKind::Not => self.signed(token.at, Sign::MustNot),
            _ => self.primary(token),
        }
    }

    /// The clause after a sign. A second sign applies to a list of this clause alone.
    fn signed(&mut self, at: usize, sign: Sign) -> Result<SignedClause> {
        self.enter(at)?;
        let inner = self.clause()?;
        self.leave();
        let kind = kind_of(std::slice::from_ref(&inner));
        let query = if inner.sign == Sign::None { inner.query } else { combine(vec![inner], Operator::Or) };
        Ok(SignedClause { sign, query, kind })
    }

    /// The clause without a sign that begins with `token`, which has been taken.
    fn primary(&mut self, token: &QueryToken) -> Result<SignedClause> {
        let at = token.at;
        let mut kind = ClauseKind::Other;
        let query = match &token.kind {
            value if self.column.is_some() && value.is_value() => {
                // Values beside each other are alternatives, comparisons must all hold.
                if value.is_comparison() && !self.counts {
                    kind = ClauseKind::Condition;
                }
                self.value(at, value)?
            }
            TokenKind::Field(name) => return self.in_field(at, name),
            TokenKind::Join(names) => {
                let joined = self.joined(at, names)?;
                kind = joined.kind;
                joined.query
            }
            TokenKind::Open => {
                let group = self.group(at)?;
                if group.kind == ClauseKind::Condition && !self.counts {
                    kind = group.kind;
                }
                group.query
            }
            TokenKind::Word(word) => {
                kind = ClauseKind::Word;
                self.in_best_field(|this| this.word(at, word))?
            }
            TokenKind::Phrase(text) => self.in_best_field(|this| this.phrase(at, text))?,
            TokenKind::Regex(text) => self.in_best_field(|this| this.regex(at, text))?,
            TokenKind::Range(from, to) => self.in_best_field(|this| this.range(at, from, to))?,
            TokenKind::Set => self.in_best_field(|this| this.set(at))?,
            TokenKind::Boost(_) | TokenKind::Score(_) | TokenKind::Tilde(_) | TokenKind::AtLeast(_) => {
                let message = "this must follow a clause, only once: move it, or put a backslash before it";
                return self.fault(at, message);
            }
            // After a field; `clause` handles these tokens everywhere else.
            TokenKind::Plus
            | TokenKind::Minus
            | TokenKind::And
            | TokenKind::Or
            | TokenKind::Not
            | TokenKind::Close => {
                return self.fault(at, "an operator goes before the field, as in -name:word");
            }
        };
        self.with_scores(query, kind)
    }

    /// The clause with the boost and the scores by columns that follow it.
    fn with_scores(&mut self, mut query: Option<Query>, mut kind: ClauseKind) -> Result<SignedClause> {
        if let Some((at, boost)) = self.suffix(TokenKind::boost) {
            if !(boost > 0.0 && boost.is_finite()) {
                return self.fault(at, "a boost must be greater than 0: write ^2 or ^0.5");
            }
            (query, kind) = (query.map(|query| query.boosted(boost)), ClauseKind::Other);
        }
        while let Some((at, score)) = self.suffix(TokenKind::score) {
            query = query.map(|query| self.scored(at, query, &score)).transpose()?;
            kind = ClauseKind::Other;
        }
        Ok(SignedClause::plain(query, kind))
    }

    fn in_field(&mut self, at: usize, name: &str) -> Result<SignedClause> {
        let (outer_field, outer_column) = (self.field, self.column.take());
        let outer_paths = std::mem::take(&mut self.of_paths);
        let outer_words = self.words_of_field.take();
        let mut is_condition = !self.counts;
        if let Some(column) = self.column_of(name) {
            self.column = Some(column);
        } else {
            let field = self.words.field(name).map_err(|known| {
                let missing = no_such_field(name, &known);
                let message = format!("{missing}: write {name}\\: if the colon belongs to the word");
                fault(self.text, at, &message)
            })?;
            if matches!(self.next_sign(), Some('<' | '>')) {
                let message = format!(
                    "{name} has words, which are not compared: write {name}:[a TO b] for a range of words, \
                     or a backslash before the sign for the character"
                );
                return self.fault(self.peek().map_or(at, |token| token.at), &message);
            }
            self.field = Some(field);
            self.of_paths = self.beside(name, "parts").is_some();
            self.words_of_field = self.beside(name, "words");
            let is_text = |(_, kind): (Field, FieldKind)| matches!(kind, FieldKind::Text { .. });
            is_condition &= !self.words.column(name).is_none_or(is_text);
        }
        let query = self.nested_primary(at);
        (self.field, self.column, self.of_paths) = (outer_field, outer_column, outer_paths);
        self.words_of_field = outer_words;
        let query = query?;
        // With a boost, a condition scores, and is a clause like a word.
        is_condition &= !matches!(query, Some(Query::Boost(..) | Query::Scored(_)));
        let kind = if is_condition { ClauseKind::Condition } else { ClauseKind::Other };
        Ok(SignedClause::plain(query, kind))
    }

    /// A join and the group inside it, in which no field is named yet.
    fn joined(&mut self, at: usize, names: &str) -> Result<SignedClause> {
        self.count(at, 1)?;
        let outer = (self.field.take(), self.column.take(), std::mem::take(&mut self.of_paths));
        let (words, looked_up) = (self.words_of_field.take(), self.looked_up.take());
        let inside = self.group(at)?.query;
        (self.field, self.column, self.of_paths) = outer;
        (self.words_of_field, self.looked_up) = (words, looked_up);
        self.join(at, names, inside)
    }

    /// The field that has the words or the parts of a keyword, by its name.
    fn beside(&self, name: &str, what: &str) -> Option<Field> {
        let is_keyword = matches!(self.words.column(name), Some((_, FieldKind::Keyword)));
        self.words.field(&format!("{name}.{what}")).ok().filter(|_| is_keyword)
    }

    fn nested_primary(&mut self, at: usize) -> Result<Option<Query>> {
        let Some(token) = self.next() else { return Ok(None) };
        self.enter(at)?;
        let clause = self.primary(token)?;
        self.leave();
        Ok(clause.query)
    }

    fn group(&mut self, at: usize) -> Result<SignedClause> {
        let (operator, counts) = (self.operator, self.counts);
        self.counts = self.has_least();
        if self.counts {
            // With AND, no clause would be optional, and there would be nothing to count.
            self.operator = Operator::Or;
        }
        self.enter(at)?;
        let SignedClause { mut query, kind, .. } = self.list()?;
        self.leave();
        (self.operator, self.counts) = (operator, counts);
        if self.next().is_none() {
            return self.fault(at, "this parenthesis is not closed: add ) or write \\(");
        }
        if let Some((at, least)) = self.suffix(TokenKind::at_least) {
            match &mut query {
                Some(Query::Bool(list)) if list.should.len() >= least => list.at_least = least,
                None => {}
                Some(Query::Bool(list)) => {
                    let message = format!("the group has only {} optional clauses", list.should.len());
                    return self.fault(at, &message);
                }
                Some(_) if least <= 1 => {}
                Some(_) => return self.fault(at, "the group has only one clause"),
            }
        }
        Ok(SignedClause::plain(query, kind))
    }

    /// Whether `@` follows the group whose parenthesis was just read.
    fn has_least(&self) -> bool {
        let mut open = 1usize;
        for (place, token) in self.tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Open | TokenKind::Set | TokenKind::Join(_) => open += 1,
                TokenKind::Close => open -= 1,
                _ => {}
            }
            if open == 0 {
                let next = self.tokens.get(place + 1);
                return next.is_some_and(|token| matches!(token.kind, TokenKind::AtLeast(_)));
            }
        }
        false
    }

    fn at_clause(&self) -> bool {
        let kind = self.peek().map(|token| &token.kind);
        !matches!(kind, None | Some(TokenKind::Close | TokenKind::And | TokenKind::Or))
    }

    fn lonely<T>(&self, at: usize, operator: &str) -> Result<T> {
        let message = format!("{operator} lacks a clause: add one, or write \\{operator} for the word");
        self.fault(at, &message)
    }
}
