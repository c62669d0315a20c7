//! One of the indexes that a snapshot reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::info::SegmentInfo;
use crate::content::ContentOptions;
use crate::error::Result;
use crate::index::coverage::{Coverage, coverage_of};
use crate::schema::{Field, FieldNumbers, Records, Schema, Stored};
use crate::segment::Segment;
use crate::store::Lease;

/// What the documents of one index have in common.
#[derive(Debug)]
pub(crate) struct IndexPart {
    /// The index, for messages.
    pub(super) name: String,
    pub(super) generation: u64,
    /// The schema of this index, with its own numbers of fields.
    pub(super) schema: Schema,
    /// How the schema of the snapshot numbers these fields, if it is another one.
    pub(super) numbers: Option<Arc<FieldNumbers>>,
    pub(super) key: Option<Field>,
    pub(super) records: Records,
    pub(super) contents: ContentOptions,
    pub(super) stored: Stored,
    pub(super) notes: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) segments: Vec<Segment>,
    pub(super) infos: Vec<SegmentInfo>,
    pub(super) _lease: Lease,
}

impl IndexPart {
    /// The number of a field of this index in the snapshot.
    pub(super) fn joined(&self, own: Field) -> Option<Field> {
        self.numbers.as_ref().map_or(Some(own), |numbers| numbers.joined(own))
    }

    /// The default field of this index, with its number in the snapshot.
    pub(super) fn default_field(&self) -> Field {
        self.schema.default_field().and_then(|field| self.joined(field)).unwrap_or_default()
    }

    /// What the index covers of file systems.
    pub(super) fn coverage(&self) -> Result<Vec<Coverage>> {
        coverage_of(&self.notes)
    }
}
