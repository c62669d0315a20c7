//! What a reader of a dump counts: rows that it could not read, and whether the dump is complete.

/// The number of bytes of a bad row that are shown.
const SHOWN: usize = 80;

/// The most paths that are kept of those that a dump says were not read.
pub const UNREAD_PATHS: usize = 10_000;

/// A row of a dump that is not an entry, though it should be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Where the row begins in the (decompressed) dump, in bytes from 0.
    pub offset: u64,
    /// Why it cannot be read.
    pub reason: String,
    /// At most 80 bytes of it.
    pub text: Vec<u8>,
}

/// Values of a column that could not be read. The entries lack them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValues {
    /// The field that the column fills.
    pub field: &'static str,
    /// The name of the column.
    pub column: String,
    /// The number of values.
    pub count: u64,
    /// The first of them in the dump; its text is the value, and its offset the start of the row.
    pub first: BadRow,
}

/// A path of which a dump says that it was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadPath {
    /// The path.
    pub path: Vec<u8>,
    /// Why it was not read.
    pub reason: String,
    /// True if it was left out on purpose.
    pub excluded: bool,
}

/// What was read of a dump besides its entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpTally {
    /// Rows that could not be read, or entries that cannot be documents.
    pub bad: u64,
    /// The first of them in the dump.
    pub first_bad: Option<BadRow>,
    /// Rows whose meaning had to be guessed, for example because a name contains the separator.
    pub guessed: u64,
    /// The first of them in the dump.
    pub first_guessed: Option<BadRow>,
    /// Values that could not be read, by column. Their rows are entries without them.
    pub bad_values: Vec<BadValues>,
    /// Rows that stand for no entry, because they are about older versions or deletions.
    pub passed: u64,
    /// True if the dump ends inside a row or before it is closed.
    pub truncated: bool,
    /// Whether the format's own proof of completeness was found; `None` if the format has none.
    pub complete: Option<bool>,
    /// What the dump itself says could not be read, such as directories without permission.
    pub unread: u64,
    /// What the dump itself says was left out on purpose, such as other file systems.
    pub excluded: u64,
    /// All these paths, unless there are more than 10,000.
    pub unread_paths: Vec<UnreadPath>,
}

impl DumpTally {
    /// Counts a row that cannot be read.
    #[cold]
    pub fn bad(&mut self, offset: u64, reason: impl Into<String>, row: &[u8]) {
        self.bad += 1;
        note(&mut self.first_bad, offset, reason.into(), row);
    }

    /// Counts a row whose meaning was guessed.
    #[cold]
    pub fn guessed(&mut self, offset: u64, reason: impl Into<String>, row: &[u8]) {
        self.guessed += 1;
        note(&mut self.first_guessed, offset, reason.into(), row);
    }

    /// Counts a value of a column that cannot be read: the place of its row, why, and the value.
    #[cold]
    pub fn bad_value(&mut self, field: &'static str, column: &str, value: (u64, String, &[u8])) {
        let (offset, reason, text) = value;
        let text = text.get(..SHOWN).unwrap_or(text).to_vec();
        let first = BadRow { offset, reason, text };
        self.add_values(BadValues { field, column: column.to_owned(), count: 1, first });
    }

    fn add_values(&mut self, values: BadValues) {
        let same = |known: &&mut BadValues| known.field == values.field && known.column == values.column;
        match self.bad_values.iter_mut().find(same) {
            Some(known) => {
                known.count += values.count;
                if values.first.offset < known.first.offset {
                    known.first = values.first;
                }
            }
            None => {
                self.bad_values.push(values);
                self.bad_values.sort_by(|one, two| (one.field, &one.column).cmp(&(two.field, &two.column)));
            }
        }
    }

    /// Counts a path of which the dump says that it was not read.
    #[cold]
    pub fn unread(&mut self, unread: UnreadPath) {
        *(if unread.excluded { &mut self.excluded } else { &mut self.unread }) += 1;
        if self.unread_paths.len() < UNREAD_PATHS {
            self.unread_paths.push(unread);
        }
    }

    /// True if all paths that were not read are known.
    pub fn knows_unread(&self) -> bool {
        self.unread + self.excluded == self.unread_paths.len() as u64
    }

    /// The first path that could not be read, or that was left out on purpose.
    pub fn first_unread(&self, excluded: bool) -> Option<&UnreadPath> {
        self.unread_paths.iter().find(|unread| unread.excluded == excluded)
    }

    /// Adds what was counted in another part of the dump.
    pub fn merge(&mut self, other: DumpTally) {
        self.bad += other.bad;
        self.guessed += other.guessed;
        self.unread += other.unread;
        self.excluded += other.excluded;
        self.passed += other.passed;
        other.bad_values.into_iter().for_each(|values| self.add_values(values));
        self.truncated |= other.truncated;
        self.complete = match (self.complete, other.complete) {
            (Some(one), Some(two)) => Some(one || two),
            (one, two) => one.or(two),
        };
        for (mine, theirs) in
            [(&mut self.first_bad, other.first_bad), (&mut self.first_guessed, other.first_guessed)]
        {
            if let Some(theirs) = theirs
                && mine.as_ref().is_none_or(|mine| theirs.offset < mine.offset)
            {
                *mine = Some(theirs);
            }
        }
        let room = UNREAD_PATHS - self.unread_paths.len().min(UNREAD_PATHS);
        self.unread_paths.extend(other.unread_paths.into_iter().take(room));
    }
}

/// Keeps the row with the lowest offset.
fn note(first: &mut Option<BadRow>, offset: u64, reason: String, row: &[u8]) {
    if first.as_ref().is_none_or(|first| offset < first.offset) {
        let text = row.get(..SHOWN).unwrap_or(row).to_vec();
        *first = Some(BadRow { offset, reason, text });
    }
}
