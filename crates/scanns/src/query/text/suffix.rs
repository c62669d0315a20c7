//! Suffixes of clauses: `^2`, `^near(mtime,now,30d)`, `~1`, `@3`.

use std::ops::RangeInclusive;

use super::token::{ScoreText, TokenKind};
use crate::query::score_arguments::CURVES;
use crate::query::value_score::ScoreChange;

/// The factors of scores that can be written.
const BOOSTS: RangeInclusive<f32> = 1e-18..=1e18;

/// Text after a clause that has the form of a suffix.
pub(super) struct Suffix {
    /// The suffix; or, if its number cannot be used, what to write instead.
    pub(super) kind: Result<TokenKind, &'static str>,
    /// The place after its last character.
    pub(super) end: usize,
}

/// The suffix that begins at `at`, whatever follows it.
pub(super) fn suffix_at(chars: &[char], at: usize) -> Option<Suffix> {
    if let Some(score) = score_at(chars, at) {
        return Some(score);
    }
    let first = at + 1;
    let found = number_end(chars, first);
    let number: String = chars.get(first..found.unwrap_or(first))?.iter().collect();
    let kind = match chars.get(at)? {
        '~' if found.is_none() => Ok(TokenKind::Tilde(None)),
        '~' => number.parse().map(|number| TokenKind::Tilde(Some(number))).map_err(|_| {
            "~ takes a small whole number: write word~1 for edits, \"two words\"~3 for places, or \\~ for \
             the character"
        }),
        '@' => {
            let is_count = number.bytes().all(|byte| byte.is_ascii_digit());
            let is_after_group = at.checked_sub(1).and_then(|before| chars.get(before)) == Some(&')');
            if found.is_none() || !is_count && !is_after_group {
                return None;
            }
            match is_count {
                // More than any group has.
                true => Ok(TokenKind::AtLeast(number.parse().unwrap_or(usize::MAX))),
                false => Err("@ takes the number of clauses that must match: write (a b c)@2"),
            }
        }
        '^' => {
            found?;
            let boost: Option<f32> = number.parse().ok().filter(|boost| BOOSTS.contains(boost));
            let message =
                "a boost is a number from 1e-18 to 1e18: write ^2 or ^0.5, or \\^ for the character";
            boost.map(TokenKind::Boost).ok_or(message)
        }
        _ => return None,
    };
    Some(Suffix { kind, end: found.unwrap_or(first) })
}

/// The score by a column that begins at `at`: `^near(mtime,now,30d)`, with `+` or `=` after `^` if it is
/// added or takes the place of the score.
fn score_at(chars: &[char], at: usize) -> Option<Suffix> {
    let (change, name) = match (chars.get(at)?, chars.get(at + 1)?) {
        ('^', '+') => (ScoreChange::Add, at + 2),
        ('^', '=') => (ScoreChange::Replace, at + 2),
        ('^', _) => (ScoreChange::Multiply, at + 1),
        _ => return None,
    };
    let open = (name..).find(|&at| !chars.get(at).is_some_and(char::is_ascii_alphabetic))?;
    let curve: String = chars.get(name..open)?.iter().collect();
    if chars.get(open) != Some(&'(') || !CURVES.contains(&curve.as_str()) {
        return None;
    }
    let close = (open..chars.len()).find(|&at| chars[at] == ')');
    let Some(close) = close else {
        let message = "the parenthesis of this score is not closed: add ), or put a backslash before ^";
        return Some(Suffix { kind: Err(message), end: chars.len() });
    };
    let inside: String = chars.get(open + 1..close)?.iter().collect();
    let arguments = inside.split(',').map(|argument| argument.trim().to_owned()).collect();
    Some(Suffix { kind: Ok(TokenKind::Score(ScoreText { change, curve, arguments })), end: close + 1 })
}

/// The end of a number such as `-1.5e3` at `at`; `None` without digits.
fn number_end(chars: &[char], at: usize) -> Option<usize> {
    let is_one_of = |at: usize, wanted: &[char]| chars.get(at).is_some_and(|char| wanted.contains(char));
    let digits = |at: usize| (at..).take_while(|&at| chars.get(at).is_some_and(char::is_ascii_digit)).count();
    let whole = at + usize::from(is_one_of(at, &['+', '-']));
    let mut end = whole + digits(whole);
    let mut has_digits = end > whole;
    if is_one_of(end, &['.']) && (has_digits || digits(end + 1) > 0) {
        has_digits = true;
        end += 1 + digits(end + 1);
    }
    let exponent = end + 1 + usize::from(is_one_of(end + 1, &['+', '-']));
    if is_one_of(end, &['e', 'E']) && digits(exponent) > 0 {
        end = exponent + digits(exponent);
    }
    has_digits.then_some(end)
}
