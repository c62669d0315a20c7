//! Measures how the time and the size of an index of a file system grow with its entries.
//!
//! The released command is measured as a user runs it. It imports the list of `entries` from a pipe and
//! merges the index into one segment. Then each question is a process of its own, with everything in the page
//! cache. Answers are compared with those of a slow pass over the same entries: `truth.rs` makes it, and
//! `questions.rs` has the commands. Processor time is shown beside wall time, which depends on what else the
//! machine does. The program that makes the list runs beside the import, so the import needs a second core
//! for its wall time.

mod questions;
mod truth;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use scanns_bench::child::{self, Cost, Input};
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{median, mib};

use crate::entries::{self, Format};
use questions::Question;
use truth::{Targets, Truth};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct GrowthArgs {
    /// Numbers of entries, such as 1000000 or 1e6
    #[arg(long, value_delimiter = ',', value_parser = number, default_value = "1e6,1e7")]
    sizes: Vec<u64>,
    /// The command to measure [default: scanns beside this program]
    #[arg(long)]
    scanns: Option<PathBuf>,
    /// Directory for indexes; they are removed. An index takes about 40 bytes an entry, and a merge twice
    /// that
    #[arg(long, default_value = "target/bench")]
    work: PathBuf,
    /// Seed of the entries
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Rounds; in each, every question is asked once
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
}

/// A number in digits or with an exponent.
fn number(text: &str) -> Result<u64, String> {
    let (digits, zeros) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let power = zeros.parse().ok().and_then(|zeros| 10_u64.checked_pow(zeros));
    let number = digits.parse::<u64>().ok().zip(power).and_then(|(digits, power)| digits.checked_mul(power));
    number.filter(|&number| number > 0).ok_or_else(|| format!("'{text}' is not a number such as 1e6"))
}

/// What was measured for a number of entries.
struct Measured {
    entries: u64,
    rows: Vec<Row>,
}

/// A line of the table.
struct Row {
    name: String,
    /// What is shown for the number of entries.
    value: String,
}

/// Measures all sizes, and prints a table.
pub fn run(args: &GrowthArgs, results: &mut Results) -> Result<()> {
    let scanns = match &args.scanns {
        Some(path) => path.clone(),
        None => std::env::current_exe()?.with_file_name("scanns"),
    };
    ensure!(scanns.is_file(), "there is no {}: give the command with --scanns", scanns.display());
    let mut measured = Vec::new();
    for &entries in &args.sizes {
        measured.push(measure(args, &scanns, entries, results)?);
    }
    print_table(&measured);
    Ok(())
}

/// Measures one size.
fn measure(args: &GrowthArgs, scanns: &Path, entries: u64, results: &mut Results) -> Result<Measured> {
    let room = crate::whole::room(&args.work)?;
    let index = room.path().join("fs.scanns");
    let mut measured = Measured { entries, rows: Vec::new() };
    let mut report = Report { args, results, measured: &mut measured };
    println!("growth: {entries} entries, seed {}", args.seed);
    let cost = import(args, scanns, &index, entries)?;
    report.import(cost, bytes_below(&index)?)?;
    let cost = merge(scanns, &index)?;
    report.merge(cost, bytes_below(&index)?);
    let targets = Targets::choose(entries, args.seed);
    let truth = Truth::of(entries, args.seed, &targets);
    let questions = questions::all(&index, &targets, truth);
    for question in &questions {
        question.verify(scanns).with_context(|| format!("wrong answer: {}", question.name))?;
    }
    println!("  {} answers are those of a pass over the entries", questions.len());
    let costs = ask(scanns, &questions, args.repetitions.max(1))?;
    for (question, costs) in questions.iter().zip(costs) {
        report.question(question.name, &costs);
    }
    Ok(measured)
}

/// Imports the list of entries from a pipe.
fn import(args: &GrowthArgs, scanns: &Path, index: &Path, entries: u64) -> Result<Cost> {
    let words = ["index", "-q", "--dump=find", "-o"].map(Into::into);
    let words = words.into_iter().chain([index.into(), "-".into()]).collect::<Vec<_>>();
    let seed = args.seed;
    let input: Input<'_> = Box::new(move |pipe| entries::write(pipe, entries, seed, Format::Find));
    let ran = child::run(scanns, &words, Some(input), false)?;
    ensure!(ran.code == Some(0), "the import ended with {:?}: {}", ran.code, ran.errors);
    Ok(ran.cost)
}

/// Merges the index into one segment, with entries in the order of their directories.
fn merge(scanns: &Path, index: &Path) -> Result<Cost> {
    let ran = child::run(scanns, &["merge".into(), "-q".into(), index.into()], None, false)?;
    ensure!(ran.code == Some(0), "the merge ended with {:?}: {}", ran.code, ran.errors);
    Ok(ran.cost)
}

/// Asks all questions in turns, forwards in one round and backwards in the next. Returns the costs of each.
fn ask(scanns: &Path, questions: &[Question], rounds: usize) -> Result<Vec<Vec<Cost>>> {
    let mut costs = vec![Vec::new(); questions.len()];
    let places: Vec<usize> = (0..questions.len()).collect();
    scanns_bench::stats::in_turns(rounds, &places, |&at| {
        let (Some(question), Some(costs)) = (questions.get(at), costs.get_mut(at)) else { return Ok(0.0) };
        let ran = child::run(scanns, &question.timed, None, false)?;
        ensure!(question.is_fine(ran.code), "{} ended with {:?}: {}", question.name, ran.code, ran.errors);
        costs.push(ran.cost);
        anyhow::Ok(ran.cost.wall)
    })?;
    Ok(costs)
}

/// The bytes of all files below a directory.
fn bytes_below(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

/// Adds measurements to the results and to the table.
struct Report<'a> {
    args: &'a GrowthArgs,
    results: &'a mut Results,
    measured: &'a mut Measured,
}

impl Report<'_> {
    fn add(&mut self, name: &str, metric: (&str, &str, Better), samples: Vec<f64>) {
        let subject = format!("invented file system, seed {}", self.args.seed);
        let series = Series::of("growth", &subject, name, metric, samples);
        #[expect(clippy::cast_precision_loss, reason = "a place on an axis")]
        self.results.add(series.with("entries", self.measured.entries as f64), None);
    }

    fn row(&mut self, name: &str, value: String) {
        self.measured.rows.push(Row { name: name.into(), value });
    }

    /// The costs of the import.
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    fn import(&mut self, cost: Cost, bytes: u64) -> Result<()> {
        let entries = self.measured.entries as f64;
        self.add("import", ("wall", "s", Better::Lower), vec![cost.wall]);
        self.add("import", ("processor", "s", Better::Lower), vec![cost.processor]);
        let rate = entries / cost.processor / 1e6;
        self.add("import", ("rate per core", "M entries/s", Better::Higher), vec![rate]);
        self.add("import", ("memory", "MiB", Better::Lower), vec![mib(cost.memory)]);
        let each = bytes as f64 / entries;
        self.add("index", ("size", "bytes an entry", Better::Lower), vec![each]);
        self.row("import, wall / processor, s", format!("{:.2} / {:.2}", cost.wall, cost.processor));
        self.row("import, M entries/s of a core", format!("{rate:.3}"));
        let memory = format!("{:.0} / {:.0}", mib(cost.memory), mib(cost.own));
        self.row("import, peak memory / without mapped files, MiB", memory);
        self.row("index, bytes an entry", format!("{each:.1}"));
        Ok(())
    }

    /// The costs of the merge.
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    fn merge(&mut self, cost: Cost, bytes: u64) {
        self.add("merge", ("wall", "s", Better::Lower), vec![cost.wall]);
        self.add("merge", ("processor", "s", Better::Lower), vec![cost.processor]);
        self.add("merge", ("memory", "MiB", Better::Lower), vec![mib(cost.memory)]);
        let each = bytes as f64 / self.measured.entries as f64;
        self.add("merged index", ("size", "bytes an entry", Better::Lower), vec![each]);
        self.row("merge, wall / processor, s", format!("{:.2} / {:.2}", cost.wall, cost.processor));
        let memory = format!("{:.0} / {:.0}", mib(cost.memory), mib(cost.own));
        self.row("merge, peak memory / without mapped files, MiB", memory);
        self.row("merged index, bytes an entry", format!("{each:.1}"));
    }

    /// The costs of a question.
    fn question(&mut self, name: &str, costs: &[Cost]) {
        let walls: Vec<f64> = costs.iter().map(|cost| cost.wall).collect();
        let memory: Vec<f64> = costs.iter().map(|cost| mib(cost.memory)).collect();
        let own: Vec<f64> = costs.iter().map(|cost| mib(cost.own)).collect();
        // Processor time is known in hundredths of a second, so a mean is more exact than a median.
        #[expect(clippy::cast_precision_loss, reason = "a count of rounds")]
        let processor = costs.iter().map(|cost| cost.processor).sum::<f64>() / costs.len().max(1) as f64;
        let memories = format!("{:.0} / {:.0}", median(&memory), median(&own));
        let value = format!("{:.3} / {processor:.3} / {memories}", median(&walls));
        self.add(name, ("wall", "s", Better::Lower), walls);
        self.add(name, ("processor, mean", "s", Better::Lower), vec![processor]);
        self.add(name, ("memory", "MiB", Better::Lower), memory);
        self.add(name, ("memory without files", "MiB", Better::Lower), own);
        self.row(name, value);
    }
}

/// Prints a row for each job and a column for each size.
fn print_table(measured: &[Measured]) {
    println!("\nquestions: median wall s / mean processor s / peak memory MiB / without mapped files");
    let columns: String = measured.iter().map(|size| format!(" {} |", size.entries)).collect();
    println!("| job |{columns}\n|---|{}", "---|".repeat(measured.len()));
    for at in 0..measured.first().map_or(0, |first| first.rows.len()) {
        let rows: Vec<&Row> = measured.iter().filter_map(|size| size.rows.get(at)).collect();
        let values: String = rows.iter().map(|row| format!(" {} |", row.value)).collect();
        println!("| {} |{values}", rows.first().map_or("", |row| &row.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_digits_or_an_exponent() {
        assert_eq!(["1e6", "25", "3E2"].map(number), [Ok(1_000_000), Ok(25), Ok(300)]);
        assert!(["", "e", "1.5e3", "0", "-1", "1e30"].iter().all(|text| number(text).is_err()));
    }
}
