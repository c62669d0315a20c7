//! The text of parts of a query, in query syntax.

use std::ops::Bound;

use crate::query::{Pattern, PhraseQuery, Query, WildcardPart};

/// A term, on one line.
pub(super) fn term(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for char in String::from_utf8_lossy(bytes).chars() {
        if char.is_control() {
            text.extend(char.escape_default());
        } else {
            text.push(char);
        }
    }
    text
}

/// The query without the boosts around it, which the plan has merged into its nodes.
pub(super) fn bare(query: &Query) -> &Query {
    match query {
        Query::Boost(inner, _) => bare(inner),
        _ => query,
    }
}

pub(super) fn phrase(phrase: &PhraseQuery) -> String {
    let words: Vec<String> = phrase.terms.iter().map(|(_, word)| term(word)).collect();
    let moved = if phrase.slop > 0 { format!("~{}", phrase.slop) } else { String::new() };
    format!("\"{}\"{moved}", words.join(" "))
}

pub(super) fn pattern(pattern: &Pattern) -> String {
    let bound = |bound: &Bound<Vec<u8>>| match bound {
        Bound::Unbounded => "*".to_owned(),
        Bound::Included(to) | Bound::Excluded(to) => term(to),
    };
    match pattern {
        Pattern::Prefix(prefix) => format!("{}*", term(prefix)),
        Pattern::Wildcard(parts) => {
            let written = |part: &WildcardPart| match part {
                WildcardPart::Text(text) => term(text),
                WildcardPart::AnyChar => "?".to_owned(),
                WildcardPart::Anything => "*".to_owned(),
            };
            parts.iter().map(written).collect()
        }
        Pattern::Regex(text) => format!("re\"{}\"", term(text.as_bytes())),
        Pattern::Fuzzy { term: word, edits, .. } => format!("{}~{edits}", term(word.as_bytes())),
        Pattern::Range(from, to) => {
            let open = if matches!(from, Bound::Excluded(_)) { '{' } else { '[' };
            let close = if matches!(to, Bound::Excluded(_)) { '}' } else { ']' };
            format!("{open}{} TO {}{close}", bound(from), bound(to))
        }
        Pattern::Set(terms) => {
            let terms: Vec<String> = terms.iter().map(|word| term(word)).collect();
            format!("in({})", terms.join(" "))
        }
    }
}
