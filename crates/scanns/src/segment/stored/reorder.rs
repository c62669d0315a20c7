//! What is kept of documents that a merge puts in another order: unpacked, put in order, and packed anew.
//!
//! As much text is gathered at once as the order may take memory; for each such stretch of the new order the blocks that
//! have documents of it are unpacked once, in their order.

use super::block::BlockWriter;
use super::codec::Unpacker;
use super::merge::{block_readers, compression_of};
use super::read::BlockReader;
use super::segment::in_common;
use super::spans::{SpanReader, SpanWriter};
use super::{BlockSink, Sections, TEXT, VECTORS};
use crate::error::Result;
use crate::schema::Store;
use crate::segment::merge::{GoOn, Order};
use crate::segment::{Renumbering, Segment};
use crate::store::EnvelopeWriter;

/// Documents between two looks at whether the merge should go on.
const LOOK_EVERY: usize = 1 << 12;

/// Bytes of a document that waits beside its text: where that is, where it comes from, and its number there.
const WAITING: usize = 48;

/// Writes the sections of what is kept of the survivors, in `order`.
pub(in crate::segment) fn reorder(
    sources: &[Segment],
    documents: &[Renumbering],
    order: &Order,
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let (store, vectors) = in_common(sources)?;
    match store {
        Store::None => {}
        Store::Reference => reorder_spans(sources, documents, order, out, go_on)?,
        Store::Content => reorder_blocks(TEXT, sources, documents, order, out, go_on)?,
    }
    if vectors { reorder_blocks(VECTORS, sources, documents, order, out, go_on) } else { Ok(()) }
}

/// Bytes of references to the survivors in `order`, or in that of the sources; 0 if there are none.
pub(in crate::segment) fn bytes_in_order(
    sources: &[Segment],
    documents: &[Renumbering],
    order: Option<&Order>,
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
        writer.push(span, &mut Nowhere)
    };
    match order {
        Some(order) => order.each(documents, |source, doc| {
            let reader = readers.get(source).and_then(Option::as_ref);
            push(reader.map_or(Ok(None), |reader| reader.get(doc))?.unwrap_or((0, 0)))
        })?,
        None => {
            for (reader, numbers) in readers.iter().flatten().zip(documents) {
                reader.each(|doc, span| if numbers.get(doc).is_some() { push(span) } else { Ok(()) })?;
            }
        }
    }
    writer.seal(&mut Nowhere)
}

/// For what is only to be counted.
struct Nowhere;

impl BlockSink for Nowhere {
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
    order: &Order,
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let readers = span_readers(sources)?;
    let by_line = readers.iter().flatten().any(SpanReader::has_spans);
    let mut writer = SpanWriter::new(by_line);
    writer.begin(out)?;
    let mut seen = 0;
    order.each(documents, |source, doc| {
        seen += 1;
        if seen % LOOK_EVERY == 0 {
            go_on(out.len())?;
        }
        let reader = readers.get(source).and_then(Option::as_ref);
        let span = reader.map_or(Ok(None), |reader| reader.get(doc))?;
        writer.push(span.unwrap_or((0, 0)), out)
    })?;
    writer.finish(out)
}

fn reorder_blocks(
    sections: Sections,
    sources: &[Segment],
    documents: &[Renumbering],
    order: &Order,
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let readers = block_readers(sections, sources, documents)?;
    let mut writer = BlockWriter::new(compression_of(&readers)?)?;
    out.begin(sections.blocks)?;
    let lengths = lengths(&readers, order, &mut || go_on(out.len()))?;
    let (mut stretch, mut start) = (Stretch::default(), 0);
    while start < lengths.len() {
        let end = stretch_end(&lengths, start, order.memory());
        let origins = (start..end).map(|number| order.origin(documents, number));
        stretch.gather(&readers, origins, &mut || go_on(out.len()))?;
        for (number, &(at, len)) in stretch.texts.iter().enumerate() {
            if number % LOOK_EVERY == 0 {
                go_on(out.len())?;
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

/// By new number the bytes of each document.
fn lengths(
    readers: &[(BlockReader<'_>, &Renumbering)],
    order: &Order,
    go_on: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<u32>> {
    let survivors = readers.last().map_or(0, |(_, numbers)| numbers.end());
    let mut lengths = vec![0; survivors as usize];
    let mut seen = 0;
    for (reader, numbers) in readers {
        reader.each(|doc, text| {
            seen += 1;
            if seen % LOOK_EVERY == 0 {
                go_on()?;
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

/// Where the stretch from `start` on ends: at least one document, and as many as fit in `memory`.
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
    /// Their texts, in the order in which they were read.
    text: Vec<u8>,
    /// Where each is, and its length, in the new order.
    texts: Vec<(usize, usize)>,
    /// Source, number in it, and place in the stretch.
    wanted: Vec<(usize, u32, usize)>,
    unpacker: Unpacker,
}

impl Stretch {
    /// Takes the documents from these sources, with their numbers there, in place of those that it had.
    fn gather(
        &mut self,
        readers: &[(BlockReader<'_>, &Renumbering)],
        origins: impl ExactSizeIterator<Item = Option<(usize, u32)>>,
        go_on: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        self.text.clear();
        self.texts.clear();
        self.texts.resize(origins.len(), (0, 0));
        self.wanted.clear();
        let found =
            origins.enumerate().filter_map(|(at, origin)| origin.map(|(source, doc)| (source, doc, at)));
        self.wanted.extend(found);
        self.wanted.sort_unstable();
        let mut wanted = self.wanted.as_slice();
        while let Some(&(source, _, _)) = wanted.first() {
            let here = wanted.partition_point(|&(other, _, _)| other == source);
            let (of_source, rest) = wanted.split_at(here);
            wanted = rest;
            let Some((reader, _)) = readers.get(source) else { continue };
            for some in of_source.chunks(LOOK_EVERY) {
                go_on()?;
                let docs: Vec<u32> = some.iter().map(|&(_, doc, _)| doc).collect();
                reader.each_of(&docs, &mut self.unpacker, |index, text| {
                    if let Some(&(_, _, at)) = some.get(index)
                        && let Some(place) = self.texts.get_mut(at)
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
    fn a_stretch_fits_the_memory_with_what_it_knows_of_each_document() {
        let lengths = [10, 0, 20, 1000, 3];
        assert_eq!(stretch_end(&lengths, 0, 30 + 3 * WAITING), 3);
        assert_eq!(stretch_end(&lengths, 0, 30 + 3 * WAITING - 1), 2);
        assert_eq!(stretch_end(&lengths, 3, 1), 4, "one document at least");
        assert_eq!(stretch_end(&lengths, 0, usize::MAX), 5);
    }
}
