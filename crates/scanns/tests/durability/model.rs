//! An ordered map that predicts the content of an index, and random changes of both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use scanns::columns::{BatchField, BatchOptions};
use scanns::index::{IndexOptions, MergeOptions, Progress, Selection};
use scanns::query::Operator;
use scanns::schema::{
    Analyzer, Compression, Document, FieldEntry, FieldKind, Postings, Records, Schema, Store, ValueRef,
};
use scanns::search::Model;
use scanns::sources::{PageSize, ReadOptions, SourceOptions};
use scanns::store::Directory;
use scanns::writer::{IndexWriter, MergePolicy, StoredOptions, WriterOptions};
use scanns::{Error, Hit, Index, Query, Result, Snapshot};

/// The content of the index: key → words, and the value of the column with [`VALUE`] before it.
pub type State = BTreeMap<String, Vec<String>>;

/// Term → key → frequency.
pub type Contents = BTreeMap<String, BTreeMap<String, u32>>;

/// The prefix of a value among words.
const VALUE: &str = "=";

/// The name of the column.
pub const COLUMN: &str = "n";

/// A change that ends in a commit.
#[derive(Clone, Debug)]
pub enum Step {
    /// Creates an index with a column, without documents.
    Make,
    /// Sets a value of the documents with these keys; one of the keys does not exist.
    Set(Vec<String>, u64),
    /// Writes files with these texts and indexes them.
    Index(BTreeMap<String, String>),
    /// Deletes documents by key; one of the keys does not exist.
    DeleteKeys(Vec<String>),
    /// Deletes the documents with this word.
    DeleteWord(String),
    /// Merges segments until this number of them is left; with 0, reorders documents.
    Merge(usize),
    /// Replaces the documents with these keys through a writer; without a text, deletes them.
    Live(Vec<(String, Option<String>)>),
}

/// A directory that a writer can keep.
pub trait Shared: Directory {
    /// Another handle to the same directory.
    fn share(&self) -> Arc<dyn Directory>;
}

impl<D: Directory + Clone + 'static> Shared for D {
    fn share(&self) -> Arc<dyn Directory> {
        Arc::new(self.clone())
    }
}

/// A run of changes, and the expected content after each.
pub struct Script {
    pub steps: Vec<Step>,
    /// The content before the first step, which creates the index, and after each step.
    pub states: Vec<State>,
    /// How files are divided into documents.
    pub records: Records,
    /// The number of index threads.
    pub lanes: usize,
    /// The stored data of documents.
    pub stored: StoredOptions,
    /// The details that postings contain.
    pub postings: Option<Postings>,
    merge: Option<MergePolicy>,
    /// Whether a build commits as often as it can, not only at its end.
    pub commits_often: bool,
    /// The directory of the indexed files.
    files: tempfile::TempDir,
}

impl Script {
    pub fn random(seed: u64, steps: usize) -> Script {
        let mut random = Rng::with_seed(seed);
        let mut script = Script {
            steps: Vec::new(),
            states: vec![State::new()],
            records: if random.bool() { Records::File } else { Records::Lines },
            lanes: random.usize(1..=2),
            stored: StoredOptions {
                store: random.choice([Store::None, Store::Reference, Store::Content, Store::Content]),
                compression: random.choice([Compression::None, Compression::Lz4, Compression::ZSTD]),
                vectors: Some(random.bool()),
            },
            postings: random.choice([None, Some(Postings::Positions), Some(Postings::Offsets)]).flatten(),
            merge: random.bool().then(|| MergePolicy {
                segments: 3,
                least_segments: 0,
                ..MergePolicy::default()
            }),
            commits_often: random.bool(),
            files: tempfile::tempdir().unwrap(),
        };
        // An index of references only has documents from files.
        let has_column = script.stored.store != Some(Store::Reference) && random.bool();
        if has_column {
            script.steps.push(Step::Make);
            script.states.push(State::new());
        }
        while script.steps.len() < steps {
            let state = script.states.last().unwrap();
            let some_keys = |random: &mut Rng| {
                let mut all: Vec<String> = state.keys().cloned().collect();
                random.shuffle(&mut all);
                all.truncate(random.usize(1..4));
                all.push(script.path(12));
                all
            };
            let step = match if script.steps.len() < 2 { 0 } else { random.usize(..12) } {
                0..4 => {
                    let count = random.usize(1..6);
                    Step::Index(
                        (0..count).map(|_| (script.path(random.usize(..12)), text(&mut random))).collect(),
                    )
                }
                4 => Step::DeleteKeys(some_keys(&mut random)),
                10.. if has_column => Step::Set(some_keys(&mut random), random.u64(..100)),
                5 => Step::DeleteWord(word(&mut random)),
                6..8 if script.stored.store != Some(Store::Reference) => {
                    let change = |random: &mut Rng| {
                        let text = (random.usize(..4) > 0).then(|| text(random));
                        (script.path(random.usize(..12)), text)
                    };
                    Step::Live((0..random.usize(1..8)).map(|_| change(&mut random)).collect())
                }
                _ => Step::Merge(random.usize(0..4)),
            };
            let after = script.after(state, &step);
            script.steps.push(step);
            script.states.push(after);
        }
        script
    }

    fn path(&self, file: usize) -> String {
        self.files.path().join(format!("file{file}")).to_str().unwrap().into()
    }

    /// The content after `step`, if it was `state` before.
    fn after(&self, state: &State, step: &Step) -> State {
        let mut state = state.clone();
        match step {
            Step::Index(files) => {
                for (path, text) in files {
                    state.retain(|key, _| key.split(':').next() != Some(path));
                    let words = |text: &str| text.split_whitespace().map(String::from).collect();
                    match self.records {
                        Records::File => drop(state.insert(path.clone(), words(text))),
                        _ => {
                            let lines = text.lines().zip(1..);
                            state.extend(
                                lines.map(|(line, number)| (format!("{path}:{number}"), words(line))),
                            );
                        }
                    }
                }
            }
            Step::DeleteKeys(keys) => state.retain(|key, _| !keys.contains(key)),
            Step::DeleteWord(word) => state.retain(|_, words| !words.contains(word)),
            Step::Merge(_) | Step::Make => {}
            Step::Set(keys, value) => {
                let chosen = state.iter_mut().filter(|(key, _)| keys.contains(key));
                for (_, words) in chosen {
                    words.retain(|word| !word.starts_with(VALUE));
                    words.push(format!("{VALUE}{value}"));
                }
            }
            Step::Live(changes) => {
                for (key, text) in changes {
                    state.retain(|other, _| other.split(':').next() != Some(key));
                    let words = |text: &String| text.split_whitespace().map(String::from).collect();
                    state.extend(text.iter().map(|text| (key.clone(), words(text))));
                }
            }
        }
        state
    }

    /// Runs step `number`.
    pub fn run(&self, directory: &dyn Shared, number: usize) -> Result<()> {
        let never = Arc::new(AtomicBool::new(false));
        match &self.steps[number] {
            Step::Index(files) => {
                self.write_files(number);
                let paths = files.keys().map(PathBuf::from).collect();
                let report = Index::in_directory(directory.share()).build(
                    &self.options(paths),
                    &Progress::new(),
                    &never,
                )?;
                assert!(report.failed.is_empty() && !report.cancelled, "{report:?}");
            }
            Step::DeleteKeys(keys) => {
                let keys = keys.iter().map(|key| key.clone().into_bytes()).collect();
                Index::in_directory(directory.share()).delete(&Selection::Keys(keys))?;
            }
            Step::DeleteWord(word) => {
                Index::in_directory(directory.share())
                    .delete(&Selection::Query(word.clone(), Operator::Or))?;
            }
            Step::Make => make(directory.share(), self.stored, self.postings)?,
            Step::Set(keys, value) => {
                let keys = keys.iter().map(|key| key.clone().into_bytes()).collect();
                Index::in_directory(directory.share())
                    .update(&Selection::Keys(keys), &[(COLUMN.into(), vec![value.to_string()])])?;
            }
            Step::Live(changes) => write_live(directory.share(), self.lanes, self.merge, changes)?,
            Step::Merge(segments) => {
                Index::in_directory(directory.share()).merge(
                    &MergeOptions {
                        segments: *segments,
                        reorder: *segments == 0,
                        memory: 64 << 20,
                        ..MergeOptions::default()
                    },
                    &Progress::new(),
                    &never,
                )?;
            }
        }
        Ok(())
    }

    /// Writes the files of step `number`; a second run of the step finds them unchanged.
    pub fn write_files(&self, number: usize) {
        let Step::Index(files) = &self.steps[number] else { return };
        for (path, text) in files {
            fs::write(path, text).unwrap();
            let file = fs::File::options().write(true).open(path).unwrap();
            let time = Duration::from_secs(1_000_000_000 + number as u64);
            file.set_modified(SystemTime::UNIX_EPOCH + time).unwrap();
        }
    }

    fn options(&self, paths: Vec<PathBuf>) -> IndexOptions {
        let read =
            ReadOptions { lanes: self.lanes, block_bytes: 64 << 10, uring: false, ..ReadOptions::default() };
        IndexOptions {
            source: SourceOptions { paths, threads: 1, ..SourceOptions::default() },
            read: ReadOptions { pages: PageSize::Base, ..read },
            records: self.records,
            fields: scanns::sources::FieldOptions::default(),
            analyzer: Some(Analyzer::parse("whitespace").unwrap()),
            memory: 512 << 20,
            postings: self.postings,
            stored: self.stored,
            merge: self.merge,
            commit_every: self.commits_often.then_some(Duration::ZERO),
            ..IndexOptions::default()
        }
    }

    /// Checks that the newest commit is one of `allowed`, which are numbers of states, and returns it.
    pub fn check(&self, directory: &dyn Directory, allowed: &[usize], what: &str) -> usize {
        self.find(directory, allowed).unwrap_or_else(|wrong| panic!("{what}: {wrong}"))
    }

    /// Which of the states `allowed` the newest commit is, or a description of the problem.
    pub fn find(&self, directory: &dyn Directory, allowed: &[usize]) -> Result<usize, String> {
        let snapshot = Snapshot::open_in(directory).map_err(|error| error.to_string())?;
        let Some(snapshot) = snapshot else {
            return if allowed.contains(&0) { Ok(0) } else { Err("the index is gone".into()) };
        };
        let found = contents(&snapshot).map_err(|error| error.to_string())?;
        let documents = snapshot.info().documents;
        let is = |state: &State| documents == state.len() as u64 && found == expected(state);
        let differ = |&state: &usize| {
            let wanted = expected(&self.states[state]);
            let terms = differences(&wanted, &found);
            format!(
                "state {state}: {} documents, (term, wanted, found): {terms:#?}",
                self.states[state].len()
            )
        };
        if let Some(state) = allowed.iter().copied().find(|&state| is(&self.states[state])) {
            return Ok(state);
        }
        if let [before, after] = *allowed
            && self.commits_often
            && is_between(&self.states[before], &self.states[after], documents, &found)
        {
            return Ok(before);
        }
        let differ: Vec<_> = allowed.iter().map(differ).collect();
        Err(format!("{documents} documents are there; {}", differ.join("\n")))
    }
}

/// Creates an index with a column.
pub fn make(directory: Arc<dyn Directory>, stored: StoredOptions, postings: Option<Postings>) -> Result<()> {
    let postings = postings.unwrap_or(Postings::Frequencies);
    let analyzer = Analyzer::parse("whitespace").unwrap();
    let mut schema = Schema::new();
    schema.add(FieldEntry::new("text", FieldKind::Text { analyzer, postings }))?;
    schema.add(FieldEntry::new(COLUMN, FieldKind::Unsigned).column())?;
    let options = WriterOptions { stored, merge: None, ..WriterOptions::default() };
    IndexWriter::open_in(directory, Some(&schema), options)?.commit().map(drop)
}

/// Makes the changes of a [`Step::Live`] and commits them; with more than one lane, in two commits.
pub fn write_live(
    directory: Arc<dyn Directory>,
    lanes: usize,
    merge: Option<MergePolicy>,
    changes: &[(String, Option<String>)],
) -> Result<()> {
    let options = WriterOptions { lanes, merge, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory, None, options)?;
    let text = writer.schema().default_field().unwrap();
    for (key, words) in changes {
        match words {
            Some(words) => writer.update(&Document::new(key.as_str()).text(text, words.as_str()))?,
            None => writer.delete(key.as_bytes())?,
        };
    }
    if lanes > 1 { writer.prepare()?.commit().map(drop) } else { writer.commit().map(drop) }
}

/// The documents of each file: key → word → frequency.
fn by_file(contents: &Contents) -> BTreeMap<&str, BTreeMap<&str, Keys>> {
    let mut files = BTreeMap::<_, BTreeMap<_, Keys>>::new();
    for (word, keys) in contents {
        for (key, freq) in keys {
            let file = key.split(':').next().unwrap_or(key);
            files.entry(file).or_default().entry(key.as_str()).or_default().insert(word.clone(), *freq);
        }
    }
    files
}

/// Returns true if each file is either completely in its old state or completely in its new state: a build
/// with several commits has finished some of them.
fn is_between(before: &State, after: &State, documents: u64, found: &Contents) -> bool {
    let (before, after) = (expected(before), expected(after));
    let (before, after, found) = (by_file(&before), by_file(&after), by_file(found));
    let files: BTreeSet<&str> = before.keys().chain(after.keys()).chain(found.keys()).copied().collect();
    let count = found.values().map(|documents| documents.len() as u64).sum::<u64>();
    let same = |file: &&str| [before.get(file), after.get(file)].contains(&found.get(file));
    documents == count && files.iter().all(same)
}

type Keys = BTreeMap<String, u32>;

/// The terms whose documents differ.
fn differences<'a>(
    wanted: &'a Contents,
    found: &'a Contents,
) -> Vec<(&'a String, Option<&'a Keys>, Option<&'a Keys>)> {
    let terms: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
    let all = terms.into_iter().map(|term| (term, wanted.get(term), found.get(term)));
    all.filter(|(_, wanted, found)| wanted != found).collect()
}

fn word(random: &mut Rng) -> String {
    let bound = random.usize(1..40);
    format!("w{}", random.usize(..bound))
}

/// Random lines of words; no line is empty.
fn text(random: &mut Rng) -> String {
    let words = |random: &mut Rng| {
        let count = random.usize(1..8);
        (0..count).map(|_| word(random)).collect::<Vec<_>>().join(" ")
    };
    let lines = random.usize(1..4);
    (0..lines).map(|_| words(random)).collect::<Vec<_>>().join("\n")
}

/// The expected results of all searches.
pub fn expected(state: &State) -> Contents {
    let mut found = Contents::new();
    for (key, words) in state {
        for word in words {
            *found.entry(word.clone()).or_default().entry(key.clone()).or_default() += 1;
        }
    }
    found
}

/// The frequency of a term in the stored data of the document of a hit.
fn stored_frequencies(snapshot: &Snapshot, hit: &Hit, term: &[u8]) -> Result<Vec<(&'static str, u32)>> {
    let mut found = Vec::new();
    match snapshot.document(hit) {
        // A later step has changed the file.
        Err(Error::SourceChanged { .. }) => {}
        text => {
            let count =
                |text: &[u8]| text.split(u8::is_ascii_whitespace).filter(|word| *word == term).count();
            if let Some(text) = text? {
                found.push(("text", u32::try_from(count(&text)).unwrap()));
                let at =
                    |range: &Range<u32>| text.get(range.start as usize..range.end as usize) == Some(term);
                match snapshot.offsets(hit, term) {
                    Err(Error::NotIndexed { .. }) => {}
                    offsets => {
                        let right = offsets?.iter().filter(|range| at(range)).count();
                        found.push(("offsets", u32::try_from(right).unwrap()));
                    }
                }
            }
        }
    }
    if let Some(vector) = snapshot.vector(hit)? {
        let of_term = vector.iter().find(|found| found.term == term);
        found.push(("vector", of_term.map_or(0, |found| u32::try_from(found.frequency()).unwrap())));
    }
    Ok(found)
}

/// Every term with the keys and frequencies that a search for it finds. If the stored data of a document has
/// another frequency, it is added too, so that the result differs from the expected one.
pub fn contents(snapshot: &Snapshot) -> Result<Contents> {
    let mut found = Contents::new();
    let searcher = snapshot.searcher();
    for (term, doc_freq) in snapshot.terms(b"", usize::MAX)? {
        let mut hits = Vec::new();
        let visit = |hit| {
            hits.push(hit);
            ControlFlow::Continue(())
        };
        // BM25 with b = 0 and one term allows to compute the frequency: score = idf · f / (f + k1).
        let text = snapshot.schema().default_field().unwrap_or_default();
        searcher.for_each(&Query::term(text, term.clone()), Model::Bm25 { k1: 1.0, b: 0.0 }, visit)?;
        let documents = searcher.stats().unwrap().documents_with_terms as f64;
        let idf = (1.0 + (documents - doc_freq as f64 + 0.5) / (doc_freq as f64 + 0.5)).ln();
        let mut keys = BTreeMap::new();
        for hit in hits {
            let part = f64::from(hit.score) / idf;
            #[expect(clippy::cast_possible_truncation, reason = "small frequencies")]
            let freq = (part / (1.0 - part)).round() as u32;
            let key = String::from_utf8_lossy(&searcher.key(&hit)?).into_owned();
            for (kind, stored) in stored_frequencies(snapshot, &hit, &term)? {
                if stored != freq {
                    keys.insert(format!("{key} as {kind}"), stored);
                }
            }
            keys.insert(key, freq);
        }
        // The statistics include deleted documents until their segment is merged.
        if !keys.is_empty() {
            found.insert(String::from_utf8_lossy(&term).into_owned(), keys);
        }
    }
    if let Some(column) = snapshot.schema().field(COLUMN) {
        let fields = [BatchField::Key, BatchField::Values(column)];
        snapshot.for_each_batch(&Query::All, &fields, &BatchOptions::default(), &mut |batch| {
            for row in 0..batch.docs.len() {
                let key = String::from_utf8_lossy(batch.columns[0].string(row)).into_owned();
                for value in batch.columns[1].values(row) {
                    let ValueRef::Unsigned(number) = value else { continue };
                    let keys = found.entry(format!("{VALUE}{number}")).or_default();
                    *keys.entry(key.clone()).or_default() += 1;
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

/// Checks that a directory only contains the files of its newest commit and the previous manifest.
pub fn no_file_is_left_over(directory: &dyn Directory, what: &str) {
    let mut found: BTreeSet<String> = directory.list().unwrap().into_iter().collect();
    let all = found.clone();
    found.retain(|name| name != "lock" && name != "readers");
    if let Some(snapshot) = Snapshot::open_in(directory).unwrap() {
        let generation = snapshot.info().generation;
        assert!(found.remove(&format!("manifest-{generation:010}")), "{what}: {all:?}");
        found.remove(&format!("manifest-{:010}", generation - 1));
        for segment in snapshot.segments() {
            assert!(found.remove(&format!("{}.seg", segment.id)), "{what}: {all:?}");
            let beside = |end: &str| {
                found.iter().filter(|name| name.starts_with(&segment.id) && name.ends_with(end)).count()
            };
            assert_eq!(beside(".del"), usize::from(segment.deleted > 0), "{what}: {all:?}");
            assert!(beside(".upd") <= 1, "{what}: {all:?}");
            found.retain(|name| !name.starts_with(&segment.id));
        }
    }
    assert!(found.is_empty(), "{what}: left over {found:?}");
}
