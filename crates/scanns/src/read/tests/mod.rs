//! Random trees read by every variant and compared with the files themselves; then damaged and vanished
//! inputs.

mod faults;
mod random;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::block::{Lane, Piece};
use super::driver::{ReadReport, start};
use super::lines::LineNumber;
use super::options::{Direct, ReadOptions};
use crate::schema::{Analyzer, Records};
use crate::source::Input;
use crate::sys::{self, PageSize};

/// A piece with its bytes, as a lane saw it.
pub(super) struct Seen {
    pub(super) piece: Piece,
    pub(super) bytes: Vec<u8>,
    line: Option<u64>,
}

/// Everything that each lane was given, and the report.
struct Run {
    lanes: Vec<Vec<Seen>>,
    report: ReadReport,
    files_done: u64,
}

pub(super) fn inputs(paths: &[&Path]) -> Arc<Vec<Input>> {
    let bytes = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
    Arc::new(
        paths
            .iter()
            .map(|path| Input { path: path.to_path_buf(), bytes: bytes(path), ..Input::default() })
            .collect(),
    )
}

pub(super) fn empty_lane(lane: Lane) -> Vec<Seen> {
    let mut seen = Vec::new();
    for mut block in lane {
        let (pieces, bytes) = block.split();
        assert!(!pieces.is_empty(), "an empty block was passed on");
        let mut filled = 0;
        for piece in pieces {
            assert!(filled <= piece.start && piece.start <= piece.end, "pieces overlap");
            filled = piece.end;
            let line = piece.first_line.as_ref().map(LineNumber::resolve);
            seen.push(Seen { piece: piece.clone(), bytes: bytes[piece.start..piece.end].to_vec(), line });
        }
        assert_eq!(bytes.len(), filled + sys::BLOCK_PADDING);
        // A lane's changes to its block must not show in later blocks.
        bytes.fill(b'#');
    }
    seen
}

fn run(inputs: &Arc<Vec<Input>>, records: Records, analyzer: &Analyzer, options: &ReadOptions) -> Run {
    let cancel = Arc::new(AtomicBool::new(false));
    let (driver, lanes) = start(Arc::clone(inputs), records, analyzer, options, cancel).unwrap();
    assert_eq!(lanes.len(), options.lanes);
    let threads: Vec<_> = lanes.into_iter().map(|lane| std::thread::spawn(|| empty_lane(lane))).collect();
    let lanes = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let work = Arc::clone(&driver.work);
    let report = driver.finish().unwrap();
    Run { lanes, report, files_done: work.files_done() }
}

/// Small blocks and base pages; everything else as in the defaults.
fn small_blocks(lanes: usize) -> ReadOptions {
    ReadOptions { lanes, block_bytes: 8 << 10, pages: PageSize::Base, ..ReadOptions::default() }
}
