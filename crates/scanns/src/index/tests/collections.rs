//! Collections: compressed ones, records that do not fit into memory, languages, and entries of logs.

use super::archives::tar;
use super::*;
use crate::content::test_tools::{PAGES_DICTIONARY, dictionary_frame, frame_with};
use crate::content::{ContentOptions, Extraction};
use crate::record::RecordNote;
use crate::schema::Store;
use crate::store::RamDirectory;

/// A record of a web archive with a text; `claimed` is added to its length.
fn record(number: usize, text: &str, claimed: usize) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:{number}>\r\nWARC-Target-URI: \
         http://example.org/{number}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n",
        text.len() + claimed
    )
}

fn of_archives(root: &Path, lanes: usize) -> IndexOptions {
    IndexOptions { fields: FieldOptions::default(), analyzer: None, ..options(root, Records::Warc, lanes) }
}

/// The documents with a word, as their keys and what is shown of them.
fn found(snapshot: &Snapshot, field: Field, word: &str) -> Vec<(String, Option<Vec<u8>>)> {
    let hits = snapshot.searcher().top_k(&Query::term(field, word), Model::Classic, 10).unwrap();
    let one = |hit| (String::from_utf8(snapshot.key(hit).unwrap()).unwrap(), snapshot.document(hit).unwrap());
    hits.iter().map(one).collect()
}

#[test]
fn an_archive_with_a_dictionary_is_read_and_its_records_are_shown_again() {
    let records: Vec<String> = (0..3_000)
        .map(|number| record(number, &format!("page word{number} {}", "ice ".repeat(number % 90)), 0))
        .collect();
    let mut bytes = dictionary_frame(&zstd::bulk::compress(PAGES_DICTIONARY, 19).unwrap());
    records.iter().for_each(|record| bytes.extend(frame_with(PAGES_DICTIONARY, record.as_bytes())));
    for lanes in [1, 3] {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.warc.zst"), &bytes).unwrap();
        let directory = RamDirectory::new();
        let mut options = of_archives(&root, lanes);
        options.stored.store = Some(Store::Reference);
        let report = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
        assert_eq!((report.documents, report.failed.len(), report.records.malformed), (3_000, 0, 0));
        let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
        let text = snapshot.schema().field("text").unwrap();
        for number in [0, 1, 777, 2_999] {
            let found = found(&snapshot, text, &format!("word{number}"));
            let [(_, Some(shown))] = &found[..] else { panic!("{number}: {found:?}") };
            assert_eq!(String::from_utf8_lossy(shown).trim_end(), records[number].trim_end(), "{number}");
        }
    }
}

#[test]
fn files_and_members_of_archives_may_have_dictionaries_and_what_lacks_one_is_told() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    let whole =
        |text: &[u8]| [dictionary_frame(PAGES_DICTIONARY), frame_with(PAGES_DICTIONARY, text)].concat();
    fs::write(root.join("file.zst"), whole(b"first words")).unwrap();
    fs::write(root.join("outer.tar"), tar(&[("inner.zst".into(), whole(b"second words"))])).unwrap();
    fs::write(root.join("lacking.zst"), frame_with(PAGES_DICTIONARY, b"third words")).unwrap();
    let mut damaged = whole(b"fourth words");
    damaged[8 + 40] ^= 0xff;
    damaged[8 + 41] ^= 0xff;
    fs::write(root.join("damaged.zst"), damaged).unwrap();
    let directory = RamDirectory::new();
    let options = options(&root, Records::File, 1);
    let report = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
    let mut reasons: Vec<&str> = report.failed.iter().map(|failure| failure.reason.as_str()).collect();
    reasons.sort();
    let [lacking, damaged] = reasons[..] else { panic!("{reasons:?}") };
    assert!(damaged.contains("its Zstandard dictionary is damaged"), "{damaged}");
    assert!(lacking.contains("needs the dictionary 41000, which is not in the file"), "{lacking}");
    let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
    let keys = |word: &str| {
        let found = found(&snapshot, Field::default(), word);
        found.into_iter().map(|(key, _)| key.rsplit_once("/in/").unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (keys("first"), keys("second")),
        (vec!["file.zst".into()], vec!["outer.tar!/inner.zst".into()])
    );
}

/// Builds an index of one archive with little memory; returns the report, and the ids of the documents with a
/// word.
fn with_little_memory(text: &str, words: &[&str]) -> (IndexReport, Vec<usize>) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a.warc"), text).unwrap();
    let directory = RamDirectory::new();
    let options = IndexOptions { memory: 110 << 20, ..of_archives(&root, 1) };
    let report = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
    let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
    let field = snapshot.schema().field("text").unwrap();
    let counts = words.iter().map(|word| found(&snapshot, field, word).len()).collect();
    (report, counts)
}

const FILLER: usize = 40 << 20;

#[test]
fn records_behind_a_long_one_with_a_wrong_length_are_counted_and_those_after_it_are_read() {
    let small: Vec<String> = (3..10).map(|number| record(number, &format!("small{number}"), 0)).collect();
    // The claimed end lies in the third record behind the long one.
    let claimed = small[0].len() + small[1].len() + 20;
    let filler = "\n".repeat(FILLER);
    let text = [record(1, "before", 0), record(2, &format!("beginning {filler}"), claimed), small.concat()];
    let words = ["before", "beginning", "small3", "small4", "small5", "small6", "small9"];
    let (report, counts) = with_little_memory(&text.concat(), &words);
    assert_eq!(counts, [1, 1, 0, 0, 0, 1, 1]);
    assert_eq!((report.documents, report.records.malformed), (6, 3), "{:?}", report.records.examples);
    let reasons: Vec<(u64, &str)> =
        report.records.examples.iter().map(|one| (one.record, one.reason.as_str())).collect();
    let lost = "it is lost in an earlier record with a wrong Content-Length, which does not fit into memory";
    assert_eq!(reasons, [(3, lost), (4, lost), (5, lost)]);
    let wrong = RecordNote::Remark("wrong Content-Length");
    let noted = report.records.notes.iter().find(|noted| noted.note == wrong).unwrap();
    assert_eq!((noted.count, noted.record), (1, 2));
    // What is left of the third one.
    let rest = RecordNote::LeftOut("bytes between records");
    let noted = report.records.notes.iter().find(|noted| noted.note == rest).unwrap();
    assert_eq!((noted.count, noted.record), (1, 6));
}

#[test]
fn records_in_the_beginning_of_one_with_a_wrong_length_are_read() {
    let filler = "\n".repeat(FILLER);
    let small: Vec<String> = (2..60).map(|number| record(number, &format!("small{number}"), 0)).collect();
    let text = [
        // It claims to end behind the file.
        record(1, "before", 2 * FILLER),
        small.concat(),
        record(60, &format!("beginning {filler}"), 0),
        record(61, "after", 0),
    ];
    let words = ["before", "small2", "small59", "beginning", "after"];
    let (report, counts) = with_little_memory(&text.concat(), &words);
    assert_eq!(counts, [1, 1, 1, 1, 0]);
    assert_eq!((report.documents, report.records.malformed), (60, 1), "{:?}", report.records.examples);
    assert_eq!(report.records.examples[0].record, 61);
}

#[test]
fn a_long_record_with_records_inside_is_one_record() {
    let inner = [record(1, "inner", 0), "\n".repeat(FILLER), record(2, "inner", 0)].concat();
    let text = [record(1, &format!("beginning {inner}"), 0), record(2, "after", 0)];
    let (report, counts) = with_little_memory(&text.concat(), &["beginning", "after"]);
    assert_eq!((counts, report.documents, report.records.malformed), (vec![1, 1], 2, 0));
    let wrong = RecordNote::Remark("wrong Content-Length");
    assert!(report.records.notes.iter().all(|noted| noted.note != wrong), "{:?}", report.records.notes);
}

#[test]
fn entries_of_logs_have_their_indented_lines_and_the_numbers_of_their_first_lines() {
    let (mut text, mut expected) = (String::new(), BTreeMap::new());
    for number in 0..6_000 {
        let trace = "\tat some.java.Class(File.java:1)\n".repeat([0, 0, 2, 7][number % 4]);
        let entry = format!("2024-05-01T10:00:00Z host app[{number}]: failed entry{number}\n{trace}");
        expected.insert(text.lines().count() + 1, entry.clone());
        text.push_str(&entry);
    }
    for lanes in [1, 3] {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.log"), &text).unwrap();
        let directory = RamDirectory::new();
        let mut options = IndexOptions { records: Records::Syslog, ..of_archives(&root, lanes) };
        options.stored.store = Some(Store::Reference);
        let report = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
        assert_eq!((report.documents, report.failed.len(), report.records.malformed), (6_000, 0, 0));
        let several = RecordNote::Remark("indented lines behind an entry: part of its message");
        let noted = report.records.notes.iter().find(|noted| noted.note == several).unwrap();
        assert_eq!((noted.count, noted.record), (3_000, 3));
        let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
        let mut shown = BTreeMap::new();
        let each = |hit| {
            let key = String::from_utf8(snapshot.key(&hit).unwrap()).unwrap();
            let line: usize = key.rsplit_once(':').unwrap().1.parse().unwrap();
            let entry = String::from_utf8(snapshot.document(&hit).unwrap().unwrap()).unwrap();
            shown.insert(line, entry + "\n");
            ControlFlow::Continue(())
        };
        snapshot.searcher().for_each(&Query::All, Model::Classic, each).unwrap();
        assert!(shown == expected, "{lanes} lanes: {} of {}", shown.len(), expected.len());
        let message = snapshot.schema().field("message").unwrap();
        assert_eq!(found(&snapshot, message, "at").len(), 10);
    }
}

#[test]
fn languages_are_refused_where_there_is_no_field_for_them() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    let languages = Some(ContentOptions { languages: true, ..ContentOptions::default() });
    let with = |extract, metadata| IndexOptions {
        contents: Some(ContentOptions { extract, ..ContentOptions::default() }),
        fields: FieldOptions { metadata, ..FieldOptions::default() },
        ..options(&root, Records::File, 1)
    };
    for (extract, metadata, is_refused) in [
        (Extraction::None, None, true),
        (Extraction::Safe, Some(false), true),
        (Extraction::Safe, None, false),
    ] {
        let directory = RamDirectory::new();
        let mut options = with(extract, metadata);
        // The index has no document yet, so its treatment of contents may change.
        build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
        options.contents = languages;
        let again = build_in(&directory, &options, &Progress::new(), &Arc::default());
        assert_eq!(again.is_err(), is_refused, "{extract:?} {metadata:?}");
        if let Err(error) = again {
            assert!(error.to_string().contains("'language'"), "{error}");
        }
    }
    let lines = IndexOptions { contents: languages, ..options(&root, Records::Lines, 1) };
    assert!(build_in(&RamDirectory::new(), &lines, &Progress::new(), &Arc::default()).is_err());
}

#[test]
fn a_record_is_shown_again_with_its_bytes_also_if_they_are_no_text() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    // A character of one byte, as many bytes as the placeholder in its place.
    let mut page = record(1, "caf# ice", 0).into_bytes();
    let at = page.iter().position(|&byte| byte == b'#').unwrap();
    page[at] = 0xe9;
    let mut bytes =
        b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: 3\r\n\r\n\0\xff\x01\r\n\r\n".to_vec();
    bytes.extend_from_slice(&page);
    fs::write(root.join("a.warc"), bytes).unwrap();
    let directory = RamDirectory::new();
    let mut options = of_archives(&root, 1);
    options.stored.store = Some(Store::Reference);
    build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
    let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
    let text = snapshot.schema().field("text").unwrap();
    let shown = found(&snapshot, text, "ice").remove(0).1.unwrap();
    assert!(shown.starts_with(b"WARC/1.0") && page.starts_with(&shown), "{}", shown.escape_ascii());
}
