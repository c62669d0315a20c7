//! What is indexed: the files, what a document is, what is kept, and the shares of files that become
//! segments.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use scanns::sources::Input;

use crate::protocol::{Kept, Unit, share};

/// What is built, by all engines alike.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// A name for people.
    pub name: String,
    /// What a document is.
    pub unit: Unit,
    /// The files, in the order in which they are taken.
    pub files: Vec<Input>,
    /// The same as a list for adapters.
    pub list: PathBuf,
    /// Threads that index.
    pub threads: usize,
    /// Segments that are built, to be merged into one; none where engines build as fast as they can.
    pub segments: Option<usize>,
    /// What the indexes keep.
    pub kept: Kept,
}

impl Corpus {
    /// True for many small files, of which each document makes many new terms.
    pub fn is_tree(&self) -> bool {
        let bytes: u64 = self.files.iter().map(|file| file.bytes).sum();
        self.unit == Unit::File && bytes / (self.files.len().max(1) as u64) < 1 << 20
    }
}

/// Deals the files into shares of about the same size, and writes the list of each beside that of all. Files
/// go round in turns: they are sorted by size or directory, so each share has some of all kinds, as what one
/// of several threads takes.
///
/// # Errors
/// Where there are fewer files than shares, or a list cannot be written.
pub fn write_shares(list: &Path, shares: usize) -> Result<()> {
    let why = || format!("cannot read the list {}", list.display());
    let text = fs::read_to_string(list).with_context(why)?;
    let files: Vec<&str> = text.split_inclusive('\0').collect();
    ensure!(
        files.len() >= shares,
        "{} files do not make {shares} segments, since a file goes into one: give fewer --segments, or \
         split files",
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
