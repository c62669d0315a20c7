//! What is kept of documents that a merge puts in another order: unpacked, put in order, and packed anew.
//!
//! As much text is gathered at once as the order may take memory; for each such stretch of the new order the blocks that
//! have documents of it are unpacked once, in their order.

use super::block::BlockWriter;
use super::codec::Unpacker;
use super::merge::compression_of;
use super::read::BlockReader;
use super::segment::in_common;
use super::spans::{SpanReader, SpanWriter};
use super::{Sections, TEXT, VECTORS};
use crate::error::Result;
use crate::schema::Store;
use crate::segment::merge::{GoOn, Order};
use crate::segment::{Renumbering, Segment};
use crate::store::EnvelopeWriter;

/// Documents between two looks at whether the merge should go on.
const LOOK_EVERY: usize = 1 << 12;

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
        Store::Reference => reorder_spans(sources, documents, order, out)?,
        Store::Content => reorder_blocks(TEXT, sources, documents, order, out, go_on)?,
    }
    if vectors { reorder_blocks(VECTORS, sources, documents, order, out, go_on) } else { Ok(()) }
}

fn reorder_spans(
    sources: &[Segment],
    documents: &[Renumbering],
    order: &Order,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    let mut readers = Vec::with_capacity(sources.len());
    for source in sources {
        readers.push(SpanReader::open(source.envelope(), source.stats().max_doc)?);
    }
    let by_line = readers.iter().flatten().any(SpanReader::has_spans);
    let mut writer = SpanWriter::new(by_line);
    writer.begin(out)?;
    order.each(documents, |source, doc| {
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
    let mut readers = Vec::with_capacity(sources.len());
    for (source, numbers) in sources.iter().zip(documents) {
        let reader = BlockReader::open(source.envelope(), sections, source.stats().max_doc)?;
        readers.extend(reader.map(|reader| (reader, numbers)));
    }
    let mut writer = BlockWriter::new(compression_of(&readers)?)?;
    out.begin(sections.blocks)?;
    let lengths = lengths(&readers, order, &mut || go_on(out.section_len()))?;
    let (mut stretch, mut start) = (Stretch::default(), 0);
    while start < lengths.len() {
        let end = stretch_end(&lengths, start, order.memory());
        go_on(out.section_len())?;
        stretch.gather(&readers, (start..end).map(|number| order.origin(documents, number)))?;
        for &(at, len) in &stretch.texts {
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
        sum = sum.saturating_add(len as usize);
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
            let docs: Vec<u32> = of_source.iter().map(|&(_, doc, _)| doc).collect();
            reader.each_of(&docs, &mut self.unpacker, |index, text| {
                if let Some(&(_, _, at)) = of_source.get(index)
                    && let Some(place) = self.texts.get_mut(at)
                {
                    *place = (self.text.len(), text.len());
                    self.text.extend_from_slice(text);
                }
            })?;
        }
        Ok(())
    }
}
