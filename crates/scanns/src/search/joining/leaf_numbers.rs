//! The values of a join, as a leaf knows them, and the documents that have them.

use super::values::{DistinctValues, JoinValues, not_comparable};
use crate::column::{Column, ColumnKind, DictionaryReader};
use crate::error::Result;
use crate::search::budget::Clock;
use crate::search::leaf::Leaf;
use crate::search::number_set::NumberSet;

/// In a dictionary with more than this number of terms for each value, values are looked up one by one.
const SPARSE: usize = 64;

/// The words of a bit set that are worth their memory for each number.
const WORDS_PER_NUMBER: u64 = 4;

/// The numbers of the values that a leaf has.
#[derive(Debug, Default)]
pub(crate) struct LeafNumbers {
    /// Numbers in the dictionary of a column, or its values if it has none; ascending.
    pub(crate) numbers: Vec<u64>,
    /// For each of them, the place of the value in [`JoinValues`].
    pub(crate) places: Vec<u32>,
    /// The numbers as a set, unless they are too far apart.
    set: Option<NumberSet>,
}

/// Documents with scores.
#[derive(Debug, Default)]
pub(crate) struct ScoredDocs {
    /// Ascending.
    pub(crate) docs: Vec<u32>,
    /// By document.
    pub(crate) scores: Vec<f32>,
}

impl LeafNumbers {
    /// The values that a column may have.
    pub(crate) fn of_column(column: &Column, all: &JoinValues, clock: Clock) -> Result<Self> {
        let mut found = LeafNumbers::default();
        match (&all.values, column.kind(), column.terms()) {
            (DistinctValues::Nothing, ..) => {}
            (DistinctValues::Texts(texts), ColumnKind::Keyword, Some(terms)) => {
                if texts.len().saturating_mul(SPARSE) < terms.len() as usize {
                    found.look_up(terms, texts, clock)?;
                } else {
                    found.merge(terms, texts, clock)?;
                }
            }
            (DistinctValues::Numbers(kind, numbers), own, _) if *kind == own => {
                let Some((least, most)) = column.bounds() else { return Ok(found) };
                let first = numbers.partition_point(|&number| number < least);
                let end = numbers.partition_point(|&number| number <= most);
                let inside = numbers.iter().zip(0..).take(end).skip(first);
                inside.for_each(|(&number, place)| found.push(number, place));
            }
            _ => return Err(not_comparable()),
        }
        found.make_set();
        Ok(found)
    }

    /// The documents that have a value as their key, ascending, each with the place of the value.
    pub(crate) fn keyed(leaf: &dyn Leaf, all: &JoinValues) -> Result<Vec<(u32, u32)>> {
        let mut found = Vec::new();
        match &all.values {
            DistinctValues::Nothing => {}
            DistinctValues::Texts(texts) => leaf.documents_of_keys(texts, &mut |doc, place| {
                found.push((doc, u32::try_from(place).unwrap_or(u32::MAX)));
            })?,
            DistinctValues::Numbers(..) => return Err(not_comparable()),
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn push(&mut self, number: u64, place: u32) {
        self.numbers.push(number);
        self.places.push(place);
    }

    /// Finds each text in a dictionary.
    fn look_up(&mut self, terms: &DictionaryReader, texts: &[Vec<u8>], clock: Clock) -> Result<()> {
        for (text, place) in texts.iter().zip(0..) {
            if clock.is_up() {
                break;
            }
            if let Ok(number) = terms.find(text)? {
                self.push(number.into(), place);
            }
        }
        Ok(())
    }

    /// Reads a whole dictionary beside the texts, which have the same order.
    fn merge(&mut self, terms: &DictionaryReader, texts: &[Vec<u8>], clock: Clock) -> Result<()> {
        let mut texts = texts.iter().zip(0..).peekable();
        for chapter in 0..terms.chapters() {
            let mut batches = terms.batches(chapter);
            while !clock.is_up()
                && let Some((first, batch)) = batches.next()?
            {
                for (at, number) in (0..batch.len()).zip(u64::from(first)..) {
                    let term = batch.get(at);
                    while texts.next_if(|(text, _)| text.as_slice() < term).is_some() {}
                    if let Some((_, place)) = texts.next_if(|(text, _)| text.as_slice() == term) {
                        self.push(number, place);
                    }
                }
            }
        }
        Ok(())
    }

    fn make_set(&mut self) {
        let (Some(&least), Some(&most)) = (self.numbers.first(), self.numbers.last()) else { return };
        let words = (most - least) / 64;
        let ends = (u32::try_from(least / 64 * 64), u32::try_from(most).map(|most| most.checked_add(1)));
        if let (Ok(first), Ok(Some(end))) = ends
            && words <= 1_024 + WORDS_PER_NUMBER * self.numbers.len() as u64
        {
            let mut set = NumberSet::between(first, end);
            self.numbers.iter().for_each(|&number| set.insert(number));
            self.set = Some(set);
        }
    }

    /// True if a number from `least` to `most` may be among them.
    pub(crate) fn may_have(&self, least: u64, most: u64) -> bool {
        let first = self.numbers.partition_point(|&number| number < least);
        self.numbers.get(first).is_some_and(|&number| number <= most)
    }

    /// Whether they have this number.
    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        match &self.set {
            Some(set) => set.has(number),
            None => self.numbers.binary_search(&number).is_ok(),
        }
    }

    /// The place of the value with this number.
    pub(crate) fn place(&self, number: u64) -> Option<usize> {
        if !self.has(number) {
            return None;
        }
        let at = self.numbers.binary_search(&number).ok()?;
        self.places.get(at).map(|&place| place as usize)
    }
}

impl ScoredDocs {
    /// Adds a document after the others.
    pub(crate) fn push(&mut self, doc: u32, score: f32) {
        self.docs.push(doc);
        self.scores.push(score);
    }

    /// The documents of all parts, which follow each other.
    pub(crate) fn joined(parts: Vec<ScoredDocs>) -> Self {
        let append = |mut all: ScoredDocs, part: ScoredDocs| {
            all.docs.extend(part.docs);
            all.scores.extend(part.scores);
            all
        };
        parts.into_iter().reduce(append).unwrap_or_default()
    }

    /// The place of the first document from `target` on; no place before `from` is looked at.
    pub(crate) fn next(&self, from: usize, target: u32) -> usize {
        let rest = self.docs.get(from..).unwrap_or_default();
        from + rest.partition_point(|&doc| doc < target)
    }
}
