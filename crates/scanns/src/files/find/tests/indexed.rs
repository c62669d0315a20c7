//! Random commands over an index of a dump: the answers are those of GNU find, in another order.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::super::Setting;
use super::generate::{FILES, Generator, in_order};
use super::live::{LiveTree, Outputs, has_find, theirs};
use super::tree;
use crate::error::Error;
use crate::files::answer::find_at;
use crate::files::{FindOptions, FindOutput, FindSink};
use crate::index::build::options::DumpOptions;
use crate::index::snapshot::Snapshot;
use crate::index::{IndexOptions, Progress};
use crate::read::ReadOptions;
use crate::record::dump::{DumpFormat, RECOMMENDED_FORMAT};
use crate::store::RamDirectory;

/// An index of what the recommended format of find says of a tree, with relative paths.
fn imported(directory: &Path, name: &str) -> RamDirectory {
    let mut find = Command::new("find");
    let found = find.arg(name).args(["-printf", RECOMMENDED_FORMAT]).current_dir(directory).output().unwrap();
    assert!(found.status.success());
    // Entries of a real index come from several threads, in no order.
    let mut rows: Vec<&[u8]> = Vec::new();
    let mut rest = found.stdout.as_slice();
    while let Some(end) = memchr::memmem::find(rest, b"\0\n").filter(|_| !rest.is_empty()) {
        // The target of a link may end with a line feed: a row has two NUL bytes.
        let nul = memchr::memchr_iter(0, rest).nth(1).unwrap_or(end);
        let (row, after) = rest.split_at(nul + 2);
        rows.push(row);
        rest = after;
    }
    fastrand::Rng::with_seed(3).shuffle(&mut rows);
    let dump = directory.join("dump");
    fs::write(&dump, rows.concat()).unwrap();
    let dump = DumpOptions { files: vec![dump], format: DumpFormat::Detect, ..DumpOptions::default() };
    let read = ReadOptions { lanes: 2, ..ReadOptions::default() };
    let options = IndexOptions { dump: Some(dump), read, memory: 512 << 20, ..IndexOptions::default() };
    let index = RamDirectory::new();
    let report = crate::index::build_in(&index, &options, &Progress::new(), &Arc::default()).unwrap();
    assert!(report.dumps[0].tally.bad == 0 && report.documents > 0, "{report:?}");
    index
}

/// The outputs of a command, in the order in which the expression names them.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Written>>);

/// Outputs, and what was written to them.
type Written = Vec<(FindOutput, Vec<u8>)>;

impl FindSink for Shared {
    fn write(&mut self, output: usize, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut()[output].1.extend_from_slice(bytes);
        Ok(())
    }
}

/// The lines and texts of outputs without their order.
fn pieces(outputs: &Outputs) -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
    let sorted = |text: &[u8]| {
        let mut pieces: Vec<_> = text.split(|byte| matches!(byte, 0 | b'\n')).map(<[u8]>::to_vec).collect();
        pieces.sort();
        pieces
    };
    outputs.iter().map(|(name, text)| (name.clone(), sorted(text))).collect()
}

/// Our answer to a command; an error if it is refused.
fn answer(snapshot: &Snapshot, words: &[Vec<u8>], zone: &TimeZone) -> Result<Outputs, String> {
    let shared = Shared::default();
    let setting = Setting { zone: zone.clone(), ..Setting::current() };
    let report = find_at(snapshot, words, setting, FindOptions::default(), |outputs| {
        *shared.0.borrow_mut() = outputs.iter().map(|output| (output.clone(), Vec::new())).collect();
        Ok(shared.clone())
    });
    let report = match report {
        Ok(report) => report,
        Err(Error::Expression { message }) => return Err(message),
        Err(error) => panic!("{error}"),
    };
    if !report.missing.is_empty() || !report.unknown.is_empty() {
        // Links may lead out of the index; then the report says so.
        return Err("a start point or the target of a link is not in the index".into());
    }
    let outputs = shared.0.take().into_iter().filter_map(|(output, text)| match output {
        FindOutput::Standard => Some((b"/dev/stdout".to_vec(), text)),
        FindOutput::StandardError => None,
        FindOutput::File(path) => Some((path, text)),
    });
    Ok(outputs.collect())
}

#[test]
fn random_commands_over_an_index_answer_as_gnu_find_does() {
    if !has_find() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().canonicalize().unwrap();
    tree::build(&directory.join("tree"), 11);
    LiveTree::read(&directory.join("tree"), &directory);
    let live = LiveTree::read(&directory.join("tree"), &directory);
    let index = imported(&directory, "tree");
    let snapshot = Snapshot::open_in(&index).unwrap().unwrap();
    let seed =
        std::env::var("FIND_SEED").ok().map_or_else(|| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("seed: FIND_SEED={seed}");
    let random = fastrand::Rng::with_seed(seed);
    let start_points: [&[u8]; 3] = [b"tree", b"tree/", b"tree/deep"];
    let mut generator = Generator { random, tree: &live, start_points: &start_points, mistakes: false };
    let files = FILES.map(|file| file.as_bytes().to_vec());
    let zone = TimeZone::get("America/St_Johns").unwrap();
    let (mut same, mut differences) = (0, 0);
    for number in 0..400 {
        let words = generator.command();
        // The order of the answers decides what these print.
        let is_ordered = |word: &Vec<u8>| matches!(word.as_slice(), b"-quit" | b"-ls" | b"-fls");
        if words.iter().any(is_ordered) {
            continue;
        }
        let Ok(ours) = answer(&snapshot, &words, &zone) else { continue };
        let expected = |words: &[Vec<u8>]| theirs(&live, words, &files, "America/St_Johns");
        let (first, second) = (expected(&words), expected(&in_order(&words)));
        if !first.is_success && !first.only_loops() {
            continue;
        }
        if [&first, &second].iter().any(|theirs| pieces(&theirs.outputs) == pieces(&ours)) {
            same += 1;
            continue;
        }
        differences += 1;
        let words: Vec<String> = words.iter().map(|word| format!("$'{}'", word.escape_ascii())).collect();
        println!("command {number}: find {}", words.join(" "));
        for ((name, theirs), (_, ours)) in pieces(&first.outputs).iter().zip(pieces(&ours)) {
            let only = |one: &[Vec<u8>], other: &[Vec<u8>]| {
                let only = one.iter().filter(|piece| !other.contains(piece)).take(3);
                only.map(|piece| piece.escape_ascii().to_string()).collect::<Vec<_>>()
            };
            let name = name.escape_ascii();
            println!("{name}\n  only we {:?}\n  only find {:?}", only(&ours, theirs), only(theirs, &ours));
        }
    }
    println!("{same} answers are the same, {differences} differ");
    assert_eq!(differences, 0, "seed {seed}");
    assert!(same > 150, "the commands test something: {same}");
}
