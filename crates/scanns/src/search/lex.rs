//! The words and operators of a query's text.

use super::parse::fault;
use crate::error::Result;

/// A word or an operator, and where it begins, in characters from 1.
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) at: usize,
}

#[derive(PartialEq, Eq)]
pub(super) enum TokenKind {
    Open,
    Close,
    Plus,
    Minus,
    And,
    Or,
    Not,
    /// Text with its escapes resolved.
    Word(String),
}

/// Splits a query.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&first) = chars.get(at) {
        let starts_clause = chars.get(at + 1).is_some_and(|next| !next.is_whitespace() && *next != ')');
        let kind = match first {
            _ if first.is_whitespace() => None,
            '(' => Some(TokenKind::Open),
            ')' => Some(TokenKind::Close),
            '+' if starts_clause => Some(TokenKind::Plus),
            '-' if starts_clause => Some(TokenKind::Minus),
            _ => {
                let (kind, end) = word(text, &chars, at)?;
                found.push(Token { kind, at: at + 1 });
                at = end;
                continue;
            }
        };
        at += 1;
        found.extend(kind.map(|kind| Token { kind, at }));
        if first == '+' || first == '-' {
            // What follows a sign is a word even if it begins with a sign itself: `--help` excludes `-help`.
            if matches!(chars.get(at), Some('+' | '-')) {
                let (kind, end) = word(text, &chars, at)?;
                found.push(Token { kind, at: at + 1 });
                at = end;
            }
        }
    }
    Ok(found)
}

/// The word that begins at `start`, and where it ends.
fn word(text: &str, chars: &[char], start: usize) -> Result<(TokenKind, usize)> {
    let mut word = String::new();
    let mut at = start;
    let mut escaped = false;
    while let Some(&char) = chars.get(at) {
        match char {
            '\\' => {
                let Some(&next) = chars.get(at + 1) else {
                    return Err(fault(text, at + 1, "a backslash at the end escapes nothing: write \\\\"));
                };
                word.push(next);
                escaped = true;
                at += 1;
            }
            '"' => {
                let message = "phrases are not supported, the index has no positions: \
                               write the words without quotes, or \\\" for the character";
                return Err(fault(text, at + 1, message));
            }
            '(' | ')' => break,
            _ if char.is_whitespace() => break,
            ':' if !escaped && is_field(&word, &chars[at + 1..]) => {
                let message = format!(
                    "fields such as '{word}:' are not supported: write {word}\\: if the colon belongs to the word"
                );
                return Err(fault(text, start + 1, &message));
            }
            _ => word.push(char),
        }
        at += 1;
    }
    let kind = match word.as_str() {
        "AND" if !escaped => TokenKind::And,
        "OR" if !escaped => TokenKind::Or,
        "NOT" if !escaped => TokenKind::Not,
        _ => TokenKind::Word(word),
    };
    Ok((kind, at))
}

/// True if a colon between `name` and `rest` would set a field.
fn is_field(name: &str, rest: &[char]) -> bool {
    let mut chars = name.chars();
    let named = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_');
    let ends_word = rest.first().is_none_or(|next| next.is_whitespace() || *next == ')');
    let scheme = rest.starts_with(&['/', '/']) || rest.starts_with(&[':']);
    named && !ends_word && !scheme
}
