//! Sorted terms that patterns are matched against: the terms of a leaf, or the dictionary of a column.

use crate::column::{DictionaryReader, TermCursor};
use crate::error::Result;
use crate::search::leaf::{Leaf, TermRef, TermStream};
use crate::segment::TermBlocks;

/// The number of terms of a dictionary that are stepped over before a term is looked up: a look-up takes as
/// long as some thirty steps.
const NEAR: usize = 32;

/// Terms in the order of their bytes.
#[derive(Clone, Copy)]
pub(crate) enum SortedTerms<'a> {
    Leaf(&'a dyn Leaf),
    /// The terms of a column. [`TermRef::handle`] has the number of the term.
    Dictionary(&'a DictionaryReader),
}

impl<'a> From<&'a dyn Leaf> for SortedTerms<'a> {
    fn from(leaf: &'a dyn Leaf) -> Self {
        SortedTerms::Leaf(leaf)
    }
}

impl<'a> From<&'a DictionaryReader> for SortedTerms<'a> {
    fn from(terms: &'a DictionaryReader) -> Self {
        SortedTerms::Dictionary(terms)
    }
}

impl<'a> SortedTerms<'a> {
    /// A cursor before the first term.
    pub(super) fn stream(self) -> Result<Box<dyn TermStream + 'a>> {
        match self {
            SortedTerms::Leaf(leaf) => leaf.terms(),
            SortedTerms::Dictionary(terms) => {
                Ok(Box::new(DictionaryTerms { terms, cursor: terms.cursor_from(0), current: None }))
            }
        }
    }

    /// The terms in blocks, if they are in a segment.
    pub(super) fn blocks(self) -> Option<TermBlocks<'a>> {
        match self {
            SortedTerms::Leaf(leaf) => leaf.term_blocks(),
            SortedTerms::Dictionary(_) => None,
        }
    }

    /// Looks up a term.
    pub(super) fn find(self, term: &[u8]) -> Result<Option<TermRef>> {
        match self {
            SortedTerms::Leaf(leaf) => leaf.find(term),
            SortedTerms::Dictionary(terms) => Ok(terms.find(term)?.ok().map(numbered)),
        }
    }
}

/// A reference to a term of a dictionary.
fn numbered(number: u32) -> TermRef {
    TermRef { handle: [number.into(), 0], ..TermRef::default() }
}

/// A cursor over the terms of a dictionary.
struct DictionaryTerms<'d> {
    terms: &'d DictionaryReader,
    cursor: TermCursor<'d>,
    /// The number of the current term; `None` before the first.
    current: Option<u32>,
}

impl TermStream for DictionaryTerms<'_> {
    fn step(&mut self) -> Result<bool> {
        let next = self.cursor.next()?.map(|(number, _)| number);
        self.current = next.or(self.current);
        Ok(next.is_some())
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        if self.current.is_some() {
            for _ in 0..NEAR {
                if self.cursor.term() >= target {
                    return Ok(true);
                }
                if !self.step()? {
                    return Ok(false);
                }
            }
        }
        let (Ok(number) | Err(number)) = self.terms.find(target)?;
        if number >= self.terms.len() {
            return Ok(false);
        }
        self.cursor.seek(number)?;
        self.current = Some(number);
        Ok(true)
    }

    fn term(&self) -> &[u8] {
        self.cursor.term()
    }

    fn found(&mut self) -> Result<TermRef> {
        Ok(self.current.map(numbered).unwrap_or_default())
    }
}
