//! Decides whether a merge should put similar documents near each other.

use super::documents_in_order;
use super::renumber::renumber;
use super::reorder::{Reordering, similar_together};
use crate::error::Result;
use crate::segment::keys::{self, KeySource};
use crate::segment::order::DocumentOrder;
use crate::segment::progress::OrderProgress;
use crate::segment::reader::Segment;

/// Computes an order for the live documents of `sources` in which similar documents are near each other.
/// Returns `None` if keys and references would grow by more than lists would shrink. The order depends on the
/// sources and on the memory, but not on the number of threads.
///
/// # Errors
/// [`Error::InvalidValue`](crate::Error::InvalidValue) if the memory is too small for the number of
/// documents; an error if a source is damaged; errors from `progress`.
pub fn similar_order(
    sources: &[Segment],
    how: &Reordering,
    progress: OrderProgress<'_>,
) -> Result<Option<DocumentOrder>> {
    let documents = renumber(sources)?;
    let (from, saved) = similar_together(sources, &documents, how, progress)?;
    let order = DocumentOrder::new(from, how.memory);
    let mut look = || progress(0, 0);
    let readers = sources.iter().map(Segment::keys).collect::<Result<Vec<_>>>()?;
    let keys: Vec<_> =
        readers.into_iter().zip(&documents).map(|(keys, documents)| KeySource { keys, documents }).collect();
    let mut others = |order: Option<&DocumentOrder>| -> Result<u64> {
        let keys = keys::bytes_in_order(&keys, &documents, order, &mut look)?;
        Ok(keys + documents_in_order::bytes_in_order(sources, &documents, order, &mut look)?)
    };
    let (before, after) = (others(None)?, others(Some(&order))?);
    Ok((before.saturating_add(saved) > after).then_some(order))
}
