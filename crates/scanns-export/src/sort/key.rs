//! The sort key of a row. Keys compare as bytes in the same order as rows by `scanns search --sort`.
//!
//! ```text
//! key   = part … | leaf u32 | document u32       big-endian
//! part  = 0                                      no value, sorted first
//!       | 1 number u64                           a number by its order, big-endian
//!       | 1 (byte | 0 255) … 0 0                 a text, in which 255 follows a zero
//!       | 2                                      no value, sorted last
//! ```
//!
//! In descending order, all bits after the first byte are inverted. Of several values the least one is used
//! in ascending order, and the greatest one in descending order.

use scanns::Snapshot;
use scanns::columns::{Batch, BatchColumn, BatchField, ColumnKind};
use scanns::schema::{FieldKind, ValueRef};
use scanns::search::{Missing, SortBy, SortKey};

use crate::error::{ExportError, Result};

/// An order of rows.
#[derive(Clone, Debug)]
pub enum RowOrder {
    /// By score, the best first.
    Score,
    /// By the bytes of the key.
    Key {
        /// True for the greatest first.
        descending: bool,
    },
    /// By these columns, one after the other.
    Columns(Vec<SortKey>),
}

/// Makes the sort keys of rows.
#[derive(Clone, Debug)]
pub struct RowKeys {
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    from: From,
    descending: bool,
    missing_first: bool,
}

#[derive(Clone, Copy, Debug)]
enum From {
    Score,
    /// The column with this number.
    Column(usize),
}

impl RowKeys {
    /// The keys of an order. The fields that they need are appended to `fields`, if they are missing.
    ///
    /// # Errors
    /// [`ExportError::NotSortable`] for a field of texts, bytes or paths.
    pub fn new(snapshot: &Snapshot, order: &RowOrder, fields: &mut Vec<BatchField>) -> Result<Self> {
        let mut place = |field| {
            let known = fields.iter().position(|&known| known == field);
            known.unwrap_or_else(|| {
                fields.push(field);
                fields.len() - 1
            })
        };
        let part = |from, descending| Part { from, descending, missing_first: false };
        let columns = match order {
            RowOrder::Score => return Ok(RowKeys { parts: vec![part(From::Score, true)] }),
            RowOrder::Key { descending } => {
                return Ok(RowKeys { parts: vec![part(From::Column(place(BatchField::Key)), *descending)] });
            }
            RowOrder::Columns(columns) => columns,
        };
        let mut parts = Vec::with_capacity(columns.len());
        for &SortKey { by, descending, missing } in columns {
            let from = match by {
                SortBy::Field(field) => {
                    let kind = snapshot.schema().entry(field).map(|entry| &entry.kind);
                    if let Some(FieldKind::Text { .. } | FieldKind::Bytes | FieldKind::Path) = kind {
                        return Err(ExportError::NotSortable);
                    }
                    From::Column(place(BatchField::Values(field)))
                }
                SortBy::Score | SortBy::Document => From::Score,
            };
            parts.push(Part { from, descending, missing_first: missing == Missing::First });
        }
        Ok(RowKeys { parts })
    }

    /// True if hits must be scored.
    pub fn needs_scores(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.from, From::Score))
    }

    /// Replaces `out` with the key of a row.
    pub fn put(&self, batch: &Batch<'_>, row: usize, out: &mut Vec<u8>) {
        out.clear();
        for part in &self.parts {
            let value = match part.from {
                From::Score => {
                    batch.scores.get(row).map(|&score| Basis::Number(order_of_float(score.into())))
                }
                From::Column(place) => batch.columns.get(place).and_then(|column| part.value(column, row)),
            };
            let Some(value) = value else {
                out.push(if part.missing_first { 0 } else { 2 });
                continue;
            };
            out.push(1);
            let start = out.len();
            match value {
                Basis::Number(number) => out.extend(number.to_be_bytes()),
                Basis::Text(text) => put_text(text, out),
            }
            if part.descending {
                out.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
            }
        }
        // There are fewer than `u32::MAX` leaves.
        out.extend(u32::try_from(batch.leaf).unwrap_or(u32::MAX).to_be_bytes());
        out.extend(batch.docs.get(row).copied().unwrap_or(0).to_be_bytes());
    }
}

/// The value of a part.
enum Basis<'v> {
    Number(u64),
    Text(&'v [u8]),
}

impl Part {
    /// The value of a row to sort by.
    fn value<'v>(&self, column: &'v BatchColumn, row: usize) -> Option<Basis<'v>> {
        let mut own = column.of_row(row);
        let place = if self.descending { own.next_back() } else { own.next() }?;
        Some(match (column.kind(), column.value(place)) {
            (ColumnKind::Keyword | ColumnKind::Text, ValueRef::Text(text)) => Basis::Text(text),
            _ => Basis::Number(column.orders().get(place).copied().unwrap_or(0)),
        })
    }
}

/// An integer with the same order as a double; columns use the same one.
fn order_of_float(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    for part in text.split_inclusive(|&byte| byte == 0) {
        out.extend_from_slice(part);
        if part.last() == Some(&0) {
            out.push(255);
        }
    }
    out.extend([0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_compare_as_what_they_are_made_of() {
        let seed = 0x5eed_0643;
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..20_000 {
            let mut text =
                || (0..random.usize(..4)).map(|_| [0, 1, 254, 255][random.usize(..4)]).collect::<Vec<u8>>();
            let (a, b, rest) = (text(), text(), [text(), text()]);
            let [mut of_a, mut of_b] = [Vec::new(), Vec::new()];
            put_text(&a, &mut of_a);
            put_text(&b, &mut of_b);
            // Bytes after the texts must not matter unless the texts are equal.
            of_a.extend(&rest[0]);
            of_b.extend(&rest[1]);
            let expected = (&a, &rest[0]).cmp(&(&b, &rest[1]));
            assert_eq!(of_a.cmp(&of_b), expected, "seed {seed:x} {a:?} {b:?}");
            let inverted = |bytes: &[u8]| bytes.iter().map(|byte| !byte).collect::<Vec<_>>();
            if a != b {
                let found = inverted(&of_a).cmp(&inverted(&of_b));
                assert_eq!(found, expected.reverse(), "seed {seed:x} {a:?} {b:?}");
            }
        }
        let floats = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 1.0, f64::INFINITY];
        assert!(floats.map(order_of_float).is_sorted());
    }
}
