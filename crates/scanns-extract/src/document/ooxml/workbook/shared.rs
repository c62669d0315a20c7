//! What workbooks in XML and binary ones share: the strings and styles of cells, and the parts that are XML
//! in both.

use std::io::{Read, Seek};

use super::super::Office;
use super::super::text::paragraphs;
use crate::document::flow::Flow;
use crate::document::number::NumberKind;

/// The types of the parts that follow the sheets.
const PARTS: [&str; 4] = [
    "spreadsheetml.comments+xml",
    "ms-excel.threadedcomments+xml",
    "drawing+xml",
    "drawingml.diagramData+xml",
];

/// What the cells of all sheets refer to.
#[derive(Default)]
pub(super) struct Shared {
    /// The shared strings, one after the other, and where each ends.
    pub(super) text: String,
    pub(super) ends: Vec<usize>,
    pub(super) kinds: Vec<NumberKind>,
    pub(super) is_1904: bool,
}

impl Shared {
    /// The shared string of a number.
    pub(super) fn string(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.text.get(start..end)
    }
}

/// Appends the text of comments and drawings.
pub(super) fn texts<S: Read + Seek>(office: &mut Office<S>, flow: &mut Flow<'_>) {
    for part in PARTS.iter().flat_map(|kind| office.parts_of(kind)).collect::<Vec<_>>() {
        office.read(&part, flow.room(), &mut |markup| paragraphs(markup, flow));
    }
}
