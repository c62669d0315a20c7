//! The indexes that queries run on.

use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use scanns::index::{InvertOptions, MemoryIndex};
use scanns::query::Operator;
use scanns::schema::{Analyzer, Document, Field, FieldEntry, FieldKind, Postings, Schema};
use scanns::search::{Leaf, Searcher};
use scanns::sources::PageSize;
use scanns::store::{Directory, FsDirectory, RamDirectory};
use scanns::writer::{IndexWriter, WriterOptions};
use scanns::{Error, Query, Snapshot};

use super::columns;

/// Words of documents; most documents contain the first ones.
const WORDS: [&str; 40] = [
    "the",
    "of",
    "a",
    "license",
    "free",
    "software",
    "open",
    "source",
    "Linux",
    "kernel",
    "readme",
    "file",
    "system",
    "running",
    "runs",
    "runner",
    "getUserName",
    "HTTPServer",
    "snake_case_name",
    "usr/lib",
    "/home/ann",
    "x.so",
    "v1.2",
    "2026-11-22",
    "12:30",
    "user@host",
    "naïve",
    "Straße",
    "привет",
    "日本語",
    "e\u{301}te\u{301}",
    "don't",
    "AND",
    "a*b",
    "C++",
    "re\"x\"",
    "\u{1f600}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "\u{b5}m",
    "0",
];

/// One or several indexes of the same documents.
pub enum World {
    Disk(Snapshot),
    Memory(Vec<MemoryIndex>),
}

/// An index with its default field.
pub enum Opened<'w> {
    Disk(&'w Snapshot, Field),
    Memory(&'w [MemoryIndex]),
}

impl World {
    /// Chooses a field.
    pub fn open(&self, random: &mut Rng) -> Opened<'_> {
        match self {
            World::Disk(snapshot) => {
                let fields = self.fields();
                Opened::Disk(snapshot, fields[random.usize(0..fields.len())])
            }
            World::Memory(leaves) => Opened::Memory(leaves),
        }
    }

    /// The fields that are searched.
    pub fn fields(&self) -> Vec<Field> {
        match self {
            World::Disk(snapshot) => snapshot.schema().searched().map(|(field, _)| field).collect(),
            World::Memory(_) => vec![Field::default()],
        }
    }

    /// Names of fields for texts, some of which do not exist.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec!["text".to_string(), "http".into(), "no-such".into()];
        if let World::Disk(snapshot) = self {
            names.extend(snapshot.schema().fields().map(|(_, entry)| entry.name.clone()));
        }
        names
    }
}

impl<'w> Opened<'w> {
    pub fn parse(&self, text: &str, operator: Operator) -> Result<Query, Error> {
        match self {
            Opened::Disk(snapshot, field) => snapshot.parse_in(&[(*field).into()], text, operator),
            Opened::Memory(leaves) => leaves[0].parse(text, operator),
        }
    }

    pub fn searcher(&self) -> Searcher<'w> {
        match self {
            Opened::Disk(snapshot, field) => snapshot.searcher_in(*field),
            Opened::Memory(leaves) => Searcher::new(leaves.iter().map(|leaf| leaf as &dyn Leaf).collect()),
        }
    }
}

/// A word, more often one that many documents contain.
pub fn word(random: &mut Rng) -> &'static str {
    let most = random.usize(1..=WORDS.len());
    WORDS[random.usize(0..most)]
}

fn sentence(random: &mut Rng, most: usize) -> String {
    (0..random.usize(0..=most)).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

fn schema() -> Schema {
    let mut schema = Schema::new();
    for (name, analyzer, postings) in [
        ("text", "standard", Postings::Positions),
        ("title", "english", Postings::Offsets),
        ("code", "code", Postings::Positions),
        ("german", "snowball:german", Postings::Positions),
        ("grams", "ngram:2-3", Postings::Frequencies),
        ("begins", "edge-ngram:1-4", Postings::Documents),
        ("path", "ancestors", Postings::Positions),
        ("words", "whitespace", Postings::Frequencies),
    ] {
        let analyzer = Analyzer::parse(analyzer).unwrap();
        schema.add(FieldEntry::new(name, FieldKind::Text { analyzer, postings })).unwrap();
    }
    schema.add(FieldEntry::new("tag", FieldKind::Keyword).stored()).unwrap();
    schema.add(FieldEntry::new("size", FieldKind::Unsigned).stored()).unwrap();
    columns::add_to(&mut schema);
    schema
}

/// Fills an index by several commits without merges, and deletes some documents.
fn fill(
    directory: impl Directory + 'static,
    schema: &Schema,
    segments: &[usize],
    random: &mut Rng,
) -> Snapshot {
    let directory: Arc<dyn Directory> = Arc::new(directory);
    let options = WriterOptions { memory: 1 << 30, lanes: 1, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory.clone(), Some(schema), options).unwrap();
    let mut count = 0;
    for &documents in segments {
        for _ in 0..documents {
            let mut document = Document::new(count.to_string());
            let texts = schema.fields().filter(|(_, entry)| entry.searched && !entry.column);
            for (field, _) in texts {
                document = document.text(field, sentence(random, 12));
            }
            document = columns::fill(schema, document, random);
            writer.add(&document).unwrap();
            count += 1;
        }
        writer.commit().unwrap();
    }
    for _ in 0..count / 10 {
        writer.delete(random.usize(0..count).to_string().as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    Snapshot::open_in(&*directory).unwrap().unwrap()
}

fn in_memory(analyzer: &str, postings: Postings, documents: usize, random: &mut Rng) -> MemoryIndex {
    let options =
        InvertOptions { budget: 64 << 20, pages: PageSize::Base, postings, ..InvertOptions::default() };
    let mut index = MemoryIndex::new(&Analyzer::parse(analyzer).unwrap(), &options).unwrap();
    for number in 0..documents {
        let mut text = sentence(random, 12).into_bytes();
        text.resize(text.len() + scanns::index::BLOCK_PADDING, 0);
        let end = text.len() - scanns::index::BLOCK_PADDING;
        assert!(index.add_range(number.to_string().as_bytes(), &mut text, 0..end));
    }
    index.settle();
    index
}

/// All worlds, the same each time; indexes on disk are in `place`.
pub fn all(place: &Path) -> Vec<World> {
    let mut random = Rng::with_seed(7);
    let words = Schema::of_files(Analyzer::parse("whitespace").unwrap(), Postings::Positions);
    let memory = |analyzer, postings, random: &mut Rng| {
        World::Memory([60, 0, 200].map(|documents| in_memory(analyzer, postings, documents, random)).into())
    };
    vec![
        World::Disk(fill(RamDirectory::new(), &schema(), &[40, 1, 60], &mut random)),
        World::Disk(fill(FsDirectory::new(place), &schema(), &[100], &mut random)),
        // The documents are numerous enough for skipping.
        World::Disk(fill(RamDirectory::new(), &words, &[3000, 300], &mut random)),
        memory("standard", Postings::Positions, &mut random),
        memory("paths", Postings::Frequencies, &mut random),
    ]
}
