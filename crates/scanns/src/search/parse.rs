//! Text to [`Query`].
//!
//! ```text
//! list    = and ((OR | ' ') and)*           ' ' is the default operator; AND where that is chosen
//! and     = clause (AND clause)*
//! clause  = ('+' | '-' | NOT) clause | primary
//! primary = (name ':')? (group | phrase | regex | range | set | word) ('^' number)?
//! group   = '(' list ')' ('@' number)?      so many of its clauses must match
//! phrase  = '"' text '"' ('~' number)?      words beside each other; moved by so many places
//! regex   = 're"' expression '"'            terms that all of the expression matches
//! range   = ('[' | '{') bound ' TO ' bound (']' | '}')      terms or values; braces exclude the bound, * is none
//! set     = 'in(' word* ')'                 any of the terms
//! word    = text                            with * and ? a pattern; * alone is every document
//!         | text '~' ('1' | '2')?           terms that are spelt about like it
//! ```
//!
//! `NOT` binds tighter than `AND`, `AND` tighter than `OR`. As in Lucene, `+a` makes a clause of a list
//! required, `-a` and `NOT a` make it an exclusion from the list, also after `OR`: `a OR (NOT b)` is the
//! Boolean reading. Operators are upper case. A backslash takes the meaning from any character. `+` and `-` are
//! operators only in front of a clause, `^`, `~` and `@` only at the end of one. `name:` in front of more text names a
//! field (`http://x`, `std::x` and `12:30` do not). In a field that is a column of values, or behind `<` and `>`, words
//! are values: `size:>1GiB`, `mtime:<=2024-03`, `open:true`, `ext:*`; see `values.rs`.

mod values;

use std::ops::Bound;

use super::lex::{Token, TokenKind, Unit, text_of, tokens};
use super::query::{BoolQuery, Operator, Pattern, PhraseQuery, Query, WildcardPart};
use crate::error::{Error, Result};
use crate::schema::{Field, FieldKind};

/// Terms that a query may have.
pub const MAX_CLAUSES: usize = 1024;

/// How deep parentheses and negations may be nested.
pub const MAX_DEPTH: usize = 64;

/// Edits of a fuzzy word that does not say how many.
const USUAL_EDITS: u8 = 2;

/// How an index understands text; no field stands for the one that is searched where none is named.
pub trait QueryText {
    /// The searched field of that name.
    ///
    /// # Errors
    /// What names there are.
    fn field(&self, name: &str) -> std::result::Result<Field, String>;

    /// The field of that name, if it is a column, and what it holds.
    fn column(&self, _name: &str) -> Option<(Field, FieldKind)> {
        None
    }

    /// The terms of a text as documents have them, with their positions from 0.
    fn terms(&mut self, field: Option<Field>, text: &str) -> Vec<(u32, Vec<u8>)>;

    /// A part of a term as terms are spelt: in lower case, if they are.
    fn spelling(&self, field: Option<Field>, text: &str) -> String;
}

/// Parses `text`, whose words become terms by `words`. Words of several terms combine by `operator`, words of none
/// disappear with their clause.
pub fn parse(text: &str, operator: Operator, words: &mut dyn QueryText) -> Result<Query> {
    let tokens = tokens(text, &|name| words.field(name).is_ok() || words.column(name).is_some())?;
    let (field, column) = (None, None);
    let mut parser = Parser { text, tokens: &tokens, operator, words, field, column, depth: 0, clauses: 0 };
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
    words: &'a mut dyn QueryText,
    /// The field that is named around what is parsed.
    field: Option<Field>,
    /// It is a column, of which values are sought.
    column: Option<(Field, FieldKind)>,
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
            _ => {
                let (query, word) = self.primary(token)?;
                Ok(Clause { occur: Occur::Plain, query, word })
            }
        }
    }

    /// What begins with `token`, which has been taken, and whether it is a plain word.
    fn primary(&mut self, token: &Token) -> Result<(Option<Query>, bool)> {
        let at = token.at;
        let mut word = false;
        let query = match &token.kind {
            kind if self.column.is_some() && kind.is_value() => self.value(at, kind)?,
            TokenKind::Field(name) => return Ok((self.in_field(at, name)?, false)),
            TokenKind::Open => self.group(at)?,
            TokenKind::Word(units) => {
                word = true;
                self.word(at, units)?
            }
            TokenKind::Phrase(text) => self.phrase(at, text)?,
            TokenKind::Regex(text) => self.pattern(at, Pattern::Regex(text.clone()))?,
            TokenKind::Range(from, to) => {
                let bound = |bound: &Bound<String>| {
                    bound.as_ref().map(|text| self.words.spelling(self.field, text).into_bytes())
                };
                let range = Pattern::Range(bound(from), bound(to));
                self.pattern(at, range)?
            }
            TokenKind::Set => self.set(at)?,
            TokenKind::Boost(_) | TokenKind::Tilde(_) | TokenKind::AtLeast(_) => {
                let message =
                    "this applies to nothing: write it right behind a clause, once, or a backslash before it";
                return self.fault(at, message);
            }
            // Behind a field; elsewhere they were taken before.
            TokenKind::Plus
            | TokenKind::Minus
            | TokenKind::And
            | TokenKind::Or
            | TokenKind::Not
            | TokenKind::Close => {
                return self.fault(at, "an operator goes in front of the field, as in -name:word");
            }
        };
        match self.next_suffix(|kind| if let TokenKind::Boost(boost) = kind { Some(*boost) } else { None }) {
            None => Ok((query, word)),
            Some((_, boost)) if boost > 0.0 && boost.is_finite() => {
                Ok((query.map(|query| Query::Boost(Box::new(query), boost)), false))
            }
            Some((at, _)) => self.fault(at, "a boost is a number above 0"),
        }
    }

    /// Takes the next token if `wanted` wants it; says where it was.
    fn next_suffix<T>(&mut self, wanted: impl Fn(&TokenKind) -> Option<T>) -> Option<(usize, T)> {
        let (token, rest) = self.tokens.split_first()?;
        let found = wanted(&token.kind)?;
        self.tokens = rest;
        Some((token.at, found))
    }

    fn in_field(&mut self, at: usize, name: &str) -> Result<Option<Query>> {
        if let Some(column) = self.column_of(name) {
            let Some((token, rest)) = self.tokens.split_first() else { return Ok(None) };
            self.tokens = rest;
            let outer = self.column.replace(column);
            let inner = self.nested(at, |parser| parser.primary(token));
            self.column = outer;
            return Ok(inner?.0);
        }
        let outer = self.column.take();
        let query = self.in_searched_field(at, name);
        self.column = outer;
        query
    }

    fn in_searched_field(&mut self, at: usize, name: &str) -> Result<Option<Query>> {
        let field = self.words.field(name).map_err(|names| {
            let message = format!(
                "there is no field '{name}' that is searched{names}: write {name}\\: if the colon belongs to the word"
            );
            fault(self.text, at, &message)
        })?;
        let Some((token, rest)) = self.tokens.split_first() else { return Ok(None) };
        self.tokens = rest;
        let outer = self.field.replace(field);
        let inner = self.nested(at, |parser| parser.primary(token));
        self.field = outer;
        Ok(inner?.0.map(|query| Query::In(field, Box::new(query))))
    }

    fn group(&mut self, at: usize) -> Result<Option<Query>> {
        let operator = self.operator;
        if self.has_least() {
            // Of clauses that must all match there is nothing to choose.
            self.operator = Operator::Or;
        }
        let query = self.nested(at, Self::list);
        self.operator = operator;
        let mut query = query?;
        let Some((_, rest)) = self.tokens.split_first() else {
            return self.fault(at, "this parenthesis is not closed: add ) or write \\(");
        };
        self.tokens = rest;
        let least = |kind: &TokenKind| if let TokenKind::AtLeast(least) = kind { Some(*least) } else { None };
        if let Some((at, least)) = self.next_suffix(least) {
            match &mut query {
                Some(Query::Bool(list)) if list.should.len() >= least => list.at_least = least,
                None => {}
                Some(Query::Bool(list)) => {
                    let message = format!("the list has {} clauses that may match or not", list.should.len());
                    return self.fault(at, &message);
                }
                Some(_) if least <= 1 => {}
                Some(_) => return self.fault(at, "the list has one clause"),
            }
        }
        Ok(query)
    }

    /// True if the group that has just been opened ends with a least number.
    fn has_least(&self) -> bool {
        let mut open = 1usize;
        for (place, token) in self.tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Open | TokenKind::Set => open += 1,
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

    fn phrase(&mut self, at: usize, text: &str) -> Result<Option<Query>> {
        let slop = |kind: &TokenKind| if let TokenKind::Tilde(slop) = kind { Some(*slop) } else { None };
        let slop = match self.next_suffix(slop) {
            Some((at, None)) => {
                return self.fault(at, "by how many places words may be moved is missing: ~1");
            }
            found => found.and_then(|(_, slop)| slop).unwrap_or(0),
        };
        let mut terms = self.words.terms(self.field, text);
        self.count(at, terms.len())?;
        Ok(match terms.len() {
            0 => None,
            1 => terms.pop().map(|(_, term)| Query::Term(term)),
            _ => Some(Query::Phrase(PhraseQuery { terms, slop })),
        })
    }

    fn pattern(&mut self, at: usize, pattern: Pattern) -> Result<Option<Query>> {
        self.count(at, 1)?;
        Ok(Some(Query::Pattern(pattern)))
    }

    fn set(&mut self, at: usize) -> Result<Option<Query>> {
        let mut terms = Vec::new();
        loop {
            let Some((token, rest)) = self.tokens.split_first() else {
                return self.fault(at, "this parenthesis is not closed: add )");
            };
            self.tokens = rest;
            let text = match &token.kind {
                TokenKind::Close => break,
                TokenKind::Word(units) => text_of(units),
                TokenKind::Phrase(text) => text.clone(),
                _ => return self.fault(token.at, "in( ) holds words: put operators outside of it"),
            };
            let found = self.words.terms(self.field, &text);
            self.count(token.at, found.len())?;
            terms.extend(found.into_iter().map(|(_, term)| term));
        }
        Ok((!terms.is_empty()).then_some(Query::Pattern(Pattern::Set(terms))))
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

    fn word(&mut self, at: usize, units: &[Unit]) -> Result<Option<Query>> {
        let tilde = |kind: &TokenKind| if let TokenKind::Tilde(edits) = kind { Some(*edits) } else { None };
        if let Some((tilde_at, edits)) = self.next_suffix(tilde) {
            let edits = edits.map_or(Some(USUAL_EDITS), |edits| u8::try_from(edits).ok());
            let Some(edits) = edits.filter(|edits| *edits <= 2) else {
                return self.fault(tilde_at, "a word can be sought with up to 2 edits: ~1 or ~2");
            };
            return self.fuzzy(at, &text_of(units), edits);
        }
        if units.iter().any(|unit| !matches!(unit, Unit::Char(_))) {
            return self.wildcard(at, units);
        }
        let terms = self.words.terms(self.field, &text_of(units));
        self.count(at, terms.len())?;
        let clauses = terms
            .into_iter()
            .map(|(_, term)| Clause { occur: Occur::Plain, query: Some(Query::Term(term)), word: true })
            .collect();
        Ok(combine(clauses, self.operator))
    }

    fn fuzzy(&mut self, at: usize, text: &str, edits: u8) -> Result<Option<Query>> {
        self.count(at, 1)?;
        let term = self.words.spelling(self.field, text);
        Ok(Some(match edits {
            0 => Query::Term(term.into_bytes()),
            _ => Query::Pattern(Pattern::Fuzzy { term, edits, prefix: 0 }),
        }))
    }

    fn wildcard(&mut self, at: usize, units: &[Unit]) -> Result<Option<Query>> {
        self.count(at, 1)?;
        let mut pieces = Vec::new();
        for part in units.chunk_by(|a, b| matches!((a, b), (Unit::Char(_), Unit::Char(_)))) {
            pieces.push(match part {
                [Unit::AnyChar, ..] => WildcardPart::AnyChar,
                [Unit::Anything, ..] => WildcardPart::Anything,
                text => WildcardPart::Text(self.words.spelling(self.field, &text_of(text)).into_bytes()),
            });
        }
        pieces.dedup_by(|a, b| *a == WildcardPart::Anything && *b == WildcardPart::Anything);
        Ok(Some(match pieces.as_slice() {
            [WildcardPart::Anything] if self.field.is_none() => Query::All,
            [WildcardPart::Anything] => Query::Exists,
            [WildcardPart::Text(prefix), WildcardPart::Anything] => {
                Query::Pattern(Pattern::Prefix(prefix.clone()))
            }
            _ => Query::Pattern(Pattern::Wildcard(pieces)),
        }))
    }

    /// Counts terms of the query.
    fn count(&mut self, at: usize, terms: usize) -> Result<()> {
        self.clauses += terms;
        match self.clauses > MAX_CLAUSES {
            true => self.fault(at, "more than 1,024 terms: ask for fewer at a time"),
            false => Ok(()),
        }
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
