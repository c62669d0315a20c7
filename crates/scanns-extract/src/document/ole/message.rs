//! Outlook messages ([MS-OXMSG]): a stream for each property, named `__substg1.0_PPPPTTTT` by the property
//! and its type in hex digits. The body is plain text, or HTML, or else compressed RTF.

mod lzfu;

use std::io::{Cursor, Read, Seek};

use encoding_rs::WINDOWS_1252;

use super::super::flow::{Break, Flow};
use super::super::xml::Markup;
use super::super::{rtf, xhtml};
use super::bytes::{u32_at, u64_at, utf16};
use super::compound::Compound;
use super::summary;
use crate::error::ExtractError;
use crate::output::Output;

/// The name of the format in errors.
pub(super) const NAME: &str = "Outlook message";
/// The most attachments whose names are read.
const MOST_ATTACHMENTS: usize = 1_000;
/// Properties that are fields.
const FIELDS: [(&str, &str); 6] = [
    ("0037", "title"),
    ("0C1A", "author"),
    ("0C1F", "author"),
    ("0E04", "recipient"),
    ("0E03", "recipient"),
    ("5D01", "author"),
];
/// The date when the message was submitted, and when it was delivered.
const DATES: [u32; 2] = [0x0039_0040, 0x0e06_0040];

/// Takes the text and the fields of a message.
pub(super) fn extract<S: Read + Seek>(
    compound: &mut Compound<S>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let subject = string(compound, "", "0037").unwrap_or_default();
    for (property, name) in FIELDS {
        if let Some(value) = string(compound, "", property) {
            out.field(name, &value);
        }
    }
    if let Some(date) = date(compound) {
        out.field("created", &date);
    }
    let mut flow = Flow::new(out);
    flow.words(&subject);
    flow.part(Break::Line);
    let attachments = attachment_names(compound);
    for name in attachments {
        flow.words(&name);
        flow.part(Break::Line);
    }
    drop(flow);
    body(compound, out)
}

/// A text property of the message or of a storage in it.
fn string<S: Read + Seek>(compound: &mut Compound<S>, storage: &str, property: &str) -> Option<String> {
    let path = |kind: &str| format!("{storage}/__substg1.0_{property}{kind}");
    if let Ok(Some(bytes)) = compound.stream(&path("001F")) {
        return Some(utf16(&bytes).trim_end_matches('\0').to_owned());
    }
    let bytes = compound.stream(&path("001E")).ok().flatten()?;
    Some(WINDOWS_1252.decode_without_bom_handling(&bytes).0.trim_end_matches('\0').to_owned())
}

/// The date of the message: an entry of 16 bytes, after a head of 32, in the list of fixed properties.
fn date<S: Read + Seek>(compound: &mut Compound<S>) -> Option<String> {
    let list = compound.stream("/__properties_version1.0").ok().flatten()?;
    let entry = |tag: u32| list.get(32..)?.chunks_exact(16).find(|entry| u32_at(entry, 0) == Some(tag));
    let entry = DATES.iter().find_map(|tag| entry(*tag))?;
    summary::file_time(u64_at(entry, 8)?)
}

/// The names of the attached files.
fn attachment_names<S: Read + Seek>(compound: &mut Compound<S>) -> Vec<String> {
    let root = compound.file.read_root_storage();
    let names = root.filter(|entry| entry.is_storage()).map(|entry| entry.name().to_owned());
    let storages: Vec<_> =
        names.filter(|name| name.starts_with("__attach_")).take(MOST_ATTACHMENTS).collect();
    let name_of = |storage: String| {
        let storage = format!("/{storage}");
        string(compound, &storage, "3707").or_else(|| string(compound, &storage, "3704"))
    };
    storages.into_iter().filter_map(name_of).collect()
}

/// Appends the body.
fn body<S: Read + Seek>(compound: &mut Compound<S>, out: &mut Output) -> Result<(), ExtractError> {
    if let Some(text) = string(compound, "", "1000").filter(|text| !text.trim().is_empty()) {
        let mut flow = Flow::new(out);
        for line in text.lines() {
            flow.words(line);
            flow.part(Break::Line);
        }
        return Ok(());
    }
    let html =
        compound.stream("/__substg1.0_10130102")?.or(string(compound, "", "1013").map(String::into_bytes));
    if let Some(html) = html {
        let mut flow = Flow::new(out);
        let mut markup = Markup::new(&html[..])?;
        return xhtml::page(&mut markup, &mut flow)
            .map_err(|error| ExtractError::damaged(NAME, format!("HTML: {error}")));
    }
    let Some(packed) = compound.stream("/__substg1.0_10090102")? else { return Ok(()) };
    let bytes = lzfu::expand(&packed).ok_or_else(|| ExtractError::damaged(NAME, "the RTF is cut off"))?;
    // The head of this RTF is of the message's converter; its fields are not the message's.
    let mut inner = Output::new(out.room(), 0);
    let result = rtf::extract(&mut Cursor::new(bytes), &mut inner);
    out.text(&inner.into_parts().0);
    result
}
