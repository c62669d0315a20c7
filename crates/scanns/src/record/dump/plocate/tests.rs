use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use fastrand::Rng;
use tempfile::TempDir;

use super::PlocateDump;
use crate::record::dump::sequential_testing::*;
use crate::record::dump::{DumpTally, ReadDump};
use crate::source::EntryKind::Directory;

fn read(bytes: &[u8]) -> DumpOutcome {
    read_all(&mut PlocateDump::new(), bytes)
}

fn read_whole(bytes: &[u8]) -> DumpOutcome {
    collect(|tally, visit| PlocateDump::new().read_slice(bytes, tally, visit))
}

/// Runs updatedb of plocate over `root` into the file `output`.
fn updatedb(root: &Path, output: &Path) -> Option<Vec<u8>> {
    let mut command = Command::new("updatedb.plocate");
    command.args(["-l", "no", "--prunepaths", "", "--prunenames", "", "--prunefs", "", "-U"]);
    output_of(command.arg(root).arg("-o").arg(output))?;
    Some(fs::read(output).unwrap())
}

/// The paths below `root`, and which are directories.
fn live_names(root: &Path) -> Vec<EntryCopy> {
    let live = live_tree(root).into_iter().filter(|entry| entry.path != root.as_os_str().as_bytes());
    live.map(|entry| EntryCopy::named(&entry.path, entry.kind.filter(|kind| *kind == Directory))).collect()
}

fn without_kinds(entries: &[EntryCopy]) -> Vec<EntryCopy> {
    entries.iter().map(|entry| EntryCopy::named(&entry.path, None)).collect()
}

#[test]
fn databases_of_updatedb_equal_the_live_tree_with_and_without_a_dictionary() {
    let tree = hostile_tree();
    for directory in 0..100 {
        let directory = tree.path().join(format!("directory of many {directory}"));
        fs::create_dir(&directory).unwrap();
        (0..50).for_each(|file| fs::write(directory.join(format!("result-{file}.h5")), "").unwrap());
    }
    let output = TempDir::new().unwrap();
    let file = output.path().join("plocate.db");
    let live = live_names(tree.path());
    for run in 0..2 {
        let Some(dump) = updatedb(tree.path(), &file) else { return };
        let dictionary = u32::from_le_bytes(dump[44..48].try_into().unwrap());
        assert_eq!(run == 1, dictionary > 0, "the second run of updatedb uses the dictionary of the first");
        assert!(PlocateDump::detect(&dump));
        let outcome = read_whole(&dump);
        assert_eq!(outcome.tally.complete, Some(true));
        assert_eq!(sorted(outcome.clean()), live);
        let outcome = read_by(&mut PlocateDump::new(), &dump, 37);
        assert_eq!(outcome.tally.complete, Some(true));
        assert_eq!(sorted(outcome.clean()), without_kinds(&live));
    }
}

/// What a database is written from.
#[derive(Clone)]
struct WrittenDatabase {
    version: u32,
    max_version: u32,
    dictionary: Vec<u8>,
    blocks: Vec<Vec<u8>>,
    directories: Vec<u8>,
}

impl WrittenDatabase {
    /// The database as updatedb lays it out, with an empty hash table.
    fn write(&self) -> Vec<u8> {
        let head = match (self.version, self.max_version) {
            (0, _) => 40,
            (_, 1) => 56,
            _ => 112,
        };
        let mut dump = vec![0; head];
        dump.extend(&self.dictionary);
        let mut index = Vec::new();
        for block in &self.blocks {
            index.extend(dump.len().to_le_bytes());
            dump.extend(block);
        }
        index.extend(dump.len().to_le_bytes());
        let index_at = dump.len();
        dump.extend(index);
        dump.extend([0xff; 64]);
        let directories_at = dump.len();
        dump.extend(&self.directories);
        dump.extend(b"conf");
        let mut put = |at: usize, bytes: &[u8]| {
            if at + bytes.len() <= head {
                dump[at..at + bytes.len()].copy_from_slice(bytes);
            }
        };
        put(0, b"\0plocate");
        put(8, &self.version.to_le_bytes());
        put(20, &u32::try_from(self.blocks.len()).unwrap().to_le_bytes());
        put(32, &index_at.to_le_bytes());
        put(40, &self.max_version.to_le_bytes());
        put(44, &u32::try_from(self.dictionary.len()).unwrap().to_le_bytes());
        put(48, &head.to_le_bytes());
        put(56, &self.directories.len().to_le_bytes());
        put(64, &directories_at.to_le_bytes());
        dump
    }
}

fn compressed(text: &[u8], dictionary: &[u8]) -> Vec<u8> {
    zstd::bulk::Compressor::with_dictionary(6, dictionary).unwrap().compress(text).unwrap()
}

fn small() -> WrittenDatabase {
    let blocks = [b"/a\0/a/\xff\n\0/b".as_slice(), b"/b/c\0/b/d"];
    let flags = [[1].as_slice(), &[9; 12], &[0], &[1], &[0; 12], &[0, 0]].concat();
    WrittenDatabase {
        version: 1,
        max_version: 2,
        dictionary: Vec::new(),
        blocks: blocks.iter().map(|block| compressed(block, b"")).collect(),
        directories: compressed(&flags, b""),
    }
}

fn small_entries() -> Vec<EntryCopy> {
    let all =
        [(b"/a".as_slice(), true), (b"/a/\xff\n", false), (b"/b", true), (b"/b/c", false), (b"/b/d", false)];
    all.map(|(path, is_directory)| EntryCopy::named(path, is_directory.then_some(Directory))).to_vec()
}

#[test]
fn all_versions_are_read() {
    for (version, max_version) in [(0, 0), (1, 1), (1, 2)] {
        let dump = WrittenDatabase { version, max_version, ..small() }.write();
        assert_eq!(read(&dump).clean(), without_kinds(&small_entries()));
        let mapped = read_whole(&dump).clean();
        let expected = small_entries();
        assert_eq!(mapped, if max_version == 2 { expected } else { without_kinds(&expected) });
    }
    let empty = WrittenDatabase { blocks: Vec::new(), directories: Vec::new(), ..small() }.write();
    assert_eq!((read(&empty).clean(), read_whole(&empty).clean()), (Vec::new(), Vec::new()));
}

#[test]
fn an_unfinished_or_unknown_database_is_an_error() {
    let mut dump = small().write();
    dump[8..12].fill(0xff);
    assert_eq!(read(&dump).error.unwrap(), "byte 8: updatedb did not finish this database");
    dump[8..12].copy_from_slice(&[2, 0, 0, 0]);
    assert!(read_whole(&dump).error.unwrap().starts_with("byte 8: version 2 of"));
    dump[1] = b'q';
    assert!(read(&dump).error.unwrap().starts_with("byte 0: "));
    let mut dump = small().write();
    dump[44..48].fill(0xff);
    assert_eq!(read(&dump).error.unwrap(), "byte 44: the dictionary is longer than 16 MiB");
}

#[test]
fn a_damaged_block_is_a_bad_row_and_the_others_are_read() {
    let mut database = small();
    database.blocks[0] = compressed(&b"/x".repeat(200), b"");
    database.blocks[0][10..].fill(0xff);
    let dump = database.write();
    for outcome in [read(&dump), read_whole(&dump)] {
        assert_eq!(outcome.entries, without_kinds(&small_entries()[3..]));
        assert_eq!((outcome.tally.bad, outcome.error.as_ref()), (1, None));
        assert!(outcome.first_reason().contains("cannot be decompressed"));
    }
}

#[test]
fn a_length_that_a_block_claims_is_not_believed() {
    // A frame with one segment, a content size of 8 bytes, and one raw block of two bytes.
    let frame = |size: u64| {
        [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0], size.to_le_bytes().as_slice(), &[17, 0, 0], b"/z"].concat()
    };
    let before = peak_memory();
    for (size, bad) in [(2, 0), (3, 1), (64 << 20, 1), ((64 << 20) + 1, 1), (u64::MAX, 1)] {
        let dump = WrittenDatabase {
            blocks: vec![frame(size), compressed(b"/y", b"")],
            directories: Vec::new(),
            ..small()
        };
        for outcome in [read(&dump.write()), read_whole(&dump.write())] {
            assert_eq!((outcome.tally.bad, outcome.entries.len()), (bad, usize::try_from(2 - bad).unwrap()));
        }
    }
    assert!(peak_memory() - before < 200 << 20);
}

#[test]
fn paths_that_do_not_begin_with_a_slash_are_bad_rows() {
    let block = compressed(b"/a\0b\0\0/c\0", b"");
    let outcome = read(&WrittenDatabase { blocks: vec![block], ..small() }.write());
    assert_eq!((outcome.entries.len(), outcome.tally.bad), (2, 2));
    assert_eq!(outcome.tally.first_bad.unwrap().text, b"b");
    let block = compressed(b"/a\0/b\0", b"");
    let outcome = read_whole(
        &WrittenDatabase { blocks: vec![block], directories: compressed(&[0, 0], b""), ..small() }.write(),
    );
    assert_eq!(outcome.clean().len(), 2);
}

#[test]
fn times_of_directories_that_do_not_match_the_names_are_told() {
    for directories in [[1].repeat(13), [0].repeat(4), [0].repeat(6), vec![7]] {
        let dump = WrittenDatabase { directories: compressed(&directories, b""), ..small() }.write();
        let outcome = read_whole(&dump);
        assert_eq!((outcome.entries.len(), outcome.tally.guessed, outcome.tally.bad), (5, 1, 0));
    }
    let mut dump = small().write();
    dump[64..72].fill(0xff);
    assert_eq!((read_whole(&dump).tally.guessed, read_whole(&dump).entries.len()), (1, 5));
    let dump = WrittenDatabase { directories: b"no frame".to_vec(), ..small() }.write();
    assert_eq!((read_whole(&dump).tally.guessed, read_whole(&dump).entries.len()), (1, 5));
}

#[test]
fn a_cut_database_gives_its_first_entries_and_is_not_complete() {
    let database = small();
    let dump = database.write();
    let index = 112 + database.blocks.iter().map(Vec::len).sum::<usize>();
    for length in 0..dump.len() {
        let complete = length >= index;
        let outcome = read(&dump[..length]);
        assert_eq!(
            (outcome.tally.complete, outcome.tally.truncated),
            (Some(complete), !complete),
            "{length}"
        );
        assert_eq!(outcome.entries, without_kinds(&small_entries()[..outcome.entries.len()]));
        let outcome = read_whole(&dump[..length]);
        assert_eq!((outcome.tally.complete, outcome.tally.bad), (Some(complete), 0));
        assert_eq!(complete, outcome.entries.len() == 5);
    }
}

#[test]
fn an_index_that_names_other_places_gives_bad_rows() {
    let database = small();
    let index = 112 + database.blocks.iter().map(Vec::len).sum::<usize>();
    for (entry, value) in [(1, u64::MAX), (0, 1 << 40), (1, 112)] {
        let mut dump = database.write();
        dump[index + entry * 8..][..8].copy_from_slice(&value.to_le_bytes());
        let outcome = read_whole(&dump);
        assert!(outcome.tally.bad > 0 && outcome.error.is_none() && outcome.entries.len() <= 3);
    }
    let mut dump = database.write();
    dump[32..40].copy_from_slice(&7_u64.to_le_bytes());
    let outcome = read(&dump);
    assert_eq!((outcome.tally.bad, outcome.tally.complete, outcome.entries.len()), (1, Some(false), 5));
    assert!(outcome.first_reason().starts_with("the last block ends at byte"));
}

#[test]
fn a_visitor_that_stops_ends_the_reading() {
    let dump = small().write();
    let mut tally = DumpTally::default();
    let mut count = 0;
    let mut stop = |_: &crate::source::Entry<'_>| {
        count += 1;
        ControlFlow::Break(())
    };
    PlocateDump::new().read(&mut dump.as_slice(), &mut tally, &mut stop).unwrap();
    PlocateDump::new().read_slice(&dump, &mut tally, &mut stop).unwrap();
    assert_eq!((count, tally), (2, DumpTally::default()));
}

/// A random database and its entries.
fn random_database(random: &mut Rng, count: usize) -> (Vec<u8>, Vec<EntryCopy>) {
    let dictionary = if random.bool() { b"/r/results_0000.h5/r/data".to_vec() } else { Vec::new() };
    let (mut blocks, mut flags, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let mut text = Vec::new();
        for _ in 0..random.usize(1..9) {
            let path = [b"/r/".as_slice(), &random_name(random)].concat();
            let is_directory = random.bool();
            flags.push(u8::from(is_directory));
            flags.extend(is_directory.then(|| [random.u8(..); 12]).iter().flatten());
            if !text.is_empty() {
                text.push(0);
            }
            text.extend(&path);
            entries.push(EntryCopy::named(&path, is_directory.then_some(Directory)));
        }
        blocks.push(compressed(&text, &dictionary));
    }
    let directories = compressed(&flags, b"");
    let max_version = random.u32(1..3);
    if max_version == 1 {
        entries = without_kinds(&entries);
    }
    (WrittenDatabase { version: 1, max_version, dictionary, blocks, directories }.write(), entries)
}

#[test]
fn random_databases_are_read_as_they_were_written_through_buffers_of_any_size() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for round in 0..500 {
        let count = random.usize(..9);
        let (dump, entries) = random_database(&mut random, count);
        assert_eq!(read_whole(&dump).clean(), entries, "seed {seed}");
        let streamed = read_by(&mut PlocateDump::new(), &dump, round % 64 + 1);
        assert_eq!(streamed.clean(), without_kinds(&entries), "seed {seed}");
    }
}

#[test]
fn mutations_of_databases_never_hurt() {
    let mut random = Rng::with_seed(1);
    let dumps: Vec<Vec<u8>> = (1..9).map(|count| random_database(&mut random, count).0).collect();
    survive_mutations(&dumps, read);
    survive_mutations(&dumps, read_whole);
}
