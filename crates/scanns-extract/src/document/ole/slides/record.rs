//! Records of a PowerPoint stream.

use crate::document::bytes::{size_at, u16_at};

/// The type of a list of masters, slides or notes.
pub(super) const SLIDE_LIST: u16 = 4_080;

/// The head of a record and where its body is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) version: u16,
    pub(super) instance: u16,
    pub(super) kind: u16,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether the body is shorter than the head says.
    pub(super) is_cut: bool,
}

impl Record {
    /// The record at `at`, which ends at `limit` at the latest.
    pub(super) fn at(stream: &[u8], at: usize, limit: usize) -> Option<Self> {
        let head = stream.get(at..limit)?.get(..8)?;
        let first = u16_at(head, 0)?;
        let start = at + 8;
        let end = start.saturating_add(size_at(head, 4)?);
        Some(Self {
            version: first & 15,
            instance: first >> 4,
            kind: u16_at(head, 2)?,
            start,
            end: end.min(limit),
            is_cut: end > limit,
        })
    }

    pub(super) fn body<'s>(&self, stream: &'s [u8]) -> &'s [u8] {
        stream.get(self.start..self.end).unwrap_or_default()
    }

    /// The records in the body.
    pub(super) fn children<'s>(&self, stream: &'s [u8]) -> impl Iterator<Item = Self> + use<'s> {
        let (mut at, limit) = (self.start, self.end);
        std::iter::from_fn(move || {
            let record = Self::at(stream, at, limit)?;
            at = record.end;
            Some(record)
        })
    }
}
