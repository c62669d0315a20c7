//! A set of numbers of terms.

/// A set of numbers below a limit: a bit for each.
pub(super) struct NumberSet {
    words: Vec<u64>,
    /// The least and the greatest number; `None` without numbers.
    bounds: Option<(u64, u64)>,
}

impl NumberSet {
    /// An empty set of numbers below `limit`.
    pub(super) fn below(limit: u32) -> Self {
        NumberSet { words: vec![0; limit.div_ceil(64) as usize], bounds: None }
    }

    /// Adds a number; one that is not below the limit is ignored.
    pub(super) fn insert(&mut self, number: u64) {
        let word = usize::try_from(number / 64).ok().and_then(|at| self.words.get_mut(at));
        if let Some(word) = word {
            *word |= 1 << (number % 64);
            let (least, most) = self.bounds.unwrap_or((number, number));
            self.bounds = Some((least.min(number), most.max(number)));
        }
    }

    /// Whether the set has this number.
    #[inline]
    pub(super) fn has(&self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|at| self.words.get(at));
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// The least and the greatest number; `None` without numbers.
    pub(super) fn bounds(&self) -> Option<(u64, u64)> {
        self.bounds
    }
}
