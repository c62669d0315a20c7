//! Joins the stored data of the documents of several segments in another order: unpacks, reorders and packs
//! it.
//!
//! The new order is written in stretches, each with as much text as fits into the memory of the order. For
//! each stretch, the blocks that contain its documents are unpacked once, in order.

use super::documents::{BlockSource, block_sources, compression_of};
use crate::column::BlockSink;
use crate::error::Result;
use crate::schema::Store;
use crate::segment::documents::in_common;
use crate::segment::layout::{BlockSections, TEXT, VECTORS};
use crate::segment::order::{DocumentOrder, Origin};
use crate::segment::progress::MergeProgress;
use crate::segment::reader::Segment;
use crate::segment::renumbering::Renumbering;
use crate::segment::stored::{SpanReader, SpanWriter, StoredBlockWriter, Unpacker};
use crate::store::EnvelopeWriter;

/// Documents between two calls of `progress`.
const LOOK_EVERY: usize = 1 << 12;

/// Bytes that a waiting document takes in addition to its text: its [`WantedDocument`] and its place in the
/// text.
const WAITING: usize = 48;

/// Writes the sections of the stored data of the survivors in `order`.
pub(super) fn merge_documents_in_order(
    sources: &[Segment],
    documents: &[Renumbering],
    order: &DocumentOrder,
    out: &mut EnvelopeWriter,
    progress: MergeProgress<'_>,
) -> Result<()> {
    let (store, vectors) = in_common(sources)?;
    match store {
        Store::None => {}
        Store::Reference => reorder_spans(sources, documents, order, out, progress)?,
        Store::Content => reorder_blocks(TEXT, sources, documents, order, out, progress)?,
    }
    if vectors { reorder_blocks(VECTORS, sources, documents, order, out, progress) } else { Ok(()) }
}

/// Bytes of the references to the survivors in `order`, or in the order of the sources; 0 without references.
pub(super) fn bytes_in_order(
    sources: &[Segment],
    documents: &[Renumbering],
    order: Option<&DocumentOrder>,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<u64> {
    let readers = span_readers(sources)?;
    if !readers.iter().flatten().any(SpanReader::has_spans) {
        return Ok(0);
    }
    let (mut writer, mut seen) = (SpanWriter::new(true), 0);
    let mut push = |span| {
        seen += 1;
        if seen % LOOK_EVERY == 0 {
            look()?;
        }
        writer.push(span, &mut Discard)
    };
    match order {
        Some(order) => {
            for Origin { source, doc } in order.origins(documents) {
                let reader = readers.get(source).and_then(Option::as_ref);
                push(reader.map_or(Ok(None), |reader| reader.get(doc))?.unwrap_or((0, 0)))?;
            }
        }
        None => {
            for (reader, numbers) in readers.iter().flatten().zip(documents) {
                for (doc, span) in (0..).zip(reader.spans()) {
                    let span = span?;
                    if numbers.get(doc).is_some() {
                        push(span)?;
                    }
                }
            }
        }
    }
    writer.seal(&mut Discard)
}

/// A sink that only counts bytes.
struct Discard;

impl BlockSink for Discard {
    fn take(&mut self, _block: &[u8]) -> Result<()> {
        Ok(())
    }
}

fn span_readers(sources: &[Segment]) -> Result<Vec<Option<SpanReader<'_>>>> {
    sources.iter().map(|source| SpanReader::open(source.envelope(), source.stats().max_doc)).collect()
}

fn reorder_spans(
    sources: &[Segment],
    documents: &[Renumbering],
    order: &DocumentOrder,
    out: &mut EnvelopeWriter,
    progress: MergeProgress<'_>,
) -> Result<()> {
    let readers = span_readers(sources)?;
    let by_line = readers.iter().flatten().any(SpanReader::has_spans);
    let mut writer = SpanWriter::new(by_line);
    writer.begin(out)?;
    for (seen, Origin { source, doc }) in order.origins(documents).enumerate() {
        if seen % LOOK_EVERY == 0 {
            progress(out.len())?;
        }
        let reader = readers.get(source).and_then(Option::as_ref);
        let span = reader.map_or(Ok(None), |reader| reader.get(doc))?;
        writer.push(span.unwrap_or((0, 0)), out)?;
    }
    writer.finish(out)
}

fn reorder_blocks(
    sections: BlockSections,
    sources: &[Segment],
    documents: &[Renumbering],
    order: &DocumentOrder,
    out: &mut EnvelopeWriter,
    progress: MergeProgress<'_>,
) -> Result<()> {
    let readers = block_sources(sections, sources, documents)?;
    let mut writer = StoredBlockWriter::new(compression_of(&readers)?)?;
    out.begin(sections.blocks)?;
    let lengths = lengths(&readers, order, &mut || progress(out.len()))?;
    let (mut stretch, mut start) = (Stretch::default(), 0);
    while start < lengths.len() {
        let end = stretch_end(&lengths, start, order.memory());
        let origins = (start..end).map(|number| order.origin(documents, number));
        stretch.gather(&readers, origins, &mut || progress(out.len()))?;
        for (number, &(at, len)) in stretch.texts.iter().enumerate() {
            if number % LOOK_EVERY == 0 {
                progress(out.len())?;
            }
            writer.push(stretch.text.get(at..at + len).unwrap_or_default(), out)?;
            writer.end_document(out)?;
        }
        start = end;
    }
    let (index, _) = writer.cut(out)?;
    out.begin(sections.index)?;
    index.write(out)
}

/// The length of each document in bytes, by new number.
fn lengths(
    readers: &[BlockSource<'_>],
    order: &DocumentOrder,
    progress: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<u32>> {
    let survivors = readers.last().map_or(0, |source| source.documents.end());
    let mut lengths = vec![0; survivors as usize];
    let mut seen = 0;
    for BlockSource { reader, documents: numbers } in readers {
        reader.each(|doc, text| {
            seen += 1;
            if seen % LOOK_EVERY == 0 {
                progress()?;
            }
            let number = numbers.get(doc).and_then(|kept| order.number(kept));
            if let Some(len) = number.and_then(|number| lengths.get_mut(number as usize)) {
                *len = u32::try_from(text.len()).unwrap_or(u32::MAX);
            }
            Ok(())
        })?;
    }
    Ok(lengths)
}

/// The end of the stretch from `start` on. A stretch has at least one document, and all that fit into
/// `memory`.
fn stretch_end(lengths: &[u32], start: usize, memory: usize) -> usize {
    let mut sum = 0usize;
    let fits = lengths.iter().skip(start).take_while(|&&len| {
        sum = sum.saturating_add(len as usize).saturating_add(WAITING);
        sum <= memory
    });
    start + fits.count().max(1)
}

/// Documents that follow each other in the new order.
#[derive(Default)]
struct Stretch {
    /// The texts, in the order in which they were read.
    text: Vec<u8>,
    /// Start and length of each text, in the new order.
    texts: Vec<(usize, usize)>,
    wanted: Vec<WantedDocument>,
    unpacker: Unpacker,
}

/// A document of a stretch; sorted by source, then by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WantedDocument {
    source: usize,
    doc: u32,
    /// Its place in the stretch.
    place: usize,
}

impl Stretch {
    /// Replaces the documents of the stretch by the documents of `origins`.
    fn gather(
        &mut self,
        readers: &[BlockSource<'_>],
        origins: impl ExactSizeIterator<Item = Option<Origin>>,
        progress: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        self.text.clear();
        self.texts.clear();
        self.texts.resize(origins.len(), (0, 0));
        self.wanted.clear();
        self.wanted.extend(origins.enumerate().filter_map(|(place, origin)| {
            origin.map(|Origin { source, doc }| WantedDocument { source, doc, place })
        }));
        self.wanted.sort_unstable();
        let mut wanted = self.wanted.as_slice();
        while let Some(&WantedDocument { source, .. }) = wanted.first() {
            let here = wanted.partition_point(|other| other.source == source);
            let (of_source, rest) = wanted.split_at(here);
            wanted = rest;
            let Some(BlockSource { reader, .. }) = readers.get(source) else { continue };
            for some in of_source.chunks(LOOK_EVERY) {
                progress()?;
                let docs: Vec<u32> = some.iter().map(|wanted| wanted.doc).collect();
                reader.each_of(&docs, &mut self.unpacker, |index, text| {
                    if let Some(wanted) = some.get(index)
                        && let Some(place) = self.texts.get_mut(wanted.place)
                    {
                        *place = (self.text.len(), text.len());
                        self.text.extend_from_slice(text);
                    }
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_and_its_bookkeeping_fit_the_memory() {
        let lengths = [10, 0, 20, 1000, 3];
        assert_eq!(stretch_end(&lengths, 0, 30 + 3 * WAITING), 3);
        assert_eq!(stretch_end(&lengths, 0, 30 + 3 * WAITING - 1), 2);
        assert_eq!(stretch_end(&lengths, 3, 1), 4, "one document at least");
        assert_eq!(stretch_end(&lengths, 0, usize::MAX), 5);
    }
}
