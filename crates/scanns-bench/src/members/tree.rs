//! Makes a tree of small files from pieces of texts, and archives of a tree.
//!
//! A piece begins and ends at white space where the text has some. Files whose bytes are not UTF-8 are left
//! out. If there is less text than the files need, it is used again from the beginning, a few bytes later
//! each time, so that no two files are equal.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use fastrand::Rng;

/// Bytes of a piece: the smallest, and the first that is too large.
const SIZES: std::ops::Range<usize> = 300..2000;
/// Files in a directory.
const FOLDER: u64 = 1000;
/// Bytes of text that are kept in memory.
const MOST_TEXT: usize = 512 << 20;

/// The text of all files below a directory, or of one file.
pub(super) fn read_text(path: &Path) -> Result<String> {
    let mut text = String::new();
    let mut paths = vec![path.to_path_buf()];
    while let Some(path) = paths.pop() {
        let metadata =
            fs::symlink_metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if metadata.is_dir() {
            let below = fs::read_dir(&path)?.map(|entry| Ok(entry?.path()));
            let mut below = below.collect::<std::io::Result<Vec<PathBuf>>>()?;
            // The last one is taken first.
            below.sort_by(|a, b| b.cmp(a));
            paths.append(&mut below);
        } else if metadata.is_file() && text.len() < MOST_TEXT {
            text.push_str(&String::from_utf8(fs::read(&path)?).unwrap_or_default());
        }
    }
    ensure!(text.len() >= SIZES.end * 2, "{} has too little text in UTF-8", path.display());
    Ok(text)
}

/// Pieces of a text, without end.
pub(super) struct Pieces<'t> {
    text: &'t str,
    at: usize,
    rounds: usize,
    random: Rng,
}

impl<'t> Pieces<'t> {
    /// Begins at the start of the text.
    pub(super) fn new(text: &'t str, seed: u64) -> Self {
        Pieces { text, at: 0, rounds: 0, random: Rng::with_seed(seed) }
    }

    /// The next piece.
    pub(super) fn next(&mut self) -> &'t str {
        let size = self.random.usize(SIZES);
        if self.at + size > self.text.len() {
            self.rounds += 1;
            self.at = border(self.text, self.rounds * 97 % (self.text.len() / 2));
        }
        let end = border(self.text, self.at + size);
        let piece = self.text.get(self.at..end).unwrap_or_default();
        self.at = end;
        piece
    }
}

/// The next place behind `at` that is behind white space, if one is near, or between two characters.
fn border(text: &str, at: usize) -> usize {
    let near = text.as_bytes().get(at..).unwrap_or_default().iter().take(64);
    let blank = near.enumerate().find(|(_, byte)| byte.is_ascii_whitespace());
    let mut at = blank.map_or(at, |(steps, _)| at + steps + 1);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at.min(text.len())
}

/// Writes the files below `out`, a thousand in a directory. Returns the bytes of all.
pub(super) fn write(out: &Path, files: u64, pieces: &mut Pieces<'_>) -> Result<u64> {
    let mut bytes = 0;
    let mut folder = out.to_path_buf();
    for number in 0..files {
        if number % FOLDER == 0 {
            folder = out.join(format!("{:05}", number / FOLDER));
            fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let piece = pieces.next();
        fs::write(folder.join(format!("note-{:03}.txt", number % FOLDER)), piece)?;
        bytes += piece.len() as u64;
    }
    Ok(bytes)
}

/// The kind of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// tar without compression
    #[value(name = "tar")]
    Tar,
    /// tar, compressed with gzip
    #[value(name = "tar.gz")]
    TarGz,
    /// tar, compressed with Zstandard
    #[value(name = "tar.zst")]
    TarZst,
    /// zip with deflate
    #[value(name = "zip")]
    Zip,
}

impl Form {
    /// The end of the name of its files.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Form::Tar => "tar",
            Form::TarGz => "tar.gz",
            Form::TarZst => "tar.zst",
            Form::Zip => "zip",
        }
    }

    /// The shell command that makes it from the tree `$1` as the file `$2`.
    fn script(self) -> &'static str {
        match self {
            Form::Tar => "tar -C \"$1\" --sort=name -cf \"$2\" .",
            Form::TarGz => "tar -C \"$1\" --sort=name -cf - . | gzip -6 > \"$2\"",
            Form::TarZst => "tar -C \"$1\" --sort=name -cf - . | zstd -q -3 -o \"$2\"",
            Form::Zip => "cd \"$1\" && find . -type f | LC_ALL=C sort | zip -q -6 -@ \"$2\"",
        }
    }

    /// The programs that make it.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Form::Tar => &["tar"],
            Form::TarGz => &["tar", "gzip"],
            Form::TarZst => &["tar", "zstd"],
            Form::Zip => &["zip"],
        }
    }

    /// Makes the archive of a tree with the usual program. Returns false, and prints a line, if that is
    /// missing.
    pub(super) fn make(self, tree: &Path, out: &Path) -> Result<bool> {
        for program in self.programs() {
            let found =
                Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            if found.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
                println!("SKIPPED {}: apt install {program}", self.ending());
                return Ok(false);
            }
        }
        let script = format!("set -e; {}", self.script());
        let status = Command::new("sh").args(["-c", &script, "sh"]).arg(tree).arg(out).status()?;
        ensure!(status.success(), "cannot make {}", out.display());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_words_of_the_given_sizes_and_never_end() {
        let text = "Über den Wolken \u{1f600} ".repeat(3000);
        let mut pieces = Pieces::new(&text, 7);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            let piece = pieces.next();
            assert!((SIZES.start..SIZES.end + 70).contains(&piece.len()), "{} bytes", piece.len());
            assert!(piece.ends_with(' ') && !piece.starts_with(' '), "'{piece}'");
            seen.insert(piece);
        }
        assert!(seen.len() > 100, "{} pieces differ", seen.len());
        let solid = "ü".repeat(9000);
        let mut pieces = Pieces::new(&solid, 7);
        (0..1000).for_each(|_| assert!(pieces.next().chars().all(|letter| letter == 'ü')));
    }

    #[test]
    fn a_tree_has_the_number_of_files_and_its_archive_has_them_too() {
        let dir = tempfile::tempdir().unwrap();
        let text = "some words of a text\n".repeat(1000);
        let bytes = write(&dir.path().join("tree"), 1002, &mut Pieces::new(&text, 1)).unwrap();
        assert!((300 * 1002..2070 * 1002).contains(&bytes), "{bytes}");
        assert_eq!(fs::read_dir(dir.path().join("tree/00001")).unwrap().count(), 2);
        let archive = dir.path().join("tree.tar");
        assert!(Form::Tar.make(&dir.path().join("tree"), &archive).unwrap());
        let listed = Command::new("tar").arg("-tf").arg(&archive).output().unwrap();
        let files =
            String::from_utf8(listed.stdout).unwrap().lines().filter(|line| line.ends_with(".txt")).count();
        assert_eq!(files, 1002);
    }

    #[test]
    fn text_is_read_in_the_order_of_paths_and_other_bytes_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("b"), "B".repeat(3000)).unwrap();
        fs::write(dir.path().join("a"), "A".repeat(3000)).unwrap();
        fs::write(dir.path().join("c"), [0xff; 100]).unwrap();
        assert_eq!(read_text(dir.path()).unwrap(), "A".repeat(3000) + &"B".repeat(3000));
        assert!(read_text(&dir.path().join("c")).is_err() && read_text(&dir.path().join("d")).is_err());
    }
}
