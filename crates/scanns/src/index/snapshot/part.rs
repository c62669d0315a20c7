//! One of the indexes that a snapshot reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::info::SegmentInfo;
use crate::content::ContentOptions;
use crate::error::Result;
use crate::index::build::is_file_field;
use crate::index::commit::manifest::SegmentEntry;
use crate::index::coverage::{Coverage, coverage_of};
use crate::schema::{Field, FieldNumbers, Records, Schema, Stored};
use crate::segment::Segment;
use crate::store::{Directory, Lease};

/// What the documents of one index have in common.
#[derive(Clone, Debug)]
pub(crate) struct IndexPart {
    /// The index, for messages.
    pub(super) name: String,
    pub(super) generation: u64,
    /// A random number if the documents differ from those of the commit: see `IndexWriter::snapshot`.
    pub(super) revision: Option<u64>,
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
    /// The segments as the manifest describes them.
    pub(super) entries: Vec<SegmentEntry>,
    pub(super) infos: Vec<SegmentInfo>,
    pub(super) _lease: Arc<Lease>,
    /// A number that differs between views, if the segments are seen by one.
    pub(super) view: Option<u64>,
}

impl IndexPart {
    /// A segment of another commit, if this part has it open.
    pub(super) fn open_segment(
        &self,
        entry: &SegmentEntry,
        directory: &dyn Directory,
    ) -> Option<Result<Segment>> {
        let mut open = self.entries.iter().zip(&self.segments);
        let (then, segment) = open.find(|(then, _)| then.id == entry.id)?;
        let is_same = (then.deletes, then.updates) == (entry.deletes, entry.updates);
        let at_commit = || segment.at_commit(directory, entry.deletes, entry.updates);
        Some(if is_same { Ok(segment.clone()) } else { at_commit() })
    }

    /// The number of a field of this index in the snapshot.
    pub(super) fn joined(&self, own: Field) -> Option<Field> {
        self.numbers.as_ref().map_or(Some(own), |numbers| numbers.joined(own))
    }

    /// The default field of this index, with its number in the snapshot.
    pub(super) fn default_field(&self) -> Field {
        self.schema.default_field().and_then(|field| self.joined(field)).unwrap_or_default()
    }

    /// The fields that do not come from the content of documents, with their numbers in this index: the
    /// metadata of files, if documents are files that have it. The origin of other fields is not known, so
    /// they count as content.
    pub(super) fn metadata(&self) -> Vec<Field> {
        let is_metadata = |field: &Field| is_file_field(&self.schema, *field);
        let fields = self.schema.fields().map(|(field, _)| field).filter(is_metadata);
        if self.records == Records::File { fields.collect() } else { Vec::new() }
    }

    /// What the index covers of file systems.
    pub(super) fn coverage(&self) -> Result<Vec<Coverage>> {
        coverage_of(&self.notes)
    }
}
