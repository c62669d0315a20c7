//! The places of documents in their files, for an index that stores references instead of text.
//!
//! ```text
//! spans  = block …                                             section 36
//! block  = (varint(length << 1 | jumps) | varint(jump)?) …     128 documents, fewer in the last block
//! places = kind u32 | documents u32 | offset u64 …             section 37
//! kind   = 0: documents are files, 1: documents have spans
//! ```
//!
//! The first span of a block begins at 0, each following one a byte after the end of the span before, where
//! the line feed is. A span that begins elsewhere jumps: a varint with the distance in zigzag form (0, -1, 1,
//! -2, …) follows. There is an offset for each block. A document that is a whole file has a span of length 0
//! at 0. If all documents are files, there are no blocks.

use crate::codec::{ByteReader, put_varint};
use crate::column::BlockSink;
use crate::error::{Error, Result};
use crate::segment::layout::{SPAN_PLACES, SPANS};
use crate::store::{Envelope, EnvelopeWriter, Section};

/// Documents of a block.
const BLOCK: usize = 128;
/// Bytes before the first offset.
const HEAD: usize = 8;

/// Start and length in bytes.
pub(in crate::segment) type TextSpan = (u64, u64);

/// Writes spans in sequence.
pub(in crate::segment) struct SpanWriter {
    by_line: bool,
    docs: u32,
    /// Start of the next span, unless it jumps.
    next: u64,
    block: Vec<u8>,
    written: u64,
    places: Vec<u8>,
}

impl SpanWriter {
    /// Creates a writer; `by_line` is false if all documents are files.
    pub(in crate::segment) fn new(by_line: bool) -> Self {
        SpanWriter { by_line, docs: 0, next: 0, block: Vec::new(), written: 0, places: Vec::new() }
    }

    /// Begins the section of spans.
    pub(in crate::segment) fn begin(&self, out: &mut EnvelopeWriter) -> Result<()> {
        out.begin(SPANS)
    }

    /// Bytes of memory in use.
    pub(in crate::segment) fn bytes(&self) -> usize {
        self.places.capacity()
    }

    /// Adds the span of the next document.
    #[inline]
    pub(in crate::segment) fn push(&mut self, span: TextSpan, out: &mut impl BlockSink) -> Result<()> {
        let (start, len) = span;
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

    /// Passes on the last block; returns the bytes of all blocks.
    pub(in crate::segment) fn seal(&mut self, out: &mut impl BlockSink) -> Result<u64> {
        self.send(out)?;
        Ok(self.written)
    }

    /// Writes the last block and the places, and starts over.
    pub(in crate::segment) fn finish(&mut self, out: &mut EnvelopeWriter) -> Result<()> {
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
pub(in crate::segment) struct SpanReader<'a> {
    spans: &'a Section,
    places: &'a Section,
    by_line: bool,
    docs: u32,
}

impl<'a> SpanReader<'a> {
    /// Opens the spans of `max_doc` documents, if the file has references.
    pub(in crate::segment) fn open(file: &'a Envelope, max_doc: u32) -> Result<Option<Self>> {
        let Ok(places) = file.section(SPAN_PLACES) else { return Ok(None) };
        let spans = file.section(SPANS)?;
        let wrong = || places.corrupt("the number of places does not fit the number of documents");
        let mut head = ByteReader::new(places.get(0..HEAD)?);
        let (Some(kind @ 0..=1), Some(docs)) = (head.u32(), head.u32()) else { return Err(wrong()) };
        let by_line = kind == 1;
        let blocks = if by_line { (docs as usize).div_ceil(BLOCK) } else { 0 };
        let fits = docs == max_doc && places.len() - HEAD == blocks * 8 && (by_line || spans.len() == 0);
        if fits { Ok(Some(SpanReader { spans, places, by_line, docs })) } else { Err(wrong()) }
    }

    /// Returns true if documents are lines, or were in one of the segments that this one was merged from.
    pub(in crate::segment) fn has_spans(&self) -> bool {
        self.by_line
    }

    /// Bytes of both sections.
    pub(in crate::segment) fn bytes(&self) -> u64 {
        (self.spans.len() + self.places.len()) as u64
    }

    fn damaged(&self, block: usize) -> Error {
        self.spans.corrupt(format!("block {block} of the places of its documents cannot be read"))
    }

    /// Offset of a block.
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

    /// The span of a document in its file; `None` if the documents are files.
    pub(in crate::segment) fn get(&self, doc: u32) -> Result<Option<TextSpan>> {
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

    /// The spans of all documents in order.
    pub(in crate::segment) fn spans(&self) -> Spans<'a> {
        Spans { reader: *self, doc: 0, next: 0, block: ByteReader::new(&[]) }
    }
}

/// Steps through spans; see [`SpanReader::spans`].
pub(in crate::segment) struct Spans<'a> {
    reader: SpanReader<'a>,
    doc: u32,
    /// Start of the next span, unless it jumps.
    next: u64,
    block: ByteReader<'a>,
}

impl Spans<'_> {
    fn step(&mut self) -> Result<Option<TextSpan>> {
        let SpanReader { docs, by_line, .. } = self.reader;
        if !by_line {
            return Ok((self.doc < docs).then_some((0, 0)));
        }
        let number = self.doc as usize / BLOCK;
        let damaged = || self.reader.damaged(number);
        if (self.doc as usize).is_multiple_of(BLOCK) || self.doc == docs {
            if !self.block.remaining().is_empty() {
                return Err(self.reader.damaged(number.saturating_sub(1)));
            }
            if self.doc == docs {
                return Ok(None);
            }
            if number == 0 && self.reader.place(0)? != Some(0) {
                return Err(damaged());
            }
            (self.block, self.next) = (self.reader.block(number)?, 0);
        }
        read_span(&mut self.block, &mut self.next).map(Some).ok_or_else(damaged)
    }
}

impl Iterator for Spans<'_> {
    type Item = Result<TextSpan>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.doc > self.reader.docs {
            return None;
        }
        let span = self.step();
        // Nothing follows an error or the end.
        self.doc = if matches!(span, Ok(Some(_))) { self.doc + 1 } else { u32::MAX };
        span.transpose()
    }
}

fn read_span(reader: &mut ByteReader<'_>, next: &mut u64) -> Option<TextSpan> {
    let len = reader.varint()?;
    let jump = if len & 1 == 1 { reader.varint()? } else { 0 };
    let start = next.wrapping_add((jump >> 1) ^ (jump & 1).wrapping_neg());
    let (start, len) = (start, len >> 1);
    *next = start.checked_add(len)?.checked_add(1)?;
    Some((start, len))
}
