//! The records of web archives, mailboxes and the like among other files are documents with their texts and
//! values, as members of archives are.

use super::archives::{build_now, build_with_stops, check_stored, contents_of_living, gzip, tar, words};
use super::*;
use crate::content::ContentOptions;
use crate::record::RecordNote;
use crate::schema::{Store, Value};
use crate::store::RamDirectory;

/// A collection, and the texts of its records; `None` for one that is not a document.
type Collection = (Vec<u8>, Vec<Option<Vec<u8>>>);

/// The words of a text, each on a line.
fn lines(random: &mut Rng) -> Vec<u8> {
    let most = if random.usize(..40) == 0 { 300_000 } else { 5_000 };
    let words = words(random, most);
    [b"x ".as_slice(), &words].concat().split(|&byte| byte == b' ').collect::<Vec<_>>().join(&b'\n')
}

fn mailbox(random: &mut Rng) -> Collection {
    let (mut bytes, mut texts) = (Vec::new(), Vec::new());
    for number in 0..random.usize(1..30) {
        let body = lines(random);
        let head = "From ada@example.org Sat Jan  3 01:05:34 1996\nFrom: Ada\n";
        bytes.extend_from_slice(format!("{head}Subject: about {number}\n\n").as_bytes());
        bytes.extend_from_slice(&body);
        bytes.extend_from_slice(b"\n\n");
        texts
            .push(Some([format!("Ada\nabout {number}\n").as_bytes(), body.trim_ascii_end(), b"\n"].concat()));
    }
    (bytes, texts)
}

fn web_archive(random: &mut Rng) -> Collection {
    let (mut bytes, mut texts) = (Vec::new(), Vec::new());
    for number in 0..random.usize(1..30) {
        let body = lines(random);
        let is_page = random.usize(..3) > 0;
        let block = [b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".as_slice(), &body].concat();
        let (kind, block) = if is_page { ("response", block) } else { ("metadata", body.clone()) };
        let head = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a.example/{number}\r\n\
             WARC-Date: 2026-11-27T01:02:03Z\r\nContent-Type: application/http\r\n\
             Content-Length: {}\r\n\r\n",
            block.len()
        );
        for part in [head.as_bytes(), &block, b"\r\n\r\n"] {
            bytes.extend_from_slice(part);
        }
        texts.push(is_page.then(|| [body.as_slice(), b"\n"].concat()));
    }
    (bytes, texts)
}

fn trec(random: &mut Rng) -> Collection {
    let (mut bytes, mut texts) = (Vec::new(), Vec::new());
    for number in 0..random.usize(1..30) {
        let body = lines(random);
        bytes.extend_from_slice(format!("<DOC>\n<DOCNO> AP-{number} </DOCNO>\n<TEXT>\n").as_bytes());
        bytes.extend_from_slice(&body);
        bytes.extend_from_slice(b"\n</TEXT>\n</DOC>\n");
        texts.push(Some([body.trim_ascii_end(), b"\n"].concat()));
    }
    (bytes, texts)
}

/// Writes collections among other files, some of them compressed or in archives. Returns the texts of all
/// documents, and the number of files.
fn write_collections(random: &mut Rng, root: &Path) -> (Vec<(PathBuf, Vec<u8>)>, u64) {
    fs::create_dir_all(root).unwrap();
    let mut documents = Vec::new();
    for number in 0..9 {
        let (bytes, texts) = [mailbox, web_archive, trec][number % 3](random);
        let path = root.join(format!("collection{number}"));
        let inner = match random.usize(..3) {
            0 => {
                fs::write(&path, bytes).unwrap();
                path.clone()
            }
            1 => {
                fs::write(&path, gzip(&bytes)).unwrap();
                path.clone()
            }
            _ => {
                fs::write(&path, tar(&[("inner".into(), bytes)])).unwrap();
                documents.push((path.clone(), Vec::new()));
                PathBuf::from(format!("{}!/inner", path.display()))
            }
        };
        for (text, number) in texts.into_iter().zip(1..) {
            let key = format!("{}!/{number}", inner.display());
            documents.extend(text.map(|text| (key.into(), text)));
        }
        documents.push((inner, Vec::new()));
        let (path, text) = (root.join(format!("file{number}")), words(random, 100_000));
        fs::write(&path, &text).unwrap();
        documents.push((path, text));
    }
    (documents, 18)
}

#[test]
fn records_of_collections_are_documents_with_their_texts() {
    let seed = 0x5eed_7101;
    let mut random = Rng::with_seed(seed);
    for round in 0..6 {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        let (documents, files) = write_collections(&mut random, &root);
        let directory = RamDirectory::new();
        let mut options = options(&root, Records::File, 1 + round % 3);
        options.stored.store = Some([Store::Content, Store::Reference][round % 2]);
        let report = build_now(&directory, &options);
        let what = format!("seed {seed:x} {round}");
        assert!(report.failed.is_empty(), "{what}: {:?}", report.failed);
        assert_eq!(report.documents, documents.len() as u64, "{what}");
        assert!(contents_of_living(&directory) == oracle(&documents, Records::File), "{what}");
        check_stored(&Snapshot::open_in(&directory).unwrap().unwrap(), &documents, &what);
        let again = build_now(&directory, &options);
        assert_eq!((again.unchanged, again.documents, again.removed), (files, 0, 0), "{what}");
        for noted in &report.records.notes {
            let is_place = noted.path.to_str().unwrap().contains("collection") && noted.record > 0;
            assert!(is_place, "{what}: {noted:?}");
        }
        let left_out =
            report.records.notes.iter().find(|noted| noted.note == RecordNote::LeftOut("metadata"));
        assert!(left_out.is_some(), "{what}");
    }
}

#[test]
fn a_stopped_build_of_collections_goes_on_and_ends_with_the_same_index() {
    let seed = 0x5eed_7102;
    let mut random = Rng::with_seed(seed);
    for round in 0..4 {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        let (documents, _) = write_collections(&mut random, &root);
        let directory = RamDirectory::new();
        build_with_stops(&directory, &root);
        let living = contents_of_living(&directory);
        assert!(living == oracle(&documents, Records::File), "seed {seed:x} {round}");
    }
}

/// The values of a field of the document with this key.
fn values(snapshot: &Snapshot, key: &Path, field: &str) -> Vec<Value> {
    let searcher = snapshot.searcher();
    let field = snapshot.schema().field(field).unwrap();
    let mut values = Vec::new();
    let visit = |hit: crate::search::Hit| {
        if snapshot.key(&hit).unwrap() == key.as_os_str().as_encoded_bytes() {
            values = snapshot.field_values(&hit, &[field]).unwrap().remove(0);
        }
        ControlFlow::Continue(())
    };
    searcher.for_each(&Query::All, Model::Classic, visit).unwrap();
    values
}

#[test]
fn records_and_messages_have_values_and_a_message_is_one_document() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    let head = "From: Ada <ada@example.org>\nDate: Thu, 01 Jan 1970 00:00:01 +0000\nSubject: tea";
    let message = format!("{head}\nContent-Transfer-Encoding: base64\n\ncG90cyBvZiB0ZWE=\n");
    fs::write(root.join("one.eml"), &message).unwrap();
    fs::write(root.join("box"), format!("From a Sat Jan  3 01:05:34 1996\n{message}\n")).unwrap();
    let directory = RamDirectory::new();
    let mut options = options(&root, Records::File, 1);
    options.fields.metadata = Some(true);
    let report = build_now(&directory, &options);
    assert_eq!((report.documents, report.failed.len()), (3, 0));
    let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
    let record = root.join("box!/1");
    for key in [&root.join("one.eml"), &record] {
        for (field, expected) in [("author", "Ada <ada@example.org>"), ("title", "tea"), ("format", "mail")] {
            let found = values(&snapshot, key, field);
            assert_eq!(found, [Value::Text(expected.into())], "{field} of {}", key.display());
        }
    }
    assert_eq!(values(&snapshot, &record, "mtime"), [Value::Date(1_000_000_000)]);
    assert_eq!(values(&snapshot, &root.join("box"), "format"), []);
    let pots = snapshot.searcher().top_k(&Query::term(Field::default(), b"pots".to_vec()), Model::Classic, 9);
    assert_eq!(pots.unwrap().len(), 2);
}

#[test]
fn collections_are_whole_if_they_are_to_be_and_in_older_indexes() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    let (bytes, texts) = mailbox(&mut Rng::with_seed(1));
    fs::write(root.join("box"), bytes).unwrap();
    let mut options = options(&root, Records::File, 1);
    let whole = ContentOptions { collections: false, ..ContentOptions::default() };
    options.contents = Some(whole);
    let directory = RamDirectory::new();
    assert_eq!(build_now(&directory, &options).documents, 1);
    // What an index does with them it does for ever, also if its options are given again.
    options.contents = Some(ContentOptions::default());
    fs::write(root.join("two"), "text").unwrap();
    assert_eq!(build_now(&directory, &options).documents, 1);
    let split = RamDirectory::new();
    assert_eq!(build_now(&split, &options).documents, texts.len() as u64 + 2);
    options.contents = Some(whole);
    let refused = build_in(&split, &options, &Progress::new(), &Arc::default());
    assert!(refused.is_err());
}
