//! Measures the benefit of jump tables, and the cost of a value of a column.
//!
//! The corpus resembles the index of a web archive that jump tables were made for (LUCENE-8585). A document
//! is one fetch of an address. It has an identity, the normalized address (almost unique), its host, domain
//! and public suffix, the year and the date of the crawl, and the type, status, length and language of the
//! content. `archive.rs` generates it; the same seed gives the same corpus. All documents are in one segment.
//! Values are read at random, in order, at the beginning and at the end: with the jump table, by walking from
//! block to block, and with a table made at first use. Whole columns are unpacked, and hits are exported.
//! Everything is warm.

mod corpus;
mod export;
mod walk;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use scanns::Snapshot;
use scanns::columns::{Column, ColumnCursor};
use scanns::internals::Scan;
use scanns_bench::results::{Better, Results, Series};
use walk::{Walker, first_documents};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct ColumnArgs {
    /// Directory of the index of the corpus; it is built if it does not exist
    #[arg(long, default_value = "target/bench/columns.scanns")]
    index: PathBuf,
    /// Documents of the corpus
    #[arg(long, default_value_t = 30_000_000)]
    documents: u32,
    /// Rounds
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Values to read at random in a round
    #[arg(long, default_value_t = 200_000)]
    values: usize,
    /// Seed of the corpus and of the draws
    #[arg(long, default_value_t = 5)]
    seed: u64,
}

/// Measures every column, and the export.
pub fn run(args: &ColumnArgs, results: &mut Results) -> Result<()> {
    if !args.index.exists() {
        corpus::build(&args.index, args.documents, args.seed)?;
    }
    let snapshot = Snapshot::open(&args.index)?;
    ensure!(snapshot.segments().len() == 1, "the index has {} segments", snapshot.segments().len());
    let searcher = snapshot.searcher();
    let mut measured =
        Measured { args, results, random: fastrand::Rng::with_seed(args.seed), subject: String::new() };
    for (field, entry) in snapshot.schema().columns() {
        let column = searcher.column(0, field)?.with_context(|| format!("no column {}", entry.name))?;
        measured.subject.clone_from(&entry.name);
        measured.column(column)?;
    }
    drop(measured);
    export::run(&snapshot, args.repetitions, results)
}

/// The measurements of one column.
struct Measured<'a> {
    args: &'a ColumnArgs,
    results: &'a mut Results,
    random: fastrand::Rng,
    subject: String,
}

impl Measured<'_> {
    fn add(&mut self, what: &str, unit: &str, better: Better, values: Vec<f64>) {
        let metric = ("value", unit, better);
        self.results.add(Series::of("columns", &self.subject, what, metric, values), None);
    }

    /// Measures the nanoseconds per document of `docs`, one sample per round. The first round only warms the
    /// cache.
    fn time(&mut self, what: &str, docs: &[u32], mut read: impl FnMut(u32) -> Result<u64>) -> Result<()> {
        let mut times = Vec::new();
        for _ in 0..=self.args.repetitions {
            let begun = Instant::now();
            let mut sum = 0u64;
            for &doc in docs {
                sum = sum.wrapping_add(read(doc)?);
            }
            black_box(sum);
            times.push(begun.elapsed().as_secs_f64() * 1e9 / docs.len().max(1) as f64);
        }
        times.remove(0);
        self.add(what, "ns", Better::Lower, times);
        Ok(())
    }

    /// Prints how the blocks of a column are encoded.
    fn forms(&self, column: &Column) -> Result<()> {
        let mut forms: BTreeMap<(&str, u8), u32> = BTreeMap::new();
        for block in 0..column.blocks() {
            let head = column.entry(block)?.head;
            *forms.entry((head.form.name(), head.width)).or_default() += 1;
        }
        let forms: Vec<String> =
            forms.iter().map(|((form, width), count)| format!("{count} {form} of {width} bits")).collect();
        println!("columns: {}: blocks: {}", self.subject, forms.join(", "));
        Ok(())
    }

    fn column(&mut self, column: &Column) -> Result<()> {
        self.forms(column)?;
        let documents = column.documents();
        let bits = column.bytes() as f64 * 8.0 / f64::from(documents.max(1));
        self.add("size", "bits", Better::Lower, vec![bits]);
        let random: Vec<u32> = (0..self.args.values).map(|_| self.random.u32(..documents)).collect();
        let ordered: Vec<u32> = (0..documents).take(self.args.values).collect();
        let first = |doc: u32| Ok(column.first(doc)?.unwrap_or(0));
        self.time("random", &random, first)?;
        self.time("in order", &ordered, first)?;
        let mut cursor = ColumnCursor::new(column);
        self.time("in order, by a cursor", &ordered, |doc| Ok(cursor.first(doc)?.unwrap_or(0)))?;
        let step = (documents / u32::try_from(self.args.values)?).max(1);
        let spread: Vec<u32> = (0..documents).step_by(step as usize).collect();
        self.time("rising, all over the column, by a cursor", &spread, |doc| {
            Ok(cursor.first(doc)?.unwrap_or(0))
        })?;
        self.time("first document", &vec![0; 1_000], first)?;
        let last = documents.saturating_sub(1);
        self.time("last document", &vec![last; 1_000], first)?;
        self.time("last document, walking to it", &[last; 20], |doc| {
            Ok(Walker::new(column).first(doc)?.unwrap_or(0))
        })?;
        let firsts = first_documents(column)?;
        ensure!(firsts.len() == column.blocks() as usize, "walking finds {} blocks", firsts.len());
        let walked = Walker::new(column).first(last)?;
        ensure!(walked == column.first(last)?, "walking finds a different value of document {last}");
        self.time("table made at first use", &[0; 5], |_| Ok(first_documents(column)?.len() as u64))?;
        self.time("last document, by that table", &vec![last; 1_000], |doc| {
            let block = u32::try_from(firsts.partition_point(|&first| first <= doc))?.saturating_sub(1);
            Ok(column.block(block)?.first(doc).ok().flatten().unwrap_or(0))
        })?;
        let mut scan = Scan::new();
        let blocks: Vec<u32> = (0..column.blocks()).collect();
        let per_block = f64::from(documents) / blocks.len().max(1) as f64;
        let mut times = Vec::new();
        for _ in 0..=self.args.repetitions {
            let begun = Instant::now();
            for &block in &blocks {
                black_box(scan.read(column, block)?.values.len());
            }
            times.push(begun.elapsed().as_secs_f64() * 1e9 / blocks.len().max(1) as f64 / per_block);
        }
        times.remove(0);
        self.add("unpacking", "ns", Better::Lower, times);
        if let Some(terms) = column.terms() {
            let ords: Vec<u32> = (0..self.args.values).map(|_| self.random.u32(..terms.len())).collect();
            let mut text = Vec::new();
            self.time("term of a number at random", &ords, |ord| {
                text.clear();
                terms.term(ord, &mut text)?;
                Ok(text.len() as u64)
            })?;
        }
        Ok(())
    }
}
