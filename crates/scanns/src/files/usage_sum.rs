//! What is summed up in directories, and the sums.

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageMeasure {
    /// The space on the medium, in bytes.
    #[default]
    Space,
    /// The sizes of entries, in bytes.
    ApparentSize,
    /// The number of entries.
    Entries,
}

/// A date of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageTime {
    /// Of the last modification.
    Modified,
    /// Of the last access.
    Accessed,
    /// Of the last change of the status.
    Changed,
}

/// Options of [`disk_usage`](super::disk_usage).
#[derive(Clone, Debug, Default)]
pub struct UsageOptions {
    /// What is counted.
    pub measure: UsageMeasure,
    /// Whether files have lines, too (`-a`).
    pub all: bool,
    /// The greatest depth of lines below a start point (`-d`); `None` for any.
    pub max_depth: Option<usize>,
    /// Whether the sum of a directory leaves out its directories (`-S`).
    pub separate: bool,
    /// Whether a file with several names counts once for each (`-l`).
    pub count_links: bool,
    /// Whether entries on another device than the start point are left out (`-x`).
    pub one_device: bool,
    /// The date of which each line gets the latest (`--time`).
    pub time: Option<UsageTime>,
    /// Patterns of paths that are left out with everything below them (`--exclude`).
    pub exclude: Vec<Vec<u8>>,
}

/// A sum of entries, and the latest of their dates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UsageSum {
    pub(super) sum: u64,
    pub(super) time: Option<i64>,
}

impl UsageSum {
    pub(super) fn add(&mut self, other: UsageSum) {
        self.sum = self.sum.saturating_add(other.sum);
        self.time = self.time.max(other.time);
    }
}

/// A file with several names: its device and its inode.
pub(super) type LinkedFile = (Option<u64>, u64);
