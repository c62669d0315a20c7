//! What adapters read and how it becomes durable: lists of paths, the texts of documents, and files to sync.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use scanns::sources::Input;
use serde::{Deserialize, Serialize};

use crate::protocol::{BuildTask, Unit};

/// A document as a line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record<'r> {
    /// Where its text comes from.
    #[serde(borrow)]
    pub path: Cow<'r, str>,
    /// The bytes of its text, with those that are not valid.
    pub bytes: u64,
    /// Its text.
    #[serde(borrow)]
    pub text: Cow<'r, str>,
}

/// The bytes of JSON after which another file begins, so that several threads can read.
const PART: u64 = 8 << 20;

/// Writes the documents of `files`, which are files or lines, as lines of JSON into files of about 8 MiB in
/// `directory`, which is emptied first. Returns the paths of these files.
///
/// # Errors
/// If a file cannot be read or written.
pub fn write_json(files: &[Input], origin: Unit, directory: &Path) -> Result<Vec<PathBuf>> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot empty {}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let mut parts = Parts { directory, written: Vec::new(), part: None, bytes: 0 };
    for file in files {
        let text = fs::read(&file.path).with_context(|| format!("cannot read {}", file.path.display()))?;
        let path = file.path.to_string_lossy();
        if origin == Unit::File {
            parts.add(&path, &text)?;
            continue;
        }
        for (line, number) in text.strip_suffix(b"\n").unwrap_or(&text).split(|&byte| byte == b'\n').zip(1..)
        {
            parts.add(&format!("{path}:{number}"), line)?;
        }
    }
    parts.end()?;
    sync_below(directory)?;
    Ok(parts.written)
}

/// The files that [`write_json`] writes.
struct Parts<'d> {
    directory: &'d Path,
    written: Vec<PathBuf>,
    part: Option<BufWriter<File>>,
    bytes: u64,
}

impl Parts<'_> {
    fn add(&mut self, path: &str, text: &[u8]) -> Result<()> {
        if self.bytes > PART {
            self.end()?;
        }
        let mut part = match self.part.take() {
            Some(part) => part,
            None => {
                let path = self.directory.join(format!("{:05}.jsonl", self.written.len()));
                let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
                self.written.push(path);
                BufWriter::new(file)
            }
        };
        let (bytes, text) = (text.len() as u64, String::from_utf8_lossy(text));
        serde_json::to_writer(&mut part, &Record { path: path.into(), bytes, text })?;
        part.write_all(b"\n")?;
        self.bytes += bytes;
        self.part = Some(part);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.bytes = 0;
        Ok(self.part.take().map_or(Ok(()), |mut part| part.flush())?)
    }
}

/// Reads the paths of a list, each terminated by a NUL byte.
///
/// # Errors
/// If the list cannot be read or contains a path that is not UTF-8.
pub fn paths(list: &Path) -> Result<Vec<String>> {
    let text =
        fs::read_to_string(list).with_context(|| format!("cannot read the list {}", list.display()))?;
    Ok(text.split_terminator('\0').map(str::to_owned).collect())
}

/// Reads the documents of a task one after the other, with replacement characters for invalid UTF-8, and
/// passes their text to `add`. Returns the bytes that were read.
///
/// # Errors
/// If a file cannot be read, or `add` fails.
pub fn each_text(task: &BuildTask, mut add: impl FnMut(String) -> Result<()>) -> Result<u64> {
    let mut bytes = 0;
    for path in paths(&task.files)? {
        let text = fs::read(&path).with_context(|| format!("cannot read {path}"))?;
        bytes += text.len() as u64;
        let text = String::from_utf8(text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        match task.records {
            Unit::File => add(text)?,
            Unit::Line => text.split_terminator('\n').try_for_each(|line| add(line.into()))?,
            Unit::Json => text.split_terminator('\n').try_for_each(|line| {
                let record: Record =
                    serde_json::from_str(line).with_context(|| format!("{path} has {line:?}"))?;
                add(record.text.into_owned())
            })?,
        }
    }
    Ok(bytes)
}

/// Syncs all files below a directory, for engines that don't.
///
/// # Errors
/// If a file cannot be opened or synced.
pub fn sync_below(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            sync_below(&path)?;
        } else {
            fs::File::open(&path)?.sync_all().with_context(|| format!("cannot sync {}", path.display()))?;
        }
    }
    Ok(fs::File::open(directory)?.sync_all()?)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::protocol::Task;

    #[test]
    fn documents_become_lines_of_json_and_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            Input { path, bytes: text.len() as u64, ..Input::default() }
        };
        let large = "x".repeat(usize::try_from(PART).unwrap() + 1);
        let files = [write("a", b"one \"1\"\n\ntwo"), write("b", b"caf\xe9\n"), write("c", large.as_bytes())];
        let read = |origin| {
            let parts = write_json(&files, origin, &dir.path().join("json")).unwrap();
            let lines = parts.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>();
            let records: Vec<(String, u64, String)> = lines
                .iter()
                .flat_map(|text| text.lines())
                .map(|line| serde_json::from_str::<Record>(line).unwrap())
                .map(|record| {
                    let name = record.path.rsplit('/').next().unwrap_or_default();
                    (name.to_string(), record.bytes, record.text.chars().take(9).collect())
                })
                .collect();
            (parts.len(), records)
        };
        let of = |name: &str, bytes, text: &str| (name.to_string(), bytes, text.to_string());
        let last = PART + 1;
        assert_eq!(
            read(Unit::File).1,
            [of("a", 12, "one \"1\"\n\n"), of("b", 5, "caf\u{fffd}\n"), of("c", last, "xxxxxxxxx")]
        );
        let (parts, records) = read(Unit::Line);
        assert_eq!(records[..2], [of("a:1", 7, "one \"1\""), of("a:2", 0, "")]);
        assert_eq!(
            records[2..],
            [of("a:3", 3, "two"), of("b:1", 4, "caf\u{fffd}"), of("c:1", last, "xxxxxxxxx")]
        );
        assert_eq!(parts, 1, "a part ends with the document that fills it");
    }

    #[test]
    fn texts_are_files_or_lines_and_their_bytes_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
        fs::write(at("a"), "one\ntwo\n").unwrap();
        fs::write(at("b"), b"caf\xe9").unwrap();
        fs::write(at("list"), [at("a"), at("b")].map(|path| path + "\0").concat()).unwrap();
        for (records, expected) in
            [("file", &["one\ntwo\n", "caf\u{fffd}"][..]), ("line", &["one", "two", "caf\u{fffd}"])]
        {
            let words = format!(
                "x build --files {} --out o --records {records} --analyzer standard --threads 1 \
                 --writers local --buffer-mib 1 --repetitions 1 --segments 0",
                at("list")
            );
            let Task::Build(task) = Task::parse_from(words.split_whitespace()) else {
                panic!("another verb")
            };
            let mut texts = Vec::new();
            let bytes = each_text(&task, |text| {
                texts.push(text);
                Ok(())
            });
            assert_eq!(
                (bytes.unwrap(), texts.as_slice()),
                (12, expected.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice())
            );
        }
        sync_below(dir.path()).unwrap();
        assert!(sync_below(&dir.path().join("absent")).is_err());
    }
}
