//! Counts entries for which a test or an action needed a column that the index does not hold.

/// A test or an action that met unknown columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColumn {
    /// The word of the test or the action, as `-mtime`.
    pub word: Vec<u8>,
    /// The number of entries.
    pub count: u64,
    /// The first of them, by the path that find shows.
    pub example: Vec<u8>,
}

/// The numbers of the devices for which device files stand.
pub const DEVICE_NUMBERS: &str = "device numbers";

/// Counts an entry whose `value` is not known.
#[cold]
pub fn lack(counts: &mut Vec<UnknownColumn>, value: &str, path: &[u8]) {
    match counts.iter_mut().find(|known| known.word == value.as_bytes()) {
        Some(known) => known.count += 1,
        None => counts.push(UnknownColumn { word: value.into(), count: 1, example: path.to_vec() }),
    }
}

/// The counts, by the number of the test or the action.
#[derive(Clone, Debug, Default)]
pub(super) struct Unknowns {
    counts: Vec<(u64, Vec<u8>)>,
}

impl Unknowns {
    /// One more entry for a leaf.
    #[cold]
    pub(super) fn add(&mut self, leaf: usize, path: &[u8]) {
        if self.counts.len() <= leaf {
            self.counts.resize(leaf + 1, (0, Vec::new()));
        }
        if let Some((count, example)) = self.counts.get_mut(leaf) {
            if *count == 0 {
                *example = path.to_vec();
            }
            *count += 1;
        }
    }

    /// What was counted, with the words of the leaves.
    pub(super) fn columns(&self, words: &[Vec<u8>]) -> Vec<UnknownColumn> {
        let counted = self.counts.iter().zip(words).filter(|(counted, _)| counted.0 > 0);
        counted
            .map(|((count, example), word)| UnknownColumn {
                word: word.clone(),
                count: *count,
                example: example.clone(),
            })
            .collect()
    }
}
