//! What the tests of all readers share.

use crate::record::made_record::MadeRecord;
use std::{
    fmt::Debug,
    time::{Duration, Instant},
};

/// A call of `next_end`.
pub type NextEnd<'a> = dyn FnMut(&[u8], bool) -> Option<usize> + 'a;

/// A seed that the test prints.
pub fn seed() -> u64 {
    let seed =
        std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    println!("SEED={seed}");
    seed
}

/// The records of bytes that come all at once.
pub fn records<'a>(bytes: &'a [u8], next_end: &mut NextEnd<'_>) -> Vec<&'a [u8]> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some(end) = next_end(rest, true) {
        assert!(end > 0 && end <= rest.len(), "an end at {end} of {}", rest.len());
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    assert!(rest.is_empty(), "{} bytes are in no record", rest.len());
    found
}

/// The records of bytes that come in pieces of random sizes.
pub fn records_of_pieces<'a>(
    bytes: &'a [u8],
    random: &mut fastrand::Rng,
    next_end: &mut NextEnd<'_>,
) -> Vec<&'a [u8]> {
    let mut found = Vec::new();
    let (mut start, mut seen) = (0, 0);
    while start < bytes.len() {
        if let Some(end) = next_end(&bytes[start..seen], seen == bytes.len()) {
            assert!(end > 0 && start + end <= seen);
            found.push(&bytes[start..start + end]);
            start += end;
        } else {
            assert!(seen < bytes.len(), "no end at the end");
            seen = bytes.len().min(seen + random.usize(1..12));
        }
    }
    found
}

/// The values of a record as `name=value`.
pub fn values(names: &[&str], made: &MadeRecord) -> Vec<String> {
    let text = |place| String::from_utf8_lossy(&made.bytes()[place]).into_owned();
    made.values().map(|(name, place)| format!("{}={}", names[name as usize], text(place))).collect()
}

/// Bytes changed in some places, cut or doubled.
pub fn mutate(bytes: &[u8], random: &mut fastrand::Rng, words: &[&[u8]]) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for _ in 0..random.usize(1..8) {
        let at = random.usize(..=changed.len());
        match random.u8(..4) {
            0 if at < changed.len() => changed[at] = random.u8(..),
            1 => drop(changed.splice(at..at, words[random.usize(..words.len())].iter().copied())),
            2 => drop(changed.drain(at..changed.len().min(at + 9))),
            _ => changed.insert(at, b"<>&\n =?.{}[]|'"[random.usize(..14)]),
        }
    }
    changed
}

/// Runs `work` over a piece of text repeated to 1 MiB: it must take time as for a linear pass.
pub fn run_over_repeated<T: Debug>(piece: &[u8], work: impl FnOnce(&[u8]) -> T) {
    let bytes = piece.repeat((1 << 20) / piece.len());
    let start = Instant::now();
    work(&bytes);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?} for {:?}", String::from_utf8_lossy(piece));
}

#[test]
#[should_panic(expected = "canary")]
fn ends_that_depend_on_the_pieces_are_found() {
    let mut random = fastrand::Rng::with_seed(seed());
    let bytes = b"line\n".repeat(100);
    // Ends at the last line break that is there, and not at the first.
    let mut last = |bytes: &[u8], _: bool| bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    let whole = records(&bytes, &mut last);
    assert_eq!(whole, records_of_pieces(&bytes, &mut random, &mut last), "canary");
}
