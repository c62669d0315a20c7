//! Golden tables, random tables that are read back, divided tables, and damaged ones.

use std::fmt::Write;
use std::ops::ControlFlow;

use super::*;
use crate::record::dump::testing::*;
use crate::record::dump::{DumpTally, ReadRows};
use crate::source::EntryKind;

fn csv(dump: &[u8], map: &str) -> Result<(MappedCsv, MapView), String> {
    let spec = if map.is_empty() { ColumnMap::default() } else { ColumnMap::parse(map).unwrap() };
    MappedCsv::new(&dump[..dump.len().min(64 << 10)], &CsvTable::default(), &spec)
}

fn json(dump: &[u8], map: &str) -> Result<(MappedJson, MapView), String> {
    let spec = if map.is_empty() { ColumnMap::default() } else { ColumnMap::parse(map).unwrap() };
    MappedJson::new(&dump[..dump.len().min(64 << 10)], &spec)
}

/// The map as `field=column:conversion`.
fn shown(view: &MapView) -> String {
    let one = |field: &MappedField| format!("{}={}:{}", field.field, field.column, field.conversion);
    view.fields.iter().map(one).collect::<Vec<_>>().join(",")
}

fn read_csv(dump: &str, map: &str) -> (Vec<OwnedEntry>, DumpTally) {
    read_whole(&csv(dump.as_bytes(), map).unwrap().0, dump.as_bytes())
}

#[test]
fn every_field_is_read_by_its_usual_name() {
    let dump = "fullpath,st_size,st_blocks,mtime,atime,ctime,st_birthtime,user,group,st_uid,st_gid,st_mode,\
                ino,nlink,st_dev,type,target,stripe_count,pool,projid,depth\n\
                /data/a,30,8,1700000000,2023-11-14 22:13:20,1700000000000,1700000000000000000,anna,staff,\
                1000,100,0o100644,12,1,66,file,,4,ssd,7,2\n\
                /data/l,4,0,1700000001.5,2023-11-14T22:13:20Z,1700000000001,,anna,,1000,100,120777,13,2,66,\
                link,a b,,,,2\n";
    let (reader, view) = csv(dump.as_bytes(), "").unwrap();
    assert_eq!(
        shown(&view),
        "path=fullpath:text,type=type:words,size=st_size:bytes,blocks=st_blocks:blocks512,mtime=mtime:epoch,\
         atime=atime:iso,ctime=ctime:epoch-ms,btime=st_birthtime:epoch-ns,owner=user:text,group=group:text,\
         uid=st_uid:decimal,gid=st_gid:decimal,mode=st_mode:octal,inode=ino:decimal,links=nlink:decimal,\
         device=st_dev:decimal,target=target:text,stripes=stripe_count:decimal,pool=pool:text,\
         project=projid:decimal"
    );
    assert_eq!((view.unused, view.remarks), (vec!["depth".to_owned()], vec![]));
    assert_eq!(view.fields[4].first, b"2023-11-14T22:13:20Z");
    assert_eq!(view.fields[12].first, b"100644");
    let (entries, tally) = read_whole(&reader, dump.as_bytes());
    let time = 1_700_000_000_000_000_000;
    let first = OwnedEntry {
        path: b"/data/a".to_vec(),
        kind: Some(EntryKind::File),
        owner: Some(b"anna".to_vec()),
        group: Some(b"staff".to_vec()),
        pool: Some(b"ssd".to_vec()),
        times: [Some(time); 4],
        size: Some(30),
        blocks: Some(8),
        ids: [Some(1000), Some(100), Some(0o100_644)],
        inode: Some(12),
        links: Some(1),
        device: Some(66),
        stripes: Some(4),
        project: Some(7),
        target: None,
    };
    assert_eq!(entries[0], first);
    let second = OwnedEntry {
        path: b"/data/l".to_vec(),
        kind: Some(EntryKind::Link),
        target: Some(b"a b".to_vec()),
        group: None,
        pool: None,
        times: [Some(time + 1_500_000_000), Some(time), Some(time + 1_000_000), None],
        size: Some(4),
        blocks: Some(0),
        ids: [Some(1000), Some(100), Some(0o120_777)],
        inode: Some(13),
        links: Some(2),
        stripes: None,
        project: None,
        ..first
    };
    assert_eq!(entries[1], second);
    assert_eq!(tally, DumpTally::default());
}

#[test]
fn a_map_overrides_and_completes_what_the_names_say() {
    let dump =
        "dir;name;bytes;changed on;perm;what\n/data/;a b;10K;31.12.2025 10:20;420;f\n;/x;1.5 GiB;;493;d\n";
    let map = r"path=dir+name,size=bytes,mtime=changed on:%d.%m.%Y %H\:%M,mode=perm:decimal,type=what,ctime=";
    let (reader, view) = csv(dump.as_bytes(), map).unwrap();
    assert_eq!(
        shown(&view),
        "path=dir+name:text,type=what:words,size=bytes:human,mtime=changed on:%d.%m.%Y %H:%M,\
         mode=perm:decimal"
    );
    let (entries, tally) = read_whole(&reader, dump.as_bytes());
    assert_eq!(tally, DumpTally::default());
    let of = |entry: &OwnedEntry| {
        (String::from_utf8(entry.path.clone()).unwrap(), entry.size, entry.times[MTIME], entry.ids[MODE])
    };
    assert_eq!(
        of(&entries[0]),
        ("/data/a b".into(), Some(10 << 10), Some(1_767_176_400_000_000_000), Some(0o644))
    );
    assert_eq!(of(&entries[1]), ("/x".into(), Some(3 << 29), None, Some(0o755)));
}

#[test]
fn columns_have_numbers_and_rows_without_names_are_told() {
    let dump = "/data/a,10,1700000000\n/data/b,20,1700000001\n";
    let error = csv(dump.as_bytes(), "").unwrap_err();
    assert!(error.contains("the first row may be data: --dump-no-header"), "{error}");
    let (entries, _) = read_csv(dump, "path=#1,size=#2:bytes,mtime=#3");
    assert_eq!((entries.len(), entries[0].size, entries[1].times[MTIME].is_some()), (2, Some(10), true));
    let named = format!("p,s,t\n{dump}");
    let (entries, tally) = read_csv(&named, "path=#1,size=#2,mtime=#3");
    assert_eq!((entries.len(), tally), (2, DumpTally::default()));
    assert!(csv(dump.as_bytes(), "path=#4").unwrap_err().contains("there is no column #4"));
    assert!(
        csv(b"a,b\n1,2\n", "path=c").unwrap_err().contains("there is no column 'c': the columns are a, b")
    );
    let error = csv(b"a,b\n/x,2\n", "").unwrap_err();
    assert_eq!(error, "no column is certainly the path: name it, such as --map path=a; the columns are a, b");
    let error = csv(b"path,mtime\n/x,0\n", "mtime=mtime").unwrap_err();
    assert!(error.contains("--map mtime=mtime:epoch"), "{error}");
}

#[test]
fn what_is_not_certain_is_not_guessed_and_told() {
    let dump = "path,mode,mtime,size,owner\n/a,420,5,12,1000\n";
    let (_, view) = csv(dump.as_bytes(), "").unwrap();
    assert_eq!(shown(&view), "path=path:text,size=size:bytes,uid=owner:decimal");
    assert_eq!(view.unused, ["mode", "mtime"]);
    assert_eq!(view.remarks.len(), 2);
    assert!(view.remarks[1].starts_with("mode is not used as mode: its numbers may be octal or decimal"));
}

#[test]
fn texts_are_decoded_and_keep_bytes_that_are_not_utf8() {
    let (entries, tally) =
        read_csv("path,owner\n/a%2Fb%ff+c,YW5uYQ==\n", "path=path:percent,owner=owner:base64");
    assert_eq!(
        (entries[0].path.as_slice(), entries[0].owner.as_deref()),
        (&b"/a/b\xff+c"[..], Some(&b"anna"[..]))
    );
    assert_eq!(tally, DumpTally::default());
    let (entries, _) = read_csv("path\n/a%20b+c%2B\n", "path=path:url");
    assert_eq!(entries[0].path, b"/a b c+");
    let (reader, _) = csv(b"path,size\n/\xff\xfe,1\n", "").unwrap();
    assert_eq!(read_whole(&reader, b"path,size\n/\xff\xfe,1\n").0[0].path, b"/\xff\xfe");
    let (entries, tally) = read_csv("path,target\n/a%2,\n/b,\n", "path=path:percent");
    assert_eq!((entries.len(), tally.bad), (1, 1));
    assert_eq!(tally.first_bad.unwrap().reason, "column path (path) is not a text with bytes as %XX");
    for (text, expected) in [("YQ", "a"), ("YWI=", "ab"), ("YWJj", "abc"), ("__8=", "\u{fffd}\u{fffd}")] {
        let (entries, _) = read_csv(&format!("path\n{text}\n"), "path=path:base64");
        assert_eq!(String::from_utf8_lossy(&entries[0].path), expected);
    }
    for text in ["Y", "YQ=", "YR==", "Y!==", "===="] {
        assert_eq!(read_csv(&format!("path\n{text}\n"), "path=path:base64").1.bad, 1, "{text}");
    }
}

#[test]
fn a_bad_value_is_counted_and_its_row_is_kept() {
    let mut dump = "path,size,uid\n/0,1,2\n".to_owned();
    dump.extend((1..500).map(|number| format!("/{number},1,2\n")));
    dump.push_str("/a,many,4294967296\n/b,few,-1\n,1,2\n/c,null,\n");
    let (entries, tally) = read_csv(&dump, "size=size:bytes");
    assert_eq!((entries.len(), tally.bad), (503, 1));
    assert_eq!(tally.first_bad.unwrap().reason, "the path is empty");
    let [size, uid] = &tally.bad_values[..] else { panic!("{:?}", tally.bad_values) };
    assert_eq!((size.field, size.column.as_str(), size.count), ("size", "size", 2));
    assert_eq!(
        (size.first.reason.as_str(), size.first.text.as_slice()),
        ("it is not a whole number", &b"many"[..])
    );
    assert_eq!((uid.count, uid.first.reason.as_str()), (2, "it is not a number of 32 bits"));
}

#[test]
fn a_quote_that_is_never_closed_spoils_one_row() {
    let mut dump = "path,size\n/a,1\n\"/b,2\n".to_owned();
    (0..20_000).for_each(|row| writeln!(dump, "/c/{row},{row}").unwrap());
    dump.push_str("\"/d\"\"e\nf\",5\n\"/g\"h,6\n\"/i\",7,8\n/j\n\n/k,9\n");
    let (entries, tally) = read_csv(&dump, "");
    let paths: Vec<_> = entries.iter().rev().take(4).rev().map(|entry| entry.path.as_slice()).collect();
    assert_eq!(paths, [&b"/c/19999"[..], b"/d\"e\nf", b"\"/g\"h", b"/k"]);
    assert_eq!((entries.len(), tally.bad, tally.guessed), (20_005, 2, 2));
    assert_eq!(entries[1].path, b"\"/b");
}

#[test]
fn rows_that_repeat_the_header_and_old_versions_are_no_entries() {
    let dump = "Key,IsLatest,IsDeleteMarker,Size\na,true,false,1\na,false,false,2\nb,true,true,\n\
                Key,IsLatest,IsDeleteMarker,Size\ndir/,true,false,0\n";
    let table = CsvTable { objects: true, ..CsvTable::default() };
    let (reader, _) = MappedCsv::new(dump.as_bytes(), &table, &ColumnMap::default()).unwrap();
    let (entries, tally) = read_whole(&reader, dump.as_bytes());
    let kinds: Vec<_> = entries.iter().map(|entry| (entry.path.as_slice(), entry.kind)).collect();
    assert_eq!(kinds, [(&b"a"[..], Some(EntryKind::File)), (b"dir", Some(EntryKind::Directory))]);
    assert_eq!(tally, DumpTally { passed: 2, ..DumpTally::default() });
}

#[test]
fn json_has_nested_names_escapes_and_values_of_all_kinds() {
    let dump = r#"{"path":"/a\n\"b\u00e4","st":{"size":10,"mtime":1700000000.25},"is_dir":false,"x":[1,2]}
{"st":{"mtime":null,"size":null},"path":"/c","is_dir":true,"x":[]}

{"path":"/d","st":{"size":[1,2]}}
{"path":["/e","/f"]}
{"path":7}
{"path":"/g"
{"path":"/h","st":{"size":"0x10"}}"#;
    let map = "size=st.size:bytes,mtime=st.mtime,type=is_dir,owner=user";
    let (reader, view) = json(dump.as_bytes(), map).unwrap();
    assert_eq!(
        shown(&view),
        "path=path:text,type=is_dir:is-directory,size=st.size:bytes,mtime=st.mtime:epoch,owner=user:text"
    );
    assert_eq!(view.unused, ["x"]);
    let (entries, tally) = read_whole(&reader, dump.as_bytes());
    let paths: Vec<_> = entries.iter().map(|entry| String::from_utf8_lossy(&entry.path)).collect();
    assert_eq!(paths, ["/a\n\"bä", "/c", "/d", "7", "/h"]);
    assert_eq!((entries[0].size, entries[0].times[MTIME]), (Some(10), Some(1_700_000_000_250_000_000)));
    assert_eq!((entries[0].kind, entries[1].kind), (Some(EntryKind::File), Some(EntryKind::Directory)));
    assert_eq!((entries[1].size, entries[2].size), (None, None));
    assert_eq!((tally.bad, tally.guessed, tally.truncated, tally.bad_values.len()), (2, 0, false, 1));
    assert_eq!(
        (tally.bad_values[0].count, tally.bad_values[0].first.reason.as_str()),
        (2, "it is not one value")
    );
    assert!(json(b"[1]\n", "").unwrap_err().contains("not objects of JSON"));
}

/// A random entry of the columns of the random tables.
fn random_entry(random: &mut fastrand::Rng, never: &[u8]) -> OwnedEntry {
    let text =
        |random: &mut fastrand::Rng| Some(hostile_text(random, 9, never)).filter(|text| !text.is_empty());
    OwnedEntry {
        path: hostile_path(random, never),
        target: text(random),
        owner: text(random),
        size: Some(any_number(random)),
        times: [Some(any_second(random) * 1_000_000_000), None, None, None],
        ids: [Some(random.u32(..)), None, None],
        ..OwnedEntry::default()
    }
}

const HEADER: &str = "target,mtime,path,size,owner,uid\n";
const MAP: &str = "mtime=mtime:epoch,size=size:bytes,uid=uid:decimal,owner=owner";

fn csv_row(entry: &OwnedEntry) -> Vec<u8> {
    let quoted = |text: &[u8]| {
        let doubled = text.iter().flat_map(|byte| std::iter::repeat_n(*byte, 1 + usize::from(*byte == b'"')));
        [b"\"".to_vec(), doubled.collect(), b"\"".to_vec()].concat()
    };
    let text = |text: &Option<Vec<u8>>| quoted(text.as_deref().unwrap_or_default());
    let number = |number: String| number.into_bytes();
    [
        text(&entry.target),
        number((entry.times[MTIME].unwrap() / 1_000_000_000).to_string()),
        quoted(&entry.path),
        number(entry.size.unwrap().to_string()),
        text(&entry.owner),
        number(entry.ids[UID].unwrap().to_string()),
    ]
    .join(&b","[..])
    .into_iter()
    .chain(*b"\n")
    .collect()
}

fn csv_dump(random: &mut fastrand::Rng, rows: usize) -> (Vec<OwnedEntry>, Vec<u8>) {
    // Line feeds in names are tested where the commas between them do not look like rows.
    let entries: Vec<_> = (0..rows).map(|_| random_entry(random, b"\0\n")).collect();
    let dump = HEADER.bytes().chain(entries.iter().flat_map(csv_row)).collect();
    (entries, dump)
}

#[test]
fn random_csv_is_read_back_in_any_division() {
    let mut random = seeded();
    for _ in 0..200 {
        let (expected, dump) = csv_dump(&mut random, 12);
        let (reader, _) = csv(&dump, MAP).unwrap();
        let (entries, tally) = read_whole(&reader, &dump);
        assert_eq!((entries, tally), (expected, DumpTally::default()), "{}", dump.escape_ascii());
        check_divisions(&reader, &dump, &mut random);
        check_stop(&reader, &dump, 12);
    }
}

#[test]
fn names_with_line_feeds_are_read_back_in_any_division() {
    let mut random = seeded();
    for _ in 0..200 {
        let expected: Vec<_> = (0..12).map(|_| random_entry(&mut random, b"\0,")).collect();
        let dump: Vec<u8> = HEADER.bytes().chain(expected.iter().flat_map(csv_row)).collect();
        let (reader, _) = csv(&dump, MAP).unwrap();
        let (entries, tally) = read_whole(&reader, &dump);
        assert_eq!((entries, tally), (expected, DumpTally::default()), "{}", dump.escape_ascii());
        check_divisions(&reader, &dump, &mut random);
    }
}

#[test]
fn damaged_csv_never_panics_and_any_division_gives_the_same() {
    let mut seeds = seeded();
    let (_, start) = csv_dump(&mut seeds, 8);
    let (reader, _) = csv(&start, MAP).unwrap();
    let mut make = |random: &mut fastrand::Rng| csv_dump(random, 8).1;
    check_damage(&reader, &mut seeds, &mut make, &|_, _, _| {});
}

fn json_dump(random: &mut fastrand::Rng, rows: usize) -> (Vec<OwnedEntry>, Vec<u8>) {
    let (mut entries, mut dump) = (Vec::new(), String::new());
    for _ in 0..rows {
        let mut entry = random_entry(random, b"\0");
        for text in [Some(&mut entry.path), entry.target.as_mut(), entry.owner.as_mut()].into_iter().flatten()
        {
            text.retain(u8::is_ascii);
        }
        entry.target = entry.target.filter(|text| !text.is_empty());
        entry.owner = entry.owner.filter(|text| !text.is_empty());
        let mut path = posix_path(&entry.path);
        std::mem::swap(&mut entry.path, &mut path);
        let string = |text: &[u8]| {
            let escape = |byte: &u8| match byte {
                b'"' => "\\\"".into(),
                b'\\' => "\\\\".into(),
                0x20..0x7f => char::from(*byte).to_string(),
                byte => format!("\\u{byte:04x}"),
            };
            format!("\"{}\"", text.iter().map(escape).collect::<String>())
        };
        let text = |text: &Option<Vec<u8>>| text.as_deref().map_or("null".into(), string);
        writeln!(
            dump,
            "{{\"target\":{},\"mtime\":{},\"path\":{},\"size\":{},\"owner\":{},\"uid\":{}}}",
            text(&entry.target),
            entry.times[MTIME].unwrap() / 1_000_000_000,
            string(&entry.path),
            entry.size.unwrap(),
            text(&entry.owner),
            entry.ids[UID].unwrap(),
        )
        .unwrap();
        entries.push(entry);
    }
    (entries, dump.into_bytes())
}

fn posix_path(path: &[u8]) -> Vec<u8> {
    crate::record::dump::posix::without_end_slashes(path).to_vec()
}

#[test]
fn random_json_is_read_back_in_any_division() {
    let mut random = seeded();
    for _ in 0..200 {
        let (expected, dump) = json_dump(&mut random, 12);
        let (reader, _) = json(&dump, MAP).unwrap();
        let (entries, tally) = read_whole(&reader, &dump);
        assert_eq!((entries, tally), (expected, DumpTally::default()));
        check_divisions(&reader, &dump, &mut random);
        check_stop(&reader, &dump, 12);
    }
}

#[test]
fn damaged_json_never_panics_and_every_row_is_accounted_for() {
    let mut seeds = seeded();
    let (_, start) = json_dump(&mut seeds, 8);
    let (reader, _) = json(&start, MAP).unwrap();
    let mut make = |random: &mut fastrand::Rng| json_dump(random, 8).1;
    let account = |dump: &[u8], entries: u64, tally: &DumpTally| {
        let blank = |line: &[u8]| line.iter().all(|byte| b" \t\r".contains(byte));
        let rows = dump.split(|byte| *byte == b'\n').filter(|line| !blank(line)).count() as u64;
        assert_eq!(entries + tally.bad, rows);
    };
    check_damage(&reader, &mut seeds, &mut make, &account);
}

#[test]
fn damaged_starts_of_tables_never_panic() {
    let mut random = seeded();
    for _ in 0..4_000 {
        let (_, mut dump) = if random.bool() { csv_dump(&mut random, 3) } else { json_dump(&mut random, 3) };
        for _ in 0..random.usize(1..8) {
            let at = random.usize(..dump.len());
            match random.u8(..3) {
                0 => dump[at] = random.u8(..),
                1 => dump.truncate(at.max(1)),
                _ => dump.insert(at, *random.choice(b",;\t|\"\n\\{}").unwrap()),
            }
        }
        let mut visit = |_: &crate::source::Entry<'_>| ControlFlow::Continue(());
        if let Ok((reader, _)) = csv(&dump, "") {
            let _ = reader.read(&dump, 0, &mut DumpTally::default(), &mut visit);
        }
        if let Ok((reader, _)) = json(&dump, "") {
            let _ = reader.read(&dump, 0, &mut DumpTally::default(), &mut visit);
        }
    }
}
