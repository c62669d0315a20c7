//! The lines of `-ls`: inode, KiB, mode, links, owner, group, size, date, path, and the target of links.
//!
//! Columns have a least width and grow with the widest value so far, as in find; the widths are shared by
//! all outputs. Names are quoted with backslashes.

use jiff::tz::TimeZone;

use super::clock::LocalTime;
use super::directive::mode_text;
use super::facts::FindType;
use super::subject::Subject;
use crate::files::device_numbers::{major, minor};
use crate::source::Entry;

/// The widths of the columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListWidths {
    inode: usize,
    blocks: usize,
    links: usize,
    owner: usize,
    group: usize,
    size: usize,
    major: usize,
    minor: usize,
}

impl Default for ListWidths {
    fn default() -> Self {
        ListWidths { inode: 9, blocks: 6, links: 3, owner: 8, group: 8, size: 8, major: 3, minor: 3 }
    }
}

impl ListWidths {
    /// Writes the line of an entry; false where the index does not hold some of its columns.
    pub(super) fn write(&mut self, subject: &Subject, zone: &TimeZone, now: i64, out: &mut Vec<u8>) -> bool {
        let entry = subject.entry;
        let is_device = matches!(FindType::of(entry), Some(FindType::Block | FindType::Character));
        let is_whole = entry.inode.is_some()
            && entry.blocks.is_some()
            && entry.mode.is_some()
            && entry.links.is_some()
            && (entry.owner.is_some() || entry.uid.is_some())
            && (entry.group.is_some() || entry.gid.is_some())
            && (if is_device { entry.rdev } else { entry.size }).is_some()
            && entry.mtime.is_some();
        right(out, &number(entry.inode), &mut self.inode);
        right(out, &number(entry.blocks.map(|blocks| blocks.div_ceil(2))), &mut self.blocks);
        out.extend_from_slice(&mode_text(entry).unwrap_or(*b"??????????"));
        out.push(b' ');
        right(out, &number(entry.links), &mut self.links);
        owner(out, entry, &mut self.owner);
        group(out, entry, &mut self.group);
        if is_device {
            right(out, &number(entry.rdev.map(major)), &mut self.major);
            out.splice(out.len() - 1.., *b", ");
            right(out, &number(entry.rdev.map(minor)), &mut self.minor);
        } else {
            right(out, &number(entry.size), &mut self.size);
        }
        let date = entry.mtime.map(|time| LocalTime::new(time, zone).listed(now));
        out.extend_from_slice(format!("{:>12} ", date.unwrap_or_else(|| "?".to_owned())).as_bytes());
        quoted(out, subject.shown);
        if FindType::of(entry) == Some(FindType::Link) {
            out.extend_from_slice(b" -> ");
            quoted(out, entry.target.unwrap_or(b"?"));
        }
        out.push(b'\n');
        is_whole
    }
}

fn number(number: Option<u64>) -> Vec<u8> {
    number.map_or_else(|| b"?".to_vec(), |number| number.to_string().into_bytes())
}

/// A value at the right of its column, and a space.
fn right(out: &mut Vec<u8>, value: &[u8], width: &mut usize) {
    out.resize(out.len() + width.saturating_sub(value.len()), b' ');
    out.extend_from_slice(value);
    out.push(b' ');
    *width = value.len().max(*width);
}

/// A value at the left of its column, and a space.
fn left(out: &mut Vec<u8>, value: &[u8], width: usize) {
    out.extend_from_slice(value);
    out.resize(out.len() + width.saturating_sub(value.len()) + 1, b' ');
}

/// The owner. As in find 4.9, a number without a name does not fill a column that has grown, and counts the
/// space after it.
fn owner(out: &mut Vec<u8>, entry: &Entry, width: &mut usize) {
    match entry.owner {
        Some(name) => {
            *width = name.len().max(*width);
            left(out, name, *width);
        }
        None => {
            let id = number(entry.uid.map(u64::from));
            left(out, &id, 8);
            *width = (id.len().max(8) + 1).max(*width);
        }
    }
}

fn group(out: &mut Vec<u8>, entry: &Entry, width: &mut usize) {
    let id = number(entry.gid.map(u64::from));
    let name = entry.group.unwrap_or(&id);
    *width = name.len().max(*width);
    left(out, name, *width);
}

/// A name with backslashes before what a shell or a terminal would change.
fn quoted(out: &mut Vec<u8>, name: &[u8]) {
    for &byte in name {
        let letter = match byte {
            b'\\' | b' ' | b'"' => byte,
            b'\n' => b'n',
            8 => b'b',
            b'\r' => b'r',
            b'\t' => b't',
            12 => b'f',
            b'!'..=b'~' => {
                out.push(byte);
                continue;
            }
            _ => {
                out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
}
