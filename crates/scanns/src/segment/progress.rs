//! How long work reports what it has done, and learns that it should stop.

use crate::error::Result;

/// Called now and then during a merge with the bytes written so far; an error from it ends the merge.
pub type MergeProgress<'a> = &'a mut (dyn FnMut(u64) -> Result<()> + Send);

/// Called now and then while an order is being found, with the steps done and the total number of steps,
/// which is 0 until it is known; an error from it ends the work.
pub type OrderProgress<'a> = &'a (dyn Fn(u64, u64) -> Result<()> + Sync);
