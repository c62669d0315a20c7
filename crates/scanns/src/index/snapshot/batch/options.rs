//! What batches are made of: the fields that are asked for, the options, and a batch.

use std::ops::ControlFlow;

use super::column::BatchColumn;
use crate::error::Result;
use crate::schema::Field;
use crate::search::Model;

/// What a column of a batch holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchField {
    /// The key of the document, as a text.
    Key,
    /// The values of a field: from its column, numbers and keywords in ascending order, or else stored
    /// values.
    Values(Field),
}

/// How rows are batched.
#[derive(Clone, Copy, Debug)]
pub struct BatchOptions {
    /// The most rows of a batch.
    pub rows: usize,
    /// The approximate number of bytes of the values of a batch. A batch has at least one row.
    pub bytes: usize,
    /// How hits are scored; `None` for no scores.
    pub model: Option<Model>,
    /// The leaf and the document to begin with. Hits before it are skipped without being read.
    pub from: (usize, u32),
}

impl Default for BatchOptions {
    fn default() -> Self {
        BatchOptions { rows: 16 << 10, bytes: 16 << 20, model: None, from: (0, 0) }
    }
}

/// Some hits and their values.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'b> {
    /// The leaf of the hits.
    pub leaf: usize,
    /// The documents in that leaf, ascending; at least one.
    pub docs: &'b [u32],
    /// The scores of the documents, if a model was given.
    pub scores: &'b [f32],
    /// The columns of the requested fields, with a row for each document.
    pub columns: &'b [BatchColumn],
}

/// Takes a batch.
pub type BatchVisit<'v> = dyn FnMut(&Batch<'_>) -> Result<ControlFlow<()>> + 'v;
