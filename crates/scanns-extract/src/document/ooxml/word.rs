//! Word documents: the body, then headers, footers, notes, comments, and the text of diagrams.

use std::io::{Read, Seek};

use super::super::flow::Flow;
use super::Office;
use super::text::paragraphs;
use crate::error::ExtractError;
use crate::output::Output;

/// The types of the parts that follow the body.
const PARTS: [&str; 6] = [
    "wordprocessingml.header+xml",
    "wordprocessingml.footer+xml",
    "wordprocessingml.footnotes+xml",
    "wordprocessingml.endnotes+xml",
    "wordprocessingml.comments+xml",
    "drawingml.diagramData+xml",
];

/// Takes the text and the fields of a Word document.
pub fn extract(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    let mut office = Office::open(source, "Word")?;
    office.core_properties(out);
    let mut parts = vec![office.main_part("word")?];
    parts.extend(PARTS.iter().flat_map(|kind| office.parts_of(kind)));
    let mut flow = Flow::new(out);
    for part in parts {
        let room = flow.room();
        office.read(&part, room, &mut |markup| paragraphs(markup, &mut flow));
        if flow.is_full() {
            break;
        }
    }
    office.finish()
}
