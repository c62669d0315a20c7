//! The corpus: its files, what a document is, what the indexes keep, and the shares of files that become
//! segments.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use scanns::sources::Input;

use crate::protocol::{Kept, Unit, share};

/// What all engines index.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// The name that the table shows.
    pub name: String,
    /// What a document is.
    pub unit: Unit,
    /// The files, in the order of indexing.
    pub files: Vec<Input>,
    /// The path of the list of these files for adapters.
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
        let bytes: u64 = self.files.iter().map(|file| file.bytes).sum();
        self.unit == Unit::File && bytes / (self.files.len().max(1) as u64) < 1 << 20
    }
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
}
