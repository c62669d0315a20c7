//! Merges the segments that a policy chooses, one merge after the other.

use super::merge::{MergeClaim, MergePlan};
use super::merge_policy::MergePolicy;
use super::rate_limit::RateLimit;
use super::writer::Writer;
use crate::error::Result;
use crate::segment::{FlushBuffers, MergeWork};

/// Merges by a policy.
#[derive(Clone, Copy)]
pub(crate) struct PolicyMerge<'w> {
    pub(crate) writer: &'w Writer<'w>,
    pub(crate) policy: MergePolicy,
    pub(crate) buffers: FlushBuffers,
    /// Bytes of memory that a merge may use in addition to its buffers.
    pub(crate) room: u64,
}

impl PolicyMerge<'_> {
    /// Merges until the policy asks for nothing more, or `may_begin` returns false before a merge. Segments
    /// for which `is_excluded` returns true are left alone.
    ///
    /// # Errors
    /// The error of the directory, or of `go_on`, which is called from time to time during a merge. The merge
    /// is then given up, and the index is as it was before it.
    pub(crate) fn run(
        &self,
        may_begin: impl Fn() -> bool,
        is_excluded: impl Fn(u128) -> bool,
        go_on: impl Fn() -> Result<()> + Sync,
    ) -> Result<()> {
        let mut limit = RateLimit::new(self.policy.rate);
        let work = MergeWork { buffers: self.buffers, ..MergeWork::default() };
        while may_begin() {
            let claim = MergeClaim::take(self.writer, |segments, claimed| {
                self.policy.choose(segments, self.room, |id| is_excluded(id) || claimed.contains(&id))
            });
            let Some(claim) = claim else { break };
            limit.begin_file();
            let mut wait = |written| limit.wait(written, &go_on);
            claim.merge(&|_| Ok(MergePlan::KeepOrder), &work, &mut wait)?;
        }
        Ok(())
    }
}
