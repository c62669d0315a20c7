//! Finds an order of documents in which similar ones stand near each other: recursive graph bisection.
//!
//! Documents are cut in two halves, and those change sides that make the gaps between the documents of a term shorter, by
//! an estimate of the bits that the gaps will take; then each half is cut in turn. This is Dhulipala et al., "Compressing
//! Graphs and Indexes with Recursive Graph Bisection" (KDD 2016). As Mackenzie et al. found ("Tradeoff Options for
//! Bipartite Graph Partitioning", 2022), the halves need not be sorted by what a change of sides gains, since the pairs that
//! would be exchanged are those on the wrong side of the median, which selection finds in linear time. What a term gains is
//! computed once for a round, so the inner loop, one step for a posting and round, is a sum of numbers from a table.
//!
//! Each half gets rows of its own in which terms are numbered anew, without those that are in one document or in all:
//! they cost the same wherever it stands. So rows shrink and stay in the caches the farther down it goes.
//!
//! The estimate knows nothing of the order in which documents came, which may be a good one: that of a walk through
//! directories is. So on the way up, what was cut is compared with it by the bits that lists would take, and the better one
//! is kept. Without that, lines of a sorted dump took a sixth more than before, with it a hundredth less. Terms in most
//! documents count too: their gaps are short but many, and left out they took twice as much.
//!
//! The result does not depend on the number of threads: those share halves, and documents of a half, never sums. Threads
//! that have halves of their own hold rows at the same time that one thread holds one after the other. So there are no more
//! of those than the memory allows; the others share the documents of a half.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::{LookIn, Reordering};
use crate::codec::BLOCK;
use crate::error::Result;

/// Documents that are not cut any more: they keep their order.
const LEAF: usize = 16;

/// Rounds of changing sides for a cut.
const ROUNDS: usize = 20;

/// A round that saves less than this part of the cost is the last one.
const WORTH: f64 = 1.0 / 1000.0;

/// Rows for which another thread is worth starting.
const MANY: usize = 1 << 12;

/// No number.
const NONE: u32 = u32::MAX;

/// Documents with the numbers of their terms.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Where the row of each document begins in `terms`, and where the last one ends.
    pub(super) starts: Vec<usize>,
    pub(super) terms: Vec<u32>,
    /// By term whether its list is packed in blocks: those of all documents.
    pub(super) packed: Vec<bool>,
}

impl Rows {
    fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn row(&self, doc: usize) -> &[u32] {
        match self.starts.get(doc..doc + 2) {
            Some(&[start, end]) => self.terms.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Terms are below this.
    fn distinct(&self) -> usize {
        self.packed.len()
    }

    /// The rows on one side, of whose terms `degrees` says how many have them, and which documents those are.
    fn part(&self, sides: &[bool], side: bool, degrees: &[[u32; 2]]) -> (Rows, Vec<u32>) {
        let docs: Vec<u32> =
            (0..).zip(sides).filter(|&(_, &other)| other == side).map(|(doc, _)| doc).collect();
        let tells = |degree: u32| degree > 1 && (degree as usize) < docs.len();
        let (mut packed, mut distinct, mut postings) = (Vec::new(), 0, 0);
        let mut numbers = Vec::with_capacity(degrees.len());
        for (pair, &long) in degrees.iter().zip(&self.packed) {
            let degree = pair[usize::from(side)];
            if !tells(degree) {
                numbers.push(NONE);
                continue;
            }
            packed.push(long);
            numbers.push(distinct);
            distinct += 1;
            postings += degree as usize;
        }
        let mut part =
            Rows { starts: Vec::with_capacity(docs.len() + 1), terms: Vec::with_capacity(postings), packed };
        part.starts.push(0);
        for &doc in &docs {
            let number = |&term: &u32| numbers.get(term as usize).copied().unwrap_or(NONE);
            part.terms.extend(self.row(doc as usize).iter().map(number).filter(|&number| number != NONE));
            part.starts.push(part.terms.len());
        }
        (part, docs)
    }
}

/// Memory that [`order`] takes at least, rows included, in bytes: it must be allowed as much.
pub(super) fn memory(documents: u64, postings: u64) -> u64 {
    // Rows, their halves, and all below those; of a document as often where its row is, what it is called, its side and
    // what a change of it is worth.
    documents.saturating_mul(64).saturating_add(postings.saturating_mul(12))
}

/// How often halves may be shared among threads within `memory` bytes: all rows of such a level are there at the same time.
fn levels(documents: u64, postings: u64, memory: u64) -> u32 {
    let level = documents.saturating_mul(16).saturating_add(postings.saturating_mul(4)).max(1);
    let spare = memory.saturating_sub(self::memory(documents, postings));
    u32::try_from(spare / level).unwrap_or(u32::MAX)
}

/// Documents times cuts: what `look` hears of, for a bar.
pub(super) fn steps(documents: usize) -> u64 {
    documents as u64 * u64::from(documents.div_ceil(LEAF).next_power_of_two().trailing_zeros())
}

/// The documents `0..` of `rows` in their new order, and the bits that it saves; neither depends on the threads, nor on the
/// memory, if it is what [`memory`] says or more. `look` is called now and then with the steps done since.
///
/// # Errors
/// Those of `look`.
pub(super) fn order(rows: &Rows, how: &Reordering, look: LookIn<'_>) -> Result<(Vec<u32>, u64)> {
    let mut out = vec![0; rows.len()];
    let levels = levels(rows.len() as u64, rows.terms.len() as u64, how.memory);
    Bisection { costs: Costs::new(), look }.cut(rows, (how.threads.max(1), levels), &mut out)?;
    let kept = bits(rows, (0..).take(out.len()));
    let saved = kept.saturating_sub(bits(rows, out.iter().copied()));
    Ok((out, saved))
}

/// What all cuts share.
struct Bisection<'a> {
    costs: Costs,
    look: LookIn<'a>,
}

impl Bisection<'_> {
    /// Fills `out` with the documents `0..` of these rows in their new order, with so many threads, which may share halves
    /// so often.
    fn cut(&self, rows: &Rows, (threads, levels): (usize, u32), out: &mut [u32]) -> Result<()> {
        keep(out);
        if out.len() <= LEAF {
            return Ok(());
        }
        let half = out.len() / 2;
        let ((left, left_docs), (right, right_docs)) = {
            let mut halves = Halves::new(rows, half);
            halves.settle(&self.costs, threads, self.look)?;
            let Halves { right, degrees, .. } = halves;
            (rows.part(&right, false, &degrees), rows.part(&right, true, &degrees))
        };
        (self.look)(out.len() as u64)?;
        let (left_out, right_out) = out.split_at_mut(half);
        if threads < 2 || levels == 0 || half < MANY {
            self.cut(&left, (threads, levels), left_out)?;
            self.cut(&right, (threads, levels), right_out)?;
        } else {
            let (mine, other) = ((threads / 2, levels - 1), (threads - threads / 2, levels - 1));
            both(|| self.cut(&right, mine, right_out), || self.cut(&left, other, left_out))?;
        }
        drop((left, right));
        let (left_out, right_out) = out.split_at_mut(half);
        for (half, docs) in [(left_out, left_docs), (right_out, right_docs)] {
            for place in half {
                *place = docs.get(*place as usize).copied().unwrap_or(NONE);
            }
        }
        if bits(rows, out.iter().copied()) >= bits(rows, (0..).take(out.len())) {
            keep(out);
        }
        Ok(())
    }
}

/// Does `other` in a thread of its own, or after `mine` where none can be started.
fn both(mine: impl FnOnce() -> Result<()>, other: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    let waiting = Mutex::new(Some(other));
    let other = || {
        let work = waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.map_or(Ok(()), |work| work())
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("reorder".into()).spawn_scoped(scope, other);
        let mine = mine();
        let other = match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => other(),
        };
        other.and(mine)
    })
}

/// The order in which documents came.
fn keep(out: &mut [u32]) {
    (0..).zip(out).for_each(|(doc, place)| *place = doc);
}

/// What the gaps of these documents take in this order, much as lists are encoded: see `codec/postings`.
fn bits(rows: &Rows, order: impl Iterator<Item = u32>) -> u64 {
    // The place of the latest document of each term; of its block how wide gaps are and how many.
    let mut last = vec![0u32; rows.distinct()];
    let mut blocks = vec![(0u8, 0u8); rows.distinct()];
    let mut bits = 0;
    for (place, doc) in (1u32..).zip(order) {
        for &term in rows.row(doc as usize) {
            let term = term as usize;
            let (Some(last), Some(block)) = (last.get_mut(term), blocks.get_mut(term)) else { continue };
            let gap = place - std::mem::replace(last, place);
            let width = u32::BITS - (gap - 1).leading_zeros();
            if rows.packed.get(term) != Some(&true) {
                // A bit says that the frequency is one.
                bits += 8 * u64::from((width + 1).div_ceil(7).max(1));
                continue;
            }
            *block = (block.0.max(u8::try_from(width).unwrap_or(u8::MAX)), block.1 + 1);
            if usize::from(block.1) == BLOCK {
                bits += u64::from(block.0) * BLOCK as u64;
                *block = (0, 0);
            }
        }
    }
    bits + blocks.into_iter().map(|(width, count)| u64::from(width) * u64::from(count)).sum::<u64>()
}

/// Documents in two halves.
struct Halves<'r> {
    rows: &'r Rows,
    /// Documents on the left.
    half: usize,
    /// True for those on the right.
    right: Vec<bool>,
    /// By term: documents with it on the left, and on the right.
    degrees: Vec<[u32; 2]>,
}

impl<'r> Halves<'r> {
    /// The first `half` of them, and the others.
    fn new(rows: &'r Rows, half: usize) -> Self {
        let right: Vec<bool> = (0..rows.len()).map(|doc| doc >= half).collect();
        let mut degrees = vec![[0; 2]; rows.distinct()];
        for (doc, &right) in right.iter().enumerate() {
            for &term in rows.row(doc) {
                if let Some(pair) = degrees.get_mut(term as usize) {
                    pair[usize::from(right)] += 1;
                }
            }
        }
        Halves { rows, half, right, degrees }
    }

    /// Lets documents change sides as long as that makes it cheaper.
    fn settle(&mut self, costs: &Costs, threads: usize, look: LookIn<'_>) -> Result<()> {
        let sizes = [self.half, self.rows.len() - self.half];
        let mut gains = vec![[0f32; 2]; self.degrees.len()];
        let mut wishes = vec![(0f32, 0u32); self.rows.len()];
        let mut moved: Vec<usize> = Vec::new();
        let mut before = f64::INFINITY;
        for round in 0..=ROUNDS {
            let cost = costs.all(&self.degrees, sizes, &mut gains);
            if cost >= before {
                // What was expected of each change alone did not come of all together.
                self.change(&moved);
                break;
            }
            if round == ROUNDS || before - cost < cost * WORTH {
                break;
            }
            before = cost;
            look(0)?;
            self.wish(&gains, threads, &mut wishes);
            // The first half of the wishes stays or comes to the left.
            let least = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if self.half < wishes.len() {
                wishes.select_nth_unstable_by(self.half, least);
            }
            let wrong = |at: usize, doc: u32| self.right.get(doc as usize) == Some(&(at < self.half));
            let wrong = wishes.iter().enumerate().filter(|&(at, &(_, doc))| wrong(at, doc));
            moved.clear();
            moved.extend(wrong.map(|(_, &(_, doc))| doc as usize));
            if moved.is_empty() {
                break;
            }
            self.change(&moved);
        }
        Ok(())
    }

    /// Lets these documents change sides.
    fn change(&mut self, docs: &[usize]) {
        for &doc in docs {
            let Some(right) = self.right.get_mut(doc) else { continue };
            let from = usize::from(*right);
            *right = !*right;
            for &term in self.rows.row(doc) {
                if let Some(pair) = self.degrees.get_mut(term as usize) {
                    pair[from] -= 1;
                    pair[1 - from] += 1;
                }
            }
        }
    }

    /// By document how much it would rather be on the right, from what each term gains by a change of sides.
    fn wish(&self, gains: &[[f32; 2]], threads: usize, wishes: &mut [(f32, u32)]) {
        let fill = |first: usize, wishes: &mut [(f32, u32)]| {
            for ((doc, number), wish) in (first..).zip((0u32..).skip(first)).zip(wishes) {
                let right = self.right.get(doc) == Some(&true);
                let gain =
                    |&term: &u32| gains.get(term as usize).map_or(0.0, |pair| pair[usize::from(right)]);
                let sum: f32 = self.rows.row(doc).iter().map(gain).sum();
                *wish = (if right { -sum } else { sum }, number);
            }
        };
        let each = wishes.len().div_ceil(threads).max(MANY);
        let others = wishes.len().div_ceil(each).saturating_sub(1);
        let parts = Mutex::new(wishes.chunks_mut(each).enumerate());
        let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some((part, wishes)) = next() {
                fill(part * each, wishes);
            }
        };
        thread::scope(|scope| {
            for _ in 0..others {
                if thread::Builder::new().name("reorder".into()).spawn_scoped(scope, work).is_err() {
                    // The threads that there are do it all.
                    break;
                }
            }
            work();
        });
    }
}

/// The estimate of bits: the gaps of `d` documents among `n` take about `d · log2(n / (d + 1))`.
struct Costs {
    /// By `d`: `d · log2(d + 1)`.
    sums: Vec<f32>,
    /// By `d`: how much more that is than for `d - 1`.
    rises: Vec<f32>,
}

/// Numbers whose logarithms are in a table.
const TABLE: u32 = 1 << 12;

impl Costs {
    fn new() -> Self {
        Costs { sums: (0..TABLE).map(sum).collect(), rises: (0..TABLE).map(rise).collect() }
    }

    #[inline]
    fn rise(&self, degree: u32) -> f32 {
        self.rises.get(degree as usize).copied().unwrap_or_else(|| rise(degree))
    }

    #[inline]
    fn sum(&self, degree: u32) -> f32 {
        self.sums.get(degree as usize).copied().unwrap_or_else(|| sum(degree))
    }

    /// What all terms cost, and in `gains` by term what it gains if a document with it goes from the left to the right, and
    /// back.
    fn all(&self, degrees: &[[u32; 2]], sizes: [usize; 2], gains: &mut [[f32; 2]]) -> f64 {
        let [left_bits, right_bits] = sizes.map(|size| (size.max(1) as f64).log2());
        #[expect(clippy::cast_possible_truncation, reason = "an estimate")]
        let between = (left_bits - right_bits) as f32;
        let mut cost = 0.0;
        for (&[left, right], gain) in degrees.iter().zip(gains) {
            cost += f64::from(left) * left_bits + f64::from(right) * right_bits;
            cost -= f64::from(self.sum(left)) + f64::from(self.sum(right));
            *gain = [
                between - self.rise(left) + self.rise(right + 1),
                self.rise(left + 1) - self.rise(right) - between,
            ];
        }
        cost
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an estimate")]
fn sum(degree: u32) -> f32 {
    (f64::from(degree) * (f64::from(degree) + 1.0).log2()) as f32
}

#[expect(clippy::cast_possible_truncation, reason = "an estimate")]
fn rise(degree: u32) -> f32 {
    let sum = |degree: f64| degree * (degree + 1.0).log2();
    (sum(degree.into()) - sum((f64::from(degree) - 1.0).max(0.0))) as f32
}

#[cfg(test)]
mod tests;
