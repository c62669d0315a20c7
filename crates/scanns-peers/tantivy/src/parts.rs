//! Identifiers of programs and their parts, as the analyzer `code` of scanns divides them.

use std::ops::Range;

/// The class of a character in an identifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Digit,
    /// Any other letter.
    Lower,
    Joint,
}

fn class(c: char) -> Class {
    match c {
        '_' => Class::Joint,
        'a'..='z' => Class::Lower,
        'A'..='Z' => Class::Upper,
        '0'..='9' => Class::Digit,
        _ if c.is_uppercase() => Class::Upper,
        _ if c.is_numeric() => Class::Digit,
        _ => Class::Lower,
    }
}

/// The first run of letters, numbers and `_` from `at` on.
pub fn identifier(text: &str, at: usize) -> Option<Range<usize>> {
    let inside = |c: char| c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii() && c.is_alphanumeric();
    let start = at + text[at..].find(inside)?;
    let end = text[start..].find(|c| !inside(c)).map_or(text.len(), |length| start + length);
    Some(start..end)
}

/// Finds the parts of the identifier at `place`. A part starts after `_` and at a capital that starts a word:
/// one after another letter or a digit, or the last of several before a small letter.
pub fn find_parts(text: &str, place: Range<usize>, parts: &mut Vec<Range<usize>>) {
    parts.clear();
    let (mut start, mut last) = (place.start, place.start);
    let (mut before, mut before_that) = (Class::Joint, Class::Joint);
    let mut end_at = |start: usize, end: usize| parts.extend((start < end).then_some(start..end));
    for (at, c) in text[place.clone()].char_indices() {
        let at = place.start + at;
        let class = class(c);
        if before == Class::Joint {
            start = at;
        } else if class == Class::Joint || class == Class::Upper && before != Class::Upper {
            end_at(start, at);
            start = at;
        } else if class == Class::Lower && before == Class::Upper && before_that == Class::Upper {
            end_at(start, last);
            start = last;
        }
        (before_that, before, last) = (before, class, at);
    }
    if before != Class::Joint {
        end_at(start, place.end);
    }
}
