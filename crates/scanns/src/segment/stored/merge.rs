//! Joins what is kept of the documents of several segments: blocks without a deleted document are copied as they are.

use super::block::{BlockWriter, Entry, FULL, Part};
use super::codec::{LZ4, Unpacker, ZSTD};
use super::read::BlockReader;
use super::segment::in_common;
use super::spans::{SpanReader, SpanWriter};
use super::{Sections, TEXT, VECTORS};
use crate::error::Result;
use crate::schema::{Compression, Store};
use crate::segment::merge::GoOn;
use crate::segment::{Renumbering, Segment};
use crate::store::EnvelopeWriter;

/// Blocks between two looks at whether the merge should go on.
const LOOK_EVERY: usize = 64;

/// Writes the sections of what is kept of the survivors.
pub(in crate::segment) fn merge(
    sources: &[Segment],
    documents: &[Renumbering],
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let (store, vectors) = in_common(sources)?;
    match store {
        Store::None => {}
        Store::Reference => merge_spans(sources, documents, out)?,
        Store::Content => merge_blocks(TEXT, sources, documents, out, go_on)?,
    }
    if vectors { merge_blocks(VECTORS, sources, documents, out, go_on) } else { Ok(()) }
}

/// What reads the blocks of the sources that have any, with what becomes of their documents.
pub(super) fn block_readers<'s>(
    sections: Sections,
    sources: &'s [Segment],
    documents: &'s [Renumbering],
) -> Result<Vec<(BlockReader<'s>, &'s Renumbering)>> {
    let mut readers = Vec::with_capacity(sources.len());
    for (source, numbers) in sources.iter().zip(documents) {
        let reader = BlockReader::open(source.envelope(), sections, source.stats().max_doc)?;
        readers.extend(reader.map(|reader| (reader, numbers)));
    }
    Ok(readers)
}

fn merge_blocks(
    sections: Sections,
    sources: &[Segment],
    documents: &[Renumbering],
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let readers = block_readers(sections, sources, documents)?;
    let mut writer = BlockWriter::new(compression_of(&readers)?)?;
    out.begin(sections.blocks)?;
    let mut unpacker = Unpacker::default();
    for (reader, numbers) in &readers {
        let mut at = 0;
        while at < reader.count() {
            let group = reader.group(at)?;
            if at % LOOK_EVERY == 0 {
                go_on(out.len())?;
            }
            at = group.end;
            let mut blocks = Vec::with_capacity(group.len());
            for number in group.clone() {
                blocks.push(reader.block(number)?);
            }
            let alive = survivors(&blocks, numbers);
            let first = group.start;
            match blocks.as_slice() {
                [(entry, docs, _)] if alive > 0 && (alive < *docs || is_small(entry, &writer)) => {
                    take_each(reader, first, &mut unpacker, numbers, (&mut writer, out))?;
                }
                _ if alive == 0 => {}
                blocks => {
                    writer.seal_documents(out)?;
                    blocks
                        .iter()
                        .try_for_each(|&(entry, docs, packed)| writer.carry(entry, docs, packed, out))?;
                }
            }
        }
    }
    let (index, _) = writer.cut(out)?;
    out.begin(sections.index)?;
    index.write(out)
}

/// Documents of these blocks that survive.
fn survivors(blocks: &[(Entry, u32, &[u8])], numbers: &Renumbering) -> u32 {
    let docs = |&(entry, docs, _): &(Entry, u32, &[u8])| entry.first..entry.first.saturating_add(docs);
    if numbers.shift().is_some() {
        return blocks.iter().map(|(_, docs, _)| docs).sum();
    }
    let alive = blocks.iter().flat_map(docs).filter(|&doc| numbers.get(doc).is_some()).count();
    u32::try_from(alive).unwrap_or(u32::MAX)
}

/// True if a block is better packed anew with what is pending: else there would be ever more small ones.
fn is_small(entry: &Entry, writer: &BlockWriter) -> bool {
    let small = |text: usize| text < FULL / 2;
    entry.part == Part::Whole
        && (small(entry.text as usize) || (writer.pending() > 0 && small(writer.pending())))
}

/// Adds the documents of a block one by one.
fn take_each(
    reader: &BlockReader<'_>,
    number: usize,
    unpacker: &mut Unpacker,
    numbers: &Renumbering,
    (writer, out): (&mut BlockWriter, &mut EnvelopeWriter),
) -> Result<()> {
    let block = reader.load(number, unpacker)?;
    let (mut outcome, mut seen) = (Ok(()), 0);
    block.each(|doc, text| {
        seen += 1;
        if outcome.is_ok() && numbers.get(doc).is_some() {
            outcome = writer.push(text, out).and_then(|()| writer.end_document(out));
        }
    });
    outcome?;
    if seen == block.docs { Ok(()) } else { Err(reader.damaged(number)) }
}

/// How blocks are packed anew: as most before them.
pub(super) fn compression_of(readers: &[(BlockReader<'_>, &Renumbering)]) -> Result<Compression> {
    let (mut lz4, mut zstd) = (0u64, 0u64);
    for (reader, _) in readers {
        for number in 0..reader.count() {
            match reader.block(number)?.0.codec {
                LZ4 => lz4 += 1,
                ZSTD => zstd += 1,
                _ => {}
            }
        }
    }
    Ok(match (lz4, zstd) {
        (0, 0) => Compression::None,
        (lz4, zstd) if lz4 >= zstd => Compression::Lz4,
        _ => Compression::ZSTD,
    })
}

fn merge_spans(sources: &[Segment], documents: &[Renumbering], out: &mut EnvelopeWriter) -> Result<()> {
    let mut readers = Vec::with_capacity(sources.len());
    for source in sources {
        readers.push(SpanReader::open(source.envelope(), source.stats().max_doc)?);
    }
    let by_line = readers.iter().flatten().any(SpanReader::has_spans);
    let mut writer = SpanWriter::new(by_line);
    writer.begin(out)?;
    for (reader, numbers) in readers.into_iter().flatten().zip(documents) {
        reader.each(|doc, span| if numbers.get(doc).is_some() { writer.push(span, out) } else { Ok(()) })?;
    }
    writer.finish(out)
}
