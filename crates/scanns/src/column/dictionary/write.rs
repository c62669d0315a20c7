//! Writes a dictionary as its terms come. A chapter is gathered, its table is trained, and its blocks are
//! written.

use crate::codec::{EndsWriter, Matcher, SAMPLE, SymbolTable, common_prefix, sample};
use crate::error::{Error, Result};
use crate::store::EnvelopeWriter;

use super::block::{BLOCK, DictionaryBlockWriter};
use super::guide::GuideWriter;
use super::limits::{CHAPTER, MAX_TERM, MAX_TERMS};

/// Maximum number of bytes of terms that are gathered before a table is trained on them.
const GATHERED: usize = 4 << 20;

/// Writes a dictionary.
#[derive(Debug, Default)]
pub struct DictionaryWriter {
    /// The bytes of the terms that wait to be written.
    text: Vec<u8>,
    /// The end of each of them.
    ends: Vec<usize>,
    /// The matcher of the table of the current chapter, once it is trained.
    matcher: Option<Matcher>,
    /// Number of terms that were written, all in whole blocks.
    written: usize,
    /// Number of bytes that were written.
    len: u64,
    blocks: EndsWriter,
    guide: GuideWriter,
    /// The last term of the last block.
    last: Vec<u8>,
    writer: DictionaryBlockWriter,
    out: Vec<u8>,
}

impl DictionaryWriter {
    /// A dictionary without terms.
    pub fn new() -> Self {
        DictionaryWriter::default()
    }

    /// Number of terms so far, which is the number of the next term.
    pub fn len(&self) -> usize {
        self.written + self.ends.len()
    }

    /// Appends `term` to the section of terms, which the caller must have begun in `sink`. The term must be
    /// greater than all earlier terms.
    ///
    /// # Errors
    /// [`Error::TooMany`] if there are too many terms, [`Error::InvalidValue`] if this one is too long, and
    /// errors from writing.
    pub fn push(&mut self, term: &[u8], sink: &mut EnvelopeWriter) -> Result<()> {
        if term.len() > MAX_TERM {
            let expected = format!("at most {MAX_TERM} bytes");
            return Err(Error::invalid("length of a keyword", term.len(), expected));
        }
        if self.len() >= MAX_TERMS {
            return Err(Error::TooMany {
                what: "distinct values in one segment",
                limit: MAX_TERMS as u64,
                remedy: "write smaller segments",
            });
        }
        debug_assert!(self.terms(self.ends.len().saturating_sub(1)..).all(|before| before < term));
        self.text.extend_from_slice(term);
        self.ends.push(self.text.len());
        let in_chapter = self.len() % (CHAPTER * BLOCK);
        if in_chapter == 0 || self.text.len() >= GATHERED {
            self.flush(false, sink)?;
        }
        Ok(())
    }

    /// A range of the terms that wait.
    fn terms(&self, range: std::ops::RangeFrom<usize>) -> impl Iterator<Item = &[u8]> {
        let before = range.start.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let mut start = before.unwrap_or(0);
        self.ends.get(range).unwrap_or_default().iter().map(move |&end| {
            let term = self.text.get(start..end).unwrap_or_default();
            start = end;
            term
        })
    }

    /// Writes all whole blocks, and the last block too if `all` is true.
    fn flush(&mut self, all: bool, sink: &mut EnvelopeWriter) -> Result<()> {
        let mut writer = std::mem::take(&mut self.writer);
        let (mut out, mut last) = (std::mem::take(&mut self.out), std::mem::take(&mut self.last));
        let mut guide = std::mem::take(&mut self.guide);
        let (mut matcher, mut blocks) = (self.matcher.take(), Vec::new());
        let terms: Vec<&[u8]> = self.terms(0..).collect();
        let now = if all { terms.len() } else { terms.len() / BLOCK * BLOCK };
        let (now, rest) = terms.split_at_checked(now).unwrap_or_default();
        let mut written = self.written;
        out.clear();
        for block in now.chunks(BLOCK) {
            let matcher = matcher.get_or_insert_with(|| {
                let table = train(now);
                table.encode(&mut out);
                table.matcher()
            });
            writer.write(block, matcher, &mut out);
            guide.push(block.first().copied().unwrap_or_default());
            blocks.push(self.len + out.len() as u64);
            written += block.len();
        }
        if let Some(term) = now.last() {
            last.clear();
            last.extend_from_slice(term);
        }
        if written.is_multiple_of(CHAPTER * BLOCK) {
            matcher = None;
        }
        let kept: Vec<usize> = rest.iter().map(|term| term.len()).collect();
        let from = self.text.len() - kept.iter().sum::<usize>();
        self.text.drain(..from);
        self.ends.clear();
        let mut end = 0;
        self.ends.extend(kept.iter().map(|len| {
            end += len;
            end
        }));
        sink.write(&out)?;
        self.len += out.len() as u64;
        blocks.into_iter().for_each(|end| self.blocks.push(end));
        (self.written, self.matcher, self.guide, self.last) = (written, matcher, guide, last);
        (self.writer, self.out) = (writer, out);
        Ok(())
    }

    /// Writes the last block, and the index as section `index`; returns the number of terms.
    ///
    /// # Errors
    /// Errors from writing.
    pub fn finish(mut self, index: u32, sink: &mut EnvelopeWriter) -> Result<u32> {
        self.flush(true, sink)?;
        sink.begin(index)?;
        for level in std::mem::take(&mut self.guide).finish(&self.last) {
            sink.write(&level)?;
        }
        let mut ends = Vec::new();
        std::mem::take(&mut self.blocks).finish(&mut ends);
        sink.write(&ends)?;
        sink.write(&(self.written as u64).to_le_bytes())?;
        Ok(u32::try_from(self.written).unwrap_or(u32::MAX))
    }
}

/// Trains a table for blocks of `terms`, on the bytes that the blocks store.
fn train(terms: &[&[u8]]) -> SymbolTable {
    let kept = terms.chunks(BLOCK).flat_map(|block| {
        let before = std::iter::once(&[][..]).chain(block.iter().copied());
        before.zip(block).map(|(before, term)| term.get(common_prefix(before, term)..).unwrap_or_default())
    });
    let total = kept.clone().map(<[u8]>::len).sum();
    SymbolTable::train(&sample(kept, total, SAMPLE))
}
