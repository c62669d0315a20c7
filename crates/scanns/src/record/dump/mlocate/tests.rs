use std::ops::ControlFlow;

use fastrand::Rng;

use super::MlocateDump;
use crate::record::dump::sequential_testing::*;
use crate::record::dump::{DumpTally, ReadDump};
use crate::record::test_data::test_data;
use crate::source::EntryKind::Directory;

fn read(bytes: &[u8]) -> DumpOutcome {
    read_all(&mut MlocateDump::new(), bytes)
}

/// Writes a header, as mlocate.db(5) defines it.
fn header(root: &[u8], configuration: &[u8]) -> Vec<u8> {
    let size = u32::try_from(configuration.len()).unwrap().to_be_bytes();
    [b"\0mlocate".as_slice(), &size, &[0, 1, 0, 0], root, &[0], configuration].concat()
}

/// Writes a directory with its entries, each of which has a type and a name.
fn directory(path: &[u8], entries: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = [&[1; 8], [2; 4].as_slice(), &[0; 4], path, &[0]].concat();
    for (kind, name) in entries {
        bytes.push(*kind);
        bytes.extend_from_slice(name);
        bytes.push(0);
    }
    bytes.push(2);
    bytes
}

#[test]
fn the_sample_of_plaso_is_read() {
    let Some(sample) = test_data("dumps/mlocate.db") else { return };
    assert!(MlocateDump::detect(&sample));
    let expected = [
        ("", Some(Directory)),
        ("/1", Some(Directory)),
        ("/2", Some(Directory)),
        ("/3", Some(Directory)),
        ("/\u{c0}", Some(Directory)),
        ("/1/1a.txt", None),
        ("/1/1b.txt", None),
        ("/3/3a.txt", None),
        ("/3/3b.txt", None),
        ("/3/3c", Some(Directory)),
    ];
    let expected =
        expected.map(|(path, kind)| EntryCopy::named(format!("/home/user/temp{path}").as_bytes(), kind));
    assert_eq!(read(&sample).clean(), expected);
}

#[test]
fn the_root_has_no_second_slash_and_is_an_entry_once() {
    let dump = [
        header(b"/", b"prunefs\0NFS\0\0"),
        directory(b"/", &[(1, b"a"), (0, b"\xff\n")]),
        directory(b"/a", &[(0, b"b")]),
    ]
    .concat();
    let paths: Vec<Vec<u8>> = read(&dump).clean().into_iter().map(|entry| entry.path).collect();
    assert_eq!(paths, [b"/".as_slice(), b"/a", b"/\xff\n", b"/a/b"]);
}

#[test]
fn names_and_paths_that_are_none_are_bad_rows() {
    let long = vec![b'n'; (1 << 20) + 1];
    let dump = [
        header(b"/", b""),
        directory(b"/", &[(0, b""), (0, b"a/b"), (1, b".."), (0, &long), (0, b"good")]),
        directory(b"relative", &[(0, b"lost")]),
        directory(&[b"/", long.as_slice()].concat(), &[(0, b"lost")]),
        directory(b"", &[]),
        directory(b"/d", &[(0, b"good")]),
    ]
    .concat();
    let outcome = read(&dump);
    let paths: Vec<&[u8]> = outcome.entries.iter().map(|entry| entry.path.as_slice()).collect();
    assert_eq!(paths, [b"/".as_slice(), b"/good", b"/d/good"]);
    assert_eq!(
        (outcome.tally.bad, outcome.first_reason(), &outcome.error),
        (9, "the entry has no name", &None)
    );
}

#[test]
fn damage_names_its_byte() {
    assert!(read(b"\0mlocatf12345678").error.unwrap().starts_with("byte 0: "));
    let mut dump = header(b"/", b"");
    dump[12] = 3;
    assert!(read(&dump).error.unwrap().starts_with("byte 12: version 3"));
    let dump = [header(b"/", b""), directory(b"/", &[(0, b"a"), (7, b"b")])].concat();
    let outcome = read(&dump);
    assert_eq!(outcome.error.unwrap(), "byte 39: expected an entry of type 0, 1 or 2, found type 7");
    assert_eq!(outcome.entries.len(), 2);
}

#[test]
fn a_cut_database_gives_its_first_entries() {
    let (dump, entries) = random_database(&mut Rng::with_seed(3), 6);
    assert_eq!(read(&dump).clean(), entries);
    let mut whole = 0;
    for length in 0..dump.len() {
        let outcome = read(&dump[..length]);
        assert_eq!((outcome.error, outcome.tally.bad), (None, 0));
        assert_eq!(outcome.entries, entries[..outcome.entries.len()]);
        whole += usize::from(!outcome.tally.truncated);
    }
    // Only a cut between two directories cannot be seen.
    assert_eq!(whole, 6);
}

#[test]
fn a_configuration_block_that_is_longer_than_the_dump_is_not_allocated() {
    let mut dump = header(b"/", b"x");
    dump[8..12].fill(0xff);
    let outcome = read(&dump);
    assert_eq!((outcome.error, outcome.tally.truncated), (None, true));
}

#[test]
fn a_visitor_that_stops_ends_the_reading() {
    let dump = [header(b"/", b""), directory(b"/", &[(0, b"a"), (0, b"b")])].concat();
    let (mut count, mut tally) = (0, DumpTally::default());
    let result = MlocateDump::new().read(&mut dump.as_slice(), &mut tally, &mut |_| {
        count += 1;
        ControlFlow::Break(())
    });
    assert!(result.is_ok() && count == 1 && !tally.truncated);
}

/// A random database of some directories, and its entries.
fn random_database(random: &mut Rng, count: usize) -> (Vec<u8>, Vec<EntryCopy>) {
    let conf: Vec<u8> = (0..random.usize(..50)).map(|_| random.u8(..)).collect();
    let (mut dump, mut entries) = (header(b"/r", &conf), Vec::new());
    for index in 0..count {
        let path =
            if index == 0 { b"/r".to_vec() } else { [b"/r/", random_name(random).as_slice()].concat() };
        if index == 0 {
            entries.push(EntryCopy::named(&path, Some(Directory)));
        }
        let names: Vec<(u8, Vec<u8>)> =
            (0..random.usize(..9)).map(|_| (random.u8(..2), random_name(random))).collect();
        for (kind, name) in &names {
            let path = [path.as_slice(), b"/", name].concat();
            entries.push(EntryCopy::named(&path, (*kind == 1).then_some(Directory)));
        }
        let names: Vec<(u8, &[u8])> = names.iter().map(|(kind, name)| (*kind, name.as_slice())).collect();
        dump.extend(directory(&path, &names));
    }
    (dump, entries)
}

#[test]
fn random_databases_are_read_as_they_were_written_through_buffers_of_any_size() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for round in 0..1000 {
        let count = random.usize(..9);
        let (dump, entries) = random_database(&mut random, count);
        assert_eq!(read_by(&mut MlocateDump::new(), &dump, round % 64 + 1).clean(), entries, "seed {seed}");
    }
}

#[test]
fn mutations_of_databases_never_hurt() {
    let mut random = Rng::with_seed(1);
    let dumps: Vec<Vec<u8>> = (1..12).map(|count| random_database(&mut random, count).0).collect();
    survive_mutations(&dumps, read);
}
