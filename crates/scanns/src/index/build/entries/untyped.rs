//! Entries without a type that others are below: they are directories.
//!
//! Index threads find them among the entries of a segment. Where the others are in another segment, they are
//! found here: a merge of the sorted directories of all segments has each directory once, and an entry of its
//! path without a type is indexed again as a directory. Memory holds a part of these entries. Nothing is read
//! if all documents have types.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::lane::{EntryContext, EntryIndexer};
use super::tops::around;
use crate::column::{Column, DictionaryReader, TermCursor};
use crate::error::Result;
use crate::index::build::file_fields::EntrySource;
use crate::index::commit::writer::SegmentDocuments;
use crate::schema::{Schema, Value};
use crate::segment::{KnownPaths, Segment};
use crate::source::Entry;

/// Entries that are indexed again together.
const BATCH: usize = 1 << 14;

/// The most ranges of documents in which an entry below a directory is looked for. If there are more, one of
/// them is taken to have it.
const MOST_RANGES: usize = 4_096;

/// The columns of an entry; its type is not known.
const COLUMNS: [&str; 21] = [
    "path", "target", "owner", "group", "mtime", "atime", "ctime", "btime", "size", "blocks", "uid", "gid",
    "mode", "inode", "links", "device", "stripes", "pool", "project", "source", "scanned",
];

/// A segment with its directories.
struct LookedSegment<'s> {
    segment: &'s Segment,
    known: KnownPaths<'s>,
    paths: &'s Column,
    terms: &'s DictionaryReader,
    types: Option<&'s Column>,
    /// True if all documents have types.
    has_types: bool,
}

/// The entry at a path.
enum EntryType {
    /// There is none.
    NoEntry,
    Known,
    /// The type of this document is not known.
    Unknown(u32),
}

/// Indexes entries without a type in `segments`, which are those of the next commit, again as directories, if
/// others are below them. Returns the number of new segments.
pub(super) fn index_parents(segments: &[Segment], context: EntryContext<'_>) -> Result<usize> {
    let looked =
        segments.iter().filter_map(|segment| LookedSegment::new(segment, context.schema).transpose());
    let looked = looked.collect::<Result<Vec<_>>>()?;
    if looked.iter().all(|segment| segment.has_types) {
        return Ok(0);
    }
    let mut again = EntriesAgain::new(&looked, EntryContext { are_directories: true, ..context })?;
    each_directory(&looked, |at, directory| {
        let others = (0..looked.len()).filter(|&other| other != at);
        for at in std::iter::once(at).chain(others) {
            let Some(segment) = looked.get(at) else { continue };
            match segment.find(directory)? {
                EntryType::NoEntry => {}
                EntryType::Known => break,
                EntryType::Unknown(document) => {
                    if looked.iter().try_fold(false, |has, one| Ok(has || one.has_below(directory)?))? {
                        again.push(at, document)?;
                    }
                    break;
                }
            }
        }
        Ok(())
    })?;
    again.finish()
}

impl<'s> LookedSegment<'s> {
    /// `None` if documents are not entries.
    fn new(segment: &'s Segment, schema: &Schema) -> Result<Option<Self>> {
        let column = |name: &str| segment.column(schema.field(name)?);
        let Some(paths) = column("path") else { return Ok(None) };
        let Some(terms) = paths.terms() else { return Ok(None) };
        let types = column("type");
        let has_types = types.map_or(0, Column::present) == u64::from(segment.stats().max_doc);
        let known = KnownPaths::of(segment)?;
        Ok(Some(LookedSegment { segment, known, paths, terms, types, has_types }))
    }

    /// The entry at a path, if its type may be unknown.
    fn find(&self, path: &[u8]) -> Result<EntryType> {
        if self.has_types {
            return Ok(EntryType::NoEntry);
        }
        let Some(known) = self.known.find(path)? else { return Ok(EntryType::NoEntry) };
        let document = self.known.document(known.number);
        let kind = self.types.map_or(Ok(None), |types| types.first(document))?;
        Ok(if kind.is_some() { EntryType::Known } else { EntryType::Unknown(document) })
    }

    /// True if the segment has an entry below a directory.
    fn has_below(&self, directory: &[u8]) -> Result<bool> {
        let mut prefix = directory.to_vec();
        if !prefix.ends_with(b"/") {
            prefix.push(b'/');
        }
        let below = self.terms.prefix_range(&prefix)?;
        if below.is_empty() {
            return Ok(false);
        }
        let ranges = self.paths.ranges_within(below.start.into(), u64::from(below.end) - 1, MOST_RANGES)?;
        let is_live =
            |ranges: Vec<Range<u32>>| ranges.into_iter().flatten().any(|doc| self.segment.is_live(doc));
        Ok(ranges.is_none_or(is_live))
    }
}

/// Calls `visit` once with the path of every directory around an entry, and with the number of a segment that
/// has entries there.
fn each_directory(
    segments: &[LookedSegment<'_>],
    mut visit: impl FnMut(usize, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut cursors: Vec<TermCursor<'_>> =
        segments.iter().map(|segment| segment.terms.cursor_from(0)).collect();
    let mut heads = BinaryHeap::new();
    let next = |at: usize, cursors: &mut Vec<TermCursor<'_>>| -> Result<_> {
        let Some(cursor) = cursors.get_mut(at) else { return Ok(None) };
        Ok(cursor.next()?.map(|(_, term)| Reverse((term.to_vec(), at))))
    };
    for at in 0..segments.len() {
        heads.extend(next(at, &mut cursors)?);
    }
    let mut last = Vec::new();
    while let Some(Reverse((directory, at))) = heads.pop() {
        let shared = directory.iter().zip(&last).take_while(|(one, other)| one == other).count();
        // Those that end at a slash which the last directory has, too, were visited.
        let is_new = |place: &&[u8]| if *place == b"/" { shared == 0 } else { place.len() >= shared };
        around(&directory).take_while(is_new).try_for_each(|place| visit(at, place))?;
        last = directory;
        heads.extend(next(at, &mut cursors)?);
    }
    Ok(())
}

/// Entries that are indexed again.
struct EntriesAgain<'a> {
    context: EntryContext<'a>,
    indexer: EntryIndexer<'a>,
    segments: &'a [LookedSegment<'a>],
    /// By segment, the documents of the next part.
    documents: Vec<Vec<u32>>,
    count: usize,
    /// The source of the last entry.
    from: Arc<EntrySource>,
}

impl<'a> EntriesAgain<'a> {
    fn new(segments: &'a [LookedSegment<'a>], context: EntryContext<'a>) -> Result<Self> {
        let indexer = EntryIndexer::new(context)?;
        let from = Arc::new(EntrySource { name: Vec::new(), scanned: 0 });
        Ok(EntriesAgain {
            context,
            indexer,
            segments,
            documents: vec![Vec::new(); segments.len()],
            count: 0,
            from,
        })
    }

    fn push(&mut self, segment: usize, document: u32) -> Result<()> {
        if let Some(documents) = self.documents.get_mut(segment) {
            documents.push(document);
            self.count += 1;
        }
        if self.count >= BATCH { self.index() } else { Ok(()) }
    }

    /// Indexes a part of the entries, and deletes their documents.
    fn index(&mut self) -> Result<()> {
        let segments = self.segments;
        let mut deletions = Vec::new();
        for (at, looked) in segments.iter().enumerate() {
            let mut documents = self.documents.get_mut(at).map(std::mem::take).unwrap_or_default();
            documents.sort_unstable();
            let rows = EntryRows::read(looked.segment, self.context.schema, &documents)?;
            for row in 0..documents.len() {
                self.add(&rows, row)?;
            }
            let documents = documents.into_iter().map(|document| document..document + 1).collect();
            deletions.push(SegmentDocuments { id: looked.segment.id(), documents });
        }
        deletions.retain(|deleted| !deleted.documents.is_empty());
        self.context.segments.writer.take_in(None, deletions, Vec::new());
        self.count = 0;
        Ok(())
    }

    fn add(&mut self, rows: &EntryRows, row: usize) -> Result<()> {
        let name = rows.text("source", row).unwrap_or_default();
        let scanned = rows.date("scanned", row).unwrap_or_default();
        if (self.from.name.as_slice(), self.from.scanned) != (name, scanned) {
            self.from = Arc::new(EntrySource { name: name.to_vec(), scanned });
        }
        self.indexer.hold_again(&rows.entry(row), &self.from)
    }

    /// Indexes the rest. Returns the number of new segments.
    fn finish(mut self) -> Result<usize> {
        self.index()?;
        Ok(self.indexer.finish()?.lane.segments.len())
    }
}

/// The values of documents, by column of [`COLUMNS`].
struct EntryRows(Vec<Vec<Vec<Value>>>);

impl EntryRows {
    fn read(segment: &Segment, schema: &Schema, documents: &[u32]) -> Result<Self> {
        let values = |name: &&str| {
            let mut rows = vec![Vec::new(); documents.len()];
            if let Some(column) = schema.field(name).and_then(|field| segment.column(field)) {
                column.values_of_each(documents, &mut rows)?;
            }
            Ok(rows)
        };
        COLUMNS.iter().map(values).collect::<Result<_>>().map(EntryRows)
    }

    fn value(&self, name: &str, row: usize) -> Option<&Value> {
        let at = COLUMNS.iter().position(|known| *known == name)?;
        self.0.get(at)?.get(row)?.first()
    }

    fn text(&self, name: &str, row: usize) -> Option<&[u8]> {
        match self.value(name, row)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn date(&self, name: &str, row: usize) -> Option<i64> {
        match self.value(name, row)? {
            Value::Date(date) => Some(*date),
            _ => None,
        }
    }

    fn number(&self, name: &str, row: usize) -> Option<u64> {
        match self.value(name, row)? {
            Value::Unsigned(number) => Some(*number),
            _ => None,
        }
    }

    fn entry(&self, row: usize) -> Entry<'_> {
        let short = |name| self.number(name, row).and_then(|number| u32::try_from(number).ok());
        Entry {
            path: self.text("path", row).unwrap_or_default(),
            target: self.text("target", row),
            owner: self.text("owner", row),
            group: self.text("group", row),
            mtime: self.date("mtime", row),
            atime: self.date("atime", row),
            ctime: self.date("ctime", row),
            btime: self.date("btime", row),
            size: self.number("size", row),
            blocks: self.number("blocks", row),
            uid: short("uid"),
            gid: short("gid"),
            mode: short("mode"),
            inode: self.number("inode", row),
            links: self.number("links", row),
            device: self.number("device", row),
            stripes: self.number("stripes", row),
            pool: self.text("pool", row),
            project: self.number("project", row),
            // No dump has the others.
            ..Entry::default()
        }
    }
}
