//! PowerPoint 97-2003 ([MS-PPT]).
//!
//! The stream is records of `version and instance u16, type u16, size u32, body`; a record of version 15
//! holds records. Text is in atoms of UTF-16 or of its low bytes. What counts is the text of the document,
//! its slides and their notes, as `live` finds them; the text of masters is left out. If they cannot be
//! found, the text of the whole stream counts.

mod live;
mod record;

use std::io::{Read, Seek};

use self::record::{Record, SLIDE_LIST};
use super::super::bytes::{u32_at, utf16};
use super::super::flow::{Break, Flow};
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
/// A record of version 0 that holds records.
const TAG_DATA: u16 = 5_003;
/// A record of version 15 that holds a zip file.
const TABLE_STYLES: u16 = 1_064;
/// The instance of the list of masters.
const MASTERS: u16 = 1;

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
    let Some(objects) = live::objects(&stream, &user) else { return texts(&stream, &mut flow) };
    let mut left = stream.len();
    let mut result = Ok(());
    for object in objects {
        let Some(record) = Record::at(&stream, object, stream.len()) else {
            result = Err(ExtractError::damaged(NAME, "an object is out of place"));
            continue;
        };
        let whole = stream.get(object..record.end).unwrap_or_default();
        left = left.checked_sub(whole.len()).ok_or_else(|| ExtractError::damaged(NAME, "objects overlap"))?;
        result = result.and(texts(whole, &mut flow));
    }
    result
}

/// Whether the body of a record is records whose text counts.
fn is_container(record: &Record) -> bool {
    let is_master = matches!(record.kind, MAIN_MASTER | HANDOUT)
        || (record.kind == SLIDE_LIST && record.instance == MASTERS);
    !is_master && record.kind != TABLE_STYLES && (record.version == 15 || record.kind == TAG_DATA)
}

/// Appends the texts of all records in `stream`. A record that is longer than the one that holds it costs
/// the rest of that one.
fn texts(stream: &[u8], flow: &mut Flow<'_>) -> Result<(), ExtractError> {
    let mut at = 0;
    // Where the open containers end.
    let mut ends: Vec<usize> = Vec::new();
    // Where the container ends whose short strings are text.
    let mut strings_to = 0;
    while at < stream.len() && !flow.is_full() {
        while ends.pop_if(|end| *end <= at).is_some() {}
        let limit = ends.last().copied().unwrap_or(stream.len());
        let record = match Record::at(stream, at, limit) {
            Some(record) if !record.is_cut || limit == stream.len() => record,
            _ if limit == stream.len() => return Err(ExtractError::damaged(NAME, "the records are cut off")),
            _ => {
                at = limit;
                continue;
            }
        };
        if matches!(record.kind, HEADERS_FOOTERS | COMMENT) {
            strings_to = record.end;
        }
        if is_container(&record) {
            ends.push(record.end);
            at = record.start;
            continue;
        }
        let body = record.body(stream);
        match record.kind {
            TEXT_CHARS => lines(&utf16(body), flow),
            C_STRING if record.start < strings_to => lines(&utf16(body), flow),
            TEXT_BYTES => lines(&body.iter().copied().map(char::from).collect::<String>(), flow),
            _ => {}
        }
        at = record.end;
        if record.is_cut {
            return Err(ExtractError::damaged(NAME, "the records are cut off"));
        }
    }
    Ok(())
}

/// Appends the lines of a text.
fn lines(text: &str, flow: &mut Flow<'_>) {
    for line in text.split(['\r', '\u{b}']) {
        flow.words(line);
        flow.part(Break::Line);
    }
}

#[cfg(test)]
mod tests;
