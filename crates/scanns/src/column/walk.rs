//! A column read as if it had no jump table, for comparison: what jump tables are worth is measured against this.
//!
//! Lucene 7 had none: a reader went from block to block, from the first one on where it had to go back. [`Walker`] does that.
//! Before jump tables were written with a segment, one was tried that is made when a column is first used (LUCENE-8374), which
//! is [`Walker::all`]. Nothing else uses this, and columns in which values were changed have no order of blocks to walk in.

use super::read::Column;
use crate::error::{Error, Result};

/// A place in a column that is reached by walking.
#[derive(Clone, Debug)]
pub struct Walker<'a> {
    column: &'a Column,
    block: u32,
    /// Where the block begins in its section, and its first document.
    offset: u64,
    first: u32,
}

impl<'a> Walker<'a> {
    /// At the first block.
    pub fn new(column: &'a Column) -> Self {
        Walker { column, block: 0, offset: 0, first: 0 }
    }

    /// The least value of a document.
    pub fn first(&mut self, doc: u32) -> Result<Option<u64>> {
        if doc < self.first {
            *self = Self::new(self.column);
        }
        self.column.must_be_as_written()?;
        loop {
            let (length, documents) = self.column.front(self.offset)?;
            if doc - self.first < documents {
                break;
            }
            self.offset += u64::from(length);
            self.first += documents;
            self.block += 1;
        }
        let block = self.column.block(self.block)?;
        block.first(doc).map_err(|_| self.column.damaged(self.block))
    }

    /// The first documents of all blocks, found by walking over them.
    pub fn all(column: &'a Column) -> Result<Vec<u32>> {
        column.must_be_as_written()?;
        let (mut firsts, mut offset, mut first) = (Vec::new(), 0u64, 0);
        while first < column.documents() {
            firsts.push(first);
            let (length, documents) = column.front(offset)?;
            offset += u64::from(length);
            first += documents;
        }
        Ok(firsts)
    }
}

impl Column {
    /// Refuses a column in which values were changed.
    fn must_be_as_written(&self) -> Result<()> {
        let why = "a column in which values were changed cannot be walked: merge the index first";
        if self.has_newer() { Err(Error::Options(why.into())) } else { Ok(()) }
    }
}
