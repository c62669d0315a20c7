//! Values that the index does not know.

use crate::files::order::walk_order;
use crate::source::{Entry, EntryKind};

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
    pub(super) fn add(&mut self, entry: &Entry<'_>) {
        let is_file = matches!(entry.kind, None | Some(EntryKind::File));
        let unknown = [
            entry.kind.is_none(),
            entry.size.is_none() && is_file,
            entry.blocks.is_none() && is_file,
            entry.mtime.is_none() && is_file,
            entry.atime.is_none() && is_file,
            entry.owner.is_none() && entry.uid.is_none(),
            entry.group.is_none() && entry.gid.is_none(),
            entry.mode.is_none() && entry.kind != Some(EntryKind::Link),
        ];
        if unknown.contains(&true) {
            let columns = self.columns.iter_mut().zip(unknown);
            columns.filter(|(_, unknown)| *unknown).for_each(|(column, _)| count(column, 1, entry.path));
        }
    }

    pub(super) fn merge(&mut self, other: &UnknownCounter) {
        for (column, (number, example)) in self.columns.iter_mut().zip(&other.columns) {
            if *number > 0 {
                count(column, *number, example);
            }
        }
    }

    pub(super) fn values(self) -> Vec<UnknownValues> {
        let columns = NEEDED.into_iter().zip(self.columns);
        let values = columns.map(|(column, (count, example))| UnknownValues { column, count, example });
        values.filter(|values| values.count > 0).collect()
    }
}

fn count(column: &mut (u64, Vec<u8>), number: u64, path: &[u8]) {
    if column.0 == 0 || walk_order(path, &column.1).is_lt() {
        column.1.clear();
        column.1.extend_from_slice(path);
    }
    column.0 += number;
}
