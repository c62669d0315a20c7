//! Remembers the results of recent look-ups in a dictionary.
//!
//! A search asks for the same terms several times: for the hits, for their number, for facets, for the next
//! page. Without this, look-ups are two thirds of the time of a query of one word.

use std::sync::{Mutex, OnceLock};

use super::info::{GROUP, TermInfo, TermPositions};

/// The most slots of a dictionary; they take 64 KiB.
const MOST_SLOTS: usize = 512;

/// A dictionary has one slot for this many terms.
const TERMS_PER_SLOT: usize = 16;

/// Longer terms are not remembered.
const LONGEST: usize = 31;

type LookedUp = Option<(TermInfo, TermPositions)>;

/// The results of recent look-ups. The memory is allocated by the first one.
#[derive(Debug, Default)]
pub(super) struct RecentTerms {
    slots: OnceLock<Box<[Mutex<Option<RecentTerm>>]>>,
}

#[derive(Clone, Copy, Debug)]
struct RecentTerm {
    key: RecentKey,
    found: LookedUp,
}

/// A term in 32 bytes: its bytes, zeros, and its length in the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RecentKey([u64; 4]);

impl RecentKey {
    fn of(term: &[u8]) -> Option<Self> {
        let len = u8::try_from(term.len()).ok().filter(|&len| usize::from(len) <= LONGEST)?;
        let mut bytes = [0; LONGEST + 1];
        bytes.get_mut(..term.len())?.copy_from_slice(term);
        bytes[LONGEST] = len;
        let (words, _) = bytes.as_chunks::<8>();
        let mut key = [0; 4];
        key.iter_mut().zip(words).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        Some(RecentKey(key))
    }

    fn hash(&self) -> u64 {
        self.0.iter().fold(0, |hash, word| {
            let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ mixed >> 32
        })
    }
}

impl RecentTerms {
    /// The result of looking up `term` in a dictionary of `groups` groups: `find` looks it up unless that was
    /// done recently. Errors are not remembered.
    #[inline]
    pub(super) fn find<E>(
        &self,
        term: &[u8],
        groups: usize,
        find: impl FnOnce() -> Result<LookedUp, E>,
    ) -> Result<LookedUp, E> {
        let Some(key) = RecentKey::of(term) else { return find() };
        let slots = self.slots.get_or_init(|| empty_slots(groups));
        let place = usize::try_from(key.hash() % slots.len().max(1) as u64).unwrap_or(0);
        // Nobody waits: if another thread is at the slot, the dictionary is asked.
        let Some(mut slot) = slots.get(place).and_then(|slot| slot.try_lock().ok()) else { return find() };
        if let Some(recent) = slot.as_ref().filter(|recent| recent.key == key) {
            return Ok(recent.found);
        }
        let found = find()?;
        *slot = Some(RecentTerm { key, found });
        Ok(found)
    }
}

fn empty_slots(groups: usize) -> Box<[Mutex<Option<RecentTerm>>]> {
    let count = (groups.saturating_mul(GROUP) / TERMS_PER_SLOT).clamp(1, MOST_SLOTS).next_power_of_two();
    (0..count).map(|_| Mutex::new(None)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_the_dictionary_whatever_was_looked_up_before() {
        let seed = 0x5eed_26b1;
        let mut random = fastrand::Rng::with_seed(seed);
        let (recent, mut asked) = (RecentTerms::default(), 0);
        let info = |number: u32| match number % 3 {
            0 => None,
            _ => Some((TermInfo::Single { doc: number, term_freq: 1 }, TermPositions::NotKept)),
        };
        for round in 0..20_000 {
            let number = random.u32(..600) * random.u32(..2) + random.u32(..20);
            let term = [format!("{number}"), format!("{number:031}"), format!("{number:032}")];
            let term = &term[random.usize(..3)];
            let found: Result<LookedUp, ()> = recent.find(term.as_bytes(), 40, || {
                asked += 1;
                Ok(info(number))
            });
            assert_eq!(found, Ok(info(number)), "seed {seed:x} round {round}: {term}");
        }
        // A third of the terms is too long, and others take turns in the slots.
        assert!((7_000..18_000).contains(&asked), "{asked} of 20,000 were looked up");
        assert_eq!(recent.slots.get().unwrap().len(), 256);
        assert!(MOST_SLOTS * size_of::<Mutex<Option<RecentTerm>>>() <= 64 << 10);
    }

    #[test]
    fn terms_that_end_with_zeros_are_other_terms_and_errors_are_not_remembered() {
        let recent = RecentTerms::default();
        let only = |doc| Some((TermInfo::Single { doc, term_freq: 1 }, TermPositions::NotKept));
        for (doc, term) in [(1, &b"a"[..]), (2, b"a\0"), (3, b""), (4, b"\0")] {
            assert_eq!(recent.find(term, 0, || Err("damaged")), Err("damaged"));
            assert_eq!(recent.find::<()>(term, 0, || Ok(only(doc))), Ok(only(doc)));
            assert_eq!(recent.find(term, 0, || Err("not asked again")), Ok(only(doc)));
        }
    }

    #[test]
    fn a_slot_that_is_in_use_is_passed_by() {
        let recent = RecentTerms::default();
        let outer = recent.find::<()>(b"term", 0, || {
            let inner = recent.find::<()>(b"other", 0, || Ok(None));
            assert_eq!(inner, Ok(None));
            Ok(None)
        });
        assert_eq!(outer, Ok(None));
    }
}
