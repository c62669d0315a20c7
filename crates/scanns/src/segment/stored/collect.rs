//! The stored data of the documents of an index thread, in memory.

use super::block::StoredBlockWriter;
use super::codec::ZSTD_BYTES;
use super::queue::ByteQueue;
use super::spans::{SpanWriter, TextSpan};
use super::vector::VectorBuilder;
use crate::error::Result;
use crate::schema::{Compression, Records, Store, Stored};
use crate::segment::layout::{BlockSections, TEXT, VECTORS};
use crate::store::EnvelopeWriter;
use crate::tokenize::TokenSink;

/// A block store in memory, until the segment is written.
struct PendingStore {
    writer: StoredBlockWriter,
    queue: ByteQueue,
}

impl PendingStore {
    fn new(compression: Compression) -> Result<Self> {
        Ok(PendingStore { writer: StoredBlockWriter::new(compression)?, queue: ByteQueue::default() })
    }

    fn bytes(&self) -> usize {
        self.writer.bytes() + self.queue.bytes()
    }

    fn write(&mut self, sections: BlockSections, out: &mut EnvelopeWriter) -> Result<()> {
        let (index, packed) = self.writer.cut(&mut self.queue)?;
        out.begin(sections.blocks)?;
        self.queue.drain(usize::try_from(packed).unwrap_or(usize::MAX), out)?;
        out.begin(sections.index)?;
        index.write(out)
    }
}

enum Documents {
    None,
    Spans { writer: SpanWriter, queue: ByteQueue },
    Text(Box<PendingStore>),
}

/// Collects the text, spans and vectors of documents, as required by the storage options.
pub struct StoredCollector {
    documents: Documents,
    vectors: Option<(VectorBuilder, PendingStore)>,
}

impl StoredCollector {
    /// Creates a collector for documents of the type `records`.
    ///
    /// # Errors
    /// [`Error::System`](crate::Error::System) if there is no memory for compression.
    pub fn new(stored: &Stored, records: Records) -> Result<Self> {
        let documents = match stored.store {
            Store::None => Documents::None,
            Store::Reference => {
                Documents::Spans { writer: SpanWriter::new(records.are_parts()), queue: ByteQueue::default() }
            }
            Store::Content => Documents::Text(Box::new(PendingStore::new(stored.compression)?)),
        };
        let vectors = stored
            .vectors
            .then(|| Ok((VectorBuilder::new(), PendingStore::new(stored.compression)?)))
            .transpose()?;
        Ok(StoredCollector { documents, vectors })
    }

    /// Returns the same collector; if `offsets` is true, vectors contain offsets.
    #[must_use]
    pub fn keep_offsets(mut self, offsets: bool) -> Self {
        if let Some((builder, _)) = self.vectors.as_mut().filter(|_| offsets) {
            builder.keep_offsets();
        }
        self
    }

    /// Sets the start of the text of the following tokens to byte `origin` of the document; see
    /// [`Inverter::text_begins`](crate::invert::Inverter::text_begins).
    pub fn text_begins(&mut self, origin: u64) {
        if let Some((builder, _)) = &mut self.vectors {
            builder.text_begins(origin);
        }
    }

    /// Creates a collector that stores nothing.
    pub fn none() -> Self {
        StoredCollector { documents: Documents::None, vectors: None }
    }

    /// Returns the bytes of memory that a collector takes in addition to [`StoredCollector::bytes`].
    pub fn fixed_bytes(stored: &Stored) -> usize {
        let stores = usize::from(stored.store == Store::Content) + usize::from(stored.vectors);
        let each = if matches!(stored.compression, Compression::Zstd(_)) { ZSTD_BYTES } else { 1 << 20 };
        stores * each
    }

    /// Returns the bytes of memory that increase with the size of the segment.
    pub fn bytes(&self) -> usize {
        let documents = match &self.documents {
            Documents::None => 0,
            Documents::Spans { writer, queue } => writer.bytes() + queue.bytes(),
            Documents::Text(blocks) => blocks.bytes(),
        };
        documents + self.vectors.as_ref().map_or(0, |(builder, blocks)| builder.memory() + blocks.bytes())
    }

    fn queues(&mut self) -> impl Iterator<Item = &mut ByteQueue> {
        let documents = match &mut self.documents {
            Documents::None => None,
            Documents::Spans { queue, .. } => Some(queue),
            Documents::Text(blocks) => Some(&mut blocks.queue),
        };
        documents.into_iter().chain(self.vectors.as_mut().map(|(_, blocks)| &mut blocks.queue))
    }

    /// Releases memory kept from the previous segment, if it exceeds `most` bytes.
    pub fn keep_within(&mut self, most: usize) {
        let spare: usize = self.queues().map(|queue| queue.spare_bytes()).sum();
        if spare > most {
            self.queues().for_each(ByteQueue::give_back);
        }
    }

    /// Appends to the text of the current document, in its original form before analysis.
    #[inline]
    pub fn text(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.documents {
            Documents::Text(blocks) => blocks.writer.push(bytes, &mut blocks.queue),
            _ => Ok(()),
        }
    }

    /// Returns the sink for the tokens of the current document, if vectors are stored.
    #[inline]
    pub fn vectors(&mut self) -> Option<&mut impl TokenSink> {
        self.vectors.as_mut().map(|(builder, _)| builder)
    }

    /// Returns true if the current document has text.
    pub fn is_open(&self) -> bool {
        matches!(&self.documents, Documents::Text(blocks) if blocks.writer.is_open())
    }

    /// Ends the current document, which is at `span` of its file. The span is only used for lines.
    #[inline]
    pub fn end_document(&mut self, span: TextSpan) -> Result<()> {
        match &mut self.documents {
            Documents::None => {}
            Documents::Spans { writer, queue } => writer.push(span, queue)?,
            Documents::Text(blocks) => blocks.writer.end_document(&mut blocks.queue)?,
        }
        let Some((builder, PendingStore { writer, queue })) = &mut self.vectors else { return Ok(()) };
        for part in builder.parts() {
            writer.push(part, queue)?;
        }
        builder.clear();
        writer.end_document(queue)
    }

    /// Ends the current document as a void one, which is never read.
    pub fn void_document(&mut self) -> Result<()> {
        self.drop_open();
        self.end_document((0, 0))
    }

    /// Drops the current document.
    pub fn drop_open(&mut self) {
        if let Documents::Text(blocks) = &mut self.documents {
            let left = blocks.writer.drop_open();
            blocks.queue.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        }
        if let Some((builder, _)) = &mut self.vectors {
            builder.clear();
        }
    }

    /// Writes the sections of all documents that have ended; the current document is kept for the next
    /// segment.
    pub(in crate::segment) fn write(&mut self, out: &mut EnvelopeWriter) -> Result<()> {
        match &mut self.documents {
            Documents::None => {}
            Documents::Spans { writer, queue } => {
                let bytes = writer.seal(queue)?;
                writer.begin(out)?;
                queue.drain(usize::try_from(bytes).unwrap_or(usize::MAX), out)?;
                writer.finish(out)?;
            }
            Documents::Text(blocks) => blocks.write(TEXT, out)?,
        }
        self.vectors.as_mut().map_or(Ok(()), |(_, blocks)| blocks.write(VECTORS, out))
    }
}
