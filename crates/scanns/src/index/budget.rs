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
const BASE: usize = 24 << 20;

/// What [`CHECK_EVERY`] bytes of text can add to a share between two looks at it, at 16 bytes per byte of text.
const OVERSHOOT: usize = CHECK_EVERY * 16;

/// The smallest share that makes sense.
const LEAST: usize = 16 << 20;

/// Bytes of term table, postings and keys that each index thread may hold.
pub(super) fn lane_budget(cap: u64, inputs: &[Input], read: &ReadOptions) -> Result<usize> {
    let listed: usize =
        inputs.iter().map(|input| input.path.as_os_str().len() + size_of::<Input>() + 16).sum();
    let fixed = BASE + listed + read.memory_bytes();
    let cap = usize::try_from(cap).unwrap_or(usize::MAX);
    let share = cap.saturating_sub(fixed) / read.lanes;
    match share.checked_sub(FLUSH_BYTES + OVERSHOOT) {
        Some(budget) if budget >= LEAST => Ok(budget),
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
