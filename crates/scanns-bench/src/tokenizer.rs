//! Compares tokenizers: ours and those of Orhean et al., "SCANNS: Towards Scalable and Concurrent Data
//! Indexing and Searching", on text in memory and one thread (their figure 8).
//!
//! With `--analyzer`, analyzers that the paper does not have are measured instead, ours alone.
//!
//! Tokens go to a sink that counts them. Before that, they go to a sink that hashes them in order: the
//! variants must agree, or nothing is measured.

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use scanns::analysis::{TokenSink, Tokenizer};
use scanns::schema::{Analyzer, Delimiters};
use scanns_bench::variants::{TokenizerVariant, VariantTokenizer};

use scanns_bench::results::{Results, Series};
use scanns_bench::stats::{in_turns, mib};

use crate::text;

/// What to tokenize.
#[derive(Debug, clap::Args)]
pub struct TokenizerArgs {
    /// A file or tree; all of it is read into memory first
    pub path: PathBuf,
    /// Limit for the input in MiB; no limit if not given
    #[arg(long)]
    pub mib: Option<u64>,
    /// Measure these analyzers instead of the variants of one
    #[arg(long, value_delimiter = ',', value_parser = Analyzer::parse)]
    pub analyzer: Vec<Analyzer>,
    /// Rounds; in each, all variants run in turn
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

impl TokenizerArgs {
    /// The defaults for a path.
    pub fn on(path: &Path) -> Self {
        TokenizerArgs { path: path.to_path_buf(), mib: None, analyzer: Vec::new(), repetitions: 5 }
    }
}

/// Counts tokens. The compiler must assume that each one is used.
#[derive(Default)]
struct Count(u64);

impl TokenSink for Count {
    #[inline]
    fn tokens(&mut self, _: &[u8], _: usize, bounds: &[u16]) {
        self.0 += std::hint::black_box(bounds).len() as u64 / 2;
    }

    #[inline]
    fn token(&mut self, token: &[u8], _: Range<usize>) {
        std::hint::black_box(token);
        self.0 += 1;
    }
}

/// The number of tokens, and a hash of all of them in order.
#[derive(Default)]
struct Digest(u64, DefaultHasher);

impl TokenSink for Digest {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.chunks_exact(2) {
            let range = base + usize::from(pair[0])..base + usize::from(pair[1]);
            self.token(text.get(range.clone()).unwrap_or_default(), range);
        }
    }

    fn token(&mut self, token: &[u8], _: Range<usize>) {
        self.0 += 1;
        self.1.write_usize(token.len());
        self.1.write(token);
    }
}

fn tokenize<S: TokenSink>(tokenizer: &mut VariantTokenizer, texts: &mut [Vec<u8>], sink: &mut S) -> f64 {
    let begin = Instant::now();
    for text in texts {
        let all = 0..text.len();
        tokenizer.run(text, all, sink);
    }
    begin.elapsed().as_secs_f64()
}

/// Measures every tokenizer.
pub fn run(args: &TokenizerArgs, results: &mut Results) -> Result<()> {
    let mut texts = text::load(&args.path, args.mib)?;
    let size = text::bytes(&texts);
    if !args.analyzer.is_empty() {
        return run_analyzers(args, &mut texts, results);
    }
    let mut tokenizers: Vec<_> =
        TokenizerVariant::ALL.iter().map(|variant| variant.build(&Delimiters::paths())).collect();
    let mut digests = Vec::new();
    for tokenizer in &mut tokenizers {
        let mut digest = Digest::default();
        tokenize(tokenizer, &mut texts, &mut digest);
        digests.push((digest.0, digest.1.finish()));
    }
    for (variant, digest) in TokenizerVariant::ALL.iter().zip(&digests) {
        anyhow::ensure!(digests.first() == Some(digest), "{} finds different tokens", variant.name());
    }
    let tokens = digests.first().map_or(0, |digest| digest.0);
    let subject = format!("{}, {:.0} MiB, {tokens} tokens", text::name(&args.path), mib(size));
    println!("tokenizer: {subject}; all agree");
    let variants: Vec<usize> = (0..tokenizers.len()).collect();
    let rates = in_turns(args.repetitions.max(1), &variants, |&at| {
        let mut count = Count::default();
        let tokenizer = tokenizers.get_mut(at).context("a tokenizer for every variant")?;
        let seconds = tokenize(tokenizer, &mut texts, &mut count);
        anyhow::ensure!(count.0 == tokens, "{} tokens instead of {tokens}", count.0);
        anyhow::Ok(mib(size) / seconds)
    })?;
    let ours = rates.last().cloned();
    for (variant, rates) in TokenizerVariant::ALL.iter().zip(rates) {
        results.add(Series::rate("tokenizer", &subject, variant.name(), rates), ours.as_deref());
    }
    Ok(())
}

/// Measures the analyzers of the options.
fn run_analyzers(args: &TokenizerArgs, texts: &mut [Vec<u8>], results: &mut Results) -> Result<()> {
    let size = text::bytes(texts);
    let subject = format!("{}, {:.0} MiB", text::name(&args.path), mib(size));
    println!("tokenizer: {subject}");
    let mut tokenizers: Vec<_> = args.analyzer.iter().map(Tokenizer::new).collect();
    let variants: Vec<usize> = (0..tokenizers.len()).collect();
    let rates = in_turns(args.repetitions.max(1), &variants, |&at| {
        let tokenizer = tokenizers.get_mut(at).context("a tokenizer for every analyzer")?;
        let mut count = Count::default();
        let begin = Instant::now();
        for text in &mut *texts {
            let all = 0..text.len();
            tokenizer.run(text, all, &mut count);
        }
        anyhow::Ok(mib(size) / begin.elapsed().as_secs_f64())
    })?;
    for (analyzer, rates) in args.analyzer.iter().zip(rates) {
        results.add(Series::rate("tokenizer", &subject, &analyzer.name(), rates), None);
    }
    Ok(())
}
