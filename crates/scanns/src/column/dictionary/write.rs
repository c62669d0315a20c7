//! Writes a dictionary as its terms come: a chapter is gathered, its table trained, its blocks written.

use crate::codec::{EndsWriter, Matcher, SAMPLE, SymbolTable, sample};
use crate::error::{Error, Result};
use crate::store::EnvelopeWriter;

use super::block::{BLOCK, BlockWriter, common};
use super::guide::GuideWriter;
use super::{CHAPTER, MAX_TERM, MAX_TERMS};

/// Bytes of terms that are gathered at most: a table is trained on what there is then.
const GATHERED: usize = 4 << 20;

/// See the module.
#[derive(Debug, Default)]
pub struct DictionaryWriter {
    /// Terms that wait to be written, one behind the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    /// What compresses in this chapter, as soon as it is known.
    matcher: Option<Matcher>,
    /// Terms that were written, all in whole blocks.
    written: usize,
    /// Bytes that were written.
    len: u64,
    blocks: EndsWriter,
    guide: GuideWriter,
    /// The last term of the last block.
    last: Vec<u8>,
    writer: BlockWriter,
    out: Vec<u8>,
}

impl DictionaryWriter {
    /// A dictionary without terms.
    pub fn new() -> Self {
        DictionaryWriter::default()
    }

    /// How many terms there are so far; the next one has this number.
    pub fn len(&self) -> usize {
        self.written + self.ends.len()
    }

    /// Appends `term`, which is greater than all before it, to the section of terms, which the caller has begun in
    /// `sink`.
    ///
    /// # Errors
    /// [`Error::Options`] if there are too many terms or this one is too long, and what writing fails with.
    pub fn push(&mut self, term: &[u8], sink: &mut EnvelopeWriter) -> Result<()> {
        if term.len() > MAX_TERM || self.len() >= MAX_TERMS {
            let (len, many) = (term.len(), self.len());
            return Err(Error::Options(format!(
                "a dictionary has at most {MAX_TERMS} terms of {MAX_TERM} bytes, this would be one of {len} bytes \
                 after {many} others: use shorter values, or a smaller segment"
            )));
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

    /// The terms of a range of those that wait.
    fn terms(&self, range: std::ops::RangeFrom<usize>) -> impl Iterator<Item = &[u8]> {
        let before = range.start.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let mut start = before.unwrap_or(0);
        self.ends.get(range).unwrap_or_default().iter().map(move |&end| {
            let term = self.text.get(start..end).unwrap_or_default();
            start = end;
            term
        })
    }

    /// Writes all whole blocks, and if these are all terms, what is left.
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

    /// Writes what is left, and the index as a section of kind `index`; returns how many terms there are.
    ///
    /// # Errors
    /// What writing fails with.
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

/// A table for blocks of `terms`: it is trained on what these keep.
fn train(terms: &[&[u8]]) -> SymbolTable {
    let kept = terms.chunks(BLOCK).flat_map(|block| {
        let before = std::iter::once(&[][..]).chain(block.iter().copied());
        before.zip(block).map(|(before, term)| term.get(common(before, term)..).unwrap_or_default())
    });
    let total = kept.clone().map(<[u8]>::len).sum();
    SymbolTable::train(&sample(kept, total, SAMPLE))
}
