//! The index in memory on one thread: text that is already in memory to postings that can be searched.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use scanns::{Analyzer, InvertOptions, Inverter, PageSize, Tokenizer};

use crate::record::{Median, mib};
use crate::text;

/// What to index.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file or tree; all of it is read into memory first
    pub path: PathBuf,
    /// One document per line
    #[arg(long)]
    pub lines: bool,
    /// Runs with the memory of the first reused
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

/// Indexes every text and says how long it took.
fn index(inverter: &mut Inverter, tokenizer: &mut Tokenizer, texts: &mut [Vec<u8>], lines: bool) -> f64 {
    let begin = Instant::now();
    for text in texts {
        let mut start = 0;
        while lines && start < text.len() {
            let line = text[start..].iter().position(|&byte| byte == b'\n');
            let end = line.map_or(text.len(), |at| start + at + 1);
            tokenizer.run(text, start..end, inverter);
            inverter.end_document();
            start = end;
        }
        if !lines {
            let all = 0..text.len();
            tokenizer.run(text, all, inverter);
            inverter.end_document();
        }
    }
    inverter.settle();
    begin.elapsed().as_secs_f64()
}

/// Seconds that the system takes to back `bytes` of fresh memory: what a first run pays before anything else.
fn touch(bytes: u64) -> f64 {
    let begin = Instant::now();
    let memory = vec![1u8; usize::try_from(bytes).unwrap_or(0)];
    std::hint::black_box(&memory);
    begin.elapsed().as_secs_f64()
}

/// Prints rates, sizes and the time to read everything back in order.
pub fn run(args: &Args) -> Result<()> {
    let mut texts = text::load(&args.path, None)?;
    let size = mib(text::bytes(&texts));
    let options = InvertOptions { budget: 64 << 30, expected_terms: 0, pages: PageSize::Auto };
    let mut inverter = Inverter::new(&options)?;
    let mut tokenizer = Tokenizer::new(&Analyzer::parse("paths")?);
    let (mut rates, mut drains) = (Vec::new(), Vec::new());
    let (mut told, mut taken) = (String::new(), 0);
    for _ in 0..=args.repetitions.max(1) {
        rates.push(size / index(&mut inverter, &mut tokenizer, &mut texts, args.lines));
        let (documents, tokens, bytes) = (inverter.max_doc(), inverter.tokens(), inverter.bytes() as u64);
        taken = taken.max(bytes);
        let begin = Instant::now();
        let (mut terms, mut postings, mut frequencies) = (0u64, 0u64, 0u64);
        inverter.drain_sorted(|_, list| {
            terms += 1;
            for (_, frequency) in list {
                postings += 1;
                frequencies += u64::from(frequency);
            }
            Ok(())
        })?;
        drains.push(begin.elapsed().as_secs_f64());
        // What was counted going in must come out again.
        anyhow::ensure!(frequencies == tokens, "{tokens} tokens went in, {frequencies} came out");
        told = format!(
            "{documents} documents, {tokens} tokens, {terms} terms, {postings} postings, {:.0} MiB",
            mib(bytes)
        );
    }
    let unit = if args.lines { "line" } else { "file" };
    println!("invert, one document per {unit}: {told}");
    let (fresh, reused) = rates.split_at(1);
    println!("  fresh memory {} MiB/s, reused {} MiB/s", Median::of(fresh), Median::of(reused));
    println!(
        "  taking {:.0} MiB of fresh memory and doing nothing with it: {:.1} s",
        mib(taken),
        touch(taken)
    );
    println!("  drained in order in {} s", Median::of(&drains));
    Ok(())
}
