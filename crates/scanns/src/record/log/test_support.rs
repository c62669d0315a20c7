//! What the tests of all readers of logs share.

use crate::record::made_record::MadeRecord;

/// The values of a record as `name=value`.
pub(super) fn values(names: &[&str], made: &MadeRecord) -> Vec<String> {
    let text = |place| String::from_utf8_lossy(&made.bytes()[place]).into_owned();
    made.values().map(|(name, place)| format!("{}={}", names[name as usize], text(place))).collect()
}

/// Bytes changed in some places, cut or doubled; `words` are put in.
pub(super) fn mutate(bytes: &[u8], random: &mut fastrand::Rng, words: &[&[u8]]) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for _ in 0..random.usize(1..5) {
        let at = random.usize(..=changed.len());
        match random.u8(..5) {
            0 if at < changed.len() => changed[at] = random.u8(..),
            1 => drop(changed.splice(at..at, words[random.usize(..words.len())].iter().copied())),
            2 => drop(changed.drain(at..changed.len().min(at + random.usize(..20)))),
            3 => changed.truncate(at.max(1)),
            _ => changed.insert(at, b"\"\\ []:-<>{},0x1=\t"[random.usize(..17)]),
        }
    }
    changed
}

/// How often a random test runs: less in debug builds.
pub(super) fn rounds(release: usize) -> usize {
    if cfg!(debug_assertions) { release / 10 } else { release }
}
