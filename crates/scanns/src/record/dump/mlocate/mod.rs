//! Databases of mlocate (`/var/lib/mlocate/mlocate.db`).
//!
//! ```text
//! database  = "\0mlocate" conf_size:u32 version:u8 visibility:u8 pad[2] root NUL conf[conf_size]
//!             directory...
//! directory = seconds:u64 nanoseconds:u32 pad[4] path NUL entry... 2:u8
//! entry     = 0:u8 name NUL        (anything but a directory)
//!           | 1:u8 name NUL        (a directory)
//! ```
//!
//! From mlocate.db(5). Numbers are big-endian. A directory is an entry of the directory above it, so only the
//! first directory is an entry for its own record. A directory that could not be read, or was pruned, has no
//! record of its own. The time of a directory is the later one of its ctime and its mtime, so it is neither.
//! What the other entries are is not known. Nothing in the format proves that a database is complete.

#[cfg(test)]
mod tests;

use std::io::{self, BufRead};

use super::input::{DumpInput, Halt, settle};
use super::posix::{fault_of_name, join, without_end_slashes};
use super::{DumpTally, ReadDump, Visit};
use crate::source::{Entry, EntryKind};

const MAGIC: &[u8; 8] = b"\0mlocate";

/// The greatest number of bytes of a path or name that is kept.
const LONGEST: usize = 1 << 20;

/// Reads databases of mlocate: paths, and which of them are directories. There are no options.
#[derive(Clone, Copy, Debug, Default)]
pub struct MlocateDump;

impl MlocateDump {
    /// A reader.
    pub fn new() -> Self {
        MlocateDump
    }

    /// True if a dump that begins with `start` is certainly a database of mlocate.
    pub fn detect(start: &[u8]) -> bool {
        start.starts_with(MAGIC)
    }
}

impl ReadDump for MlocateDump {
    fn read(
        &mut self,
        input: &mut dyn BufRead,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        let input = DumpInput::new(input);
        let mut database = MlocateDatabase { input, path: Vec::new(), name: Vec::new(), tally, visit };
        let result = database.read();
        settle(result, tally)
    }
}

/// A database while it is read.
struct MlocateDatabase<'r, 'i, 'v> {
    input: DumpInput<'i>,
    path: Vec<u8>,
    name: Vec<u8>,
    tally: &'r mut DumpTally,
    visit: &'r mut Visit<'v>,
}

impl MlocateDatabase<'_, '_, '_> {
    /// Reads the database from its first byte.
    fn read(&mut self) -> Result<(), Halt> {
        self.header()?;
        let mut first = true;
        while !self.input.is_at_end()? {
            self.directory(first)?;
            first = false;
        }
        Ok(())
    }

    /// Reads what precedes the first directory.
    fn header(&mut self) -> Result<(), Halt> {
        self.input.exact(MAGIC.len() as u64, &mut self.name)?;
        if self.name != MAGIC {
            return Err(Halt::invalid(0, "a database of mlocate begins with a NUL byte and 'mlocate'"));
        }
        self.input.exact(8, &mut self.name)?;
        let Some(&[a, b, c, d, version, ..]) = self.name.first_chunk::<8>() else { return Err(Halt::End) };
        if version != 0 {
            let problem = format!("version {version} of mlocate's format is not known, only 0 is");
            return Err(Halt::invalid(12, problem));
        }
        self.input.until(0, &mut self.name, LONGEST)?;
        self.input.skip(u32::from_be_bytes([a, b, c, d]).into())
    }

    /// Reads one directory and its entries.
    fn directory(&mut self, first: bool) -> Result<(), Halt> {
        let start = self.input.offset();
        self.input.skip(16)?;
        let fits = self.input.until(0, &mut self.path, LONGEST)?;
        let fault = match self.path.first() {
            _ if !fits => Some("the path of a directory is longer than 1 MiB"),
            Some(b'/') => None,
            _ => Some("the path of a directory does not begin with a slash"),
        };
        let length = without_end_slashes(&self.path).len();
        self.path.truncate(length);
        match fault {
            Some(fault) => self.tally.bad(start, fault, &self.path),
            None if first => self.visit(Some(EntryKind::Directory))?,
            None => {}
        }
        let fault = fault.map(|_| "the path of its directory cannot be used");
        loop {
            let offset = self.input.offset();
            match self.input.byte()? {
                2 => return Ok(()),
                0 => self.entry(offset, length, None, fault)?,
                1 => self.entry(offset, length, Some(EntryKind::Directory), fault)?,
                kind => {
                    let problem = format!("expected an entry of type 0, 1 or 2, found type {kind}");
                    return Err(Halt::invalid(offset, problem));
                }
            }
        }
    }

    /// Reads the name of an entry of the directory whose path is the first `directory` bytes of the path.
    fn entry(
        &mut self,
        offset: u64,
        directory: usize,
        kind: Option<EntryKind>,
        fault: Option<&'static str>,
    ) -> Result<(), Halt> {
        let fits = self.input.until(0, &mut self.name, LONGEST)?;
        let long = (!fits).then_some("a name is longer than 1 MiB");
        if let Some(fault) = fault.or(long).or_else(|| fault_of_name(&self.name)) {
            self.tally.bad(offset, fault, &self.name);
            return Ok(());
        }
        join(&mut self.path, directory, &self.name);
        self.visit(kind)
    }

    /// Passes on the entry at the path.
    fn visit(&mut self, kind: Option<EntryKind>) -> Result<(), Halt> {
        let entry = Entry { path: &self.path, kind, ..Entry::default() };
        if (self.visit)(&entry).is_break() {
            return Err(Halt::Stopped);
        }
        Ok(())
    }
}
