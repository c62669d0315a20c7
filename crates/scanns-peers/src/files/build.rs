//! The commands that build what a tool keeps.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::listing::FORMAT;
use super::tool::Tool;

/// Where the tree is, and where the tools write.
#[derive(Clone, Debug)]
pub struct Room {
    /// The directory with the entries: an absolute path.
    pub tree: PathBuf,
    /// The directory for what the tools write.
    pub work: PathBuf,
}

impl Room {
    /// What a tool writes: a file, or a directory.
    pub fn output(&self, tool: Tool) -> PathBuf {
        self.work.join(match tool {
            Tool::Scanns => "files.scanns".into(),
            tool => format!("files.{}", tool.name()),
        })
    }

    /// The words of a command, which are separated by blanks: `@tree` is a directory, `@output` is what the
    /// tool writes, and `@empty` is a word without letters.
    pub fn words(&self, words: &str, tool: Tool, tree: &Path) -> Vec<OsString> {
        let words = words.split_whitespace().map(|word| match word {
            "@tree" => tree.into(),
            "@output" => self.output(tool).into(),
            "@empty" => OsString::new(),
            word => word.into(),
        });
        words.collect()
    }

    /// The words after the program to build what a tool keeps. du and dua keep nothing, but read the tree.
    pub fn build(&self, tool: Tool) -> Option<Vec<OsString>> {
        let words = match tool {
            Tool::Scanns => "index -q --content none -o @output @tree",
            // Everything below the tree, and without a look at permissions in answers.
            Tool::Plocate => {
                "-l 0 --prune-bind-mounts no --prunefs @empty --prunenames @empty --prunepaths @empty \
                 -o @output -U @tree"
            }
            Tool::Find => &format!("@tree -fprintf @output {FORMAT}"),
            Tool::Du => "-s @tree",
            Tool::Duc => "index -q -H -d @output @tree",
            Tool::Ncdu => "-0 -o @output @tree",
            Tool::Gdu => "-n -p -c -o @output @tree",
            Tool::Dua => "-f bytes @tree",
            Tool::Fd => return None,
        };
        Some(self.words(words, tool, &self.tree))
    }

    /// True if a second build takes over something from the first one, or replaces it in place.
    pub fn updates(tool: Tool) -> bool {
        matches!(tool, Tool::Scanns | Tool::Plocate | Tool::Duc)
    }

    /// Removes what a tool has written.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn clear(&self, tool: Tool) -> Result<()> {
        let output = self.output(tool);
        if output.is_dir() {
            fs::remove_dir_all(output)?;
        } else if output.exists() {
            fs::remove_file(output)?;
        }
        Ok(())
    }
}

/// The bytes of a file, or of all files below a directory.
///
/// # Errors
/// If it cannot be read.
pub fn bytes(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    fs::read_dir(path)?.map(|entry| bytes(&entry?.path())).sum()
}

/// The number of entries in what ncdu and gdu write: JSON with an object for each. Quotes in names are
/// escaped, so the beginning of an object is not found in a name.
pub fn exported(json: &[u8]) -> u64 {
    let begin = b"{\"name\":\"";
    let mut count = 0;
    for (at, _) in json.iter().enumerate().filter(|&(_, &byte)| byte == b'{') {
        count += u64::from(json.get(at..).is_some_and(|rest| rest.starts_with(begin)));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_an_export_are_counted_whatever_their_names_are() {
        let json = b"[1,2,{\"progname\":\"ncdu\"},\n[{\"name\":\"/t\",\"asize\":4096},\n\
            {\"name\":\"{\\\"name\\\":\\\"x\"},\n[{\"name\":\"\xff\"}]]]";
        assert_eq!(exported(json), 3);
        assert_eq!(exported(b""), 0);
    }

    #[test]
    fn the_bytes_of_a_directory_are_those_of_all_its_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/b"), "12345").unwrap();
        fs::write(dir.path().join("c"), "67").unwrap();
        assert_eq!((bytes(dir.path()).unwrap(), bytes(&dir.path().join("c")).unwrap()), (7, 2));
        assert!(bytes(&dir.path().join("absent")).is_err());
    }
}
