//! What follows from the strings of a batch, found once for each of them.

use super::columns::{ReportColumns, directory_of};
use super::directories::DirectoryTable;
use super::facts::EntryValues;
use super::names::NameTable;
use crate::index::snapshot::batch::BatchColumn;
use crate::source::EntryKind;

/// By number of a string in its column of a batch, what it stands for.
#[derive(Debug, Default)]
pub(super) struct NumberedStrings {
    /// Directories by number, and the number of names on their paths.
    directories: Vec<(u32, usize)>,
    kinds: Vec<Option<EntryKind>>,
    owners: OwnersOfBatch,
    groups: OwnersOfBatch,
}

/// The numbers of the owners of a batch.
#[derive(Debug, Default)]
struct OwnersOfBatch {
    named: Vec<u32>,
    /// The last owner without a name: its number in the system, and the number of its digits as a name.
    last: Option<(u64, u32)>,
}

impl NumberedStrings {
    /// Looks up the strings of a batch.
    pub(super) fn fill(
        &mut self,
        columns: &ReportColumns<'_>,
        directories: &mut DirectoryTable,
        owners: &mut NameTable,
        groups: &mut NameTable,
    ) {
        let directory = |text: &[u8]| (directories.number(directory_of(text)), directories.depth());
        fill(&mut self.directories, columns.directory, directory);
        fill(&mut self.kinds, columns.kind, EntryKind::named);
        fill(&mut self.owners.named, columns.owner, |name| owners.number(name));
        fill(&mut self.groups.named, columns.group, |name| groups.number(name));
    }

    /// The number of the directory of an entry, and the number of names on its path.
    #[inline]
    pub(super) fn directory(&self, columns: &ReportColumns<'_>, row: usize) -> (u32, usize) {
        of_row(&self.directories, columns.directory, row).unwrap_or((DirectoryTable::TOP, 0))
    }

    /// The values of an entry.
    #[inline]
    pub(super) fn values(
        &mut self,
        columns: &ReportColumns<'_>,
        row: usize,
        owners: &mut NameTable,
        groups: &mut NameTable,
    ) -> EntryValues {
        EntryValues {
            kind: of_row(&self.kinds, columns.kind, row).flatten(),
            size: columns.size.first(row),
            blocks: columns.blocks.first(row),
            mtime: columns.mtime.first_date(row),
            atime: columns.atime.first_date(row),
            mode: columns.mode.first(row).and_then(|mode| u32::try_from(mode).ok()),
            owner: self.owners.number(columns.owner, columns.uid, row, owners),
            group: self.groups.number(columns.group, columns.gid, row, groups),
        }
    }
}

impl OwnersOfBatch {
    /// The number of the name of an owner, or else of the digits of its number.
    #[inline]
    fn number(&mut self, names: &BatchColumn, ids: &BatchColumn, row: usize, table: &mut NameTable) -> u32 {
        if let Some(named) = of_row(&self.named, names, row) {
            return named;
        }
        match (ids.first(row), self.last) {
            (None, _) => NameTable::NONE,
            (Some(id), Some((last, number))) if last == id => number,
            (Some(id), _) => {
                let number = table.number(id.to_string().as_bytes());
                self.last = Some((id, number));
                number
            }
        }
    }
}

/// Fills `values` with what each string of a column stands for.
fn fill<T>(values: &mut Vec<T>, column: &BatchColumn, value: impl FnMut(&[u8]) -> T) {
    values.clear();
    values.extend(column.distinct_strings().map(value));
}

/// What the string in a row stands for.
#[inline]
fn of_row<T: Copy>(values: &[T], column: &BatchColumn, row: usize) -> Option<T> {
    column.first(row).and_then(|number| values.get(usize::try_from(number).ok()?)).copied()
}
