//! Verifies a segment: every byte against its checksum, every structure, and every figure against the data
//! that it summarizes. `columns.rs` verifies the columns, `documents.rs` the stored documents and vectors.

mod columns;
mod documents;
mod level;

pub use level::CheckLevel;

use super::layout::file_name;
use super::reader::Segment;
use super::terms::TermInfo;
use crate::codec::{Impact, ListCursor, NO_MORE, code_to_tf, length_to_norm};
use crate::error::{Error, Result};
use crate::schema::Postings;
use crate::sys::try_filled;

/// Terms between two calls of `progress`.
const LOOK_EVERY: u64 = 1 << 12;

impl Segment {
    /// Verifies the segment at `level`, and calls `progress` from time to time with the number of bytes
    /// verified so far.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for the first error that is found, and errors from `progress`.
    pub fn check(&self, level: CheckLevel, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        if level >= CheckLevel::Checksums {
            self.envelope().verify(progress)?;
            self.updates().map_or(Ok(()), |updates| updates.verify(progress))?;
        }
        if level >= CheckLevel::Structure {
            self.keys()?.check()?;
            self.check_stored(level, progress)?;
            self.check_columns(progress)?;
            for stats in &self.stats().fields {
                let field = self.in_field(stats.field);
                field.dictionary().check_sparse(&mut || progress(self.bytes()))?;
                let found = field.check_terms(level, progress)?;
                if level >= CheckLevel::Cross {
                    field.check_figures(&found)?;
                }
            }
        }
        Ok(())
    }

    fn wrong(&self, what: String) -> Error {
        Error::corrupt(file_name(self.id()), what)
    }

    /// Reads all terms and postings, and adds them up.
    fn check_terms(
        &self,
        level: CheckLevel,
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<PostingTotals> {
        let max_doc = self.stats().max_doc;
        let lengths = if level >= CheckLevel::Cross { max_doc as usize } else { 0 };
        let mut found =
            PostingTotals { lengths: try_filled(0, lengths, "check lengths")?, terms: 0, tokens: 0 };
        let mut terms = self.terms_from(b"")?;
        let mut before: Vec<u8> = Vec::new();
        while terms.step()? {
            let term = terms.term();
            if found.terms > 0 && *before >= *term {
                return Err(self.wrong(format!("term \"{}\" is out of order", term.escape_ascii())));
            }
            before.clear();
            before.extend_from_slice(term);
            found.terms += 1;
            let info = terms.info();
            self.check_positions(&before, info, terms.positions())?;
            match info {
                TermInfo::Single { doc, term_freq } => {
                    self.check_posting(&mut found, &before, doc, term_freq)?
                }
                list @ TermInfo::List { .. } => self.check_list(&mut found, &before, list, level)?,
            }
            if found.terms.is_multiple_of(LOOK_EVERY) {
                progress(self.bytes())?;
            }
        }
        Ok(found)
    }

    fn check_posting(&self, found: &mut PostingTotals, term: &[u8], doc: u32, term_freq: u32) -> Result<()> {
        let stats = self.stats();
        if doc >= stats.max_doc || term_freq == 0 || stats.void.binary_search(&doc).is_ok() {
            let term = term.escape_ascii();
            return Err(self.wrong(format!("term \"{term}\" lists document {doc}, {term_freq} times")));
        }
        found.tokens += u64::from(term_freq);
        if let Some(length) = found.lengths.get_mut(doc as usize) {
            *length += u64::from(term_freq);
        }
        Ok(())
    }

    fn check_list(
        &self,
        found: &mut PostingTotals,
        term: &[u8],
        list: TermInfo,
        level: CheckLevel,
    ) -> Result<()> {
        let TermInfo::List { doc_freq, total_freq, offset, len } = list else { return Ok(()) };
        let damaged = || self.damaged_list(term);
        let bytes = self.list(offset, len)?;
        let mut cursor = ListCursor::new(bytes, doc_freq, self.stats().max_doc).ok_or_else(damaged)?;
        let (tokens_before, mut seen) = (found.tokens, 0u32);
        while cursor.doc() != NO_MORE {
            let block = cursor.block();
            let impacts = cursor.block_impacts(block);
            let norms = self.norms()?;
            let (docs, freqs) = cursor.rest_of_block();
            for (&doc, &freq) in docs.iter().zip(freqs) {
                self.check_posting(found, term, doc, freq)?;
                let norm = norms.get(doc as usize).copied().unwrap_or(0);
                if level >= CheckLevel::Cross && !impacts.iter().any(|impact| bounds(*impact, freq, norm)) {
                    let term = term.escape_ascii();
                    return Err(self.wrong(format!("document {doc} exceeds the bounds of term \"{term}\"")));
                }
            }
            let count = docs.len();
            seen += u32::try_from(count).unwrap_or(u32::MAX);
            cursor.consume(count);
        }
        let whole = !cursor.corrupt() && seen == doc_freq && found.tokens - tokens_before == total_freq;
        if whole && doc_freq > 1 { Ok(()) } else { Err(damaged()) }
    }

    /// Compares the sums over the postings with the figures and the norms.
    fn check_figures(&self, found: &PostingTotals) -> Result<()> {
        let stats = self.field_stats();
        let with_terms = found.lengths.iter().filter(|&&length| length > 0).count() as u64;
        let counted = (found.terms, found.tokens, with_terms);
        let written = (stats.terms, stats.tokens, stats.documents_with_terms);
        if counted != written {
            return Err(self.wrong(format!(
                "(terms, tokens, documents with terms) of a field are {counted:?}, not {written:?}"
            )));
        }
        if stats.kept == Postings::Documents {
            // The lengths of documents cannot be computed from such postings.
            return Ok(());
        }
        let norms = self.norms()?.iter().zip(&found.lengths).enumerate();
        let mut wrong = norms.filter(|(_, (norm, length))| **norm != length_to_norm(**length));
        match wrong.next() {
            Some((doc, _)) => {
                Err(self.wrong(format!("the length of document {doc} differs from its postings")))
            }
            None => Ok(()),
        }
    }
}

/// The sums over all postings of a field.
struct PostingTotals {
    /// Tokens by document; empty below [`CheckLevel::Cross`].
    lengths: Vec<u64>,
    terms: u64,
    tokens: u64,
}

/// Returns true if an impact bounds a posting.
fn bounds(impact: Impact, freq: u32, norm: u8) -> bool {
    code_to_tf(impact.tf_code) >= freq && impact.norm <= norm
}
