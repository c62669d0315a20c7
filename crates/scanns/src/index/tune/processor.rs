//! What one processor can do: text that is in memory already to a finished segment that stays in memory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Instant;

use super::sample::Pick;
use crate::column::ColumnSet;
use crate::error::{Error, Result};
use crate::index::IndexOptions;
use crate::invert::{CHECK_EVERY, InvertOptions, Inverter};
use crate::record::Parts;
use crate::schema::{Analyzer, Field};
use crate::segment::{Collector, FlushBuffers, Keys, flush};
use crate::source::Input;
use crate::store::RamDirectory;
use crate::tokenize::Tokenizer;

/// What one thread was measured to do with text in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorLimits {
    /// Bytes of text inverted per second, in memory that was used before.
    pub invert: f64,
    /// The same in fresh memory.
    pub invert_fresh: f64,
    /// Bytes of text per second whose postings are sorted and encoded.
    pub flush: f64,
    /// Bytes of text per token.
    pub bytes_per_token: f64,
    /// Bytes of text per distinct term of the text that was measured.
    pub bytes_per_term: f64,
    /// Bytes of memory for the postings of a byte of text.
    pub memory: f64,
    /// Bytes written for a byte of text.
    pub written: f64,
}

impl ProcessorLimits {
    /// Bytes of text per second and thread to a finished segment.
    pub fn rate(&self) -> f64 {
        1.0 / (1.0 / self.invert + 1.0 / self.flush)
    }
}

/// Inverts the `picks` of `inputs`, which fit into memory, several times on this thread.
///
/// # Errors
/// Where nothing can be read, or there is no memory.
pub(super) fn measure(inputs: &[Input], picks: &[Pick], options: &IndexOptions) -> Result<ProcessorLimits> {
    let read = |pick: &Pick| {
        let mut text = Vec::new();
        let mut file = File::open(&inputs[pick.input].path).ok()?;
        file.seek(SeekFrom::Start(pick.offset)).ok()?;
        file.take(pick.len).read_to_end(&mut text).ok()?;
        Some(text)
    };
    let mut texts: Vec<Vec<u8>> = picks.iter().filter_map(read).collect();
    let bytes = super::float(texts.iter().map(|text| text.len() as u64).sum());
    if bytes == 0.0 {
        return Err(Error::Options(
            "nothing to tune on: give files that can be read and are not empty".into(),
        ));
    }
    let analyzer = options.analyzer.clone().unwrap_or(Analyzer::Standard);
    let invert = InvertOptions { budget: 1 << 30, pages: options.read.pages, ..InvertOptions::default() };
    let mut one = One {
        options,
        tokenizer: Tokenizer::new(&analyzer),
        inverter: Inverter::new(&invert)?,
        analyzer: &analyzer,
    };
    let fresh = one.invert(&mut texts);
    let (tokens, terms) = (super::float(one.inverter.tokens()), super::float(one.inverter.terms() as u64));
    let memory = super::float(one.inverter.bytes() as u64);
    one.flush()?;
    let (mut reused, mut flushed, mut written) = (f64::INFINITY, f64::INFINITY, 0.0);
    // The least of a few: what disturbs a measurement only adds to it.
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

/// An index thread without a reader and a disk.
struct One<'a> {
    options: &'a IndexOptions,
    analyzer: &'a Analyzer,
    tokenizer: Tokenizer,
    inverter: Inverter,
}

impl One<'_> {
    /// Seconds until all texts are inverted.
    fn invert(&mut self, texts: &mut [Vec<u8>]) -> f64 {
        let begun = Instant::now();
        for text in texts {
            let all = 0..text.len();
            let mut parts =
                Parts::new(self.options.records, self.analyzer, all, (false, true), CHECK_EVERY / 4);
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

    /// Seconds until a segment is in memory, and its bytes; the keys of its documents are left out.
    fn flush(&mut self) -> Result<(f64, f64)> {
        let begun = Instant::now();
        let (keys, mut stored) = (Keys::default(), Collector::none());
        let mut fields = [(Field::default(), &mut self.inverter)];
        let buffers = FlushBuffers::default();
        let (segment, unsynced) = flush(
            &RamDirectory::new(),
            1,
            &mut fields,
            &keys,
            &mut stored,
            &mut ColumnSet::default(),
            &buffers,
        )?;
        unsynced.sync()?;
        Ok((begun.elapsed().as_secs_f64(), super::float(segment.bytes)))
    }
}
