//! Double brackets of wikitext that belong together: `{{ }}` and `[[ ]]`.

use super::regions::WikiRegion;
use memchr::memchr2;
use std::ops::Range;

/// An opening bracket.
struct Open {
    start: usize,
    /// Whether it is one of `{{{`, around a parameter.
    is_triple: bool,
}

/// Pairs of brackets.
#[derive(Default)]
pub(super) struct Pairs {
    /// The places of the pairs, in the order of their starts. They are nested or apart.
    pub(super) places: Vec<Range<usize>>,
    opened: Vec<Open>,
}

impl Pairs {
    /// Finds the pairs outside of regions in one pass. A bracket that has no partner is text.
    pub(super) fn find(text: &[u8], regions: &[WikiRegion], brackets: [u8; 2]) -> Self {
        let mut pairs = Self::default();
        let mut start = 0;
        for region in regions {
            pairs.go_over(text, start..region.place.start, brackets);
            start = region.place.end;
        }
        pairs.go_over(text, start..text.len(), brackets);
        pairs.places.sort_unstable_by_key(|place| place.start);
        pairs
    }

    /// Whether an opening bracket has no partner.
    pub(super) fn is_open(&self) -> bool {
        !self.opened.is_empty()
    }

    /// Goes over the text between two regions.
    fn go_over(&mut self, text: &[u8], gap: Range<usize>, brackets: [u8; 2]) {
        let [open, close] = brackets;
        let text = text.get(..gap.end).unwrap_or(text);
        let mut at = gap.start;
        while let Some(next) = memchr2(open, close, text.get(at..).unwrap_or_default()) {
            let start = at + next;
            let run = text.get(start..).unwrap_or_default();
            let is_opening = run.first() == Some(&open);
            let count = run.iter().take(4).take_while(|byte| Some(*byte) == run.first()).count();
            at = start + count.min(2);
            if count < 2 {
                continue;
            }
            if is_opening {
                let is_triple = count == 3 && open == b'{';
                at += usize::from(is_triple);
                self.opened.push(Open { start, is_triple });
            } else if let Some(opened) = self.opened.pop() {
                at += usize::from(opened.is_triple && count > 2);
                self.places.push(opened.start..at);
            }
        }
    }
}
