//! The order of directories: documents of one directory become neighbours, and so do those below it.
//!
//! Entries of file systems are sorted like this within each segment that an index thread writes. After a
//! merge they are in several runs. Sorting them again makes each directory one range of documents, and
//! neighbours have similar values, which take less space.
//!
//! The directories of all sources are joined, so a document is sorted by the number of its directory: a
//! counting sort, which keeps the order of documents within a directory.

use super::dictionaries::join_terms;
use super::renumber::renumber;
use crate::column::{Column, Scan};
use crate::error::Result;
use crate::schema::Field;
use crate::segment::order::DocumentOrder;
use crate::segment::progress::OrderProgress;
use crate::segment::reader::Segment;
use crate::segment::renumbering::Renumbering;

/// Computes the order of the directories in the column of paths `field` for the live documents of `sources`;
/// `None` if they are in this order. Documents without a path come last. Writing in the order may use
/// `memory` bytes in addition to eight bytes for each document. `progress` gets the documents and their
/// number.
///
/// # Errors
/// An error if a source is damaged; errors from `progress`.
pub fn path_order(
    sources: &[Segment],
    field: Field,
    memory: u64,
    progress: OrderProgress<'_>,
) -> Result<Option<DocumentOrder>> {
    let documents = renumber(sources)?;
    let all = documents.last().map_or(0, Renumbering::end);
    let columns: Vec<Option<&Column>> = sources.iter().map(|source| source.column(field)).collect();
    let joined = join_terms(&columns, &documents, &mut |_| progress(0, all.into()))?;
    let mut directories = vec![joined.count; all as usize];
    for ((column, documents), numbers) in columns.iter().zip(&documents).zip(&joined.numbers) {
        let Some(column) = column else { continue };
        let mut scan = Scan::new();
        for block in 0..column.blocks() {
            for (doc, values) in scan.read(column, block)?.documents() {
                let place = documents.get(doc).and_then(|kept| directories.get_mut(kept as usize));
                let number = values.first().and_then(|&value| numbers.get(usize::try_from(value).ok()?));
                if let (Some(place), Some(&number)) = (place, number) {
                    *place = number.min(joined.count);
                }
            }
            progress(documents.before(column.entry(block)?.first).into(), all.into())?;
        }
    }
    if directories.is_sorted() {
        return Ok(None);
    }
    Ok(Some(DocumentOrder::new(sorted(&directories, joined.count), memory)))
}

/// The places of `numbers`, which are at most `most`, in ascending order of the numbers.
fn sorted(numbers: &[u32], most: u32) -> Vec<u32> {
    let mut next = vec![0u32; most as usize + 2];
    for &number in numbers {
        if let Some(count) = next.get_mut(number as usize + 1) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for count in &mut next {
        sum += *count;
        *count = sum;
    }
    let mut from = vec![0; numbers.len()];
    for (place, &number) in (0u32..).zip(numbers) {
        if let Some(at) = next.get_mut(number as usize) {
            if let Some(slot) = from.get_mut(*at as usize) {
                *slot = place;
            }
            *at += 1;
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counting_sort_keeps_the_order_of_equal_numbers() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..200 {
            let most = random.u32(..40);
            let numbers: Vec<u32> = (0..random.usize(..300)).map(|_| random.u32(..=most)).collect();
            let mut expected: Vec<u32> = (0..).take(numbers.len()).collect();
            expected.sort_by_key(|&place| numbers[place as usize]);
            assert_eq!(sorted(&numbers, most), expected);
        }
    }
}
