//! Two slow passes over the entries: one chooses what is asked for, one counts the answers.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

use crate::entries::{Listed, Walk};

/// What is asked for, chosen so that answers grow with the file system, or not.
#[derive(Debug, Default)]
pub struct Targets {
    /// A name that few entries have.
    pub rare: Vec<u8>,
    /// A directory with about a thousandth of the entries.
    pub small: Vec<u8>,
    /// A directory with about a fiftieth of the entries.
    pub middle: Vec<u8>,
}

/// A directory that is not complete yet.
struct Open {
    /// Bytes of its path.
    end: usize,
    /// Entries before it.
    before: u64,
}

impl Targets {
    /// Chooses in a pass over the entries.
    pub fn choose(count: u64, seed: u64) -> Self {
        let mut walk = Walk::new(count, seed);
        let (mut targets, mut open, mut path) = (Targets::default(), Vec::<Open>::new(), Vec::new());
        let mut nearest = [f64::INFINITY; 2];
        let mut number = 0;
        while let Some(entry) = walk.next() {
            let end = entry.path.len() - entry.name.len() - 1;
            while open.last().is_some_and(|top| top.end > end) {
                targets.consider(open.pop(), &path, number, count, &mut nearest);
            }
            if entry.facts.letter == b'd' {
                path.clear();
                path.extend(entry.path);
                open.push(Open { end: path.len(), before: number });
            }
            if number >= count / 2 && entry.name.len() == 38 && targets.rare.is_empty() {
                targets.rare = entry.name.to_vec();
            }
            number += 1;
        }
        targets
    }

    /// Keeps a directory that is complete, if it has a better number of entries than that known.
    #[expect(clippy::cast_precision_loss, reason = "a comparison of sizes")]
    fn consider(&mut self, open: Option<Open>, path: &[u8], number: u64, count: u64, nearest: &mut [f64; 2]) {
        let Some(Open { end, before }) = open else { return };
        let entries = (number - before) as f64;
        for ((share, kept), nearest) in
            [(1_000.0, &mut self.small), (50.0, &mut self.middle)].into_iter().zip(nearest)
        {
            let distance = (entries * share / count as f64).ln().abs();
            if distance < *nearest {
                *nearest = distance;
                *kept = path.get(..end).unwrap_or_default().to_vec();
            }
        }
    }
}

/// Paths without their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Their number.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The sum of their hashes.
    pub hash: u64,
}

impl Paths {
    /// Adds a path.
    pub fn add(&mut self, path: &[u8]) {
        let mut hasher = DefaultHasher::new();
        hasher.write(path);
        self.count += 1;
        self.bytes += path.len() as u64;
        self.hash = self.hash.wrapping_add(hasher.finish());
    }
}

/// Sums over entries. A file with several names counts once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Entries.
    pub entries: u64,
    /// Names of files that were counted already.
    pub further: u64,
    /// Directories.
    pub directories: u64,
    /// Bytes of regular files.
    pub size: u64,
    /// Blocks of 512 bytes of all entries.
    pub blocks: u64,
    /// Inodes of files with several names.
    linked: HashSet<u64>,
}

impl Sums {
    fn add(&mut self, entry: &Listed<'_>) {
        if entry.facts.links > 1 && entry.facts.letter == b'f' && !self.linked.insert(entry.facts.inode) {
            self.further += 1;
            return;
        }
        self.entries += 1;
        self.directories += u64::from(entry.facts.letter == b'd');
        self.blocks += entry.facts.blocks;
        self.size += if entry.facts.letter == b'f' { entry.facts.size } else { 0 };
    }
}

/// The answers.
#[derive(Debug, Default)]
pub struct Truth {
    /// `*.h5` of more than 1 GiB.
    pub large: Paths,
    /// Entries with the rare name.
    pub rare: Paths,
    /// All entries in the small directory, and the directory.
    pub small: Paths,
    /// Sums over the middle directory.
    pub middle: Sums,
    /// Sums over everything.
    pub all: Sums,
    /// Entries by the name of their owner.
    pub owners: BTreeMap<Vec<u8>, u64>,
}

impl Truth {
    /// Counts in a pass over the entries.
    pub fn of(count: u64, seed: u64, targets: &Targets) -> Self {
        let mut walk = Walk::new(count, seed);
        let mut truth = Truth::default();
        let mut owners = BTreeMap::<u32, (Vec<u8>, u64)>::new();
        while let Some(entry) = walk.next() {
            // A size of find is rounded up to its unit: more than 1 GiB is more than one unit.
            if entry.name.ends_with(b".h5") && entry.facts.size > 1 << 30 {
                truth.large.add(entry.path);
            }
            if entry.name == targets.rare {
                truth.rare.add(entry.path);
            }
            if is_below(entry.path, &targets.small) {
                truth.small.add(entry.path);
            }
            if is_below(entry.path, &targets.middle) {
                truth.middle.add(&entry);
            }
            truth.all.add(&entry);
            owners.entry(entry.facts.uid).or_insert_with(|| (entry.user.to_vec(), 0)).1 += 1;
        }
        truth.owners = owners.into_values().collect();
        truth
    }
}

/// Whether a path is a directory or below it.
fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.first().is_none_or(|&byte| byte == b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_about_the_shares_of_entries_that_they_should() {
        let targets = Targets::choose(200_000, 3);
        let truth = Truth::of(200_000, 3, &targets);
        assert!((100..400).contains(&truth.small.count), "{targets:?} {:?}", truth.small);
        assert!((1_000..20_000).contains(&truth.middle.entries), "{targets:?} {:?}", truth.middle);
        assert!((1..50).contains(&truth.rare.count), "{targets:?} {:?}", truth.rare);
        assert!(truth.large.count > 10, "{:?}", truth.large);
        assert_eq!(truth.all.entries + truth.all.further, 200_000);
        assert_eq!(truth.owners.values().sum::<u64>(), 200_000);
    }

    #[test]
    fn a_directory_is_not_another_one_with_a_longer_name() {
        assert!(is_below(b"/a/b", b"/a") && is_below(b"/a", b"/a"));
        assert!(!is_below(b"/ab", b"/a"));
    }
}
