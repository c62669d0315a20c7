//! The state of the pass over wikitext, and its steps.

use super::regions::WikiRegion;
use std::ops::Range;

/// The state of the pass.
pub(super) struct Stripper<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) into: &'a mut Vec<u8>,
    pub(super) lines: WikiLines,
    pub(super) regions: Vec<WikiRegion>,
    pub(super) templates: Vec<Range<usize>>,
    pub(super) links: Vec<Range<usize>>,
    /// How many of the regions, templates and links are behind.
    pub(super) passed: [usize; 3],
    pub(super) open_links: Vec<WikiLink>,
    /// The open links to addresses in this line.
    pub(super) addresses: usize,
}

/// What is known of the line.
#[derive(Clone, Debug, Default)]
pub(super) struct WikiLines {
    /// How many tables are open.
    pub(super) tables: usize,
    /// Where the `=` after a heading begin.
    pub(super) heading_end: Option<usize>,
    /// Where the line ends.
    pub(super) end: usize,
    /// The place of the last `]` of the line.
    pub(super) last_close: Option<usize>,
}

impl WikiLines {
    /// Whether the line has a `]` after a place.
    pub(super) fn closes_after(&self, at: usize) -> bool {
        self.last_close.is_some_and(|close| close > at)
    }
}

/// What a link is to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkTarget {
    Page,
    File,
    Category,
}

/// A link whose end was not reached.
pub(super) struct WikiLink {
    pub(super) target: LinkTarget,
    /// The place of its `]]`.
    pub(super) end: usize,
    /// Where its text begins in the output.
    pub(super) text: usize,
    /// Where the output was at its first `|`.
    pub(super) bar: Option<usize>,
}

impl Stripper<'_> {
    /// The text from here on.
    pub(super) fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn follows(&self, mark: &[u8]) -> bool {
        self.rest().starts_with(mark)
    }

    /// The number of bytes from here on that are among `bytes`.
    pub(super) fn run_of(&self, bytes: &[u8]) -> usize {
        self.rest().iter().take_while(|byte| bytes.contains(byte)).count()
    }

    /// Appends bytes as they are.
    pub(super) fn push(&mut self, length: usize) {
        let end = self.text.len().min(self.at + length);
        self.into.extend_from_slice(self.text.get(self.at..end).unwrap_or_default());
        self.at = end;
    }
}

/// The place that starts at `at`; those before it are behind.
pub(super) fn starting(places: &[Range<usize>], passed: &mut usize, at: usize) -> Option<Range<usize>> {
    let rest = places.get(*passed..).unwrap_or_default();
    *passed += rest.iter().take_while(|place| place.start < at).count();
    places.get(*passed).filter(|place| place.start == at).cloned()
}
