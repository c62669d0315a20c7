//! Rows of the real find against what lstat says, divisions at any place, and damaged rows.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

use super::*;
use crate::record::dump::{DumpTally, ReadRows};
use crate::source::{Entry, EntryBatch, EntryKind};

/// The entries of a dump that is divided into parts of about `part` bytes.
fn read(rows: &FindRows, dump: &[u8], part: usize) -> (Vec<String>, DumpTally) {
    let (mut found, mut tally, mut at) = (Vec::new(), DumpTally::default(), 0);
    let mut len = part;
    while at < dump.len() {
        let block = &dump[at..(at + len).min(dump.len())];
        let whole = if at + block.len() == dump.len() { block.len() } else { rows.complete(block) };
        if whole == 0 {
            len += part;
            continue;
        }
        let flow = rows.read(&block[..whole], at as u64, &mut tally, &mut |entry: &Entry<'_>| {
            found.push(format!("{entry:?}"));
            ControlFlow::Continue(())
        });
        assert_eq!(flow, ControlFlow::Continue(()));
        (at, len) = (at + whole, part);
    }
    (found, tally)
}

/// A tree with names that break careless readers.
fn hostile_tree(root: &Path) {
    let names: [&[u8]; 9] =
        [b"plain", b"tab\there", b"line\nfeed", b"two\n\nfeeds", b"\xff\xfe", b"a b", b"x\\n", b"'\"", b" "];
    for (at, name) in names.iter().enumerate() {
        let directory = root.join("d").join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join(std::ffi::OsStr::from_bytes(names[(at + 1) % names.len()]));
        fs::write(&file, vec![b'x'; at * 1000]).unwrap();
        symlink(std::ffi::OsStr::from_bytes(name), directory.join("link")).unwrap();
    }
    fs::hard_link(root.join("d/plain/tab\there"), root.join("hard")).unwrap();
}

/// The entry at a path as the recommended format describes it.
fn expected(path: &Path) -> String {
    let meta = fs::symlink_metadata(path).unwrap();
    let target = meta.is_symlink().then(|| fs::read_link(path).unwrap());
    let kind = match meta.file_type() {
        kind if kind.is_dir() => EntryKind::Directory,
        kind if kind.is_symlink() => EntryKind::Link,
        _ => EntryKind::File,
    };
    let name = |database: &str, id: u32| {
        let text = fs::read_to_string(format!("/etc/{database}")).unwrap();
        let mut lines = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
        lines.find(|line| line[2] == id.to_string()).map_or(id.to_string(), |line| line[0].to_owned())
    };
    let (owner, group) = (name("passwd", meta.uid()), name("group", meta.gid()));
    let time = |seconds: i64, nano: i64| Some(seconds * 1_000_000_000 + nano);
    let entry = Entry {
        path: path.as_os_str().as_bytes(),
        kind: Some(kind),
        target: target.as_ref().map(|target| target.as_os_str().as_bytes()),
        owner: Some(owner.as_bytes()),
        group: Some(group.as_bytes()),
        mtime: time(meta.mtime(), meta.mtime_nsec()),
        atime: time(meta.atime(), meta.atime_nsec()),
        ctime: time(meta.ctime(), meta.ctime_nsec()),
        size: Some(meta.len()),
        blocks: Some(meta.blocks()),
        uid: Some(meta.uid()),
        gid: Some(meta.gid()),
        mode: Some(meta.mode() & 0o7777),
        inode: Some(meta.ino()),
        links: Some(meta.nlink()),
        device: Some(meta.dev()),
        ..Entry::default()
    };
    format!("{entry:?}")
}

fn find(root: &Path, format: &str) -> Vec<u8> {
    let found = Command::new("find").arg(root).args(["-printf", format]).output().unwrap();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    found.stdout
}

fn paths(root: &Path) -> Vec<String> {
    let mut found = vec![expected(root)];
    if fs::symlink_metadata(root).unwrap().is_dir() {
        for entry in fs::read_dir(root).unwrap() {
            found.extend(paths(&entry.unwrap().path()));
        }
    }
    found.sort();
    found
}

#[test]
fn the_recommended_format_gives_what_lstat_says_for_all_names() {
    let place = tempfile::tempdir().unwrap();
    hostile_tree(place.path());
    // Reading directories for the first time changes their times of access.
    paths(place.path());
    let dump = find(place.path(), RECOMMENDED_FORMAT);
    let expected = paths(place.path());
    let rows = FindRows::new(RECOMMENDED_FORMAT, FindDialect::Gnu).unwrap();
    assert!(rows.detect(&dump) && rows.detect(&dump[..300]));
    for part in [1, 7, 100, 1000, usize::MAX / 2] {
        let (mut found, tally) = read(&rows, &dump, part);
        found.sort();
        let differs = found.iter().zip(&expected).find(|(found, expected)| found != expected);
        assert_eq!(differs, None, "parts of {part} bytes");
        assert_eq!(found.len(), expected.len());
        assert_eq!(tally, DumpTally::default());
    }
}

#[test]
fn names_with_separators_and_line_feeds_are_found_from_both_ends_of_a_row() {
    let place = tempfile::tempdir().unwrap();
    hostile_tree(place.path());
    let all = find(place.path(), r"%p\0");
    let mut expected: Vec<&[u8]> = all.split(|&byte| byte == 0).filter(|path| !path.is_empty()).collect();
    expected.sort_unstable();
    let formats = [
        r"%s\t%p\t%T@\n",
        r"%s %p\n",
        r"%p %s\n",
        r"%y,%p,%l,%s\n",
        r"%y,%l,%p,%s\n",
        r"<%U:%p>\n",
        r"%h\0%f\0%s\n",
        r"%s\n%p\0%l\0",
    ];
    for format in formats {
        let rows = FindRows::new(format, FindDialect::Gnu).unwrap();
        let dump = find(place.path(), format);
        for part in [1, 50, usize::MAX / 2] {
            let (mut found, mut batch, mut tally, mut at, mut len) =
                (Vec::new(), EntryBatch::default(), DumpTally::default(), 0, part);
            while at < dump.len() {
                let block = &dump[at..(at.saturating_add(len)).min(dump.len())];
                let whole = if at + block.len() == dump.len() { block.len() } else { rows.complete(block) };
                len = if whole == 0 { len + part } else { part };
                let _ = rows.read(&block[..whole], at as u64, &mut tally, &mut |entry: &Entry<'_>| {
                    batch.push(entry);
                    ControlFlow::Continue(())
                });
                at += whole;
            }
            found.extend(batch.iter().map(|entry| entry.path.to_vec()));
            found.sort_unstable();
            assert_eq!(found, expected, "{format}, parts of {part} bytes: {tally:?}");
            assert_eq!((tally.bad, tally.truncated), (0, false), "{format}: {tally:?}");
            let exact = rows_are_exact(format);
            assert_eq!(tally.guessed == 0, exact, "{format}: {tally:?}");
        }
    }
}

/// True if NUL ends every name of the format, or no name of the tree contains the end of its rows.
fn rows_are_exact(format: &str) -> bool {
    format.contains(r"\0") || format.contains(r">\n")
}

#[test]
fn devices_keep_their_type_in_the_mode() {
    let rows = FindRows::new(r"%y %m %p\n", FindDialect::Gnu).unwrap();
    let (found, tally) = read(&rows, b"b 660 /dev/sda\nc 666 /dev/null\nf 644 /a\n", 1 << 20);
    assert_eq!(tally, DumpTally::default());
    for (entry, mode) in found.iter().zip([0o060_660, 0o020_666, 0o644]) {
        assert!(entry.contains(&format!("mode: Some({mode})")), "{entry}");
    }
}

#[test]
fn a_damaged_row_is_counted_and_costs_no_other_row() {
    let rows = FindRows::new(r"%s\t%p\t%m\n", FindDialect::Gnu).unwrap();
    let (found, tally) = read(&rows, b"1\t/a\t644\nx\t/b\t644\n3\t/c\t9\n4\t/d\t600\n5\t/e\t6", 1 << 20);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(tally.truncated);
    assert_eq!(tally.bad, 3, "{tally:?}");
    let first = tally.first_bad.unwrap();
    assert_eq!((first.offset, first.reason.as_str()), (9, "a number was expected"));
    let exact = FindRows::new(RECOMMENDED_FORMAT, FindDialect::Gnu).unwrap();
    let row = b"f\t5\t8\t644\t0\troot\t0\troot\t1.5\t1.5\t1.5\t7\t1\t9\t\0/a\0\n";
    let mut dump = row.to_vec();
    dump.extend_from_slice(b"f\t5\t8\t64");
    dump.extend_from_slice(row);
    dump.extend_from_slice(row);
    let (found, tally) = read(&exact, &dump, 1 << 20);
    assert_eq!((found.len(), tally.bad, tally.truncated), (2, 1, false), "{tally:?}");
}

#[test]
fn random_damage_never_panics_and_loses_only_the_rows_that_it_hits() {
    let rows = FindRows::new(RECOMMENDED_FORMAT, FindDialect::Gnu).unwrap();
    let lines = FindRows::new(r"%s\t%p\t%l\t%m\n", FindDialect::Gnu).unwrap();
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let count = 50;
    let exact: Vec<u8> = (0..count)
        .flat_map(|n| {
            format!("f\t{n}\t8\t644\t0\tr\t0\tr\t1.5\t1.5\t1.5\t7\t1\t9\t\0/a/{n}\0\n").into_bytes()
        })
        .collect();
    let line: Vec<u8> = (0..count).flat_map(|n| format!("{n}\t/a/{n}\t\t644\n").into_bytes()).collect();
    for round in 0..4_000 {
        let (rows, dump) = if round % 2 == 0 { (&rows, &exact) } else { (&lines, &line) };
        let mut dump = dump.clone();
        let at = random.usize(..dump.len());
        match random.u8(..4) {
            0 => dump[at] = random.u8(..),
            1 => drop(dump.remove(at)),
            2 => dump.insert(at, random.u8(..)),
            _ => dump.truncate(at),
        }
        let cut = dump.len() <= at;
        let (found, tally) = read(rows, &dump, 1 << 20);
        let counted = found.len() as u64 + tally.bad;
        if !cut {
            // One damaged byte divides or joins at most two rows.
            assert!(
                counted >= count - 1 && counted <= count + 2,
                "seed {seed}, {round}: {counted}, {tally:?}"
            );
            assert!(found.len() as u64 >= count - 2, "seed {seed}, {round}: {tally:?}");
        }
        let part = random.usize(1..200);
        let (divided, _) = read(rows, &dump, part);
        assert!(cut || divided.len() as u64 >= count - 2, "seed {seed}, {round}, parts of {part}");
    }
}

#[test]
fn a_format_that_cannot_be_read_back_says_what_to_write() {
    let wrong = [
        (r"%s\n", "write %p"),
        (r"%p%s\n", "side by side"),
        (r"%s %p", "rows have no end"),
        (r"%p %t\n", "write %T@"),
        (r"%p %TY\n", "write %T@"),
        (r"%p \q\n", "unknown escape"),
        (r"%p %j\n", "unknown directive %j"),
        ("%p %", "percent sign"),
        ("%p \\", "backslash"),
        (r"%H/%P\n", "write %p"),
    ];
    for (format, expected) in wrong {
        let error = FindRows::new(format, FindDialect::Gnu).unwrap_err();
        assert!(error.contains(expected), "{format}: {error}");
    }
    assert!(FindRows::new(r"%p %Lc %Lp %W@\n", FindDialect::Lustre).is_ok());
    assert!(FindRows::new(r"%p %Ts %Rm{sparse.x}\n", FindDialect::Robinhood).is_ok());
    assert!(FindRows::new(r"%p %B@\n", FindDialect::Robinhood).is_err());
}

#[test]
fn escaped_names_of_robinhood_are_read_back() {
    use crate::record::dump::testing::read_whole;
    let rows = FindRows::new(r"%y\t%s\t%Ts\t%p\n", FindDialect::Robinhood).unwrap().with_escapes();
    let (entries, tally) = read_whole(&rows, b"f\t5\t7\t/a\\012b\\134\\377\nd\t1\t2\t/c\nf\t5\t7\t/a\\01\n");
    let paths: Vec<_> = entries.iter().map(|entry| entry.path.as_slice()).collect();
    assert_eq!(paths, [&b"/a\nb\\\xff"[..], b"/c"]);
    assert_eq!((tally.bad, tally.first_bad.unwrap().offset), (1, 31));
}
