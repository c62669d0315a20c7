use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use fastrand::Rng;

use super::MtreeDump;
use super::vis::unescape;
use crate::record::dump::sequential_testing::*;
use crate::record::dump::{DumpTally, ReadDump};
use crate::source::EntryKind::{self, Device, Directory, Fifo, File, Link, Socket};

fn read(bytes: &[u8]) -> DumpOutcome {
    read_all(&mut MtreeDump::new(), bytes)
}

fn paths(outcome: &DumpOutcome) -> Vec<String> {
    outcome.entries.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect()
}

/// The live tree as a specification with all keywords describes it.
fn live(root: &Path) -> Vec<EntryCopy> {
    let all = live_tree(root).into_iter().map(|live| EntryCopy {
        path: [&b"."[..], &live.path[root.as_os_str().len()..]].concat(),
        mode: live.mode.map(|mode| mode & 0o7777),
        blocks: None,
        atime: None,
        ctime: None,
        size: live.size.filter(|_| live.kind == Some(File)),
        ..live
    });
    let mut all: Vec<EntryCopy> = all.collect();
    all.sort_by(|one, two| one.path.cmp(&two.path));
    all
}

#[test]
fn specifications_of_mtree_equal_the_live_tree() {
    let tree = hostile_tree();
    let keys = "type,mode,uid,gid,size,time,nlink,link";
    let create = |options: &[&str]| {
        output_of(Command::new("mtree").args(["-c", "-k", keys]).args(options).arg("-p").arg(tree.path()))
    };
    let Some(dump) = create(&[]) else { return };
    assert!(MtreeDump::detect(&dump));
    // mtree leaves the number of links out where it equals the default.
    let check = |dump: &[u8]| {
        let live = live(tree.path()).into_iter();
        let expected: Vec<EntryCopy> =
            live.map(|live| EntryCopy { inode: None, device: None, ..live }).collect();
        let mut entries = sorted(read(dump).clean());
        for (entry, live) in entries.iter_mut().zip(&expected) {
            entry.links = entry.links.or(live.links);
        }
        assert_equal(&entries, &expected);
    };
    check(&dump);
    // mtree itself misreads its comments if a path contains the end of a line.
    std::fs::remove_dir_all(tree.path().join("d new\nline")).unwrap();
    let file = tree.path().with_extension("mtree");
    std::fs::write(&file, create(&[]).unwrap()).unwrap();
    for form in ["-C", "-D"] {
        check(&output_of(Command::new("mtree").args([form, "-f"]).arg(&file)).unwrap());
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn specifications_of_bsdtar_equal_the_live_tree() {
    let tree = hostile_tree();
    let create = |format: &str| {
        let mut command = Command::new("bsdtar");
        command.args(["-c", "-f", "-", "--format", format, "--options"]);
        command.arg("mtree:all").arg("-C").arg(tree.path()).arg(".");
        output_of(&mut command)
    };
    let (Some(dump), Some(classic)) = (create("mtree"), create("mtree-classic")) else { return };
    assert!(MtreeDump::detect(&dump) && MtreeDump::detect(&classic));
    // bsdtar writes the number of links only for files with several.
    let expected: Vec<EntryCopy> =
        live(tree.path()).into_iter().map(|live| EntryCopy { links: None, ..live }).collect();
    let plain = |mut entry: EntryCopy| {
        assert_eq!(
            (entry.owner.take(), entry.group.take()),
            (Some(b"root".to_vec()), Some(b"root".to_vec()))
        );
        EntryCopy { links: None, ..entry }
    };
    let entries: Vec<EntryCopy> = sorted(read(&dump).clean()).into_iter().map(plain).collect();
    assert_equal(&entries, &expected);
    let entries: Vec<EntryCopy> = sorted(read(&classic).clean()).into_iter().map(plain).collect();
    assert_equal(&entries, &expected);
}

#[test]
fn a_specification_of_bsd_is_read() {
    let outcome = read(
        b"#  $Id$\n\n/set type=dir uname=root gname=wheel mode=0755\n.\n    bin\n    ..\n    boot  \
        mode=0700 \\\nuid=7\n        defaults\n        ..\n        loader \
        type=file size=12 nlink=0x2 # comment ./x\n    ..\n\
        /unset uname mode\n\tvar\r\n ..\n..\n",
    );
    let entries = outcome.clean();
    let entry = |path: &str| EntryCopy {
        owner: Some(b"root".to_vec()),
        group: Some(b"wheel".to_vec()),
        mode: Some(0o755),
        ..EntryCopy::named(path.as_bytes(), Some(Directory))
    };
    let boot = EntryCopy { mode: Some(0o700), uid: Some(7), ..entry("./boot") };
    let loader = EntryCopy { kind: Some(File), size: Some(12), links: Some(2), ..entry("./boot/loader") };
    let var = EntryCopy { owner: None, mode: None, ..entry("./var") };
    assert_eq!(entries, [entry("."), entry("./bin"), boot, entry("./boot/defaults"), loader, var]);
}

#[test]
fn the_part_after_the_point_of_a_time_is_a_number_of_nanoseconds() {
    let outcome = read(
        b"a time=1.5\nb time=1.500000000\nc time=-2.000000007\n\
        d time=9\ne time=1.\nf time=1.1000000000\ng time=x\n",
    );
    let times: Vec<i64> = outcome.entries.iter().filter_map(|entry| entry.mtime).collect();
    assert_eq!(times, [1_000_000_005, 1_500_000_000, -1_999_999_993, 9_000_000_000]);
    assert_eq!((outcome.tally.bad, outcome.first_reason()), (3, "time is not SECONDS.NANOSECONDS"));
}

#[test]
fn all_types_are_known_and_others_are_guessed() {
    let outcome = read(
        b"/set type=file\n1 type=dir\n..\n2 type=link link=a\\sb\n3 type=fifo\n4 type=socket\n\
        5 type=char\n6 type=block\n7\n8 type=door\n",
    );
    let kinds: Vec<Option<EntryKind>> = outcome.entries.iter().map(|entry| entry.kind).collect();
    let expected = [Directory, Link, Fifo, Socket, Device, Device, File].map(Some);
    assert_eq!((&kinds[..7], kinds[7]), (expected.as_slice(), None));
    assert_eq!(outcome.entries[1].target.as_deref(), Some(b"a b".as_slice()));
    assert_eq!((outcome.tally.guessed, outcome.tally.bad), (1, 0));
}

#[test]
fn full_paths_and_relative_entries_do_not_disturb_each_other() {
    let outcome = read(b". type=dir\na type=dir\n./x/y/z\nb\nx//./w/ type=dir\nc\n..\nd\n");
    assert_eq!(paths(&outcome), [".", "./a", "./x/y/z", "./a/b", "./x/w", "./a/c", "./d"]);
    let outcome = read(b"type=file uid=3 ./a=b/c\nmode=0755 .\nuid=7\n");
    assert_eq!(paths(&outcome), ["./a=b/c", ".", "./uid=7"]);
    assert_eq!((outcome.entries[0].uid, outcome.entries[1].mode), (Some(3), Some(0o755)));
}

#[test]
fn names_that_are_none_are_bad_rows_as_are_the_entries_below() {
    let outcome = read(
        b"good\n\\000 type=dir\nlost\ndeep type=dir\nlost\n..\n\
        ..\na\\057b\n./a/../b\n/sett type=file\n..\n\\056\\056\nlast\n",
    );
    assert_eq!(paths(&outcome), ["./good", "./last"]);
    assert_eq!((outcome.tally.bad, outcome.tally.truncated), (9, false));
}

#[test]
fn numbers_that_do_not_fit_are_bad_rows_and_their_directory_stays() {
    for (keyword, reason) in [
        ("size=18446744073709551616", "size"),
        ("size=-1", "size"),
        ("uid=4294967296", "uid"),
        ("gid=", "gid"),
        ("mode=0999", "mode"),
        ("mode=77777777777777", "mode"),
        ("nlink=x", "nlink"),
        ("inode=1.5", "inode"),
        ("resdevice=native,1", "resdevice"),
        ("time=9223372036854775808.0", "time"),
    ] {
        let outcome =
            read(format!("#mtree\nd type=dir {keyword}\nf\n..\ng type=door {keyword} uid=q\n").as_bytes());
        assert_eq!((paths(&outcome), outcome.tally.bad), (vec!["./d/f".to_owned()], 2), "{keyword}");
        let first = outcome.tally.first_bad.unwrap();
        assert!(first.offset == 7 && first.reason.starts_with(reason), "{first:?}");
    }
    let outcome = read(b"/set uid=-1 gid=5\na\n");
    assert_eq!((outcome.tally.bad, outcome.entries[0].uid, outcome.entries[0].gid), (1, None, Some(5)));
}

#[test]
fn devices_of_linux_are_combined_and_others_left_out() {
    let outcome = read(
        b"a resdevice=native,254,0\nb resdevice=65024\nc resdevice=0xfe00\n\
        d resdevice=freebsd,1,2\ne resdevice=linux,4660,1193046 mode=u=rw\n",
    );
    let devices: Vec<Option<u64>> = outcome.entries.iter().map(|entry| entry.device).collect();
    assert_eq!(devices, [Some(65024), Some(65024), Some(65024), None, Some(0x1001_2342_3456)]);
}

#[test]
fn escapes_become_bytes() {
    let cases: [(&[u8], &[u8]); 10] = [
        (b"\\040\\377\\7x\\18", b" \xff\x07x\x018"),
        (b"\\s\\t\\n\\a\\b\\v\\f\\r\\E\\\\\\#", b" \t\n\x07\x08\x0b\x0c\r\x1b\\#"),
        (b"\\^A\\^?\\^\\", b"\x01\x7f\x1c"),
        (b"\\M-i\\M^@\\M^?\\M-\\", b"\xe9\x80\xff\xdc"),
        (b"\\x4a\\x0", b"J\\x0"),
        (b"\\q", b"\\q"),
        (b"\\400", b"\\400"),
        (b"end\\", b"end\\"),
        (b"\\M", b"\\M"),
        (b"plain", b"plain"),
    ];
    for (text, expected) in cases {
        let mut bytes = Vec::new();
        let known = unescape(text, &mut bytes);
        assert_eq!((bytes.as_slice(), known), (expected, !expected.contains(&b'\\') || text.len() > 14));
    }
    let outcome = read(b"a\\q uname=x\\y\n");
    assert_eq!((paths(&outcome), outcome.tally.guessed), (vec!["./a\\q".to_owned()], 1));
}

#[test]
fn lines_are_joined_unless_the_backslash_belongs_to_an_escape() {
    let outcome = read(b"./a \\\n  uid=1 \\\r\n gid=2\nb\\\\\nc\\^\\\nd\\M^\\\ne\\\nf\n# comment \\\ng\n");
    assert_eq!(paths(&outcome), ["./a", "./b\\", "./c\u{1c}", "./d\u{fffd}", "./ef", "./g"]);
    assert_eq!((outcome.entries[0].uid, outcome.entries[0].gid), (Some(1), Some(2)));
    let outcome = read(b"./a\\M-\\\\\\\nb\\M-\\\\\n uid=3\nc\\\\M-\\\n uid=4\n");
    let expected: [&[u8]; 3] = [b"./a\xdc\\", b"./b\xdc", b"./c\\M-"];
    assert_eq!(outcome.entries.iter().map(|entry| entry.path.as_slice()).collect::<Vec<_>>(), expected);
}

#[test]
fn comments_of_mtree_with_the_end_of_a_line_in_a_path_are_no_entries() {
    let outcome = read(
        b"#mtree\n\n# .\n/set type=file\n. type=dir\n    a size=1\n\n# ./new\n..\n#x\n\
        /set uid=1\nnew\\n..\\n\\#x type=dir\n\
        b\n# ./new\n..\n#x\n..\n\n..\n",
    );
    assert_eq!(paths(&outcome), [".", "./a", "./new\n..\n#x", "./new\n..\n#x/b"]);
    assert_eq!(outcome.clean()[3].uid, Some(1));
    let person = read(b"#mtree\n# ./a comment\nb\nc\n");
    assert_eq!(paths(&person), ["./b", "./c"]);
    let lost = read(format!("# .\n# ./lost\n{}last\n", "x\n".repeat(40_000)).as_bytes());
    assert_eq!((lost.tally.bad, lost.entries.len()), (1, 40_000 + 1 - 2048));
    assert_eq!(lost.tally.first_bad.unwrap().offset, 4);
}

#[test]
fn long_lines_are_bad_rows() {
    let long = "x".repeat((1 << 20) + 1);
    let half = "y".repeat(600_000);
    let outcome = read(format!("a\n{long}\nb\n{half}\\\n{half}\nc\n").as_bytes());
    assert_eq!((paths(&outcome), outcome.tally.bad), (vec!["./a".into(), "./b".into(), "./c".into()], 2));
    assert_eq!(outcome.tally.first_bad.unwrap().text.len(), 80);
}

#[test]
fn a_specification_that_ends_in_a_line_or_in_a_directory_is_truncated() {
    for (dump, entries, truncated) in [
        ("a\nb size=1", 1, true),
        ("a\nb \\\n", 1, true),
        ("a\n# end", 1, false),
        ("a\n  ", 1, false),
        (". type=dir\na type=dir\n..\n", 2, false),
        ("# .\n. type=dir\na type=dir\nb\n", 3, true),
        (". type=dir\na type=dir\nb\n", 3, false),
        ("", 0, false),
    ] {
        let outcome = read(dump.as_bytes());
        assert_eq!((outcome.entries.len(), outcome.tally.truncated), (entries, truncated), "{dump}");
        assert_eq!((outcome.error, outcome.tally.bad), (None, 0));
    }
}

#[test]
fn a_tree_of_many_levels_is_read() {
    let depth = 300_000;
    let dump = "d type=dir\n".repeat(depth);
    let (mut longest, mut tally) = (0, DumpTally::default());
    MtreeDump::new()
        .read(&mut dump.as_bytes(), &mut tally, &mut |entry| {
            longest = longest.max(entry.path.len());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((longest, tally.bad), (2 * depth + 1, 0));
}

#[test]
fn a_visitor_that_stops_ends_the_reading() {
    let mut count = 0;
    let result = MtreeDump::new().read(&mut b"a\nb\nc\n".as_slice(), &mut DumpTally::default(), &mut |_| {
        count += 1;
        ControlFlow::Break(())
    });
    assert!(result.is_ok() && count == 1);
}

/// Writes `text` with random escapes.
fn escape(text: &[u8], random: &mut Rng) -> String {
    let mut escaped = String::new();
    for byte in text {
        match byte {
            b'\n' if random.bool() => escaped.push_str("\\n"),
            b' ' if random.bool() => escaped.push_str("\\s"),
            b'\\' if random.bool() => escaped.push_str("\\\\"),
            b'#' if random.bool() => escaped.push_str("\\#"),
            1..27 if random.bool() => write!(escaped, "\\^{}", char::from(byte + 64)).unwrap(),
            0xa1..=0xfe if random.bool() => write!(escaped, "\\M-{}", char::from(byte - 128)).unwrap(),
            b'!'..=b'~' if !matches!(byte, b'\\' | b'#' | b'/') => escaped.push(char::from(*byte)),
            _ => write!(escaped, "\\{byte:03o}").unwrap(),
        }
    }
    escaped
}

/// A random specification and its entries.
fn random_specification(random: &mut Rng, count: usize) -> (Vec<u8>, Vec<EntryCopy>) {
    let mut dump = "#mtree\n/set type=file uid=0 gname=staff\n. type=dir\n".to_owned();
    let set = EntryCopy { uid: Some(0), group: Some(b"staff".to_vec()), ..EntryCopy::default() };
    let mut entries = vec![EntryCopy { kind: Some(Directory), path: b".".to_vec(), ..set.clone() }];
    let mut open = vec![b".".to_vec()];
    for _ in 0..count {
        while open.len() > 1 && random.u8(..3) == 0 {
            open.pop();
            dump.push_str("..\n");
        }
        let (kind, word) = [(Directory, "dir"), (File, "file"), (Link, "link")][random.usize(..3)];
        let name = random_name(random);
        let full = random.u8(..4) == 0;
        let directory = if full { b"./full/x".to_vec() } else { open.last().unwrap().clone() };
        let path = [&directory, b"/".as_slice(), &name].concat();
        let mut entry = EntryCopy { kind: Some(kind), path: path.clone(), ..set.clone() };
        let escaped = escape(&name, random);
        write!(dump, "{}{escaped} type={word}", if full { "./full/x/" } else { " " }).unwrap();
        if random.bool() {
            (entry.size, entry.mode) = (Some(random.u64(..)), Some(random.u32(..0o10_000)));
            write!(dump, " \\\n size={} mode=0{:o} sha256=00", entry.size.unwrap(), entry.mode.unwrap())
                .unwrap();
        }
        if random.bool() {
            let (seconds, nanos) = (
                random.i64(-5_000_000_000..5_000_000_000),
                random.i64(..1_000_000_000).abs() % 1_000_000_000,
            );
            entry.mtime = Some(seconds * 1_000_000_000 + nanos);
            write!(dump, "\ttime={seconds}.{nanos:09} optional").unwrap();
        }
        if kind == Link {
            entry.target = Some(random_name(random));
            write!(dump, " link={}", escape(entry.target.as_ref().unwrap(), random)).unwrap();
        }
        dump.push('\n');
        entries.push(entry);
        if kind == Directory && !full {
            open.push(path);
        }
    }
    dump.push_str(&"..\n".repeat(open.len()));
    (dump.into_bytes(), entries)
}

#[test]
fn random_specifications_are_read_as_they_were_written_through_buffers_of_any_size() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for round in 0..500 {
        let count = random.usize(..60);
        let (dump, entries) = random_specification(&mut random, count);
        assert_eq!(read_by(&mut MtreeDump::new(), &dump, round % 64 + 1).clean(), entries, "seed {seed}");
    }
}

#[test]
fn mutations_of_specifications_never_hurt() {
    let mut random = Rng::with_seed(1);
    let dumps: Vec<Vec<u8>> = (0..20).map(|count| random_specification(&mut random, count).0).collect();
    survive_mutations(&dumps, |dump| {
        MtreeDump::detect(dump);
        read(dump)
    });
}

#[test]
fn only_specifications_are_detected() {
    for certain in [
        "#mtree\n",
        "#mtree v2.0\r\n. type=dir",
        "\n# x\n/set type=file uid=0\n",
        "/set uname=root \\\n gname=wheel\n",
    ] {
        assert!(MtreeDump::detect(certain.as_bytes()), "{certain}");
    }
    for other in [
        "",
        "#",
        "#mtreeish\n",
        "/set\n",
        "/set type\n",
        "/settings/a=b\n/x\n",
        "/set type=file",
        "/data/a\n/data/b\n",
        "# user\n/a\n",
    ] {
        assert!(!MtreeDump::detect(other.as_bytes()), "{other}");
    }
}
