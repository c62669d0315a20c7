//! Where a file of a collection can be cut, so that several threads can read it.

use std::sync::Arc;

use super::ends::CollectionEnds;
use super::format::CollectionFormat;
use crate::read::{Cut, FindCuts, PieceStart};

/// The maximum size of a record that is kept to find its end. Longer ones are skipped if they say how long
/// they are, and otherwise the rest of the file is not cut.
const MOST_KEPT: usize = 4 << 20;

/// Finds cuts between the records of one file.
#[derive(Clone, Debug)]
pub struct CollectionCuts {
    ends: CollectionEnds,
    /// The bytes from the current record on.
    carry: Vec<u8>,
    /// Bytes of a long record that are still to come.
    skipped: u64,
    /// True for a record that comes after a skipped one, whose length may have been wrong.
    is_doubtful: bool,
    /// Records before the current one.
    records: u64,
    /// True if the rest of the file is not cut.
    is_whole: bool,
}

impl CollectionCuts {
    /// Starts a file.
    pub fn new(format: CollectionFormat) -> Self {
        CollectionCuts {
            ends: CollectionEnds::new(format),
            carry: Vec::new(),
            skipped: 0,
            is_doubtful: false,
            records: 0,
            is_whole: false,
        }
    }

    /// Keeps the bytes from the current record on, or skips the record.
    fn keep(&mut self, rest: &[u8]) {
        if rest.len() <= MOST_KEPT {
            self.carry.clear();
            self.carry.extend_from_slice(rest);
            return;
        }
        self.carry = Vec::new();
        match self.ends.known_len().and_then(|len| len.checked_sub(rest.len() as u64)) {
            Some(left) => {
                self.skipped = left;
                self.is_doubtful = true;
                self.records += 1;
                self.ends.start_record();
            }
            None => self.is_whole = true,
        }
    }
}

impl FindCuts for CollectionCuts {
    fn of_next_text(&self) -> Box<dyn FindCuts> {
        Box::new(CollectionCuts {
            ends: self.ends.restarted(),
            carry: Vec::new(),
            skipped: 0,
            is_doubtful: false,
            records: 0,
            is_whole: false,
        })
    }

    fn take(&mut self, bytes: &[u8]) -> Option<Cut> {
        if self.is_whole {
            return None;
        }
        let skipped = usize::try_from(self.skipped).unwrap_or(usize::MAX).min(bytes.len());
        self.skipped -= skipped as u64;
        let new = bytes.get(skipped..).unwrap_or_default();
        let mut text = std::mem::take(&mut self.carry);
        let earlier = text.len();
        text.extend_from_slice(new);
        let (mut start, mut cut) = (0, None);
        while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
            if self.is_doubtful {
                let Some(is_record) = CollectionEnds::is_begun(rest) else { break };
                self.is_doubtful = false;
                if !is_record {
                    self.is_whole = true;
                    return None;
                }
            }
            let Some(end) = self.ends.next_end(rest, false) else { break };
            start += end;
            self.records += 1;
            if let Some(at) = start.checked_sub(earlier).filter(|&at| at > 0) {
                let head = Arc::default();
                let start = PieceStart { head, records: self.records, lines: 0, credit: 0 };
                cut = Some(Cut { at: skipped + at, start });
            }
        }
        let rest = text.get(start..).unwrap_or_default();
        if start == 0 && rest.len() <= MOST_KEPT {
            self.carry = text;
        } else {
            self.keep(rest);
        }
        cut
    }
}
