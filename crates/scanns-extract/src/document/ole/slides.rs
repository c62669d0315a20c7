//! PowerPoint 97-2003 ([MS-PPT]).
//!
//! The stream is records of `version and instance u16, type u16, size u32, body`; a record of version 15
//! holds records. Text is in atoms of UTF-16 or of its low bytes. The text of the masters is left out. Text
//! that an older save left in the file is found as well.

use std::io::{Read, Seek};

use super::super::flow::{Break, Flow};
use super::bytes::{size_at, u16_at, u32_at, utf16};
use super::compound::Compound;
use super::summary;
use crate::error::ExtractError;
use crate::output::Output;

/// The name of the format in errors.
pub(super) const NAME: &str = "PowerPoint 97";
/// The token in the stream `Current User` of an encrypted file.
const ENCRYPTED: u32 = 0xf3d1_c4df;
/// Types of records.
const TEXT_CHARS: u16 = 4_000;
const TEXT_BYTES: u16 = 4_008;
const C_STRING: u16 = 4_026;
const MAIN_MASTER: u16 = 1_016;
const HANDOUT: u16 = 4_041;
const HEADERS_FOOTERS: u16 = 4_057;
const COMMENT: u16 = 12_000;

/// Takes the text and the fields of a presentation.
pub(super) fn extract<S: Read + Seek>(
    compound: &mut Compound<S>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let user = compound.stream("/Current User")?.unwrap_or_default();
    if u32_at(&user, 12) == Some(ENCRYPTED) {
        return Err(ExtractError::Encrypted { format: NAME });
    }
    summary::read(compound, out);
    let stream = compound.needed("/PowerPoint Document")?;
    let mut flow = Flow::new(out);
    let mut at = 0;
    // Where the container ends whose short strings are text.
    let mut strings_to = 0;
    while let Some(head) = stream.get(at..).and_then(|rest| rest.get(..8)) {
        let (version, kind) = (u16_at(head, 0).unwrap_or(0) & 15, u16_at(head, 2).unwrap_or(0));
        let size = size_at(head, 4).unwrap_or(0);
        let start = at + 8;
        let end = start.saturating_add(size).min(stream.len());
        if matches!(kind, HEADERS_FOOTERS | COMMENT) {
            strings_to = end;
        }
        if version == 15 && !matches!(kind, MAIN_MASTER | HANDOUT) {
            at = start;
            continue;
        }
        let body = stream.get(start..end).unwrap_or_default();
        match kind {
            TEXT_CHARS => lines(&utf16(body), &mut flow),
            C_STRING if start < strings_to => lines(&utf16(body), &mut flow),
            TEXT_BYTES => lines(&body.iter().copied().map(char::from).collect::<String>(), &mut flow),
            _ => {}
        }
        at = end;
        if flow.is_full() {
            return Ok(());
        }
    }
    if at >= stream.len() { Ok(()) } else { Err(ExtractError::damaged(NAME, "the records are cut off")) }
}

/// Appends the lines of a text.
fn lines(text: &str, flow: &mut Flow<'_>) {
    for line in text.split(['\r', '\u{b}']) {
        flow.words(line);
        flow.part(Break::Line);
    }
}
