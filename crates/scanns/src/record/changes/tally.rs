//! What was counted in a list of changes.

use crate::record::dump::BadRow;

/// The number of bytes of a bad row that are shown.
const SHOWN: usize = 80;

/// What a list of changes has, and what of it could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangesTally {
    /// Rows.
    pub rows: u64,
    /// Rows that say nothing about names and metadata.
    pub passed: u64,
    /// Rows that could not be read. What they say is lost.
    pub bad: u64,
    /// The first of them.
    pub first_bad: Option<BadRow>,
    /// Files and directories of Lustre that have no path, although no row says that they were removed.
    pub unresolved: u64,
    /// One of them, and why.
    pub first_unresolved: Option<(String, String)>,
    /// True if the last row has no end; it was not used.
    pub truncated: bool,
}

impl ChangesTally {
    /// Counts a row that cannot be read.
    #[cold]
    pub(super) fn bad(&mut self, offset: u64, reason: String, row: &[u8]) {
        self.bad += 1;
        let text = || row.get(..SHOWN).unwrap_or(row).to_vec();
        self.first_bad.get_or_insert_with(|| BadRow { offset, reason, text: text() });
    }

    /// The number of rows and files of which the list does not tell enough: the index may lack their changes.
    pub fn lost(&self) -> u64 {
        self.bad + self.unresolved + u64::from(self.truncated)
    }
}
