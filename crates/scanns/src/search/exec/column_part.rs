//! Some blocks of a column: the part of its documents that one thread looks at.

use std::ops::Range;

use crate::column::Column;
use crate::error::Result;
use crate::search::budget::Clock;
use crate::search::doc_set::DocSetBuilder;

/// Blocks of a column that one thread reads at a time: some 65,000 values. Tests have many parts.
const PART: u32 = if cfg!(test) { 1 } else { 16 };

/// The number of parts of a column.
pub(super) fn parts(column: &Column) -> usize {
    column.blocks().div_ceil(PART) as usize
}

/// Some blocks of a column.
pub(super) struct ColumnPart<'c> {
    pub(super) column: &'c Column,
    pub(super) blocks: Range<u32>,
    pub(super) clock: Clock<'c>,
}

impl<'c> ColumnPart<'c> {
    /// A part by its number.
    pub(super) fn of(column: &'c Column, part: usize, clock: Clock<'c>) -> Self {
        let first = u32::try_from(part).unwrap_or(u32::MAX).saturating_mul(PART);
        let blocks = first..first.saturating_add(PART).min(column.blocks());
        ColumnPart { column, blocks, clock }
    }

    /// No documents of these blocks.
    pub(super) fn nothing(&self) -> Result<DocSetBuilder> {
        let Some(last) = self.blocks.clone().next_back() else { return Ok(DocSetBuilder::new(0)) };
        let (first, last) = (self.column.entry(self.blocks.start)?, self.column.entry(last)?);
        Ok(DocSetBuilder::between(first.first, last.first.saturating_add(last.documents)))
    }
}
