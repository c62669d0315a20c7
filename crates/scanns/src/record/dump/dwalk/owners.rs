//! The users or groups of a list of dwalk.

use super::bytes::{text_of, u64_at, usize_of};
use crate::record::dump::DumpTally;
use crate::record::dump::input::{DumpInput, Halt};

/// The greatest size of a table in memory.
const LARGEST: u64 = 32 << 20;

/// The bytes that an owner takes in memory besides its name.
const EACH: u64 = size_of::<DwalkOwner>() as u64;

/// How a table of users or groups is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnerTable {
    /// The number of records.
    pub count: u64,
    /// The bytes of the name in each.
    pub chars: u64,
}

impl OwnerTable {
    /// A table that the header describes; `None` if it would take too much memory. A table without bytes for
    /// names has no records.
    pub fn new(count: u64, chars: u64) -> Option<Self> {
        if chars == 0 {
            return Some(OwnerTable { count: 0, chars });
        }
        let size = chars.checked_add(EACH)?.checked_mul(count)?;
        (size <= LARGEST && chars <= LARGEST).then_some(OwnerTable { count, chars })
    }
}

/// Where the name of an owner stands.
#[derive(Clone, Copy, Debug, Default)]
struct DwalkOwner {
    id: u32,
    start: usize,
    end: usize,
}

/// The names of users or groups by id.
#[derive(Debug, Default)]
pub(super) struct DwalkOwners {
    /// By id.
    owners: Vec<DwalkOwner>,
    names: Vec<u8>,
    /// The owner that was asked for last; files of one owner often follow each other.
    last: DwalkOwner,
}

impl DwalkOwners {
    /// Reads the table that is next.
    pub fn read(input: &mut DumpInput<'_>, stored: OwnerTable, tally: &mut DumpTally) -> Result<Self, Halt> {
        let (mut table, mut record) = (DwalkOwners::default(), Vec::new());
        let chars = stored.chars;
        for _ in 0..stored.count {
            let offset = input.offset();
            input.exact(chars + 8, &mut record)?;
            let name = text_of(record.get(..usize_of(chars)).unwrap_or_default());
            match u32::try_from(u64_at(&record, usize_of(chars))) {
                Ok(id) if !name.is_empty() => table.push(id, name),
                Ok(_) => {}
                Err(_) => tally.bad(offset, "the id of a user or group does not fit 32 bits", name),
            }
        }
        table.owners.sort_by_key(|owner| owner.id);
        Ok(table)
    }

    fn push(&mut self, id: u32, name: &[u8]) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        self.owners.push(DwalkOwner { id, start, end: self.names.len() });
    }

    /// The name of `id`: the first of them if the table has several, `None` if it has none.
    pub fn name(&mut self, id: u32) -> Option<&[u8]> {
        if self.last.id != id || self.last.end == 0 {
            let at = self.owners.partition_point(|owner| owner.id < id);
            let found = self.owners.get(at).filter(|owner| owner.id == id);
            self.last = found.copied().unwrap_or(DwalkOwner { id, start: 0, end: 0 });
        }
        self.names.get(self.last.start..self.last.end).filter(|name| !name.is_empty())
    }
}
