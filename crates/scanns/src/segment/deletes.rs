//! The deleted documents of a segment, in a separate file. Each commit that deletes more documents writes a
//! new file.
//!
//! ```text
//! section = roaring bitmap of documents, in its portable serialized form
//! ```

use std::ops::Range;

use roaring::RoaringBitmap;

use super::layout::deletes_file_name;
use super::stats::SegmentStats;
use crate::error::{Error, Result};
use crate::store::{Directory, Envelope, EnvelopeWriter, FileKind};

/// Kind and format version of the files.
const DELETES: FileKind = FileKind { magic: *b"SCANNDEL", format: 1, oldest: 1 };

/// The only section.
const BITMAP: u32 = 1;

/// Deleted documents of one segment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deletes {
    docs: RoaringBitmap,
}

impl Deletes {
    /// Returns true if a document is deleted.
    #[inline]
    pub fn contains(&self, doc: u32) -> bool {
        self.docs.contains(doc)
    }

    /// Number of deleted documents.
    pub fn count(&self) -> u64 {
        self.docs.len()
    }

    /// The deleted documents in `docs`, ascending.
    pub fn within(&self, docs: Range<u32>) -> impl Iterator<Item = u32> + use<'_> {
        self.docs.range(docs)
    }

    /// Deletes a document; returns false if it was already deleted.
    pub fn insert(&mut self, doc: u32) -> bool {
        self.docs.insert(doc)
    }

    /// The documents that are deleted here and not in `earlier`, ascending.
    pub fn since(&self, earlier: &Deletes) -> Vec<u32> {
        (&self.docs - &earlier.docs).iter().collect()
    }

    /// Writes the deletes of segment `id` durably, as the file that commit `generation` publishes. Returns
    /// the bytes written.
    pub fn write(&self, directory: &dyn Directory, id: u128, generation: u64) -> Result<u64> {
        let name = deletes_file_name(id, generation);
        let mut bytes = Vec::with_capacity(self.docs.serialized_size());
        // Writing to memory does not fail.
        self.docs.serialize_into(&mut bytes).map_err(|source| Error::io("write", name.as_ref(), source))?;
        let mut out = EnvelopeWriter::create(directory, &name, DELETES, id)?;
        out.begin(BITMAP)?;
        out.write(&bytes)?;
        out.finish()?.sync()
    }

    /// Reads the file that [`Deletes::write`] wrote for this segment.
    pub(super) fn read(
        directory: &dyn Directory,
        id: u128,
        generation: u64,
        stats: &SegmentStats,
    ) -> Result<Self> {
        let name = deletes_file_name(id, generation);
        let file = Envelope::open(directory, &name, DELETES)?;
        let section = file.section(BITMAP)?;
        if file.id() != id {
            return Err(section.corrupt(format!("it belongs to segment {:032x}", file.id())));
        }
        let mut bytes = section.all()?;
        let docs = RoaringBitmap::deserialize_from(&mut bytes)
            .map_err(|source| section.corrupt(format!("its set of documents cannot be read: {source}")))?;
        let inside = docs.max().is_none_or(|last| last < stats.max_doc);
        let not_void = stats.void.iter().all(|&void| !docs.contains(void));
        if bytes.is_empty() && inside && not_void {
            Ok(Deletes { docs })
        } else {
            Err(section.corrupt("it deletes documents that are not in the segment"))
        }
    }
}
