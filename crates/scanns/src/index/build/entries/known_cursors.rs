//! Where an index thread is among the documents of an index.
//!
//! Documents of a directory follow each other, in the order of names. Entries that come in this order are
//! found and compared by reading on, in the paths and in the columns.

use crate::column::ColumnCursor;
use crate::error::Result;
use crate::schema::Field;
use crate::segment::{KnownPathCursor, KnownPaths, Segment};

/// The segments in which a thread remembers its place. Directories that are next to each other on the medium
/// may be in different segments.
const MOST: usize = 8;

/// The places of an index thread, the one of the last entry at the end.
#[derive(Default)]
pub(super) struct KnownCursors<'s>(Vec<KnownCursor<'s>>);

/// A place among the documents of a segment.
pub(super) struct KnownCursor<'s> {
    /// The place of the segment among all.
    pub(super) segment: usize,
    /// The number of the path after the last one that was found.
    next: u32,
    paths: KnownPathCursor<'s>,
    changed: Option<ColumnCursor<'s>>,
    modified: Option<ColumnCursor<'s>>,
    size: Option<ColumnCursor<'s>>,
    inode: Option<ColumnCursor<'s>>,
}

/// The values of a document that tell whether its entry has changed, as integers with the order of the
/// values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownValues {
    pub(super) changed: Option<u64>,
    pub(super) modified: Option<u64>,
    pub(super) size: Option<u64>,
    pub(super) inode: Option<u64>,
}

impl<'s> KnownCursors<'s> {
    /// The place of the last entry.
    pub(super) fn last(&mut self) -> Option<&mut KnownCursor<'s>> {
        self.0.last_mut()
    }

    /// The segments of all places, the one of the last entry first.
    pub(super) fn segments(&self) -> impl Iterator<Item = usize> {
        self.0.iter().rev().map(|cursor| cursor.segment)
    }

    /// The place in a segment, which becomes the last one. `fields` are those of the last change of the
    /// status and of the content, of the size and of the inode.
    pub(super) fn of(
        &mut self,
        at: usize,
        segment: &'s Segment,
        paths: &KnownPaths<'s>,
        fields: [Option<Field>; 4],
    ) -> Option<&mut KnownCursor<'s>> {
        match self.0.iter().rposition(|cursor| cursor.segment == at) {
            Some(place) => self.0.get_mut(place..)?.rotate_left(1),
            None => {
                if self.0.len() >= MOST {
                    self.0.remove(0);
                }
                self.0.push(KnownCursor::new(at, segment, paths, fields));
            }
        }
        self.0.last_mut()
    }
}

impl<'s> KnownCursor<'s> {
    fn new(at: usize, segment: &'s Segment, paths: &KnownPaths<'s>, fields: [Option<Field>; 4]) -> Self {
        let column =
            |field: Option<Field>| field.and_then(|field| segment.column(field)).map(ColumnCursor::new);
        let [changed, modified, size, inode] = fields.map(column);
        KnownCursor { segment: at, next: 0, paths: paths.cursor(), changed, modified, size, inode }
    }

    /// The number of the path after the last one, if it is this one.
    pub(super) fn next_is(&mut self, path: &[u8]) -> Result<Option<u32>> {
        let is_next = self.paths.path(self.next)? == Some(path);
        Ok(is_next.then_some(self.next))
    }

    /// Moves behind the path with a number, and returns the values of its document.
    pub(super) fn values(&mut self, number: u32, document: u32) -> Result<KnownValues> {
        self.next = number.saturating_add(1);
        let first = |column: &mut Option<ColumnCursor<'s>>| match column {
            Some(column) => column.first(document),
            None => Ok(None),
        };
        Ok(KnownValues {
            changed: first(&mut self.changed)?,
            modified: first(&mut self.modified)?,
            size: first(&mut self.size)?,
            inode: first(&mut self.inode)?,
        })
    }
}
