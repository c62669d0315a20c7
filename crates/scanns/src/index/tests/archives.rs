//! Members of archives and web pages give the documents of their texts, in every way of storing them, also
//! when the archives change, move and disappear, and when a build is stopped.

use std::io::Write;
use std::sync::atomic::Ordering;

use super::living::contents_of_living as contents_of_snapshot;
use super::*;
use crate::content::{ContentOptions, Extraction};
use crate::schema::{Store, Value};
use crate::store::RamDirectory;

/// A tar archive of files.
pub(super) fn tar(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in members {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000640\0");
        header[108..116].copy_from_slice(b"0001750\0");
        header[116..124].copy_from_slice(b"0001750\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        header[136..148].copy_from_slice(b"14717410000\0");
        header[148..156].copy_from_slice(b"        ");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend_from_slice(&header);
        archive.extend_from_slice(content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

pub(super) fn words(random: &mut Rng, most: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let len = [0, 1, 100, 100, 100, 5_000, 5_000, most][random.usize(..8)];
    while text.len() < len {
        let bound = 1 + random.usize(..3000);
        text.extend_from_slice(format!("w{} ", random.usize(..bound)).as_bytes());
    }
    text
}

/// Random members and their texts, with archives and compressed files among them.
fn members(
    random: &mut Rng,
    outer: &str,
    depth: usize,
    texts: &mut Vec<(PathBuf, Vec<u8>)>,
) -> Vec<(String, Vec<u8>)> {
    let member = |number: usize, texts: &mut Vec<(PathBuf, Vec<u8>)>, random: &mut Rng| {
        let name = format!("dir{}/member{number}", number % 3);
        let path = format!("{outer}!/{name}");
        if depth > 0 && random.usize(..6) == 0 {
            let inner = tar(&members(random, &path, depth - 1, texts));
            texts.push((path.into(), Vec::new()));
            return (name, if random.bool() { gzip(&inner) } else { inner });
        }
        let text = words(random, 400_000);
        texts.push((path.into(), text.clone()));
        match random.usize(..4) {
            0 if !text.is_empty() => (name, gzip(&text)),
            1 => (name, text.iter().flat_map(|&byte| [byte, 0]).collect()),
            _ => (name, text),
        }
    };
    (0..random.usize(1..16)).map(|number| member(number, texts, random)).collect()
}

/// Writes some archives and other files, and returns the texts of all documents.
fn write_archives(random: &mut Rng, root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    fs::create_dir_all(root).unwrap();
    let mut texts = Vec::new();
    for number in 0..6 {
        let path = root.join(format!("archive{number}.tar"));
        let archive = tar(&members(random, path.to_str().unwrap(), 2, &mut texts));
        fs::write(&path, if number % 2 == 0 { archive } else { gzip(&archive) }).unwrap();
        texts.push((path, Vec::new()));
        let (path, text) = (root.join(format!("file{number}")), words(random, 300_000));
        fs::write(&path, &text).unwrap();
        texts.push((path, text));
    }
    texts
}

pub(super) fn build_now(directory: &RamDirectory, options: &IndexOptions) -> IndexReport {
    build_in(directory, options, &Progress::new(), &Arc::default()).unwrap()
}

/// Builds an index of files, and stops again and again before it ends.
pub(super) fn build_with_stops(directory: &RamDirectory, root: &Path) {
    let mut options = options(root, Records::File, 2);
    options.segment_memory = Some(256 << 10);
    options.commit_every = Some(std::time::Duration::ZERO);
    for part in 1..6 {
        let (progress, cancel) = (Progress::new(), Arc::new(AtomicBool::new(false)));
        std::thread::scope(|scope| {
            let build = scope.spawn(|| build_in(directory, &options, &progress, &cancel));
            while !build.is_finished() && progress.documents.load(Ordering::Relaxed) < part * 12 {
                std::thread::yield_now();
            }
            cancel.store(true, Ordering::Relaxed);
            build.join().unwrap().unwrap();
        });
    }
    build_now(directory, &options);
}

/// The terms of the documents that are not deleted.
pub(super) fn contents_of_living(directory: &RamDirectory) -> Oracle {
    let mut found = contents_of_snapshot(&Snapshot::open_in(directory).unwrap().unwrap());
    found.retain(|_, keys| !keys.is_empty());
    found
}

pub(super) fn check_stored(snapshot: &Snapshot, texts: &[(PathBuf, Vec<u8>)], what: &str) {
    let searcher = snapshot.searcher();
    let mut left: BTreeMap<Vec<u8>, &Vec<u8>> =
        texts.iter().map(|(path, text)| (path.as_os_str().as_encoded_bytes().to_vec(), text)).collect();
    let visit = |hit: crate::search::Hit| {
        let key = snapshot.key(&hit).unwrap();
        let expected = left.remove(&key).unwrap_or_else(|| panic!("{what}: {}", key.escape_ascii()));
        let text = snapshot.document(&hit).unwrap().unwrap();
        assert!(text == *expected, "{what}: {}", key.escape_ascii());
        ControlFlow::Continue(())
    };
    searcher.for_each(&Query::All, Model::Classic, visit).unwrap();
    assert!(left.is_empty(), "{what}: {left:?}");
}

#[test]
fn members_of_archives_are_documents_with_their_texts() {
    let seed = 0x5eed_7001;
    let mut random = Rng::with_seed(seed);
    for round in 0..6 {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        let texts = write_archives(&mut random, &root);
        let directory = RamDirectory::new();
        let mut options = options(&root, Records::File, 1 + round % 3);
        options.stored.store = Some([Store::Content, Store::Reference][round % 2]);
        let report = build_now(&directory, &options);
        let what = format!("seed {seed:x} {round}");
        assert!(report.failed.is_empty(), "{what}: {:?}", report.failed);
        let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
        assert!(contents(&snapshot) == oracle(&texts, Records::File), "{what}");
        check_stored(&snapshot, &texts, &what);
        let again = build_now(&directory, &options);
        assert_eq!((again.unchanged, again.documents, again.removed), (12, 0, 0), "{what}");
    }
}

#[test]
fn a_stopped_build_of_archives_goes_on_and_ends_with_the_same_index() {
    let seed = 0x5eed_7002;
    let mut random = Rng::with_seed(seed);
    for round in 0..4 {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        let texts = write_archives(&mut random, &root);
        let directory = RamDirectory::new();
        build_with_stops(&directory, &root);
        let living = contents_of_living(&directory);
        assert!(living == oracle(&texts, Records::File), "seed {seed:x} {round}");
    }
}

#[test]
fn members_follow_their_archive_when_it_changes_moves_and_disappears() {
    let seed = 0x5eed_7003;
    let mut random = Rng::with_seed(seed);
    for round in 0..6 {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        let mut texts = write_archives(&mut random, &root);
        let directory = RamDirectory::new();
        let mut options = options(&root, Records::File, 2);
        options.fields.metadata = Some(true);
        build_now(&directory, &options);
        let of = |path: &Path, texts: &mut Vec<(PathBuf, Vec<u8>)>| {
            let within = format!("{}!/", path.display());
            texts.retain(|(other, _)| other != path && !other.to_str().unwrap().starts_with(&within));
        };
        // One archive changes, one moves, one disappears, and one becomes a file of text.
        let [changed, moved, gone, text] =
            [0, 1, 2, 3].map(|number| root.join(format!("archive{number}.tar")));
        for path in [&changed, &moved, &gone, &text] {
            of(path, &mut texts);
        }
        fs::write(&changed, tar(&members(&mut random, changed.to_str().unwrap(), 1, &mut texts))).unwrap();
        texts.push((changed, Vec::new()));
        let new = root.join("moved.tar");
        fs::rename(&moved, &new).unwrap();
        fs::write(&new, tar(&members(&mut random, new.to_str().unwrap(), 1, &mut texts))).unwrap();
        texts.push((new, Vec::new()));
        fs::remove_file(&gone).unwrap();
        fs::write(&text, "no archive").unwrap();
        texts.push((text, b"no archive".to_vec()));
        build_now(&directory, &options);
        assert!(contents_of_living(&directory) == oracle(&texts, Records::File), "seed {seed:x} {round}");
    }
}

#[test]
fn a_moved_archive_keeps_all_of_its_members() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(root.join("a")).unwrap();
    let members = [("x".to_owned(), b"one".to_vec()), ("y".to_owned(), b"two".to_vec())];
    fs::write(root.join("a/m.tar"), tar(&members)).unwrap();
    let directory = RamDirectory::new();
    let mut options = options(&root, Records::File, 1);
    options.fields.metadata = Some(true);
    build_now(&directory, &options);
    fs::rename(root.join("a"), root.join("b")).unwrap();
    build_now(&directory, &options);
    let path = |name: &str| root.join(name);
    let texts = [(path("b/m.tar!/x"), b"one".to_vec()), (path("b/m.tar!/y"), b"two".to_vec())];
    assert!(contents_of_living(&directory) == oracle(&texts, Records::File));
}

#[test]
fn members_have_the_metadata_of_their_headers_and_archives_that_of_their_files() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("m.tar"), tar(&[("d/x.csv".to_owned(), b"one".to_vec())])).unwrap();
    let directory = RamDirectory::new();
    let mut options = options(&root, Records::File, 1);
    options.fields.metadata = Some(true);
    build_now(&directory, &options);
    let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
    let fields = ["name", "ext", "type", "size", "uid", "mode", "mtime", "inode"];
    let fields = fields.map(|name| snapshot.schema().field(name).unwrap());
    let hits = snapshot.searcher().top_k(&Query::term(Field::default(), b"one".to_vec()), Model::Classic, 2);
    let hits = hits.unwrap();
    let text = |text: &str| vec![Value::Text(text.into())];
    let seconds = 0o14717410000;
    let expected = [
        text("x.csv"),
        text("csv"),
        text("member"),
        vec![Value::Unsigned(3)],
        vec![Value::Unsigned(0o1750)],
        vec![Value::Unsigned(0o640)],
        vec![Value::Date(seconds * 1_000_000_000)],
        vec![],
    ];
    assert_eq!(hits.len(), 1);
    assert_eq!(snapshot.field_values(&hits[0], &fields).unwrap(), expected);
}

#[test]
fn a_damaged_archive_is_read_as_far_as_it_goes_and_again_by_the_next_build() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    let members: Vec<_> = (0..20).map(|number| (format!("m{number}"), b"some words".to_vec())).collect();
    let whole = tar(&members);
    let path = root.join("m.tar");
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let directory = RamDirectory::new();
    let options = options(&root, Records::File, 2);
    for _ in 0..3 {
        let report = build_now(&directory, &options);
        let failed: Vec<_> = report.failed.iter().map(|failure| failure.path.clone()).collect();
        assert_eq!(failed, [path.clone(), root.join("m.tar!/m10")]);
        let keys = &contents_of_living(&directory)[&b"words"[..]];
        assert_eq!(keys.len(), 10, "{keys:?}");
    }
    fs::write(&path, &whole).unwrap();
    assert!(build_now(&directory, &options).failed.is_empty());
    assert_eq!(contents_of_living(&directory)[&b"words"[..]].len(), 20);
}

#[test]
fn a_damaged_member_costs_itself_alone() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    let mut random = Rng::with_seed(7);
    let noise: Vec<u8> = (0..300_000).flat_map(|_| [b'a' + random.u8(..16), b' ']).collect();
    let mut long = gzip(&noise);
    let short = long.len() / 2;
    long.truncate(short);
    let members = [
        ("a".to_owned(), b"first".to_vec()),
        ("long.gz".to_owned(), long),
        ("empty.gz".to_owned(), gzip(b"never seen")[..14].to_vec()),
        ("b".to_owned(), b"last".to_vec()),
    ];
    fs::write(root.join("m.tar"), tar(&members)).unwrap();
    let directory = RamDirectory::new();
    let options = options(&root, Records::File, 2);
    let report = build_now(&directory, &options);
    let failed: Vec<_> = report.failed.iter().map(|failure| failure.path.clone()).collect();
    assert_eq!(failed, [root.join("m.tar!/long.gz"), root.join("m.tar!/empty.gz")]);
    assert_eq!(report.documents, 5);
    let living = contents_of_living(&directory);
    assert_eq!(living.keys().map(|term| term.as_slice()).collect::<Vec<_>>(), [&b"first"[..], b"last"]);
    assert_eq!(build_now(&directory, &options).unchanged, 1);
}

#[test]
fn archives_within_each_other_end_at_a_depth_that_the_report_names() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    let mut archive = tar(&[("text".to_owned(), b"deep".to_vec())]);
    for _ in 0..40 {
        archive = tar(&[("a".to_owned(), gzip(&archive))]);
    }
    fs::write(root.join("m.tar"), archive).unwrap();
    let report = build_now(&RamDirectory::new(), &options(&root, Records::File, 1));
    assert_eq!(report.failed.len(), 1);
    assert!(report.failed[0].reason.contains("16 archives"), "{:?}", report.failed);
}

#[test]
fn web_pages_are_indexed_without_their_tags_whatever_their_size_and_encoding() {
    let seed = 0x5eed_7004;
    let mut random = Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    let mut texts = Vec::new();
    for number in 0..40 {
        let words = String::from_utf8(words(&mut random, 400_000)).unwrap();
        let page = format!("<!DOCTYPE html><title>t{number}</title><p class=hidden>{words}<br>end");
        let path = root.join(format!("page{number}.html"));
        let bytes = match number % 4 {
            0 => gzip(page.as_bytes()),
            1 => page.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => page.into_bytes(),
        };
        fs::write(&path, bytes).unwrap();
        let words = words.trim_end();
        let lines = [&format!("t{number}"), words, "end"];
        let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        texts.push((path, lines.join("\n").into_bytes()));
    }
    fs::write(root.join("all.tar"), tar(&[("p.html".to_owned(), b"<html><b>inside</b>".to_vec())])).unwrap();
    texts.push((root.join("all.tar!/p.html"), b"inside".to_vec()));
    texts.push((root.join("all.tar"), Vec::new()));
    for store in [Store::Content, Store::Reference] {
        let directory = RamDirectory::new();
        let mut options = options(&root, Records::File, 2);
        options.stored.store = Some(store);
        options.fields.metadata = Some(true);
        let report = build_now(&directory, &options);
        assert!(report.failed.is_empty(), "{:?}", report.failed);
        let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
        assert!(contents(&snapshot) == oracle(&texts, Records::File), "seed {seed:x}");
        check_stored(&snapshot, &texts, &format!("seed {seed:x}"));
        let title = snapshot.schema().field("title").unwrap();
        let hits =
            snapshot.searcher().top_k(&Query::term(Field::default(), b"t7".to_vec()), Model::Classic, 1);
        let values = snapshot.field_values(&hits.unwrap()[0], &[title]).unwrap();
        assert_eq!(values, [vec![Value::Text(b"t7".to_vec())]]);
    }
}

#[test]
fn without_extraction_pages_have_tags_and_archives_are_binary() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("p.html"), "<html> <p> word").unwrap();
    fs::write(root.join("m.tar"), tar(&[("x".to_owned(), b"inside".to_vec())])).unwrap();
    let directory = RamDirectory::new();
    let mut options = options(&root, Records::File, 1);
    options.contents = Some(ContentOptions { extract: Extraction::None, ..ContentOptions::default() });
    let report = build_now(&directory, &options);
    assert_eq!((report.documents, report.binary[0].kind.as_str()), (2, "tar"));
    let terms: Vec<_> = contents_of_living(&directory).into_keys().collect();
    assert_eq!(terms, [&b"<html>"[..], b"<p>", b"word"]);
    options.contents = None;
    assert_eq!(build_now(&directory, &options).unchanged, 2);
}

#[test]
fn what_could_not_be_read_of_an_archive_is_known_until_the_archive_changes() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    let damaged = &gzip(&b"words ".repeat(100))[..30];
    let members = |content: &[u8]| tar(&[("a.gz".into(), content.to_vec()), ("b".into(), b"text".to_vec())]);
    let archive = root.join("m.tar");
    fs::write(&archive, members(damaged)).unwrap();
    let directory = RamDirectory::new();
    let options = options(&root, Records::File, 1);
    let unread = || {
        build_now(&directory, &options);
        let coverage = Snapshot::open_in(&directory).unwrap().unwrap().coverage().unwrap();
        let failures =
            coverage.iter().flat_map(|known| known.failures.iter().map(|failure| failure.path.clone()));
        (coverage.iter().map(|known| known.unread).sum::<u64>(), failures.collect::<Vec<_>>())
    };
    let member = PathBuf::from(format!("{}!/a.gz", archive.display()));
    assert_eq!(unread(), (1, vec![member.clone()]));
    assert_eq!(unread(), (1, vec![member.clone()]));
    fs::write(root.join("new"), "another file").unwrap();
    assert_eq!(unread(), (1, vec![member]));
    fs::write(&archive, members(&gzip(b"words"))).unwrap();
    assert_eq!(unread(), (0, Vec::new()));
}
