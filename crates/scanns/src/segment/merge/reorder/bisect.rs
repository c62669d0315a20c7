//! Finds an order of documents in which similar ones are near each other, by recursive graph bisection.
//!
//! Documents are cut into two halves. Documents change sides if that makes the gaps between the documents of
//! their terms shorter, by an estimate of the bits that the gaps will take. Then each half is cut in turn.
//! This is Dhulipala et al., "Compressing Graphs and Indexes with Recursive Graph Bisection" (KDD 2016). As
//! Mackenzie et al. found ("Tradeoff Options for Bipartite Graph Partitioning", 2022), the halves need not be
//! sorted by gain: the pairs that would be exchanged are those on the wrong side of the median, which
//! selection finds in linear time. The gain of a term is computed once per round, so the inner loop, which
//! runs once per posting and round, adds up numbers from a table.
//!
//! Each half gets separate rows, in which terms have new numbers. Terms that are in one document or in all of
//! them are dropped, since they cost the same in any order. So the deeper the recursion, the smaller the
//! rows, until they fit into the caches.
//!
//! The estimate ignores the original order of the documents, which may be a good one, such as the order of a
//! walk through directories. So on the way up, both orders are compared by the bits that lists would take,
//! and the better one is kept. Without this, the lists of lines of a sorted dump became a sixth larger; with
//! it, they become a hundredth smaller. Terms in most documents are included: their gaps are short but many,
//! and without them lists took twice as much space.
//!
//! The result does not depend on the number of threads: they share halves, and documents of a half, but no
//! sums. Threads that work on separate halves hold the rows of both at the same time. So halves are divided
//! among threads only as far as the memory allows; further threads share the documents of a half.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread;

use super::settings::Reordering;
use crate::codec::BLOCK;
use crate::error::Result;
use crate::sys::lock;

/// Called with the steps done since the last call; an error from it ends the work.
pub(super) type LookIn<'a> = &'a (dyn Fn(u64) -> Result<()> + Sync);

/// Sets of this size or smaller are not cut; they keep their order.
const LEAF: usize = 16;

/// The maximum number of rounds of exchanging documents per cut.
const ROUNDS: usize = 20;

/// A round that saves less than this share of the cost is the last one.
const WORTH: f64 = 1.0 / 1000.0;

/// The minimum number of rows for another thread.
const MANY: usize = 1 << 12;

/// The number of a term that was dropped.
const NONE: u32 = u32::MAX;

/// The numbers of the terms of each document.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Start of the row of each document in `terms`, and the end of the last row.
    pub(super) starts: Vec<usize>,
    pub(super) terms: Vec<u32>,
    /// By term: whether its list over all documents is packed in blocks.
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

    /// Number of terms.
    fn distinct(&self) -> usize {
        self.packed.len()
    }

    /// The rows of one side and its documents; `degrees` has the number of documents per term and side.
    #[expect(clippy::indexing_slicing, reason = "a side is 0 or 1")]
    fn side_rows(&self, sides: &[bool], side: bool, degrees: &[[u32; 2]]) -> (Rows, Vec<u32>) {
        let docs: Vec<u32> =
            (0..).zip(sides).filter(|&(_, &other)| other == side).map(|(doc, _)| doc).collect();
        let counts = |degree: u32| degree > 1 && (degree as usize) < docs.len();
        let (mut packed, mut distinct, mut postings) = (Vec::new(), 0, 0);
        let mut numbers = Vec::with_capacity(degrees.len());
        for (pair, &long) in degrees.iter().zip(&self.packed) {
            let degree = pair[usize::from(side)];
            if !counts(degree) {
                numbers.push(NONE);
                continue;
            }
            packed.push(long);
            numbers.push(distinct);
            distinct += 1;
            postings += degree as usize;
        }
        let mut rows =
            Rows { starts: Vec::with_capacity(docs.len() + 1), terms: Vec::with_capacity(postings), packed };
        rows.starts.push(0);
        for &doc in &docs {
            let number = |&term: &u32| numbers.get(term as usize).copied().unwrap_or(NONE);
            rows.terms.extend(self.row(doc as usize).iter().map(number).filter(|&number| number != NONE));
            rows.starts.push(rows.terms.len());
        }
        (rows, docs)
    }
}

/// The minimum memory for [`order`], including the rows, in bytes.
pub(super) fn memory(documents: u64, postings: u64) -> u64 {
    // Rows, their halves, and all levels below them. For each document, on all levels: the start of its row,
    // its number, its side and its gain.
    documents.saturating_mul(64).saturating_add(postings.saturating_mul(12))
}

/// Number of levels on which threads may work on halves separately within `memory` bytes. All rows of such a
/// level are in memory at the same time.
fn levels(documents: u64, postings: u64, memory: u64) -> u32 {
    let level = documents.saturating_mul(16).saturating_add(postings.saturating_mul(4)).max(1);
    let spare = memory.saturating_sub(self::memory(documents, postings));
    u32::try_from(spare / level).unwrap_or(u32::MAX)
}

/// Documents times cuts, the steps that are reported for a progress bar.
pub(super) fn steps(documents: usize) -> u64 {
    documents as u64 * u64::from(documents.div_ceil(LEAF).next_power_of_two().trailing_zeros())
}

/// Returns the documents `0..` of `rows` in their new order, and the bits that the order saves. Both depend
/// neither on the threads nor on the memory, if it is at least [`memory`].
///
/// # Errors
/// Errors from `look`.
pub(super) fn order(rows: &Rows, how: &Reordering, look: LookIn<'_>) -> Result<(Vec<u32>, u64)> {
    let mut out = vec![0; rows.len()];
    let levels = levels(rows.len() as u64, rows.terms.len() as u64, how.memory);
    Bisection { costs: Costs::new(), look }.cut(
        rows,
        Workers { threads: how.threads.max(1), levels },
        &mut out,
    )?;
    let kept = bits(rows, (0..).take(out.len()));
    let saved = kept.saturating_sub(bits(rows, out.iter().copied()));
    Ok((out, saved))
}

/// Data that all cuts share.
struct Bisection<'a> {
    costs: Costs,
    look: LookIn<'a>,
}

/// The threads for a cut and all cuts below it.
#[derive(Clone, Copy)]
struct Workers {
    threads: usize,
    /// Levels on which threads may work on halves separately.
    levels: u32,
}

impl Bisection<'_> {
    /// Fills `out` with the documents `0..` of these rows in their new order.
    fn cut(&self, rows: &Rows, workers: Workers, out: &mut [u32]) -> Result<()> {
        let Workers { threads, levels } = workers;
        keep(out);
        if out.len() <= LEAF {
            return Ok(());
        }
        let half = out.len() / 2;
        let ((left, left_docs), (right, right_docs)) = {
            let mut halves = Halves::new(rows, half);
            halves.settle(&self.costs, threads, self.look)?;
            let Halves { right, degrees, .. } = halves;
            (rows.side_rows(&right, false, &degrees), rows.side_rows(&right, true, &degrees))
        };
        (self.look)(out.len() as u64)?;
        let (left_out, right_out) = out.split_at_mut(half);
        if threads < 2 || levels == 0 || half < MANY {
            self.cut(&left, workers, left_out)?;
            self.cut(&right, workers, right_out)?;
        } else {
            let mine = Workers { threads: threads / 2, levels: levels - 1 };
            let other = Workers { threads: threads - threads / 2, levels: levels - 1 };
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

/// Runs `other` in a separate thread, or after `mine` if no thread can be started.
fn both(mine: impl FnOnce() -> Result<()>, other: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    let waiting = Mutex::new(Some(other));
    let other = || {
        let work = lock(&waiting).take();
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

/// Fills `out` with the original order of the documents.
fn keep(out: &mut [u32]) {
    (0..).zip(out).for_each(|(doc, place)| *place = doc);
}

/// The number of bits of the gaps of these documents in this order, approximately as lists are encoded: see
/// `codec/postings`.
fn bits(rows: &Rows, order: impl Iterator<Item = u32>) -> u64 {
    // The place of the latest document of each term; and the width and number of the gaps of its block.
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
                // One bit tells whether the frequency is one.
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

/// Documents cut into two halves.
struct Halves<'r> {
    rows: &'r Rows,
    /// Number of documents on the left.
    half: usize,
    /// By document: whether it is on the right.
    right: Vec<bool>,
    /// By term: number of documents with it on the left, and on the right.
    degrees: Vec<[u32; 2]>,
}

impl<'r> Halves<'r> {
    /// Puts the first `half` documents on the left and the others on the right.
    #[expect(clippy::indexing_slicing, reason = "a side is 0 or 1")]
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

    /// Exchanges documents between the sides as long as this lowers the cost.
    fn settle(&mut self, costs: &Costs, threads: usize, look: LookIn<'_>) -> Result<()> {
        let sizes = [self.half, self.rows.len() - self.half];
        let mut gains = vec![[0f32; 2]; self.degrees.len()];
        let mut wishes = vec![(0f32, 0u32); self.rows.len()];
        let mut moved: Vec<usize> = Vec::new();
        let mut before = f64::INFINITY;
        for round in 0..=ROUNDS {
            let cost = costs.all(&self.degrees, sizes, &mut gains);
            if cost >= before {
                // Each change alone would have been a gain, but all of them together are not.
                self.change(&moved);
                break;
            }
            if round == ROUNDS || before - cost < cost * WORTH {
                break;
            }
            before = cost;
            look(0)?;
            self.wish(&gains, threads, &mut wishes);
            // The documents with the smallest wishes go to the left.
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

    /// Moves these documents to the other side.
    #[expect(clippy::indexing_slicing, reason = "a side is 0 or 1")]
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

    /// Fills `wishes` with the gain of having each document on the right, from the gains of its terms.
    #[expect(clippy::indexing_slicing, reason = "a side is 0 or 1")]
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
        let chunks = Mutex::new(wishes.chunks_mut(each).enumerate());
        let next = || lock(&chunks).next();
        let work = || {
            while let Some((chunk, wishes)) = next() {
                fill(chunk * each, wishes);
            }
        };
        thread::scope(|scope| {
            for _ in 0..others {
                if thread::Builder::new().name("reorder".into()).spawn_scoped(scope, work).is_err() {
                    // The threads that were started do all the work.
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
    /// By `d`: the difference to the value for `d - 1`.
    rises: Vec<f32>,
}

/// Numbers of documents whose costs are in a table.
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

    /// The cost of all terms. Fills `gains` by term with the gain of moving a document with it from the left
    /// to the right, and from the right to the left.
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
