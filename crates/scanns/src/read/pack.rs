//! Packs small files into one block, one piece per file.

use std::io;

use crate::read::block::{Buffer, Piece};
use crate::read::lines::LineNumber;
use crate::read::options::ReadOptions;
use crate::read::wave::Rules;
use crate::read::work::{ReadUnit, WorkList};
use crate::sys::ReadFile;

/// A block that is being filled.
pub(super) struct Pack {
    pub(super) buffer: Buffer,
    pub(super) filled: usize,
}

impl Pack {
    pub(super) fn has_room_for(&self, file: &ReadFile) -> bool {
        file.size() <= (self.buffer.memory.capacity() - self.filled) as u64
    }

    /// Reads a whole file, for which there must be room. An empty file becomes a piece only if it is a
    /// document. False if the file was not in the page cache.
    pub(super) fn add(
        &mut self,
        work: &WorkList,
        rules: &Rules,
        options: &ReadOptions,
        mut unit: ReadUnit,
        file: &ReadFile,
    ) -> bool {
        let size = usize::try_from(file.size()).unwrap_or(usize::MAX);
        let into = &mut self.buffer.memory.as_mut_slice()[self.filled..self.filled.saturating_add(size)];
        let cached = file.read_cached(into, 0);
        let warm = cached.is_none_or(|cached| cached == into.len());
        match file.read_rest(into, 0, cached.unwrap_or(0)) {
            Err(error) => self.fail(work, unit.input, &error),
            Ok(0) if rules.records.ends_with_lines() => {}
            Ok(got) => {
                let first_line = rules.records.ends_with_lines().then(|| LineNumber::after(0));
                self.push(unit.input, got, false, first_line);
                work.count_bytes(got);
            }
        }
        if options.drop_behind {
            file.drop_cached(0, 0);
        }
        work.finish(&mut unit);
        warm
    }

    /// Adds a piece that reports that a file could not be read.
    pub(super) fn fail(&mut self, work: &WorkList, input: u32, error: &io::Error) {
        work.fail(input, error);
        self.push(input, 0, true, None);
    }

    fn push(&mut self, input: u32, len: usize, failed: bool, first_line: Option<LineNumber>) {
        let (start, end) = (self.filled, self.filled + len);
        self.filled = end;
        self.buffer.pieces.push(Piece {
            input,
            start,
            end,
            offset: 0,
            opens: true,
            closes: true,
            mid_token: false,
            failed,
            first_line,
        });
    }
}
