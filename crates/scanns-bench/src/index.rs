//! Indexing of files by number of index threads, after figure 9 of Orhean et al., "SCANNS: Towards Scalable
//! and Concurrent Data Indexing and Searching".
//!
//! The paper's indexers run behind its wave reader and its tokenizer, and leave an index in memory. Ours does
//! the same behind our reader and tokenizer; in a second variant it builds until the commit is durable and
//! the index can be searched. All variants take turns in one run. The first run of each variant is verified:
//! all indexes must hold the same postings, and the committed index must have the same numbers of documents,
//! tokens and terms. Otherwise nothing is reported. If documents are lines, only the committed builds run,
//! because the paper's pipeline only knows files.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use scanns::index::{IndexOptions, InvertOptions, Progress};
use scanns::schema::{Analyzer, Delimiters, Records};
use scanns::sources::{Input, PageSize, ReadOptions, SourceOptions};
use scanns::{Index, Snapshot};
use scanns_bench::variants::pipeline::{self, LadderOptions, LadderRun};
use scanns_bench::variants::{IndexerVariant, ReaderVariant};

use scanns_bench::results::{Results, Series};
use scanns_bench::stats::{in_turns, mib};

use crate::text;

/// What to index.
#[derive(Debug, clap::Args)]
pub struct IndexArgs {
    /// A file or tree
    pub path: PathBuf,
    /// Directory for the committed index; an existing one is replaced
    #[arg(long, default_value = "target/bench/index.scanns")]
    pub out: PathBuf,
    /// One document per line; runs only the committed builds
    #[arg(long)]
    pub lines: bool,
    /// Analyzer; with `standard`, only the committed builds run
    #[arg(long, default_value = "paths")]
    pub analyzer: String,
    /// Indexers that stay in memory, by name; all if none is given
    #[arg(long, value_delimiter = ',', value_parser = IndexerVariant::parse)]
    pub variants: Vec<IndexerVariant>,
    /// Index threads, tried one after the other in each round
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    pub threads: Vec<usize>,
    /// Read threads
    #[arg(long, default_value_t = 1)]
    pub read_threads: usize,
    /// Memory limit in MiB
    #[arg(long, default_value_t = 8192)]
    pub memory: u64,
    /// Memory of one segment in MiB [default: as in the command line]
    #[arg(long)]
    pub segment_memory: Option<u64>,
    /// Rounds; in each, all variants run in turn
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

impl IndexArgs {
    /// The defaults for an input and an output.
    pub fn on(path: &Path, out: &Path, lines: bool) -> Self {
        IndexArgs {
            path: path.into(),
            out: out.into(),
            lines,
            analyzer: "paths".into(),
            variants: Vec::new(),
            threads: vec![1, 2],
            read_threads: 1,
            memory: 8192,
            segment_memory: None,
            repetitions: 5,
        }
    }

    /// The paper's best indexer and ours, in a few rounds.
    pub fn quick(path: &Path, out: &Path, lines: bool) -> Self {
        let variants = vec![IndexerVariant::SwissPa, IndexerVariant::Ours];
        IndexArgs { variants, repetitions: 3, ..Self::on(path, out, lines) }
    }

    /// All steps to measure.
    fn steps(&self, analyzer: &Analyzer) -> Vec<IndexStep> {
        let wanted = |variant: &IndexerVariant| self.variants.is_empty() || self.variants.contains(variant);
        let mut kinds = Vec::new();
        if let (Analyzer::Bytes(delimiters), false) = (analyzer, self.lines) {
            let memory = |variant| BuildKind::InMemory(variant, *delimiters);
            kinds.extend(IndexerVariant::ALL.into_iter().filter(wanted).map(memory));
        }
        kinds.push(BuildKind::Committed);
        let steps = kinds
            .into_iter()
            .flat_map(|kind| self.threads.iter().map(move |&threads| IndexStep { kind, threads }));
        steps.collect()
    }
}

/// The kind of a build.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BuildKind {
    /// An index that stays in memory.
    InMemory(IndexerVariant, Delimiters),
    /// An index on disk.
    Committed,
}

impl BuildKind {
    fn name(self) -> String {
        match self {
            BuildKind::InMemory(IndexerVariant::Ours, _) => "ours, in memory".into(),
            BuildKind::InMemory(variant, _) => variant.name().into(),
            BuildKind::Committed => "ours, committed".into(),
        }
    }
}

/// A kind of build, and the number of threads to measure it with.
#[derive(Clone, Copy, Debug)]
struct IndexStep {
    kind: BuildKind,
    threads: usize,
}

/// The contents of an index, regardless of which thread holds which of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Content {
    documents: u64,
    tokens: u64,
    terms: u64,
    /// Sum of the hashes of all postings with their terms; unknown for an index on disk.
    digest: Option<u64>,
}

impl Content {
    fn of(run: &LadderRun) -> Self {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let (mut terms, mut content, mut digest) = (Vec::new(), Content::default(), 0u64);
        for part in &run.parts {
            content.documents += part.inputs.len() as u64;
            part.index.visit(&mut |list| {
                let term = hasher.hash_one(list.term);
                terms.push(term);
                for &(doc, freq) in list.postings {
                    let input = part.inputs.get(doc as usize);
                    content.tokens += u64::from(freq);
                    digest = digest.wrapping_add(hasher.hash_one((term, input, freq)));
                }
            });
        }
        terms.sort_unstable();
        terms.dedup();
        Content { terms: terms.len() as u64, digest: Some(digest), ..content }
    }

    /// True if all figures that both have are equal.
    fn agrees(&self, other: &Content) -> bool {
        let digests = self.digest.zip(other.digest).is_none_or(|(one, other)| one == other);
        let counts = |content: &Content| (content.documents, content.tokens, content.terms);
        counts(self) == counts(other) && digests
    }
}

/// Runs steps and keeps the state that they share.
struct IndexBench<'a> {
    args: &'a IndexArgs,
    analyzer: Analyzer,
    inputs: Arc<Vec<Input>>,
    /// What all indexes must hold.
    content: Option<Content>,
    /// A summary of the last committed build.
    told: String,
}

impl IndexBench<'_> {
    /// Returns the MiB/s of one run. With `verify`, checks the contents of the index afterwards.
    fn run(&mut self, step: IndexStep, verify: bool) -> Result<f64> {
        let (rate, content) = match step.kind {
            BuildKind::Committed => self.build(step.threads, verify)?,
            BuildKind::InMemory(variant, delimiters) => {
                let run = self.index(variant, delimiters, step.threads)?;
                anyhow::ensure!(run.failures.is_empty(), "{} inputs failed", run.failures.len());
                (mib(run.bytes) / run.seconds, verify.then(|| Content::of(&run)))
            }
        };
        if let Some(found) = content {
            let expected = self.content.get_or_insert(found);
            let (name, threads) = (step.kind.name(), step.threads);
            anyhow::ensure!(
                found.agrees(expected),
                "{name} with {threads} threads holds {found:?}, not {expected:?}"
            );
            expected.digest = expected.digest.or(found.digest);
        }
        Ok(rate)
    }

    /// Builds an index in memory.
    fn index(&self, variant: IndexerVariant, delimiters: Delimiters, threads: usize) -> Result<LadderRun> {
        let ours = variant == IndexerVariant::Ours;
        let options = LadderOptions {
            reader: if ours { ReaderVariant::Ours } else { ReaderVariant::Wave },
            tokenizer: variant.tokenizer(),
            indexer: variant,
            read: self.read_options(threads),
            delimiters,
            invert: InvertOptions {
                budget: usize::try_from(self.args.memory << 20)? / threads.max(1),
                expected_terms: 0,
                pages: if ours { PageSize::Auto } else { PageSize::Huge },
                ..InvertOptions::default()
            },
        };
        pipeline::index_files(&self.inputs, &options, &AtomicBool::new(false))
    }

    /// Builds an index on disk, from walking the files to the commit.
    fn build(&mut self, threads: usize, verify: bool) -> Result<(f64, Option<Content>)> {
        let IndexArgs { path, out, lines, memory, segment_memory, .. } = self.args;
        if out.exists() {
            std::fs::remove_dir_all(out)?;
        }
        let options = IndexOptions {
            source: SourceOptions { paths: vec![path.clone()], threads, ..SourceOptions::default() },
            read: self.read_options(threads),
            records: if *lines { Records::Lines } else { Records::File },
            fields: scanns::sources::FieldOptions { metadata: Some(false), ..Default::default() },
            analyzer: Some(self.analyzer.clone()),
            memory: memory << 20,
            segment_memory: segment_memory.map(|mib| mib << 20),
            commit_every: None,
            ..IndexOptions::default()
        };
        let report = Index::at(out).build(&options, &Progress::new(), &Arc::new(AtomicBool::new(false)))?;
        anyhow::ensure!(report.failed.is_empty(), "{} inputs failed", report.failed.len());
        let snapshot = Snapshot::open(out)?;
        let documents = snapshot.info().documents;
        anyhow::ensure!(documents == report.documents, "{documents} documents are in the index");
        self.told = format!(
            "index {:.1} MiB, {:.1} MiB written, peak memory of the process {:.0} MiB",
            mib(report.index_bytes),
            mib(report.bytes_written),
            mib(report.peak_rss)
        );
        let terms = verify.then(|| snapshot.unique_terms()).transpose()?;
        let content = terms.map(|terms| Content { documents, tokens: report.tokens, terms, digest: None });
        Ok((mib(report.bytes) / report.seconds, content))
    }

    fn read_options(&self, threads: usize) -> ReadOptions {
        ReadOptions { lanes: threads, read_threads: self.args.read_threads, ..ReadOptions::default() }
    }
}

/// Measures rates by number of threads.
pub fn run(args: &IndexArgs, results: &mut Results) -> Result<()> {
    let analyzer = Analyzer::parse(&args.analyzer)?;
    let source = SourceOptions { paths: vec![args.path.clone()], ..SourceOptions::default() };
    let inputs = Arc::new(scanns::sources::collect(&source, &AtomicBool::new(false))?.inputs);
    let steps = args.steps(&analyzer);
    let subject =
        format!("{}, one document per {}", text::name(&args.path), if args.lines { "line" } else { "file" });
    println!("index: {subject}, {} files", inputs.len());
    let mut bench = IndexBench { args, analyzer, inputs, content: None, told: String::new() };
    let (mut done, rounds) = (0, args.repetitions.max(1));
    let rates = in_turns(rounds, &steps, |step| {
        let rate = bench.run(*step, done < steps.len())?;
        done += 1;
        if done % steps.len() == 0 {
            println!("  round {} of {rounds}", done / steps.len());
        }
        anyhow::Ok(rate)
    })?;
    let Content { documents, tokens, terms, .. } = bench.content.unwrap_or_default();
    println!("  all agree: {documents} documents, {tokens} tokens, {terms} terms; {}", bench.told);
    for (step, samples) in steps.iter().zip(&rates) {
        let ours = steps.iter().position(|other| {
            matches!(other.kind, BuildKind::InMemory(IndexerVariant::Ours, _))
                && other.threads == step.threads
        });
        let ours = ours.and_then(|at| rates.get(at)).map(Vec::as_slice);
        let series = Series::rate("index", &subject, &step.kind.name(), samples.clone());
        results.add(series.with("threads", f64::from(u32::try_from(step.threads)?)), ours);
    }
    Ok(())
}
