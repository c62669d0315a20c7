//! Where records end in the bytes of a web archive.
//!
//! A record ends after its claimed length and the line ends that follow, if the next record or the
//! end of the file comes there. If not, the length is wrong, and the record ends where the next
//! version line (of ARC: URL line) begins at a line start, searched from the start of the block on.
//! Only if CR LF CR LF follows is the length believed. Bytes that do not begin as a record does are
//! a record of their own, up to the next first line of a record.
//!
//! Each step remembers how far it has come, so bytes are searched once however they are cut.

use super::MAX_HEADER;
use super::arc::{ArcLine, begins_with_arc_line};
use super::claim::{ClaimLook, MAX_SEARCHED, WebArchiveFormat, look_behind_claim};
use super::headers::WarcHeader;
use super::lines::{Begins, begins_with_version, count_line_ends, find_version, without_end};
use super::long_claim::LongClaim;
use super::skip::WarcSkip;

/// What is looked for next in a record.
#[derive(Clone, Copy, Debug)]
enum EndStep {
    /// The first line, after line ends.
    Start,
    /// The blank line after the header that begins at `start`; `line` begins the current line.
    Header { start: usize, line: usize },
    /// The line end of the URL line that begins at `start`.
    UrlLine { start: usize },
    /// The end that the header claims.
    Block { block: usize, end: usize },
    /// What follows the claimed end and line ends.
    After { block: usize, end: usize },
    /// The first line of the next record; `line` begins the current line.
    Search { line: usize },
}

/// What a step found.
enum EndLook {
    /// The step that follows.
    Next(EndStep),
    /// The length of the record.
    End(usize),
    /// More bytes are needed.
    NeedsMore,
}

/// Finds where records end in the bytes of one file.
#[derive(Clone, Debug)]
pub struct WarcEnds {
    /// None until the first record.
    format: Option<WebArchiveFormat>,
    step: EndStep,
    /// The number of bytes of the record that the step has searched.
    searched: usize,
}

impl Default for WarcEnds {
    fn default() -> Self {
        Self::new()
    }
}

impl WarcEnds {
    /// Begins at the start of a file.
    pub fn new() -> Self {
        Self { format: None, step: EndStep::Start, searched: 0 }
    }

    /// The length of the record that `bytes` begins with, including the line ends after it.
    ///
    /// None if the record continues after `bytes`: the next call gets the same bytes with more behind
    /// them. If `is_end`, nothing follows, and there is a length unless `bytes` is empty.
    pub fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        if bytes.is_empty() {
            return None;
        }
        let end = loop {
            match self.look(bytes, is_end) {
                EndLook::Next(step) => self.step = step,
                EndLook::End(end) => break end.clamp(1, bytes.len()),
                EndLook::NeedsMore if is_end => break bytes.len(),
                EndLook::NeedsMore => return None,
            }
        };
        self.start_record();
        Some(end)
    }

    /// Skips the WARC record that `start` begins, after which `next_end` needed more bytes. `None` if its
    /// block has not begun, and for ARC.
    pub fn skip(&self, start: &[u8]) -> Option<WarcSkip> {
        if self.format != Some(WebArchiveFormat::Warc) {
            return None;
        }
        match self.step {
            EndStep::Block { block, end } | EndStep::After { block, end } => {
                Some(WarcSkip::new(start, block, Some(end)))
            }
            EndStep::Search { .. } => Some(WarcSkip::new(start, self.searched, None)),
            EndStep::Start | EndStep::Header { .. } | EndStep::UrlLine { .. } => None,
        }
    }

    /// Waits for the end that the record claims, whose beginning is `start`, and after which `next_end`
    /// needed more bytes. `None` if it claims none, or a wrong one.
    pub fn long_claim(&self, start: &[u8]) -> Option<LongClaim> {
        let (EndStep::Block { end, .. } | EndStep::After { end, .. }) = self.step else { return None };
        let left = end.checked_sub(start.len())?;
        Some(LongClaim::new(self.format?, start, left as u64))
    }

    /// Takes the end that the current record claims for wrong: it ends before the next record in its block.
    pub fn distrust(&mut self) {
        if let EndStep::Block { block, .. } | EndStep::After { block, .. } = self.step {
            self.step = EndStep::Search { line: block };
            self.searched = block;
        }
    }

    /// Starts a record after one that was not given to `next_end` to its end.
    pub fn start_record(&mut self) {
        self.step = EndStep::Start;
        self.searched = 0;
    }

    /// Takes one step.
    fn look(&mut self, bytes: &[u8], is_end: bool) -> EndLook {
        match self.step {
            EndStep::Start => self.look_at_start(bytes, is_end),
            EndStep::Header { start, line } => self.look_at_header(bytes, start, line),
            EndStep::UrlLine { start } => self.look_at_url_line(bytes, start),
            EndStep::Block { block, end } if end <= bytes.len() => {
                self.searched = end;
                EndLook::Next(EndStep::After { block, end })
            }
            EndStep::Block { block, .. } if is_end => self.search_from(block),
            EndStep::Block { .. } => EndLook::NeedsMore,
            EndStep::After { block, end } => self.look_after(bytes, is_end, block, end),
            EndStep::Search { line } if self.format == Some(WebArchiveFormat::Arc) => {
                self.search_arc(bytes, is_end, line)
            }
            EndStep::Search { .. } => self.search_warc(bytes, is_end),
        }
    }

    /// Looks for the first line of the next record from a line start on.
    fn search_from(&mut self, line: usize) -> EndLook {
        self.searched = line;
        EndLook::Next(EndStep::Search { line })
    }

    /// Skips line ends, and looks at the first line.
    fn look_at_start(&mut self, bytes: &[u8], is_end: bool) -> EndLook {
        self.searched += count_line_ends(bytes.get(self.searched..).unwrap_or_default());
        if self.searched >= MAX_HEADER {
            return EndLook::End(MAX_HEADER);
        }
        let start = self.searched;
        let rest = bytes.get(start..).unwrap_or_default();
        if rest.is_empty() {
            return EndLook::NeedsMore;
        }
        let begins = match self.format {
            Some(WebArchiveFormat::Arc) => Begins::No,
            _ => begins_with_version(rest, is_end),
        };
        match begins {
            Begins::Yes => {
                self.format = Some(WebArchiveFormat::Warc);
                return EndLook::Next(EndStep::Header { start, line: start });
            }
            Begins::Unknown => return EndLook::NeedsMore,
            Begins::No if self.format == Some(WebArchiveFormat::Warc) => return self.search_from(start),
            Begins::No => {}
        }
        match begins_with_arc_line(rest, is_end) {
            Begins::Yes => {
                self.format = Some(WebArchiveFormat::Arc);
                EndLook::Next(EndStep::UrlLine { start })
            }
            Begins::Unknown => EndLook::NeedsMore,
            Begins::No => self.search_from(start),
        }
    }

    /// Looks at the lines of a header up to the blank one.
    fn look_at_header(&mut self, bytes: &[u8], start: usize, mut line: usize) -> EndLook {
        loop {
            let rest = bytes.get(self.searched..).unwrap_or_default();
            let Some(end) = memchr::memchr(b'\n', rest).map(|end| self.searched + end + 1) else {
                if bytes.len() - start.min(bytes.len()) > MAX_HEADER {
                    return self.search_from(line);
                }
                self.searched = bytes.len();
                self.step = EndStep::Header { start, line };
                return EndLook::NeedsMore;
            };
            let text = bytes.get(line..end).unwrap_or_default();
            if line > start && begins_with_version(text, true) == Begins::Yes {
                return EndLook::End(line);
            }
            if end - start > MAX_HEADER {
                return self.search_from(line);
            }
            if without_end(text).is_empty() {
                let header = WarcHeader::parse(bytes.get(start..end).unwrap_or_default());
                return self.claim(start, end, header.record_len());
            }
            line = end;
            self.searched = end;
        }
    }

    /// Looks at a URL line.
    fn look_at_url_line(&mut self, bytes: &[u8], start: usize) -> EndLook {
        match ArcLine::parse(bytes.get(start..).unwrap_or_default()) {
            Some(line) => self.claim(start, start + line.len, line.record_len()),
            None => self.search_from(start),
        }
    }

    /// Takes the length that a header claims for a record that begins at `start`.
    fn claim(&mut self, start: usize, block: usize, record_len: Option<u64>) -> EndLook {
        let start_u64 = u64::try_from(start).ok();
        let end = record_len.and_then(|len| len.checked_add(start_u64?));
        let Some(place) = end.and_then(|end| usize::try_from(end).ok()) else {
            return self.search_from(block);
        };
        EndLook::Next(EndStep::Block { block, end: place })
    }

    /// Looks at what follows the claimed end.
    fn look_after(&mut self, bytes: &[u8], is_end: bool, block: usize, end: usize) -> EndLook {
        let after = bytes.get(end..).unwrap_or_default();
        match look_behind_claim(after, self.format.unwrap_or(WebArchiveFormat::Warc), is_end) {
            ClaimLook::Ends(len) => EndLook::End(end + len),
            ClaimLook::Wrong => self.search_from(block),
            ClaimLook::NeedsMore => EndLook::NeedsMore,
        }
    }

    /// Looks for the next version line.
    fn search_warc(&mut self, bytes: &[u8], is_end: bool) -> EndLook {
        let (place, is_found) = match find_version(bytes, self.searched, is_end) {
            Ok(place) => (place, true),
            Err(searched) => (searched, false),
        };
        self.searched = place;
        match () {
            () if place >= MAX_SEARCHED => EndLook::End(MAX_SEARCHED),
            () if is_found => EndLook::End(place),
            () => EndLook::NeedsMore,
        }
    }

    /// Looks for the next URL line.
    fn search_arc(&mut self, bytes: &[u8], is_end: bool, mut line: usize) -> EndLook {
        loop {
            if line >= MAX_SEARCHED {
                return EndLook::End(MAX_SEARCHED);
            }
            let rest = bytes.get(self.searched..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).map(|end| self.searched + end + 1);
            let text = bytes.get(line..end.unwrap_or(bytes.len())).unwrap_or_default();
            if (end.is_some() || is_end) && line > 0 && ArcLine::parse(text).is_some() {
                return EndLook::End(line);
            }
            self.searched = end.unwrap_or(bytes.len());
            line = end.unwrap_or(line);
            self.step = EndStep::Search { line };
            if end.is_none() {
                return EndLook::NeedsMore;
            }
        }
    }
}

#[cfg(test)]
mod tests;
