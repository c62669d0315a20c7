//! The documents of an index, compared with entries as they come.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::index::commit::writer::SegmentDocuments;
use crate::schema::Field;
use crate::segment::{KnownPaths, Segment};
use crate::source::{Entry, fitting_date};

/// The documents of the segments that an index had before the import.
pub(super) struct KnownEntries<'s> {
    /// The latest segment first.
    segments: Vec<KnownSegment<'s>>,
    /// Whether entries that have not changed are indexed again.
    again: bool,
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
    /// The documents of `segments`; `changed` is the field of the last change of the status of entries.
    pub(super) fn new(segments: &'s [Segment], changed: Option<Field>, again: bool) -> Result<Self> {
        let known = |segment: &'s Segment| {
            let paths = KnownPaths::of(segment, changed)?;
            let seen = (0..paths.count().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
            Ok(KnownSegment { segment, paths, seen })
        };
        let segments = segments.iter().rev().map(known).collect::<Result<_>>()?;
        Ok(KnownEntries { segments, again })
    }

    /// Looks up an entry, and notes that it still exists.
    ///
    /// An entry has not changed if its size, its modification time and the time of the last change of its
    /// status are the same. If this last time is unknown, its owner and its mode may be others.
    pub(super) fn find(&self, entry: &Entry<'_>) -> Result<KnownEntry> {
        for KnownSegment { segment, paths, seen } in &self.segments {
            let Some(known) = paths.find(entry.path)? else { continue };
            if let Some(word) = seen.get(known.number as usize / 64) {
                word.fetch_or(1 << (known.number % 64), Ordering::Relaxed);
            }
            let changed = entry.ctime.and_then(fitting_date);
            let same = changed.is_some() && changed == known.changed && known.stamp == entry.stamp();
            if same && !self.again {
                return Ok(KnownEntry::Unchanged);
            }
            let documents = segment.documents_of([entry.path])?;
            return Ok(KnownEntry::Changed(SegmentDocuments { id: segment.id(), documents }));
        }
        Ok(KnownEntry::New)
    }

    /// The documents of paths that no entry had and that `gone` accepts, by segment, and their number.
    pub(super) fn unseen(&self, gone: impl Fn(&[u8]) -> bool) -> Result<(Vec<SegmentDocuments>, u64)> {
        let (mut found, mut count) = (Vec::new(), 0);
        for KnownSegment { segment, paths, seen } in &self.segments {
            let mut documents: Vec<Range<u32>> = Vec::new();
            paths.each_live(|number, path| {
                let word = seen.get(number as usize / 64).map_or(0, |word| word.load(Ordering::Relaxed));
                if word >> (number % 64) & 1 == 1 || !gone(path) {
                    return;
                }
                count += 1;
                let document = paths.document(number);
                match documents.last_mut() {
                    Some(last) if last.end == document => last.end += 1,
                    _ => documents.push(document..document + 1),
                }
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
