//! The format on disk: the code writes the format that `docs/FORMAT.md` describes, files of earlier versions
//! can be read, and a change of the format requires a new version.
//!
//! `fixtures/format-N` is an index that the first program with format N wrote from the documents of
//! `documents.rs`, and `fixtures/entries-N` one of the entries of `entries.rs`. A new version needs a new
//! fixture: raise the version of the changed file, raise `FORMAT` below, and run `cargo test -p scanns --test
//! format -- --ignored write_the_fixture`.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

mod documents;
mod entries;
mod envelope;
mod grammar;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use envelope::Envelope;
use grammar::{Grammar, Parsed};

/// The newest fixture.
const FORMAT: u32 = 9;

/// The oldest fixture that can be read.
const OLDEST: u32 = 2;

/// The oldest format with a fixture of entries.
const OLDEST_ENTRIES: u32 = 4;

fn fixture(format: u32) -> PathBuf {
    named("format", format)
}

fn named(what: &str, format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{what}-{format}"))
}

/// The files of an index by name.
fn files(index: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(index).unwrap().map(|entry| entry.unwrap().path());
    let named = entries.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path));
    named.map(|(name, path)| (name, std::fs::read(path).unwrap())).collect()
}

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/FORMAT.md");
    std::fs::read_to_string(path).unwrap()
}

/// The newest manifest of an index, as the grammar in FORMAT.md reads it.
fn manifest(index: &Path) -> Parsed {
    let files = files(index);
    let (_, bytes) = files.iter().rfind(|(name, _)| name.starts_with("manifest-")).unwrap();
    let envelope = Envelope::read(bytes);
    let grammar = Grammar::of_section(&document(), "## The manifest");
    grammar.read("section", envelope.section(1))
}

/// The content that does not depend on the identities of segments: for each file its kind, and hashes of its
/// sections by kind.
fn contents(index: &Path) -> Vec<String> {
    let mut contents = Vec::new();
    for (name, bytes) in files(index) {
        if name.starts_with("manifest") || name == "lock" || name == "readers" {
            continue;
        }
        let envelope = Envelope::read(&bytes);
        for (kind, section) in &envelope.sections {
            let hash = xxhash_rust::xxh3::xxh3_64(section);
            contents.push(format!("{} {kind} {} {hash:016x}", envelope.magic, section.len()));
        }
    }
    contents.sort();
    contents
}

#[test]
#[ignore = "writes the fixture of a new format"]
fn write_the_fixture() {
    for (path, write) in [
        (fixture(FORMAT), documents::write as fn(&Path)),
        (named("entries", FORMAT), entries::write as fn(&Path)),
    ] {
        assert!(!path.exists(), "{} exists: fixtures are never written again", path.display());
        write(&path);
        let _ = std::fs::remove_file(path.join("lock"));
    }
}

#[test]
fn indexes_of_every_format_are_whole_and_answer_queries() {
    let copied = |fixture: &Path| {
        let copy = tempfile::tempdir().unwrap();
        for (name, bytes) in files(fixture) {
            std::fs::write(copy.path().join(name), bytes).unwrap();
        }
        copy
    };
    for format in OLDEST..=FORMAT {
        documents::verify(copied(&fixture(format)).path());
    }
    for format in OLDEST_ENTRIES..=FORMAT {
        entries::verify(copied(&named("entries", format)).path());
    }
}

#[test]
fn entries_that_are_written_now_have_all_sections_of_the_fixture() {
    let directory = tempfile::tempdir().unwrap();
    let index = directory.path().join("index");
    entries::write(&index);
    entries::verify(&index);
    let kinds = |index: &Path| contents(index).iter().map(|content| kind_of(content)).collect::<Vec<_>>();
    let (now, mut missing) = (kinds(&index), kinds(&named("entries", FORMAT)));
    // Further fields have columns in sections of their own, which is no change of the format.
    missing.retain(|kind| !now.contains(kind));
    assert_eq!(missing, [""; 0]);
}

/// The magic of a file and the number of a section, without its bytes.
fn kind_of(content: &str) -> String {
    content.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_change_of_the_format_counts_its_version_up() {
    let directory = tempfile::tempdir().unwrap();
    let index = directory.path().join("index");
    documents::write(&index);
    let (old, new) = (contents(&fixture(FORMAT)), contents(&index));
    assert!(!old.is_empty());
    assert_eq!(
        new, old,
        "the same documents are written in other bytes than in format {FORMAT}: count the version of the \
         changed file up, \
         describe the change in docs/FORMAT.md, and write a fixture (see the top of this file)"
    );
}

#[test]
fn manifests_are_what_the_document_says() {
    let directory = tempfile::tempdir().unwrap();
    let index = directory.path().join("index");
    documents::write(&index);
    for path in [index, fixture(FORMAT)] {
        let manifest = manifest(&path);
        let fields = manifest.all("field");
        let names: Vec<_> = fields.iter().map(|field| field.text("text")).collect();
        assert_eq!(names, documents::FIELDS);
        let segments = manifest.all("segment");
        let listed: Vec<_> =
            segments.iter().map(|segment| format!("{:032x}.seg", segment.number("id"))).collect();
        let files = files(&path);
        assert_eq!(listed.len(), files.keys().filter(|name| name.ends_with(".seg")).count());
        for (segment, name) in segments.iter().zip(&listed) {
            assert_eq!(segment.number("file length"), files[name].len() as u128, "{name}");
        }
        let sum = |name| segments.iter().map(|segment| segment.number(name)).sum::<u128>();
        assert_eq!(sum("documents"), documents::WRITTEN as u128);
        assert_eq!(sum("deleted"), documents::DELETED as u128);
        assert_eq!(manifest.all("note").len(), 1);
    }
}

#[test]
fn magics_and_versions_are_those_of_the_document() {
    let text = document();
    let table = text.split("| | magic | format | id |").nth(1).unwrap().split("\n\n").next().unwrap();
    let cell = |row: &str, at: usize| row.split('|').nth(at).unwrap().trim().trim_matches('`').to_owned();
    let rows = table.lines().filter(|line| line.contains("SCANN"));
    let documented: BTreeMap<_, _> = rows.map(|row| (cell(row, 2), cell(row, 3))).collect();
    let kinds: BTreeMap<_, _> = files(&fixture(FORMAT))
        .iter()
        .filter(|(name, _)| *name != "lock" && *name != "readers")
        .map(|(_, bytes)| Envelope::read(bytes))
        .map(|envelope| (envelope.magic, envelope.format.to_string()))
        .collect();
    assert_eq!(kinds, documented);
}

#[test]
fn a_grammar_that_differs_from_the_bytes_is_noticed() {
    let files = files(&fixture(FORMAT));
    let (_, bytes) = files.iter().rfind(|(name, _)| name.starts_with("manifest-")).unwrap();
    let envelope = Envelope::read(bytes);
    for (from, to) in
        [("deleted u64 | deletes u64 |", "deletes u64 |"), ("level u32", "level u64"), ("note … |", "")]
    {
        let text = document();
        assert!(text.contains(from), "{from}");
        let wrong = Grammar::of_section(&text.replacen(from, to, 1), "## The manifest");
        let read = std::panic::catch_unwind(|| wrong.read("section", envelope.section(1)));
        assert!(read.is_err(), "{from} became {to}, and the manifest could still be read");
    }
}
