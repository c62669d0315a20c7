//! Queries drawn from the corpus, by class: single terms by document frequency, lists of terms from one
//! document, adjacent words, prefixes of words, and misspelled words.
//!
//! Document frequencies come from the index of scanns. If that index were wrong, the hits of the other
//! engines would differ.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Result, ensure};
use scanns::Query;
use scanns::schema::Field;
use scanns::search::Searcher;
use scanns::sources::Input;

use crate::analyzer::AnalyzerName;
use crate::form::{Form, Sign};
use crate::protocol::Unit;
use crate::text::{Places, text_of};

/// The maximum number of terms that a prefix of a query has, so that no engine refuses it.
const MAX_EXPANSIONS: usize = 1024;

/// One query.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The class of the query.
    pub class: &'static str,
    /// The query.
    pub form: Form,
}

/// The classes, in the order of the table.
pub const CLASSES: [&str; 17] = [
    "high", "med", "low", "and2", "and3", "or2", "or3", "or4", "or5", "or6", "mixed", "negated", "phrase2",
    "phrase3", "prefix", "fuzzy1", "fuzzy2",
];

/// The classes of lists, with the number of terms.
const LISTS: [(&str, usize); 9] = [
    ("and2", 2),
    ("and3", 3),
    ("or2", 2),
    ("or3", 3),
    ("or4", 4),
    ("or5", 5),
    ("or6", 6),
    ("mixed", 3),
    ("negated", 3),
];

/// The maximum number of tries for each query of a class. A class may end up with fewer queries.
const TRIES: usize = 100;

/// The minimum length of a word for a fuzzy query.
const FUZZY_LETTERS: usize = 5;

/// The classes of single terms, each with the lowest and the highest document frequency of its terms.
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
    places: Places<'a>,
    searcher: &'a Searcher<'a>,
    /// A searcher of the same index without a limit on the terms of a pattern.
    exhaustive: &'a Searcher<'a>,
    known: HashMap<Vec<u8>, u64>,
}

impl<'a> Sampler<'a> {
    /// Creates a sampler of the documents in `files`. Both searchers are of the index of these files; the
    /// second has no limits.
    ///
    /// # Errors
    /// If scanns does not know the analyzer.
    pub fn new(
        files: &'a [Input],
        unit: Unit,
        analyzer: AnalyzerName,
        searchers: [&'a Searcher<'a>; 2],
        seed: u64,
    ) -> Result<Self> {
        let places = Places::new(files, unit, analyzer, seed)?;
        let [searcher, exhaustive] = searchers;
        Ok(Sampler { places, searcher, exhaustive, known: HashMap::new() })
    }

    /// Draws up to `each` queries of every class, sorted by class. Phrases are drawn only with `positions`.
    ///
    /// # Errors
    /// If the corpus or the index cannot be read, or no query could be drawn.
    pub fn draw(&mut self, each: usize, positions: bool) -> Result<Vec<Asked>> {
        let mut found = self.single_terms(each)?;
        for (class, count) in LISTS {
            found.extend(self.class(class, each, |sampler, number| sampler.list(class, count, number))?);
        }
        let phrases: &[(&str, usize)] = if positions { &[("phrase2", 2), ("phrase3", 3)] } else { &[] };
        for &(class, count) in phrases {
            found.extend(self.class(class, each, |sampler, _| sampler.phrase(count))?);
        }
        found.extend(self.class("prefix", each, |sampler, _| sampler.prefix())?);
        for (class, edits) in [("fuzzy1", 1), ("fuzzy2", 2)] {
            found.extend(self.class(class, each, |sampler, _| sampler.fuzzy(edits))?);
        }
        ensure!(!found.is_empty(), "no queries could be drawn: the corpus has no terms of 3 to 60 bytes");
        let order = |asked: &Asked| CLASSES.iter().position(|&class| class == asked.class);
        found.sort_by_key(order);
        Ok(found)
    }

    /// Draws up to `each` queries of a class. `next` makes one try; its argument is the number of queries
    /// drawn so far.
    fn class(
        &mut self,
        class: &'static str,
        each: usize,
        mut next: impl FnMut(&mut Self, usize) -> Result<Option<Form>>,
    ) -> Result<Vec<Asked>> {
        let mut found = Vec::new();
        for _ in 0..TRIES * each {
            if found.len() == each {
                break;
            }
            found.extend(next(self, found.len())?.map(|form| Asked { class, form }));
        }
        Ok(found)
    }

    fn single_terms(&mut self, each: usize) -> Result<Vec<Asked>> {
        let bands = bands(self.searcher.documents());
        let mut found = BTreeMap::<&str, BTreeSet<Vec<u8>>>::new();
        for _ in 0..3 * each {
            if bands.iter().all(|(class, ..)| found.get(class).is_some_and(|terms| terms.len() >= each)) {
                break;
            }
            let text = self.places.window()?;
            for term in self.places.terms(&text) {
                let frequency = self.frequency(&term)?;
                for (class, low, high) in bands {
                    // A frequent term is drawn more often. This condition compensates for that.
                    let random = &mut self.places.random;
                    let kept = (low..=high).contains(&frequency) && random.u64(0..frequency) < low;
                    let class = found.entry(class).or_default();
                    if kept && class.len() < each {
                        class.insert(term.clone());
                    }
                }
            }
        }
        let asked = found.into_iter().flat_map(|(class, terms)| {
            terms.into_iter().map(move |term| Asked { class, form: Form::Term(text_of(&term)) })
        });
        Ok(asked.collect())
    }

    /// Draws terms of one document, none of them rare.
    fn list(&mut self, class: &str, count: usize, number: usize) -> Result<Option<Form>> {
        let documents = self.searcher.documents();
        let least = if documents < 100 { 2 } else { documents * 3 / 10_000 + 5 };
        let text = self.places.document()?;
        let mut terms = Vec::new();
        for term in self.places.terms(&text) {
            if terms.len() < count && self.frequency(&term)? >= least {
                terms.push(text_of(&term));
            }
        }
        if terms.len() < count {
            return Ok(None);
        }
        let signs: &[Sign] = match class {
            "mixed" => &[Sign::Must, Sign::Should, Sign::Should],
            "negated" if number.is_multiple_of(2) => &[Sign::Should, Sign::Should, Sign::MustNot],
            "negated" => &[Sign::Must, Sign::MustNot],
            class => {
                let sign = if class.starts_with("and") { Sign::Must } else { Sign::Should };
                return Ok(Some(Form::list(sign, &terms)));
            }
        };
        let clauses = signs.iter().zip(terms).map(|(&sign, term)| (sign, Form::Term(term))).collect();
        Ok(Some(Form::Bool { least: 0, clauses }))
    }

    /// Draws adjacent terms of a document.
    fn phrase(&mut self, count: usize) -> Result<Option<Form>> {
        let text = self.places.document()?;
        let tokens = self.places.tokens(&text);
        if tokens.len() < count {
            return Ok(None);
        }
        let start = self.places.random.usize(0..=tokens.len() - count);
        let tokens = &tokens[start..start + count];
        let first = tokens.first().map_or(0, |token| token.0);
        let terms = tokens.iter().map(|(at, term)| Some((at - first, term.clone()?)));
        Ok(terms.collect::<Option<_>>().map(|terms| Form::Phrase { slop: 0, terms }))
    }

    /// Draws a word for which `wanted` returns true from a random document.
    fn word(&mut self, wanted: impl Fn(&[u8]) -> bool) -> Result<Option<String>> {
        let text = self.places.document()?;
        Ok(self.places.terms(&text).into_iter().find(|term| wanted(term)).map(|term| text_of(&term)))
    }

    /// Draws the first three to five letters of a word, unless too many terms have this prefix.
    fn prefix(&mut self) -> Result<Option<Form>> {
        let letters = self.places.random.usize(3..=5);
        let begins =
            |term: &[u8]| term.iter().take_while(|byte| byte.is_ascii_alphabetic()).count() >= letters;
        let word = self.word(begins)?;
        let form = word.map(|word| Form::Prefix(word[..letters].to_string()));
        let Some(Form::Prefix(prefix)) = &form else { return Ok(None) };
        // The terms of all segments are counted together, because a merged segment has more terms than each
        // of its sources.
        let mut found = self.searcher.terms(prefix.as_bytes())?;
        let mut terms = 0;
        while terms <= MAX_EXPANSIONS && found.advance()?.is_some() {
            terms += 1;
        }
        Ok(form.filter(|_| terms <= MAX_EXPANSIONS))
    }

    /// Draws a misspelled word. Engines limit the number of matching terms differently, so a word whose
    /// matches exceed the limit of scanns is not used.
    fn fuzzy(&mut self, edits: u8) -> Result<Option<Form>> {
        let letters = |term: &[u8]| term.len() >= FUZZY_LETTERS && term.iter().all(u8::is_ascii_alphabetic);
        let Some(word) = self.word(letters)? else { return Ok(None) };
        let query = Form::Fuzzy { edits, term: self.misspell(&word) };
        let asked = query.to_scanns();
        Ok((self.searcher.count(&asked)? == self.exhaustive.count(&asked)?).then_some(query))
    }

    /// Returns `word` with one letter inserted, replaced, removed or swapped with the next.
    fn misspell(&mut self, word: &str) -> String {
        let mut letters: Vec<char> = word.chars().collect();
        let random = &mut self.places.random;
        let at = random.usize(0..letters.len() - 1);
        match random.u8(0..4) {
            0 => letters.insert(at, random.lowercase()),
            1 => letters[at] = random.lowercase(),
            2 => {
                letters.remove(at);
            }
            _ => letters.swap(at, at + 1),
        }
        letters.into_iter().collect()
    }

    /// The number of documents that contain `term`.
    fn frequency(&mut self, term: &[u8]) -> Result<u64> {
        if let Some(&known) = self.known.get(term) {
            return Ok(known);
        }
        let frequency = self.searcher.count(&Query::term(Field::default(), term))?;
        self.known.insert(term.to_vec(), frequency);
        ensure!(frequency > 0, "the corpus contains {:?}, but the index does not", text_of(term));
        Ok(frequency)
    }
}

/// Formats queries as the file that adapters read.
pub fn to_tsv(queries: &[Asked]) -> String {
    queries.iter().map(|query| format!("{}\t{}\n", query.class, query.form)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use fastrand::Rng;
    use scanns::Snapshot;
    use scanns::index::{IndexOptions, Progress};
    use scanns::schema::{Analyzer, Postings, Records};
    use scanns::sources::{ReadOptions, SourceOptions};
    use scanns::writer::SEGMENT_MEMORY;

    use super::*;

    /// Creates a corpus of words with descending frequencies. Returns its index and its files.
    fn corpus(dir: &Path, unit: Unit) -> (Snapshot, Vec<Input>) {
        let mut random = Rng::with_seed(3);
        let text = dir.join("text");
        fs::create_dir(&text).unwrap();
        for part in 0..3 {
            let mut lines = String::new();
            for _ in 0..2000 {
                for _ in 0..8 {
                    let most = random.u32(1..5000);
                    let letter = |digit: u8| char::from(digit - b'0' + b'a');
                    let letters =
                        format!("{:04}", random.u32(0..most)).bytes().map(letter).collect::<String>();
                    lines.push_str(&format!("word{letters}/"));
                }
                lines.push('\n');
            }
            fs::write(text.join(part.to_string()), lines).unwrap();
        }
        let source = SourceOptions { paths: vec![text], ..SourceOptions::default() };
        let cancel = Arc::new(AtomicBool::new(false));
        let files = scanns::sources::collect(&source, &cancel).unwrap().inputs;
        let options = IndexOptions {
            source,
            read: ReadOptions { lanes: 1, ..ReadOptions::default() },
            records: if unit == Unit::Line { Records::Lines } else { Records::File },
            fields: scanns::sources::FieldOptions { metadata: Some(false), ..Default::default() },
            analyzer: Some(Analyzer::parse("paths").unwrap()),
            postings: Some(Postings::Positions),
            stored: scanns::writer::StoredOptions::default(),
            memory: 1 << 30,
            segment_memory: Some(SEGMENT_MEMORY),
            buffers: scanns::writer::FlushBuffers::default(),
            merge: None,
            contents: None,
            extractors: None,
            again: false,
            dump: None,
            scan: Default::default(),
            changes: None,
            keep_removed: false,
            commit_every: None,
            commit_bytes: None,
            time_limit: None,
            snapshot: None,
        };
        let out = dir.join("index");
        scanns::Index::at(&out).build(&options, &Progress::new(), &cancel).unwrap();
        (Snapshot::open(&out).unwrap(), files)
    }

    #[test]
    fn queries_of_lines_have_the_frequencies_of_their_class_and_come_back_for_the_same_seed() {
        let dir = tempfile::tempdir().unwrap();
        let (snapshot, files) = corpus(dir.path(), Unit::Line);
        let (searcher, all) = (snapshot.searcher(), snapshot.searcher().exhaustive());
        let draw = |seed| {
            let sampler = Sampler::new(&files, Unit::Line, AnalyzerName::Delimited, [&searcher, &all], seed);
            sampler.unwrap().draw(20, true).unwrap()
        };
        let queries = draw(1);
        assert_eq!(queries, draw(1));
        assert_ne!(queries, draw(2));
        let bands = bands(6000);
        for query in &queries {
            let hits = searcher.count(&query.form.to_scanns()).unwrap();
            match bands.iter().find(|band| band.0 == query.class) {
                Some((_, low, high)) => assert!((*low..=*high).contains(&hits)),
                None => assert!(query.class == "negated" || query.class.starts_with("fuzzy") || hits > 0),
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
            let (searcher, all) = (snapshot.searcher(), snapshot.searcher().exhaustive());
            let sampler = Sampler::new(&files, unit, AnalyzerName::Delimited, [&searcher, &all], 5);
            for query in sampler.unwrap().draw(10, true).unwrap() {
                let terms: Vec<String> = query.form.terms().into_iter().map(String::from).collect();
                if !terms.is_empty() {
                    let together = Form::list(Sign::Must, &terms).to_scanns();
                    assert!(searcher.count(&together).unwrap() > 0, "{query:?}");
                }
            }
        }
    }

    #[test]
    fn a_file_of_queries_has_a_line_for_each() {
        let queries = [
            Asked { class: "low", form: Form::Term("one".into()) },
            Asked { class: "or2", form: Form::list(Sign::Should, &["one".into(), "two".into()]) },
        ];
        assert_eq!(to_tsv(&queries), "low\tterm one\nor2\tbool 0 2 | term one | term two\n");
    }
}
