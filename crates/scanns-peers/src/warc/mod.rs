//! Compares scanns with Lucene on web archives, and with a program that only decompresses them.
//!
//! Each build is a whole process, as a user starts it, with the archives in the page cache: it reads the
//! responses of `.warc.gz` files, finds the text of their HTML, and commits an index with positions and
//! stored text. The peer of scanns is `WarcBuilding.java`, which does as Anserini does: jsoup, the standard
//! analyzer, a thread for each file. `gunzip-only` of the package `warc/` is the least time that any
//! program can take with the library that scanns uses. `warc-pack` of that package makes archives from HTML
//! files.
//!
//! The documents of both indexes must be equal. Terms differ a little, because jsoup and scanns do not find
//! the same text: titles, white space between blocks, `alt` texts. `peer.rs` has the commands and their
//! reports.

mod peer;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use scanns_bench::child::{self, Cost};
use scanns_bench::results::{Better, Results};
use scanns_bench::stats::{in_turns, mib};

use crate::files::build::bytes;
use crate::table::{self, Figure, Line};
pub use peer::Comparison;
use peer::{Build, Program};

/// The number of archives that are made of pages.
const ARCHIVES: &str = "4";
/// MiB of pages that are packed at most.
const MOST_PAGES: &str = "4096";

/// A program and what its runs took.
struct Measured {
    program: Program,
    built: Option<Build>,
    index: Option<u64>,
    costs: Vec<Cost>,
}

/// Measures all programs, and prints a table.
///
/// # Errors
/// If a program fails, or the indexes do not have the same number of documents.
pub fn compare(comparison: &Comparison, results: &mut Results) -> Result<()> {
    let archives = archives(comparison)?;
    let programs = peer::all(comparison, &archives)?;
    let mut measured = Vec::new();
    for program in programs {
        // The first run warms the cache, and shows that the program works.
        let (built, _) = run(&program)?;
        let index = program.index.as_deref().map(bytes).transpose()?;
        eprintln!("peers: {} has read the archives", program.name);
        measured.push(Measured { program, built, index, costs: Vec::new() });
    }
    verify(&measured)?;
    let places: Vec<usize> = (0..measured.len()).collect();
    in_turns(comparison.rounds.max(1), &places, |&at| {
        let Some(one) = measured.get_mut(at) else { return Ok(0.0) };
        let (_, cost) = run(&one.program)?;
        eprintln!("peers: {} took {:.2} s", one.program.name, cost.wall);
        one.costs.push(cost);
        anyhow::Ok(cost.wall)
    })?;
    report(comparison, &archives, &measured, results)
}

/// The archives in the given directory, or those that are made of its pages.
fn archives(comparison: &Comparison) -> Result<Vec<PathBuf>> {
    let given = archives_in(&comparison.archives)?;
    if !given.is_empty() {
        return Ok(given);
    }
    let out = comparison.work.join("warc-pages");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let words = [out.as_os_str(), ARCHIVES.as_ref(), MOST_PAGES.as_ref(), comparison.archives.as_os_str()];
    let words = words.map(OsStr::to_os_string);
    let ran = child::run(&comparison.programs.join("warc-pack"), &words, None, true)?;
    ensure!(ran.code == Some(0), "cannot make archives: {}", ran.errors);
    print!("{}: {}", comparison.archives.display(), String::from_utf8_lossy(&ran.output));
    archives_in(&out)
}

/// The files `.warc.gz` in a directory, in the order of their names.
fn archives_in(directory: &Path) -> Result<Vec<PathBuf>> {
    let listed = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let listed = listed.map(|entry| Ok(fs::canonicalize(entry?.path())?)).collect::<Result<Vec<_>>>()?;
    let is_archive = |path: &PathBuf| path.to_string_lossy().ends_with(".warc.gz");
    let mut archives: Vec<PathBuf> = listed.into_iter().filter(is_archive).collect();
    archives.sort();
    Ok(archives)
}

/// Runs a program from nothing.
fn run(program: &Program) -> Result<(Option<Build>, Cost)> {
    if let Some(index) = program.index.as_deref().filter(|index| index.exists()) {
        fs::remove_dir_all(index)?;
    }
    let ran = child::run(&program.path, &program.words, None, true)?;
    ensure!(ran.code == Some(0), "{} ended with {:?}: {}", program.name, ran.code, ran.errors);
    let printed = String::from_utf8_lossy(&ran.output) + ran.errors.as_str();
    let built = program.index.is_some().then(|| {
        let built = peer::parse(&printed);
        built.with_context(|| format!("{} has printed no counts: {printed}", program.name))
    });
    Ok((built.transpose()?, ran.cost))
}

/// Makes sure that all indexes have the same number of documents.
fn verify(measured: &[Measured]) -> Result<()> {
    let mut built = measured.iter().filter_map(|one| Some((one, one.built?)));
    let Some((first, expected)) = built.next() else { return Ok(()) };
    for (one, built) in built {
        ensure!(
            built.documents == expected.documents,
            "{} has {} documents, but {} has {}",
            one.program.name,
            built.documents,
            first.program.name,
            expected.documents
        );
    }
    Ok(())
}

/// A line of the table: its label, metric and unit, and the samples of a program.
type Row = (&'static str, &'static str, &'static str, fn(&Measured) -> Vec<f64>);

/// Prints the table, and adds its figures to the results.
fn report(
    comparison: &Comparison,
    archives: &[PathBuf],
    measured: &[Measured],
    results: &mut Results,
) -> Result<()> {
    let packed = archives.iter().map(|path| Ok(fs::metadata(path)?.len())).sum::<Result<u64>>()?;
    let rows: [Row; 4] = [
        ("until committed, s", "time", "s", |one| one.costs.iter().map(|cost| cost.wall).collect()),
        ("  processor, s", "processor", "s", |one| one.costs.iter().map(|cost| cost.processor).collect()),
        ("  peak memory, MiB", "memory", "MiB", |one| {
            one.costs.iter().map(|cost| mib(cost.memory)).collect()
        }),
        ("index, MiB", "index", "MiB", |one| one.index.map(mib).into_iter().collect()),
    ];
    let counts = measured.iter().map(|one| {
        one.built.map_or(String::new(), |built| format!("{} / {}", built.documents, built.tokens))
    });
    let mut lines = vec![Line::words("documents / terms", counts.collect())];
    for (label, metric, unit, of) in rows {
        let samples = measured.iter().map(|one| Some(of(one)).filter(|samples| !samples.is_empty()));
        let samples = samples.collect();
        let figure =
            Figure { metric: format!("web archives: {metric}"), unit, better: Better::Lower, samples };
        lines.push(Line { figures: vec![figure], ..Line::heading(label.into()) });
    }
    let columns: Vec<&str> = measured.iter().map(|one| one.program.name.as_str()).collect();
    let subject = format!("web archives of {}, {:.1} MiB", comparison.archives.display(), mib(packed));
    println!(
        "\n{subject} in {} files, {} threads, {} rounds; × is the ratio to scanns\n{}",
        archives.len(),
        comparison.threads,
        comparison.rounds,
        table::render(&columns, &lines)
    );
    table::record(&subject, comparison.threads, &columns, &lines, results);
    for one in measured {
        let words: Vec<_> = one.program.words.iter().map(|word| word.to_string_lossy()).collect();
        results.note(format!("{}: {} {}", one.program.name, one.program.path.display(), words.join(" ")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_archives_are_taken_in_the_order_of_names() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.warc.gz", "a.warc.gz", "a.html", "a.gz"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let found = archives_in(dir.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["a.warc.gz", "b.warc.gz"]);
        assert!(archives_in(&dir.path().join("absent")).is_err());
    }

    #[test]
    fn indexes_with_different_numbers_of_documents_are_an_error() {
        let one = |name: &str, documents| Measured {
            program: Program { name: name.into(), path: "x".into(), words: Vec::new(), index: None },
            built: Some(Build { documents, tokens: 5 }),
            index: None,
            costs: Vec::new(),
        };
        verify(&[one("scanns", 3), one("Lucene", 3)]).unwrap();
        let error = verify(&[one("scanns", 3), one("Lucene", 2)]).unwrap_err().to_string();
        assert_eq!(error, "Lucene has 2 documents, but scanns has 3");
    }
}
