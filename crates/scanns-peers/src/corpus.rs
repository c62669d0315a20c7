//! The corpus: its files, what a document is, what the indexes keep, and the shares of files that become
//! segments.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail, ensure};
use scanns::sources::{Input, SourceOptions};
use scanns_bench::stats::mib;

use crate::analyzer::AnalyzerName;
use crate::protocol::{Kept, Unit, share};

/// The maximum size of a file. The peers read whole files into memory, and Java has no larger arrays.
const LARGEST_FILE: u64 = 2_000_000_000;

/// What all engines index.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// The name that the table shows.
    pub name: String,
    /// What a document is for the engines.
    pub unit: Unit,
    /// What a document is in `files`: the same, or what became a line of JSON.
    pub origin: Unit,
    /// What finds terms in text.
    pub analyzer: AnalyzerName,
    /// The files of text, in the order of indexing.
    pub files: Vec<Input>,
    /// The path of the list for adapters: of these files, or of those with their text as JSON.
    pub list: PathBuf,
    /// Number of indexing threads.
    pub threads: usize,
    /// The number of segments to build and then merge into one; none if engines build as fast as they can.
    pub segments: Option<usize>,
    /// What the indexes keep.
    pub kept: Kept,
}

impl Corpus {
    /// Returns true if the documents are small files, which contain many different terms.
    pub fn is_tree(&self) -> bool {
        self.origin == Unit::File && are_small(&self.files)
    }
}

/// Returns true if the files have less than a mebibyte on average.
fn are_small(files: &[Input]) -> bool {
    files.iter().map(|file| file.bytes).sum::<u64>() / (files.len().max(1) as u64) < 1 << 20
}

/// What becomes a line of JSON: a small file, or a line of large files.
pub fn origin(unit: Unit, files: &[Input]) -> Unit {
    match unit {
        Unit::Json if are_small(files) => Unit::File,
        Unit::Json => Unit::Line,
        other => other,
    }
}

/// The files of the corpus, in the order in which scanns reads them: large ones first.
///
/// # Errors
/// If the corpus cannot be read, is empty, or has a file that is too large.
pub fn files_of(corpus: &Path) -> Result<Vec<Input>> {
    let source = SourceOptions { paths: vec![corpus.into()], ..SourceOptions::default() };
    let found = scanns::sources::collect(&source, &AtomicBool::new(false))?;
    if let Some(failure) = found.failures.first() {
        bail!("{}: {}", failure.path.display(), failure.reason);
    }
    ensure!(!found.inputs.is_empty(), "{} has no files", corpus.display());
    if let Some(large) = found.inputs.iter().find(|input| input.bytes > LARGEST_FILE) {
        bail!(
            "{} has {:.0} MiB, but the peers read whole files into memory; split it into parts below 1 GiB",
            large.path.display(),
            mib(large.bytes)
        );
    }
    Ok(found.inputs)
}

/// Writes the list of files for the adapters into `work`, and returns its path.
///
/// # Errors
/// If a path is not UTF-8, or the list cannot be written.
pub fn write_list<'f>(files: impl IntoIterator<Item = &'f PathBuf>, work: &Path) -> Result<PathBuf> {
    let mut list = String::new();
    for file in files {
        let path = std::path::absolute(file)?;
        let text = path.to_str();
        list.push_str(text.with_context(|| format!("{} is not UTF-8; rename it", path.display()))?);
        list.push('\0');
    }
    let path = work.join("files");
    fs::write(&path, list).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Divides the files into shares of about the same size, and writes a list for each share to the directory of
/// the list of all files. Files are dealt in turns. They are sorted by size or directory, so each share gets
/// files of all kinds, as each of several threads would.
///
/// # Errors
/// If there are fewer files than shares, or a list cannot be read or written.
pub fn write_shares(list: &Path, shares: usize) -> Result<()> {
    let why = || format!("cannot read the list {}", list.display());
    let text = fs::read_to_string(list).with_context(why)?;
    let files: Vec<&str> = text.split_inclusive('\0').collect();
    ensure!(
        files.len() >= shares,
        "{} files cannot make {shares} segments, because a file is part of only one segment; reduce \
         --segments, or split files",
        files.len()
    );
    for number in 0..shares {
        let dealt: String = files.iter().skip(number).step_by(shares).copied().collect();
        let path = share(list, number);
        fs::write(&path, dealt).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_dealt_in_turns_and_each_share_has_some() {
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join("files");
        fs::write(&list, "a\0b c\0d\0e\0f\0").unwrap();
        write_shares(&list, 2).unwrap();
        let read = |number| fs::read_to_string(share(&list, number)).unwrap();
        assert_eq!((read(0).as_str(), read(1).as_str()), ("a\0d\0f\0", "b c\0e\0"));
        assert!(write_shares(&list, 6).unwrap_err().to_string().contains("--segments"));
    }

    #[test]
    fn lists_of_files_hold_whole_paths_and_end_each_with_a_nul() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a b"), "x").unwrap();
        let files = files_of(dir.path()).unwrap();
        let list =
            fs::read_to_string(write_list(files.iter().map(|file| &file.path), dir.path()).unwrap()).unwrap();
        assert_eq!(list, format!("{}\0", dir.path().join("a b").display()));
        assert!(files_of(&dir.path().join("absent")).is_err());
    }
}
