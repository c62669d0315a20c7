//! A snapshot as a view shows it.
//!
//! Segments know the documents that a view shows, so whatever asks whether a document is live is trimmed.
//! This file makes such a snapshot, and says what it refuses.

use std::hash::Hasher;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::info::SegmentInfo;
use super::open::Snapshot;
use super::part::IndexPart;
use crate::error::{Error, Result};
use crate::schema::{Field, Records};
use crate::segment::{DocBits, Segment, VisibleDocs};

impl Snapshot {
    /// Returns the same commit as a view of it: as an index would be that never had anything but the
    /// documents that the view shows. `visible` has the documents of each segment, in the order of
    /// [`Snapshot::segments`].
    ///
    /// Hits, counts, scores, aggregations, orders, suggestions, expansions, terms, snippets, explanations and
    /// exports are those of an index of the visible documents: statistics such as the number of documents
    /// that contain a term do not count others, not even deleted ones. Of a document among the entries whose
    /// content may not be read, only the metadata of its file exists: the fields that a build finds about
    /// files themselves, such as `path`, `size`, `owner` and `mtime`. All other fields count as content, and
    /// records of files are content as a whole. Whether the members of archives exist is for the sets to say.
    ///
    /// The first query for a term reads its list to count the visible documents, and the first one that
    /// scores a field with documents of 40 tokens or more reads all lists of the field. Both are kept for as
    /// long as the view, the latter for as long as the snapshot. Make a view once for each set of rights, and
    /// keep it.
    ///
    /// Of a view of a view, both must show a document. The number of a document in its segment, as in
    /// [`Hit`](crate::Hit), is the same as in the whole snapshot; a program that shows it tells that there
    /// are other documents.
    ///
    /// ```
    /// use scanns::schema::{Document, FieldEntry, Schema};
    /// use scanns::views::{DocBits, VisibleDocs};
    /// use scanns::{Index, Query};
    ///
    /// # fn main() -> scanns::Result<()> {
    /// # let place = tempfile::tempdir().unwrap();
    /// # let path = place.path().join("mail.scanns");
    /// let mut schema = Schema::new();
    /// let text = schema.add(FieldEntry::text("text"))?;
    /// let writer = Index::create(&path, &schema)?.writer()?;
    /// for (key, words) in [("a", "red apple"), ("b", "red cherry")] {
    ///     writer.add(&Document::new(key).text(text, words))?;
    /// }
    /// writer.commit()?;
    ///
    /// let snapshot = scanns::Snapshot::open(&path)?;
    /// let mut docs = DocBits::none(snapshot.document_numbers()[0]);
    /// docs.insert(1);
    /// let view = snapshot.seen_by(&[VisibleDocs::whole(docs)])?;
    /// assert_eq!(view.searcher().count(&Query::term(text, "red"))?, 1);
    /// assert_eq!(view.doc_freq(text, b"apple")?, 0);
    /// assert!(view.hit("a")?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if `visible` does not fit the segments.
    pub fn seen_by(&self, visible: &[VisibleDocs]) -> Result<Self> {
        self.seen(visible, &IndexPart::metadata)
    }

    /// Does the same with other fields of metadata, by name.
    #[cfg(test)]
    pub(crate) fn seen_with(
        &self,
        visible: &[VisibleDocs],
        is_metadata: &dyn Fn(&str) -> bool,
    ) -> Result<Self> {
        self.seen(visible, &|part| {
            let fields = part.schema.fields().filter(|(_, entry)| is_metadata(&entry.name));
            fields.map(|(field, _)| field).collect()
        })
    }

    fn seen(&self, visible: &[VisibleDocs], metadata: &dyn Fn(&IndexPart) -> Vec<Field>) -> Result<Self> {
        if visible.len() != self.segments.len() {
            let expected = self.segments.len().to_string();
            return Err(Error::invalid("number of segments of a view", visible.len(), expected));
        }
        let mut parts = self.parts.clone();
        let mut left = visible.iter();
        for part in &mut parts {
            let metadata = metadata(part);
            part.see(&mut left, &metadata)?;
        }
        let stored_cache = self.stored_cache.clone();
        let filters = Arc::new(self.filters.anew());
        Ok(Snapshot { stored_cache, filters, ..Snapshot::of_parts(self.schema.clone(), parts) })
    }

    /// Returns the number of documents that each segment has numbers for, deleted and void ones included: the
    /// sizes of the sets of a view.
    pub fn document_numbers(&self) -> Vec<u32> {
        self.segments.iter().map(|segment| segment.stats().max_doc).collect()
    }

    /// Returns true if a view shows only some documents: see [`Snapshot::seen_by`].
    pub fn is_view(&self) -> bool {
        self.parts.iter().any(|part| part.view.is_some())
    }

    /// Refuses what cannot be told of a view alone.
    pub(crate) fn refuse_in_view(&self, what: &'static str) -> Result<()> {
        if self.is_view() { Err(Error::NotInView { what }) } else { Ok(()) }
    }
}

impl IndexPart {
    /// Sees the segments by a view, whose next sets are those of this index. `metadata` are the fields that
    /// do not come from the content of documents.
    fn see<'v>(
        &mut self,
        visible: &mut impl Iterator<Item = &'v VisibleDocs>,
        metadata: &[Field],
    ) -> Result<()> {
        // Who else may see a document is not for everybody to know.
        let hidden = self.access();
        let mut hasher = Xxh3::new();
        self.view.iter().for_each(|before| hasher.write(&before.to_le_bytes()));
        for ((segment, info), docs) in self.segments.iter_mut().zip(&mut self.infos).zip(visible) {
            let mut docs = docs.clone();
            if self.records != Records::File || self.key.is_some() {
                // Records are a part of the content of their file, and so are their keys.
                docs.entries.intersect(&docs.contents);
            }
            *segment = segment.clone().seen_by(&docs, metadata, hidden, &self.schema)?;
            hash_view(segment, &mut hasher);
            *info = SegmentInfo {
                id: info.id.clone(),
                documents: segment.live_documents(),
                deleted: 0,
                terms: 0,
                tokens: 0,
                bytes: 0,
            };
        }
        self.view = Some(hasher.finish());
        Ok(())
    }
}

fn hash_view(segment: &Segment, hasher: &mut Xxh3) {
    let Some(view) = segment.view() else { return };
    for docs in [Some(view.entries()), view.contents()] {
        // Where a set ends, and which one it is, counts as well.
        let words = docs.map_or(&[][..], DocBits::words);
        hasher.write(&[u8::from(docs.is_some())]);
        hasher.write(&(words.len() as u64).to_le_bytes());
        words.iter().for_each(|word| hasher.write(&word.to_le_bytes()));
    }
}
