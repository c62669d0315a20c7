//! Finds the entries of paths, and writes them in a layout.

use std::io::{self, Write};
use std::path::Path;

use jiff::tz::TimeZone;

use super::format::{StatPiece, pieces};
use super::json::object;
use super::origin::{EntryOrigin, origin};
use super::value::{QuoteName, StatSubject};
use crate::error::{Error, Result};
use crate::files::date_text::{WHOLE, date_text};
use crate::files::entries::EntryReader;
use crate::files::find::{FindType, UnknownColumn, lack};
use crate::files::known::IndexFacts;
use crate::files::list::ListedPath;
use crate::index::snapshot::Snapshot;
use crate::source::Entry;

/// What stat shows, from `File` to `Device`.
const HEAD: &[u8] =
    b"  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-10i  Links: ";
/// The number of links of a device, and of others.
const LINKS: [&[u8]; 2] = [b"%-5h Device type: %Hr,%Lr\n", b"%h\n"];
/// From `Access` to `Birth`.
const TAIL: &[u8] = b"Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\n\
    Change: %z\n Birth: %w\n";

/// How an entry is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StatLayout {
    /// As stat does it, with the source of the entry and the time at which it was seen.
    #[default]
    Default,
    /// In a format, with a line feed after it (`-c`).
    Format(Vec<u8>),
    /// In a format with escapes (`--printf`).
    Printf(Vec<u8>),
    /// As a JSON object on a line.
    Json,
}

/// Options of [`stat_entries`].
#[derive(Clone, Debug)]
pub struct StatOptions {
    /// How entries are shown.
    pub layout: StatLayout,
    /// The time zone of dates.
    pub zone: TimeZone,
    /// Quotes the names of `%N`.
    pub quote: fn(&[u8]) -> String,
    /// Quotes the names in the default layout, for terminals.
    pub quote_default: Option<fn(&[u8]) -> String>,
}

/// The result of [`stat_entries`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatReport {
    /// Paths that are not in the index, as they were written.
    pub missing: Vec<Vec<u8>>,
    /// Values that were asked for and that the index does not know.
    pub unknown: Vec<UnknownColumn>,
}

/// Shows entries as GNU stat does.
///
/// # Errors [`Error::Unsupported`] if the documents are not files with metadata; and the errors of reading
/// and writing.
pub fn stat_entries(
    snapshot: &Snapshot,
    paths: &[ListedPath],
    options: &StatOptions,
    out: &mut dyn Write,
) -> Result<StatReport> {
    let facts = IndexFacts::new(EntryReader::new(snapshot)?);
    let mut report = StatReport::default();
    for path in paths {
        let found = facts.entry_through_links(&path.path);
        let Some(entry) = found.as_ref().and_then(|batch| batch.iter().next()) else {
            report.missing.push(path.written.clone());
            continue;
        };
        let text = shown(snapshot, &path.written, &entry, options, &mut report)?;
        out.write_all(&text).map_err(written)?;
    }
    Ok(report)
}

/// The text of an entry.
fn shown(
    snapshot: &Snapshot,
    name: &[u8],
    entry: &Entry<'_>,
    options: &StatOptions,
    report: &mut StatReport,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let quoted = |bytes: &[u8]| (options.quote)(bytes).into_bytes();
    let (format, escapes) = match &options.layout {
        StatLayout::Format(format) => (format, false),
        StatLayout::Printf(format) => (format, true),
        StatLayout::Json => {
            let object = object(entry, &origin(snapshot, entry.path)?);
            return Ok(format!("{}\n", serde_json::Value::from(object)).into_bytes());
        }
        StatLayout::Default => {
            default_layout(snapshot, name, entry, options, report, &mut out)?;
            return Ok(out);
        }
    };
    let subject = StatSubject { entry, name, zone: &options.zone, quote: &quoted };
    write_pieces(&pieces(format, escapes), &subject, &mut report.unknown, &mut out);
    if !escapes {
        out.push(b'\n');
    }
    Ok(out)
}

fn default_layout(
    snapshot: &Snapshot,
    name: &[u8],
    entry: &Entry<'_>,
    options: &StatOptions,
    report: &mut StatReport,
    out: &mut Vec<u8>,
) -> Result<()> {
    let is_device = matches!(FindType::of(entry), Some(FindType::Block | FindType::Character));
    let format = [HEAD, LINKS.get(usize::from(!is_device)).copied().unwrap_or_default(), TAIL].concat();
    let quote: &QuoteName<'_> = match options.quote_default {
        Some(quote) => &move |bytes: &[u8]| quote(bytes).into_bytes(),
        None => &|bytes: &[u8]| bytes.to_vec(),
    };
    let subject = StatSubject { entry, name, zone: &options.zone, quote };
    let mut unknown = Vec::new();
    write_pieces(&pieces(&format, false), &subject, &mut unknown, out);
    // No index has it.
    let is_kept = |column: &UnknownColumn| column.word != b"block size";
    for column in unknown.into_iter().filter(is_kept) {
        lack(&mut report.unknown, &String::from_utf8_lossy(&column.word), entry.path);
    }
    let EntryOrigin { source, scanned, acl, xattrs } = origin(snapshot, entry.path)?;
    for (head, texts) in [(&b"   ACL: "[..], acl), (b" Xattr: ", xattrs)] {
        for text in texts.into_iter().flatten() {
            out.extend([head, quote(&text).as_slice(), b"\n"].concat());
        }
    }
    if let Some(source) = source {
        out.extend([b"Source: ", quote(&source).as_slice(), b"\n"].concat());
    }
    if let Some(scanned) = scanned {
        out.extend(format!("  Seen: {}\n", date_text(scanned, WHOLE, &options.zone)).into_bytes());
    }
    Ok(())
}

fn write_pieces(
    pieces: &[StatPiece],
    subject: &StatSubject<'_>,
    unknown: &mut Vec<UnknownColumn>,
    out: &mut Vec<u8>,
) {
    for piece in pieces {
        match piece {
            StatPiece::Text(text) => out.extend_from_slice(text),
            StatPiece::Value(directive) => {
                if let Err(column) = directive.write(subject, out) {
                    lack(unknown, column, subject.entry.path);
                }
            }
        }
    }
}

fn written(source: io::Error) -> Error {
    Error::io("write to", Path::new("the output"), source)
}
