//! Queries drawn from the corpus, by class: terms by the share of documents that have them, and two or three terms that
//! stand in one document together.
//!
//! Places in the text are drawn from a seed, and document frequencies are looked up in the index of scanns, so a corpus
//! of any size costs little memory. Were that index wrong, the hits of the others would not be equal.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use scanns::{Delimiters, Input, Query, Searcher};

use crate::protocol::Unit;

/// Bytes of text that are looked at in one place.
const WINDOW: usize = 64 << 10;

/// Terms that are taken from a window, at most.
const TERMS_PER_WINDOW: usize = 64;

/// One query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// Its class.
    pub class: &'static str,
    /// Its terms.
    pub terms: Vec<String>,
}

/// The classes, in the order in which they are shown.
pub const CLASSES: [&str; 7] = ["high", "med", "low", "and2", "and3", "or2", "or3"];

/// Classes of single terms with the least and the greatest share of documents, or numbers of documents, of their terms.
fn bands(documents: u64) -> [(&'static str, u64, u64); 3] {
    let permille = |share: u64| (documents * share / 10_000).max(1);
    if documents < 100 {
        [("high", permille(9_500), documents), ("med", permille(1_500), permille(7_000)), ("low", 1, 2)]
    } else {
        [("high", permille(300), documents), ("med", permille(3), permille(30)), ("low", 1, 10)]
    }
}

/// Draws queries.
pub struct Sampler<'a> {
    files: &'a [Input],
    /// Where each file ends if all stood one after the other.
    ends: Vec<u64>,
    unit: Unit,
    searcher: &'a Searcher<'a>,
    delimiters: Delimiters,
    known: HashMap<Vec<u8>, u64>,
    random: Rng,
}

impl<'a> Sampler<'a> {
    /// A sampler of the documents in `files`, which `searcher` has indexed.
    pub fn new(files: &'a [Input], unit: Unit, searcher: &'a Searcher<'a>, seed: u64) -> Self {
        let mut end = 0;
        let ends = files
            .iter()
            .map(|file| {
                end += file.bytes;
                end
            })
            .collect();
        let (delimiters, known) = (Delimiters::paths(), HashMap::new());
        Sampler { files, ends, unit, searcher, delimiters, known, random: Rng::with_seed(seed) }
    }

    /// Up to `each` queries of every class, sorted by class.
    ///
    /// # Errors
    /// Where the corpus or the index cannot be read, or nothing could be drawn.
    pub fn draw(&mut self, each: usize) -> Result<Vec<Asked>> {
        let mut found = self.single_terms(each)?;
        found.extend(self.several_terms(each)?);
        ensure!(
            !found.is_empty(),
            "no queries could be drawn: the corpus has no words of 3 to 60 ASCII letters"
        );
        let order = |asked: &Asked| CLASSES.iter().position(|&class| class == asked.class);
        found.sort_by_key(order);
        Ok(found)
    }

    fn single_terms(&mut self, each: usize) -> Result<Vec<Asked>> {
        let bands = bands(self.searcher.stats().documents);
        let mut found = BTreeMap::<&str, BTreeSet<Vec<u8>>>::new();
        for _ in 0..3 * each {
            if bands.iter().all(|(class, ..)| found.get(class).is_some_and(|terms| terms.len() >= each)) {
                break;
            }
            let text = self.window()?;
            for term in self.terms(&text) {
                let frequency = self.frequency(&term)?;
                for (class, low, high) in bands {
                    // A term that stands in more places is met more often; this takes that back.
                    let kept = (low..=high).contains(&frequency) && self.random.u64(0..frequency) < low;
                    let class = found.entry(class).or_default();
                    if kept && class.len() < each {
                        class.insert(term.clone());
                    }
                }
            }
        }
        let asked = found.into_iter().flat_map(|(class, terms)| {
            terms.into_iter().map(move |term| Asked { class, terms: vec![text_of(&term)] })
        });
        Ok(asked.collect())
    }

    fn several_terms(&mut self, each: usize) -> Result<Vec<Asked>> {
        let documents = self.searcher.stats().documents;
        let least = if documents < 100 { 2 } else { documents * 3 / 10_000 + 5 };
        let mut found = Vec::new();
        for (class, count) in [("and2", 2), ("and3", 3), ("or2", 2), ("or3", 3)] {
            let enough = found.len() + each;
            for _ in 0..100 * each {
                if found.len() == enough {
                    break;
                }
                let text = self.document()?;
                let mut terms = Vec::new();
                for term in self.terms(&text) {
                    if terms.len() < count && self.frequency(&term)? >= least {
                        terms.push(text_of(&term));
                    }
                }
                if terms.len() == count {
                    found.push(Asked { class, terms });
                }
            }
        }
        Ok(found)
    }

    /// Documents that have `term`.
    fn frequency(&mut self, term: &[u8]) -> Result<u64> {
        if let Some(&known) = self.known.get(term) {
            return Ok(known);
        }
        let frequency = self.searcher.count(&Query::Term(term.to_vec()))?;
        self.known.insert(term.to_vec(), frequency);
        ensure!(frequency > 0, "{:?} stands in the corpus, but not in the index", text_of(term));
        Ok(frequency)
    }

    /// Different terms of `text` that make a query, in random order.
    fn terms(&mut self, text: &[u8]) -> Vec<Vec<u8>> {
        let words = text.split(|&byte| self.delimiters.contains(byte));
        let usable = |word: &&[u8]| (3..60).contains(&word.len()) && word.iter().all(u8::is_ascii_graphic);
        let distinct: BTreeSet<&[u8]> = words.filter(usable).collect();
        let mut terms: Vec<Vec<u8>> = distinct.into_iter().map(<[u8]>::to_vec).collect();
        self.random.shuffle(&mut terms);
        terms.truncate(TERMS_PER_WINDOW);
        terms
    }

    /// Text at a random place, without the terms and lines that may be cut at its ends.
    fn window(&mut self) -> Result<Vec<u8>> {
        let all = self.ends.last().copied().unwrap_or(0);
        ensure!(all > 0, "the corpus is empty: give another with --corpus");
        let place = self.random.u64(0..all);
        let number = self.ends.partition_point(|&end| end <= place);
        let file = &self.files[number];
        let start = (place - (self.ends[number] - file.bytes)).min(file.bytes.saturating_sub(WINDOW as u64));
        self.read(file, start)
    }

    /// Text of one random document, or a part of it: a file by its number, a line by its place.
    fn document(&mut self) -> Result<Vec<u8>> {
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

/// Terms that make a query are ASCII.
fn text_of(term: &[u8]) -> String {
    String::from_utf8_lossy(term).into_owned()
}

/// The file of queries that adapters read.
pub fn to_tsv(queries: &[Asked]) -> String {
    queries.iter().map(|query| format!("{}\t{}\n", query.class, query.terms.join(" "))).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use scanns::{
        Analyzer, IndexOptions, Progress, ReadOptions, Records, SEGMENT_MEMORY, Snapshot, SourceOptions,
    };

    use super::*;

    /// A corpus of words whose frequencies fall, its index, and its files.
    fn corpus(dir: &Path, unit: Unit) -> (Snapshot, Vec<Input>) {
        let mut random = Rng::with_seed(3);
        let text = dir.join("text");
        fs::create_dir(&text).unwrap();
        for part in 0..3 {
            let mut lines = String::new();
            for _ in 0..2000 {
                for _ in 0..8 {
                    let most = random.u32(1..5000);
                    lines.push_str(&format!("word{:04}/", random.u32(0..most)));
                }
                lines.push('\n');
            }
            fs::write(text.join(part.to_string()), lines).unwrap();
        }
        let source = SourceOptions { paths: vec![text], ..SourceOptions::default() };
        let cancel = Arc::new(AtomicBool::new(false));
        let files = scanns::collect(&source, &cancel).unwrap().inputs;
        let options = IndexOptions {
            source,
            read: ReadOptions { lanes: 1, ..ReadOptions::default() },
            records: if unit == Unit::Line { Records::Lines } else { Records::File },
            analyzer: Some(Analyzer::parse("paths").unwrap()),
            postings: None,
            stored: scanns::StoredOptions::default(),
            memory: 1 << 30,
            segment_memory: SEGMENT_MEMORY,
            flush: scanns::FlushOptions::default(),
            merge: None,
            again: false,
            commit_every: None,
            commit_bytes: None,
            time_limit: None,
        };
        let out = dir.join("index");
        scanns::build(&out, &options, &Progress::new(), &cancel).unwrap();
        (Snapshot::open(&out).unwrap(), files)
    }

    #[test]
    fn queries_of_lines_have_the_frequencies_of_their_class_and_come_back_for_the_same_seed() {
        let dir = tempfile::tempdir().unwrap();
        let (snapshot, files) = corpus(dir.path(), Unit::Line);
        let searcher = snapshot.searcher();
        let draw = |seed| Sampler::new(&files, Unit::Line, &searcher, seed).draw(20).unwrap();
        let queries = draw(1);
        assert_eq!(queries, draw(1));
        assert_ne!(queries, draw(2));
        let bands = bands(6000);
        for query in &queries {
            let frequency = |term: &String| searcher.count(&Query::Term(term.clone().into_bytes())).unwrap();
            match bands.iter().find(|band| band.0 == query.class) {
                Some((_, low, high)) => assert!((*low..=*high).contains(&frequency(&query.terms[0]))),
                None => assert!(query.terms.iter().all(|term| frequency(term) >= 6)),
            }
        }
        for class in CLASSES {
            let of_class = queries.iter().filter(|query| query.class == class).count();
            assert!((class == "high") == (of_class < 20), "{of_class} of {class}");
        }
    }

    #[test]
    fn terms_of_a_conjunction_stand_in_one_document_together() {
        let dir = tempfile::tempdir().unwrap();
        for unit in [Unit::File, Unit::Line] {
            let dir = dir.path().join(unit.to_string());
            fs::create_dir(&dir).unwrap();
            let (snapshot, files) = corpus(&dir, unit);
            let searcher = snapshot.searcher();
            for query in Sampler::new(&files, unit, &searcher, 5).draw(10).unwrap() {
                let must = query.terms.iter().map(|term| Query::Term(term.clone().into_bytes())).collect();
                let all = Query::Bool(scanns::BoolQuery { must, ..scanns::BoolQuery::default() });
                assert!(searcher.count(&all).unwrap() > 0, "{query:?}");
            }
        }
    }

    #[test]
    fn a_file_of_queries_has_a_line_for_each() {
        let queries = [
            Asked { class: "low", terms: vec!["one".into()] },
            Asked { class: "or2", terms: vec!["one".into(), "two".into()] },
        ];
        assert_eq!(to_tsv(&queries), "low\tone\nor2\tone two\n");
    }
}
