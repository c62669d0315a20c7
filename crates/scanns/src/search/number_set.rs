//! A set of numbers of terms.

/// A set of numbers in a range: a bit for each.
#[derive(Debug)]
pub(crate) struct NumberSet {
    /// The start of the range, a multiple of 64.
    first: u32,
    words: Vec<u64>,
    /// The least and the greatest number; `None` without numbers.
    bounds: Option<(u64, u64)>,
}

impl NumberSet {
    /// An empty set of numbers from `first` on, a multiple of 64, to before `end`.
    pub(crate) fn between(first: u32, end: u32) -> Self {
        NumberSet { first, words: vec![0; end.saturating_sub(first).div_ceil(64) as usize], bounds: None }
    }

    /// The numbers of all parts. Each part begins where the one before it ends.
    pub(crate) fn joined(parts: Vec<NumberSet>) -> Self {
        parts.into_iter().reduce(NumberSet::with).unwrap_or(NumberSet::between(0, 0))
    }

    fn with(mut self, next: NumberSet) -> Self {
        self.words.extend(next.words);
        self.bounds = match (self.bounds, next.bounds) {
            (Some((least, _)), Some((_, most))) => Some((least, most)),
            (bounds, None) | (None, bounds) => bounds,
        };
        self
    }

    /// Adds a number; one that is not in the range is ignored.
    pub(crate) fn insert(&mut self, number: u64) {
        let Some(place) = number.checked_sub(u64::from(self.first)) else { return };
        let word = usize::try_from(place / 64).ok().and_then(|at| self.words.get_mut(at));
        if let Some(word) = word {
            *word |= 1 << (place % 64);
            let (least, most) = self.bounds.unwrap_or((number, number));
            self.bounds = Some((least.min(number), most.max(number)));
        }
    }

    /// Whether the set has this number.
    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        let Some(place) = number.checked_sub(u64::from(self.first)) else { return false };
        let word = usize::try_from(place / 64).ok().and_then(|at| self.words.get(at));
        word.is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// The least and the greatest number; `None` without numbers.
    pub(crate) fn bounds(&self) -> Option<(u64, u64)> {
        self.bounds
    }
}
