use std::ops::ControlFlow;

use fastrand::Rng;

use super::DwalkDump;
use crate::record::dump::sequential_testing::*;
use crate::record::dump::{DumpTally, ReadDump};
use crate::source::EntryKind::{Directory, File, Link};

fn read(bytes: &[u8]) -> DumpOutcome {
    read_all(&mut DwalkDump::new(), bytes)
}

/// Writes lists as mfu_flist_io.c defines them.
struct WrittenList {
    version: u64,
    users: Vec<(&'static str, u64)>,
    groups: Vec<(&'static str, u64)>,
    /// A path and ten numbers.
    files: Vec<(Vec<u8>, [u64; 10])>,
}

impl WrittenList {
    fn write(&self) -> Vec<u8> {
        let longest =
            |names: &[(&str, u64)]| names.iter().map(|(name, _)| name.len() as u64 + 1).max().unwrap_or(0);
        let (user_chars, group_chars) = (longest(&self.users), longest(&self.groups));
        let name_chars = self.files.iter().map(|(path, _)| path.len()).max().unwrap_or(0).next_multiple_of(8);
        let mut dump = Vec::new();
        let mut put = |numbers: &[u64]| dump.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        put(&[self.version]);
        if self.version == 3 {
            put(&[1_700_000_000, 1_700_000_100]);
        }
        put(&[self.users.len() as u64, user_chars, self.groups.len() as u64, group_chars]);
        put(&[self.files.len() as u64, name_chars as u64]);
        for (table, chars) in [(&self.users, user_chars), (&self.groups, group_chars)] {
            for (name, id) in table {
                dump.extend(name.bytes().chain(std::iter::repeat(0)).take(usize::try_from(chars).unwrap()));
                dump.extend(id.to_be_bytes());
            }
        }
        for (path, numbers) in &self.files {
            dump.extend(path.iter().copied().chain(std::iter::repeat(0)).take(name_chars));
            dump.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        }
        dump
    }
}

const NUMBERS: [u64; 10] = [0o100_644, 1000, 100, 5, 6, 7, 8, 9, 10, 4096];

fn small(version: u64) -> WrittenList {
    let minus_two = 2_u64.wrapping_neg();
    WrittenList {
        version,
        users: vec![("root", 0), ("alice", 1000), ("alias", 1000)],
        groups: vec![("users", 100)],
        files: vec![
            (b"/data".to_vec(), [0o040_755, 0, 0, 0, 0, minus_two, 999_999_999, 0, 0, 0]),
            (b"/data/a\n\xff".to_vec(), NUMBERS),
            (b"/data/0123456789".to_vec(), [0o120_777, 7, 100, 0, 0, 0, 0, 0, 0, u64::MAX]),
        ],
    }
}

fn small_entries() -> Vec<EntryCopy> {
    let entry = |path: &[u8], kind, mode, uid, gid| EntryCopy {
        mode: Some(mode),
        uid: Some(uid),
        gid: Some(gid),
        atime: Some(0),
        mtime: Some(0),
        ctime: Some(0),
        size: Some(0),
        ..EntryCopy::named(path, Some(kind))
    };
    vec![
        EntryCopy {
            owner: Some(b"root".to_vec()),
            mtime: Some(-1_000_000_001),
            ..entry(b"/data", Directory, 0o040_755, 0, 0)
        },
        EntryCopy {
            owner: Some(b"alice".to_vec()),
            group: Some(b"users".to_vec()),
            atime: Some(5_000_000_006),
            mtime: Some(7_000_000_008),
            ctime: Some(9_000_000_010),
            size: Some(4096),
            ..entry(b"/data/a\n\xff", File, 0o100_644, 1000, 100)
        },
        EntryCopy {
            group: Some(b"users".to_vec()),
            size: Some(u64::MAX),
            ..entry(b"/data/0123456789", Link, 0o120_777, 7, 100)
        },
    ]
}

#[test]
fn a_list_of_known_bytes_is_read() {
    let dump = [
        [4_u64, 1, 2, 0, 0, 1, 8].iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>(),
        b"r\0\0\0\0\0\0\0\0\0".to_vec(),
        b"/a\0\0\0\0\0\0\0\0\0\0\0\0\x81\xa4".to_vec(),
        [0_u8; 71].to_vec(),
        vec![3],
    ]
    .concat();
    assert_eq!(dump.len(), 56 + 10 + 88);
    let entries = read(&dump).clean();
    assert_eq!((entries[0].path.as_slice(), entries[0].size), (b"/a".as_slice(), Some(3)));
    assert_eq!((entries[0].owner.as_deref(), entries[0].mode), (Some(b"r".as_slice()), Some(0o100_644)));
}

#[test]
fn both_versions_are_read() {
    for version in [3, 4] {
        let dump = small(version).write();
        assert!(DwalkDump::detect(&dump));
        let outcome = read(&dump);
        assert_eq!(outcome.tally.complete, Some(true));
        assert_equal(&outcome.clean(), &small_entries());
    }
    let empty = WrittenList { users: Vec::new(), groups: Vec::new(), files: Vec::new(), ..small(4) }.write();
    assert_eq!(read(&empty).clean(), []);
}

#[test]
fn numbers_that_do_not_fit_are_bad_rows() {
    for (index, value, reason) in [
        (0, 1 << 32, "mode"),
        (1, 1 << 32, "uid"),
        (2, u64::MAX, "gid"),
        (4, 1_000_000_000, "the nanoseconds"),
        (6, u64::MAX, "the nanoseconds"),
        (8, 1 << 63, "the nanoseconds"),
    ] {
        let mut list = small(4);
        list.files[1].1[index] = value;
        let dump = list.write();
        let outcome = read(&dump);
        assert_eq!((outcome.entries.len(), outcome.tally.bad, outcome.tally.complete), (2, 1, Some(true)));
        let bad = outcome.tally.first_bad.unwrap();
        assert!(bad.reason.starts_with(reason) && bad.text == b"/data/a\n\xff");
        assert_eq!(bad.offset, dump.len() as u64 - 2 * 96);
    }
    let mut list = small(3);
    list.files[0].0 = Vec::new();
    list.users[0].1 = 1 << 32;
    let outcome = read(&list.write());
    assert_eq!((outcome.entries.len(), outcome.tally.bad), (2, 2));
}

#[test]
fn lengths_that_the_header_claims_are_not_believed() {
    let before = peak_memory();
    let put = |index: usize, value: u64| {
        let mut dump = small(4).write();
        dump[index * 8..][..8].copy_from_slice(&value.to_be_bytes());
        read(&dump)
    };
    for (index, value, message) in [
        (0, 5, "byte 0: expected version 3 or 4 of a list of dwalk, found 5"),
        (1, u64::MAX, "byte 8: 18446744073709551615 users with names of 6 bytes, or 1 groups"),
        (1, 2_000_000, "byte 8: 2000000 users"),
        (2, u64::MAX, "byte 8: 3 users with names of"),
        (3, 1 << 40, "byte 8: 3 users with names of 6 bytes, or 1099511627776 groups"),
        (6, 0, "byte 48: a path of 0 bytes is not possible"),
        (6, u64::MAX, "byte 48: a path of"),
    ] {
        let error = put(index, value).error.unwrap();
        assert!(error.starts_with(message), "{error}");
    }
    for (index, value) in [(1, 1_000_000), (2, 10 << 20), (5, u64::MAX), (6, 1 << 20)] {
        let outcome = put(index, value);
        assert_eq!(
            (outcome.error, outcome.tally.truncated, outcome.tally.complete),
            (None, true, Some(false))
        );
    }
    assert!(peak_memory() - before < 150 << 20);
}

#[test]
fn a_cut_list_gives_its_first_entries_and_is_not_complete() {
    let dump = small(3).write();
    for length in 0..dump.len() {
        let outcome = read(&dump[..length]);
        assert_eq!((outcome.tally.complete, outcome.tally.truncated), (Some(false), true), "{length}");
        assert_eq!((outcome.error, outcome.tally.bad), (None, 0));
        assert_eq!(outcome.entries, small_entries()[..outcome.entries.len()]);
    }
    let outcome = read(&[dump.as_slice(), b"more"].concat());
    assert_eq!((outcome.tally.complete, outcome.tally.bad, outcome.entries.len()), (Some(true), 1, 3));
}

#[test]
fn a_visitor_that_stops_ends_the_reading() {
    let (mut count, mut tally) = (0, DumpTally::default());
    let result = DwalkDump::new().read(&mut small(4).write().as_slice(), &mut tally, &mut |_| {
        count += 1;
        ControlFlow::Break(())
    });
    assert!(result.is_ok());
    assert_eq!((count, tally), (1, DumpTally::default()));
}

#[test]
fn only_lists_are_detected() {
    let dump = small(4).write();
    // The first user is whole at byte 70.
    for length in 0..dump.len() {
        assert_eq!(DwalkDump::detect(&dump[..length]), length >= 70, "{length}");
    }
    let change = |at: usize, byte: u8| {
        let mut dump = dump.clone();
        dump[at] = byte;
        DwalkDump::detect(&dump)
    };
    let file = 56 + 3 * 14 + 14;
    assert!(change(file + 1, b'x'));
    for (at, byte) in
        [(7, 5), (0, 1), (48, 1), (56, 0), (57, 7), (62, 1), (file, b'x'), (file + 22, 0), (file + 21, 1)]
    {
        assert!(!change(at, byte), "{at}");
    }
    let zeros = [4_u64, 0, 0, 0, 0, 0, 0].iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>();
    assert!(!DwalkDump::detect(&zeros));
}

/// A random list and its entries.
fn random_list(random: &mut Rng, count: usize) -> (Vec<u8>, Vec<EntryCopy>) {
    let mut list = WrittenList { files: Vec::new(), ..small(random.u64(3..5)) };
    let mut entries = Vec::new();
    for _ in 0..count {
        let path = [b"/r/".as_slice(), &random_name(random)].concat();
        let (kind, bits) = [(Directory, 0o040_000), (File, 0o100_000), (Link, 0o120_000)][random.usize(..3)];
        let mode = bits | random.u32(..0o10_000);
        let (uid, gid) = ([0, 1000, random.u32(2000..)][random.usize(..3)], random.u32(99..102));
        let mut time = || (random.i64(-5_000_000_000..5_000_000_000), random.i64(0..1_000_000_000));
        let (atime, mtime, ctime) = (time(), time(), time());
        let size = random.u64(..);
        let mut numbers = [mode.into(), uid.into(), gid.into(), 0, 0, 0, 0, 0, 0, size];
        for (index, time) in [(3, atime), (5, mtime), (7, ctime)] {
            (numbers[index], numbers[index + 1]) = (time.0.cast_unsigned(), time.1.cast_unsigned());
        }
        let owner =
            [(0, "root"), (1000, "alice")].iter().find(|owner| owner.0 == uid).map(|owner| owner.1.into());
        entries.push(EntryCopy {
            owner,
            group: (gid == 100).then(|| b"users".to_vec()),
            atime: Some(atime.0 * 1_000_000_000 + atime.1),
            mtime: Some(mtime.0 * 1_000_000_000 + mtime.1),
            ctime: Some(ctime.0 * 1_000_000_000 + ctime.1),
            size: Some(size),
            uid: Some(uid),
            gid: Some(gid),
            mode: Some(mode),
            ..EntryCopy::named(&path, Some(kind))
        });
        list.files.push((path, numbers));
    }
    (list.write(), entries)
}

#[test]
fn random_lists_are_read_as_they_were_written_through_buffers_of_any_size() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for round in 0..500 {
        let count = random.usize(..30);
        let (dump, entries) = random_list(&mut random, count);
        let outcome = read_by(&mut DwalkDump::new(), &dump, round % 64 + 1);
        assert_eq!(outcome.tally.complete, Some(true));
        assert_equal(&outcome.clean(), &entries);
        assert!(DwalkDump::detect(&dump));
    }
}

#[test]
fn mutations_of_lists_never_hurt() {
    let mut random = Rng::with_seed(1);
    let dumps: Vec<Vec<u8>> = (1..12).map(|count| random_list(&mut random, count).0).collect();
    survive_mutations(&dumps, |dump| {
        DwalkDump::detect(dump);
        read(dump)
    });
}
