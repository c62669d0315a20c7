//! The regions of wikitext in which nothing else is markup: comments, references, and literal text.
//!
//! One pass finds them in order; none is inside of another. For one that has no end, the search fails once
//! for each kind, and its start is text or a tag as any other.

use crate::record::corpus::tags::tag_at;
use crate::record::deviations::Deviations;
use memchr::{memchr, memmem};
use std::ops::Range;

/// The elements with literal text, and their ends.
const LITERALS: [(&[u8], &[u8]); 6] = [
    (b"nowiki", b"</nowiki>"),
    (b"math", b"</math>"),
    (b"chem", b"</chem>"),
    (b"pre", b"</pre>"),
    (b"source", b"</source>"),
    (b"syntaxhighlight", b"</syntaxhighlight>"),
];
const COMMENT: usize = LITERALS.len();
const REFERENCE: usize = COMMENT + 1;

/// A region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WikiRegion {
    /// Its place with its tags.
    pub(super) place: Range<usize>,
    /// The place of the literal text in it, which is empty if nothing of it is text.
    pub(super) literal: Range<usize>,
}

/// Finds all regions.
pub(super) fn regions(text: &[u8], deviations: &mut Deviations) -> Vec<WikiRegion> {
    let mut found = Vec::new();
    let mut is_endless = [false; REFERENCE + 1];
    let mut at = 0;
    while let Some(next) = memchr(b'<', text.get(at..).unwrap_or_default()) {
        let start = at + next;
        at = start + 1;
        let Some((kind, content, end_tag)) = region_start(text, start) else {
            continue;
        };
        let Some(flag) = is_endless.get_mut(kind).filter(|flag| !**flag) else {
            continue;
        };
        let Some(length) = memmem::find(text.get(content..).unwrap_or_default(), end_tag) else {
            *flag = true;
            deviations.add("comment, reference or literal text without end");
            continue;
        };
        let literal = if kind < COMMENT { content..content + length } else { content..content };
        at = content + length + end_tag.len();
        found.push(WikiRegion { place: start..at, literal });
    }
    found
}

/// The kind of the region that begins at a `<`, the place of its content, and what ends it.
fn region_start(text: &[u8], start: usize) -> Option<(usize, usize, &'static [u8])> {
    if text.get(start..)?.starts_with(b"<!--") {
        return Some((COMMENT, start + 4, b"-->"));
    }
    let tag = tag_at(text, start).filter(|tag| !tag.is_end && !tag.is_empty_element())?;
    if tag.opens(b"ref") {
        return Some((REFERENCE, tag.end, b"</ref>"));
    }
    let kind = LITERALS.iter().position(|literal| tag.opens(literal.0))?;
    Some((kind, tag.end, LITERALS.get(kind)?.1))
}
