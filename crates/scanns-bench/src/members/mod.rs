//! Compares builds from archives with builds from the same files, unpacked.
//!
//! The command is measured as a user runs it: each build is a process of its own that ends after the commit,
//! with everything in the page cache. Builds take turns. Documents and terms of all of them must be equal: an
//! archive has the documents of its members, and one for itself. `tree.rs` makes the files and the archives.

mod tree;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use scanns_bench::child::{self, Cost};
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{in_turns, mib};

use tree::{Form, Pieces};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct MemberArgs {
    /// A text, or a tree of texts, of which files are made
    #[arg(required_unless_present = "tree")]
    text: Option<PathBuf>,
    /// Measure this tree of files as it is instead
    #[arg(long, conflicts_with = "text")]
    tree: Option<PathBuf>,
    /// Number of files to make; they have 300 to 2,000 bytes, and a directory has 1,000
    #[arg(long, default_value_t = 1_000_000)]
    files: u64,
    /// The kinds of archives
    #[arg(long, value_enum, value_delimiter = ',', default_value = "tar,tar.zst,zip")]
    forms: Vec<Form>,
    /// Index threads [default: the command's]
    #[arg(long)]
    threads: Option<usize>,
    /// The command to measure [default: scanns beside this program]
    #[arg(long)]
    scanns: Option<PathBuf>,
    /// Directory for files, archives and indexes. Those of this program are removed in the end
    #[arg(long, default_value = "target/bench")]
    work: PathBuf,
    /// Seed of the sizes of files
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Rounds; in each, every build runs once
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
}

/// A build that is measured.
struct Job {
    name: &'static str,
    path: PathBuf,
    costs: Vec<Cost>,
}

/// What a build says about its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    documents: u64,
    tokens: u64,
}

/// Makes the files, measures all builds, and prints them.
pub fn run(args: &MemberArgs, results: &mut Results) -> Result<()> {
    let scanns = match &args.scanns {
        Some(path) => path.clone(),
        None => std::env::current_exe()?.with_file_name("scanns"),
    };
    ensure!(scanns.is_file(), "there is no {}: give the command with --scanns", scanns.display());
    let room = crate::whole::room(&args.work)?;
    let (tree, subject) = files(args, room.path())?;
    let mut jobs = vec![Job { name: "files", path: tree.clone(), costs: Vec::new() }];
    for &form in &args.forms {
        let path = room.path().join(format!("files.{}", form.ending()));
        if form.make(&tree, &path)? {
            println!("  {}: {:.1} MiB", form.ending(), mib(std::fs::metadata(&path)?.len()));
            jobs.push(Job { name: form.ending(), path, costs: Vec::new() });
        }
    }
    let index = room.path().join("index");
    let build = |path: &Path| build(&scanns, args.threads, path, &index);
    // The first builds warm the cache, and their indexes are compared.
    let counts = jobs.iter().map(|job| Ok(build(&job.path)?.0)).collect::<Result<Vec<Counts>>>()?;
    let of_files = counts.first().context("there is no build")?;
    for (job, counts) in jobs.iter().zip(&counts).skip(1) {
        let expected = Counts { documents: of_files.documents + 1, ..*of_files };
        ensure!(*counts == expected, "{} has {counts:?}, but {expected:?} were expected", job.name);
    }
    println!("  {} files, {} terms in each build", of_files.documents, of_files.tokens);
    let places: Vec<usize> = (0..jobs.len()).collect();
    in_turns(args.repetitions.max(1), &places, |&at| {
        let Some(job) = jobs.get_mut(at) else { return Ok(0.0) };
        let (_, cost) = build(&job.path)?;
        job.costs.push(cost);
        anyhow::Ok(cost.wall)
    })?;
    report(&subject, of_files.documents, &jobs, results);
    Ok(())
}

/// The tree to measure, and its name. It is made in `room` if none is given.
fn files(args: &MemberArgs, room: &Path) -> Result<(PathBuf, String)> {
    if let Some(tree) = &args.tree {
        ensure!(tree.is_dir(), "{} is not a directory", tree.display());
        return Ok((std::path::absolute(tree)?, tree.display().to_string()));
    }
    let text = args.text.as_deref().context("give a text")?;
    let text = tree::read_text(text)?;
    let tree = room.join("files");
    let bytes = tree::write(&tree, args.files, &mut Pieces::new(&text, args.seed))?;
    let subject = format!("{} files of pieces of a text, seed {}", args.files, args.seed);
    println!("members: {subject}, {:.1} MiB", mib(bytes));
    Ok((tree, subject))
}

/// Builds an index from nothing.
fn build(scanns: &Path, threads: Option<usize>, path: &Path, index: &Path) -> Result<(Counts, Cost)> {
    if index.exists() {
        std::fs::remove_dir_all(index)?;
    }
    let mut words: Vec<OsString> = vec!["index".into(), "-o".into(), index.into()];
    if let Some(threads) = threads {
        words.extend(["--threads".into(), threads.to_string().into()]);
    }
    words.push(path.into());
    let ran = child::run(scanns, &words, None, true)?;
    ensure!(ran.code == Some(0), "the build of {} ended with {:?}: {}", path.display(), ran.code, ran.errors);
    let printed = String::from_utf8_lossy(&ran.output);
    let counts = counts(&printed);
    let counts = counts.with_context(|| format!("the build of {} says: {printed}", path.display()))?;
    Ok((counts, ran.cost))
}

/// The numbers of documents and terms in what a build prints.
fn counts(printed: &str) -> Option<Counts> {
    let number = |name: &str| -> Option<u64> {
        let mut words = printed.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let follows = words.peek().is_some_and(|next| next.trim_end_matches([',', 's']) == name);
            if let Some(number) = follows.then(|| word.replace(',', "").parse().ok()).flatten() {
                return Some(number);
            }
        }
        None
    };
    Some(Counts { documents: number("document")?, tokens: number("token")? })
}

/// Prints the builds, and adds them to the results. The ratio is the rate beside the rate of files.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn report(subject: &str, files: u64, jobs: &[Job], results: &mut Results) {
    let rates =
        |job: &Job| -> Vec<f64> { job.costs.iter().map(|cost| files as f64 / cost.wall / 1e3).collect() };
    let base = jobs.first().map(rates).unwrap_or_default();
    for job in jobs {
        let metric = ("rate", "k files/s", Better::Higher);
        results.add(Series::of("members", subject, job.name, metric, rates(job)), Some(&base));
        let of = |each: fn(&Cost) -> f64| job.costs.iter().map(each).collect::<Vec<f64>>();
        let figures = [
            (("wall", "s", Better::Lower), of(|cost| cost.wall)),
            (("processor", "s", Better::Lower), of(|cost| cost.processor)),
            (("memory", "MiB", Better::Lower), of(|cost| mib(cost.memory))),
        ];
        for (metric, samples) in figures {
            results.add(Series::of("members", subject, job.name, metric, samples), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_what_a_build_prints() {
        let printed = "21,762 documents, 585.1 MiB in 3.32 s: 176 MiB/s\n24,125,724 tokens in 4 segments\n";
        assert_eq!(counts(printed), Some(Counts { documents: 21_762, tokens: 24_125_724 }));
        assert_eq!(
            counts("1 document, 5 B in 0.01 s\n1 token in 1 segment"),
            Some(Counts { documents: 1, tokens: 1 })
        );
        assert_eq!(counts("no index"), None);
    }
}
