//! The designs that scanns is measured against, by name. They are the ladder of Orhean et al., "SCANNS:
//! Towards Scalable and Concurrent Data Indexing and Searching", under the names of the paper. The design of
//! scanns is the last step.
//!
//! Readers are in `read/`, tokenizers in `tokenize.rs`, and indexes in memory in `invert/`. `pipeline.rs`
//! combines any reader, tokenizer and index. To add a variant, write its file beside the others and name it
//! here: tests and experiments iterate over `ALL`.

pub mod invert;
pub mod pipeline;
pub mod read;
pub mod tokenize;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, anyhow};
use scanns::analysis::{TokenSink, Tokenizer};
use scanns::index::InvertOptions;
use scanns::internals::{self, Inverter};
use scanns::schema::{Analyzer, Delimiters, Records};
use scanns::sources::{ContentOptions, Input, ReadOptions};

use invert::LadderIndex;
use read::{Design, Driver, Lane};
use tokenize::{FlagTable, Strtok};

/// How files are read into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderVariant {
    /// Blocks of a fixed size, each newly allocated and read through the page cache.
    Std,
    /// Blocks of a fixed size from a pool, read past the page cache.
    NoNuma,
    /// The same with blocks and threads on one memory node.
    Numa,
    /// The same with blocks that do not cut tokens: the best reader of the paper.
    Wave,
    /// The reader of scanns.
    Ours,
}

impl ReaderVariant {
    /// All variants, from the first step to the last.
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
    /// For an unknown name; the error lists the known ones.
    pub fn parse(name: &str) -> Result<Self> {
        find("reader", name, &Self::ALL, Self::name)
    }

    /// True if a block may end inside a token, so that the consumer must join the two halves.
    pub const fn cuts_tokens(self) -> bool {
        matches!(self, Self::Std | Self::NoNuma | Self::Numa)
    }

    /// Starts reading `inputs` as whole files with tokens between `delimiters`.
    ///
    /// Each lane must be emptied by its own thread, or dropped. The paper's readers read one block after
    /// another and ignore queue depth, io_uring and chunks. The first of them also ignores `direct` and
    /// `pages`, and only the last two use `pin`.
    ///
    /// # Errors
    /// If the options are invalid, or if memory or a thread is not available.
    pub fn start(
        self,
        inputs: Arc<Vec<Input>>,
        delimiters: &Delimiters,
        options: &ReadOptions,
        cancel: Arc<AtomicBool>,
    ) -> Result<(Driver, Vec<Lane>)> {
        let design = match self {
            Self::Std => Design::Std,
            Self::NoNuma => Design::Pool,
            Self::Numa => Design::Numa,
            Self::Wave => Design::Wave,
            Self::Ours => {
                let analyzer = Analyzer::Bytes(*delimiters);
                // The papers' readers take every byte of a file for text, and so does this one beside them.
                let options = ReadOptions { contents: ContentOptions::RAW, ..options.clone() };
                let (driver, lanes) = internals::start(inputs, Records::File, &analyzer, &options, cancel)?;
                return Ok((Driver::Ours(driver), lanes.into_iter().map(Lane::Ours).collect()));
            }
        };
        read::start(design, inputs, delimiters, options, cancel)
    }
}

/// How tokens are found between delimiter bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenizerVariant {
    /// As C's `strtok` finds them.
    Strtok,
    /// With a table of delimiter flags, without branches.
    Table,
    /// The tokenizer of scanns, with vector instructions.
    Ours,
}

impl TokenizerVariant {
    /// All variants, from the first step to the last.
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
    /// For an unknown name; the error lists the known ones.
    pub fn parse(name: &str) -> Result<Self> {
        find("tokenizer", name, &Self::ALL, Self::name)
    }

    /// A tokenizer that splits at `delimiters`.
    pub fn build(self, delimiters: &Delimiters) -> VariantTokenizer {
        match self {
            Self::Strtok => VariantTokenizer::Strtok(Strtok::new(delimiters)),
            Self::Table => VariantTokenizer::Table(FlagTable::new(delimiters)),
            Self::Ours => VariantTokenizer::Ours(Tokenizer::new(&Analyzer::Bytes(*delimiters))),
        }
    }
}

/// A tokenizer of one of the variants.
pub enum VariantTokenizer {
    /// See [`TokenizerVariant::Strtok`].
    Strtok(Strtok),
    /// See [`TokenizerVariant::Table`].
    Table(FlagTable),
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

    /// The number of tokens that were cut to [`MAX_TOKEN`](scanns::schema::MAX_TOKEN) bytes so far.
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
    /// A chained hash table with an allocation for everything.
    Std,
    /// A Swiss table with an allocation for each key and posting.
    Swiss,
    /// The chained table with a paged sub-allocator.
    StdPa,
    /// The Swiss table with a paged sub-allocator: the best index of the paper.
    SwissPa,
    /// The inverter of scanns.
    Ours,
}

impl IndexerVariant {
    /// All variants, from the first step to the last.
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
    /// For an unknown name; the error lists the known ones.
    pub fn parse(name: &str) -> Result<Self> {
        find("indexer", name, &Self::ALL, Self::name)
    }

    /// The tokenizer that feeds the indexer: the paper's table for the paper's indexers, ours for ours.
    pub const fn tokenizer(self) -> TokenizerVariant {
        match self {
            Self::Std | Self::Swiss | Self::StdPa | Self::SwissPa => TokenizerVariant::Table,
            Self::Ours => TokenizerVariant::Ours,
        }
    }

    /// Creates an empty index. Budget and pages only matter to the variants that reserve their memory: those
    /// with a sub-allocator, and ours.
    ///
    /// # Errors
    /// If the memory cannot be reserved.
    pub fn build(self, options: &InvertOptions) -> Result<Box<dyn LadderIndex>> {
        Ok(match self {
            Self::Std => invert::std(options),
            Self::Swiss => invert::swiss(options),
            Self::StdPa => invert::std_pa(options)?,
            Self::SwissPa => invert::swiss_pa(options)?,
            Self::Ours => Box::new(Inverter::new(options)?),
        })
    }
}

/// The variant called `name`, or an error that lists all.
fn find<V: Copy>(kind: &str, name: &str, all: &[V], name_of: fn(V) -> &'static str) -> Result<V> {
    all.iter().copied().find(|&variant| name_of(variant) == name).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|&variant| name_of(variant)).collect();
        anyhow!("unknown {kind} '{name}': use one of {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variants_parse_back_and_an_unknown_name_is_answered_with_all_of_them() {
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
