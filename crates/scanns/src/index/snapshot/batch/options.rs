//! The types of batches: requested fields, options, and the batch itself.

use std::ops::ControlFlow;

use super::column::BatchColumn;
use crate::error::Result;
use crate::schema::Field;
use crate::search::Model;

/// The content of a column of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchField {
    /// The key of the document, as a text.
    Key,
    /// The values of a field. They come from its column if there is one, numbers and keywords in ascending
    /// order; otherwise from the stored values.
    Values(Field),
    /// The directories of the values of a field of paths, each with the slash at its end.
    Directories(Field),
    /// The names of the values of a field of paths, without their directories.
    Names(Field),
}

impl BatchField {
    /// Returns the field that values are read from; `None` for the key.
    pub(crate) fn field(self) -> Option<Field> {
        match self {
            BatchField::Key => None,
            BatchField::Values(field) | BatchField::Directories(field) | BatchField::Names(field) => {
                Some(field)
            }
        }
    }
}

/// Options for reading hits in batches.
#[derive(Clone, Copy, Debug)]
pub struct BatchOptions {
    /// The maximum number of rows of a batch.
    pub rows: usize,
    /// The approximate number of bytes of the values of a batch. A batch has at least one row.
    pub bytes: usize,
    /// The model that scores hits; `None` for no scores.
    pub model: Option<Model>,
    /// The leaf and the document to start with. Earlier hits are skipped without being read.
    pub from: (usize, u32),
}

impl Default for BatchOptions {
    fn default() -> Self {
        BatchOptions { rows: 16 << 10, bytes: 16 << 20, model: None, from: (0, 0) }
    }
}

/// A batch of hits and their values.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'b> {
    /// The leaf that contains the hits.
    pub leaf: usize,
    /// The documents in the leaf, ascending; at least one.
    pub docs: &'b [u32],
    /// The scores of the documents, if a model was given.
    pub scores: &'b [f32],
    /// The columns of the requested fields, with one row per document.
    pub columns: &'b [BatchColumn],
}

/// A callback that receives batches.
pub type BatchVisit<'v> = dyn FnMut(&Batch<'_>) -> Result<ControlFlow<()>> + 'v;
