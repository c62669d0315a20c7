//! Sums of entries.

use std::ops::AddAssign;

/// A number of entries and what they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntrySums {
    /// The number of entries. A file with several names is one.
    pub entries: u64,
    /// Their sizes in bytes.
    pub size: u64,
    /// Their space on the medium in bytes.
    pub space: u64,
}

impl AddAssign for EntrySums {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.entries = self.entries.saturating_add(other.entries);
        self.size = self.size.saturating_add(other.size);
        self.space = self.space.saturating_add(other.space);
    }
}

impl EntrySums {
    /// What is left without a part of the entries.
    pub(super) fn without(self, part: EntrySums) -> EntrySums {
        EntrySums {
            entries: self.entries.saturating_sub(part.entries),
            size: self.size.saturating_sub(part.size),
            space: self.space.saturating_sub(part.space),
        }
    }
}
