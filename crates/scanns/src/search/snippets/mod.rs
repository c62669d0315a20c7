//! Snippets: the parts of a text that show why it answers a query, with what was found marked.
//!
//! In comes the text of a document, from wherever it is kept, out come its best fragments. The text is analyzed
//! again, as it was when it was indexed, since that is a matter of milliseconds for the few documents that are shown,
//! and needs nothing in the index. `wanted.rs` has what to look for, from the plan of the query: terms, fuzzy ones
//! among them as the terms that the query became, patterns, and phrases. `scan.rs` finds it in the text: terms of
//! phrases count only where the phrase stands. `fragments.rs` chooses and cuts.
//!
//! The work is bounded: of a text so many bytes are looked at as the options say, a MiB if nothing else is said;
//! every different word of it is compared once with every pattern, at most four of which count for it, as of the
//! terms that fuzzy words became; and of a phrase at most a million places. What stands beyond that is not found, and a text in which nothing is found shows
//! its beginning.

mod fragments;
mod scan;
#[cfg(test)]
mod tests;
mod wanted;

use std::ops::Range;

use super::Searcher;
use super::query::Query;
use crate::error::Result;
use crate::schema::Analyzer;
use crate::tokenize::{MAX_TOKEN, TokenSink, Tokenizer};
use scan::Scan;
use wanted::Wanted;

/// Bytes behind those that are looked at, in which it shows whether the text goes on.
const BEHIND: u64 = 64 << 10;

/// What snippets are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnippetOptions {
    /// Bytes that a fragment may have, from 16 to 65,536; what is beyond is taken for these.
    pub length: usize,
    /// Fragments of a document, at most 64.
    pub fragments: usize,
    /// Bytes at the front of a document that are looked at.
    pub scan: usize,
}

impl Default for SnippetOptions {
    fn default() -> Self {
        SnippetOptions { length: 160, fragments: 2, scan: 1 << 20 }
    }
}

impl SnippetOptions {
    fn length(&self) -> usize {
        self.length.clamp(16, 1 << 16)
    }
}

/// A fragment of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The bytes of it as they stand in the text, which need not be UTF-8. No character is cut.
    pub text: Vec<u8>,
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// What was found, in bytes of the fragment: in order, without overlaps, none empty.
    pub marks: Vec<Range<usize>>,
    /// True if more of the text follows than white space, as far as it was read.
    pub goes_on: bool,
}

impl Snippet {
    /// The fragment with something in front of each mark, and something behind it.
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

/// Finds snippets for one query in one field.
pub struct Highlighter<'q> {
    wanted: Wanted<'q>,
    /// Of a field that is searched as a whole there is none.
    tokenizer: Option<Tokenizer>,
    options: SnippetOptions,
}

impl Searcher<'_> {
    /// Prepares to find snippets for a query in text of the field that is searched where none is named, whose terms
    /// `analyzer` finds; `None` for a field whose values are terms.
    ///
    /// # Errors
    /// Those of searching for the query.
    pub fn highlighter<'q>(
        &self,
        query: &'q Query,
        analyzer: Option<&Analyzer>,
        options: SnippetOptions,
    ) -> Result<Highlighter<'q>> {
        let wanted = Wanted::new(query, &self.fields)?;
        Ok(Highlighter { wanted, tokenizer: analyzer.map(Tokenizer::new), options })
    }
}

impl Highlighter<'_> {
    /// The best fragments of a text, in its order: those with the most different terms of the query, the rarer the
    /// better, and of equal ones the first. Without any, the beginning of the text.
    pub fn snippets(&mut self, text: &[u8]) -> Vec<Snippet> {
        self.snippets_of(text, std::slice::from_ref(&(0..text.len())))
    }

    /// Bytes at the front of a text that it needs: those that it looks at, and some to tell how it goes on.
    pub(crate) fn needs(&self) -> u64 {
        (self.options.scan as u64).saturating_add(BEHIND)
    }

    /// The same for a text of several values of a field: a phrase does not go from one into the next.
    pub fn snippets_of(&mut self, text: &[u8], values: &[Range<usize>]) -> Vec<Snippet> {
        let len = fragments::char_before(text, text.len().min(self.options.scan));
        let mut looked_at = text[..len].to_vec();
        let mut scan = Scan::new(&mut self.wanted, (len < text.len()).then_some(len));
        for value in values {
            let range = value.start.min(len)..value.end.min(len);
            match &mut self.tokenizer {
                Some(tokenizer) => tokenizer.run(&mut looked_at, range, &mut scan),
                None if range.is_empty() => {}
                None => {
                    let end = range.end.min(range.start + MAX_TOKEN);
                    scan.token(&looked_at[range.start..end], range);
                }
            }
            scan.end_value();
        }
        let found = scan.finish();
        fragments::choose(text, len, &found, self.wanted.weights(), &self.options)
    }
}
