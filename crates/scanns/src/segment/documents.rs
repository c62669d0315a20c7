//! The stored data of documents in a segment: their text or its place, and their terms in order.

use super::layout::{SPAN_PLACES, TEXT, VECTORS, file_name};
use super::reader::Segment;
use super::stored::{BlockReader, SpanReader, StoredCache, TermInDocument, decode_vector};
use crate::error::{Error, Result};
use crate::schema::Store;
use crate::source::Stamp;

/// The place of the text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The file.
    pub path: Vec<u8>,
    /// The size and time of the file when it was indexed.
    pub stamp: Stamp,
    /// Start and length of the text in bytes; `None` for the whole file.
    pub span: Option<(u64, u64)>,
}

/// Sizes of the stored data of documents, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredFigures {
    /// Stored text or references to it, compressed.
    pub documents: u64,
    /// The same text uncompressed; 0 for references.
    pub document_text: u64,
    /// Document vectors, compressed.
    pub vectors: u64,
    /// Document vectors, uncompressed.
    pub vector_text: u64,
}

/// The storage mode of text that all `segments` share, and whether they have vectors.
///
/// # Errors
/// [`Error::Corrupt`] if they differ, which never happens among the segments of one index.
pub(super) fn in_common(segments: &[Segment]) -> Result<(Store, bool)> {
    let kept = |segment: &Segment| (segment.store(), segment.has_vectors());
    let first = segments.first().map_or((Store::None, false), kept);
    match segments.iter().find(|segment| kept(segment) != first) {
        Some(other) => Err(Error::corrupt(
            file_name(other.id()),
            "it stores documents or vectors differently from the other segments of its index",
        )),
        None => Ok(first),
    }
}

impl Segment {
    /// Returns how the text of documents is stored.
    pub fn store(&self) -> Store {
        let has = |section| self.envelope().section(section).is_ok();
        if has(TEXT.index) {
            Store::Content
        } else if has(SPAN_PLACES) {
            Store::Reference
        } else {
            Store::None
        }
    }

    /// Returns true if the terms of each document are stored.
    pub fn has_vectors(&self) -> bool {
        self.envelope().section(VECTORS.index).is_ok()
    }

    pub(super) fn text(&self) -> Result<Option<BlockReader<'_>>> {
        BlockReader::open(self.envelope(), TEXT, self.stats().max_doc)
    }

    pub(super) fn vectors(&self) -> Result<Option<BlockReader<'_>>> {
        BlockReader::open(self.envelope(), VECTORS, self.stats().max_doc)
    }

    pub(super) fn spans(&self) -> Result<Option<SpanReader<'_>>> {
        SpanReader::open(self.envelope(), self.stats().max_doc)
    }

    /// Returns the text of a document, if it is stored in the segment.
    #[cfg(test)]
    pub(crate) fn content(&self, doc: u32) -> Result<Option<Vec<u8>>> {
        self.text()?.map(|text| text.get(doc)).transpose()
    }

    /// Calls `take` with the text of a document, if it is stored in the segment. What was decompressed for it
    /// is kept in `cache`.
    pub(crate) fn with_content<T>(
        &self,
        doc: u32,
        cache: &StoredCache,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>> {
        self.text()?.map(|text| text.get_cached(doc, cache, self.id(), take)).transpose()
    }

    /// Returns the place of the text of a document, if references are stored.
    pub fn reference(&self, doc: u32) -> Result<Option<Reference>> {
        let Some(spans) = self.spans()? else { return Ok(None) };
        let (path, stamp, is_line) = self.keys()?.file_of(doc)?;
        let span = if is_line { spans.get(doc)? } else { None };
        Ok(Some(Reference { path, stamp, span }))
    }

    /// Returns the terms of a document in byte order, if they are stored.
    pub fn vector(&self, doc: u32) -> Result<Option<Vec<TermInDocument>>> {
        let Some(vectors) = self.vectors()? else { return Ok(None) };
        decode_vector(&vectors.get(doc)?).map(Some).ok_or_else(|| self.damaged_vector(doc))
    }

    /// Returns the error for a vector of this segment that cannot be decoded.
    pub(super) fn damaged_vector(&self, doc: u32) -> Error {
        Error::corrupt(file_name(self.id()), format!("the vector of document {doc} cannot be read"))
    }

    /// Returns the error for stored values of this segment that cannot be decoded.
    pub fn damaged_values(&self, doc: u32) -> Error {
        Error::corrupt(file_name(self.id()), format!("the stored values of document {doc} cannot be read"))
    }

    /// Returns the sizes of the stored data.
    pub fn stored_figures(&self) -> Result<StoredFigures> {
        let (text, spans, vectors) = (self.text()?, self.spans()?, self.vectors()?);
        let packed = |reader: &Option<BlockReader<'_>>| reader.as_ref().map_or(0, BlockReader::packed_bytes);
        let unpacked = |reader: &Option<BlockReader<'_>>| reader.as_ref().map_or(0, BlockReader::text_bytes);
        Ok(StoredFigures {
            documents: packed(&text) + spans.map_or(0, |spans| spans.bytes()),
            document_text: unpacked(&text),
            vectors: packed(&vectors),
            vector_text: unpacked(&vectors),
        })
    }
}
