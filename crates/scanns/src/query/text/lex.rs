//! Splits the text of a query into tokens.

use std::ops::Bound;

use super::fault::fault;
use super::join::ARROW;
use super::suffix::suffix_at;
use super::token::{QueryToken, TokenKind, WordChar, text_of};
use crate::error::Result;

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Nothing,
    /// A field that is searched, and has no values that can be compared.
    Field,
    /// A column of keywords or paths.
    Strings,
    /// A column of numbers, dates or booleans.
    Numbers,
}

/// Splits a query into tokens. `named` resolves names.
pub(super) fn tokens(text: &str, named: &dyn Fn(&str) -> Named) -> Result<Vec<QueryToken>> {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { text, chars: &chars, named, at: 0, tokens: Vec::new() };
    while let Some(&first) = chars.get(lexer.at) {
        lexer.step(first)?;
    }
    Ok(lexer.tokens)
}

/// The maximum length of the name of a field.
const MAX_NAME: usize = 255;

/// The maximum number of suffixes after a clause.
const MAX_SUFFIXES: usize = 4;

struct Lexer<'a> {
    text: &'a str,
    chars: &'a [char],
    named: &'a dyn Fn(&str) -> Named,
    /// The number of characters read so far.
    at: usize,
    tokens: Vec<QueryToken>,
}

impl Lexer<'_> {
    fn push(&mut self, kind: TokenKind, end: usize) {
        self.tokens.push(QueryToken { kind, at: self.at + 1 });
        self.at = end;
    }

    fn char(&self, at: usize) -> Option<char> {
        self.chars.get(at).copied()
    }

    /// Whether a word ends before `at`.
    fn ends_word(&self, at: usize) -> bool {
        self.char(at).is_none_or(|char| char.is_whitespace() || matches!(char, '(' | ')' | '"'))
    }

    /// Whether a clause ends directly before this place, without a space.
    fn is_after_clause(&self) -> bool {
        self.at > 0
            && !self.chars[self.at - 1].is_whitespace()
            && self.tokens.last().is_some_and(|token| token.kind.can_end_clause())
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
            '^' | '~' | '@' if self.is_after_clause() => match self.suffix(self.at)? {
                Some((kind, end)) => self.push(kind, end),
                None => self.word()?,
            },
            '+' | '-' if starts_clause && !self.is_after_sign() => {
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

    /// Whether there is a sign directly before. The text after it is a word even if it begins with a sign:
    /// `--help` excludes `-help`.
    fn is_after_sign(&self) -> bool {
        let is_sign = |token: &QueryToken| matches!(token.kind, TokenKind::Plus | TokenKind::Minus);
        self.tokens.last().is_some_and(|token| is_sign(token) && token.at == self.at)
    }

    /// The text in the quotes that begin at `start`, and the end of the quotes. A backslash escapes a quote,
    /// and with `escapes_all` any character.
    fn quoted(&self, start: usize, escapes_all: bool) -> Result<(String, usize)> {
        let mut text = String::new();
        let mut at = start + 1;
        while let Some(char) = self.char(at) {
            match (char, self.char(at + 1)) {
                ('"', _) => return Ok((text, at + 1)),
                ('\\', Some(next)) if escapes_all || next == '"' => {
                    text.push(next);
                    at += 1;
                }
                _ => text.push(char),
            }
            at += 1;
        }
        Err(fault(self.text, start + 1, "this quote is not closed: add \" or write \\\" for the character"))
    }

    /// The suffix of a clause at `at`, and its end. Only other suffixes may follow it in the same word.
    ///
    /// # Errors
    /// [`Error::Query`](crate::Error::Query) for a suffix whose number cannot be used.
    fn suffix(&self, at: usize) -> Result<Option<(TokenKind, usize)>> {
        let Some(first) = suffix_at(self.chars, at) else { return Ok(None) };
        let mut last = first.end;
        for _ in 0..MAX_SUFFIXES {
            if self.ends_word(last) {
                let kind = first.kind.map_err(|message| fault(self.text, at + 1, message))?;
                return Ok(Some((kind, first.end)));
            }
            let Some(next) = suffix_at(self.chars, last) else { return Ok(None) };
            last = next.end;
        }
        Ok(None)
    }

    /// The range that begins here, and its end; `None` if this is not a range.
    fn range(&self) -> Option<(TokenKind, usize)> {
        let mut is_quoted = false;
        let mut end = self.at + 1;
        loop {
            match self.char(end)? {
                '"' => is_quoted = !is_quoted,
                ']' | '}' if !is_quoted => break,
                // The next bracket may begin a range itself. Stopping here means that each character is read
                // at most twice.
                '[' | '{' if !is_quoted => return None,
                _ => {}
            }
            end += 1;
        }
        let inner: String = self.chars[self.at + 1..end].iter().collect();
        let (from, to) = inner.split_once(" TO ")?;
        let bound = |text: &str, is_included: bool| {
            let text = text.trim();
            let unquoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            match unquoted.unwrap_or(text) {
                "*" if unquoted.is_none() => Bound::Unbounded,
                text if is_included => Bound::Included(text.to_owned()),
                text => Bound::Excluded(text.to_owned()),
            }
        };
        let (from, to) = (bound(from, self.chars[self.at] == '['), bound(to, self.chars[end] == ']'));
        Some((TokenKind::Range(from, to), end + 1))
    }

    /// Reads the word, operator, field, join or `in(` that begins here.
    fn word(&mut self) -> Result<()> {
        let (mut word, mut at, mut is_plain) = (Vec::new(), self.at, true);
        if matches!(self.tokens.last(), Some(QueryToken { kind: TokenKind::Field(_), .. })) {
            at = self.sign(&mut word)?;
            is_plain = word.is_empty();
        }
        while let Some(char) = self.char(at) {
            match char {
                '\\' => {
                    let Some(next) = self.char(at + 1) else {
                        let message = "a backslash at the end escapes nothing: write \\\\";
                        return Err(fault(self.text, at + 1, message));
                    };
                    word.push(WordChar::Escaped(next));
                    is_plain = false;
                    at += 1;
                }
                '*' => word.push(WordChar::Anything),
                '?' => word.push(WordChar::AnyChar),
                '"' if is_plain && text_of(&word) == "re" => {
                    let (text, end) = self.quoted(at, false)?;
                    self.push(TokenKind::Regex(text), end);
                    return Ok(());
                }
                '(' if is_plain && text_of(&word) == "in" => {
                    self.push(TokenKind::Set, at + 1);
                    return Ok(());
                }
                '^' | '~' | '@' if !word.is_empty() && self.suffix(at)?.is_some() => break,
                ':' if is_plain && self.char(at + 1) == Some('(') && text_of(&word).contains(ARROW) => {
                    self.push(TokenKind::Join(text_of(&word)), at + 2);
                    return Ok(());
                }
                ':' if is_plain && self.names_field(&word, at + 1) => {
                    self.push(TokenKind::Field(text_of(&word)), self.after_spaces(at + 1));
                    return Ok(());
                }
                '=' | '<' | '>' if is_plain && self.compares(&word, at) => {
                    self.push(TokenKind::Field(text_of(&word)), at);
                    return Ok(());
                }
                '!' if is_plain && self.char(at + 1) == Some('=') && self.compares(&word, at + 1) => {
                    let name = text_of(&word);
                    let message = format!("!= is not an operator: write -{name}:value or NOT {name}:value");
                    return Err(fault(self.text, at + 1, &message));
                }
                _ if self.ends_word(at) => break,
                _ => word.push(WordChar::Char(char)),
            }
            at += 1;
        }
        let kind = match text_of(&word).as_str() {
            "AND" if is_plain => TokenKind::And,
            "OR" if is_plain => TokenKind::Or,
            "NOT" if is_plain => TokenKind::Not,
            name if is_plain && self.compares(&word, self.after_spaces(at)) => {
                let name = TokenKind::Field(name.to_owned());
                self.push(name, self.after_spaces(at));
                return Ok(());
            }
            _ => TokenKind::Word(word),
        };
        self.push(kind, at);
        Ok(())
    }

    /// The first place from `at` on that is not a space.
    fn after_spaces(&self, at: usize) -> usize {
        (at..).find(|&at| !self.char(at).is_some_and(char::is_whitespace)).unwrap_or(at)
    }

    /// Reads the sign of a comparison after a field into `word`, and with it a value that follows after
    /// spaces or in quotes: `> 5`, `>"5 MiB"`. Returns the end of what was read.
    fn sign(&self, word: &mut Vec<WordChar>) -> Result<usize> {
        let is_sign = |at: usize| self.char(at).filter(|char| matches!(char, '<' | '>' | '='));
        let mut at = self.at;
        while let Some(sign) = is_sign(at) {
            word.push(WordChar::Char(sign));
            at += 1;
        }
        if word.is_empty() {
            return Ok(at);
        }
        let value = self.after_spaces(at);
        if self.char(value) != Some('"') {
            return Ok(if self.ends_word(value) { at } else { value });
        }
        let (text, end) = self.quoted(value, true)?;
        word.extend(text.chars().map(WordChar::Escaped));
        Ok(end)
    }

    /// Whether the sign of a comparison at `at` compares the values of the column with this name, although
    /// there is no colon: `size=5`, `size > 5`. Names of columns of text are only followed by `=`.
    fn compares(&self, name: &[WordChar], at: usize) -> bool {
        let sign = match self.char(at) {
            Some(sign @ ('<' | '>' | '=')) => sign,
            _ => return false,
        };
        if name.is_empty() || name.len() > MAX_NAME || name.iter().any(WordChar::is_wild) {
            return false;
        }
        match (self.named)(&text_of(name)) {
            Named::Numbers => true,
            Named::Strings => sign == '=',
            Named::Field | Named::Nothing => false,
        }
    }

    /// Whether `name` before a colon names a field; `rest` is the place after the colon. It does if a field
    /// has this name, or if the name looks like an identifier; an unknown identifier is refused later.
    fn names_field(&self, name: &[WordChar], rest: usize) -> bool {
        if name.len() > MAX_NAME {
            return false;
        }
        let name = text_of(name);
        let mut chars = name.chars();
        let named = (self.named)(&name);
        let is_name = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
            || named != Named::Nothing;
        // A value of a column may follow after spaces.
        let value =
            if matches!(named, Named::Strings | Named::Numbers) { self.after_spaces(rest) } else { rest };
        let ends = self.char(value).is_none_or(|next| next.is_whitespace() || next == ')');
        let is_path = self.chars[rest..].starts_with(&['/', '/']) || self.chars[rest..].starts_with(&[':']);
        is_name && !ends && !is_path
    }
}
