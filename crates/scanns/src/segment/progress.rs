//! Callbacks through which long work reports progress and can be stopped.

use crate::error::Result;

/// Called from time to time during a merge with the bytes written so far. An error from it ends the merge.
pub type MergeProgress<'a> = &'a mut (dyn FnMut(u64) -> Result<()> + Send);

/// Called from time to time while an order is computed, with the completed steps and the total number of
/// steps, which is 0 until it is known. An error from it ends the work.
pub type OrderProgress<'a> = &'a (dyn Fn(u64, u64) -> Result<()> + Sync);
