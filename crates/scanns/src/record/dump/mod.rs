//! Readers of dumps of file systems: the bytes of a dump in, entries out.
//!
//! `formats.rs` has the table of formats. Formats of rows are read by [`ReadRows`], which index threads call
//! for parts of a dump at the same time: `find/`, `gufi/`, `policy/` and the files named after a format.
//! Formats whose rows depend on the rows before them are read by [`ReadDump`] from their start to their end:
//! `ncdu/`, `mlocate/`, `plocate/`, `mtree/` and `dwalk/`. Tables (`tables.rs`) are read with a map of their
//! columns (`mapped/`); `s3.rs` reads the manifest of an S3 Inventory, whose parts are tables. All readers
//! are total: whatever the bytes are, they return entries, counts of bad rows (`tally.rs`), or an error.
//!
//! `rows.rs` and `number.rs` are shared by formats of rows, `input.rs` and `posix.rs` by the others.

#[cfg(test)]
mod detect_tests;
mod dwalk;
mod dwalk_lite;
mod find;
mod formats;
mod gufi;
mod hdfs;
mod input;
mod known;
mod lester;
mod mapped;
mod mlocate;
mod mtree;
mod ncdu;
mod number;
mod paths;
mod plocate;
mod policy;
mod posix;
mod pwalk;
#[cfg(test)]
mod row_tests;
mod rows;
mod s3;
#[cfg(test)]
mod sequential_testing;
mod tables;
mod tally;
#[cfg(test)]
mod testing;

use std::io::{self, BufRead};
use std::ops::ControlFlow;

use crate::source::Entry;
#[cfg(test)]
pub(crate) use find::FindDialect;
#[cfg(test)]
pub(crate) use find::FindRows;
pub use find::RECOMMENDED_FORMAT;
pub use formats::{DUMP_FORMATS, DumpFormat};
pub use known::{DumpReader, KnownDump};
pub use mapped::{
    ColumnMap, ColumnType, CsvTable, MapView, MappedField, MappedRow, TableColumn, TableMap, TableValue,
    resolve,
};
pub(crate) use s3::{S3Manifest, is_s3_manifest};
pub(crate) use tables::OpenedTable;
pub use tables::{OpenTable, ReadTable, TableDump, TableFormat, TableInput};
pub use tally::{BadRow, BadValues, DumpTally, UnreadPath};

/// The first bytes of a dump that are looked at to find out its format.
pub const DUMP_HEAD: usize = 64 << 10;

/// Takes entries; the path and all texts are borrowed for the call only.
pub type Visit<'v> = dyn FnMut(&Entry<'_>) -> ControlFlow<()> + 'v;

/// Reads rows of a dump, each of which stands for itself.
pub trait ReadRows: Send + Sync {
    /// The number of bytes of the complete rows at the start of `bytes`, which begins with a row; 0 if there
    /// is no complete row.
    ///
    /// `bytes` may contain megabytes, and this runs on one thread: it looks for the last end of a row from
    /// the end of `bytes` wherever the format allows.
    fn complete(&self, bytes: &[u8]) -> usize;

    /// Calls `visit` for every entry in `bytes`, which contains complete rows except for a last row that
    /// the end of the dump may have cut or left without its end. `offset` is the place of `bytes` in the
    /// dump. Stops if `visit` does.
    fn read(
        &self,
        bytes: &[u8],
        offset: u64,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()>;
}

/// Reads a dump from its start to its end, because its rows depend on each other.
pub trait ReadDump: Send {
    /// Calls `visit` for every entry. Memory is bounded by the depth of the tree, by the longest row, or by
    /// 64 MiB, never by the dump or by a length that the dump claims. Ends early, without an error, if
    /// `visit` stops.
    ///
    /// # Errors
    /// The errors of `input`, and [`io::ErrorKind::InvalidData`] for a dump that cannot be
    /// read any further; its message says at which byte, what was expected and what was found.
    fn read(
        &mut self,
        input: &mut dyn BufRead,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> io::Result<()>;

    /// True if [`ReadDump::read_slice`] finds out more than [`ReadDump::read`].
    fn prefers_slice(&self) -> bool {
        false
    }

    /// Like [`ReadDump::read`], for a whole dump in memory.
    ///
    /// # Errors
    /// As for [`ReadDump::read`].
    fn read_slice(
        &mut self,
        mut bytes: &[u8],
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        self.read(&mut bytes, tally, visit)
    }
}
