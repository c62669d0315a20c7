//! The words, quotes and operators of a query's text.

use std::ops::Bound;

use super::parse::fault;
use crate::error::Result;

/// Something of a query, and where it begins, in characters from 1.
#[derive(Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
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
    Word(Vec<Unit>),
    /// Text in quotes.
    Phrase(String),
    /// `re"…"`
    Regex(String),
    /// `[a TO b]`
    Range(Bound<String>, Bound<String>),
    /// `in(`
    Set,
    /// `name:` in front of what it is for.
    Field(String),
    /// `^2` behind what it is for.
    Boost(f32),
    /// `~` or `~2` behind what it is for.
    Tilde(Option<u32>),
    /// `@2` behind what it is for.
    AtLeast(usize),
}

impl TokenKind {
    /// True for what can be a value, or several.
    pub(super) fn is_value(&self) -> bool {
        matches!(self, TokenKind::Word(_) | TokenKind::Phrase(_) | TokenKind::Range(..) | TokenKind::Set)
    }
}

/// A part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// As it is.
    Char(char),
    /// `?`
    AnyChar,
    /// `*`
    Anything,
}

/// Splits a query; `is_known` says whether there is a field of a name.
pub(super) fn tokens(text: &str, is_known: &dyn Fn(&str) -> bool) -> Result<Vec<Token>> {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { text, chars: &chars, is_known, at: 0, found: Vec::new() };
    while let Some(&first) = chars.get(lexer.at) {
        lexer.step(first)?;
    }
    Ok(lexer.found)
}

/// Operators that may stand one behind the other.
const MOST_SUFFIXES: usize = 4;

struct Lexer<'a> {
    text: &'a str,
    chars: &'a [char],
    is_known: &'a dyn Fn(&str) -> bool,
    /// Characters that have been read.
    at: usize,
    found: Vec<Token>,
}

impl Lexer<'_> {
    fn push(&mut self, kind: TokenKind, end: usize) {
        self.found.push(Token { kind, at: self.at + 1 });
        self.at = end;
    }

    fn char(&self, at: usize) -> Option<char> {
        self.chars.get(at).copied()
    }

    /// True if nothing of a word is at `at`.
    fn ends_word(&self, at: usize) -> bool {
        self.char(at).is_none_or(|char| char.is_whitespace() || matches!(char, '(' | ')' | '"'))
    }

    /// True if what was read last, without a space behind it, can be boosted and so on.
    fn is_behind_clause(&self) -> bool {
        self.at > 0
            && !self.chars[self.at - 1].is_whitespace()
            && self.found.last().is_some_and(|token| {
                !matches!(
                    token.kind,
                    TokenKind::Open
                        | TokenKind::Plus
                        | TokenKind::Minus
                        | TokenKind::Set
                        | TokenKind::Field(_)
                )
            })
    }

    fn step(&mut self, first: char) -> Result<()> {
        let starts_clause = self.char(self.at + 1).is_some_and(|next| !next.is_whitespace() && next != ')');
        match first {
            _ if first.is_whitespace() => self.at += 1,
            '(' => self.push(TokenKind::Open, self.at + 1),
            ')' => self.push(TokenKind::Close, self.at + 1),
            '"' => {
                let (text, end) = self.quoted(self.at, true)?;
                self.push(TokenKind::Phrase(text), end);
            }
            '^' | '~' | '@' if self.is_behind_clause() && self.suffix(self.at).is_some() => {
                if let Some((kind, end)) = self.suffix(self.at) {
                    self.push(kind, end);
                }
            }
            '+' | '-' if starts_clause && !self.follows_sign() => {
                self.push(if first == '+' { TokenKind::Plus } else { TokenKind::Minus }, self.at + 1);
            }
            '[' | '{' => match self.range() {
                Some((kind, end)) => self.push(kind, end),
                None => self.word()?,
            },
            _ => self.word()?,
        }
        Ok(())
    }

    /// What follows a sign is a word even if it begins with a sign itself: `--help` excludes `-help`.
    fn follows_sign(&self) -> bool {
        let sign = |token: &Token| matches!(token.kind, TokenKind::Plus | TokenKind::Minus);
        self.found.last().is_some_and(|token| sign(token) && token.at == self.at)
    }

    /// The text in the quotes that begin at `start`, and where it ends. A backslash takes the meaning from a quote, and with
    /// `all` from any character.
    fn quoted(&self, start: usize, all: bool) -> Result<(String, usize)> {
        let mut text = String::new();
        let mut at = start + 1;
        while let Some(char) = self.char(at) {
            match (char, self.char(at + 1)) {
                ('"', _) => return Ok((text, at + 1)),
                ('\\', Some(next)) if all || next == '"' => {
                    text.push(next);
                    at += 1;
                }
                _ => text.push(char),
            }
            at += 1;
        }
        Err(fault(self.text, start + 1, "this quote is not closed: add \" or write \\\" for the character"))
    }

    /// The operator behind a clause that is at `at`, and where it ends, if it is one: nothing but others may follow.
    fn suffix(&self, at: usize) -> Option<(TokenKind, usize)> {
        let (kind, end) = self.one_suffix(at)?;
        let mut last = end;
        for _ in 0..MOST_SUFFIXES {
            if self.ends_word(last) {
                return Some((kind, end));
            }
            last = self.one_suffix(last)?.1;
        }
        None
    }

    /// The same, whatever follows.
    fn one_suffix(&self, at: usize) -> Option<(TokenKind, usize)> {
        let digits =
            |at: usize| (at..).take_while(|&at| self.char(at).is_some_and(|c| c.is_ascii_digit())).count();
        let number = |from: usize, to: usize| self.chars[from..to].iter().collect::<String>();
        let first = at + 1;
        let mut end = first + digits(first);
        let kind = match self.char(at)? {
            '~' => TokenKind::Tilde(if end == first { None } else { Some(number(first, end).parse().ok()?) }),
            '@' => TokenKind::AtLeast(number(first, end).parse().ok()?),
            '^' => {
                if self.char(end) == Some('.') {
                    end += 1 + digits(end + 1);
                }
                TokenKind::Boost(number(first, end).parse().ok()?)
            }
            _ => return None,
        };
        Some((kind, end))
    }

    /// The range that begins here, and where it ends, if it is one.
    fn range(&self) -> Option<(TokenKind, usize)> {
        let mut quoted = false;
        let mut end = self.at + 1;
        loop {
            match self.char(end)? {
                '"' => quoted = !quoted,
                ']' | '}' if !quoted => break,
                // Another one may be a range; so nothing is looked at again and again.
                '[' | '{' if !quoted => return None,
                _ => {}
            }
            end += 1;
        }
        let inner: String = self.chars[self.at + 1..end].iter().collect();
        let (from, to) = inner.split_once(" TO ")?;
        let bound = |text: &str, included: bool| {
            let text = text.trim();
            let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            match bare.unwrap_or(text) {
                "*" if bare.is_none() => Bound::Unbounded,
                text if included => Bound::Included(text.to_owned()),
                text => Bound::Excluded(text.to_owned()),
            }
        };
        let (from, to) = (bound(from, self.chars[self.at] == '['), bound(to, self.chars[end] == ']'));
        Some((TokenKind::Range(from, to), end + 1))
    }

    /// Reads the word that begins here.
    fn word(&mut self) -> Result<()> {
        let (mut units, mut at, mut plain) = (Vec::new(), self.at, true);
        while let Some(char) = self.char(at) {
            match char {
                '\\' => {
                    let Some(next) = self.char(at + 1) else {
                        let message = "a backslash at the end escapes nothing: write \\\\";
                        return Err(fault(self.text, at + 1, message));
                    };
                    units.push(Unit::Char(next));
                    plain = false;
                    at += 1;
                }
                '*' => units.push(Unit::Anything),
                '?' => units.push(Unit::AnyChar),
                '"' if plain && text_of(&units) == "re" => {
                    let (text, end) = self.quoted(at, false)?;
                    self.push(TokenKind::Regex(text), end);
                    return Ok(());
                }
                '(' if plain && text_of(&units) == "in" => {
                    self.push(TokenKind::Set, at + 1);
                    return Ok(());
                }
                '^' | '~' | '@' if !units.is_empty() && self.suffix(at).is_some() => break,
                ':' if plain && self.is_field(&units, at + 1) => {
                    self.push(TokenKind::Field(text_of(&units)), at + 1);
                    return Ok(());
                }
                _ if self.ends_word(at) => break,
                _ => units.push(Unit::Char(char)),
            }
            at += 1;
        }
        let kind = match text_of(&units).as_str() {
            "AND" if plain => TokenKind::And,
            "OR" if plain => TokenKind::Or,
            "NOT" if plain => TokenKind::Not,
            _ => TokenKind::Word(units),
        };
        self.push(kind, at);
        Ok(())
    }

    /// True if a colon between `name` and what is at `rest` sets a field. What looks like the name of a variable is one, or
    /// should be.
    fn is_field(&self, name: &[Unit], rest: usize) -> bool {
        let name = text_of(name);
        let mut chars = name.chars();
        let named = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
            || (self.is_known)(&name);
        let ends = self.char(rest).is_none_or(|next| next.is_whitespace() || next == ')');
        let scheme = self.chars[rest..].starts_with(&['/', '/']) || self.chars[rest..].starts_with(&[':']);
        named && !ends && !scheme
    }
}

/// The characters of a word as they were written.
pub(super) fn text_of(units: &[Unit]) -> String {
    let char = |unit: &Unit| match unit {
        Unit::Char(char) => *char,
        Unit::AnyChar => '?',
        Unit::Anything => '*',
    };
    units.iter().map(char).collect()
}
