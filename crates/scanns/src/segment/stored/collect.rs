//! What an index thread keeps of the documents of the segment in the making.

use super::arena::Arena;
use super::block::BlockWriter;
use super::codec::ZSTD_BYTES;
use super::spans::{Span, SpanWriter};
use super::vector::VectorBuilder;
use super::{Sections, TEXT, VECTORS};
use crate::error::Result;
use crate::schema::{Compression, Records, Store, Stored};
use crate::store::EnvelopeWriter;
use crate::tokenize::TokenSink;

/// Blocks of one store, in memory until the segment is written.
struct Blocks {
    writer: BlockWriter,
    arena: Arena,
}

impl Blocks {
    fn new(compression: Compression) -> Result<Self> {
        Ok(Blocks { writer: BlockWriter::new(compression)?, arena: Arena::default() })
    }

    fn bytes(&self) -> usize {
        self.writer.bytes() + self.arena.bytes()
    }

    fn write(&mut self, sections: Sections, out: &mut EnvelopeWriter) -> Result<()> {
        let (index, packed) = self.writer.cut(&mut self.arena)?;
        out.begin(sections.blocks)?;
        self.arena.drain(usize::try_from(packed).unwrap_or(usize::MAX), out)?;
        out.begin(sections.index)?;
        index.write(out)
    }
}

enum Documents {
    None,
    Spans { writer: SpanWriter, arena: Arena },
    Text(Box<Blocks>),
}

/// Collects text, places and vectors of documents, as far as they are to be kept.
pub struct Collector {
    documents: Documents,
    vectors: Option<(VectorBuilder, Blocks)>,
}

impl Collector {
    /// For a segment of such records.
    ///
    /// # Errors
    /// Memory for the compression that cannot be had.
    pub fn new(stored: &Stored, records: Records) -> Result<Self> {
        let documents = match stored.store {
            Store::None => Documents::None,
            Store::Reference => {
                Documents::Spans { writer: SpanWriter::new(records.are_parts()), arena: Arena::default() }
            }
            Store::Content => Documents::Text(Box::new(Blocks::new(stored.compression)?)),
        };
        let vectors = stored
            .vectors
            .then(|| Ok((VectorBuilder::new(), Blocks::new(stored.compression)?)))
            .transpose()?;
        Ok(Collector { documents, vectors })
    }

    /// The same collector; with `offsets`, vectors have those too.
    #[must_use]
    pub fn keep_offsets(mut self, offsets: bool) -> Self {
        if let Some((builder, _)) = self.vectors.as_mut().filter(|_| offsets) {
            builder.keep_offsets();
        }
        self
    }

    /// Where text begins in its document whose tokens follow, as
    /// [`Inverter::text_begins`](crate::invert::Inverter::text_begins) is told.
    pub fn text_begins(&mut self, origin: u64) {
        if let Some((builder, _)) = &mut self.vectors {
            builder.text_begins(origin);
        }
    }

    /// Keeps nothing.
    pub fn none() -> Self {
        Collector { documents: Documents::None, vectors: None }
    }

    /// Bytes of memory beyond [`Collector::bytes`] that one takes for itself.
    pub fn fixed_bytes(stored: &Stored) -> usize {
        let stores = usize::from(stored.store == Store::Content) + usize::from(stored.vectors);
        let each = if matches!(stored.compression, Compression::Zstd(_)) { ZSTD_BYTES } else { 1 << 20 };
        stores * each
    }

    /// Bytes of memory taken by what grows with the segment.
    pub fn bytes(&self) -> usize {
        let documents = match &self.documents {
            Documents::None => 0,
            Documents::Spans { writer, arena } => writer.bytes() + arena.bytes(),
            Documents::Text(blocks) => blocks.bytes(),
        };
        documents + self.vectors.as_ref().map_or(0, |(builder, blocks)| builder.memory() + blocks.bytes())
    }

    fn arenas(&mut self) -> impl Iterator<Item = &mut Arena> {
        let documents = match &mut self.documents {
            Documents::None => None,
            Documents::Spans { arena, .. } => Some(arena),
            Documents::Text(blocks) => Some(&mut blocks.arena),
        };
        documents.into_iter().chain(self.vectors.as_mut().map(|(_, blocks)| &mut blocks.arena))
    }

    /// Gives back memory that is kept from the segment before, if it is more than `most` bytes.
    pub fn keep_within(&mut self, most: usize) {
        let spare: usize = self.arenas().map(|arena| arena.spare_bytes()).sum();
        if spare > most {
            self.arenas().for_each(Arena::give_back);
        }
    }

    /// More of the text of the document at hand, before an analyzer has changed it.
    #[inline]
    pub fn text(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.documents {
            Documents::Text(blocks) => blocks.writer.push(bytes, &mut blocks.arena),
            _ => Ok(()),
        }
    }

    /// What takes the tokens of the document at hand, if they are to be kept.
    #[inline]
    pub fn vectors(&mut self) -> Option<&mut impl TokenSink> {
        self.vectors.as_mut().map(|(builder, _)| builder)
    }

    /// True if there is text of the document at hand.
    pub fn is_open(&self) -> bool {
        matches!(&self.documents, Documents::Text(blocks) if blocks.writer.is_open())
    }

    /// The document at hand ends; it stands at `span` of its file, which only lines need to say.
    #[inline]
    pub fn end_document(&mut self, span: Span) -> Result<()> {
        match &mut self.documents {
            Documents::None => {}
            Documents::Spans { writer, arena } => writer.push(span, arena)?,
            Documents::Text(blocks) => blocks.writer.end_document(&mut blocks.arena)?,
        }
        let Some((builder, Blocks { writer, arena })) = &mut self.vectors else { return Ok(()) };
        for part in builder.parts() {
            writer.push(part, arena)?;
        }
        builder.clear();
        writer.end_document(arena)
    }

    /// The document at hand ends, void: nothing of it will be read.
    pub fn void_document(&mut self) -> Result<()> {
        self.drop_open();
        self.end_document((0, 0))
    }

    /// Forgets the document at hand.
    pub fn drop_open(&mut self) {
        if let Documents::Text(blocks) = &mut self.documents {
            let left = blocks.writer.drop_open();
            blocks.arena.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        }
        if let Some((builder, _)) = &mut self.vectors {
            builder.clear();
        }
    }

    /// Writes the sections of all documents that have ended; what there is of the one at hand is kept for the next
    /// segment.
    pub(in crate::segment) fn write(&mut self, out: &mut EnvelopeWriter) -> Result<()> {
        match &mut self.documents {
            Documents::None => {}
            Documents::Spans { writer, arena } => {
                let bytes = writer.seal(arena)?;
                writer.begin(out)?;
                arena.drain(usize::try_from(bytes).unwrap_or(usize::MAX), out)?;
                writer.finish(out)?;
            }
            Documents::Text(blocks) => blocks.write(TEXT, out)?,
        }
        self.vectors.as_mut().map_or(Ok(()), |(_, blocks)| blocks.write(VECTORS, out))
    }
}
