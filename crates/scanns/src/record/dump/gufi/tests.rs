use super::*;
use crate::record::dump::testing::*;
use crate::source::EntryKind;

const NEW: GufiTrace = GufiTrace::new();
const OLD: GufiTrace = GufiTrace { separator: GufiTrace::SEPARATOR, old: true };
const PIPE: GufiTrace = GufiTrace { separator: b'|', old: false };

/// The texts of a row that the entry does not hold.
#[derive(Clone, Default)]
struct Extra {
    xattrs: Vec<(Vec<u8>, Vec<u8>)>,
    osstexts: [Vec<u8>; 2],
}

fn kind_letter(entry: &OwnedEntry) -> &'static [u8] {
    match entry.kind {
        Some(EntryKind::Directory) => b"d",
        Some(EntryKind::Link) => b"l",
        _ => b"f",
    }
}

/// Writes a row as GUFI does.
fn write(trace: GufiTrace, entry: &OwnedEntry, extra: &Extra) -> Vec<u8> {
    let text = |text: &[u8]| {
        let length = if trace.old { String::new() } else { format!("{:04x}", text.len()) };
        [length.as_bytes(), text].concat()
    };
    let mut pairs: Vec<u8> = Vec::new();
    for (name, value) in &extra.xattrs {
        pairs.extend([name, &b"\x1f"[..], value, b"\x1f"].concat());
    }
    if !trace.old {
        let lengths = format!("{:04x}{:04x}", pairs.len() + 4, extra.xattrs.len());
        pairs.splice(0..0, lengths.into_bytes());
    }
    let number = |number: u64| number.to_string().into_bytes();
    let second = |time: usize| (entry.times[time].unwrap_or(0) / 1_000_000_000).to_string().into_bytes();
    let columns = [
        text(&entry.path),
        kind_letter(entry).to_vec(),
        number(entry.inode.unwrap()),
        number(entry.ids[MODE].unwrap().into()),
        number(entry.links.unwrap()),
        number(entry.ids[UID].unwrap().into()),
        number(entry.ids[GID].unwrap().into()),
        number(entry.size.unwrap()),
        number(4096),
        number(entry.blocks.unwrap()),
        second(ATIME),
        second(MTIME),
        second(CTIME),
        text(entry.target.as_deref().unwrap_or_default()),
        pairs,
        second(BTIME),
        number(1),
        b"-2".to_vec(),
        number(3),
        number(4),
        text(&extra.osstexts[0]),
        text(&extra.osstexts[1]),
        number(77),
    ];
    let mut row: Vec<u8> =
        columns.iter().flat_map(|column| [&column[..], &[trace.separator]].concat()).collect();
    row.push(b'\n');
    row
}

/// A random entry whose texts have none of the bytes `never`.
fn entry(random: &mut fastrand::Rng, never: &[u8]) -> OwnedEntry {
    let bits = *random.choice(&[0o100_000, 0o040_000, 0o120_000, 0o010_000, 0o140_000, 0o060_000]).unwrap();
    let mode = bits | random.u32(0..0o10000);
    let mut time = || Some(any_second(random) * 1_000_000_000);
    let times = [time(), time(), time(), time().filter(|time| *time != 0)];
    let kind = EntryKind::of_mode(mode);
    OwnedEntry {
        path: hostile_path(random, never),
        kind,
        target: (kind == Some(EntryKind::Link)).then(|| hostile_text(random, 30, never)),
        times,
        size: Some(any_number(random)),
        blocks: Some(any_number(random)),
        ids: [Some(random.u32(..)), Some(random.u32(..) >> 16), Some(mode)],
        inode: Some(any_number(random)),
        links: Some(any_number(random)),
        ..OwnedEntry::default()
    }
}

fn extra(random: &mut fastrand::Rng, never: &[u8]) -> Extra {
    let in_pairs = [never, b"\x1f"].concat();
    let pair =
        |random: &mut fastrand::Rng| (hostile_text(random, 9, &in_pairs), hostile_text(random, 9, &in_pairs));
    Extra {
        xattrs: (0..random.usize(0..3)).map(|_| pair(random)).collect(),
        osstexts: [hostile_text(random, 5, never), hostile_text(random, 5, never)],
    }
}

/// The entry and its other texts without line feeds behind a separator, which end a row of the old format.
fn without_row_ends(entry: &mut OwnedEntry, extra: &mut Extra) {
    let texts = entry.target.iter_mut().chain(&mut extra.osstexts);
    for text in texts.chain(extra.xattrs.iter_mut().map(|pair| &mut pair.0)) {
        if text.first() == Some(&b'\n') {
            text.remove(0);
            text.insert(0, b'n');
        }
    }
}

fn random_dump(trace: GufiTrace, random: &mut fastrand::Rng, rows: usize) -> (Vec<OwnedEntry>, Vec<u8>) {
    let never = if trace.old { &[GufiTrace::SEPARATOR][..] } else { &[] };
    let mut entries: Vec<OwnedEntry> = (0..rows).map(|_| entry(random, never)).collect();
    let mut dump = Vec::new();
    for entry in &mut entries {
        let mut extra = extra(random, never);
        if trace.old {
            without_row_ends(entry, &mut extra);
        }
        dump.extend(write(trace, entry, &extra));
        if random.u8(0..10) == 0 {
            let length = if trace.old { "" } else { "0007" };
            dump.extend(
                [length.as_bytes(), b"/e/db.1", &[trace.separator], b"e", &[trace.separator, b'\n']].concat(),
            );
        }
    }
    (entries, dump)
}

fn golden(row: &[u8], trace: GufiTrace) {
    let row: Vec<u8> = row.iter().map(|byte| if *byte == b'|' { trace.separator } else { *byte }).collect();
    let (entries, tally) = read_whole(&trace, &row);
    let expected = OwnedEntry {
        path: b"name".to_vec(),
        kind: Some(EntryKind::Link),
        target: Some(b"link".to_vec()),
        times: [0x5678, 0x1234, -5, 0x9abd].map(|second| Some(second * 1_000_000_000)),
        size: Some(4096),
        blocks: Some(8),
        ids: [Some(1001), Some(1002), Some(0o120_777)],
        inode: Some(0xfedc),
        links: Some(2048),
        ..OwnedEntry::default()
    };
    assert_eq!(entries, [expected]);
    assert_eq!(tally, DumpTally::default());
}

#[test]
fn every_column_of_a_row_of_both_formats_is_read() {
    let new = b"0004name|l|65244|41471|2048|1001|1002|4096|512|8|4660|22136|-5|0004link|\
        00300002xattr.key0\x1fxattr.val0\x1fxattr.key1\x1fxattr.val1\x1f|39613|1|2|3|4|0008osstext1|\
        0008osstext2|57072|\n";
    golden(new, NEW);
    golden(new, PIPE);
    let old = b"name|l|65244|41471|2048|1001|1002|4096|512|8|4660|22136|-5|link|\
        xattr.key0\x1fxattr.val0\x1fxattr.key1\x1fxattr.val1\x1f|39613|1|2|3|4|osstext1|osstext2|57072|\n";
    golden(old, OLD);
}

#[test]
fn random_traces_are_read_back_in_any_division() {
    let mut random = seeded();
    for trace in [NEW, OLD, PIPE, GufiTrace { separator: b'q', old: false }] {
        for _ in 0..150 {
            let (expected, dump) = random_dump(trace, &mut random, 12);
            let (entries, tally) = read_whole(&trace, &dump);
            assert_eq!(entries, expected, "{}", dump.escape_ascii());
            assert_eq!(tally, DumpTally::default());
            check_divisions(&trace, &dump, &mut random);
            check_stop(&trace, &dump, 5);
        }
    }
}

#[test]
fn damaged_traces_never_panic_and_give_the_same_in_any_division() {
    for trace in [NEW, OLD, PIPE] {
        let account = |dump: &[u8], entries: u64, tally: &DumpTally| {
            let rows = memmem::find_iter(dump, &trace.end()).count() as u64 + 1;
            assert!(entries + tally.bad <= rows, "{entries} {tally:?}");
            if trace.old {
                let databases = memmem::find_iter(dump, b"\x1ee\x1e\n").count() as u64;
                assert!(entries + tally.bad + databases + 1 >= rows);
            }
        };
        check_damage(&trace, &mut seeded(), &mut |random| random_dump(trace, random, 8).1, &account);
    }
}

#[test]
fn a_damaged_length_costs_one_row() {
    let mut random = fastrand::Rng::with_seed(1);
    for length in [&b"0000"[..], b"0003", b"00x4", b"ffff", b"0200"] {
        let (mut expected, _) = random_dump(NEW, &mut random, 9);
        let (mut dump, mut start) = (Vec::new(), 0);
        for (index, entry) in expected.iter_mut().enumerate() {
            entry.path = b"name".to_vec();
            start = if index == 4 { dump.len() } else { start };
            dump.extend(write(NEW, entry, &Extra::default()));
        }
        dump[start..start + 4].copy_from_slice(length);
        expected.remove(4);
        let (entries, tally) = read_whole(&NEW, &dump);
        assert_eq!(entries, expected, "{length:?}");
        assert_eq!((tally.bad, tally.guessed, tally.truncated), (1, 0, false));
        assert_eq!(tally.first_bad.unwrap().offset, start as u64);
        check_divisions(&NEW, &dump, &mut random);
    }
}

#[test]
fn a_trace_that_ends_inside_a_row_is_cut() {
    let mut random = fastrand::Rng::with_seed(2);
    for trace in [NEW, OLD] {
        let expected = [entry(&mut random, b"\x1e\n"), entry(&mut random, b"\x1e\n")];
        let first = write(trace, &expected[0], &Extra::default());
        let dump = [&first[..], &write(trace, &expected[1], &Extra::default())].concat();
        for length in first.len() + 1..dump.len() {
            let (entries, tally) = read_whole(&trace, &dump[..length]);
            let missing = dump.len() - length;
            // Without its line feed, the row is whole; without the separator, its last number may be cut.
            let (count, bad, truncated) = match missing {
                1 => (2, 0, false),
                2..=3 => (2, 0, true),
                _ => (1, 1, true),
            };
            assert_eq!((entries.len(), tally.bad, tally.truncated), (count, bad, truncated), "{missing}");
            assert_eq!(entries, expected[..count]);
        }
    }
}

#[test]
fn separators_in_a_name_of_the_old_format_are_guessed() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut expected = entry(&mut random, b"");
    expected.path = b"/a\x1ed\x1e\x1eb\n\x1ef".to_vec();
    let text = Extra { xattrs: vec![(b"k".to_vec(), b"v\x1ev".to_vec())], ..Extra::default() };
    expected.target = expected.target.map(|_| b"target".to_vec());
    let dump = write(OLD, &expected, &text);
    let (entries, tally) = read_whole(&OLD, &dump);
    assert_eq!(entries, [expected]);
    assert_eq!((tally.bad, tally.guessed), (0, 1));
    let short = [0x1e; 30];
    let (entries, tally) = read_whole(&OLD, &short);
    assert_eq!((entries.len(), tally.bad), (0, 1));
}

#[test]
fn attributes_that_end_before_their_length_are_guessed() {
    let row =
        |xattrs: &str| format!("0001d|d|1|16877|2|3|4|5|6|7|8|9|10|0000|{xattrs}|0|0|0|0|0|0000|0000|0|\n");
    let (entries, tally) = read_whole(&PIPE, row("00190001user.k\x1fvalue\x1f").as_bytes());
    assert_eq!((entries.len(), tally.bad, tally.guessed), (1, 0, 1));
    assert_eq!(entries[0].times[BTIME], None);
    let (entries, tally) = read_whole(&PIPE, row("00190002user.k\x1fvalue\x1f").as_bytes());
    assert_eq!((entries.len(), tally.bad, tally.guessed), (0, 1, 0));
}

#[test]
fn numbers_that_do_not_fit_are_bad_rows() {
    let row = |size: &str, uid: &str, kind: &str| {
        format!("0001d|{kind}|1|16877|2|{uid}|4|{size}|6|7|8|9|10|0000|00040000|0|0|0|0|0|0000|0000|0|\n")
    };
    let reason = |row: String| {
        let (entries, tally) = read_whole(&PIPE, row.as_bytes());
        assert_eq!((entries.len(), tally.bad), (0, 1));
        tally.first_bad.unwrap().reason
    };
    assert_eq!(reason(row("-1", "3", "d")), "column 8 (size) is not a number: '-1'");
    assert_eq!(
        reason(row("18446744073709551616", "3", "d")),
        "column 8 (size) is not a number: '18446744073709551616'"
    );
    assert_eq!(
        reason(row("1", "4294967296", "d")),
        "column 6 (uid) is not a number of 32 bits: '4294967296'"
    );
    assert_eq!(reason(row("1", "3", "t")), "column 2 (type) is not d, f, l or e: 't'");
}
