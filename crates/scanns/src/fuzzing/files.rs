//! Whole files. Random changes of a file never pass its checksums, so these targets change the *sections* of
//! valid files and write them with new checksums. The reader of every section must be total by itself.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use crate::index::commit::manifest::Manifest;
use crate::index::handle::Index;
use crate::index::live::{IndexWriter, WriterOptions};
use crate::index::plan::{decode_slice, encode_slice};
use crate::index::stored_options::StoredOptions;
use crate::index::{CheckLevel, Progress};
use crate::query::Operator;
use crate::schema::{Analyzer, Document, FieldEntry, FieldKind, Postings, Schema, Store, Value};
use crate::search::Model;
use crate::store::{Directory, Envelope, EnvelopeWriter, FileKind, RamDirectory};

/// Any bytes as a file: opening and verifying it ends.
pub(super) fn envelope(data: &[u8]) {
    let directory = RamDirectory::new();
    if put(&directory, "file", data).is_none() {
        return;
    }
    let kind = FileKind { magic: *b"SCANNSEG", format: 2, oldest: 1 };
    if let Ok(file) = Envelope::open(&directory, "file", kind) {
        let _ = file.verify(&mut |_| Ok(()));
    }
}

fn put(directory: &RamDirectory, name: &str, bytes: &[u8]) -> Option<()> {
    let mut output = directory.create(name).ok()?;
    output.write_all(bytes).ok()?;
    output.finish().ok()
}

/// A manifest that is accepted is written in a form that reads the same.
pub(super) fn manifest(data: &[u8]) {
    if let Ok(manifest) = Manifest::decode(data) {
        let again = Manifest::decode(&manifest.encode());
        assert!(again.is_ok_and(|again| again == manifest));
    }
}

/// A slice of a plan that is accepted is written in a form that reads the same. The first byte is the number
/// of inputs.
pub(super) fn plan(data: &[u8]) {
    let Some((&count, bytes)) = data.split_first() else { return };
    if let Some(inputs) = decode_slice(bytes, count.into()) {
        let mut again = Vec::new();
        encode_slice(inputs.iter(), &mut again);
        assert!(decode_slice(&again, count.into()).is_some_and(|again| again == inputs));
    }
}

/// A file of a small index with all kinds of fields.
#[derive(Clone)]
struct SectionedFile {
    name: String,
    kind: FileKind,
    id: u128,
    sections: Vec<(u32, Vec<u8>)>,
}

/// An index with changed sections. Each edit is a file, a section, a place, and new bytes or a new length.
/// Opening, checking, searching and reading the index ends with an answer or an error.
pub(super) fn index(data: &[u8]) {
    static FILES: OnceLock<Vec<SectionedFile>> = OnceLock::new();
    let files = FILES.get_or_init(|| small_index().unwrap_or_default());
    let mut files = files.clone();
    for edit in data.chunks(8) {
        let &[file, section, high, low, how, a, b, c] = edit else { continue };
        let count = files.len().max(1);
        let Some(file) = files.get_mut(usize::from(file) % count) else { return };
        let count = file.sections.len().max(1);
        let Some((_, bytes)) = file.sections.get_mut(usize::from(section) % count) else { continue };
        let at = usize::from(u16::from_be_bytes([high, low])) % bytes.len().max(1);
        match how % 4 {
            0 => bytes.truncate(at),
            1 => bytes.splice(at..at, [a, b, c]).for_each(drop),
            _ => bytes.iter_mut().skip(at).zip([a, b, c]).for_each(|(byte, new)| *byte = new),
        }
    }
    let directory = RamDirectory::new();
    if files.iter().all(|file| wrap(&directory, file).is_some()) {
        read_everything(&directory);
    }
}

fn wrap(directory: &RamDirectory, file: &SectionedFile) -> Option<()> {
    let mut writer = EnvelopeWriter::create(directory, &file.name, file.kind, file.id).ok()?;
    for (kind, bytes) in &file.sections {
        writer.begin(*kind).ok()?;
        writer.write(bytes).ok()?;
    }
    writer.finish().ok()?.sync().ok().map(drop)
}

/// Uses an index in every way that reads its files.
fn read_everything(directory: &RamDirectory) {
    let index = Index::in_directory(Arc::new(directory.clone()));
    let _ = index.check(CheckLevel::Cross, &Progress::default(), &AtomicBool::new(false));
    let Ok(snapshot) = index.snapshot() else { return };
    let _ = snapshot.unique_terms();
    let _ = snapshot.terms(b"", 1_000);
    for text in ["river", "\"river bank\"", "riv*", "rivr~1", "size:>10", "tag:red", "*", "river -bank"] {
        let Ok(query) = snapshot.parse(text, Operator::Or) else { continue };
        let searcher = snapshot.searcher();
        let _ = searcher.count(&query);
        for hit in searcher.top_k(&query, Model::Classic, 10).into_iter().flatten() {
            let _ = snapshot.key(&hit);
            let _ = searcher.explain(&query, Model::Classic, &hit);
        }
    }
    for leaf in 0..snapshot.searcher().leaves() {
        for (field, _) in snapshot.schema().columns() {
            let Ok(Some(column)) = snapshot.searcher().column(leaf, field) else { continue };
            let mut values = Vec::new();
            for doc in 0..column.documents().min(200) {
                values.clear();
                let _ = column.get(doc, &mut values);
            }
        }
    }
}

fn small_index() -> crate::error::Result<Vec<SectionedFile>> {
    let mut schema = Schema::new();
    let analyzer = Analyzer::parse("standard")?;
    let mut add = |name: &str, kind| schema.add(FieldEntry { column: true, ..FieldEntry::new(name, kind) });
    let (size, delta) = (add("size", FieldKind::Unsigned)?, add("delta", FieldKind::Signed)?);
    let (ratio, seen) = (add("ratio", FieldKind::Float)?, add("seen", FieldKind::Date)?);
    let (fresh, path) = (add("fresh", FieldKind::Boolean)?, add("path", FieldKind::Path)?);
    let tag = add("tag", FieldKind::Keyword)?;
    let body = schema
        .add(FieldEntry::new("body", FieldKind::Text { analyzer, postings: Postings::Offsets }).stored())?;
    let directory = RamDirectory::new();
    let stored = StoredOptions { store: Some(Store::Content), ..StoredOptions::default() };
    let options =
        WriterOptions { lanes: 1, merge: None, stored, memory: 256 << 20, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(Arc::new(directory.clone()), Some(&schema), options)?;
    for number in 0..160_i64 {
        let word = ["river", "bank", "water", "stone"][usize::try_from(number).unwrap_or(0) % 4];
        let text = format!("river {word} {word}{} bank river", number % 9);
        let mut document = Document::new(format!("key{number}")).text(body, text);
        if number % 5 != 0 {
            document = document.with(size, Value::Unsigned(number.unsigned_abs() * 37 % 101));
        }
        let document = document
            .with(delta, Value::Signed(-number * number))
            .with(ratio, Value::Float(0.25 * f64::from(u8::try_from(number % 100).unwrap_or(0))))
            .with(seen, Value::Date(number * 86_400_000_000_000))
            .with(fresh, Value::Boolean(number % 3 == 0))
            .with(path, Value::Text(format!("/data/{}/{number}", number % 4).into_bytes()))
            .with(tag, Value::Text(["red", "green"][usize::from(number % 7 == 0)].into()));
        writer.add(&document)?;
    }
    writer.commit()?;
    writer.delete(b"key3")?;
    writer.set(b"key9", size, &[Value::Unsigned(7)])?;
    writer.commit()?;
    drop(writer);
    let mut files = Vec::new();
    for name in directory.list()? {
        let bytes = directory.open(&name)?;
        let Some((header, _)) = bytes.split_at_checked(32) else { continue };
        let magic = header[..8].try_into().unwrap_or_default();
        let format = u32::from_le_bytes(header[8..12].try_into().unwrap_or_default());
        let kind = FileKind { magic, format, oldest: format };
        let file = Envelope::open(&directory, &name, kind)?;
        let sections = file.kinds().map(|kind| {
            let section = file.section(kind)?;
            Ok((kind, section.get(0..section.len())?.to_vec()))
        });
        let sections = sections.collect::<crate::error::Result<_>>()?;
        files.push(SectionedFile { name, kind, id: file.id(), sections });
    }
    Ok(files)
}
