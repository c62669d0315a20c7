//! Snippets: the parts of a text that show why it matches a query, with the matches marked.
//!
//! The text of a document is analyzed again as it was for the index: for the few documents that are shown
//! this takes milliseconds, and the index needs no positions for it. `wanted.rs` takes the terms, patterns
//! and phrases to look for from the plan of the query, in which a fuzzy word is a list of terms. `scan.rs`
//! finds them in the text; terms of a phrase count only where the phrase occurs. `fragments.rs` chooses and
//! cuts the fragments.
//!
//! The work is bounded. Only the first bytes of a text are scanned, one MiB by default. Every distinct word
//! of the text is compared once with every pattern; at most four patterns and four terms of fuzzy words count
//! for it. At most a million places of a phrase are checked. Matches beyond these limits are not found, and a
//! text without matches shows its beginning.

mod fragments;
mod scan;
mod snippet;
#[cfg(test)]
mod tests;
mod wanted;

use std::ops::Range;

use super::searcher::Searcher;
use crate::error::Result;
use crate::query::Query;
use crate::schema::{Analyzer, MAX_TOKEN};
use crate::tokenize::{TokenSink, Tokenizer};
use scan::SnippetScan;
pub use snippet::{Snippet, SnippetOptions};
use wanted::WantedTerms;

/// Number of bytes that are read after the scanned ones, to find out whether the text continues.
const BEHIND: u64 = 64 << 10;

/// Finds snippets for one query in one field.
pub struct Highlighter<'q> {
    wanted: WantedTerms<'q>,
    /// `None` for a field whose values are terms.
    tokenizer: Option<Tokenizer>,
    options: SnippetOptions,
}

impl Searcher<'_> {
    /// Creates a highlighter, which finds snippets for a query in texts of the default field. `analyzer`
    /// finds the terms of the field; `None` for a field whose values are terms.
    ///
    /// # Errors
    /// The same errors as searching for the query.
    pub fn highlighter<'q>(
        &self,
        query: &'q Query,
        analyzer: Option<&Analyzer>,
        options: SnippetOptions,
    ) -> Result<Highlighter<'q>> {
        let wanted = WantedTerms::new(query, &self.fields)?;
        Ok(Highlighter { wanted, tokenizer: analyzer.map(Tokenizer::new), options })
    }
}

impl Highlighter<'_> {
    /// Returns the best fragments of a text, in the order of the text. These are the fragments with the most
    /// distinct and rarest terms of the query; of equally good ones, the first is chosen. For a text without
    /// matches, returns its beginning.
    pub fn snippets(&mut self, text: &[u8]) -> Vec<Snippet> {
        self.snippets_of(text, std::slice::from_ref(&(0..text.len())))
    }

    /// Returns the number of bytes at the front of a text that are needed: the bytes to scan, and some more
    /// to find out whether the text continues.
    pub(crate) fn needs(&self) -> u64 {
        (self.options.scan as u64).saturating_add(BEHIND)
    }

    /// Does the same for a text that consists of several values of a field. A phrase does not extend over two
    /// values.
    pub fn snippets_of(&mut self, text: &[u8], values: &[Range<usize>]) -> Vec<Snippet> {
        let len = fragments::char_before(text, text.len().min(self.options.scan));
        let mut scanned = text[..len].to_vec();
        let mut scan = SnippetScan::new(&mut self.wanted, (len < text.len()).then_some(len));
        for value in values {
            let range = value.start.min(len)..value.end.min(len);
            match &mut self.tokenizer {
                Some(tokenizer) => tokenizer.run(&mut scanned, range, &mut scan),
                None if range.is_empty() => {}
                None => {
                    let end = range.end.min(range.start + MAX_TOKEN);
                    scan.token(&scanned[range.start..end], range);
                }
            }
            scan.end_value();
        }
        let found = scan.finish();
        fragments::choose(text, len, &found, self.wanted.weights(), &self.options)
    }
}
