//! CSV files of which several threads index parts, compared with one thread that gets each file as a whole.

use std::io::Write as _;

use super::records::{build_all, columns, open, with};
use super::*;
use crate::record::{CsvNames, CsvQuotes};
use crate::schema::{FieldEntry, FieldKind, Schema, Store};
use crate::store::RamDirectory;

fn schema() -> Schema {
    let mut schema = Schema::new();
    for entry in [
        FieldEntry::new("path", FieldKind::Keyword),
        FieldEntry::new("size", FieldKind::Unsigned),
        FieldEntry::new("note", FieldKind::Keyword),
        FieldEntry::new("at", FieldKind::Date),
    ] {
        schema.add(entry.column()).unwrap();
    }
    schema
}

/// A value that may be quoted, or have a stray quote, or be long.
fn random_value(random: &mut Rng, strays: bool) -> String {
    let word = |random: &mut Rng| format!("w{}", random.u32(..50));
    match random.u32(..60) {
        0 if strays => format!("\"{}", word(random)),
        1 if strays => format!("\"{}\" inch", word(random)),
        2..6 => format!("\"{}\n{}\"", word(random), word(random)),
        6 => format!("\"{},\"\"{}\"\"\r\n\"", word(random), word(random)),
        7 => format!("\"{}\"", "long\n".repeat(random.usize(..4000))),
        8 => "x".repeat(random.usize(..9000)),
        9 => String::new(),
        _ => word(random),
    }
}

/// Rows of which some are short, too long, or blank, or have values that do not fit.
fn random_csv(random: &mut Rng, names: bool, len: usize) -> Vec<u8> {
    let mut text = if random.u32(..4) == 0 { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
    if names {
        text.extend_from_slice(b"path,size,note,at\n");
    }
    let (strays, end) = (random.bool(), ["\n", "\r\n"][random.usize(..2)]);
    while text.len() < len {
        let (path, note) = (random_value(random, strays), random_value(random, strays));
        let size = if random.u32(..99) == 0 { "many".into() } else { random.u32(..1000).to_string() };
        let at = format!("2024-01-{:02}", random.u32(1..33));
        let row = match random.u32(..40) {
            0 => format!("{path},{size}"),
            1 => format!("{path},{size},{note},{at},more,{note}"),
            2 => String::new(),
            _ => format!("{path},{size},{note},{at}"),
        };
        write!(text, "{row}{end}").unwrap();
    }
    if random.bool() {
        text.truncate(text.len().saturating_sub(end.len()));
    }
    text
}

/// What the report says about records.
fn summary(report: &IndexReport) -> String {
    let records = &report.records;
    let mut failed: Vec<_> = report.failed.iter().map(|failure| (&failure.path, &failure.reason)).collect();
    failed.sort();
    format!(
        "{} {} {} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {failed:?}",
        report.documents,
        records.malformed,
        records.blank,
        records.bytes,
        records.examples,
        records.repaired,
        records.short,
        records.several,
        records.conflicts,
        records.first_without_key,
        records.renamed,
    )
}

/// The texts of all documents by their keys.
fn texts(snapshot: &Snapshot) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut texts = BTreeMap::new();
    let visit = |hit: crate::search::Hit| {
        texts.insert(snapshot.key(&hit).unwrap(), snapshot.document(&hit).unwrap().unwrap());
        ControlFlow::Continue(())
    };
    snapshot.searcher().for_each(&Query::All, Model::Bm25 { k1: 1.0, b: 0.0 }, visit).unwrap();
    texts
}

#[test]
fn threads_that_share_csv_files_make_the_index_of_one_thread() {
    let seed = fastrand::u64(..);
    let mut random = Rng::with_seed(seed);
    let schema = schema();
    for round in 0..6 {
        let place = tempfile::tempdir().unwrap();
        let names = random.bool();
        for name in ["a.csv", "b.csv", "c.csv", "d.csv.zst"] {
            let most = [100, 20_000, 400_000][random.usize(..3)];
            let len = random.usize(..most);
            let text = random_csv(&mut random, names, len);
            let compressed = name.ends_with("zst");
            let bytes = if compressed { zstd::stream::encode_all(&text[..], 1).unwrap() } else { text };
            fs::write(place.path().join(name), bytes).unwrap();
        }
        if round % 4 == 0 {
            let text = format!("\n{}", "a,1,b,2024-01-01\n".repeat(4000));
            fs::write(place.path().join("no-columns.csv"), text).unwrap();
        }
        let store = [Store::Reference, Store::Content][random.usize(..2)];
        let build = |lanes: usize, block: usize, readers: usize| {
            let mut options = with(&schema, place.path(), Records::Csv, lanes);
            (options.read.block_bytes, options.read.read_threads) = (block, readers);
            options.stored.store = Some(store);
            if !names {
                let given = ["path", "size", "note", "at"].map(String::from);
                options.fields.csv.names = Some(CsvNames::Given(given.into()));
                options.fields.csv.quotes = Some(CsvQuotes::Always);
            }
            let directory = RamDirectory::new();
            let report = build_all(&directory, &options);
            let idle = build_all(&directory, &options);
            assert_eq!((idle.documents, idle.replaced), (0, 0), "seed {seed:#x} round {round}");
            let snapshot = open(&directory);
            (summary(&report), columns(&snapshot), texts(&snapshot))
        };
        let expected = build(1, 1 << 20, 1);
        for (lanes, block, readers) in [(1, 4096, 1), (2, 4096, 1), (5, 4096, 1), (3, 16 << 10, 2)] {
            let what = format!("seed {seed:#x} round {round} lanes {lanes} block {block}");
            let found = build(lanes, block, readers);
            assert_eq!(found.0, expected.0, "{what}");
            assert!(found.1 == expected.1, "{what}");
            assert!(found.2 == expected.2, "{what}");
        }
    }
}

#[test]
fn all_threads_get_parts_of_a_large_file() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.csv");
    let rows: String = (0..20_000).map(|n| format!("p{n},{n},\"a\nb\",2024-01-01\n")).collect();
    fs::write(&path, format!("path,size,note,at\n{rows}")).unwrap();
    let directory = RamDirectory::new();
    let report = build_all(&directory, &with(&schema(), &path, Records::Csv, 2));
    assert_eq!((report.documents, report.segments), (20_000, 2));
}
