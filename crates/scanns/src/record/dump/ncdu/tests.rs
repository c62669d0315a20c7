use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use fastrand::Rng;

use super::NcduDump;
use crate::record::dump::sequential_testing::*;
use crate::record::dump::{DumpTally, ReadDump, UnreadPath};
use crate::record::test_data::test_data;
use crate::source::EntryKind::{self, Directory, Fifo, File, Link};

const HEAD: &str = r#"[1,2,{"progname":"ncdu","progver":"1.18","timestamp":1},"#;

fn read(bytes: &[u8]) -> DumpOutcome {
    read_all(&mut NcduDump::new(), bytes)
}

fn export(body: &str) -> DumpOutcome {
    read(format!("{HEAD}{body}]").as_bytes())
}

fn paths(outcome: &DumpOutcome) -> Vec<String> {
    outcome.entries.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect()
}

#[test]
fn the_sample_of_gdu_is_read() {
    let Some(sample) = test_data("dumps/gdu.json") else { return };
    assert!(NcduDump::detect(&sample));
    let outcome = read(&sample);
    assert_eq!(outcome.tally.complete, Some(true));
    let entries = outcome.clean();
    let file = |path: &str, size, blocks| EntryCopy {
        size: Some(size),
        blocks: Some(blocks),
        ..EntryCopy::named(path.as_bytes(), Some(File))
    };
    let expected = [
        EntryCopy::named(b"/home/gdu", Some(Directory)),
        EntryCopy::named(b"/home/gdu/app", Some(Directory)),
        file("/home/gdu/app/app.go", 4638, 16),
        file("/home/gdu/app/app_linux_test.go", 1410, 8),
        file("/home/gdu/app/app_test.go", 4974, 16),
        file("/home/gdu/main.go", 3205, 8),
    ];
    assert_eq!(entries, expected);
}

#[test]
fn an_export_of_gdu_equals_the_live_tree_where_names_are_utf8() {
    let tree = hostile_tree();
    let Some(dump) = output_of(Command::new("gdu").args(["-n", "-o", "-"]).arg(tree.path())) else { return };
    assert!(NcduDump::detect(&dump));
    let outcome = read(&dump);
    assert_eq!((outcome.tally.bad, outcome.tally.complete, &outcome.error), (0, Some(true), &None));
    // Two directories and two files have names that are not UTF-8; their links have no such name themselves.
    assert_eq!(outcome.tally.guessed, 4);
    let lossy = |path: &[u8]| String::from_utf8_lossy(path).into_owned().into_bytes();
    let live = live_tree(tree.path()).into_iter().map(|live| {
        let is_directory = live.kind == Some(Directory);
        EntryCopy {
            path: lossy(&live.path),
            kind: live.kind.filter(|kind| matches!(kind, File | Directory)),
            size: live.size.filter(|_| !is_directory),
            blocks: live.blocks.filter(|_| !is_directory),
            mtime: live.mtime.filter(|_| !is_directory).map(|time| time - time.rem_euclid(1_000_000_000)),
            ..EntryCopy::default()
        }
    });
    let known = |entry: EntryCopy| {
        // Sockets and pipes are files to gdu, which names the inode of one of several links only.
        let kind =
            entry.kind.filter(|_| !entry.path.ends_with(b"/pipe") && !entry.path.ends_with(b"/socket"));
        EntryCopy { inode: None, kind, ..entry }
    };
    let entries: Vec<EntryCopy> = sorted(outcome.entries).into_iter().map(known).collect();
    assert_equal(&entries, &sorted(live.collect()));
}

/// Runs ncdu over `root`.
fn ncdu(root: &Path, options: &[&str]) -> Option<Vec<u8>> {
    output_of(Command::new("ncdu").args(["--ignore-config", "-0", "-o", "-"]).args(options).arg(root))
}

/// What an export of ncdu says of a live entry.
fn as_exported(live: EntryCopy) -> EntryCopy {
    let hard_link = live.kind != Some(Directory) && live.links > Some(1);
    EntryCopy {
        target: None,
        mtime: live.mtime.map(|time| time - time.rem_euclid(1_000_000_000)),
        atime: None,
        ctime: None,
        inode: live.inode.filter(|_| hard_link),
        links: live.links.filter(|_| hard_link),
        ..live
    }
}

#[test]
fn an_extended_export_of_ncdu_equals_the_live_tree() {
    let tree = hostile_tree();
    let Some(dump) = ncdu(tree.path(), &["-e"]) else { return };
    assert!(NcduDump::detect(&dump));
    let outcome = read(&dump);
    assert_eq!((outcome.tally.complete, outcome.tally.unread), (Some(true), 0));
    let live: Vec<EntryCopy> = live_tree(tree.path()).into_iter().map(as_exported).collect();
    assert!(live.iter().any(|entry| entry.kind == Some(Fifo)) && live.len() > 90);
    assert_eq!(sorted(outcome.clean()), live);
}

#[test]
fn a_short_export_of_ncdu_equals_the_live_tree() {
    let tree = hostile_tree();
    let Some(dump) = ncdu(tree.path(), &[]) else { return };
    let live: Vec<EntryCopy> = live_tree(tree.path())
        .into_iter()
        .map(|live| EntryCopy {
            mtime: None,
            uid: None,
            gid: None,
            mode: None,
            kind: live.kind.filter(|kind| matches!(kind, File | Directory)),
            ..as_exported(live)
        })
        .collect();
    assert_eq!(sorted(read(&dump).clean()), live);
}

#[test]
fn what_ncdu_excluded_is_counted_and_not_an_entry() {
    let tree = hostile_tree();
    let Some(dump) = ncdu(tree.path(), &["-e", "--exclude", "*blank*"]) else { return };
    let outcome = read(&dump);
    assert_eq!((outcome.tally.unread, outcome.tally.excluded), (0, 1));
    let UnreadPath { path, reason, .. } = outcome.tally.first_unread(true).unwrap();
    assert!(path.ends_with(b"/d  blank first and last ") && reason.contains("pattern"), "{reason}");
    let live = live_tree(tree.path()).into_iter().map(as_exported);
    let directory = tree.path().as_os_str().len();
    let expected: Vec<EntryCopy> =
        live.filter(|entry| !entry.path[directory..].windows(5).any(|part| part == b"blank")).collect();
    let read: Vec<_> = sorted(outcome.clean()).into_iter().map(|e| e.path).collect();
    assert_eq!(read, expected.into_iter().map(|e| e.path).collect::<Vec<_>>());
}

#[test]
fn directories_that_ncdu_could_not_read_are_entries_and_counted() {
    let tree = hostile_tree();
    fs::set_permissions(tree.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(tree.path().join("d plain"), fs::Permissions::from_mode(0o444)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--clear-groups", "ncdu", "--ignore-config", "-0", "-e", "-o", "-"]);
    let Ok(output) = command.arg(tree.path()).output() else {
        return println!("SKIPPED, setpriv is absent");
    };
    if !output.status.success() {
        return println!("SKIPPED, setpriv or ncdu cannot be run");
    }
    let outcome = read(&output.stdout);
    // Of "d plain" the two entries are missing.
    assert_eq!((outcome.tally.unread, outcome.tally.complete), (2, Some(true)));
    let UnreadPath { path, reason, .. } = outcome.tally.first_unread(false).unwrap();
    assert!(path.ends_with(b"/empty") || path.ends_with(b"/d plain"), "{reason}");
    assert_eq!(outcome.clean().len(), live_tree(tree.path()).len() - 2);
}

#[test]
fn sizes_that_are_left_out_are_zero_and_devices_are_inherited() {
    let outcome = export(
        r#"[{"name":"/","dev":7,"asize":1},{"name":"f"},[{"name":"d","dev":8,"dsize":513},
        {"name":"g","dsize":512}],
        {"name":"h","ino":5,"hlnkc":true,"nlink":3}]"#,
    );
    let all: Vec<_> = outcome
        .entries
        .iter()
        .map(|e| (e.size.unwrap(), e.blocks.unwrap(), e.device.unwrap(), e.inode, e.links))
        .collect();
    let expected = [
        (1, 0, 7, None, None),
        (0, 0, 7, None, None),
        (0, 2, 8, None, None),
        (0, 1, 8, None, None),
        (0, 0, 7, Some(5), Some(3)),
    ];
    assert_eq!(all, expected);
    assert_eq!(paths(&outcome), ["/", "/f", "/d", "/d/g", "/h"]);
}

#[test]
fn the_kind_comes_from_the_array_the_mode_or_notreg() {
    let outcome = export(
        r#"[{"name":"/r","mode":420},{"name":"a"},{"name":"b","notreg":true},
        {"name":"c","notreg":true,"mode":41471},
        {"name":"d","mode":4516,"notreg":false},{"name":"e","read_error":true},
        {"name":"f","excluded":"othfs","mode":16877},
        {"name":"g","excluded":"pattern"},[{"name":"h","excluded":"kernfs","dev":26}]]"#,
    );
    let kinds: Vec<Option<EntryKind>> = outcome.entries.iter().map(|entry| entry.kind).collect();
    let directory = Some(Directory);
    assert_eq!(kinds, [directory, Some(File), None, Some(Link), Some(Fifo), None, directory, directory]);
    assert_eq!((outcome.tally.unread, outcome.tally.excluded), (1, 3));
    assert_eq!((outcome.entries[7].device, outcome.entries[7].size), (Some(26), None));
}

#[test]
fn escapes_and_raw_bytes_become_the_bytes_of_the_name() {
    let dump = [
        HEAD.as_bytes(),
        b"[{\"name\":\"/\\u0001\\n\\\"\\\\\\/\\u007f\xff\xc3\\u20ac\\ud83e\\udd80\\b\\f\\r\\t\"}]]",
    ]
    .concat();
    let entries = read(&dump).clean();
    assert_eq!(
        entries[0].path,
        "/\u{1}\n\"\\/\u{7f}"
            .bytes()
            .chain(*b"\xff\xc3\xe2\x82\xac\xf0\x9f\xa6\x80\x08\x0c\r\t")
            .collect::<Vec<_>>()
    );
}

#[test]
fn unknown_keys_and_what_follows_the_directory_are_read_over() {
    let outcome = export(
        r#"[{"x":{"y":[1,{"z":"}]\""}],"t":[true,null,-1.5e3]},"name":"/r","w":[[],{}]},
        {"q":"","name":"a"}], [1,{"name":"no"}], 7"#,
    );
    assert_eq!(outcome.tally.complete, Some(true));
    assert_eq!(outcome.clean().len(), 2);
}

#[test]
fn numbers_that_do_not_fit_are_bad_rows_and_their_directory_stays() {
    for (value, reason) in [
        (r#""asize":18446744073709551616"#, "asize"),
        (r#""dsize":-1"#, "dsize"),
        (r#""uid":4294967296"#, "uid"),
        (r#""mode":1e3"#, "mode"),
        (r#""mtime":9223372036854775808"#, "mtime"),
        (r#""mtime":-18446744073709551614"#, "mtime"),
        (r#""ino":"7""#, "ino"),
        (r#""gid":1.5"#, "gid"),
        (r#""nlink":[]"#, "nlink"),
        (r#""mtime":null"#, "mtime"),
    ] {
        let outcome = export(&format!(
            r#"[{{"name":"/r"}},[{{"name":"d",{value}}},{{"name":"f"}}],{{{value},"name":"g"}}]"#
        ));
        assert_eq!(paths(&outcome), ["/r", "/r/d/f"]);
        assert_eq!((outcome.tally.bad, outcome.tally.complete), (2, Some(true)));
        assert!(outcome.first_reason().starts_with(reason), "{}", outcome.first_reason());
        let first = outcome.tally.first_bad.unwrap();
        assert_eq!((first.offset, first.text.as_slice()), (HEAD.len() as u64 + 16, b"d".as_slice()));
    }
}

#[test]
fn times_before_1970_and_fractions_are_read() {
    let entries = export(
        r#"[{"name":"/r","mtime":-2},{"name":"a","mtime":1.25},{"name":"b","mtime":-0.5},
        {"name":"c","mtime":18446744073709551614}]"#,
    )
    .clean();
    let times: Vec<i64> = entries.iter().filter_map(|entry| entry.mtime).collect();
    assert_eq!(times, [-2_000_000_000, 1_250_000_000, -500_000_000, -2_000_000_000]);
}

#[test]
fn names_that_are_none_are_bad_rows_as_are_the_entries_below() {
    for name in [
        r#""x":1"#,
        r#""name":"""#,
        r#""name":"a/b""#,
        r#""name":"..""#,
        r#""name":"\u0000""#,
        r#""name":7"#,
        r#""name":"\q""#,
        r#""name":"\ud800x""#,
        r#""name":"\ud800\"x""#,
    ] {
        let outcome = export(&format!(
            r#"[{{"name":"/r"}},[{{{name}}},{{"name":"in"}},[{{"name":"deep"}}]],{{"name":"after"}}]"#
        ));
        assert_eq!(paths(&outcome), ["/r", "/r/after"], "{name}");
        assert_eq!(outcome.tally.bad, 3);
    }
    for long in ["n".repeat((1 << 20) + 1), "\\n".repeat((1 << 20) + 1)] {
        let outcome = export(&format!(r#"[{{"name":"/r"}},{{"name":"{long}"}},{{"name":"after"}}]"#));
        assert_eq!((outcome.tally.bad, outcome.entries.len()), (1, 2));
        assert_eq!(outcome.tally.first_bad.unwrap().text.len(), 80);
    }
}

#[test]
fn a_path_is_not_longer_than_16_mebibytes() {
    let name = "n".repeat(1 << 20);
    let levels = format!(",[{{\"name\":\"{name}\"}}").repeat(20);
    let outcome = export(&format!("[{{\"name\":\"/\"}}{levels}{}", "]".repeat(21)));
    assert_eq!((outcome.tally.bad, outcome.entries.len(), outcome.tally.complete), (5, 16, Some(true)));
    assert_eq!(outcome.first_reason(), "the path is longer than 16 MiB");
}

#[test]
fn damage_names_its_byte_and_keeps_what_was_read() {
    let outcome = export(r#"[{"name":"/r"},{"name":"a"} {"name":"b"}]"#);
    assert_eq!(paths(&outcome), ["/r", "/r/a"]);
    assert_eq!(outcome.tally.complete, Some(false));
    let at = HEAD.len() + 28;
    assert_eq!(
        outcome.error.unwrap(),
        format!("byte {at}: expected a comma or the end of the directory, found '{{'")
    );
    let outcome = read(b"[2,0,{},[{\"name\":\"/\"}]]");
    assert!(outcome.error.unwrap().starts_with("byte 1: the version of the export is not 1"));
    let outcome = read(format!("{HEAD}[{{\"name\":\"/\"}}]]\n[").as_bytes());
    assert_eq!((outcome.tally.bad, outcome.tally.complete), (1, Some(true)));
}

#[test]
fn a_cut_export_gives_its_first_entries_and_is_not_complete() {
    let mut random = Rng::with_seed(5);
    let (dump, entries) = random_export(&mut random, 20);
    let whole = read(&dump);
    assert_eq!(whole.entries, entries);
    for length in 0..dump.len() - 1 {
        let outcome = read(&dump[..length]);
        assert_eq!((outcome.tally.complete, outcome.tally.truncated), (Some(false), true), "{length}");
        assert_eq!((outcome.error, outcome.tally.bad), (None, 0));
        assert_eq!(outcome.entries, whole.entries[..outcome.entries.len()]);
    }
}

#[test]
fn a_tree_of_a_million_levels_is_read() {
    let depth = 1_000_000;
    let dump =
        format!("{HEAD}[{{\"name\":\"/\"}}{}{}]", ",[{\"name\":\"d\"}".repeat(depth), "]".repeat(depth + 1));
    let (mut count, mut longest, mut tally) = (0, 0, DumpTally::default());
    let result = NcduDump::new().read(&mut dump.as_bytes(), &mut tally, &mut |entry| {
        count += 1;
        longest = longest.max(entry.path.len());
        ControlFlow::Continue(())
    });
    result.unwrap();
    assert_eq!((count, longest, tally.complete), (depth + 1, 2 * depth, Some(true)));
    let unknown = format!("{HEAD}[{{\"x\":{}{},\"name\":\"/\"}}]]", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(read(unknown.as_bytes()).clean().len(), 1);
}

#[test]
fn a_visitor_that_stops_ends_the_reading() {
    let dump = format!("{HEAD}[{{\"name\":\"/\"}},{{\"name\":\"a\"}},{{\"name\":\"b\"}}]]");
    let (mut count, mut tally) = (0, DumpTally::default());
    let result = NcduDump::new().read(&mut dump.as_bytes(), &mut tally, &mut |_| {
        count += 1;
        if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(result.is_ok() && count == 2 && !tally.truncated && tally.complete.is_none());
}

/// An export of a random tree as ncdu writes it, and its entries.
fn random_export(random: &mut Rng, count: usize) -> (Vec<u8>, Vec<EntryCopy>) {
    let mut dump = HEAD.as_bytes().to_vec();
    let root = EntryCopy { device: Some(3), ..random_entry(random, b"/r".to_vec(), Directory) };
    write_entry(&mut dump, &root, b"/r", None, random);
    let (mut open, mut entries) = (vec![root.clone()], vec![root]);
    for _ in 0..count {
        while open.len() > 1 && random.u8(..3) == 0 {
            open.pop();
            dump.extend(b"]");
        }
        let kind = [Directory, File, Link][random.usize(..3)];
        let parent = open.last().unwrap();
        let name = random_name(random);
        let path = [&parent.path, b"/".as_slice(), &name].concat();
        let mut entry = random_entry(random, path, kind);
        entry.device = if random.u8(..4) == 0 { Some(random.u64(..)) } else { parent.device };
        dump.extend(if random.bool() { b",".as_slice() } else { b"\n ,\t" });
        write_entry(&mut dump, &entry, &name, parent.device, random);
        entries.push(entry.clone());
        if kind == Directory {
            open.push(entry);
        }
    }
    dump.extend(b"]".repeat(open.len() + 1));
    (dump, entries)
}

fn random_entry(random: &mut Rng, path: Vec<u8>, kind: EntryKind) -> EntryCopy {
    let type_bits = match kind {
        Directory => 0o040_000,
        Link => 0o120_000,
        _ => 0o100_000,
    };
    EntryCopy {
        size: Some(if random.bool() { 0 } else { random.u64(..) }),
        blocks: Some(if random.bool() { 0 } else { random.u64(..1 << 50) }),
        mode: Some(type_bits | random.u32(..0o10_000)),
        uid: random.bool().then(|| random.u32(..)),
        mtime: random.bool().then(|| random.i64(-5_000_000_000..5_000_000_000) * 1_000_000_000),
        inode: random.bool().then(|| random.u64(..)),
        links: random.bool().then(|| random.u64(..)),
        ..EntryCopy::named(&path, Some(kind))
    }
}

fn write_entry(dump: &mut Vec<u8>, entry: &EntryCopy, name: &[u8], inherited: Option<u64>, random: &mut Rng) {
    if entry.kind == Some(Directory) {
        dump.extend(b"[\n");
    }
    dump.extend(b"{\"name\":\"");
    for byte in name {
        match byte {
            b'"' | b'\\' => dump.extend([b'\\', *byte]),
            0..32 | 127 => dump.extend(format!("\\u00{byte:02x}").bytes()),
            _ => dump.push(*byte),
        }
    }
    dump.push(b'"');
    let mut rest = String::new();
    let mut number = |key: &str, value: Option<i128>| {
        if let Some(value) = value {
            let blank = if random.bool() { "" } else { " " };
            write!(rest, ",{blank}\"{key}\":{blank}{value}").unwrap();
        }
    };
    number("asize", entry.size.filter(|size| *size > 0).map(i128::from));
    number("dsize", entry.blocks.filter(|blocks| *blocks > 0).map(|blocks| i128::from(blocks) * 512));
    number("dev", entry.device.filter(|_| entry.device != inherited).map(i128::from));
    number("mode", entry.mode.map(i128::from));
    number("uid", entry.uid.map(i128::from));
    number("mtime", entry.mtime.map(|time| i128::from(time / 1_000_000_000)));
    number("ino", entry.inode.map(i128::from));
    number("nlink", entry.links.map(i128::from));
    dump.extend(rest.bytes());
    dump.extend(if entry.kind == Some(Link) { b",\"notreg\":true}".as_slice() } else { b"}" });
}

#[test]
fn random_trees_are_read_as_they_were_written_through_buffers_of_any_size() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for round in 0..400 {
        let count = random.usize(..80);
        let (dump, entries) = random_export(&mut random, count);
        let outcome = read_by(&mut NcduDump::new(), &dump, round % 64 + 1);
        assert_eq!(outcome.tally.complete, Some(true));
        assert_eq!(outcome.clean(), entries, "seed {seed}");
    }
}

#[test]
fn mutations_of_exports_never_hurt() {
    let mut random = Rng::with_seed(1);
    let dumps: Vec<Vec<u8>> = (0..20).map(|count| random_export(&mut random, count).0).collect();
    survive_mutations(&dumps, |dump| {
        NcduDump::detect(dump);
        read(dump)
    });
}

#[test]
fn only_exports_are_detected() {
    assert!(NcduDump::detect(format!("{HEAD}[{{\"name\":\"/\"}}]]").as_bytes()));
    assert!(NcduDump::detect(b" [ 1 , 0 , { } , [ { \"asize\":1, \"name\":\"/\" } ,"));
    for other in [
        "",
        "[",
        "[1,2,3]",
        "[1,2,{\"a\":1}]",
        "[1,2,{},[1]]",
        "[1,2,{},[{\"x\":1}]]",
        "[2,0,{},[{\"name\":\"/\"}]]",
        "{}",
        "/a\n/b\n",
    ] {
        assert!(!NcduDump::detect(other.as_bytes()), "{other}");
    }
}
