//! Makes the documents of an application from text, as a file of JSON lines that all adapters read.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use scanns::sources::Input;
use serde::{Deserialize, Serialize};

use super::{COMMIT_EVERY, NOW};

/// One call of the application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call<'c> {
    /// Adds a document, or replaces the one with the same key.
    #[serde(borrow)]
    Put(Item<'c>),
    /// Deletes the document with this key.
    Delete(u32),
    /// Commits.
    Commit,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item<'c> {
    /// The key.
    pub id: u32,
    /// A few words.
    #[serde(borrow)]
    pub title: Cow<'c, str>,
    /// Some hundred bytes of text.
    #[serde(borrow)]
    pub body: Cow<'c, str>,
    /// One to five tags.
    pub tags: Vec<u16>,
    /// The price, with two decimals.
    pub price: f64,
    /// The number in stock.
    pub stock: u64,
    /// Seconds since 1970, in the ten years before [`NOW`].
    pub date: i64,
}

/// The bytes of a body, at least.
const BODY_BYTES: usize = 500;

/// The number of different tags.
const TAGS: u16 = 60;

/// Cuts text into bodies at the ends of lines.
struct Bodies<'f> {
    files: &'f [Input],
    next: usize,
    text: String,
    at: usize,
}

impl Bodies<'_> {
    /// The next body. Files are read again if there are too few.
    fn next(&mut self) -> Result<&str> {
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            if rest.len() >= BODY_BYTES {
                let line = |(at, char): (usize, char)| (at >= BODY_BYTES && char == '\n').then_some(at);
                // A text without lines is cut anywhere.
                let far = rest.char_indices().map(|(at, _)| at).find(|&at| at >= 4 * BODY_BYTES);
                let far = far.unwrap_or(rest.len());
                let end = rest[..far].char_indices().find_map(line).unwrap_or(far);
                let from = self.at;
                self.at += end;
                return Ok(self.text[from..from + end].trim());
            }
            let file = &self.files[self.next % self.files.len()];
            ensure!(self.next < 1_000_000, "the corpus has too little text; name another with --corpus");
            self.next += 1;
            let text =
                std::fs::read(&file.path).with_context(|| format!("cannot read {}", file.path.display()))?;
            self.text = String::from_utf8_lossy(&text).into_owned();
            self.at = 0;
        }
    }
}

fn item(id: u32, body: &str, random: &mut Rng) -> Item<'static> {
    let title = body.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
    // Low tags are frequent.
    let tag = |random: &mut Rng| {
        let below = 1 + random.u16(..TAGS);
        random.u16(..below)
    };
    let mut tags: Vec<u16> = (0..random.usize(1..=5)).map(|_| tag(random)).collect();
    tags.sort_unstable();
    tags.dedup();
    Item {
        id,
        title: title.into(),
        body: body.to_owned().into(),
        tags,
        price: f64::from(random.u32(100..100_000)) / 100.0,
        stock: random.u64(..1000),
        date: NOW - random.i64(0..3650 * 86_400),
    }
}

/// Writes the calls that add `documents` documents: after every 20,000 a commit, and before it updates of one
/// in a hundred of the earlier documents and deletions of one in two hundred. Each key occurs once between
/// two commits. Returns the number of documents that are left.
///
/// # Errors
/// If a file cannot be read or written, or there is too little text.
pub fn write(path: &Path, files: &[Input], documents: u32, seed: u64) -> Result<u64> {
    let part = path.with_extension("part");
    let file = File::create(&part).with_context(|| format!("cannot write {}", part.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let mut put = |call: &Call<'_>| -> Result<()> {
        serde_json::to_writer(&mut out, call)?;
        Ok(out.write_all(b"\n")?)
    };
    let mut random = Rng::with_seed(seed);
    let mut bodies = Bodies { files, next: 0, text: String::new(), at: 0 };
    let mut live: Vec<u32> = Vec::new();
    let mut added: Vec<u32> = Vec::new();
    for id in 0..documents {
        put(&Call::Put(item(id, bodies.next()?, &mut random)))?;
        added.push(id);
        if added.len() < COMMIT_EVERY && id + 1 < documents {
            continue;
        }
        random.shuffle(&mut live);
        let (updated, deleted) = (live.len() / 100, live.len() / 200);
        for &old in live.iter().take(updated) {
            put(&Call::Put(item(old, bodies.next()?, &mut random)))?;
        }
        for old in live.drain(updated..updated + deleted) {
            put(&Call::Delete(old))?;
        }
        live.append(&mut added);
        put(&Call::Commit)?;
    }
    out.into_inner()?.sync_all()?;
    std::fs::rename(&part, path)?;
    Ok(live.len() as u64)
}

/// Reads the calls up to the next commit, as lines of JSON. Returns false at the end.
///
/// # Errors
/// If the file cannot be read.
pub fn read_batch(file: &mut BufReader<File>, lines: &mut Vec<String>) -> Result<bool> {
    lines.clear();
    loop {
        let mut line = String::new();
        if file.read_line(&mut line)? == 0 || line.starts_with("\"commit\"") {
            return Ok(!lines.is_empty());
        }
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn calls_read_back_in_batches_and_leave_what_was_promised() {
        let dir = tempfile::tempdir().unwrap();
        let text = "A line of words that is short.\nAnother one, über alles.\n".repeat(400);
        let source = dir.path().join("text");
        std::fs::write(&source, &text).unwrap();
        let files = [Input { path: source, bytes: text.len() as u64, ..Input::default() }];
        let path = dir.path().join("calls");
        let left = write(&path, &files, 45_000, 7).unwrap();
        let mut file = BufReader::new(File::open(&path).unwrap());
        let (mut lines, mut live, mut batches) = (Vec::new(), BTreeMap::new(), 0);
        while read_batch(&mut file, &mut lines).unwrap() {
            batches += 1;
            let mut seen = std::collections::BTreeSet::new();
            for line in &lines {
                let id = match serde_json::from_str(line).unwrap() {
                    Call::Put(item) => {
                        assert!(item.body.len() >= BODY_BYTES - 1 && !item.tags.is_empty());
                        assert!((0..3650 * 86_400).contains(&(NOW - item.date)), "{}", item.date);
                        live.insert(item.id, item.price);
                        item.id
                    }
                    Call::Delete(id) => {
                        assert!(live.remove(&id).is_some(), "{id} was there");
                        id
                    }
                    Call::Commit => panic!("commits end batches"),
                };
                assert!(seen.insert(id), "{id} comes twice between two commits");
            }
        }
        assert_eq!((batches, live.len() as u64), (3, left));
        assert!(left < 45_000);
    }
}
