//! Compares indexes in memory: ours and those of Orhean et al., "SCANNS: Towards Scalable and Concurrent Data
//! Indexing and Searching", from text in memory on one thread (their figure 9 without reading).
//!
//! Each run builds its variant from scratch, from memory that the system has to provide first; the general
//! allocator may reuse memory of earlier runs. Two more steps show what growing costs: ours with the memory
//! of an earlier run, and the paper's best index with a table that has room for all terms from the start. The
//! times do not include creating the index, reserving that table and dropping the index. All variants must
//! agree on their contents before any time is printed.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use scanns::index::InvertOptions;
use scanns::internals::Inverter;
use scanns::schema::Delimiters;
use scanns::sources::PageSize;
use scanns_bench::variants::invert::LadderIndex;
use scanns_bench::variants::{IndexerVariant, VariantTokenizer};

use scanns_bench::results::{Results, Series};
use scanns_bench::stats::{in_turns, mib};

use crate::text;

/// What to index.
#[derive(Debug, clap::Args)]
pub struct LadderArgs {
    /// A file or tree; all of it is read into memory first
    pub path: PathBuf,
    /// One document per line
    #[arg(long)]
    pub lines: bool,
    /// Variants to run, by name; all if none is given
    #[arg(long, value_delimiter = ',', value_parser = IndexerVariant::parse)]
    pub variants: Vec<IndexerVariant>,
    /// Limit for the input in MiB; no limit if not given
    #[arg(long)]
    pub mib: Option<u64>,
    /// Rounds; in each, all variants run in turn
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
    /// Pages of our index; the paper's sub-allocators always have huge pages
    #[arg(long, value_enum, default_value = "auto")]
    pub pages: Pages,
}

/// The pages of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Pages {
    /// The kind that the machine provides more cheaply
    Auto,
    /// 4 KiB
    Base,
    /// 2 MiB
    Huge,
}

impl From<Pages> for PageSize {
    fn from(pages: Pages) -> Self {
        match pages {
            Pages::Auto => PageSize::Auto,
            Pages::Base => PageSize::Base,
            Pages::Huge => PageSize::Huge,
        }
    }
}

impl LadderArgs {
    /// The defaults for a path and a unit of documents.
    pub fn on(path: &Path, lines: bool) -> Self {
        LadderArgs {
            path: path.into(),
            lines,
            variants: Vec::new(),
            mib: None,
            repetitions: 3,
            pages: Pages::Auto,
        }
    }
}

/// A variant, and whether it has its memory before the measured time begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LadderStep {
    variant: IndexerVariant,
    sized: bool,
}

impl LadderStep {
    fn name(self) -> String {
        let room = match self.variant {
            _ if !self.sized => "",
            IndexerVariant::Ours => ", memory reused",
            _ => ", table reserved",
        };
        format!("{}{room}", self.variant.name())
    }
}

/// The steps for the variants asked for, in the order of the ladder.
fn steps(asked: &[IndexerVariant]) -> Vec<LadderStep> {
    let wanted = |variant: &IndexerVariant| asked.is_empty() || asked.contains(variant);
    let mut steps = Vec::new();
    for variant in IndexerVariant::ALL.into_iter().filter(wanted) {
        steps.push(LadderStep { variant, sized: false });
        if matches!(variant, IndexerVariant::SwissPa | IndexerVariant::Ours) {
            steps.push(LadderStep { variant, sized: true });
        }
    }
    steps
}

/// Texts, and the ranges of the documents in each.
struct LadderTexts {
    texts: Vec<Vec<u8>>,
    documents: Vec<Vec<Range<usize>>>,
}

impl LadderTexts {
    /// Indexes every document. Returns the seconds that it took.
    fn index(&mut self, tokenizer: &mut VariantTokenizer, mut index: &mut dyn LadderIndex) -> Result<f64> {
        let begin = Instant::now();
        for (text, documents) in self.texts.iter_mut().zip(&self.documents) {
            for document in documents {
                tokenizer.run(text, document.clone(), &mut index);
                index.end_document();
            }
        }
        index.finish()?;
        Ok(begin.elapsed().as_secs_f64())
    }
}

/// The contents of an index, in figures that do not depend on the order of terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TableContent {
    terms: usize,
    postings: u64,
    /// Sum of all frequencies, which is the number of tokens.
    tokens: u64,
    /// Sum of the hashes of all terms with their postings.
    digest: u64,
}

impl TableContent {
    fn of(index: &dyn LadderIndex) -> Self {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut content = TableContent::default();
        index.visit(&mut |list| {
            content.terms += 1;
            content.postings += u64::from(list.doc_freq);
            content.tokens += list.postings.iter().map(|&(_, freq)| u64::from(freq)).sum::<u64>();
            content.digest = content.digest.wrapping_add(hasher.hash_one((list.term, list.postings)));
        });
        content
    }
}

/// Runs steps and keeps the state that they share.
struct LadderBench {
    corpus: LadderTexts,
    /// What all indexes must hold; known after the first run.
    content: Option<TableContent>,
    /// Our index after an earlier run.
    used: Option<Inverter>,
    /// Pages of our index.
    pages: PageSize,
}

impl LadderBench {
    /// Returns the seconds of one run. With `verify`, checks the contents of the index afterwards.
    fn run(&mut self, step: LadderStep, verify: bool) -> Result<f64> {
        let mut tokenizer = step.variant.tokenizer().build(&Delimiters::paths());
        let mut options = InvertOptions { budget: 32 << 30, pages: self.pages, ..InvertOptions::default() };
        if step.variant != IndexerVariant::Ours {
            options.pages = PageSize::Huge;
        } else if step.sized {
            let mut inverter = match self.used.take() {
                Some(inverter) => inverter,
                None => {
                    let mut inverter = Inverter::new(&options)?;
                    self.corpus.index(&mut tokenizer, &mut inverter)?;
                    inverter
                }
            };
            inverter.clear();
            let seconds = self.corpus.index(&mut tokenizer, &mut inverter)?;
            self.check(step, &inverter, verify)?;
            self.used = Some(inverter);
            return Ok(seconds);
        }
        if step.sized {
            options.expected_terms = self.content.map_or(0, |content| content.terms);
        }
        let mut index = step.variant.build(&options)?;
        let seconds = self.corpus.index(&mut tokenizer, &mut *index)?;
        self.check(step, &*index, verify)?;
        Ok(seconds)
    }

    /// Compares the contents of an index with the contents of the first one.
    fn check(&mut self, step: LadderStep, index: &dyn LadderIndex, verify: bool) -> Result<()> {
        if verify {
            let found = TableContent::of(index);
            let expected = *self.content.get_or_insert(found);
            anyhow::ensure!(found == expected, "{} holds {found:?}, not {expected:?}", step.name());
        }
        Ok(())
    }
}

/// Measures every step.
pub fn run(args: &LadderArgs, results: &mut Results) -> Result<()> {
    let texts = text::load(&args.path, args.mib)?;
    let size = text::bytes(&texts);
    let documents: Vec<_> = texts.iter().map(|text| text::documents(text, args.lines)).collect();
    let count: usize = documents.iter().map(Vec::len).sum();
    let steps = steps(&args.variants);
    let mut bench = LadderBench {
        corpus: LadderTexts { texts, documents },
        content: None,
        used: None,
        pages: args.pages.into(),
    };
    let mut verified = 0;
    let rates = in_turns(args.repetitions.max(1), &steps, |step| {
        let verify = verified < steps.len();
        verified += 1;
        anyhow::Ok(mib(size) / bench.run(*step, verify)?)
    })?;
    let content = bench.content.unwrap_or_default();
    let subject = format!(
        "{}, {:.0} MiB, {count} documents, one per {}",
        text::name(&args.path),
        mib(size),
        if args.lines { "line" } else { "file" }
    );
    println!(
        "ladder: {subject}; all agree: {} tokens, {} terms, {} postings",
        content.tokens, content.terms, content.postings
    );
    let ours = steps.iter().position(|step| step.variant == IndexerVariant::Ours && !step.sized);
    let ours = ours.and_then(|at| rates.get(at)).cloned();
    for (step, rates) in steps.iter().zip(rates) {
        results.add(Series::rate("ladder", &subject, &step.name(), rates), ours.as_deref());
    }
    Ok(())
}
