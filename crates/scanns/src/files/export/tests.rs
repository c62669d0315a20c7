//! Exports are read by the readers of dumps, and the entries are the same as far as the format can hold them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::gufi::{GufiWriter, by_stanza};
use super::ncdu::NcduWriter;
use super::sorter::EntrySorter;
use super::tally::ExportReport;
use super::tree::{TreeSorter, TreeStep};
use crate::files::place::{directory_of, holds};
use crate::files::unread::UnreadPlaces;
use crate::record::dump::{DumpFormat, DumpReader, DumpTally};
use crate::source::{Entry, EntryBatch, EntryKind};
use crate::store::SortSpace;

/// An entry that owns its texts.
pub(super) struct SampleEntry(EntryBatch);

impl SampleEntry {
    pub(super) fn of(entry: &Entry<'_>) -> Self {
        let mut batch = EntryBatch::default();
        batch.push(entry);
        SampleEntry(batch)
    }

    pub(super) fn entry(&self) -> Entry<'_> {
        self.0.iter().next().unwrap()
    }
}

/// A random generator whose seed is printed, so that a failure can be repeated with `SCANNS_SEED`.
pub(super) fn seeded() -> fastrand::Rng {
    let seed = std::env::var("SCANNS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("SCANNS_SEED={seed}");
    fastrand::Rng::with_seed(seed)
}

/// A name with bytes that formats use.
fn odd_name(random: &mut fastrand::Rng) -> Vec<u8> {
    const ODD: &[u8] = b"\n\t\r\x1e\x7f\\\"'- .,:[]{}?%\xff\xc3\xa4abd";
    let mut name: Vec<u8> = (0..random.usize(1..9))
        .map(|_| if random.bool() { *random.choice(ODD).unwrap() } else { random.u8(1..=255) })
        .filter(|byte| *byte != b'/')
        .collect();
    if matches!(name.as_slice(), b"" | b"." | b"..") {
        name.push(b'x');
    }
    name
}

/// The bits of a type.
fn bits_of(kind: Option<EntryKind>) -> u32 {
    match kind {
        None | Some(EntryKind::File | EntryKind::Member) => 0o100_000,
        Some(EntryKind::Directory) => 0o040_000,
        Some(EntryKind::Link) => 0o120_000,
        Some(EntryKind::Fifo) => 0o010_000,
        Some(EntryKind::Socket) => 0o140_000,
        Some(EntryKind::Device) => 0o020_000,
    }
}

/// A tree of entries of all kinds with odd names, of which some values are not known, in a random order.
pub(super) fn random_entries(random: &mut fastrand::Rng, count: usize) -> Vec<SampleEntry> {
    let mut directories = vec![b"/r".to_vec()];
    let mut seen = BTreeSet::from([b"/r".to_vec()]);
    let mut entries = vec![SampleEntry::of(&Entry {
        path: b"/r",
        kind: Some(EntryKind::Directory),
        device: Some(7),
        ..Entry::default()
    })];
    let kinds = [
        EntryKind::File,
        EntryKind::Directory,
        EntryKind::Link,
        EntryKind::Fifo,
        EntryKind::Socket,
        EntryKind::Device,
    ];
    while entries.len() < count {
        let path = [random.choice(&directories).unwrap().as_slice(), &odd_name(random)].join(&b'/');
        if !seen.insert(path.clone()) {
            continue;
        }
        let kind = if random.u8(..) < 20 { None } else { random.choice(kinds) };
        if kind == Some(EntryKind::Directory) {
            directories.push(path.clone());
        }
        entries.push(random_entry(random, &path, kind));
    }
    random.shuffle(&mut entries);
    entries
}

fn random_entry(random: &mut fastrand::Rng, path: &[u8], kind: Option<EntryKind>) -> SampleEntry {
    let (target, owner) = (odd_name(random), format!("u{}", random.u8(..)));
    let is_known = |random: &mut fastrand::Rng| random.u8(..) < 220;
    let number = |random: &mut fastrand::Rng| is_known(random).then(|| random.u64(..) >> random.u32(14..64));
    let time = |random: &mut fastrand::Rng| is_known(random).then(|| random.i64(..) >> random.u32(0..40));
    let short = |random: &mut fastrand::Rng| is_known(random).then(|| random.u32(..) >> random.u32(0..32));
    let type_bits = if random.bool() && kind.is_some() { bits_of(kind) } else { 0 };
    SampleEntry::of(&Entry {
        path,
        kind,
        target: (kind == Some(EntryKind::Link) && is_known(random)).then_some(&target),
        owner: is_known(random).then_some(owner.as_bytes()),
        group: is_known(random).then_some(b"staff"),
        mtime: time(random),
        atime: time(random),
        ctime: time(random),
        btime: time(random),
        size: number(random),
        blocks: number(random),
        uid: short(random),
        gid: short(random),
        mode: is_known(random).then(|| random.u32(0..0o10_000) | type_bits),
        inode: number(random),
        links: number(random),
        device: number(random),
        ..Entry::default()
    })
}

/// The entries of a dump, by their paths.
fn read(format: &str, dump: &[u8]) -> BTreeMap<Vec<u8>, SampleEntry> {
    let mut entries = BTreeMap::new();
    let mut tally = DumpTally::default();
    let visit = &mut |entry: &Entry<'_>| {
        assert!(entries.insert(entry.path.to_vec(), SampleEntry::of(entry)).is_none(), "{:?}", entry.path);
        ControlFlow::Continue(())
    };
    match DumpFormat::named(format, None).unwrap().open(dump).unwrap().reader {
        DumpReader::Rows(rows) => assert!(rows.read(dump, 0, &mut tally, visit).is_continue()),
        DumpReader::Whole(mut whole) => whole.read_slice(dump, &mut tally, visit).unwrap(),
        DumpReader::Table(..) => panic!("{format} is no table"),
    }
    assert_eq!((tally.bad, tally.guessed), (0, 0), "{:?}", tally);
    entries
}

fn space(memory: usize) -> SortSpace {
    SortSpace { memory, directory: std::env::temp_dir() }
}

fn tree(entries: &[SampleEntry], memory: usize) -> TreeSorter {
    let mut tree = TreeSorter::new(space(memory));
    entries.iter().for_each(|owned| tree.push(&owned.entry()).unwrap());
    tree
}

fn ncdu(entries: &[SampleEntry], memory: usize) -> (Vec<u8>, ExportReport) {
    let (mut out, mut report) = (Vec::new(), ExportReport::default());
    let mut writer = NcduWriter::new(&mut out, 5, UnreadPlaces::default());
    let mut visit = |step: TreeStep<'_>, report: &mut ExportReport| {
        writer.step(step, report).unwrap();
        Ok(())
    };
    tree(entries, memory).finish(&mut report, &mut |_| Ok(None), &mut visit).unwrap();
    writer.end().unwrap();
    (out, report)
}

fn gufi(entries: &[SampleEntry], memory: usize) -> (Vec<u8>, ExportReport) {
    let (mut out, mut report) = (Vec::new(), ExportReport::default());
    let mut sorter = EntrySorter::new(by_stanza, space(memory));
    let mut visit = |step: TreeStep<'_>, _: &mut ExportReport| match step {
        TreeStep::Enter(entry) | TreeStep::Leaf(entry) => sorter.push(entry),
        TreeStep::Leave => Ok(()),
    };
    tree(entries, memory).finish(&mut report, &mut |_| Ok(None), &mut visit).unwrap();
    let mut writer = GufiWriter::new(&mut out, 0x1e);
    sorter
        .finish(&mut |entry| {
            writer.entry(entry, entry.path, &mut report).unwrap();
            Ok(())
        })
        .unwrap();
    (out, report)
}

/// The seconds of a time, in nanoseconds.
fn whole(time: Option<i64>) -> Option<i64> {
    time.map(|time| time.div_euclid(1_000_000_000).saturating_mul(1_000_000_000))
}

/// Keeps some entries, so that directories are missing.
fn thinned(random: &mut fastrand::Rng, mut entries: Vec<SampleEntry>) -> Vec<SampleEntry> {
    if random.bool() {
        entries.retain(|_| random.u8(..) < 128);
    }
    entries
}

/// The device of a path, which is the device of its directory if it is not known.
fn device(by_path: &BTreeMap<&[u8], Entry<'_>>, path: &[u8]) -> Option<u64> {
    let own = by_path.get(path).and_then(|entry| entry.device);
    own.or_else(|| device(by_path, directory_of(path)?))
}

#[test]
fn exports_of_ncdu_are_read_back() {
    let mut random = seeded();
    for round in 0..60 {
        let count = random.usize(1..400);
        let entries = random_entries(&mut random, count);
        let entries = thinned(&mut random, entries);
        let (dump, report) = ncdu(&entries, if round % 2 == 0 { 1 << 30 } else { 4000 });
        let read = read("ncdu", &dump);
        let by_path: BTreeMap<&[u8], Entry<'_>> =
            entries.iter().map(|owned| (owned.entry().path, owned.entry())).collect();
        let added = u64::from(entries.is_empty()) + report.added;
        assert_eq!(read.len() as u64, by_path.len() as u64 + added);
        assert_eq!(report.made_up, report.added);
        for (path, entry) in &by_path {
            let is_filled = by_path.keys().any(|other| other != path && holds(path, other));
            let mode = entry.mode_with_type();
            let of_mode = mode.and_then(EntryKind::of_mode);
            let is_plain = matches!(entry.kind, None | Some(EntryKind::File));
            let kind = match entry.kind {
                Some(EntryKind::Directory) => entry.kind,
                _ if is_filled => Some(EntryKind::Directory),
                _ => of_mode.or(is_plain.then_some(EntryKind::File)),
            };
            let expected = Entry {
                path,
                kind,
                mtime: whole(entry.mtime),
                size: entry.size.or(Some(0)),
                blocks: entry.blocks.or(Some(0)),
                uid: entry.uid,
                gid: entry.gid,
                mode,
                inode: entry.inode,
                links: entry.links.filter(|_| kind != Some(EntryKind::Directory)),
                device: device(&by_path, path),
                ..Entry::default()
            };
            assert_eq!(read[*path].entry(), expected);
        }
    }
}

#[test]
fn traces_of_gufi_are_read_back_and_have_a_directory_before_its_entries() {
    let mut random = seeded();
    for round in 0..60 {
        let count = random.usize(1..400);
        let entries = random_entries(&mut random, count);
        let entries = thinned(&mut random, entries);
        let (dump, report) = gufi(&entries, if round % 2 == 0 { 1 << 30 } else { 4000 });
        let read = read("gufi", &dump);
        assert_eq!(read.len() as u64, entries.len() as u64 + report.added);
        for owned in &entries {
            let entry = owned.entry();
            let found = read[entry.path].entry();
            let mode = entry.mode.map_or(bits_of(entry.kind), |mode| match mode >> 12 {
                0 => mode | bits_of(entry.kind),
                _ => mode,
            });
            let expected = Entry {
                path: entry.path,
                kind: entry.kind.or(Some(EntryKind::File)),
                target: (entry.kind == Some(EntryKind::Link)).then(|| entry.target.unwrap_or_default()),
                atime: whole(entry.atime).or(Some(0)),
                mtime: whole(entry.mtime).or(Some(0)),
                ctime: whole(entry.ctime).or(Some(0)),
                btime: whole(entry.btime).filter(|time| *time != 0),
                size: entry.size.or(Some(0)),
                blocks: entry.blocks.or(Some(0)),
                uid: entry.uid.or(Some(0)),
                gid: entry.gid.or(Some(0)),
                mode: Some(mode),
                inode: entry.inode.or(Some(0)),
                links: entry.links.or(Some(0)),
                ..Entry::default()
            };
            assert_eq!(found, expected);
        }
        assert_stanzas(&dump);
    }
}

/// Every entry that is not a directory follows the row of its directory, with its inode.
fn assert_stanzas(dump: &[u8]) {
    let (mut current, mut inode): (Option<Vec<u8>>, u64) = (None, 0);
    let mut rest = dump;
    let text = |at: &[u8]| usize::from_str_radix(std::str::from_utf8(&at[..4]).unwrap(), 16).unwrap();
    while !rest.is_empty() {
        let length = text(rest);
        let name = rest[4..4 + length].to_vec();
        let columns: Vec<&[u8]> = rest[4 + length + 1..].splitn(13, |byte| *byte == 0x1e).collect();
        let after = &columns[12][4 + text(columns[12])..];
        let end = after.iter().position(|byte| *byte == b'\n').unwrap();
        let number = |bytes: &[u8]| std::str::from_utf8(bytes).unwrap().parse::<u64>().unwrap();
        let parent = number(after[..end - 1].rsplit(|byte| *byte == 0x1e).next().unwrap());
        match columns[0] {
            b"d" => (current, inode) = (Some(name), number(columns[1])),
            _ => assert_eq!((directory_of(&name), parent), (current.as_deref(), inode)),
        }
        rest = &after[end + 1..];
    }
}

#[test]
fn unknown_values_are_counted_by_their_name() {
    let file = Entry { path: b"/r/f", kind: Some(EntryKind::File), size: Some(1), ..Entry::default() };
    let (_, report) = ncdu(&[SampleEntry::of(&file)], 1 << 20);
    let mut words: Vec<_> =
        report.unknown.iter().map(|lack| (String::from_utf8_lossy(&lack.word), lack.count)).collect();
    words.sort();
    let expected = [("blocks", 2), ("gid", 2), ("inode", 2), ("links", 1), ("mode", 2), ("mtime", 2)];
    let expected = expected.into_iter().chain([("size", 1), ("uid", 2)]);
    assert_eq!(words, expected.map(|(word, count)| (word.into(), count)).collect::<Vec<_>>());
    assert!(!report.is_whole());
}
