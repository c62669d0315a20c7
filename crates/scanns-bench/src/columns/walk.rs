//! Reads a column as if it had no jump table, to measure the benefit of jump tables.
//!
//! Lucene 7 had no jump tables. A reader went from block to block, and from the first one if it had to go
//! back; [`Walker`] does that. Before Lucene wrote jump tables with a segment, it tried a table that is made
//! when a column is first used (LUCENE-8374); [`first_documents`] makes one. Values that were changed later
//! are not read.

use anyhow::{Result, ensure};
use scanns::columns::Column;

/// A place in a column that is reached by walking.
#[derive(Clone, Debug)]
pub struct Walker<'a> {
    column: &'a Column,
    block: u32,
    /// The offset of the block in its section.
    offset: u64,
    /// The first document of the block.
    first: u32,
}

impl<'a> Walker<'a> {
    /// Starts at the first block.
    pub fn new(column: &'a Column) -> Self {
        Walker { column, block: 0, offset: 0, first: 0 }
    }

    /// The least value of a document.
    pub fn first(&mut self, doc: u32) -> Result<Option<u64>> {
        if doc < self.first {
            *self = Self::new(self.column);
        }
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
        let value = block.first(doc);
        ensure!(value.is_ok(), "block {} of a column cannot be read", self.block);
        Ok(value.ok().flatten())
    }
}

/// The first documents of all blocks, found by walking over them.
pub fn first_documents(column: &Column) -> Result<Vec<u32>> {
    let (mut firsts, mut offset, mut first) = (Vec::new(), 0u64, 0);
    while first < column.documents() {
        firsts.push(first);
        let (length, documents) = column.front(offset)?;
        offset += u64::from(length);
        first += documents;
    }
    Ok(firsts)
}
