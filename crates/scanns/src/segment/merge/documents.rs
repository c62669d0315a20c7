//! Joins the stored data of the documents of several segments. Blocks without a deleted document are copied.

use crate::error::Result;
use crate::schema::{Compression, Store};
use crate::segment::documents::in_common;
use crate::segment::layout::{BlockSections, TEXT, VECTORS};
use crate::segment::progress::MergeProgress;
use crate::segment::reader::Segment;
use crate::segment::renumbering::Renumbering;
use crate::segment::stored::{
    BlockPart, BlockReader, LZ4, PackedBlock, SpanReader, SpanWriter, StoredBlockEntry, StoredBlockWriter,
    Unpacker, ZSTD,
};
use crate::store::EnvelopeWriter;

/// Blocks between two calls of `progress`.
const LOOK_EVERY: usize = 64;

/// The blocks of one source, and the new numbers of its documents.
pub(super) struct BlockSource<'s> {
    pub(super) reader: BlockReader<'s>,
    pub(super) documents: &'s Renumbering,
}

/// Writes the sections of the stored data of the survivors.
pub(super) fn merge_documents(
    sources: &[Segment],
    documents: &[Renumbering],
    out: &mut EnvelopeWriter,
    progress: MergeProgress<'_>,
) -> Result<()> {
    let (store, vectors) = in_common(sources)?;
    match store {
        Store::None => {}
        Store::Reference => merge_spans(sources, documents, out)?,
        Store::Content => merge_blocks(TEXT, sources, documents, out, progress)?,
    }
    if vectors { merge_blocks(VECTORS, sources, documents, out, progress) } else { Ok(()) }
}

/// The block stores of the sources that have one.
pub(super) fn block_sources<'s>(
    sections: BlockSections,
    sources: &'s [Segment],
    documents: &'s [Renumbering],
) -> Result<Vec<BlockSource<'s>>> {
    let mut found = Vec::with_capacity(sources.len());
    for (source, documents) in sources.iter().zip(documents) {
        let reader = BlockReader::open(source.envelope(), sections, source.stats().max_doc)?;
        found.extend(reader.map(|reader| BlockSource { reader, documents }));
    }
    Ok(found)
}

fn merge_blocks(
    sections: BlockSections,
    sources: &[Segment],
    documents: &[Renumbering],
    out: &mut EnvelopeWriter,
    progress: MergeProgress<'_>,
) -> Result<()> {
    let sources = block_sources(sections, sources, documents)?;
    let mut writer = StoredBlockWriter::new(compression_of(&sources)?)?;
    out.begin(sections.blocks)?;
    let mut unpacker = Unpacker::default();
    for source in &sources {
        let BlockSource { reader, documents } = source;
        let mut at = 0;
        while at < reader.count() {
            let group = reader.group(at)?;
            if at % LOOK_EVERY == 0 {
                progress(out.len())?;
            }
            at = group.end;
            let mut blocks = Vec::with_capacity(group.len());
            for number in group.clone() {
                blocks.push(reader.block(number)?);
            }
            let live = survivors(&blocks, documents);
            match blocks.as_slice() {
                _ if live == 0 => {}
                [block] if live < block.docs || is_small(&block.entry, &writer) => {
                    push_survivors(source, group.start, &mut unpacker, &mut writer, out)?;
                }
                blocks => {
                    writer.seal_documents(out)?;
                    for block in blocks {
                        writer.carry(block, out)?;
                    }
                }
            }
        }
    }
    let (index, _) = writer.cut(out)?;
    out.begin(sections.index)?;
    index.write(out)
}

/// Number of documents of these blocks that survive.
fn survivors(blocks: &[PackedBlock<'_>], numbers: &Renumbering) -> u32 {
    if numbers.shift().is_some() {
        return blocks.iter().map(|block| block.docs).sum();
    }
    let docs = |block: &PackedBlock<'_>| block.entry.first..block.entry.first.saturating_add(block.docs);
    let live = blocks.iter().flat_map(docs).filter(|&doc| numbers.get(doc).is_some()).count();
    u32::try_from(live).unwrap_or(u32::MAX)
}

/// Returns true if a block should be packed again together with the pending documents. If every small block
/// were copied, their number would keep growing.
fn is_small(entry: &StoredBlockEntry, writer: &StoredBlockWriter) -> bool {
    let small = |text: usize| writer.is_small(text);
    entry.part == BlockPart::Whole
        && (small(entry.text as usize) || (writer.pending() > 0 && small(writer.pending())))
}

/// Adds the surviving documents of block `number`.
fn push_survivors(
    source: &BlockSource<'_>,
    number: usize,
    unpacker: &mut Unpacker,
    writer: &mut StoredBlockWriter,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    let block = source.reader.load(number, unpacker)?;
    let mut seen = 0;
    for (doc, text) in block.documents() {
        seen += 1;
        if source.documents.get(doc).is_some() {
            writer.push(text, out)?;
            writer.end_document(out)?;
        }
    }
    if seen == block.docs { Ok(()) } else { Err(source.reader.damaged(number)) }
}

/// The compression for blocks that are packed again: the compression of most blocks of the sources.
pub(super) fn compression_of(sources: &[BlockSource<'_>]) -> Result<Compression> {
    let (mut lz4, mut zstd) = (0u64, 0u64);
    for BlockSource { reader, .. } in sources {
        for number in 0..reader.count() {
            match reader.block(number)?.entry.codec {
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
        for (doc, span) in (0..).zip(reader.spans()) {
            let span = span?;
            if numbers.get(doc).is_some() {
                writer.push(span, out)?;
            }
        }
    }
    writer.finish(out)
}
