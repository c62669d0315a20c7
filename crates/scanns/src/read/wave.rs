//! The wave: turns the bytes of one unit, as they arrive block by block, into pieces that split no token.
//!
//! Each block's memory has room for [`CARRY`] bytes in front of the bytes that are read. A block is cut at
//! the last place where a cut is allowed, and the bytes after it, usually less than a line, are copied to the
//! front of the next block. So reads stay aligned and independent of each other, and several can be in
//! flight.

use std::ops::Range;
use std::sync::Arc;

use crate::content::TextForm;
use crate::read::block::{Buffer, CARRY, Piece};
use crate::read::cuts::{FindCuts, PieceStart};
use crate::read::lines::LineNumber;
use crate::read::work::ReadUnit;
use crate::schema::{Analyzer, Records};

/// The state of a unit between its blocks.
#[derive(Debug)]
pub(super) struct Wave {
    pub(super) unit: ReadUnit,
    /// Size of the file when it was opened; bytes appended later are ignored.
    size: u64,
    tail: Vec<u8>,
    /// Still searching for the first line that starts in the unit.
    seeking: bool,
    /// A piece was passed on.
    started: bool,
    /// The next piece continues an open file or record.
    open: bool,
    mid_token: bool,
    lines: u64,
    /// The bytes are decoded text.
    decoded: bool,
    /// How the bytes become text.
    form: TextForm,
    /// Finds the cuts if the unit is shared out, and records do not end with lines.
    cuts: Option<Box<dyn FindCuts>>,
    /// How to read on behind the last cut, if no piece begins there yet.
    after_cut: Option<PieceStart>,
}

/// How records and tokens are delimited.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What a record is.
    pub records: Records,
    /// Where tokens end.
    pub analyzer: Analyzer,
    /// Finds cuts in text whose records do not end with lines, for several lanes to share a file.
    pub cuts: Option<Arc<dyn FindCuts>>,
}

/// The bytes of a block. Positions are in the block's memory; adding `shift` gives the offset in the file,
/// modulo 2^64.
struct BlockView<'a> {
    memory: &'a [u8],
    shift: u64,
}

impl BlockView<'_> {
    fn offset(&self, at: usize) -> u64 {
        self.shift.wrapping_add(at as u64)
    }

    /// The position of file offset `offset`, clamped to `from..=to`.
    fn position(&self, offset: u64, from: usize, to: usize) -> usize {
        let (low, high) = (self.offset(from), self.offset(to));
        // The clamp keeps the difference within `usize`.
        from + usize::try_from(offset.clamp(low, high) - low).unwrap_or(0)
    }

    fn line_feed(&self, from: usize, to: usize) -> Option<usize> {
        memchr::memchr(b'\n', &self.memory[from..to]).map(|at| from + at)
    }
}

impl Wave {
    pub(super) fn new(unit: ReadUnit, size: u64, form: TextForm) -> Self {
        let (seeking, after_cut) = (unit.start > 0, unit.from.clone());
        Wave {
            unit,
            size,
            tail: Vec::new(),
            seeking,
            started: false,
            open: false,
            mid_token: false,
            lines: 0,
            decoded: false,
            form,
            cuts: None,
            after_cut,
        }
    }

    /// The wave of a whole file whose text has to be decoded, and has an unknown length.
    pub(super) fn decoded(unit: ReadUnit, form: TextForm) -> Self {
        Wave { decoded: true, ..Wave::new(unit, u64::MAX, form) }
    }

    /// Cuts records, so that lanes can share them.
    pub(super) fn share(&mut self, rules: &Rules) {
        self.cuts = rules.cuts.as_ref().map(|cuts| match &self.unit.from {
            Some(start) => cuts.of_rest(start),
            None => cuts.of_next_text(),
        });
    }

    /// Takes `got` bytes that were read at file offset `offset` to [`CARRY`] in the buffer; `ends` says that
    /// no more bytes can follow. Adds pieces to the buffer. Returns true when the unit is complete.
    pub(super) fn take(
        &mut self,
        rules: &Rules,
        buffer: &mut Buffer,
        offset: u64,
        got: usize,
        ends: bool,
    ) -> bool {
        let mut from = CARRY - self.tail.len();
        buffer.memory.as_mut_slice()[from..CARRY].copy_from_slice(&self.tail);
        self.tail.clear();
        let shift = offset.wrapping_sub(CARRY as u64);
        let bytes = BlockView { memory: buffer.memory.as_mut_slice(), shift };
        let to = bytes.position(self.size, CARRY, CARRY + got);
        let ends = ends || bytes.offset(to) >= self.size;
        if self.seeking {
            match self.first_line(&bytes, to) {
                Some(first) => from = first,
                None => return ends || self.unit.end.is_some_and(|end| bytes.offset(to) >= end),
            }
        }
        let end = self.last_line_end(&bytes, from, to);
        if end.is_some() || ends {
            self.close(rules, buffer, shift, from..end.unwrap_or(to));
            return true;
        }
        self.cut(rules, buffer, shift, from..to);
        false
    }

    /// Ends the unit with a piece that reports a failed read.
    pub(super) fn fail(&mut self, rules: &Rules, buffer: &mut Buffer, offset: u64) {
        self.push(rules, buffer, offset.wrapping_sub(CARRY as u64), CARRY..CARRY, true);
        if let Some(piece) = buffer.pieces.last_mut() {
            piece.failed = true;
        }
    }

    /// Start of the unit's first line: after the first line feed at or after `start - 1`, if that is before
    /// the end. A unit that begins exactly at its start needs no line feed.
    fn first_line(&mut self, bytes: &BlockView<'_>, to: usize) -> Option<usize> {
        if self.unit.from.is_some() {
            self.seeking = bytes.offset(to) <= self.unit.start;
            return (!self.seeking).then(|| bytes.position(self.unit.start, CARRY, to));
        }
        let from = bytes.position(self.unit.start - 1, CARRY, to);
        let last = self.unit.end.map_or(to, |end| bytes.position(end - 1, from, to));
        let first = bytes.line_feed(from, last)? + 1;
        self.seeking = false;
        Some(first)
    }

    /// End of the unit's last line: after the first line feed at or after `end - 1`.
    fn last_line_end(&self, bytes: &BlockView<'_>, from: usize, to: usize) -> Option<usize> {
        let last = bytes.position(self.unit.end? - 1, from, to);
        Some(bytes.line_feed(last, to)? + 1)
    }

    fn close(&mut self, rules: &Rules, buffer: &mut Buffer, shift: u64, range: Range<usize>) {
        let owed = self.open || !(self.started || rules.records.ends_with_lines());
        if owed || self.decoded || !range.is_empty() {
            self.push(rules, buffer, shift, range, true);
        }
        if let Some(piece) = buffer.pieces.last_mut() {
            piece.last = self.decoded;
        }
    }

    /// Passes on all bytes that may be passed on, and keeps the rest.
    fn cut(&mut self, rules: &Rules, buffer: &mut Buffer, shift: u64, range: Range<usize>) {
        let Range { mut start, end } = range;
        if self.cuts.is_some() || rules.records.ends_with_lines() {
            if let Some((next, state)) = self.last_cut(buffer.memory.as_mut_slice(), start..end) {
                self.push(rules, buffer, shift, start..next, true);
                (start, self.after_cut) = (next, state);
            }
            if end - start <= CARRY && !self.open {
                return self.keep(buffer, start, end);
            }
        }
        let memory = buffer.memory.as_mut_slice();
        let lowest = (start + 1).max(end.saturating_sub(CARRY));
        let may_cut = |&at: &usize| rules.analyzer.may_cut(memory[at - 1], memory[at]);
        let (at, mid_token) = match (lowest..end).rev().find(may_cut) {
            Some(at) => (at, false),
            None if end - start <= CARRY => return self.keep(buffer, start, end),
            None => (before_split_character(memory, end), true),
        };
        self.push(rules, buffer, shift, start..at, false);
        self.mid_token = mid_token;
        self.keep(buffer, at, end);
    }

    /// The last place between records in the bytes of a block, and how to read on there.
    fn last_cut(&mut self, memory: &[u8], range: Range<usize>) -> Option<(usize, Option<PieceStart>)> {
        if let Some(cuts) = &mut self.cuts {
            // The bytes before the unit, if it begins in this block, are none of its text.
            let fresh = range.start.max(CARRY);
            let cut = cuts.take(&memory[fresh..range.end])?;
            return Some((fresh + cut.at, Some(cut.start)));
        }
        let feed = memchr::memrchr(b'\n', &memory[range.clone()])?;
        Some((range.start + feed + 1, None))
    }

    fn keep(&mut self, buffer: &mut Buffer, start: usize, end: usize) {
        self.tail.extend_from_slice(&buffer.memory.as_mut_slice()[start..end]);
    }

    fn push(&mut self, rules: &Rules, buffer: &mut Buffer, shift: u64, range: Range<usize>, closes: bool) {
        let from_cut = self.after_cut.take();
        let mut first_line = from_cut.as_ref().map(|start| LineNumber::after(start.records));
        if rules.records.ends_with_lines() {
            first_line = Some(self.next_line());
            let lines = &buffer.memory.as_mut_slice()[range.clone()];
            self.count(memchr::memchr_iter(b'\n', lines).count() as u64);
        }
        buffer.pieces.push(Piece {
            input: self.unit.input,
            start: range.start,
            end: range.end,
            offset: shift.wrapping_add(range.start as u64),
            opens: !self.open,
            closes,
            mid_token: std::mem::take(&mut self.mid_token),
            failed: false,
            decoded: self.decoded,
            last: false,
            first_line,
            from_cut,
            form: self.form,
            part: None,
        });
        self.started = true;
        self.open = !closes;
    }

    fn next_line(&self) -> LineNumber {
        self.unit.link.as_ref().map_or(LineNumber::after(self.lines), |link| link.next_line())
    }

    fn count(&mut self, lines: u64) {
        match &mut self.unit.link {
            Some(link) => link.lines += lines,
            None => self.lines += lines,
        }
    }
}

/// `end`, or the start of the UTF-8 character that a cut at `end` would split.
fn before_split_character(memory: &[u8], end: usize) -> usize {
    let lead = (end.saturating_sub(3)..end).rev().find(|&at| memory[at] & 0xc0 != 0x80);
    match lead.map(|at| (at, memory[at])) {
        Some((at, 0xc2..)) if std::str::from_utf8(&memory[at..end]).is_err() => at,
        _ => end,
    }
}
