//! Reads text at random places of a corpus, which needs little memory for a corpus of any size. The places
//! follow from a seed.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use scanns::analysis::Tokenizer;
use scanns::sources::Input;

use crate::analyzer::AnalyzerName;
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
    tokenizer: Tokenizer,
    /// The places where text can be cut without changing the terms on either side.
    cuts: fn(u8) -> bool,
    /// The source of random numbers.
    pub random: Rng,
}

impl<'a> Places<'a> {
    /// Creates a source of places in `files`, whose terms `analyzer` finds.
    ///
    /// # Errors
    /// If scanns does not know the analyzer.
    pub fn new(files: &'a [Input], unit: Unit, analyzer: AnalyzerName, seed: u64) -> Result<Self> {
        let mut end = 0;
        let ends = files
            .iter()
            .map(|file| {
                end += file.bytes;
                end
            })
            .collect();
        let tokenizer = Tokenizer::new(&analyzer.of_scanns()?);
        // Marks after a space may belong to the space, so Unicode words are cut only at the ends of lines.
        let cuts = if analyzer.follows_unicode() { |byte| byte == b'\n' } else { is_space };
        Ok(Places { files, ends, unit, tokenizer, cuts, random: Rng::with_seed(seed) })
    }

    /// Returns distinct terms of `text` that can be part of a query, in random order.
    pub fn terms(&mut self, text: &[u8]) -> Vec<Vec<u8>> {
        let found = self.tokenizer.terms_of(&mut text.to_vec());
        let usable = |term: &Vec<u8>| term.len() >= 3 && usable(term).is_some();
        let distinct: BTreeSet<Vec<u8>> = found.into_iter().filter(usable).collect();
        let mut terms: Vec<Vec<u8>> = distinct.into_iter().collect();
        self.random.shuffle(&mut terms);
        terms.truncate(TERMS_PER_WINDOW);
        terms
    }

    /// Returns the tokens of `text` in order with their positions, with no text for a token that cannot be
    /// part of a query. If several tokens have the same position, the first is returned.
    pub fn tokens(&mut self, text: &[u8]) -> Vec<(u32, Option<String>)> {
        let mut found = self.tokenizer.placed_terms(&mut text.to_vec());
        found.dedup_by_key(|(position, _)| *position);
        found.into_iter().map(|(position, term)| (position, usable(&term).map(str::to_owned))).collect()
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
        let whole = |byte: &u8| (self.cuts)(*byte);
        if start + (text.len() as u64) < file.bytes {
            text.truncate(text.iter().rposition(whole).unwrap_or(0));
        }
        if start > 0 {
            text.drain(..text.iter().position(whole).unwrap_or(text.len()));
        }
        Ok(text)
    }
}

/// ASCII white space.
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// The text of a term that can be part of a query: short, valid, and without the characters that separate
/// words in a file of queries or replace invalid ones.
fn usable(term: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(term).ok().filter(|text| text.len() < 60)?;
    let odd = |c: char| c.is_whitespace() || c.is_control() || c == char::REPLACEMENT_CHARACTER;
    (!text.contains(odd)).then_some(text)
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
        let mut places = Places::new(&files, Unit::Line, AnalyzerName::Delimited, 1).unwrap();
        let mut seen = BTreeSet::new();
        for _ in 0..50 {
            let line = places.document().unwrap();
            let tokens: Vec<String> = places.tokens(&line).into_iter().filter_map(|token| token.1).collect();
            let number = tokens[0].strip_prefix('a').unwrap();
            assert_eq!(tokens, [format!("a{number}"), format!("b{number}"), format!("c{number}")]);
            seen.insert(number.to_string());
        }
        assert!(seen.len() > 40, "{}", seen.len());
    }

    #[test]
    fn tokens_that_cannot_stand_in_a_query_keep_their_place() {
        let mut places = Places::new(&[], Unit::Line, AnalyzerName::Delimited, 1).unwrap();
        let found = places.tokens(b" one/\xff\ttwo \x01 three ");
        let expected = [Some("one"), None, Some("two"), None, Some("three")];
        assert_eq!(found, (0..).zip(expected.map(|term| term.map(String::from))).collect::<Vec<_>>());
    }

    #[test]
    fn tokens_are_those_of_the_analyzer_with_their_gaps_and_one_for_each_position() {
        let tokens = |analyzer, text: &[u8]| {
            let mut places = Places::new(&[], Unit::File, analyzer, 1).unwrap();
            places.tokens(text).into_iter().map(|(at, term)| (at, term.unwrap())).collect::<Vec<_>>()
        };
        let english = tokens(AnalyzerName::English, b"Running to the cats");
        assert_eq!(english, [(0, "run".to_string()), (3, "cat".to_string())]);
        let code = tokens(AnalyzerName::Code, b"getURL(x)");
        assert_eq!(code, [(0, "geturl".to_string()), (1, "url".to_string()), (2, "x".to_string())]);
    }
}
