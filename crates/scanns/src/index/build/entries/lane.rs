//! An index thread of entries: columns and keys in, segments out.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::attribute_words::AttributeWords;
use super::block::{BlockRows, EntryBlock};
use super::dump_access::{DumpAccess, LastClass};
use super::held::HeldEntries;
use super::known::{KnownEntries, KnownEntry};
use super::known_cursors::KnownCursors;
use super::rooted::rooted;
use super::told::ToldFields;
use super::tops::Tops;
use crate::column::{ColumnSet, split_path};
use crate::error::{Error, Result};
use crate::index::build::file_fields::{EntrySource, FileFields, MissingDates};
use crate::index::build::lane_report::LaneReport;
use crate::index::build::lane_segments::{LaneDocuments, LaneSegments, SegmentContext};
use crate::index::commit::writer::{SegmentDocuments, Writer};
use crate::invert::{InvertOptions, Inverter};
use crate::record::dump::DumpTally;
use crate::schema::{Field, Records, Schema, Store, Stored};
use crate::segment::{Flushed, Keys, PathHash, PathsInColumn, StoredCollector};
use crate::source::{Entry, EntryBatch, EntryKind, Skipped};

/// A segment takes this many times the bytes of its entries while it is written: for memory that is kept for
/// more of them, for their keys, and for their columns.
const TAKES: usize = 4;

/// Entries whose columns are filled together: they fit the first caches of a processor.
const TOGETHER: usize = 128;

/// What all index threads of an import share.
#[derive(Clone, Copy)]
pub(super) struct EntryContext<'a> {
    pub(super) segments: SegmentContext<'a>,
    pub(super) known: &'a KnownEntries<'a>,
    pub(super) schema: &'a Schema,
    pub(super) fields: &'a FileFields,
    /// The field of the text, which is empty.
    pub(super) text: Field,
    pub(super) invert: InvertOptions,
    pub(super) stored: Stored,
    /// The directory to which relative paths belong.
    pub(super) root: Option<&'a [u8]>,
    /// Whether entries without a type are directories.
    pub(super) are_directories: bool,
    /// Who may see the entries of a dump, if that is wanted.
    pub(super) access: Option<&'a DumpAccess>,
    /// The number of documents that others replaced.
    pub(super) replaced: &'a AtomicU64,
}

/// What an index thread did.
#[derive(Default)]
pub(super) struct EntryReport {
    pub(super) lane: LaneReport,
    pub(super) unchanged: u64,
    pub(super) tops: Tops,
    /// Entries of a dump of which it cannot be decided who may see them.
    pub(super) undecided: Skipped,
    /// By dump, what was counted.
    pub(super) dumps: Vec<DumpCounts>,
}

/// What was counted in a dump.
#[derive(Default)]
pub(super) struct DumpCounts {
    pub(super) entries: u64,
    pub(super) tally: DumpTally,
    pub(super) told: ToldFields,
}

/// The state of an index thread.
pub(super) struct EntryIndexer<'a> {
    context: EntryContext<'a>,
    /// The entries of the next segment.
    held: HeldEntries,
    inverter: Inverter,
    attributes: Option<AttributeWords>,
    stored: StoredCollector,
    columns: ColumnSet,
    segments: LaneSegments<'a, Vec<SegmentDocuments>>,
    /// Older documents that the entries in memory replace.
    replaced: Vec<SegmentDocuments>,
    missing_dates: MissingDates,
    /// Where it is among the documents of the index.
    cursors: KnownCursors<'a>,
    /// A path with its root.
    path: Vec<u8>,
    /// The access class of the last entry of a dump.
    class: LastClass,
    report: EntryReport,
}

impl<'a> EntryIndexer<'a> {
    pub(super) fn new(context: EntryContext<'a>) -> Result<Self> {
        Ok(EntryIndexer {
            context,
            held: HeldEntries::default(),
            inverter: Inverter::new(&context.invert)?,
            attributes: AttributeWords::new(context.schema, context.fields.rare.xattrs, &context.invert)?,
            stored: StoredCollector::new(&context.stored, Records::File)?,
            columns: ColumnSet::new(context.schema),
            segments: LaneSegments::new(context.segments),
            replaced: Vec::new(),
            missing_dates: MissingDates::default(),
            cursors: KnownCursors::default(),
            path: Vec::new(),
            class: LastClass::default(),
            report: EntryReport::default(),
        })
    }

    /// Indexes the entries of a block.
    pub(super) fn block(&mut self, block: &EntryBlock) -> Result<()> {
        let (mut tally, mut count, mut failed) = (DumpTally::default(), 0, None);
        let mut told = ToldFields::default();
        let has_known = !self.context.known.is_empty();
        let mut visit = |entry: &Entry<'_>| {
            count += 1;
            told.add(entry);
            match self.entry(entry, block) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let flow = match &block.rows {
            BlockRows::Bytes { bytes, offset, rows } => rows.read(bytes, *offset, &mut tally, &mut visit),
            BlockRows::Entries(batch) if has_known => {
                in_document_order(batch).try_for_each(|entry| visit(&entry))
            }
            BlockRows::Entries(batch) => batch.iter().try_for_each(|entry| visit(&entry)),
        };
        let dumps = &mut self.report.dumps;
        if dumps.len() <= block.dump {
            dumps.resize_with(block.dump + 1, Default::default);
        }
        if let Some(counts) = dumps.get_mut(block.dump) {
            counts.entries += count;
            counts.tally.merge(tally);
            counts.told.merge(told);
        }
        match (flow, failed) {
            (ControlFlow::Continue(()), _) => Ok(()),
            (ControlFlow::Break(()), error) => Err(error.unwrap_or(Error::Cancelled)),
        }
    }

    fn entry(&mut self, entry: &Entry<'_>, block: &EntryBlock) -> Result<()> {
        let mut space = std::mem::take(&mut self.path);
        let entry = Entry { path: rooted(entry.path, self.context.root, &mut space), ..*entry };
        let added = match block.source_of(entry.path) {
            Some(from) => self.add(&entry, from),
            None => Ok(()),
        };
        self.path = space;
        added
    }

    /// Adds an entry, with its access class if it is one of a dump.
    fn add(&mut self, entry: &Entry<'_>, from: &Arc<EntrySource>) -> Result<()> {
        let Some(access) = self.context.access else { return self.add_classed(entry, from) };
        let mut class = std::mem::take(&mut self.class);
        access.find(entry, &mut class);
        if class.is_undecided {
            self.report.undecided.add(entry.path);
        }
        let added = self.add_classed(&Entry { access: Some(&class.text), ..*entry }, from);
        self.class = class;
        added
    }

    /// Takes an entry that gets a document again, with its access class.
    pub(super) fn hold_again(&mut self, entry: &Entry<'_>, from: &Arc<EntrySource>) -> Result<()> {
        let Some(access) = self.context.access else { return self.hold(entry, from) };
        let mut class = std::mem::take(&mut self.class);
        access.find(entry, &mut class);
        let held = self.hold(&Entry { access: Some(&class.text), ..*entry }, from);
        self.class = class;
        held
    }

    fn add_classed(&mut self, entry: &Entry<'_>, from: &Arc<EntrySource>) -> Result<()> {
        let known = self.context.known;
        if entry.kind == Some(EntryKind::Directory) {
            self.report.tops.add(entry.path);
        }
        if !known.is_empty() {
            match known.find(entry, &mut self.cursors)? {
                KnownEntry::New => {}
                KnownEntry::Unchanged => {
                    self.report.unchanged += 1;
                    return Ok(());
                }
                KnownEntry::Changed(documents) => self.replaced.push(documents),
            }
        }
        self.hold(entry, from)
    }

    /// Takes an entry that must get a document.
    fn hold(&mut self, entry: &Entry<'_>, from: &Arc<EntrySource>) -> Result<()> {
        self.held.push(entry, from);
        if TAKES * self.held.bytes() > self.segments.limit { self.flush() } else { Ok(()) }
    }

    /// Writes the entries in memory as a segment. An entry without a type is a directory if others are below
    /// it.
    fn flush(&mut self) -> Result<()> {
        let mut hashes = Vec::with_capacity(self.held.len());
        let mut stamps = Vec::new();
        // Readers compare the stamp of a referenced file; everything else has its columns.
        let has_references = self.context.stored.store == Store::Reference;
        let (order, parents) = (self.held.in_order(), self.held.parents());
        for part in order.chunks(TOGETHER) {
            let mut entries: Vec<_> = part.iter().filter_map(|&number| self.held.get(number)).collect();
            for (entry, _) in &mut entries {
                hashes.push(PathHash::of(entry.path));
                if has_references {
                    stamps.push(entry.stamp());
                }
                if entry.kind.is_none() && (self.context.are_directories || parents.contains(entry.path)) {
                    entry.kind = Some(EntryKind::Directory);
                }
                self.inverter.end_document();
                if let Some(attributes) = &mut self.attributes {
                    attributes.add(entry);
                }
                self.stored.end_document((0, 0))?;
            }
            self.context.fields.push_all(&entries, &mut self.columns, &mut self.missing_dates)?;
        }
        drop(parents);
        self.columns.fill_up(self.inverter.max_doc())?;
        self.held.clear();
        let column = Some(PathsInColumn { field: self.context.fields.path(), hashes });
        let keys = Keys { stamps, column, ..Keys::default() };
        let mut fields = vec![(self.context.text, &mut self.inverter)];
        fields.extend(self.attributes.as_mut().map(AttributeWords::for_flush));
        let documents =
            LaneDocuments { fields, keys: &keys, stored: &mut self.stored, columns: &mut self.columns };
        let replaced = std::mem::take(&mut self.replaced);
        self.segments.write(documents, replaced, take_into(self.context))
    }

    /// Documents added so far.
    pub(super) fn documents(&self) -> u64 {
        self.segments.documents() + self.held.len() as u64
    }

    /// Writes what is left in memory, and waits until every segment is durable.
    pub(super) fn finish(mut self) -> Result<EntryReport> {
        if self.held.len() > 0 {
            self.flush()?;
        }
        self.segments.report.cut_terms = self.attributes.as_ref().map_or(0, AttributeWords::cut_words);
        self.segments.report.missing_dates = self.missing_dates.conflicts();
        self.segments.report.file_dates = self.missing_dates.files();
        let lane = self.segments.finish(take_into(self.context))?;
        Ok(EntryReport { lane, ..self.report })
    }
}

/// Adds durable segments to the next commit, together with the deletes of what they replace.
fn take_into<'a>(context: EntryContext<'a>) -> impl Fn(Flushed, Vec<SegmentDocuments>) -> Result<()> + 'a {
    let writer: &Writer<'_> = context.segments.writer;
    move |segment, replaced| {
        for documents in &replaced {
            // Deletes need open segments.
            writer.segment(documents.id)?;
        }
        let deleted = writer.take_in(Some(&segment), replaced, Vec::new());
        context.replaced.fetch_add(deleted, Ordering::Relaxed);
        Ok(())
    }
}

/// The entries of a batch in the order of the documents of a segment, in which known ones are found fastest.
fn in_document_order(batch: &EntryBatch) -> impl Iterator<Item = Entry<'_>> {
    let paths = (0..batch.len()).map(|number| (split_path(batch.path(number).unwrap_or_default()), number));
    let mut order: Vec<_> = paths.collect();
    order.sort_unstable();
    order.into_iter().filter_map(|(_, number)| batch.get(number))
}
