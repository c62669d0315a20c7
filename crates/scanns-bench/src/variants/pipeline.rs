//! Indexes files in memory with any reader, tokenizer and index of the ladder. Orhean et al., "SCANNS:
//! Towards Scalable and Concurrent Data Indexing and Searching", measure this whole pipeline in their figure
//! 9.
//!
//! Read threads give blocks to index threads. Each index thread has its own tokenizer and its own index, and
//! a document is a file. A `Joiner` joins the tokens that a reader cuts at the end of a block.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use scanns::index::InvertOptions;
use scanns::internals::{self, CHECK_EVERY, Piece};
use scanns::schema::{Delimiters, MAX_TOKEN};
use scanns::sources::{Failure, Input, ReadOptions};

use super::invert::LadderIndex;
use super::read::Lane;
use super::{IndexerVariant, ReaderVariant, TokenizerVariant, VariantTokenizer};

/// The options of a run.
#[derive(Clone, Debug)]
pub struct LadderOptions {
    /// How files are read.
    pub reader: ReaderVariant,
    /// How tokens are found.
    pub tokenizer: TokenizerVariant,
    /// How they are indexed.
    pub indexer: IndexerVariant,
    /// Options of the reader; `lanes` is the number of index threads.
    pub read: ReadOptions,
    /// The bytes between tokens.
    pub delimiters: Delimiters,
    /// Options of each thread's index; `budget` is the memory of one.
    pub invert: InvertOptions,
}

/// The outcome of a run.
pub struct LadderRun {
    /// Seconds from the start until all indexes were complete.
    pub seconds: f64,
    /// Bytes of text read.
    pub bytes: u64,
    /// Inputs that could not be read completely.
    pub failures: Vec<Failure>,
    /// The index of each thread.
    pub parts: Vec<LadderPart>,
}

/// The index of one thread.
pub struct LadderPart {
    /// Terms and postings; documents are numbers in `inputs`.
    pub index: Box<dyn LadderIndex>,
    /// For each document, the number of its input. An input that could not be opened is not a document; one
    /// that could be read only in part is a document with that part.
    pub inputs: Vec<u32>,
    /// The number of tokens that were cut to [`MAX_TOKEN`] bytes.
    pub cut_terms: u64,
}

/// Indexes `inputs`, one document each, and keeps the indexes in memory. Setting `cancel` stops it.
///
/// # Errors
/// If the options are invalid, if there is not enough memory, or if `cancel` was set. Inputs that cannot be
/// read are not an error; they are in [`LadderRun::failures`].
pub fn index_files(
    inputs: &Arc<Vec<Input>>,
    options: &LadderOptions,
    cancel: &AtomicBool,
) -> Result<LadderRun> {
    let begun = Instant::now();
    let stop = Arc::new(AtomicBool::new(false));
    let (driver, lanes) =
        options.reader.start(Arc::clone(inputs), &options.delimiters, &options.read, Arc::clone(&stop))?;
    let parts: Result<Vec<LadderPart>> = std::thread::scope(|scope| {
        let (stop, cancel) = (&*stop, cancel);
        let index = |lane| {
            let part = index_lane(lane, options, cancel);
            if part.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            part
        };
        let threads: Vec<_> = lanes.into_iter().map(|lane| scope.spawn(move || index(lane))).collect();
        let parts: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("an index thread panicked"))))
            .collect();
        parts.into_iter().collect()
    });
    let parts = parts?;
    let report = driver.finish()?;
    Ok(LadderRun {
        seconds: begun.elapsed().as_secs_f64(),
        bytes: report.bytes,
        failures: report.failures,
        parts,
    })
}

/// Indexes the blocks of one lane.
fn index_lane(lane: Lane, options: &LadderOptions, cancel: &AtomicBool) -> Result<LadderPart> {
    if let Some(cpus) = lane.node_cpus() {
        internals::pin_current_thread(cpus);
    }
    let mut indexer = IndexThread {
        joiner: Joiner { delimiters: options.delimiters, open: Vec::new() },
        tokenizer: options.tokenizer.build(&options.delimiters),
        index: options.indexer.build(&options.invert)?,
        inputs: Vec::new(),
        options,
    };
    for mut block in lane {
        if cancel.load(Ordering::Relaxed) {
            bail!("cancelled");
        }
        let (pieces, bytes) = block.split();
        pieces.iter().try_for_each(|piece| indexer.piece(piece, bytes))?;
    }
    let IndexThread { mut index, inputs, tokenizer, .. } = indexer;
    index.finish()?;
    Ok(LadderPart { index, inputs, cut_terms: tokenizer.cut_tokens() })
}

/// The state of an index thread.
struct IndexThread<'a> {
    options: &'a LadderOptions,
    joiner: Joiner,
    tokenizer: VariantTokenizer,
    index: Box<dyn LadderIndex>,
    inputs: Vec<u32>,
}

impl IndexThread<'_> {
    fn piece(&mut self, piece: &Piece, bytes: &mut [u8]) -> Result<()> {
        if piece.opens && piece.failed {
            return Ok(());
        }
        if piece.opens {
            self.inputs.push(piece.input);
        }
        let mut range = piece.start..piece.end;
        if self.options.reader.cuts_tokens() {
            let (token, rest) = self.joiner.join(bytes, range, piece.closes);
            range = rest;
            if let Some(mut token) = token {
                let all = 0..token.len();
                self.tokenizer.run(&mut token, all, &mut &mut *self.index);
            }
        } else if piece.mid_token {
            range.start += self.joiner.rest_of_token(&bytes[range.clone()]);
        }
        while !range.is_empty() {
            let stop = self.next_stop(bytes, range.clone());
            self.tokenizer.run(bytes, range.start..stop, &mut &mut *self.index);
            range.start = stop;
            self.check()?;
        }
        if piece.closes {
            self.index.end_document();
            self.check()?;
        }
        Ok(())
    }

    /// The end of the next piece of text to push before the memory is checked. It does not cut a token.
    fn next_stop(&self, bytes: &[u8], range: Range<usize>) -> usize {
        let most = range.start + CHECK_EVERY / 4;
        if most >= range.end {
            return range.end;
        }
        let may_cut = |&at: &usize| self.options.delimiters.contains(bytes[at]);
        let before = (range.start + 1..=most).rev().find(may_cut);
        before.or_else(|| (most + 1..range.end).find(may_cut)).unwrap_or(range.end)
    }

    /// Returns an error once the memory of the index is used up.
    fn check(&mut self) -> Result<()> {
        if self.index.is_full() {
            self.index.finish()?;
            let mib = self.options.invert.budget >> 20;
            bail!("the index of a thread needs more than its {mib} MiB of memory: give more, or less text");
        }
        Ok(())
    }
}

/// Joins the parts of tokens that were cut at the end of a block.
struct Joiner {
    delimiters: Delimiters,
    /// The beginning of a token that may continue in the next piece. It has at most one byte more than the
    /// longest token, which tells the tokenizer that the token was cut.
    open: Vec<u8>,
}

impl Joiner {
    /// Takes the rest of a token that began in the previous piece from the front of `bytes[range]`. Unless
    /// the file ends there, also takes the beginning of a token that may continue in the next piece from the
    /// end. Returns the joined token, if it is complete, and the rest of the range.
    fn join(
        &mut self,
        bytes: &[u8],
        mut range: Range<usize>,
        closes: bool,
    ) -> (Option<Vec<u8>>, Range<usize>) {
        let mut joined = None;
        if !self.open.is_empty() {
            let rest = range.start + self.rest_of_token(&bytes[range.clone()]);
            self.keep(&bytes[range.start..rest]);
            range.start = rest;
            if range.is_empty() && !closes {
                return (None, range);
            }
            joined = Some(std::mem::take(&mut self.open));
        }
        if !closes {
            let delimiter = |&byte: &u8| self.delimiters.contains(byte);
            let text = &bytes[range.clone()];
            let tail = range.end - text.iter().rev().position(delimiter).unwrap_or(text.len());
            self.keep(&bytes[tail..range.end]);
            range.end = tail;
        }
        (joined, range)
    }

    /// The number of bytes at the front of `text` before the first delimiter.
    fn rest_of_token(&self, text: &[u8]) -> usize {
        text.iter().position(|&byte| self.delimiters.contains(byte)).unwrap_or(text.len())
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_TOKEN + 1 - self.open.len();
        self.open.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_joined_wherever_the_text_is_cut() {
        let text = b" one twothree  a four ";
        let words = |text: &[u8]| -> Vec<Vec<u8>> {
            text.split(|&byte| byte == b' ').filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
        };
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let mut joiner = Joiner { delimiters: Delimiters::whitespace(), open: Vec::new() };
                let mut found = Vec::new();
                for range in [0..first, first..second, second..text.len()] {
                    let closes = range.end == text.len() && range.start == second;
                    let (token, rest) = joiner.join(text, range, closes);
                    found.extend(token);
                    found.extend(words(&text[rest]));
                }
                assert_eq!(found, words(text), "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn of_a_token_that_is_too_long_only_enough_is_kept_to_see_that() {
        let mut joiner = Joiner { delimiters: Delimiters::whitespace(), open: Vec::new() };
        let text = vec![b'x'; 3 * MAX_TOKEN];
        for _ in 0..3 {
            let (token, rest) = joiner.join(&text, 0..text.len(), false);
            assert!(token.is_none() && rest.is_empty());
        }
        let (token, rest) = joiner.join(b"xx y", 0..4, true);
        assert_eq!((token.map(|token| token.len()), rest), (Some(MAX_TOKEN + 1), 2..4));
    }
}
