//! The read thread of the ladder: takes empty blocks, fills each from the file that its lane is at, hands it on.

use std::sync::Arc;

use super::Design;
use super::file::OpenFile;
use crate::error::Result;
use crate::read::block::{Buffer, Piece, give_out};
use crate::read::queue::{Demand, DualQueue};
use crate::read::work::Work;
use crate::read::{ReadOptions, Share};
use crate::schema::Delimiters;
use crate::sys::{BlockMemory, Cpus};

/// What a read thread works with.
pub(super) struct Reader {
    work: Arc<Work>,
    queue: Arc<DualQueue<Buffer>>,
    /// For each lane, where its thread runs and its first blocks, until they have been given out.
    lanes: Vec<(Option<Cpus>, Vec<Buffer>)>,
    /// For each lane, the file of which it has not had all.
    open: Vec<Option<OpenFile>>,
    design: Design,
    delimiters: Delimiters,
    options: ReadOptions,
}

impl Reader {
    pub(super) fn new(
        work: Arc<Work>,
        share: Share,
        design: Design,
        delimiters: Delimiters,
        options: ReadOptions,
    ) -> Self {
        let open = share.lanes.iter().map(|_| None).collect();
        Reader { work, queue: share.queue, lanes: share.lanes, open, design, delimiters, options }
    }

    /// Reads until no lane wants data any more, or until cancelled.
    pub(super) fn run(mut self) -> Result<()> {
        let lanes = self.lanes.iter_mut();
        give_out(&self.queue, lanes.map(|(cpus, blocks)| (cpus.as_deref(), std::mem::take(blocks))));
        while !self.work.cancelled() {
            match self.queue.take_empty() {
                Demand::Fill(lane, buffer) => self.serve(lane, buffer),
                Demand::GiveUp(lane) => self.open[lane] = None,
                Demand::Nothing => break,
            }
        }
        Ok(())
    }

    /// Fills a block for a lane, or ends the lane if nothing is left.
    fn serve(&mut self, lane: usize, mut buffer: Buffer) {
        let Some(mut file) = self.open[lane].take().or_else(|| self.next_file()) else {
            return self.queue.end_lane(lane);
        };
        let piece = self.fill(&mut file, &mut buffer);
        self.work.count_bytes(piece.end - piece.start);
        if piece.closes {
            self.work.finish(&mut file.unit);
        } else {
            self.open[lane] = Some(file);
        }
        buffer.pieces.push(piece);
        if self.queue.put_full(lane, buffer).is_err() {
            self.open[lane] = None; // nobody wants it any more
        }
    }

    /// The next of all files.
    fn next_file(&self) -> Option<OpenFile> {
        let unit = self.work.next()?;
        let path = self.work.inputs.get(unit.input as usize).map(|input| input.path.as_path());
        Some(OpenFile::open(unit, path, self.design, &self.options))
    }

    /// The next piece of a file, or one that says that it cannot be read.
    fn fill(&self, file: &mut OpenFile, buffer: &mut Buffer) -> Piece {
        let mid_token = file.mid_token;
        let offset = file.taken;
        let input = file.unit.input;
        let read = file.read(self.design, &self.delimiters, &self.options, &mut buffer.memory);
        let (range, closes) = match &read {
            Ok((range, closes)) => (range.clone(), *closes),
            Err(error) => {
                self.work.fail(input, error);
                if self.design == Design::Std {
                    buffer.memory = BlockMemory::filled(Vec::new()); // what was to be read had no memory yet
                }
                (0..0, true)
            }
        };
        Piece {
            input,
            start: range.start,
            end: range.end,
            offset,
            opens: offset == 0,
            closes,
            mid_token,
            failed: read.is_err(),
            first_line: None,
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.queue.end_all();
    }
}
