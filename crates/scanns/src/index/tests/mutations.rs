//! Files of records with random mutations: what is not a document is counted.

use std::collections::BTreeSet;

use super::*;
use crate::content::ContentOptions;
use crate::index::FieldOptions;
use crate::record::Sources;
use crate::schema::{FieldEntry, FieldKind, Schema};
use crate::store::RamDirectory;

const HEADER: &str = "id,name,size,note\n";

/// A file before its mutation.
struct Original {
    /// The text of each record, with line end.
    texts: Vec<String>,
    /// The name in each record, which no other record has.
    names: Vec<String>,
}

impl Original {
    fn new(random: &mut Rng, records: Records) -> Self {
        let mut original = Original { texts: Vec::new(), names: Vec::new() };
        for id in 0..random.usize(1..25) {
            let name = format!("name{id}");
            let size = random.u32(..);
            let note = match random.usize(..6) {
                0 => "one, two".into(),
                1 => "a\nb\n\nc".into(),
                2 => "so-called \"quotes\"".into(),
                3 => String::new(),
                _ => format!("n{id}"),
            };
            original.texts.push(if records == Records::Csv {
                let is_plain = !note.contains(['"', '\n', ',']);
                let note = if is_plain { note } else { format!("\"{}\"", note.replace('"', "\"\"")) };
                format!("{id},{name},{size},{note}\n")
            } else {
                let note = serde_json::to_string(&note).unwrap();
                format!("{{\"id\":{id},\"name\":\"{name}\",\"size\":{size},\"note\":{note}}}\n")
            });
            original.names.push(name);
        }
        original
    }

    /// The text after some mutations.
    fn mutated(&self, random: &mut Rng) -> Vec<u8> {
        let mut bytes = self.texts.concat().into_bytes();
        for _ in 0..random.usize(1..5) {
            let at = random.usize(..bytes.len());
            let byte = b"\"\"\"\",\n\r{}:x\\\xff"[random.usize(..13)];
            let starts: Vec<_> =
                (0..bytes.len()).filter(|&at| at == 0 || b",\n".contains(&bytes[at - 1])).collect();
            match random.usize(..6) {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = byte,
                2 => bytes.insert(at, byte),
                3 => bytes.truncate(at.max(1)),
                _ => bytes.insert(starts[random.usize(..starts.len())], b'"'),
            }
            if bytes.is_empty() {
                bytes.push(b'x');
            }
        }
        bytes
    }

    /// A tolerant reader: the records that are whole in a mutated text, from one line end to another.
    fn whole_in(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let mut whole = BTreeSet::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let begins =
                |text: &String| rest.starts_with(text.as_bytes()) || rest == text.trim_end().as_bytes();
            let found = self.texts.iter().position(begins);
            whole.extend(found);
            let line = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |feed| feed + 1);
            rest = &rest[found.map_or(line, |found| self.texts[found].len()).min(rest.len())..];
        }
        whole
    }
}

/// What became of the mutated files of a test.
#[derive(Debug, Default)]
struct Outcome {
    whole: u64,
    missing: u64,
    malformed: u64,
    repaired: u64,
}

/// Builds an index of one file, and checks that each line of it is in a document or counted.
fn check(original: &Original, bytes: &[u8], options: &IndexOptions, outcome: &mut Outcome) {
    let context = String::from_utf8_lossy(bytes);
    let directory = RamDirectory::new();
    let report = build_in(&directory, options, &Progress::new(), &Arc::default()).unwrap();
    let records = &report.records;
    assert!(report.failed.is_empty(), "{context}: {:?}", report.failed);
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
    // Lines that are in a row that began before them.
    let inside = records.several.lines - records.several.count;
    let accounted = report.documents + inside + records.blank + records.malformed_lines;
    assert_eq!(accounted, lines, "{context}: {records:?}");
    assert_eq!(records.bytes, bytes.len() as u64, "{context}");
    let mut found = BTreeSet::new();
    if let Some(snapshot) = Snapshot::open_in(&directory).unwrap() {
        let name = snapshot.schema().field("name").unwrap();
        for (number, value) in original.names.iter().enumerate() {
            let query = crate::query::Query::term(name, value.as_str());
            let count = snapshot.searcher_in(name).count(&query).unwrap();
            found.extend((count > 0).then_some(number));
        }
    }
    let whole = original.whole_in(bytes);
    let missing = whole.difference(&found).count() as u64;
    let own: u64 =
        whole.intersection(&found).map(|&record| original.texts[record].lines().count() as u64 - 1).sum();
    let counted = records.malformed_lines + inside.saturating_sub(own);
    assert!(missing <= counted, "{missing} are missing, {counted} counted: {context}: {records:?}");
    outcome.whole += whole.len() as u64;
    outcome.missing += missing;
    outcome.malformed += records.malformed;
    outcome.repaired += records.repaired.count;
}

/// Mutates files, and builds an index of each.
fn mutate(seed: u64, count: usize) {
    let mut random = Rng::with_seed(seed);
    let mut schema = Schema::new();
    for (name, kind) in [
        ("id", FieldKind::Unsigned),
        ("name", FieldKind::Keyword),
        ("size", FieldKind::Unsigned),
        ("note", FieldKind::Keyword),
    ] {
        schema.add(FieldEntry::new(name, kind).column()).unwrap();
    }
    for records in [Records::Csv, Records::Jsonl] {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        let fields =
            FieldOptions { schema: Some((schema.clone(), Sources::of(&schema))), ..FieldOptions::default() };
        let mut options = IndexOptions { fields, analyzer: None, ..options(&path, records, 1) };
        let mut outcome = Outcome::default();
        for round in 0..count {
            let original = Original::new(&mut random, records);
            let bytes = original.mutated(&mut random);
            let header = if records == Records::Csv { HEADER } else { "" };
            fs::write(&path, [header.as_bytes(), &bytes].concat()).unwrap();
            options.read.block_bytes = 4 << 10;
            // Converted text has other lengths.
            options.contents = Some(ContentOptions::RAW);
            println!("seed {seed:x} {records:?} round {round}");
            check(&original, &bytes, &options, &mut outcome);
        }
        let Outcome { whole, missing, malformed, repaired } = outcome;
        assert!(malformed * 20 > count as u64, "{malformed} malformed");
        assert!(repaired > 0 || records != Records::Csv, "{repaired} repaired");
        // What is missing although it is whole was taken for the text of a value.
        assert!(missing * 100 <= whole, "{missing} of {whole} are missing");
        println!("{records:?}: {whole} whole, {missing} missing, {malformed} malformed, {repaired} repaired");
    }
}

#[test]
fn no_record_of_a_mutated_file_is_lost_without_being_counted() {
    mutate(0x5eed_0a01, 250);
}

/// `cargo test -p scanns --lib -- --ignored ten_thousand_mutated_files`
#[test]
#[ignore = "it takes minutes"]
fn no_record_of_ten_thousand_mutated_files_is_lost_without_being_counted() {
    mutate(0x5eed_0a02, 5_000);
}
