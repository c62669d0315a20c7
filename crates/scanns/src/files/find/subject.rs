//! The entry that is evaluated, with what its place in the tree tells: the path that find shows, its start
//! point and its depth.

use crate::source::Entry;

/// An entry below a start point.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The entry.
    pub entry: &'a Entry<'a>,
    /// The path that find shows: the start point as it was written, and the rest of the path.
    pub shown: &'a [u8],
    /// The length of the start point in the shown path.
    pub start: usize,
    /// The levels below the start point; 0 is the start point itself.
    pub depth: usize,
}

impl<'a> Subject<'a> {
    /// The last part of the path for `%f`: one slash at its end is kept.
    pub(super) fn last_part(&self) -> &'a [u8] {
        let end = trimmed(self.shown);
        match memchr::memrchr(b'/', end) {
            _ if end.is_empty() => self.shown.get(..1).unwrap_or_default(),
            slash => {
                let begin = slash.map_or(0, |slash| slash + 1);
                self.shown.get(begin..self.shown.len().min(end.len() + 1)).unwrap_or_default()
            }
        }
    }

    /// The name for `-name`: the last part without slashes at its end; `/` for the root.
    pub(super) fn name(&self) -> &'a [u8] {
        let end = trimmed(self.shown);
        match memchr::memrchr(b'/', end) {
            _ if end.is_empty() => self.shown.get(..1).unwrap_or_default(),
            slash => end.get(slash.map_or(0, |slash| slash + 1)..).unwrap_or_default(),
        }
    }

    /// The path before the last slash; `.` where there is none. Slashes at the end do not count, unless the
    /// path has only one byte before them, as in find 4.9.
    pub(super) fn directory(&self) -> &'a [u8] {
        let end = trimmed(self.shown);
        let path = if end.len() > 1 { end } else { self.shown };
        memchr::memrchr(b'/', path).and_then(|slash| path.get(..slash)).unwrap_or(b".")
    }

    /// The start point as it was written.
    pub(super) fn start_point(&self) -> &'a [u8] {
        self.shown.get(..self.start).unwrap_or(self.shown)
    }

    /// The path below the start point.
    pub(super) fn relative(&self) -> &'a [u8] {
        match self.depth {
            0 => b"",
            _ => {
                let rest = self.shown.get(self.start..).unwrap_or_default();
                rest.strip_prefix(b"/").unwrap_or(rest)
            }
        }
    }
}

/// A path without the slashes at its end.
fn trimmed(path: &[u8]) -> &[u8] {
    let slashes = path.iter().rev().take_while(|byte| **byte == b'/').count();
    path.get(..path.len() - slashes).unwrap_or_default()
}
