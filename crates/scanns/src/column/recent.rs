//! The blocks of strings from which single strings were read last.
//!
//! Opening a block decodes a table of symbols or unpacks a whole frame, which takes far longer than reading
//! one string. Who looks up documents one by one mostly stays in a few blocks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::codec::OpenedStrings;
use crate::error::Result;
use crate::sys::lock;

/// Blocks to keep. Each takes at most 1 MiB, and a typical one 40 KiB.
const KEPT: usize = 16;

/// What was decoded to open a few blocks of a column of strings, the latest last.
#[derive(Debug, Default)]
pub(super) struct RecentStrings(Mutex<VecDeque<(u32, Arc<OpenedStrings>)>>);

impl RecentStrings {
    /// Returns what `open` decodes for a block, or has decoded.
    pub(super) fn get(
        &self,
        block: u32,
        open: impl FnOnce() -> Result<OpenedStrings>,
    ) -> Result<Arc<OpenedStrings>> {
        let found =
            lock(&self.0).iter().rev().find(|(number, _)| *number == block).map(|(_, opened)| opened.clone());
        if let Some(opened) = found {
            return Ok(opened);
        }
        // Others may read meanwhile; if two open the same block, both are kept for a while.
        let opened = Arc::new(open()?);
        let mut recent = lock(&self.0);
        if recent.len() >= KEPT {
            recent.pop_front();
        }
        recent.push_back((block, opened.clone()));
        Ok(opened)
    }
}
