//! Lists that dwalk, dfind and the other tools of mpiFileUtils write (`dwalk --output`), versions 3 and 4.
//!
//! ```text
//! list   = header user... group... file...
//! header = (4:u64 | 3:u64 start:u64 end:u64)
//!          users:u64 user_chars:u64 groups:u64 group_chars:u64 files:u64 name_chars:u64
//! user   = name[user_chars] id:u64         (no users at all if user_chars is 0)
//! group  = name[group_chars] id:u64
//! file   = name[name_chars] mode:u64 uid:u64 gid:u64 atime:u64 atime_nsec:u64 mtime:u64 mtime_nsec:u64
//!          ctime:u64 ctime_nsec:u64 size:u64
//! ```
//!
//! From src/common/mfu_flist_io.c of mpiFileUtils. Numbers are big-endian; names are filled up with NUL
//! bytes, and are whole paths. Files stand in the order of the processes that found them. A list is complete
//! if it has as many files as its header says.

mod bytes;
mod owners;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead};

use self::bytes::{text_of, u64_at, usize_of};
use self::owners::{DwalkOwners, OwnerTable};
use super::input::{DumpInput, Halt, settle};
use super::posix::without_end_slashes;
use super::{DumpTally, ReadDump, Visit};
use crate::source::{Entry, EntryKind, nanoseconds};

/// The greatest number of bytes for a path; dwalk takes the longest path of the list.
const LONGEST: u64 = 1 << 20;

/// The bytes of a file after its name.
const NUMBERS: u64 = 80;

/// Reads binary lists of dwalk with the stat of each file. They describe themselves, so there are no options.
#[derive(Clone, Copy, Debug, Default)]
pub struct DwalkDump;

impl DwalkDump {
    /// A reader.
    pub fn new() -> Self {
        DwalkDump
    }

    /// True if a dump that begins with `start` is certainly a binary list of dwalk: the header is possible,
    /// and so are all users, groups, and the first file after it, of which at least one record is whole.
    pub fn detect(start: &[u8]) -> bool {
        let mut input = start;
        let mut input = DumpInput::new(&mut input);
        let mut record = Vec::new();
        let Ok(header) = DwalkHeader::read(&mut input) else { return false };
        let mut found = false;
        for table in [header.users, header.groups] {
            for _ in 0..table.count {
                if input.exact(table.chars + 8, &mut record).is_err() {
                    return found;
                }
                let name = text_of(record.get(..usize_of(table.chars)).unwrap_or_default());
                let id = u64_at(&record, usize_of(table.chars));
                if name.is_empty() || name.iter().any(u8::is_ascii_control) || u32::try_from(id).is_err() {
                    return false;
                }
                found = true;
            }
        }
        match input.exact(header.name_chars + NUMBERS, &mut record) {
            Err(_) => found,
            Ok(()) => {
                DwalkFile::parse(&record, usize_of(header.name_chars)).is_ok_and(|file| file.is_certain())
            }
        }
    }
}

impl ReadDump for DwalkDump {
    fn read(
        &mut self,
        input: &mut dyn BufRead,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        tally.complete = Some(false);
        let result = read(&mut DumpInput::new(input), tally, visit);
        if matches!(result, Err(Halt::Stopped)) {
            tally.complete = None;
        }
        settle(result, tally)
    }
}

/// What the header says.
struct DwalkHeader {
    users: OwnerTable,
    groups: OwnerTable,
    files: u64,
    name_chars: u64,
}

impl DwalkHeader {
    /// Reads the header and checks what would take too much memory.
    fn read(input: &mut DumpInput<'_>) -> Result<Self, Halt> {
        let mut number = || {
            let mut bytes = [0; 8];
            for byte in &mut bytes {
                *byte = input.byte()?;
            }
            Ok(u64::from_be_bytes(bytes))
        };
        match number()? {
            4 => {}
            3 => drop((number()?, number()?)),
            version => {
                let problem = format!("expected version 3 or 4 of a list of dwalk, found {version}");
                return Err(Halt::invalid(0, problem));
            }
        }
        let (users, user_chars, groups, group_chars) = (number()?, number()?, number()?, number()?);
        let (files, name_chars) = (number()?, number()?);
        let offset = input.offset();
        let tables = OwnerTable::new(users, user_chars).zip(OwnerTable::new(groups, group_chars));
        let Some((users, groups)) = tables else {
            let problem = format!(
                "{users} users with names of {user_chars} bytes, or {groups} groups with names of \
                {group_chars} bytes, exceed 32 MiB of memory"
            );
            return Err(Halt::invalid(offset - 48, problem));
        };
        let header = DwalkHeader { users, groups, files, name_chars };
        if header.name_chars > LONGEST || header.name_chars == 0 && header.files > 0 {
            let problem = format!("a path of {} bytes is not possible, at most 1 MiB is", header.name_chars);
            return Err(Halt::invalid(offset - 8, problem));
        }
        Ok(header)
    }
}

/// Reads a list from its first byte.
fn read(input: &mut DumpInput<'_>, tally: &mut DumpTally, visit: &mut Visit<'_>) -> Result<(), Halt> {
    let header = DwalkHeader::read(input)?;
    let mut users = DwalkOwners::read(input, header.users, tally)?;
    let mut groups = DwalkOwners::read(input, header.groups, tally)?;
    let chars = usize_of(header.name_chars);
    let mut record = Vec::new();
    for _ in 0..header.files {
        let offset = input.offset();
        input.exact(header.name_chars + NUMBERS, &mut record)?;
        match DwalkFile::parse(&record, chars) {
            Ok(file) => {
                let entry = file.entry(users.name(file.uid), groups.name(file.gid));
                if visit(&entry).is_break() {
                    return Err(Halt::Stopped);
                }
            }
            Err(reason) => tally.bad(offset, reason, text_of(&record)),
        }
    }
    tally.complete = Some(true);
    if !input.is_at_end()? {
        let offset = input.offset();
        tally.bad(offset, "there are more bytes than the header says, which are not read", input.rest()?);
    }
    Ok(())
}

/// A file of a list.
struct DwalkFile<'r> {
    path: &'r [u8],
    mode: u32,
    uid: u32,
    gid: u32,
    atime: i64,
    mtime: i64,
    ctime: i64,
    size: u64,
}

impl<'r> DwalkFile<'r> {
    /// Reads a record whose name takes `chars` bytes.
    fn parse(record: &'r [u8], chars: usize) -> Result<Self, &'static str> {
        let path = without_end_slashes(text_of(record.get(..chars).unwrap_or_default()));
        if path.is_empty() {
            return Err("the file has no path");
        }
        let number = |index: usize| u64_at(record, chars + index * 8);
        let time = |index: usize| match i64::try_from(number(index + 1)) {
            // A time before 1970 is stored as the two's complement.
            Ok(nanos @ 0..1_000_000_000) => Ok(nanoseconds(number(index).cast_signed(), nanos)),
            _ => Err("the nanoseconds of a time are not below 1,000,000,000"),
        };
        Ok(DwalkFile {
            path,
            mode: u32::try_from(number(0)).map_err(|_| "mode is not a file mode of 32 bits")?,
            uid: u32::try_from(number(1)).map_err(|_| "uid is not a user id of 32 bits")?,
            gid: u32::try_from(number(2)).map_err(|_| "gid is not a group id of 32 bits")?,
            atime: time(3)?,
            mtime: time(5)?,
            ctime: time(7)?,
            size: number(9),
        })
    }

    /// True if only a file of a file system looks like this.
    fn is_certain(&self) -> bool {
        self.path.starts_with(b"/") && self.mode < 1 << 16 && EntryKind::of_mode(self.mode).is_some()
    }

    /// The entry, with the names of its owner and group.
    fn entry(&self, owner: Option<&'r [u8]>, group: Option<&'r [u8]>) -> Entry<'r> {
        Entry {
            path: self.path,
            kind: EntryKind::of_mode(self.mode),
            owner,
            group,
            mtime: Some(self.mtime),
            atime: Some(self.atime),
            ctime: Some(self.ctime),
            size: Some(self.size),
            uid: Some(self.uid),
            gid: Some(self.gid),
            mode: Some(self.mode),
            ..Entry::default()
        }
    }
}
