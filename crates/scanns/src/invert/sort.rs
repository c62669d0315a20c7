//! Sorts terms in byte order, in the memory of the term table.
//!
//! A term becomes a 128-bit number: 11 of its bytes, how many of them are real (12 if more follow), and its
//! entry number. One pass over the entries distributes the numbers by their first two bytes into the table's
//! memory, which the flush no longer needs. Each group is then sorted as integers: 35 ns per term. If terms
//! share all 11 bytes, the next 11 take their place and the run is sorted again. `drain.rs` does that when
//! the bytes are in the cache: here every comparison of a tie would wait for memory, 105 ns per term of a
//! source tree, which has many long terms.

use super::entry::TermEntry;
use super::store::TermEntries;
use crate::codec::head;
use crate::sys::prefetch;

/// Bytes of a term that one round compares.
const CHUNK: usize = 11;

/// The number of shared bytes from which on terms are compared as a whole: there are few, and each round
/// recurses once more.
const DEEP: usize = 100 * CHUNK;

/// The number of tied terms whose bytes are prefetched ahead; entries are prefetched twice as far ahead.
const AHEAD: usize = 12;

/// The order number of `entry`, whose term has this head and `len` bytes from there on.
#[inline(always)]
fn number(head: u128, len: usize, entry: u32) -> u128 {
    head >> 40 << 40 | (len.min(CHUNK + 1) as u128) << 32 | u128::from(entry)
}

/// The order number of `term` from byte `depth` on.
#[inline(always)]
fn order(term: &[u8], depth: usize, entry: u32) -> u128 {
    let rest = term.get(depth..).unwrap_or_default();
    number(head(rest), rest.len(), entry)
}

/// The entry number in an order number.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the lowest 32 bits are the entry")]
pub(super) fn entry_of(order: u128) -> u32 {
    order as u32
}

/// The order number of a whole term, computed from its entry.
#[inline(always)]
fn first_order(terms: &TermEntries, at: usize) -> u128 {
    let TermEntry { key, .. } = terms.entries[at];
    let entry = u32::try_from(at).unwrap_or(u32::MAX);
    if key.is_long() { order(terms.long(key), 0, entry) } else { number(key.head(), key.bytes().1, entry) }
}

/// Sorts `terms` by their first bytes: writes order numbers to `out`, which has room for all of them. Terms
/// with equal first bytes are in any order until [`settle_ties`].
pub(super) fn sort(terms: &TermEntries, out: &mut [u128]) {
    let digit = |order: u128| usize::try_from(order >> 112).unwrap_or(0);
    let mut starts = vec![0usize; (1 << 16) + 1];
    for number in 0..terms.len {
        starts[digit(first_order(terms, number)) + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut next = starts.clone();
    for number in 0..terms.len {
        let order = first_order(terms, number);
        let slot = &mut next[digit(order)];
        out[*slot] = order;
        *slot += 1;
    }
    for pair in starts.windows(2) {
        out[pair[0]..pair[1]].sort_unstable();
    }
}

/// The end of the run of terms with equal first bytes that contains `start`.
pub(super) fn end_of_run(order: &[u128], start: usize) -> usize {
    let Some(head) = order.get(start).map(|order| order >> 32) else { return order.len() };
    start + order[start..].iter().take_while(|&&order| order >> 32 == head).count()
}

/// Sorts numbers made at `depth`, then the runs that are still tied.
fn sort_group(terms: &TermEntries, group: &mut [u128], depth: usize) {
    if depth > DEEP {
        let term = |order: &u128| terms.with_bytes(entry_of(*order), |term| term.to_vec());
        return group.sort_by_cached_key(term);
    }
    group.sort_unstable();
    settle_ties(terms, group, depth);
}

/// Puts tied terms in their final order; `group` holds whole runs that were sorted at `depth`.
pub(super) fn settle_ties(terms: &TermEntries, group: &mut [u128], depth: usize) {
    let mut start = 0;
    while start + 1 < group.len() {
        if group[start] >> 32 != group[start + 1] >> 32 {
            start += 1;
            continue;
        }
        let end = end_of_run(group, start);
        let deeper = depth + CHUNK;
        let tied = &mut group[start..end];
        for i in 0..tied.len() {
            if let Some(&ahead) = tied.get(i + 2 * AHEAD) {
                prefetch(terms.entries.as_ptr().wrapping_add(entry_of(ahead) as usize));
            }
            if let Some(&ahead) = tied.get(i + AHEAD) {
                terms.prefetch_bytes(entry_of(ahead));
            }
            let entry = entry_of(tied[i]);
            tied[i] = terms.with_bytes(entry, |term| order(term, deeper, entry));
        }
        sort_group(terms, tied, deeper);
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_numbers_compare_as_the_bytes_do() {
        let all: Vec<Vec<u8>> = (0..40usize)
            .flat_map(|len| {
                [0u8, 1, 0xff].map(|byte| (0..len).map(|i| if i % 5 == 4 { byte } else { b'm' }).collect())
            })
            .collect();
        for a in &all {
            for b in &all {
                let (x, y) = (order(a, 0, 0), order(b, 0, 0));
                let decided = x != y;
                assert!(!decided || (x < y) == (a < b), "{a:?} {b:?}");
                assert!(decided || a == b || (a.len() > CHUNK && a[..CHUNK] == b[..CHUNK]), "{a:?} {b:?}");
            }
        }
    }
}
