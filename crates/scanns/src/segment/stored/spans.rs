//! Where documents are in their files, for an index that keeps references to them.
//!
//! ```text
//! spans  = block …                                                 section 36
//! block  = (varint(length << 1 | jumps) | varint(jump)?) …         128 documents, the last block may have fewer
//! places = kind u32 (0: documents are files, 1: spans say) | documents u32 | offset u64 …        section 37
//! ```
//!
//! A span begins where the one before it in the block ended, one byte for the line feed included, the first at 0, unless it
//! jumps: then a varint follows, the distance in zigzag form (0, -1, 1, -2, …). There is an offset for each block. A
//! document that is a whole file has a span of length 0 at 0. Where all documents are files, there are no blocks.

use super::{BlockSink, SPAN_PLACES, SPANS};
use crate::codec::{ByteReader, put_varint};
use crate::error::{Error, Result};
use crate::store::{Envelope, EnvelopeWriter, Section};

/// Documents of a block.
const BLOCK: usize = 128;
/// Bytes before the first offset.
const HEAD: usize = 8;

/// Start and length in bytes.
pub(super) type Span = (u64, u64);

/// Writes spans as they come.
pub(super) struct SpanWriter {
    by_line: bool,
    docs: u32,
    /// Where the next span begins, if it does not jump.
    next: u64,
    block: Vec<u8>,
    written: u64,
    places: Vec<u8>,
}

impl SpanWriter {
    /// `by_line` is false if all documents are files.
    pub(super) fn new(by_line: bool) -> Self {
        SpanWriter { by_line, docs: 0, next: 0, block: Vec::new(), written: 0, places: Vec::new() }
    }

    /// Begins the section of spans.
    pub(super) fn begin(&self, out: &mut EnvelopeWriter) -> Result<()> {
        out.begin(SPANS)
    }

    /// Bytes of memory taken.
    pub(super) fn bytes(&self) -> usize {
        self.places.capacity()
    }

    /// The next document.
    #[inline]
    pub(super) fn push(&mut self, (start, len): Span, out: &mut impl BlockSink) -> Result<()> {
        if !self.by_line {
            self.docs += 1;
            return Ok(());
        }
        if (self.docs as usize).is_multiple_of(BLOCK) {
            self.send(out)?;
            self.places.extend_from_slice(&self.written.to_le_bytes());
            self.next = 0;
        }
        let jump = start.wrapping_sub(self.next).cast_signed();
        put_varint(&mut self.block, len << 1 | u64::from(jump != 0));
        if jump != 0 {
            put_varint(&mut self.block, ((jump << 1) ^ (jump >> 63)).cast_unsigned());
        }
        self.next = start.wrapping_add(len).wrapping_add(1);
        self.docs += 1;
        Ok(())
    }

    fn send(&mut self, out: &mut impl BlockSink) -> Result<()> {
        self.written += self.block.len() as u64;
        out.take(&self.block)?;
        self.block.clear();
        Ok(())
    }

    /// Hands the last block on; returns the bytes of all.
    pub(super) fn seal(&mut self, out: &mut impl BlockSink) -> Result<u64> {
        self.send(out)?;
        Ok(self.written)
    }

    /// Writes what is left, with the places, and begins again.
    pub(super) fn finish(&mut self, out: &mut EnvelopeWriter) -> Result<()> {
        self.seal(out)?;
        out.begin(SPAN_PLACES)?;
        out.write(&u32::from(self.by_line).to_le_bytes())?;
        out.write(&self.docs.to_le_bytes())?;
        out.write(&self.places)?;
        self.places.clear();
        (self.docs, self.next, self.written) = (0, 0, 0);
        Ok(())
    }
}

/// Reads spans.
#[derive(Clone, Copy)]
pub(super) struct SpanReader<'a> {
    spans: &'a Section,
    places: &'a Section,
    by_line: bool,
    docs: u32,
}

impl<'a> SpanReader<'a> {
    /// The references of a file, if it has some, to `max_doc` documents.
    pub(super) fn open(file: &'a Envelope, max_doc: u32) -> Result<Option<Self>> {
        let Ok(places) = file.section(SPAN_PLACES) else { return Ok(None) };
        let spans = file.section(SPANS)?;
        let wrong = || places.corrupt("the places of its documents do not fit them");
        let mut head = ByteReader::new(places.get(0..HEAD)?);
        let (Some(kind @ 0..=1), Some(docs)) = (head.u32(), head.u32()) else { return Err(wrong()) };
        let by_line = kind == 1;
        let blocks = if by_line { (docs as usize).div_ceil(BLOCK) } else { 0 };
        let fits = docs == max_doc && places.len() - HEAD == blocks * 8 && (by_line || spans.len() == 0);
        if fits { Ok(Some(SpanReader { spans, places, by_line, docs })) } else { Err(wrong()) }
    }

    /// True if documents are lines, or were in one of the segments that this one was merged from.
    pub(super) fn has_spans(&self) -> bool {
        self.by_line
    }

    /// Bytes of all sections.
    pub(super) fn bytes(&self) -> u64 {
        (self.spans.len() + self.places.len()) as u64
    }

    fn damaged(&self, block: usize) -> Error {
        self.spans.corrupt(format!("block {block} of the places of its documents cannot be read"))
    }

    /// Where a block begins.
    fn place(&self, block: usize) -> Result<Option<usize>> {
        let at = HEAD + block * 8;
        if at >= self.places.len() {
            return Ok(Some(self.spans.len()));
        }
        let offset = ByteReader::new(self.places.get(at..at + 8)?).u64();
        Ok(offset.and_then(|offset| usize::try_from(offset).ok()))
    }

    /// The bytes of a block.
    fn block(&self, block: usize) -> Result<ByteReader<'a>> {
        match (self.place(block)?, self.place(block + 1)?) {
            (Some(start), Some(end)) if start <= end => Ok(ByteReader::new(self.spans.get(start..end)?)),
            _ => Err(self.damaged(block)),
        }
    }

    /// Where a document is in its file; `None` if it is a whole file.
    pub(super) fn get(&self, doc: u32) -> Result<Option<Span>> {
        if !self.by_line {
            return Ok(None);
        }
        let (block, mut next, mut span) = (doc as usize / BLOCK, 0, None);
        let mut reader = self.block(block)?;
        for _ in 0..=doc as usize % BLOCK {
            span = Some(read_span(&mut reader, &mut next).ok_or_else(|| self.damaged(block))?);
        }
        Ok(span)
    }

    /// Calls `visit` with every document and its span, in order.
    pub(super) fn each(&self, mut visit: impl FnMut(u32, Span) -> Result<()>) -> Result<()> {
        if !self.by_line {
            return (0..self.docs).try_for_each(|doc| visit(doc, (0, 0)));
        }
        for (block, first) in (0..self.docs).step_by(BLOCK).enumerate() {
            let (mut reader, mut next) = (self.block(block)?, 0);
            for doc in (first..self.docs).take(BLOCK) {
                visit(doc, read_span(&mut reader, &mut next).ok_or_else(|| self.damaged(block))?)?;
            }
            if !reader.remaining().is_empty() {
                return Err(self.damaged(block));
            }
        }
        if self.place(0)? == Some(0) || self.docs == 0 { Ok(()) } else { Err(self.damaged(0)) }
    }
}

fn read_span(reader: &mut ByteReader<'_>, next: &mut u64) -> Option<Span> {
    let len = reader.varint()?;
    let jump = if len & 1 == 1 { reader.varint()? } else { 0 };
    let start = next.wrapping_add((jump >> 1) ^ (jump & 1).wrapping_neg());
    let (start, len) = (start, len >> 1);
    *next = start.checked_add(len)?.checked_add(1)?;
    Some((start, len))
}
