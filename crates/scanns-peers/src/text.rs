//! Reads text at random places of a corpus, which needs little memory for a corpus of any size. The places
//! follow from a seed.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use scanns::schema::Delimiters;
use scanns::sources::Input;

use crate::protocol::Unit;

/// The number of bytes to read at one place.
const WINDOW: usize = 64 << 10;

/// The maximum number of terms to take from a window.
const TERMS_PER_WINDOW: usize = 64;

/// Draws random places of a corpus.
pub struct Places<'a> {
    files: &'a [Input],
    /// The end of each file in the concatenation of all files.
    ends: Vec<u64>,
    unit: Unit,
    delimiters: Delimiters,
    /// The source of random numbers.
    pub random: Rng,
}

impl<'a> Places<'a> {
    /// Creates a source of places in `files`.
    pub fn new(files: &'a [Input], unit: Unit, seed: u64) -> Self {
        let mut end = 0;
        let ends = files
            .iter()
            .map(|file| {
                end += file.bytes;
                end
            })
            .collect();
        Places { files, ends, unit, delimiters: Delimiters::paths(), random: Rng::with_seed(seed) }
    }

    /// Returns distinct terms of `text` that can be part of a query, in random order.
    pub fn terms(&mut self, text: &[u8]) -> Vec<Vec<u8>> {
        let words = text.split(|&byte| self.delimiters.contains(byte));
        let usable = |word: &&[u8]| (3..60).contains(&word.len()) && word.iter().all(u8::is_ascii_graphic);
        let distinct: BTreeSet<&[u8]> = words.filter(usable).collect();
        let mut terms: Vec<Vec<u8>> = distinct.into_iter().map(<[u8]>::to_vec).collect();
        self.random.shuffle(&mut terms);
        terms.truncate(TERMS_PER_WINDOW);
        terms
    }

    /// Returns all tokens of `text` in order, with none for a token that cannot be part of a query.
    pub fn tokens(&self, text: &[u8]) -> Vec<Option<String>> {
        let words = text.split(|&byte| self.delimiters.contains(byte)).filter(|word| !word.is_empty());
        let usable = |word: &[u8]| {
            std::str::from_utf8(word).is_ok_and(|text| {
                word.len() < 60 && !text.chars().any(|char| char.is_whitespace() || char.is_control())
            })
        };
        words.map(|word| usable(word).then(|| text_of(word))).collect()
    }

    /// Returns text at a random place, without the terms that may be cut at its ends.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub fn window(&mut self) -> Result<Vec<u8>> {
        let all = self.ends.last().copied().unwrap_or(0);
        ensure!(all > 0, "the corpus is empty; name another with --corpus");
        let place = self.random.u64(0..all);
        let number = self.ends.partition_point(|&end| end <= place);
        let file = &self.files[number];
        let start = (place - (self.ends[number] - file.bytes)).min(file.bytes.saturating_sub(WINDOW as u64));
        self.read(file, start)
    }

    /// Returns the text of a random document, or a part of it. A file is drawn by its number, a line by its
    /// place in the corpus.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub fn document(&mut self) -> Result<Vec<u8>> {
        if self.unit == Unit::File {
            let file = &self.files[self.random.usize(0..self.files.len())];
            let start = self.random.u64(0..=file.bytes.saturating_sub(WINDOW as u64));
            return self.read(file, start);
        }
        let text = self.window()?;
        let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
        // The first and the last line may be cut.
        let whole = if lines.len() > 2 { &lines[1..lines.len() - 1] } else { &lines };
        Ok(whole[self.random.usize(0..whole.len())].to_vec())
    }

    fn read(&self, file: &Input, start: u64) -> Result<Vec<u8>> {
        let why = || format!("cannot read {}", file.path.display());
        let opened = File::open(&file.path).with_context(why)?;
        let mut text = vec![0; usize::try_from(file.bytes)?.min(WINDOW)];
        opened.read_exact_at(&mut text, start).with_context(why)?;
        let whole = |byte: &u8| self.delimiters.contains(*byte);
        if start + (text.len() as u64) < file.bytes {
            text.truncate(text.iter().rposition(whole).unwrap_or(0));
        }
        if start > 0 {
            text.drain(..text.iter().position(whole).unwrap_or(text.len()));
        }
        Ok(text)
    }
}

/// Converts a term to text.
pub fn text_of(term: &[u8]) -> String {
    String::from_utf8_lossy(term).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::AtomicBool;

    use scanns::sources::SourceOptions;

    use super::*;

    #[test]
    fn a_document_of_lines_is_a_whole_line_and_its_tokens_keep_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let text: String = (0..30_000).map(|line| format!("a{line}/b{line} c{line}\n")).collect();
        fs::write(dir.path().join("text"), text).unwrap();
        let source = SourceOptions { paths: vec![dir.path().into()], ..SourceOptions::default() };
        let files = scanns::sources::collect(&source, &AtomicBool::new(false)).unwrap().inputs;
        let mut places = Places::new(&files, Unit::Line, 1);
        let mut seen = BTreeSet::new();
        for _ in 0..50 {
            let line = places.document().unwrap();
            let tokens: Vec<String> = places.tokens(&line).into_iter().flatten().collect();
            let number = tokens[0].strip_prefix('a').unwrap();
            assert_eq!(tokens, [format!("a{number}"), format!("b{number}"), format!("c{number}")]);
            seen.insert(number.to_string());
        }
        assert!(seen.len() > 40, "{}", seen.len());
    }

    #[test]
    fn tokens_that_cannot_stand_in_a_query_keep_their_place() {
        let places = Places::new(&[], Unit::Line, 1);
        let found = places.tokens(b" one/\xff\ttwo \x01 three ");
        assert_eq!(found, [Some("one".into()), None, Some("two".into()), None, Some("three".into())]);
    }
}
