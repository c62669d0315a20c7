//! Shares the memory out, so that the cap given is kept.
//!
//! The cap covers everything resident: the program, the list of inputs, the blocks of the readers, and what each
//! index thread holds, the buffers of a flush included. What is left after the fixed parts goes to the
//! index threads in equal shares, and a thread flushes when its share is full.

use crate::error::{Error, Result};
use crate::invert::CHECK_EVERY;
use crate::read::ReadOptions;
use crate::segment::FLUSH_BYTES;
use crate::source::Input;

/// The program itself: code, stacks, allocator.
const BASE: usize = 32 << 20;

/// What [`CHECK_EVERY`] bytes of text can add to a share between two looks at it, at 16 bytes per byte of text.
const OVERSHOOT: usize = CHECK_EVERY * 16;

/// The largest share: chains of postings reach 32 GiB.
const MOST: usize = 30 << 30;

/// The smallest share that makes sense.
const LEAST: usize = 16 << 20;

/// Bytes of term table, postings and keys that each index thread may hold.
///
/// That is its share of the `cap`, or `segment` bytes if those are less: beyond some size more memory makes a
/// build slower, since fewer of the term table's accesses find their place in the caches and translation tables.
pub(super) fn lane_budget(cap: u64, segment: u64, inputs: &[Input], read: &ReadOptions) -> Result<usize> {
    // Twice: while the inputs are found and put in order, there are two lists of them.
    let each = |input: &Input| 2 * (input.path.as_os_str().len() + size_of::<Input>() + 32);
    let listed: usize = inputs.iter().map(each).sum();
    let fixed = BASE + listed + read.memory_bytes();
    let cap = usize::try_from(cap).unwrap_or(usize::MAX);
    let share = cap.saturating_sub(fixed) / read.lanes;
    match share.checked_sub(FLUSH_BYTES + OVERSHOOT) {
        Some(budget) if budget >= LEAST => {
            let segment = usize::try_from(segment).unwrap_or(usize::MAX).min(MOST);
            Ok(budget.min(segment).max(LEAST))
        }
        _ => {
            let needed = fixed + read.lanes * (LEAST + FLUSH_BYTES + OVERSHOOT);
            Err(Error::Options(format!(
                "{} MiB of memory are too little for {} index threads: give at least --memory {}MiB, or fewer threads",
                cap >> 20,
                read.lanes,
                (needed >> 20) + 1
            )))
        }
    }
}
