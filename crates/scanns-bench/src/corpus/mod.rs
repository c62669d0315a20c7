//! Generates corpora; the same seed gives the same bytes. `dump.rs`, `zipf.rs` and `tree.rs` write them,
//! `words.rs` has what they draw from, and `statistics.rs` counts the result.
//!
//! A metadata dump of 1 GiB should be like the real one that the records of this project were taken on:
//! 124,600 tokens per MiB (split at white space and `/`) of 7.4 bytes, of which 14 % are distinct, 68 % of
//! the distinct ones occur once, and lines of 205 bytes. The generated dump is within 4 % of all of these
//! figures. A tree is like the sources of Linux 6.1 in sizes, directories, tokens per MiB (89,600) and their
//! length (8.8 bytes), but has fewer words that occur once. If you have real data, give its path to the other
//! commands instead.

mod dump;
mod files;
mod statistics;
mod tree;
pub mod words;
mod zipf;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use fastrand::Rng;

pub use statistics::Statistics;

/// What to write.
#[derive(Debug, clap::Args)]
pub struct CorpusArgs {
    /// Directory for the files; it is created, and must be empty or hold an earlier corpus
    pub out: PathBuf,
    /// Kind of text
    #[arg(long, value_enum, default_value = "dump")]
    pub kind: Kind,
    /// Size of the corpus in MiB
    #[arg(long, default_value_t = 1024)]
    pub mib: u64,
    /// Seed; the same seed gives the same bytes
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Also write queries by class to this file
    #[arg(long)]
    pub queries: Option<PathBuf>,
}

impl CorpusArgs {
    /// A metadata dump in `out`, and queries for it.
    pub fn on(out: &Path, mib: u64, queries: Option<PathBuf>) -> Self {
        CorpusArgs { out: out.into(), kind: Kind::Dump, mib, seed: 7, queries }
    }
}

/// The kind of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Metadata of files, one file per line, in files of up to 32 MiB
    Dump,
    /// Sentences of words that follow the law of Zipf and Mandelbrot, in files of up to 32 MiB
    Zipf,
    /// Small files like the sources of a program
    Tree,
}

/// Limit in MiB for the text of which statistics are printed.
const COUNTED: u64 = 1024;

/// The file beside the directory of a corpus that marks it as one, so that no other directory is removed.
fn mark(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_os_string();
    name.push(".corpus");
    name.into()
}

/// Writes the corpus and prints its statistics.
pub fn run(args: &CorpusArgs) -> Result<()> {
    clear(&args.out)?;
    let words = match args.kind {
        Kind::Dump => dump::write(&args.out, args.mib << 20, args.seed)?,
        Kind::Zipf => zipf::write(&args.out, args.mib << 20, args.seed)?,
        Kind::Tree => tree::write(&args.out, args.mib << 20, args.seed)?,
    };
    println!("corpus: {:?}, seed {}, in {}", args.kind, args.seed, args.out.display());
    println!("  {}", Statistics::of(&args.out, COUNTED)?);
    let queries = args.queries.as_ref();
    queries.map_or(Ok(()), |path| write_queries(path, &words, &mut Rng::with_seed(args.seed)))
}

/// Makes `out` an empty directory, unless it holds other files.
fn clear(out: &Path) -> Result<()> {
    let mark = mark(out);
    if mark.exists() && out.exists() {
        fs::remove_dir_all(out)?;
    }
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    anyhow::ensure!(
        fs::read_dir(out)?.next().is_none(),
        "{} holds other files: give another directory for the corpus",
        out.display()
    );
    Ok(fs::write(mark, "made by scanns-bench corpus, which may remove the directory of this name\n")?)
}

/// Writes queries of frequent, less frequent and rare words, alone and together. `words` are sorted by
/// falling frequency.
fn write_queries(path: &Path, words: &[String], random: &mut Rng) -> Result<()> {
    let mut out = String::new();
    for (class, terms, frequent) in [
        ("high", 1, true),
        ("med", 1, false),
        ("and2", 2, true),
        ("and3", 3, true),
        ("or2", 2, true),
        ("or3", 3, true),
    ] {
        for _ in 0..100 {
            let mut pick = || if frequent { random.usize(0..20) } else { 200 + random.usize(0..2000) };
            let words: Vec<&str> = (0..terms).filter_map(|_| words.get(pick()).map(String::as_str)).collect();
            out.push_str(&format!("{class}\t{}\n", words.join(" ")));
        }
    }
    Ok(fs::write(path, out)?)
}

#[cfg(test)]
mod tests;
