//! The documents of an index, compared with entries as they come.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::known_cursors::{KnownCursors, KnownValues};
use crate::column::ColumnKind;
use crate::error::Result;
use crate::index::access_column::access_field;
use crate::index::build::rare_fields::RareFields;
use crate::index::commit::indexed_files::{date_field, has_class, number_field};
use crate::index::commit::manifest::Manifest;
use crate::index::commit::writer::SegmentDocuments;
use crate::schema::{Field, Value, ValueRef};
use crate::segment::{KnownPaths, Segment};
use crate::source::{CLOCK_TICK, Entry, KnownPlace, fitting_date};

/// The documents of the segments that an index had before the import.
pub(super) struct KnownEntries<'s> {
    /// The latest segment first.
    segments: Vec<KnownSegment<'s>>,
    fields: KnownFields,
    /// Whether entries that have not changed are indexed again.
    again: bool,
}

/// The bits of a mode that say what an entry is, and those of a directory.
const TYPE_BITS: u64 = 0o170_000;
const DIRECTORY: u64 = 0o040_000;

/// The columns of numbers that are compared if times prove nothing.
const NUMBERS: [&str; 8] = ["size", "blocks", "uid", "gid", "mode", "inode", "links", "device"];
const SIZE: usize = 0;
const MODE: usize = 4;
const INODE: usize = 5;
const LINKS: usize = 6;
const DEVICE: usize = 7;

/// Fields of entries that are compared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownFields {
    /// The last change of the status.
    changed: Option<Field>,
    /// The last change of the content.
    modified: Option<Field>,
    /// The fields of [`NUMBERS`].
    numbers: [Option<Field>; NUMBERS.len()],
    /// The fields of extended attributes and ACLs.
    attributes: [Option<Field>; 2],
    /// The access class. It depends on the directories above an entry, whose changes no time of the entry
    /// shows.
    access: Option<Field>,
    /// From this time on, an entry may have changed after the last scan saw it although the time of its
    /// change is the same, because the clock stood still.
    uncertain: i64,
}

impl KnownFields {
    /// The fields of an index, of which the last scan began at `scanned`.
    pub(super) fn of(manifest: Option<&Manifest>, scanned: Option<i64>) -> Self {
        let rare = manifest.map(|manifest| RareFields::of(&manifest.schema)).unwrap_or_default();
        KnownFields {
            attributes: [rare.xattrs, rare.acl],
            access: manifest.and_then(|manifest| access_field(&manifest.schema, manifest.records)),
            changed: date_field(manifest, "ctime"),
            modified: date_field(manifest, "mtime"),
            numbers: NUMBERS.map(|name| number_field(manifest, name)),
            uncertain: scanned.map_or(i64::MAX, |scanned| scanned.saturating_sub(CLOCK_TICK)),
        }
    }

    /// The fields that are compared of every entry.
    fn compared(&self) -> [Option<Field>; 4] {
        let number = |at: usize| self.numbers.get(at).copied().flatten();
        [self.changed, self.modified, number(SIZE), number(INODE)]
    }
}

struct KnownSegment<'s> {
    segment: &'s Segment,
    paths: KnownPaths<'s>,
    /// By number of a path, a bit: whether an entry has this path.
    seen: Vec<AtomicU64>,
}

/// What the index has of an entry.
pub(super) enum KnownEntry {
    /// Nothing.
    New,
    /// A document that is still right.
    Unchanged,
    /// Documents that must be replaced.
    Changed(SegmentDocuments),
}

impl<'s> KnownEntries<'s> {
    /// The documents of `segments`.
    pub(super) fn new(segments: &'s [Segment], fields: KnownFields, again: bool) -> Result<Self> {
        let known = |segment: &'s Segment| {
            let paths = KnownPaths::of(segment)?;
            let seen = (0..paths.count().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
            Ok(KnownSegment { segment, paths, seen })
        };
        let segments = segments.iter().rev().map(known).collect::<Result<_>>()?;
        Ok(KnownEntries { segments, fields, again })
    }

    /// Looks up an entry, and notes that it still exists.
    ///
    /// An entry has not changed if its size, its inode, its modification time and the time of the last change
    /// of its status are the same, and the last one is older than the last scan; if it is not, all numbers
    /// and attributes must be the same, too. If this last time is unknown, its owner and its mode may be
    /// others. The inode tells apart files that were made at the same time and whose directories exchanged
    /// their names.
    ///
    /// `cursors` are the places of the thread that asks.
    pub(super) fn find(&self, entry: &Entry<'_>, cursors: &mut KnownCursors<'s>) -> Result<KnownEntry> {
        let Some((at, number)) = self.look_up(entry.path, cursors)? else { return Ok(KnownEntry::New) };
        let Some(KnownSegment { segment, paths, seen }) = self.segments.get(at) else {
            return Ok(KnownEntry::New);
        };
        if let Some(word) = seen.get(number as usize / 64) {
            word.fetch_or(1 << (number % 64), Ordering::Relaxed);
        }
        let document = paths.document(number);
        let known = match cursors.of(at, segment, paths, self.fields.compared()) {
            Some(cursor) => cursor.values(number, document)?,
            None => KnownValues::default(),
        };
        let order = |time: Option<i64>| {
            time.and_then(fitting_date).and_then(|time| ColumnKind::Date.order_of(ValueRef::Date(time)))
        };
        let changed = order(entry.ctime);
        let [.., inode] = self.fields.compared();
        // Not every dump has inodes.
        let inode = if inode.is_some() && entry.inode.is_some() { entry.inode } else { known.inode };
        let same = changed.is_some()
            && known == KnownValues { changed, modified: order(entry.mtime), size: entry.size, inode };
        let is_certain = entry.ctime.and_then(fitting_date) < Some(self.fields.uncertain);
        if same
            && !self.again
            && (is_certain
                || self.has_numbers(segment, document, entry)?
                    && self.has_attributes(segment, document, entry)?)
            && self.has_access(segment, document, entry)?
        {
            return Ok(KnownEntry::Unchanged);
        }
        let documents = segment.documents_of([entry.path])?;
        Ok(KnownEntry::Changed(SegmentDocuments { id: segment.id(), documents }))
    }

    /// The segment that has a live document with a path, and the number of the path in it.
    ///
    /// There is one segment at most. Segments that had the last entries are tried first, because entries of a
    /// directory come together and are in one segment, and so mostly are directories that are next to each
    /// other.
    fn look_up(&self, path: &[u8], cursors: &mut KnownCursors<'s>) -> Result<Option<(usize, u32)>> {
        if let Some(cursor) = cursors.last()
            && let (Some(known), Some(number)) = (self.segments.get(cursor.segment), cursor.next_is(path)?)
            && known.paths.is_live(number)
        {
            return Ok(Some((cursor.segment, number)));
        }
        let others = (0..self.segments.len()).filter(|&at| cursors.segments().all(|recent| recent != at));
        for at in cursors.segments().chain(others) {
            let Some(known) = self.segments.get(at) else { continue };
            if let Some(number) = known.paths.number(path)? {
                return Ok(Some((at, number)));
            }
        }
        Ok(None)
    }

    /// True if a document has the numbers of an entry.
    fn has_numbers(&self, segment: &Segment, document: u32, entry: &Entry<'_>) -> Result<bool> {
        let Entry { size, blocks, inode, links, device, .. } = *entry;
        let (uid, gid) = (entry.uid.map(u64::from), entry.gid.map(u64::from));
        let mode = entry.mode_with_type().map(u64::from);
        for (at, number) in [size, blocks, uid, gid, mode, inode, links, device].into_iter().enumerate() {
            if self.number(segment, document, at)? != number {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if a document has the extended attributes and the ACL of an entry.
    fn has_attributes(&self, segment: &Segment, document: u32, entry: &Entry<'_>) -> Result<bool> {
        for (field, text) in self.fields.attributes.into_iter().zip([entry.xattrs, entry.acl]) {
            let Some(field) = field else { continue };
            let mut values = Vec::new();
            if let Some(column) = segment.column(field) {
                column.values_of(document, &mut values)?;
            }
            let lines = text.into_iter().flat_map(|text| text.split(|&byte| byte == b'\n'));
            if !values.iter().map(Value::as_ref).eq(lines.map(ValueRef::Text)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if a document has the access class of an entry.
    fn has_access(&self, segment: &Segment, document: u32, entry: &Entry<'_>) -> Result<bool> {
        let Some(field) = self.fields.access else { return Ok(true) };
        has_class(segment.column(field), document, entry.access)
    }

    /// A number of [`NUMBERS`] of a document.
    fn number(&self, segment: &Segment, document: u32, at: usize) -> Result<Option<u64>> {
        let field = self.fields.numbers.get(at).copied().flatten();
        match value(segment, field, document)? {
            Some(Value::Unsigned(number)) => Ok(Some(number)),
            _ => Ok(None),
        }
    }

    /// The device on which the entry with a path was.
    pub(super) fn device_of(&self, path: &[u8]) -> Result<Option<u64>> {
        for KnownSegment { segment, paths, .. } in &self.segments {
            if let Some(known) = paths.find(path)? {
                return self.number(segment, paths.document(known.number), DEVICE);
            }
        }
        Ok(None)
    }

    /// What the index has at a path, and below it as far as this follows from the path itself. The second
    /// result is the inode of a file with several names.
    pub(super) fn place(&self, path: &[u8]) -> Result<(KnownPlace, Option<u64>)> {
        for KnownSegment { segment, paths, .. } in &self.segments {
            let Some(known) = paths.find(path)? else { continue };
            let number = |at| self.number(segment, paths.document(known.number), at);
            if number(MODE)?.is_none_or(|mode| mode & TYPE_BITS == DIRECTORY) {
                return Ok((KnownPlace::Directory { inode: number(INODE)?, device: number(DEVICE)? }, None));
            }
            let linked = number(LINKS)?.is_some_and(|links| links > 1);
            return Ok((KnownPlace::Other, if linked { number(INODE)? } else { None }));
        }
        Ok((KnownPlace::Nothing, None))
    }

    /// Calls `visit` with the path of every document whose inode is one of `inodes`.
    pub(super) fn each_of_inodes(&self, inodes: &HashSet<u64>, mut visit: impl FnMut(&[u8])) -> Result<()> {
        self.each_live(|path, number| {
            if number(INODE)?.is_some_and(|inode| inodes.contains(&inode)) {
                visit(path);
            }
            Ok(())
        })
    }

    /// Calls `visit` with the inode of every file with several names that has a document with a `wanted`
    /// path.
    pub(super) fn each_linked(
        &self,
        wanted: impl Fn(&[u8]) -> bool,
        mut visit: impl FnMut(u64),
    ) -> Result<()> {
        self.each_live(|path, number| {
            if wanted(path)
                && number(LINKS)?.is_some_and(|links| links > 1)
                && number(MODE)?.is_some_and(|mode| mode & TYPE_BITS != DIRECTORY)
                && let Some(inode) = number(INODE)?
            {
                visit(inode);
            }
            Ok(())
        })
    }

    /// Calls `visit` with the path of every document, and what tells its numbers.
    fn each_live(
        &self,
        mut visit: impl FnMut(&[u8], &dyn Fn(usize) -> Result<Option<u64>>) -> Result<()>,
    ) -> Result<()> {
        for KnownSegment { segment, paths, .. } in &self.segments {
            paths.each_live(
                |_| true,
                |number, path| {
                    let document = paths.document(number);
                    visit(path, &|at| self.number(segment, document, at))
                },
            )?;
        }
        Ok(())
    }

    /// The documents of paths, by segment, and the number of paths that have some.
    pub(super) fn documents_at<'p>(
        &self,
        wanted: impl Iterator<Item = &'p [u8]>,
    ) -> Result<(Vec<SegmentDocuments>, u64)> {
        let (wanted, mut count) = (wanted.collect::<Vec<_>>(), 0);
        let mut found = Vec::new();
        for KnownSegment { segment, paths, .. } in &self.segments {
            let mut live = Vec::new();
            for path in &wanted {
                if paths.find(path)?.is_some() {
                    live.push(*path);
                }
            }
            count += live.len() as u64;
            found.push(SegmentDocuments { id: segment.id(), documents: segment.documents_of(live)? });
        }
        found.retain(|documents| !documents.documents.is_empty());
        Ok((found, count))
    }

    /// The documents of paths that no entry had and that `gone` accepts, by segment, and their number.
    pub(super) fn unseen(
        &self,
        mut gone: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<(Vec<SegmentDocuments>, u64)> {
        let (mut found, mut count) = (Vec::new(), 0);
        for KnownSegment { segment, paths, seen } in &self.segments {
            let mut documents = Vec::<Range<u32>>::new();
            let is_unseen = |number: u32| {
                let word = seen.get(number as usize / 64).map_or(0, |word| word.load(Ordering::Relaxed));
                word >> (number % 64) & 1 == 0
            };
            paths.each_live(is_unseen, |number, path| {
                if !gone(path)? {
                    return Ok(());
                }
                count += 1;
                let document = paths.document(number);
                match documents.last_mut() {
                    Some(last) if last.end == document => last.end += 1,
                    _ => documents.push(document..document + 1),
                }
                Ok(())
            })?;
            documents.sort_unstable_by_key(|range| range.start);
            found.push(SegmentDocuments { id: segment.id(), documents });
        }
        Ok((found, count))
    }

    /// True if the index had no documents.
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
}

/// The first value of a document in the column of a field; none without this column.
fn value(segment: &Segment, field: Option<Field>, document: u32) -> Result<Option<Value>> {
    let Some(column) = field.and_then(|field| segment.column(field)) else { return Ok(None) };
    Ok(column.first(document)?.map(|order| column.kind().value_of(order)))
}
