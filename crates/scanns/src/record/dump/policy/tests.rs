use super::*;
use crate::record::dump::DumpTally;
use crate::record::dump::testing::*;
use crate::source::EntryKind;

/// The columns of SHOW in the random dumps of these tests.
const COLUMNS: &str =
    "uid;gid;mode;size;ignored;blocks;links;mtime;atime;ctime;btime;pool;owner;group;project";

fn list(escaped: bool, show: Option<&str>) -> PolicyList {
    PolicyList { escaped, show: show.map(ShowColumns::new) }
}

fn records(end: u8, show: Option<&str>) -> PolicyRecords {
    PolicyRecords { end, show: show.map(ShowColumns::new) }
}

/// An entry with all that [`COLUMNS`] tell.
fn entry(random: &mut fastrand::Rng, never: &[u8]) -> OwnedEntry {
    let text = |random: &mut fastrand::Rng| {
        let text = hostile_text(random, 8, &[never, b"; \t\r\n\x0c"].concat());
        Some(text).filter(|text| !text.is_empty())
    };
    let time = |random: &mut fastrand::Rng| Some(any_second(random) * 1_000_000_000);
    let mode = *random.choice(&[0o100_644, 0o40_755, 0o777]).unwrap();
    OwnedEntry {
        path: hostile_path(random, never),
        kind: [None, Some(EntryKind::Directory), Some(EntryKind::File)]
            [usize::from(mode > 0o777) + (mode >> 15) as usize],
        owner: text(random),
        group: text(random),
        pool: text(random),
        times: [time(random), time(random), time(random), time(random)],
        size: Some(any_number(random)),
        blocks: Some(any_number(random)),
        ids: [Some(random.u32(..)), Some(random.u32(..)), Some(mode)],
        inode: Some(any_number(random)),
        links: Some(any_number(random)),
        project: Some(any_number(random)),
        ..OwnedEntry::default()
    }
}

/// The values of SHOW for an entry.
fn show(entry: &OwnedEntry) -> Vec<u8> {
    let number = |number: Option<u64>| number.unwrap().to_string().into_bytes();
    let time = |time: usize| (entry.times[time].unwrap() / 1_000_000_000).to_string().into_bytes();
    let id = |id: usize| number(entry.ids[id].map(u64::from));
    let text = |text: &Option<Vec<u8>>| text.clone().unwrap_or_default();
    [
        id(UID),
        id(GID),
        format!("{:o}", entry.ids[MODE].unwrap()).into_bytes(),
        number(entry.size),
        b"x\xff".to_vec(),
        number(entry.blocks),
        number(entry.links),
        time(MTIME),
        time(ATIME),
        time(CTIME),
        time(BTIME),
        text(&entry.pool),
        text(&entry.owner),
        text(&entry.group),
        number(entry.project),
    ]
    .join(&b";"[..])
}

/// Encodes all bytes but letters, digits and `-_.~`, as the rule `ESCAPE '%'` does.
fn percent(text: &[u8]) -> Vec<u8> {
    let encode = |byte: &u8| match byte {
        b'-' | b'_' | b'.' | b'~' => vec![*byte],
        _ if byte.is_ascii_alphanumeric() => vec![*byte],
        _ => format!("%{byte:02X}").into_bytes(),
    };
    text.iter().flat_map(encode).collect()
}

fn list_row(entry: &OwnedEntry, escaped: bool) -> Vec<u8> {
    let (path, show) = if escaped {
        (percent(&entry.path), percent(&show(entry)))
    } else {
        (entry.path.clone(), show(entry))
    };
    let numbers = format!("{} 1910420955 0 ", entry.inode.unwrap());
    [numbers.as_bytes(), &show, b" -- ", &path, b"\n"].concat()
}

fn record(entry: &OwnedEntry, end: u8) -> Vec<u8> {
    let sized = |text: &[u8]| {
        if !text.contains(&b'\n') || end == 0 {
            return [format!("{}!", text.len()).as_bytes(), text].concat();
        }
        let escape = |byte: &u8| match byte {
            b'\n' => b"\\n".to_vec(),
            b'\\' => b"\\\\".to_vec(),
            _ => vec![*byte],
        };
        let text: Vec<u8> = text.iter().flat_map(escape).collect();
        [format!("-{}!", text.len()).as_bytes(), &text].concat()
    };
    let numbers = format!("0:bff0000000000000:{:x}:71df4f5b:1A:0:0:40000:", entry.inode.unwrap());
    let pool = entry.pool.clone().unwrap_or_default();
    [numbers.as_bytes(), &sized(&entry.path), b":", &sized(&pool), b";", &sized(&show(entry)), &[end]]
        .concat()
}

#[test]
fn a_list_with_and_without_values_is_read() {
    let dump = b"72733306044 1910420955 0  1000:64451:128 -- /gpfs/bob/a b\n7 1 2  -- /gpfs/c -- d\n\
        8 1 2 -- /\xff/\n";
    let (entries, tally) = read_whole(&list(false, None), dump);
    assert_eq!(entries.iter().map(|entry| entry.inode.unwrap()).collect::<Vec<_>>(), [72_733_306_044, 7, 8]);
    assert_eq!(entries[0].path, b"/gpfs/bob/a b");
    assert_eq!(entries[1].path, b"/gpfs/c -- d");
    assert_eq!(entries[2].path, b"/\xff");
    assert_eq!(tally, DumpTally::default());
    let (entries, tally) = read_whole(&list(false, Some("uid:FILE_SIZE:KB_ALLOCATED")), dump);
    let first = &entries[0];
    assert_eq!((first.ids[UID], first.size, first.blocks), (Some(1000), Some(64_451), Some(256)));
    assert_eq!((entries[1].ids[UID], tally.guessed, tally.bad), (None, 2, 0));
}

#[test]
fn every_column_of_show_is_read() {
    let columns = "uid gid mode size kb nlink MODIFICATION_TIME atime ctime CREATION_TIME pool owner group \
        project device unknown";
    let row =
        b"1 2 3 10 11 drwxr-s--- 12 13 14 2026-11-23 10:11:12.25  -15 1.5 2026-11-23 10:11:12 pool own \
        grp 16 17 x -- /a\n";
    let (entries, tally) = read_whole(&list(false, Some(columns)), row);
    assert_eq!(tally, DumpTally::default());
    let expected = OwnedEntry {
        path: b"/a".to_vec(),
        kind: Some(EntryKind::Directory),
        owner: Some(b"own".to_vec()),
        group: Some(b"grp".to_vec()),
        pool: Some(b"pool".to_vec()),
        times: [
            Some(1_795_428_672_250_000_000),
            Some(-15_000_000_000),
            Some(1_500_000_000),
            Some(1_795_428_672_000_000_000),
        ],
        size: Some(12),
        blocks: Some(26),
        ids: [Some(10), Some(11), Some(0o42_750)],
        inode: Some(1),
        links: Some(14),
        device: Some(17),
        project: Some(16),
        ..OwnedEntry::default()
    };
    assert_eq!(entries, [expected]);
}

#[test]
fn a_time_may_contain_the_separator_of_the_values() {
    let row = b"1 2 3 2026-11-23 10:11:12.5:7:_NULL_ -- /a\n";
    let (entries, tally) = read_whole(&list(false, Some("mtime:size:uid")), row);
    assert_eq!(tally, DumpTally::default());
    assert_eq!((entries[0].times[MTIME], entries[0].size), (Some(1_795_428_672_500_000_000), Some(7)));
    assert_eq!(entries[0].ids[UID], None);
}

#[test]
fn names_and_values_of_show_may_have_blanks_around_them() {
    let row = b"1 2 3 7, 8 ,\tx -- /a\n";
    let (entries, tally) = read_whole(&list(false, Some(" uid , gid, owner")), row);
    assert_eq!(tally, DumpTally::default());
    assert_eq!((entries[0].ids, entries[0].owner.as_deref()), ([Some(7), Some(8), None], Some(&b"x"[..])));
}

#[test]
fn rows_of_a_list_that_cannot_be_read_tell_why() {
    let reason = |row: &[u8]| {
        let (entries, tally) = read_whole(&list(false, Some("uid:size")), row);
        assert_eq!((entries.len(), tally.bad), (0, 1));
        tally.first_bad.unwrap().reason
    };
    assert_eq!(reason(b"1 2 x -- /a\n"), "column 3 (snapshot) is not a number: 'x'");
    assert_eq!(reason(b"1 2 3 1:2 - /a\n"), "there is no ' -- ' before the path");
    assert_eq!(reason(b"1 2 3 1:2 -- \n"), "the path is empty");
    assert_eq!(reason(b"1 2 3 1:-2 -- /a\n"), "column 2 (size in SHOW) is not a number: '-2'");
    let rest = reason(b"rest of a name\n");
    assert!(
        rest.starts_with("column 1 (inode) is not a number: 'rest' (if it is the rest of a name"),
        "{rest}"
    );
}

#[test]
fn values_with_the_mark_before_the_path_are_guessed() {
    let (entries, tally) = read_whole(&list(false, Some("pool:uid")), b"1 2 3 a -- b:7 -- /c\n");
    assert_eq!((entries[0].path.as_slice(), entries[0].ids[UID]), (&b"/c"[..], Some(7)));
    assert_eq!((entries[0].pool.as_deref(), tally.guessed, tally.bad), (Some(&b"a -- b"[..]), 1, 0));
    let (entries, tally) = read_whole(&list(false, None), b"1 2 3 -- a/b");
    assert_eq!((entries[0].path.as_slice(), tally.guessed, tally.truncated), (&b"a/b"[..], 1, false));
}

#[test]
fn escapes_of_a_list_are_undone_and_a_lone_percent_sign_is_guessed() {
    let (entries, tally) = read_whole(&list(true, None), b"1 2 3  -- /a%0a%20%41%fF\n4 5 6 -- /b%4\n");
    assert_eq!(entries[0].path, b"/a\n A\xff");
    assert_eq!(entries[1].path, b"/b%4");
    assert_eq!((tally.bad, tally.guessed), (0, 1));
}

#[test]
fn every_column_of_a_record_is_read() {
    let mut reader = PolicyRecords::new();
    let dump = b"0:BFF0:1f:71df4f5b:1a:0:0:40000:6!/a:b;c:6!system\n\
        0:BFF0:fFfF:0:0:0:0:0:-8!/\\n\\\\!\\n:0!;3!1:2\n";
    let (entries, tally) = read_whole(&reader, dump);
    assert_eq!(tally, DumpTally::default());
    let first = OwnedEntry {
        path: b"/a:b;c".to_vec(),
        pool: Some(b"system".to_vec()),
        inode: Some(0x1f),
        ..OwnedEntry::default()
    };
    let second = OwnedEntry { path: b"/\n\\!\n".to_vec(), inode: Some(0xffff), ..OwnedEntry::default() };
    assert_eq!(entries, [first, second]);
    reader.show = Some(ShowColumns::new("uid:gid"));
    let (entries, tally) = read_whole(&reader, dump);
    assert_eq!((entries[0].size, entries[1].ids[GID], tally.guessed), (None, Some(2), 1));
}

#[test]
fn records_that_cannot_be_read_tell_why() {
    let reason = |row: &[u8]| {
        let (entries, tally) = read_whole(&PolicyRecords::new(), row);
        assert_eq!((entries.len(), tally.bad), (0, 1));
        tally.first_bad.unwrap().reason
    };
    assert_eq!(reason(b"0:0:g:0:0:0:0:0:2!/a:0!\n"), "column 3 (INODE) is not a hexadecimal number: 'g'");
    assert_eq!(reason(b"0:0:1:0:0:0:0:0:3!/a:0!\n"), "the path does not end where its length says");
    assert_eq!(reason(b"0:0:1:0:0:0:0:0:99!/a:0!\n"), "the row ends before the end of the path");
    assert_eq!(reason(b"0:0:1:0:0:0:0:0:-2!\\a:0!\n"), "unknown escape '\\\\a'");
    assert_eq!(
        reason(b"0:0:1:0:0:0:0:0:2!/a:0!x\n"),
        "the row does not end where its lengths say: 'x' is left"
    );
    assert_eq!(reason(b"0:0:1:0:0:0:0:0:x!/a:0!\n"), "the length of the path is not a number: 'x'");
}

#[test]
fn random_lists_and_records_are_read_back_in_any_division() {
    let mut random = seeded();
    for _ in 0..150 {
        for escaped in [false, true] {
            let never = if escaped { &b""[..] } else { b"\n" };
            let mut expected: Vec<_> = (0..12).map(|_| entry(&mut random, never)).collect();
            if !escaped {
                // Without escapes, a name cannot hold the mark before the path.
                let marked = |entry: &OwnedEntry| memchr::memmem::find(&show(entry), b" -- ").is_some();
                expected.retain(|entry| !marked(entry));
            }
            let dump: Vec<u8> = expected.iter().flat_map(|entry| list_row(entry, escaped)).collect();
            let reader = list(escaped, Some(COLUMNS));
            let (entries, tally) = read_whole(&reader, &dump);
            assert_eq!((entries, tally), (expected, DumpTally::default()), "{}", dump.escape_ascii());
            check_divisions(&reader, &dump, &mut random);
            check_stop(&reader, &dump, 5);
        }
        for end in [b'\n', 0] {
            let expected: Vec<_> = (0..12).map(|_| entry(&mut random, b"")).collect();
            let dump: Vec<u8> = expected.iter().flat_map(|entry| record(entry, end)).collect();
            let reader = records(end, Some(COLUMNS));
            let (entries, tally) = read_whole(&reader, &dump);
            assert_eq!((entries, tally), (expected, DumpTally::default()), "{}", dump.escape_ascii());
            check_divisions(&reader, &dump, &mut random);
            check_stop(&reader, &dump, 5);
        }
    }
}

#[test]
fn damaged_lists_and_records_never_panic_and_every_row_is_accounted_for() {
    for end in [b'\n', 0] {
        let account = |dump: &[u8], entries: u64, tally: &DumpTally| {
            assert_eq!(entries + tally.bad, count_rows(dump, end));
        };
        let mut make =
            |random: &mut fastrand::Rng| (0..8).flat_map(|_| record(&entry(random, b""), end)).collect();
        check_damage(&records(end, Some(COLUMNS)), &mut seeded(), &mut make, &account);
        let escaped = end == 0;
        let account = |dump: &[u8], entries: u64, tally: &DumpTally| {
            assert_eq!(entries + tally.bad, count_rows(dump, b'\n'));
        };
        let mut make = |random: &mut fastrand::Rng| {
            (0..8).flat_map(|_| list_row(&entry(random, b"\n"), escaped)).collect()
        };
        check_damage(&list(escaped, Some(COLUMNS)), &mut seeded(), &mut make, &account);
    }
}
