//! A tournament tree that finds the least of the current terms of several sources. When a source advances,
//! only its path to the root is evaluated again.
//!
//! A match compares the first 16 bytes as a number, without a branch. Which source wins is random, so a
//! branch would be mispredicted every other time, as it was with a heap. The terms themselves are compared
//! only if the numbers are equal.

use std::cmp::Ordering;

/// The sources that take part.
pub(super) trait Contestants {
    /// Compares the terms of two sources whose first 16 bytes are equal.
    fn compare(&self, a: usize, b: usize) -> Ordering;
}

/// A source at a term, or at its end.
#[derive(Clone, Copy)]
struct Player {
    head: u128,
    /// [`ENDED`] if it has no more terms.
    source: usize,
}

/// The number of a source that has ended.
const ENDED: usize = usize::MAX;

const LAST: Player = Player { head: u128::MAX, source: ENDED };

/// The tree of matches.
pub(super) struct Tournament {
    /// Place 1 is the final, `2n` and `2n + 1` play for place `n`, and the second half are the sources in
    /// their order.
    winners: Vec<Player>,
    /// The place of the first source.
    first: usize,
}

impl Tournament {
    /// A tournament of `sources` sources. Each has ended until [`Tournament::set`] is called for it.
    pub(super) fn new(sources: usize) -> Self {
        let first = sources.next_power_of_two().max(2);
        Tournament { winners: vec![LAST; 2 * first], first }
    }

    /// Sets the head of the current term of a source; `None` if the source has ended.
    #[inline(always)]
    #[expect(
        clippy::indexing_slicing,
        reason = "places are below the length by construction, for every source below the count"
    )]
    pub(super) fn set(&mut self, source: usize, head: Option<u128>, all: &impl Contestants) {
        let mut at = self.first + source;
        let mut best = head.map_or(LAST, |head| Player { head, source });
        self.winners[at] = best;
        while at > 1 {
            // The winner so far stays in registers; its next opponent is known before the match is decided.
            let other = self.winners[at ^ 1];
            let other_wins = if best.head == other.head {
                self.wins_tie(at ^ 1, other, best, all)
            } else {
                other.head < best.head
            };
            let mask = u128::from(other_wins).wrapping_neg();
            let narrow = usize::from(other_wins).wrapping_neg();
            best = Player {
                head: best.head ^ (best.head ^ other.head) & mask,
                source: best.source ^ (best.source ^ other.source) & narrow,
            };
            at /= 2;
            self.winners[at] = best;
        }
    }

    /// Returns true if `other`, at `place`, comes before `best`, which has the same head. Of equal terms the
    /// left is first.
    #[inline(never)]
    fn wins_tie(&self, place: usize, other: Player, best: Player, all: &impl Contestants) -> bool {
        match order(other, best, all) {
            Ordering::Equal => place.is_multiple_of(2),
            order => order == Ordering::Less,
        }
    }

    /// Replaces `group` by the sources that are at the least term, in their order; empty if all have ended.
    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "places are below the length by construction")]
    pub(super) fn least(&self, group: &mut Vec<usize>, all: &impl Contestants) {
        group.clear();
        let best = self.winners[1];
        if best.source == ENDED {
            return;
        }
        let mut at = self.first + best.source;
        group.push(best.source);
        // A source that ties with the winner lost to it on the way to the root, and is to its right.
        while at > 1 {
            let other = self.winners[at ^ 1];
            if other.head == best.head && order(best, other, all) == Ordering::Equal {
                self.ties(at ^ 1, best, group, all);
            }
            at /= 2;
        }
    }

    /// Adds all sources below `at` that tie with `best`.
    #[inline(never)]
    #[expect(clippy::indexing_slicing, reason = "places are below the length by construction")]
    fn ties(&self, at: usize, best: Player, group: &mut Vec<usize>, all: &impl Contestants) {
        let found = self.winners[at];
        if found.head != best.head || order(best, found, all) != Ordering::Equal {
            return;
        }
        if at >= self.first {
            group.push(found.source);
            return;
        }
        self.ties(2 * at, best, group, all);
        self.ties(2 * at + 1, best, group, all);
    }
}

/// Compares players with equal heads.
#[inline(always)]
fn order(a: Player, b: Player, all: &impl Contestants) -> Ordering {
    match (a.source, b.source) {
        (ENDED, _) | (_, ENDED) => a.source.cmp(&b.source),
        (a, b) => all.compare(a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::head;

    struct Lists(Vec<Vec<Vec<u8>>>);

    impl Contestants for Lists {
        fn compare(&self, a: usize, b: usize) -> Ordering {
            self.0[a].last().cmp(&self.0[b].last())
        }
    }

    #[test]
    fn terms_come_in_order_and_equal_terms_together() {
        let seed = 0x5eed_0907;
        let mut random = fastrand::Rng::with_seed(seed);
        let mut term = || {
            let long = [b"".as_slice(), b"sixteen bytes ..", &[0xff; 16], &[0xff; 15]];
            let mut term = random.choice(long).unwrap().to_vec();
            term.extend((0..random.usize(..3)).map(|_| *random.choice(&[0u8, b'a', b'b', 0xff]).unwrap()));
            term
        };
        for sources in [1, 2, 3, 5, 8, 33] {
            let mut lists = Lists(Vec::new());
            for source in 0..sources {
                let mut list: Vec<_> = (0..source % 7 * 9).map(|_| term()).collect();
                list.sort();
                list.dedup();
                list.reverse();
                lists.0.push(list);
            }
            let mut expected: Vec<(Vec<u8>, usize)> = (0..)
                .zip(&lists.0)
                .flat_map(|(at, list)| list.iter().map(move |t| (t.clone(), at)))
                .collect();
            expected.sort();
            let mut tournament = Tournament::new(sources);
            for source in 0..sources {
                let head = lists.0[source].last().map(|term| head(term));
                tournament.set(source, head, &lists);
            }
            let (mut found, mut group) = (Vec::new(), Vec::new());
            loop {
                tournament.least(&mut group, &lists);
                let Some(first) = group.first() else { break };
                let term = lists.0[*first].last().unwrap().clone();
                for &source in &group {
                    assert_eq!(lists.0[source].pop(), Some(term.clone()), "seed {seed:x}");
                    found.push((term.clone(), source));
                    let head = lists.0[source].last().map(|term| head(term));
                    tournament.set(source, head, &lists);
                }
            }
            assert_eq!(found, expected, "seed {seed:x}, {sources} sources");
        }
    }
}
