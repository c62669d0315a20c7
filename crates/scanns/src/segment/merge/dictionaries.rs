//! Joins the dictionaries of several columns.
//!
//! The terms of all dictionaries are merged in order, and each distinct term gets one number. Terms that only
//! deleted documents contain are dropped; to find them, the column is read once beforehand. The new number of
//! each old term is held in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::column::{Column, DictionaryWriter, Scan};
use crate::error::Result;
use crate::segment::progress::MergeProgress;
use crate::segment::renumbering::Renumbering;
use crate::store::EnvelopeWriter;

/// Terms between two calls of `progress`.
const LOOK_EVERY: usize = 1 << 14;

/// The next term of a source, the source, and the number of the term there.
type SourceTerm = Reverse<(Vec<u8>, usize, u32)>;

/// Writes the terms of the survivors to the section of terms, which must be open in `out`, and their index to
/// section `index`. Returns the new numbers of the terms by column, or `None` for a column whose terms keep
/// their numbers.
pub(super) fn merge_dictionaries(
    columns: &[Option<&Column>],
    documents: &[Renumbering],
    index: u32,
    out: &mut EnvelopeWriter,
    progress: MergeProgress<'_>,
) -> Result<Vec<Option<Vec<u32>>>> {
    let mut dictionary = DictionaryWriter::new();
    let joined = join_terms(columns, documents, &mut |term| {
        if dictionary.len().is_multiple_of(LOOK_EVERY) {
            progress(out.len())?;
        }
        dictionary.push(term, out)
    })?;
    dictionary.finish(index, out)?;
    let unchanged = |numbers: &[u32]| numbers.iter().zip(0..).all(|(&new, old)| new == old);
    Ok(joined.numbers.into_iter().map(|numbers| (!unchanged(&numbers)).then_some(numbers)).collect())
}

/// The terms of several dictionaries as one.
pub(super) struct JoinedTerms {
    /// By column, the new number of each term; [`u32::MAX`] for a term that only dropped documents have.
    pub(super) numbers: Vec<Vec<u32>>,
    /// The number of distinct terms.
    pub(super) count: u32,
}

/// Joins the terms of the survivors, and calls `each` with the distinct ones in order.
pub(super) fn join_terms(
    columns: &[Option<&Column>],
    documents: &[Renumbering],
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<JoinedTerms> {
    let mut used = Vec::with_capacity(columns.len());
    for (column, documents) in columns.iter().zip(documents) {
        used.push(column.map_or(Ok(None), |column| used_terms(column, documents))?);
    }
    let mut numbers: Vec<Vec<u32>> =
        columns.iter().map(|column| vec![u32::MAX; column_terms(*column)]).collect();
    let mut cursors: Vec<_> = columns
        .iter()
        .map(|column| column.and_then(Column::terms).map(|terms| terms.cursor_from(0)))
        .collect();
    let mut next = |source: usize, mut term: Vec<u8>| -> Result<Option<SourceTerm>> {
        let Some(Some(cursor)) = cursors.get_mut(source) else { return Ok(None) };
        while let Some((number, found)) = cursor.next()? {
            if used.get(source).and_then(Option::as_ref).is_none_or(|used| is_set(used, number)) {
                term.clear();
                term.extend_from_slice(found);
                return Ok(Some(Reverse((term, source, number))));
            }
        }
        Ok(None)
    };
    let mut heap = BinaryHeap::new();
    for source in 0..columns.len() {
        heap.extend(next(source, Vec::new())?);
    }
    let (mut last, mut count) = (None::<Vec<u8>>, 0u32);
    while let Some(Reverse((term, source, number))) = heap.pop() {
        if last.as_ref() != Some(&term) {
            each(&term)?;
            count = count.saturating_add(1);
        }
        if let Some(slot) = numbers.get_mut(source).and_then(|numbers| numbers.get_mut(number as usize)) {
            *slot = count - 1;
        }
        // The buffer of the previous term is used for the next one.
        let free = last.replace(term).unwrap_or_default();
        heap.extend(next(source, free)?);
    }
    Ok(JoinedTerms { numbers, count })
}

fn column_terms(column: Option<&Column>) -> usize {
    column.and_then(Column::terms).map_or(0, |terms| terms.len() as usize)
}

fn is_set(bits: &[u64], number: u32) -> bool {
    bits.get(number as usize / 64).is_some_and(|word| word & 1 << (number % 64) != 0)
}

/// The terms of the survivors, as bits; `None` if all documents survive.
fn used_terms(column: &Column, documents: &Renumbering) -> Result<Option<Vec<u64>>> {
    if documents.shift().is_some() {
        return Ok(None);
    }
    let mut used = vec![0u64; column_terms(Some(column)).div_ceil(64)];
    let mut scan = Scan::new();
    for block in 0..column.blocks() {
        for (doc, values) in scan.read(column, block)?.documents() {
            if documents.get(doc).is_none() {
                continue;
            }
            for &value in values {
                if let Some(word) = usize::try_from(value / 64).ok().and_then(|word| used.get_mut(word)) {
                    *word |= 1 << (value % 64);
                }
            }
        }
    }
    Ok(Some(used))
}
