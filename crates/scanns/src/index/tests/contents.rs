//! Compressed files and files in other encodings give the documents of their text, in every form of documents
//! and with every way of storing them, also when a build is stopped.

use std::io::Write;
use std::sync::atomic::Ordering;

use super::*;
use crate::content::ContentOptions;
use crate::index::tests::living::contents_of_living;
use crate::schema::Store;
use crate::search::Hit;
use crate::store::RamDirectory;

/// Writes `text` to a file in an encoding that `n` selects, and returns its name.
fn write_encoded(root: &Path, n: usize, text: &str) -> PathBuf {
    let encoded = |suffix: &str, bytes: Vec<u8>| {
        let path = root.join(format!("file{n:02}{suffix}"));
        fs::write(&path, bytes).unwrap();
        path
    };
    match n % 4 {
        0 => encoded(".txt", text.into()),
        1 => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            writer.write_all(text.as_bytes()).unwrap();
            encoded(".gz", writer.finish().unwrap())
        }
        2 => encoded(".zst", zstd::stream::encode_all(text.as_bytes(), 1).unwrap()),
        _ => encoded(".utf16", text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
    }
}

/// Files in all encodings, and their texts. Some texts are longer than a block and than a unit of lines.
pub(super) fn encoded_files(random: &mut Rng, root: &Path, most: usize) -> Vec<(PathBuf, Vec<u8>)> {
    fs::create_dir_all(root).unwrap();
    let write = |n: usize| {
        let len = [1, 100, 5_000, most][random.usize(..4)];
        let mut text = String::new();
        while text.len() < len {
            let bound = 1 + random.usize(..3000);
            text.push_str(&format!("w{}", random.usize(..bound)));
            // Some files have lines that are longer than what a reader carries from block to block.
            let gap = if n / 4 == 2 { 40_000 } else { 8 };
            text.push(if random.usize(..gap) == 0 { '\n' } else { ' ' });
        }
        (write_encoded(root, n, &text), text.into_bytes())
    };
    (0..24).map(write).collect()
}

#[test]
fn encoded_files_give_the_postings_of_their_texts() {
    let seed = 0x5eed_2110;
    let mut random = Rng::with_seed(seed);
    for records in [Records::File, Records::Lines] {
        for round in 0..2 {
            let place = tempfile::tempdir().unwrap();
            let root = place.path().join("in");
            let files = encoded_files(&mut random, &root, 700_000);
            let directory = RamDirectory::new();
            let mut options = options(&root, records, 1 + random.usize(..3));
            options.stored.store = Some([Store::Content, Store::Reference][round % 2]);
            let report = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
            let what = format!("seed {seed:x} {records:?} {round}");
            assert!(report.failed.is_empty(), "{what}: {:?}", report.failed);
            assert_eq!(report.decoded.iter().map(|count| count.files).sum::<u64>(), 18, "{what}");
            let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
            assert!(contents(&snapshot) == oracle(&files, records), "{what}");
            check_texts(&snapshot, &files, records, &what);
            let again = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
            assert_eq!((again.unchanged, again.documents), (24, 0), "{what}");
        }
    }
}

/// Reads the stored text of some documents back.
fn check_texts(snapshot: &Snapshot, files: &[(PathBuf, Vec<u8>)], records: Records, what: &str) {
    let searcher = snapshot.searcher();
    let mut hits: Vec<Hit> = Vec::new();
    let query = crate::query::Query::All;
    let visit = |hit| {
        hits.push(hit);
        if hits.len() < 2_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    searcher.for_each(&query, Model::Classic, visit).unwrap();
    for hit in hits.iter().step_by(17) {
        let key = String::from_utf8(snapshot.key(hit).unwrap()).unwrap();
        let text = snapshot.document(hit).unwrap().unwrap();
        let (path, line) = match records {
            Records::File => (key.as_str(), None),
            _ => key.rsplit_once(':').map(|(path, line)| (path, line.parse::<usize>().ok())).unwrap(),
        };
        let (_, whole) = files.iter().find(|(file, _)| file.to_str() == Some(path)).unwrap();
        let expected = match line {
            None => &whole[..],
            Some(line) => whole.split(|&byte| byte == b'\n').nth(line - 1).unwrap(),
        };
        assert!(text == expected, "{what}: {key}");
    }
}

#[test]
fn a_build_of_encoded_files_that_is_stopped_goes_on_and_ends_with_the_same_index() {
    let seed = 0x5eed_2111;
    let mut random = Rng::with_seed(seed);
    for records in [Records::File, Records::Lines] {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        let files = encoded_files(&mut random, &root, 400_000);
        let directory = RamDirectory::new();
        let mut options = options(&root, records, 2);
        options.segment_memory = Some(256 << 10);
        options.commit_every = Some(std::time::Duration::ZERO);
        let total: u64 = files.iter().map(|(path, _)| fs::metadata(path).unwrap().len()).sum();
        for part in 1..5 {
            let (progress, cancel) = (Progress::new(), Arc::new(AtomicBool::new(false)));
            std::thread::scope(|scope| {
                let build = scope.spawn(|| build_in(&directory, &options, &progress, &cancel));
                while !build.is_finished() && progress.bytes() < total * part / 9 {
                    std::thread::yield_now();
                }
                cancel.store(true, Ordering::Relaxed);
                let _ = build.join().unwrap();
            });
        }
        let report = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
        assert!(!report.cancelled && report.failed.is_empty(), "{report:?}");
        let mut found = contents_of_living(&Snapshot::open_in(&directory).unwrap().unwrap());
        found.retain(|_, keys| !keys.is_empty());
        assert!(found == oracle(&files, records), "seed {seed:x} {records:?}");
        let again = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
        assert_eq!(again.unchanged, 24, "seed {seed:x} {records:?}");
    }
}

#[test]
fn binary_files_are_documents_without_words_and_damaged_ones_are_listed() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a.txt"), "word").unwrap();
    fs::write(root.join("b.bin"), b"word \0 word").unwrap();
    fs::write(root.join("large.bin"), [b"word \0 word ".repeat(20_000)].concat()).unwrap();
    let gz = fs::read(write_encoded(&root, 1, &"many words ".repeat(1_000))).unwrap();
    fs::remove_file(root.join("file01.gz")).unwrap();
    fs::write(root.join("cut.gz"), &gz[..gz.len() - 9]).unwrap();
    let directory = RamDirectory::new();
    let mut first = options(&root, Records::File, 2);
    let report = build_in(&directory, &first, &Progress::new(), &Arc::default()).unwrap();
    assert_eq!((report.documents, report.tokens), (3, 1));
    assert_eq!(report.binary.len(), 1);
    assert_eq!((report.binary[0].files, &report.binary[0].example), (2, &root.join("b.bin")));
    assert_eq!(report.failed.len(), 1);
    assert!(report.failed[0].reason.contains("gzip data is cut off"), "{:?}", report.failed);
    let again = build_in(&directory, &first, &Progress::new(), &Arc::default()).unwrap();
    assert_eq!((again.unchanged, again.failed.len()), (3, 1));
    // An index keeps its choice.
    first.contents = Some(ContentOptions::RAW);
    let refused = build_in(&directory, &first, &Progress::new(), &Arc::default());
    assert!(matches!(refused, Err(Error::Conflict { .. })));
    let raw = RamDirectory::new();
    let report = build_in(&raw, &first, &Progress::new(), &Arc::default()).unwrap();
    assert!(report.failed.is_empty() && report.binary.is_empty() && report.documents == 4, "{report:?}");
    first.contents = None;
    let again = build_in(&raw, &first, &Progress::new(), &Arc::default()).unwrap();
    assert_eq!(again.unchanged, 4);
}
