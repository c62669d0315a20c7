//! What a reader of a segment asks of its stored documents.

use super::read::BlockReader;
use super::spans::SpanReader;
use super::vector::{TermInDocument, decode};
use super::{TEXT, VECTORS};
use crate::error::{Error, Result};
use crate::schema::Store;
use crate::segment::{Segment, file_name};
use crate::source::Stamp;
use crate::store::Envelope;

/// Where the text of a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The file.
    pub path: Vec<u8>,
    /// What it was like when it was indexed.
    pub stamp: Stamp,
    /// Start and length in bytes; `None` for all of it.
    pub span: Option<(u64, u64)>,
}

/// Sizes of what is stored of documents, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredFigures {
    /// What stored text, or references to it, take.
    pub documents: u64,
    /// The text itself; 0 for references.
    pub document_text: u64,
    /// What vectors take.
    pub vectors: u64,
    /// What they take unpacked.
    pub vector_text: u64,
}

/// Makes sure that what a file has of documents can be read as far as its sizes go.
pub(in crate::segment) fn verify(file: &Envelope, max_doc: u32) -> Result<()> {
    BlockReader::open(file, TEXT, max_doc)?;
    BlockReader::open(file, VECTORS, max_doc)?;
    SpanReader::open(file, max_doc).map(drop)
}

/// What all of `segments` keep of documents, and whether they have vectors.
///
/// # Errors
/// [`Error::Corrupt`] if they differ, which those of one index never do.
pub(in crate::segment) fn in_common(segments: &[Segment]) -> Result<(Store, bool)> {
    let kept = |segment: &Segment| (segment.store(), segment.has_vectors());
    let first = segments.first().map_or((Store::None, false), kept);
    match segments.iter().find(|segment| kept(segment) != first) {
        Some(other) => Err(Error::corrupt(
            file_name(other.id()),
            "of the segments of its index some store documents or vectors as others do not",
        )),
        None => Ok(first),
    }
}

impl Segment {
    /// What is kept of the text of documents.
    pub fn store(&self) -> Store {
        let has = |section| self.envelope().section(section).is_ok();
        match (has(TEXT.index), has(super::SPAN_PLACES)) {
            (true, _) => Store::Content,
            (false, true) => Store::Reference,
            (false, false) => Store::None,
        }
    }

    /// True if the terms of each document are kept.
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

    /// The text of a document, if it is stored here.
    pub fn content(&self, doc: u32) -> Result<Option<Vec<u8>>> {
        self.text()?.map(|text| text.get(doc)).transpose()
    }

    /// Where the text of a document is, if that is stored.
    pub fn reference(&self, doc: u32) -> Result<Option<Reference>> {
        let Some(spans) = self.spans()? else { return Ok(None) };
        let (path, stamp, is_line) = self.keys()?.file_of(doc)?;
        let span = if is_line { spans.get(doc)? } else { None };
        Ok(Some(Reference { path, stamp, span }))
    }

    /// The terms of a document in the order of their bytes, if they are stored.
    pub fn vector(&self, doc: u32) -> Result<Option<Vec<TermInDocument>>> {
        let Some(vectors) = self.vectors()? else { return Ok(None) };
        decode(&vectors.get(doc)?).map(Some).ok_or_else(|| self.damaged_vector(doc))
    }

    /// The error for a vector of this segment that does not decode.
    pub(super) fn damaged_vector(&self, doc: u32) -> Error {
        Error::corrupt(file_name(self.id()), format!("the vector of document {doc} cannot be read"))
    }

    /// The error for stored values of this segment that do not decode.
    pub fn damaged_values(&self, doc: u32) -> Error {
        Error::corrupt(file_name(self.id()), format!("the stored values of document {doc} cannot be read"))
    }

    /// Sizes of what is stored.
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
