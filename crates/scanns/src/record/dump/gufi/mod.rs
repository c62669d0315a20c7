//! Traces of GUFI, which `gufi_dir2trace` writes and `gufi_trace2index` reads.
//!
//! A row has 23 columns, each followed by the separator (0x1E unless chosen otherwise), then a line feed:
//!
//! ```text
//! name type inode mode links uid gid size blksize blocks atime mtime ctime linkname xattrs crtime
//! ossint1 ossint2 ossint3 ossint4 osstext1 osstext2 pinode
//! ```
//!
//! The type is `d`, `f`, `l`, or `e` for the path of an external database, a row of two columns that is not
//! an entry. The mode is decimal, times are seconds, and a crtime of 0 means that it is not known. Names
//! begin with the last component of the directory that was walked.
//!
//! In the new format, four hexadecimal digits before the name, the linkname, the xattrs and the osstexts tell
//! their length, so that they may contain every byte. The old format has no lengths: see [`old`].
//!
//! Source: `src/trace.c`, `src/xattrs.c` and `include/trace.h` of mar-file-system/GUFI.

mod new;
mod old;
#[cfg(test)]
mod tests;
mod trace;

use std::ops::ControlFlow;

use memchr::memmem;

use self::trace::GufiRow;
pub use self::trace::GufiTrace;
use super::{DumpTally, ReadRows, Visit};

impl GufiTrace {
    /// The format and the separator of the dump that begins with `start`, if its first row is certainly a row
    /// of a trace. In the old format, only the usual separator is certain.
    pub fn detect(start: &[u8]) -> Option<Self> {
        let is_entry = |row: &GufiRow<'_>| row.entry().is_ok();
        let length = usize::try_from(super::number::hexadecimal(start.get(..4)?).unwrap_or(0)).ok()?;
        if let Some(separator) = start.get(4 + length).filter(|byte| !byte.is_ascii_alphanumeric())
            && new::cut(start, *separator, false).is_ok_and(|row| is_entry(&row))
        {
            return Some(GufiTrace { separator: *separator, old: false });
        }
        let trace = GufiTrace { separator: Self::SEPARATOR, old: true };
        let first = start.get(..memmem::find(start, &trace.end())?)?;
        old::cut(first, trace.separator)
            .is_ok_and(|row| row.guessed.is_none() && is_entry(&row))
            .then_some(trace)
    }
}

impl ReadRows for GufiTrace {
    fn complete(&self, bytes: &[u8]) -> usize {
        if self.old {
            return memmem::rfind(bytes, &self.end()).map_or(0, |end| end + 2);
        }
        new::complete(bytes, *self)
    }

    fn read(
        &self,
        bytes: &[u8],
        offset: u64,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        if self.old {
            old::read(bytes, offset, *self, tally, visit)
        } else {
            new::read(bytes, offset, *self, tally, visit)
        }
    }
}
