//! The tokens of a query's text.

use std::ops::Bound;

use crate::query::value_score::ScoreChange;

/// A token of a query.
#[derive(Debug, PartialEq)]
pub(super) struct QueryToken {
    pub(super) kind: TokenKind,
    /// Its first character, counted from 1.
    pub(super) at: usize,
}

#[derive(Debug, PartialEq)]
pub(super) enum TokenKind {
    Open,
    Close,
    Plus,
    Minus,
    And,
    Or,
    Not,
    Word(Vec<WordChar>),
    /// Text in quotes.
    Phrase(String),
    /// `re"…"`
    Regex(String),
    /// `[a TO b]`
    Range(Bound<String>, Bound<String>),
    /// `in(`
    Set,
    /// `name:` before a clause.
    Field(String),
    /// `parent->key:(` or `parent->key,max:(`, with the names of the join.
    Join(String),
    /// `^2` after a clause.
    Boost(f32),
    /// `^near(mtime,now,30d)` after a clause.
    Score(ScoreText),
    /// `~` or `~2` after a clause.
    Tilde(Option<u32>),
    /// `@2` after a group.
    AtLeast(usize),
}

/// A score by a column as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScoreText {
    pub(super) change: ScoreChange,
    /// The name of the curve.
    pub(super) curve: String,
    pub(super) arguments: Vec<String>,
}

impl TokenKind {
    /// Whether the token can be a value of a column, or begin several.
    pub(super) fn is_value(&self) -> bool {
        let is_text = matches!(self, TokenKind::Word(_) | TokenKind::Phrase(_) | TokenKind::Regex(_));
        is_text || matches!(self, TokenKind::Range(..) | TokenKind::Set)
    }

    /// Whether the token is a value after `<` or `>`.
    pub(super) fn is_comparison(&self) -> bool {
        matches!(self, TokenKind::Word(word) if sign_of(word).is_some_and(|sign| sign != '='))
    }

    /// The factor of a `^` suffix.
    pub(super) fn boost(&self) -> Option<f32> {
        if let TokenKind::Boost(boost) = self { Some(*boost) } else { None }
    }

    /// The score by a column of a `^` suffix.
    pub(super) fn score(&self) -> Option<ScoreText> {
        if let TokenKind::Score(score) = self { Some(score.clone()) } else { None }
    }

    /// The optional number of a `~` suffix.
    pub(super) fn tilde(&self) -> Option<Option<u32>> {
        if let TokenKind::Tilde(number) = self { Some(*number) } else { None }
    }

    /// The number of a `@` suffix.
    pub(super) fn at_least(&self) -> Option<usize> {
        if let TokenKind::AtLeast(least) = self { Some(*least) } else { None }
    }

    /// Whether the token can end a clause, so that `^`, `~` and `@` may follow it.
    pub(super) fn can_end_clause(&self) -> bool {
        let begins = matches!(self, TokenKind::Open | TokenKind::Plus | TokenKind::Minus | TokenKind::Set);
        !begins && !matches!(self, TokenKind::Field(_) | TokenKind::Join(_))
    }
}

/// A character of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordChar {
    /// A plain character.
    Char(char),
    /// A character after a backslash.
    Escaped(char),
    /// `?`
    AnyChar,
    /// `*`
    Anything,
}

impl WordChar {
    /// Whether it stands for any characters.
    pub(super) fn is_wild(&self) -> bool {
        matches!(self, WordChar::AnyChar | WordChar::Anything)
    }
}

/// The sign of a comparison at the front of a word: `<`, `>` or `=`.
pub(super) fn sign_of(word: &[WordChar]) -> Option<char> {
    match word.first() {
        Some(WordChar::Char(sign @ ('<' | '>' | '='))) => Some(*sign),
        _ => None,
    }
}

/// The characters of a word as written, without backslashes.
pub(super) fn text_of(word: &[WordChar]) -> String {
    let char = |unit: &WordChar| match unit {
        WordChar::Char(char) | WordChar::Escaped(char) => *char,
        WordChar::AnyChar => '?',
        WordChar::Anything => '*',
    };
    word.iter().map(char).collect()
}
