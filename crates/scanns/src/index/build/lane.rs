//! The loop of an index thread: it takes blocks from its lane, and an indexer turns their pieces into
//! segments.
//!
//! Each thread has its own indexer with tokenizers, inverters and keys, and writes its own segments. Threads
//! share only the directory and counters.

use std::sync::atomic::{AtomicBool, Ordering};

use super::lane_report::LaneReport;
use crate::error::Result;
use crate::index::progress::{Phase, Progress};
use crate::read::{Lane, Piece};
use crate::sys;

/// Indexes the pieces of blocks: text of one field, or records with fields.
pub(crate) trait PieceIndexer {
    /// Indexes one piece of the bytes of a block, and writes a segment whenever memory is full.
    fn piece(&mut self, piece: &Piece, bytes: &mut [u8]) -> Result<()>;

    /// Documents added so far.
    fn documents(&self) -> u64;

    /// Writes what is left in memory as the last segment, and waits until every segment is durable.
    fn finish(self) -> Result<LaneReport>;
}

/// Indexes all blocks from `lane`.
///
/// If the build is stopped, the documents indexed so far are kept. If another thread failed (`failed` is
/// set), nothing more is written.
pub(crate) fn index_lane<I: PieceIndexer>(
    mut indexer: I,
    lane: Lane,
    progress: &Progress,
    failed: &AtomicBool,
) -> Result<LaneReport> {
    if let Some(cpus) = lane.node_cpus() {
        sys::pin_current_thread(cpus);
    }
    for mut block in lane {
        let before = indexer.documents();
        let (pieces, bytes) = block.split();
        for piece in pieces {
            indexer.piece(piece, bytes)?;
        }
        progress.documents.fetch_add(indexer.documents() - before, Ordering::Relaxed);
    }
    if failed.load(Ordering::Relaxed) {
        return Ok(LaneReport::default());
    }
    progress.enter(Phase::Flushing);
    indexer.finish()
}
