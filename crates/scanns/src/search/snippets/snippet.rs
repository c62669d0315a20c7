//! A snippet, and the options for making one.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Options for making snippets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnippetOptions {
    /// The maximum number of bytes of a fragment; clamped to 16 to 65,536.
    pub length: usize,
    /// The maximum number of fragments of a document, up to 64.
    pub fragments: usize,
    /// The number of bytes to scan at the front of a document.
    pub scan: usize,
}

impl Default for SnippetOptions {
    fn default() -> Self {
        SnippetOptions { length: 160, fragments: 2, scan: 1 << 20 }
    }
}

impl SnippetOptions {
    /// Returns the maximum number of bytes of a fragment.
    pub(super) fn fragment_bytes(&self) -> usize {
        self.length.clamp(16, 1 << 16)
    }
}

/// A fragment of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    /// The bytes of the fragment, which need not be valid UTF-8. No character is cut.
    #[serde(with = "serde_bytes")]
    pub text: Vec<u8>,
    /// The start of the fragment in the text, in bytes.
    pub start: usize,
    /// The matches, as ranges of bytes of the fragment: in order, without overlaps, none empty.
    pub marks: Vec<Range<usize>>,
    /// Whether the text contains more than white space after the fragment, as far as it was read.
    pub goes_on: bool,
}

impl Snippet {
    /// Returns the fragment with `open` before each mark and `close` after it.
    pub fn marked(&self, open: &[u8], close: &[u8]) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.text.len() + self.marks.len() * (open.len() + close.len()));
        let mut at = 0;
        for mark in &self.marks {
            all.extend_from_slice(&self.text[at..mark.start]);
            all.extend_from_slice(open);
            all.extend_from_slice(&self.text[mark.clone()]);
            all.extend_from_slice(close);
            at = mark.end;
        }
        all.extend_from_slice(&self.text[at..]);
        all
    }
}
