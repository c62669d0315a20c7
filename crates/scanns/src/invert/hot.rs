//! A small cache in front of the table: the few terms that make up most of some texts.
//!
//! Three quarters of the tokens of a metadata dump are of 64 terms. They are found here and counted at once, in place of
//! waiting in the batch, which leaves the batch to terms that do have to come from memory: 5 % more text a second.
//! Where frequent terms are a smaller part, a wrong guess of the branch costs more than the batch does: source code,
//! with 45 % of its tokens found here, was 15 % slower. So it is tried from time to time whether it pays.
//!
//! So that the tokens of a term stay in order, terms may enter only while no token waits in the batch.

use super::entry::Key;
use super::table::NONE;

/// Terms that are kept, a power of two.
const HOT: usize = 256;

/// Tokens after which it is decided whether looking here pays, and tokens without looking if it does not.
const TRIAL: usize = 1 << 14;
const PAUSE: usize = 1 << 19;

/// The share of tokens found, in percent, from which on it pays.
const PAYS: usize = 58;

/// See the module.
pub(super) struct Hot {
    /// True while tokens are to be looked up here.
    pub(super) on: bool,
    keys: [Key; HOT],
    entries: [u32; HOT],
    /// Tokens of this trial or pause so far.
    tokens: usize,
    /// Tokens not found in this trial.
    misses: usize,
}

impl Hot {
    pub(super) fn new() -> Hot {
        Hot { on: true, keys: [Key::waiting(0, 0); HOT], entries: [NONE; HOT], tokens: 0, misses: 0 }
    }

    #[inline(always)]
    fn slot(fingerprint: u32) -> usize {
        (fingerprint >> (32 - HOT.trailing_zeros())) as usize
    }

    /// The entry of a short term, if it is here.
    #[inline(always)]
    pub(super) fn find(&self, key: Key, fingerprint: u32) -> Option<u32> {
        let slot = Hot::slot(fingerprint);
        (self.keys[slot] == key).then(|| self.entries[slot])
    }

    /// Keeps a short term in place of another one.
    #[inline(always)]
    pub(super) fn put(&mut self, key: Key, fingerprint: u32, entry: u32) {
        let slot = Hot::slot(fingerprint);
        self.keys[slot] = key;
        self.entries[slot] = entry;
    }

    /// Notes that `tokens` were not found here.
    #[inline(always)]
    pub(super) fn missed(&mut self, tokens: usize) {
        self.misses += tokens;
    }

    /// Notes that `tokens` went by; true if they are looked up here from now on and were not before.
    #[inline(always)]
    pub(super) fn goes_on(&mut self, tokens: usize) -> bool {
        self.tokens += tokens;
        self.tokens >= if self.on { TRIAL } else { PAUSE } && self.decide()
    }

    #[cold]
    fn decide(&mut self) -> bool {
        let was_on = self.on;
        self.on = !was_on || self.misses * 100 <= self.tokens * (100 - PAYS);
        (self.tokens, self.misses) = (0, 0);
        self.on && !was_on
    }

    /// Forgets the terms, whose entries are gone.
    pub(super) fn clear(&mut self) {
        self.keys = [Key::waiting(0, 0); HOT];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_here_stops_where_it_does_not_pay_and_is_tried_again() {
        let mut hot = Hot::new();
        hot.missed(TRIAL / 10);
        assert!(!hot.goes_on(TRIAL) && hot.on, "nine tenths found: it goes on");
        hot.missed(TRIAL / 2);
        assert!(!hot.goes_on(TRIAL) && !hot.on, "half of them found: it stops");
        assert!(!hot.goes_on(PAUSE - 1) && !hot.on);
        assert!(hot.goes_on(1) && hot.on, "what waits must be taken before it goes on");
    }

    #[test]
    fn a_term_is_found_until_another_takes_its_place() {
        let mut hot = Hot::new();
        let (one, other) = (Key::short(b"one"), Key::short(b"other"));
        hot.put(one, 7 << 24 | 1, 11);
        assert_eq!((hot.find(one, 7 << 24 | 1), hot.find(other, 7 << 24 | 2)), (Some(11), None));
        hot.put(other, 7 << 24 | 2, 12);
        assert_eq!((hot.find(one, 7 << 24 | 1), hot.find(other, 7 << 24 | 2)), (None, Some(12)));
        hot.clear();
        assert_eq!(hot.find(other, 7 << 24 | 2), None);
        assert_eq!(hot.find(Key::short(b""), 0), None);
    }
}
