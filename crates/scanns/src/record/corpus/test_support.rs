//! What the tests of all readers share.

use crate::record::made_record::MadeRecord;
use crate::record::test_ends::{records_of_any_pieces, seed};
use std::{
    fmt::Debug,
    time::{Duration, Instant},
};

/// The values of a record as `name=value`.
pub fn values(names: &[&str], made: &MadeRecord) -> Vec<String> {
    let text = |place| String::from_utf8_lossy(&made.bytes()[place]).into_owned();
    made.values().map(|(name, place)| format!("{}={}", names[name as usize], text(place))).collect()
}

/// Bytes changed in some places, cut or doubled.
fn mutate(bytes: &[u8], random: &mut fastrand::Rng, words: &[&[u8]]) -> Vec<u8> {
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

/// Changes bytes at random `rounds` times, and checks that their records are the same when they come in
/// pieces. `next_end` finds the ends, and `read` gets each record.
pub fn cut_changed<State: Default>(
    bytes: &[u8],
    words: &[&[u8]],
    rounds: usize,
    next_end: fn(&mut State, &[u8], bool) -> Option<usize>,
    mut read: impl FnMut(&[u8]),
) {
    let mut random = fastrand::Rng::with_seed(seed());
    for _ in 0..rounds {
        let changed = mutate(bytes, &mut random, words);
        records_of_any_pieces(&changed, &mut random, next_end).into_iter().for_each(&mut read);
    }
}
