//! Blocks: documents that become visible together.
//!
//! A commit or a snapshot takes the content of all lanes while it holds their locks. So a block is added to
//! one lane while it is locked, under one number of an operation. If a buffer becomes full meanwhile, it is
//! written at once and replaced: until the lane is unlocked, both belong to the same epoch. A document that
//! cannot be added makes an edit that deletes what the operation has added before.

use super::index_writer::IndexWriter;
use super::lane_buffer::{Edit, EditAction, EditTarget, LaneBuffer};
use super::writer_core::WriterCore;
use crate::error::Result;
use crate::query::Query;
use crate::schema::Document;

impl IndexWriter {
    /// Adds several documents that become visible together: a commit, a snapshot, or the index after a crash
    /// has all of them or none. Returns the number of the operation, which is the same for all of them.
    ///
    /// Other documents may have the same keys. The documents of a block may be in several segments, and in
    /// any place of the order of documents. A commit that begins meanwhile waits until the block is complete.
    ///
    /// ```
    /// use scanns::schema::{Document, FieldEntry, FieldKind, Schema};
    /// use scanns::{Index, Query};
    ///
    /// # fn main() -> scanns::Result<()> {
    /// # let place = tempfile::tempdir().unwrap();
    /// # let path = place.path().join("blog.scanns");
    /// let mut schema = Schema::new();
    /// let text = schema.add(FieldEntry::text("text"))?;
    /// let parent = schema.add(FieldEntry::new("parent", FieldKind::Keyword).column())?;
    /// let writer = Index::create(&path, &schema)?.writer()?;
    /// writer.add_block(&[
    ///     Document::new("article-1").text(text, "Red apples are ripe."),
    ///     Document::new("comment-1").text(text, "Mine are green.").text(parent, "article-1"),
    /// ])?;
    /// assert_eq!(writer.snapshot()?.searcher().count(&Query::All)?, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`IndexWriter::add`], if one of the documents has one. Then no document of the block is
    /// added.
    pub fn add_block(&self, documents: &[Document]) -> Result<u64> {
        documents.iter().try_for_each(|document| document.check(&self.core.schema))?;
        self.core.change_block(documents, &Replaced::Nothing)
    }

    /// Adds a block as [`IndexWriter::add_block`] does, and deletes all earlier documents with the key of one
    /// of its documents, in the same step. Documents of the block with equal keys all stay.
    ///
    /// # Errors
    /// The errors of [`IndexWriter::add_block`]. If the block is not added, nothing is deleted.
    pub fn update_block(&self, documents: &[Document]) -> Result<u64> {
        documents.iter().try_for_each(|document| document.check(&self.core.schema))?;
        self.core.change_block(documents, &Replaced::SameKeys)
    }

    /// Adds a block as [`IndexWriter::add_block`] does, and deletes all earlier documents that the query
    /// matches, in the same step: an article and its comments may replace what there was of both, also if
    /// there are fewer comments now. Earlier documents with the keys of the block stay unless the query
    /// matches them.
    ///
    /// # Errors
    /// The errors of [`IndexWriter::add_block`] and [`IndexWriter::delete_matching`]. If the block is not
    /// added, nothing is deleted.
    pub fn replace_matching(&self, query: &Query, documents: &[Document]) -> Result<u64> {
        documents.iter().try_for_each(|document| document.check(&self.core.schema))?;
        self.must_be_answerable(query)?;
        self.core.change_block(documents, &Replaced::Matching(query))
    }
}

/// The earlier documents that a block replaces.
enum Replaced<'q> {
    Nothing,
    SameKeys,
    Matching(&'q Query),
}

impl WriterCore {
    /// Adds documents that fit the schema, and deletes what they replace, in one operation. Returns its
    /// number.
    fn change_block(&self, documents: &[Document], replaced: &Replaced<'_>) -> Result<u64> {
        self.pool.check()?;
        let half_done = FailOnPanic { core: self };
        let mut lane = self.lane();
        let sequence = self.next_operation();
        let added =
            documents.iter().try_for_each(|document| self.add_to_block(&mut lane, document, sequence));
        let edit = |target| Edit { target, action: EditAction::Delete, sequence };
        match (&added, replaced) {
            (Ok(()), Replaced::Nothing) => {}
            (Ok(()), Replaced::SameKeys) => {
                for document in documents {
                    lane.edit(edit(EditTarget::Key(document.key().to_vec())));
                    self.make_room(&mut lane)?;
                }
            }
            (Ok(()), Replaced::Matching(query)) => {
                lane.edit(edit(EditTarget::Query((*query).clone())));
                self.make_room(&mut lane)?;
            }
            (Err(_), _) => lane.edit(edit(EditTarget::Operation)),
        }
        drop(lane);
        drop(half_done);
        self.resolve_what_waits()?;
        added.map(|()| sequence)
    }

    fn add_to_block(&self, lane: &mut LaneBuffer, document: &Document, sequence: u64) -> Result<()> {
        let added = lane.add(document, sequence);
        if added.is_err() && lane.documents() > 1 {
            // It may fit into an empty buffer.
            self.write(self.exchange(lane)?)?;
            lane.add(document, sequence)?;
        } else {
            added?;
        }
        self.make_room(lane)
    }

    /// Writes the buffer of a lane if it is full.
    fn make_room(&self, lane: &mut LaneBuffer) -> Result<()> {
        if self.is_full(lane) { self.write(self.exchange(lane)?) } else { Ok(()) }
    }
}

/// Marks the writer as failed if the thread panics, since a lane may have a part of a block.
struct FailOnPanic<'w> {
    core: &'w WriterCore,
}

impl Drop for FailOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.core.pool.fail(&"a thread panicked while it added a block");
        }
    }
}
