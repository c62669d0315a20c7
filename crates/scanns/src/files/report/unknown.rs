//! Values that the index does not know.

use super::columns::SplitPath;
use super::facts::EntryValues;
use super::names::NameTable;
use crate::source::EntryKind;

/// A value that the index does not know of some entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownValues {
    /// The column.
    pub column: &'static str,
    /// The number of entries without a value.
    pub count: u64,
    /// The first of them in the order of a walk.
    pub example: Vec<u8>,
}

/// The columns that a report needs.
const NEEDED: [&str; 8] = ["type", "size", "blocks", "mtime", "atime", "owner", "group", "mode"];

/// Counts unknown values by column.
#[derive(Debug, Default)]
pub(super) struct UnknownCounter {
    columns: [(u64, Vec<u8>); NEEDED.len()],
}

impl UnknownCounter {
    /// Counts what is not known of an entry. Dates and the size matter for files only.
    #[inline]
    pub(super) fn add(&mut self, path: SplitPath<'_>, values: &EntryValues) {
        let is_file = matches!(values.kind, None | Some(EntryKind::File));
        let unknown = [
            values.kind.is_none(),
            values.size.is_none() && is_file,
            values.blocks.is_none() && is_file,
            values.mtime.is_none() && is_file,
            values.atime.is_none() && is_file,
            values.owner == NameTable::NONE,
            values.group == NameTable::NONE,
            values.mode.is_none() && values.kind != Some(EntryKind::Link),
        ];
        if unknown.iter().fold(false, |any, &one| any | one) {
            let columns = self.columns.iter_mut().zip(unknown);
            columns.filter(|(_, unknown)| *unknown).for_each(|(column, _)| count(column, 1, path));
        }
    }

    pub(super) fn merge(&mut self, other: &UnknownCounter) {
        for (column, (number, example)) in self.columns.iter_mut().zip(&other.columns) {
            if *number > 0 {
                count(column, *number, SplitPath::of(example));
            }
        }
    }

    pub(super) fn values(self) -> Vec<UnknownValues> {
        let columns = NEEDED.into_iter().zip(self.columns);
        let values = columns.map(|(column, (count, example))| UnknownValues { column, count, example });
        values.filter(|values| values.count > 0).collect()
    }
}

fn count(column: &mut (u64, Vec<u8>), number: u64, path: SplitPath<'_>) {
    if column.0 == 0 || path.walk_order(&column.1).is_lt() {
        column.1 = path.to_vec();
    }
    column.0 += number;
}
