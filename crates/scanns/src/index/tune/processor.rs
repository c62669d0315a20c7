//! Measures one processor: from text in memory to a finished segment in memory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Instant;

use super::numbers::float;
use super::sample::Pick;
use crate::column::ColumnSet;
use crate::error::{Error, Result};
use crate::index::build::options::IndexOptions;
use crate::invert::{CHECK_EVERY, InvertOptions, Inverter};
use crate::record::{DocumentParts, DocumentRange};
use crate::schema::{Analyzer, Field};
use crate::segment::{FlushBuffers, Keys, SegmentContents, StoredCollector, flush};
use crate::source::Input;
use crate::store::RamDirectory;
use crate::tokenize::Tokenizer;

/// The measured speed of one thread with text in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorLimits {
    /// Bytes of text inverted per second in memory that was used before.
    pub invert: f64,
    /// Bytes of text inverted per second in fresh memory.
    pub invert_fresh: f64,
    /// Bytes of text per second whose postings are sorted and encoded.
    pub flush: f64,
    /// Bytes of text per token.
    pub bytes_per_token: f64,
    /// Bytes of text per distinct term.
    pub bytes_per_term: f64,
    /// Bytes of memory per byte of text.
    pub memory: f64,
    /// Bytes written per byte of text.
    pub written: f64,
}

impl ProcessorLimits {
    /// Returns the bytes of text per second that one thread turns into a finished segment.
    pub fn rate(&self) -> f64 {
        1.0 / (1.0 / self.invert + 1.0 / self.flush)
    }
}

/// Inverts the `picks` of `inputs`, which fit into memory, several times on this thread.
///
/// # Errors
/// [`Error::InvalidValue`] if nothing can be read, and errors of memory.
pub(super) fn measure(inputs: &[Input], picks: &[Pick], options: &IndexOptions) -> Result<ProcessorLimits> {
    let read = |pick: &Pick| {
        let mut text = Vec::new();
        let mut file = File::open(&inputs[pick.input].path).ok()?;
        file.seek(SeekFrom::Start(pick.offset)).ok()?;
        file.take(pick.len).read_to_end(&mut text).ok()?;
        Some(text)
    };
    let mut texts: Vec<Vec<u8>> = picks.iter().filter_map(read).collect();
    let bytes = float(texts.iter().map(|text| text.len() as u64).sum());
    if bytes == 0.0 {
        return Err(Error::invalid(
            "inputs of tuning",
            "without text",
            "files that can be read and are not empty",
        ));
    }
    let analyzer = options.analyzer.clone().unwrap_or(Analyzer::Standard);
    let invert = InvertOptions { budget: 1 << 30, pages: options.read.pages, ..InvertOptions::default() };
    let mut one = MemoryIndexer {
        options,
        tokenizer: Tokenizer::new(&analyzer),
        inverter: Inverter::new(&invert)?,
        analyzer: &analyzer,
    };
    let fresh = one.invert(&mut texts);
    let (tokens, terms) = (float(one.inverter.tokens()), float(one.inverter.terms() as u64));
    let memory = float(one.inverter.bytes() as u64);
    one.flush()?;
    let (mut reused, mut flushed, mut written) = (f64::INFINITY, f64::INFINITY, 0.0);
    // Use the minimum of a few measurements, because disturbances only increase them.
    for _ in 0..3 {
        reused = one.invert(&mut texts).min(reused);
        let (seconds, bytes) = one.flush()?;
        flushed = seconds.min(flushed);
        written = bytes;
    }
    Ok(ProcessorLimits {
        invert: bytes / reused,
        invert_fresh: bytes / fresh,
        flush: bytes / flushed,
        bytes_per_token: bytes / tokens.max(1.0),
        bytes_per_term: bytes / terms.max(1.0),
        memory: memory / bytes,
        written: written / bytes,
    })
}

/// An index thread without a reader and without a disk.
struct MemoryIndexer<'a> {
    options: &'a IndexOptions,
    analyzer: &'a Analyzer,
    tokenizer: Tokenizer,
    inverter: Inverter,
}

impl MemoryIndexer<'_> {
    /// Inverts all texts, and returns the seconds it took.
    fn invert(&mut self, texts: &mut [Vec<u8>]) -> f64 {
        let begun = Instant::now();
        for text in texts {
            let all = 0..text.len();
            let mut parts = DocumentParts::new(
                self.options.records,
                self.analyzer,
                DocumentRange::whole(all),
                CHECK_EVERY / 4,
            );
            while let Some(part) = parts.step(text) {
                self.tokenizer.run(text, part.range, &mut self.inverter);
                if part.closes {
                    self.inverter.end_document();
                }
            }
        }
        self.inverter.settle();
        begun.elapsed().as_secs_f64()
    }

    /// Writes a segment to memory, without keys, and returns the seconds it took and its bytes.
    fn flush(&mut self) -> Result<(f64, f64)> {
        let begun = Instant::now();
        let (keys, mut stored) = (Keys::default(), StoredCollector::none());
        let mut columns = ColumnSet::default();
        let fields = vec![(Field::default(), &mut self.inverter)];
        let contents = SegmentContents { fields, keys: &keys, stored: &mut stored, columns: &mut columns };
        let buffers = FlushBuffers::default();
        let (segment, unsynced) = flush(&RamDirectory::new(), 1, contents, &buffers)?;
        unsynced.sync()?;
        Ok((begun.elapsed().as_secs_f64(), float(segment.bytes)))
    }
}
