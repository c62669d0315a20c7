//! Checks that the tests of all readers of rows share: random entries with hostile names, divisions of a
//! dump, and damaged dumps.

use std::ops::ControlFlow;

use super::{DumpTally, ReadRows};
use crate::source::{Entry, EntryKind};

/// An entry that owns its texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnedEntry {
    pub(super) path: Vec<u8>,
    pub(super) kind: Option<EntryKind>,
    pub(super) target: Option<Vec<u8>>,
    pub(super) owner: Option<Vec<u8>>,
    pub(super) group: Option<Vec<u8>>,
    pub(super) pool: Option<Vec<u8>>,
    pub(super) times: [Option<i64>; 4],
    pub(super) size: Option<u64>,
    pub(super) blocks: Option<u64>,
    pub(super) ids: [Option<u32>; 3],
    pub(super) inode: Option<u64>,
    pub(super) links: Option<u64>,
    pub(super) device: Option<u64>,
    pub(super) stripes: Option<u64>,
    pub(super) project: Option<u64>,
}

/// The places of the times in [`OwnedEntry::times`].
pub(super) const MTIME: usize = 0;
pub(super) const ATIME: usize = 1;
pub(super) const CTIME: usize = 2;
pub(super) const BTIME: usize = 3;
/// The places of the numbers of 32 bits in [`OwnedEntry::ids`].
pub(super) const UID: usize = 0;
pub(super) const GID: usize = 1;
pub(super) const MODE: usize = 2;

impl OwnedEntry {
    pub(super) fn of(entry: &Entry<'_>) -> Self {
        let owned = |text: Option<&[u8]>| text.map(<[u8]>::to_vec);
        OwnedEntry {
            path: entry.path.to_vec(),
            kind: entry.kind,
            target: owned(entry.target),
            owner: owned(entry.owner),
            group: owned(entry.group),
            pool: owned(entry.pool),
            times: [entry.mtime, entry.atime, entry.ctime, entry.btime],
            size: entry.size,
            blocks: entry.blocks,
            ids: [entry.uid, entry.gid, entry.mode],
            inode: entry.inode,
            links: entry.links,
            device: entry.device,
            stripes: entry.stripes,
            project: entry.project,
        }
    }
}

/// A random generator whose seed is printed, so that a failure can be repeated with `SCANNS_SEED`.
pub(super) fn seeded() -> fastrand::Rng {
    let seed = std::env::var("SCANNS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("SCANNS_SEED={seed}");
    fastrand::Rng::with_seed(seed)
}

/// Random bytes that often are separators, quotes and line ends, but none of `never`.
pub(super) fn hostile_text(random: &mut fastrand::Rng, longest: usize, never: &[u8]) -> Vec<u8> {
    const HOSTILE: &[u8] = b"\n\n\r\t\x1e\x1e\x1f|||,,\"\"''\\\\%%:!; -- /\xff\xc3\x010dfl";
    let length = random.usize(0..=longest);
    let byte = |_| match random.u8(0..3) {
        0 => random.u8(b'a'..=b'z'),
        1 => *random.choice(HOSTILE).unwrap(),
        _ => random.u8(1..=255),
    };
    (0..length).map(byte).filter(|byte| !never.contains(byte)).collect()
}

/// A random absolute path without a slash at its end.
pub(super) fn hostile_path(random: &mut fastrand::Rng, never: &[u8]) -> Vec<u8> {
    let mut path = vec![b'/'];
    path.extend(hostile_text(random, 40, never));
    while path.len() > 1 && path.last() == Some(&b'/') {
        path.pop();
    }
    path
}

/// A random number with any number of bits.
pub(super) fn any_number(random: &mut fastrand::Rng) -> u64 {
    random.u64(..) >> random.u32(0..64)
}

/// A random time in whole seconds, often before 1970.
pub(super) fn any_second(random: &mut fastrand::Rng) -> i64 {
    random.i64(-9_000_000_000..9_000_000_000) >> random.u32(0..30)
}

/// What a reader gives for a whole dump.
pub(super) fn read_whole(reader: &dyn ReadRows, dump: &[u8]) -> (Vec<OwnedEntry>, DumpTally) {
    let (mut entries, mut tally) = (Vec::new(), DumpTally::default());
    let flow = reader.read(dump, 0, &mut tally, &mut |entry| {
        entries.push(OwnedEntry::of(entry));
        ControlFlow::Continue(())
    });
    assert_eq!(flow, ControlFlow::Continue(()));
    (entries, tally)
}

/// What a reader gives for a dump of which `block` bytes at a time arrive, each part read on its own.
fn read_divided(reader: &dyn ReadRows, dump: &[u8], block: usize) -> (Vec<OwnedEntry>, DumpTally) {
    let (mut entries, mut tally) = (Vec::new(), DumpTally::default());
    let (mut start, mut end) = (0, 0);
    while start < dump.len() {
        end = (end.max(start) + block).min(dump.len());
        let length = if end == dump.len() {
            dump.len() - start
        } else {
            let length = reader.complete(&dump[start..end]);
            assert!(length <= end - start);
            length
        };
        let mut part = DumpTally::default();
        let flow = reader.read(&dump[start..start + length], start as u64, &mut part, &mut |entry| {
            entries.push(OwnedEntry::of(entry));
            ControlFlow::Continue(())
        });
        assert_eq!(flow, ControlFlow::Continue(()));
        tally.merge(part);
        start += length;
    }
    (entries, tally)
}

/// Checks that a dump gives the same in one part and in parts of many sizes.
pub(super) fn check_divisions(reader: &dyn ReadRows, dump: &[u8], random: &mut fastrand::Rng) {
    let whole = read_whole(reader, dump);
    let mut blocks = vec![1, dump.len().max(1)];
    blocks.extend((0..4).map(|_| random.usize(1..=dump.len().max(1))));
    for block in blocks {
        let divided = read_divided(reader, dump, block);
        assert_eq!(divided, whole, "block {block} of {}", dump.escape_ascii());
    }
}

/// Checks that a reader stops where the visitor says so.
pub(super) fn check_stop(reader: &dyn ReadRows, dump: &[u8], stop_after: usize) {
    let (mut visits, mut tally) = (0, DumpTally::default());
    let flow = reader.read(dump, 0, &mut tally, &mut |_| {
        visits += 1;
        if visits == stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((flow, visits), (ControlFlow::Break(()), stop_after));
}

/// The number of damaged dumps that a reader gets: with `SCANNS_LONG=1` a million.
pub(super) fn damaged_dumps() -> usize {
    let is_long = std::env::var_os("SCANNS_LONG").is_some_and(|value| value != "0");
    if is_long { 1_000_000 } else { 20_000 }
}

/// Checks a reader with [`damaged_dumps`]: it does not panic, and a division changes nothing. `account`
/// gets the damaged dump, the number of its entries, and what was counted.
pub(super) fn check_damage(
    reader: &dyn ReadRows,
    random: &mut fastrand::Rng,
    make: &mut dyn FnMut(&mut fastrand::Rng) -> Vec<u8>,
    account: &dyn Fn(&[u8], u64, &DumpTally),
) {
    for _ in 0..damaged_dumps() / 100 {
        let valid = make(random);
        for round in 0..100 {
            let dump = damaged(random, &valid);
            let (entries, tally) = read_whole(reader, &dump);
            account(&dump, entries.len() as u64, &tally);
            assert_eq!(tally.bad > 0, tally.first_bad.is_some());
            assert_eq!(tally.guessed > 0, tally.first_guessed.is_some());
            assert!(entries.iter().all(|entry| !entry.path.is_empty()));
            if round % 50 == 0 {
                check_divisions(reader, &dump, random);
            }
        }
    }
}

/// The dump with one to four bytes or ranges flipped, deleted, inserted, doubled or cut.
fn damaged(random: &mut fastrand::Rng, valid: &[u8]) -> Vec<u8> {
    let mut dump = valid.to_vec();
    for _ in 0..random.usize(1..=4) {
        if dump.is_empty() {
            break;
        }
        let start = random.usize(0..dump.len());
        let end = (start + 1 + random.usize(0..60)).min(dump.len());
        match random.u8(0..6) {
            0 => dump[start] ^= 1 << random.u8(0..8),
            1 => drop(dump.drain(start..end)),
            2 => dump.insert(start, random.u8(..)),
            3 => {
                let range = dump[start..end].to_vec();
                dump.splice(start..start, range);
            }
            4 if random.bool() => dump.truncate(start),
            _ => dump[start] = random.u8(..),
        }
    }
    dump
}
/// The number of rows of a dump whose rows end with `end`.
pub(super) fn count_rows(dump: &[u8], end: u8) -> u64 {
    let ends = memchr::memchr_iter(end, dump).count() as u64;
    ends + u64::from(!dump.is_empty() && dump.last() != Some(&end))
}
