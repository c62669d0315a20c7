//! The lines of entries: inode, space, and with `-l` the mode, links, owners, size and date, then the name.
//!
//! A column is as wide as its widest value in the directory.

use std::io::{self, Write};

use super::options::{ListMark, ListOptions};
use super::place::ListEntry;
use crate::files::date_text::date_text;
use crate::files::device_numbers::{major, minor};
use crate::files::find::{DEVICE_NUMBERS, FindType, UnknownColumn, lack, mode_text};
use crate::files::human::human_size;
use crate::source::{Entry, EntryKind};

/// Half a year, as ls counts it.
const HALF_A_YEAR: i64 = 31_556_952 / 2 * 1_000_000_000;

/// A value and whether it stands at the left of its column.
type ListCell = (Vec<u8>, bool);

/// What is known of the entry that a link leads to: its mode and kind.
pub(super) type FindLinked<'f> = dyn Fn(&Entry<'_>) -> Option<u8> + 'f;

/// Writes the lines of the entries of one directory, or of the files among the paths. Columns are as wide as
/// the values of `beside`, too.
pub(super) fn write_lines(
    entries: &[ListEntry<'_>],
    beside: &[ListEntry<'_>],
    options: &ListOptions,
    linked: &FindLinked<'_>,
    unknown: &mut Vec<UnknownColumn>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let widest = entries.iter().chain(beside).filter_map(|listed| listed.entry.rdev).map(minor).max();
    let minors = widest.map_or(0, |widest| widest.to_string().len());
    let rows: Vec<Vec<ListCell>> =
        entries.iter().map(|entry| cells(entry, options, minors, unknown)).collect();
    let others = beside.iter().map(|entry| cells(entry, options, minors, &mut Vec::new()));
    let mut widths: Vec<usize> = Vec::new();
    let mut measure = |row: &[ListCell]| {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.0.len().max(*width);
        }
    };
    rows.iter().for_each(|row| measure(row));
    others.for_each(|row| measure(&row));
    for (entry, row) in entries.iter().zip(&rows) {
        for ((text, is_left), width) in row.iter().zip(&widths) {
            let fill = vec![b' '; width - text.len()];
            let [first, second] = if *is_left { [text, &fill] } else { [&fill, text] };
            out.write_all(first)?;
            out.write_all(second)?;
            out.write_all(b" ")?;
        }
        name(entry, options, linked, out)?;
        out.write_all(&[options.end])?;
    }
    Ok(())
}

/// The line with the space of all entries of a directory.
pub(super) fn write_total(
    entries: &[ListEntry<'_>],
    options: &ListOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let blocks =
        entries.iter().fold(0, |sum: u64, entry| sum.saturating_add(entry.entry.blocks.unwrap_or(0)));
    out.write_all(format!("total {}", space(blocks, options)).as_bytes())?;
    out.write_all(&[options.end])
}

/// The columns before the name. The minor numbers of devices take `minors` bytes.
fn cells(
    listed: &ListEntry<'_>,
    options: &ListOptions,
    minors: usize,
    unknown: &mut Vec<UnknownColumn>,
) -> Vec<ListCell> {
    let entry = &listed.entry;
    let mut cells = Vec::new();
    let mut cell = |text: Option<Vec<u8>>, name: &str, is_left: bool| {
        if text.is_none() && listed.is_known {
            lack(unknown, name, entry.path);
        }
        cells.push((text.unwrap_or_else(|| b"?".to_vec()), is_left));
    };
    let number = |number: Option<u64>| number.map(|number| number.to_string().into_bytes());
    if options.inode {
        cell(number(entry.inode), "inode", false);
    }
    if options.blocks {
        cell(entry.blocks.map(|blocks| space(blocks, options).into_bytes()), "blocks", false);
    }
    if !options.long {
        return cells;
    }
    let kind = FindType::of(entry);
    if entry.mode.is_none() && listed.is_known {
        lack(unknown, "mode", entry.path);
    }
    cells.push((mode_text(entry).unwrap_or_else(|| mode_of(kind)).to_vec(), true));
    let mut cell = |text: Option<Vec<u8>>, name: &str, is_left: bool| {
        if text.is_none() && listed.is_known {
            lack(unknown, name, entry.path);
        }
        cells.push((text.unwrap_or_else(|| b"?".to_vec()), is_left));
    };
    cell(number(entry.links), "links", false);
    for (name, id, column) in [(entry.owner, entry.uid, "owner"), (entry.group, entry.gid, "group")] {
        let name = name.filter(|_| !options.numeric);
        let id = id.map(|id| id.to_string().into_bytes());
        cell(name.map(<[u8]>::to_vec).or(id), column, name.is_some());
    }
    let is_device = matches!(kind, Some(FindType::Block | FindType::Character))
        || kind.is_none() && entry.kind == Some(EntryKind::Device);
    let (size, column) = match is_device {
        true => (entry.rdev.map(|rdev| device_text(rdev, minors)), DEVICE_NUMBERS),
        false => (entry.size.map(|size| size_text(size, options)), "size"),
    };
    cell(size.map(String::into_bytes), column, false);
    let time = options.date.of(entry).map(|time| date(time, options).into_bytes());
    let is_known = time.is_some();
    cell(time, options.date.name(), is_known);
    cells
}

/// The type alone.
fn mode_of(kind: Option<FindType>) -> [u8; 10] {
    let mut text = *b"??????????";
    if let (Some(kind), [first, ..]) = (kind, &mut text) {
        *first = if kind == FindType::Regular { b'-' } else { kind.letter() };
    }
    text
}

/// A number of blocks of 512 bytes, in KiB.
fn space(blocks: u64, options: &ListOptions) -> String {
    if options.human { human_size(blocks.saturating_mul(512), 1024) } else { blocks.div_ceil(2).to_string() }
}

fn size_text(size: u64, options: &ListOptions) -> String {
    if options.human { human_size(size, 1024) } else { size.to_string() }
}

/// The major and the minor number of a device; the latter is at the right of `minors` bytes.
fn device_text(device: u64, minors: usize) -> String {
    format!("{}, {:>minors$}", major(device), minor(device))
}

fn date(time: i64, options: &ListOptions) -> String {
    let is_recent = options.now.saturating_sub(HALF_A_YEAR) < time && time <= options.now;
    let format = if is_recent { &options.time.recent } else { &options.time.old };
    date_text(time, format, &options.zone)
}

/// The name, with its mark and the target of a link.
fn name(
    listed: &ListEntry<'_>,
    options: &ListOptions,
    linked: &FindLinked<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = |bytes: &[u8]| match options.quote {
        Some(quote) => out.write_all(quote(bytes).as_bytes()),
        None => out.write_all(bytes),
    };
    text(listed.name)?;
    let entry = &listed.entry;
    if options.long && entry.kind == Some(EntryKind::Link) {
        let target = entry.target.unwrap_or(b"?");
        match options.quote {
            Some(quote) => write!(out, " -> {}", quote(target))?,
            None => out.write_all(&[b" -> ", target].concat())?,
        }
        let mark = if options.mark == ListMark::Type { linked(entry) } else { None };
        return out.write_all(mark.as_slice());
    }
    out.write_all(mark(entry, options.mark).as_slice())
}

/// The mark of an entry.
pub(super) fn mark(entry: &Entry<'_>, mark: ListMark) -> Option<u8> {
    match (mark, entry.kind?) {
        (ListMark::None, _) => None,
        (_, EntryKind::Directory) => Some(b'/'),
        (ListMark::Slash, _) | (_, EntryKind::Device) => None,
        (_, EntryKind::Link) => Some(b'@'),
        (_, EntryKind::Fifo) => Some(b'|'),
        (_, EntryKind::Socket) => Some(b'='),
        (_, EntryKind::File | EntryKind::Member) => entry.mode.filter(|mode| mode & 0o111 != 0).map(|_| b'*'),
    }
}
