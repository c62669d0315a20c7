//! The variants that can be chosen by name: the ladder of Orhean et al., "SCANNS: Towards Scalable and Concurrent
//! Data Indexing and Searching", under the names of the paper, and at its end ours.
//!
//! Builds use ours; the others are what it is measured by. A variant is added here, in a file of its own beside the
//! others (`read/ladder/`, `tokenize/ladder.rs`, `invert/ladder/`), and nowhere else: tests and benchmarks go through
//! `ALL`. `pipeline.rs` runs any of one kind with any of the others.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Result};
use crate::invert::ladder::{self, LadderIndex};
use crate::invert::{InvertOptions, Inverter};
use crate::read::ladder::{Design, start};
use crate::read::{self, Lane, ReadOptions, ReaderDriver};
use crate::schema::{Analyzer, Delimiters, Records};
use crate::source::Input;
use crate::tokenize::ladder::{Strtok, Table};
use crate::tokenize::{TokenSink, Tokenizer};

/// How the bytes of files come into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderVariant {
    /// Blocks of a fixed size, each allocated afresh and read through the page cache.
    Std,
    /// Blocks of a fixed size from a pool, read past the page cache.
    NoNuma,
    /// The same with blocks and threads on one memory node.
    Numa,
    /// The same with blocks that cut no token: the best of the paper.
    Wave,
    /// [`read::start`].
    Ours,
}

impl ReaderVariant {
    /// All of them, from the first step to the last.
    pub const ALL: [Self; 5] = [Self::Std, Self::NoNuma, Self::Numa, Self::Wave, Self::Ours];

    /// The name in the paper, or `ours`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Std => "xs-rd-std",
            Self::NoNuma => "xs-rd-nonuma",
            Self::Numa => "xs-rd-numa",
            Self::Wave => "xs-rd-wave",
            Self::Ours => "ours",
        }
    }

    /// The variant with this name.
    ///
    /// # Errors
    /// Where there is none; the error lists those that are.
    pub fn parse(name: &str) -> Result<Self> {
        find("reader", name, &Self::ALL, Self::name)
    }

    /// True if a block may end inside a token, so that who takes the blocks must put it together.
    pub const fn cuts_tokens(self) -> bool {
        matches!(self, Self::Std | Self::NoNuma | Self::Numa)
    }

    /// Starts reading `inputs`, whole files with tokens between `delimiters`.
    ///
    /// Each lane must be emptied by a thread of its own, or dropped. To the older readers, which read one block after
    /// the other, depth of the queue, io_uring and chunks mean nothing; `direct` and `pages` mean nothing to the first,
    /// and `pin` means something to the last two only.
    ///
    /// # Errors
    /// Options that cannot work; no memory or no thread to be had.
    pub fn start(
        self,
        inputs: Arc<Vec<Input>>,
        delimiters: &Delimiters,
        options: &ReadOptions,
        cancel: Arc<AtomicBool>,
    ) -> Result<(ReaderDriver, Vec<Lane>)> {
        let design = match self {
            Self::Std => Design::Std,
            Self::NoNuma => Design::Pool,
            Self::Numa => Design::Numa,
            Self::Wave => Design::Wave,
            Self::Ours => {
                return read::start(inputs, Records::File, &Analyzer::Bytes(*delimiters), options, cancel);
            }
        };
        start(design, inputs, delimiters, options, cancel)
    }
}

/// How tokens are found between delimiter bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenizerVariant {
    /// As C's `strtok` finds them.
    Strtok,
    /// With a table of delimiter flags, without branches.
    Table,
    /// [`Tokenizer`]: vector instructions.
    Ours,
}

impl TokenizerVariant {
    /// All of them, from the first step to the last.
    pub const ALL: [Self; 3] = [Self::Strtok, Self::Table, Self::Ours];

    /// The name in the paper, or `ours`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strtok => "xs-rdtokstd",
            Self::Table => "xs-rdtok",
            Self::Ours => "ours",
        }
    }

    /// The variant with this name.
    ///
    /// # Errors
    /// Where there is none; the error lists those that are.
    pub fn parse(name: &str) -> Result<Self> {
        find("tokenizer", name, &Self::ALL, Self::name)
    }

    /// A tokenizer for what stands between `delimiters`.
    pub fn build(self, delimiters: &Delimiters) -> VariantTokenizer {
        match self {
            Self::Strtok => VariantTokenizer::Strtok(Strtok::new(delimiters)),
            Self::Table => VariantTokenizer::Table(Table::new(delimiters)),
            Self::Ours => VariantTokenizer::Ours(Tokenizer::new(&Analyzer::Bytes(*delimiters))),
        }
    }
}

/// A tokenizer of one of the variants.
pub enum VariantTokenizer {
    /// See [`TokenizerVariant::Strtok`].
    Strtok(Strtok),
    /// See [`TokenizerVariant::Table`].
    Table(Table),
    /// See [`TokenizerVariant::Ours`].
    Ours(Tokenizer),
}

impl VariantTokenizer {
    /// Pushes the tokens of `text[range]` into `sink`.
    #[inline]
    pub fn run<S: TokenSink>(&mut self, text: &mut [u8], range: Range<usize>, sink: &mut S) {
        match self {
            Self::Strtok(strtok) => strtok.run(text, range, sink),
            Self::Table(table) => table.run(text, range, sink),
            Self::Ours(tokenizer) => tokenizer.run(text, range, sink),
        }
    }

    /// Tokens that were cut to [`MAX_TOKEN`](crate::tokenize::MAX_TOKEN) bytes so far.
    pub fn cut_tokens(&self) -> u64 {
        match self {
            Self::Strtok(strtok) => strtok.cut_tokens(),
            Self::Table(table) => table.cut_tokens(),
            Self::Ours(tokenizer) => tokenizer.cut_tokens(),
        }
    }
}

/// How terms become postings in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexerVariant {
    /// A chained hash table, an allocation for everything.
    Std,
    /// A Swiss table, an allocation for each key and posting.
    Swiss,
    /// The chained table with a paged sub-allocator.
    StdPa,
    /// The Swiss table with a paged sub-allocator: the best of the paper.
    SwissPa,
    /// [`Inverter`].
    Ours,
}

impl IndexerVariant {
    /// All of them, from the first step to the last.
    pub const ALL: [Self; 5] = [Self::Std, Self::Swiss, Self::StdPa, Self::SwissPa, Self::Ours];

    /// The name in the paper, or `ours`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Std => "xs-rdtokidx-std",
            Self::Swiss => "xs-rdtokidx-swiss",
            Self::StdPa => "xs-rdtokidx-std-pa",
            Self::SwissPa => "xs-rdtokidx-swiss-pa",
            Self::Ours => "ours",
        }
    }

    /// The variant with this name.
    ///
    /// # Errors
    /// Where there is none; the error lists those that are.
    pub fn parse(name: &str) -> Result<Self> {
        find("indexer", name, &Self::ALL, Self::name)
    }

    /// The tokenizer that goes with it: the paper's table for the paper's indexers, ours for ours.
    pub const fn tokenizer(self) -> TokenizerVariant {
        match self {
            Self::Std | Self::Swiss | Self::StdPa | Self::SwissPa => TokenizerVariant::Table,
            Self::Ours => TokenizerVariant::Ours,
        }
    }

    /// An empty index. Budget and pages matter to those that reserve their memory: those with a sub-allocator, and ours.
    ///
    /// # Errors
    /// Where the memory cannot be reserved.
    pub fn build(self, options: &InvertOptions) -> Result<Box<dyn LadderIndex>> {
        Ok(match self {
            Self::Std => ladder::std(options),
            Self::Swiss => ladder::swiss(options),
            Self::StdPa => ladder::std_pa(options)?,
            Self::SwissPa => ladder::swiss_pa(options)?,
            Self::Ours => Box::new(Inverter::new(options)?),
        })
    }
}

/// The variant called `name`, or an error that lists all.
fn find<V: Copy>(kind: &str, name: &str, all: &[V], name_of: fn(V) -> &'static str) -> Result<V> {
    all.iter().copied().find(|&variant| name_of(variant) == name).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|&variant| name_of(variant)).collect();
        Error::Options(format!("{kind} '{name}' is unknown: use one of {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_ladder_parse_back_and_others_are_answered_with_all_of_them() {
        for variant in ReaderVariant::ALL {
            assert_eq!(ReaderVariant::parse(variant.name()).unwrap(), variant);
        }
        for variant in TokenizerVariant::ALL {
            assert_eq!(TokenizerVariant::parse(variant.name()).unwrap(), variant);
        }
        for variant in IndexerVariant::ALL {
            assert_eq!(IndexerVariant::parse(variant.name()).unwrap(), variant);
        }
        let error = IndexerVariant::parse("xs-rdtokidx-cuckoo").unwrap_err().to_string();
        assert!(IndexerVariant::ALL.iter().all(|variant| error.contains(variant.name())), "{error}");
        assert!(TokenizerVariant::parse("").is_err());
    }
}
