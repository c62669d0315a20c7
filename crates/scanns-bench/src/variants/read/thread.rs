//! The read thread: takes an empty block, fills it from the current file of its lane, and passes it on.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};

use scanns::internals::{self, Piece};
use scanns::schema::Delimiters;
use scanns::sources::{ReadOptions, TextForm};

use super::file::{OpenFile, Stretch};
use super::lane::{EmptyBlock, Memory, PaperBlock};
use super::shared::{Design, SharedInputs};

/// The state of a read thread.
pub(super) struct FileReader {
    pub(super) shared: Arc<SharedInputs>,
    pub(super) empties: Receiver<EmptyBlock>,
    pub(super) lanes: Vec<LaneEnd>,
    pub(super) design: Design,
    pub(super) delimiters: Delimiters,
    pub(super) options: ReadOptions,
}

/// A lane as its reader sees it.
pub(super) struct LaneEnd {
    /// Where the thread of the lane runs, if threads are pinned.
    pub(super) cpus: Option<Vec<usize>>,
    /// `None` once there is nothing more to read, or the lane is gone.
    pub(super) full: Option<Sender<PaperBlock>>,
    /// The file that the lane has received in part.
    pub(super) open: Option<OpenFile>,
}

impl FileReader {
    /// Reads until no lane wants more data, or until it is cancelled.
    pub(super) fn run(mut self, mut blocks: Vec<EmptyBlock>) {
        self.touch(&mut blocks);
        for block in blocks {
            self.serve(block);
        }
        while !self.shared.cancel.load(Ordering::Relaxed) && self.lanes.iter().any(|lane| lane.full.is_some())
        {
            match self.empties.recv() {
                Ok(block) => self.serve(block),
                Err(_) => break,
            }
        }
    }

    /// Touches the memory of each lane on the lane's node, and then stays on the nodes of all its lanes.
    fn touch(&self, blocks: &mut [EmptyBlock]) {
        let mut own = Vec::new();
        for (number, lane) in self.lanes.iter().enumerate() {
            let Some(cpus) = &lane.cpus else { continue };
            internals::pin_current_thread(cpus);
            for block in blocks.iter_mut().filter(|block| block.lane == number) {
                if let Memory::Pooled(memory) = &mut block.memory {
                    memory.touch();
                }
            }
            own.extend_from_slice(cpus);
        }
        internals::pin_current_thread(&own);
    }

    /// Fills a block for its lane, or ends the lane if nothing is left.
    fn serve(&mut self, mut block: EmptyBlock) {
        let number = block.lane;
        if self.lanes[number].full.is_none() {
            return;
        }
        let Some(mut file) = self.lanes[number].open.take().or_else(|| self.next_file()) else {
            self.lanes[number].full = None;
            return;
        };
        let piece = self.fill(&mut file, &mut block.memory);
        self.shared.bytes.fetch_add((piece.end - piece.start) as u64, Ordering::Relaxed);
        let lane = &mut self.lanes[number];
        if !piece.closes {
            lane.open = Some(file);
        }
        let filled = PaperBlock { piece, block: Some(block) };
        if let Some(full) = &lane.full
            && let Err(gone) = full.send(filled)
        {
            let mut gone = gone.0;
            gone.block = None; // not to be filled again
            (lane.full, lane.open) = (None, None);
        }
    }

    /// Opens the next of all files.
    fn next_file(&self) -> Option<OpenFile> {
        let input = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let path = &self.shared.inputs.get(input)?.path;
        Some(OpenFile::open(input, path, self.design, &self.options))
    }

    /// Reads the next piece of a file. The piece says so if the file cannot be read.
    fn fill(&self, file: &mut OpenFile, memory: &mut Memory) -> Piece {
        let (mid_token, offset, input) = (file.mid_token, file.taken, file.input);
        let read = file.read(self.design, &self.delimiters, &self.options, memory);
        let failed = read.is_err();
        let stretch = read.unwrap_or_else(|error| {
            self.shared.fail(input, &error);
            if let Memory::Fresh(bytes) = memory {
                bytes.resize(internals::BLOCK_PADDING, 0);
            }
            Stretch { range: 0..0, closes: true, mid_token: false }
        });
        Piece {
            input: u32::try_from(input).unwrap_or(u32::MAX),
            start: stretch.range.start,
            end: stretch.range.end,
            offset,
            opens: offset == 0,
            closes: stretch.closes,
            mid_token,
            failed,
            decoded: false,
            last: false,
            first_line: None,
            from_cut: None,
            form: TextForm::Text,
            part: None,
        }
    }
}
