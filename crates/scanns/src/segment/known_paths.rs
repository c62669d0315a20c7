//! The files whose documents a segment contains; used to update an index.

use super::keys::{KeyReader, Stamps, StoredPathCursor, WHOLE_FILE};
use super::reader::Segment;
use crate::error::Result;
use crate::source::Stamp;

/// Finds the files that have live documents in a segment.
pub struct KnownPaths<'a> {
    keys: KeyReader<'a>,
    /// The stamps of the paths, if they have any.
    stamps: Option<Stamps>,
    /// By path: whether it has a live document; `None` if every path has one.
    live: Option<Vec<bool>>,
    /// By path: its first live document; `None` if it has the same number.
    documents: Option<Vec<u32>>,
    /// By path: whether its documents are lines; `None` if all documents are files.
    lines: Option<Vec<bool>>,
}

/// Reads the paths of a segment in about ascending order of their numbers.
pub struct KnownPathCursor<'a> {
    count: u32,
    paths: StoredPathCursor<'a>,
}

impl KnownPathCursor<'_> {
    /// Returns the path with a number; `None` behind the last.
    pub fn path(&mut self, number: u32) -> Result<Option<&[u8]>> {
        if number < self.count { self.paths.path(number).map(Some) } else { Ok(None) }
    }
}

/// A file that has live documents in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownPath {
    /// Its number in the segment.
    pub number: u32,
    /// Its stamp when it was indexed.
    pub stamp: Stamp,
    /// Whether its documents are lines.
    pub lines: bool,
}

impl<'a> KnownPaths<'a> {
    /// Returns the files of `segment`.
    pub fn of(segment: &'a Segment) -> Result<Self> {
        let keys = segment.keys()?;
        let stamps = keys.stamps()?;
        let all = segment.live_documents() == u64::from(segment.stats().max_doc);
        if all && !keys.by_run() {
            return Ok(KnownPaths { keys, stamps, live: None, documents: None, lines: None });
        }
        let mut live = vec![false; keys.paths() as usize];
        let mut lines = vec![false; keys.paths() as usize];
        let mut documents = vec![0; keys.paths() as usize];
        for run in keys.runs()? {
            let (run, mut docs) = run?;
            let path = run.path as usize;
            if let (Some(live), Some(lines), Some(document)) =
                (live.get_mut(path), lines.get_mut(path), documents.get_mut(path))
            {
                if !*live && let Some(doc) = docs.find(|&doc| segment.is_live(doc)) {
                    (*live, *document) = (true, doc);
                }
                *lines = run.first_line != WHOLE_FILE;
            }
        }
        Ok(KnownPaths { keys, stamps, live: Some(live), documents: Some(documents), lines: Some(lines) })
    }

    /// Returns the number of the file `path`; `None` if the segment has no live document of the file.
    pub fn number(&self, path: &[u8]) -> Result<Option<u32>> {
        Ok(self.keys.find_path(path)?.into_iter().find(|&number| self.is_live(number)))
    }

    /// Returns a cursor over all paths.
    pub fn cursor(&self) -> KnownPathCursor<'a> {
        KnownPathCursor { count: self.keys.paths(), paths: self.keys.path_cursor() }
    }

    /// Returns what the segment knows of the file `path`; `None` if it has no live document of the file.
    pub fn find(&self, path: &[u8]) -> Result<Option<KnownPath>> {
        match self.number(path)? {
            Some(number) => {
                let lines = is(&self.lines, number, false);
                let stamp = match &self.stamps {
                    Some(stamps) => stamps.get(number)?,
                    None => Stamp::default(),
                };
                Ok(Some(KnownPath { number, stamp, lines }))
            }
            None => Ok(None),
        }
    }

    /// The hash at a place in the order of hashes, and the number of its path; `None` behind the last.
    pub(super) fn hash_at(&self, index: usize) -> Result<Option<(u32, u32)>> {
        if index < self.count() { self.keys.hash(index).map(Some) } else { Ok(None) }
    }

    /// The path with a number.
    pub(super) fn path(&self, number: u32) -> Result<Vec<u8>> {
        self.keys.path(number)
    }

    /// True if a path has a live document.
    pub fn is_live(&self, number: u32) -> bool {
        is(&self.live, number, true)
    }

    /// The first live document of a path that has one.
    pub fn document(&self, number: u32) -> u32 {
        match &self.documents {
            Some(documents) => documents.get(number as usize).copied().unwrap_or(number),
            None => number,
        }
    }

    /// The number of paths, including those without a live document.
    pub fn count(&self) -> usize {
        self.keys.paths() as usize
    }

    /// Calls `visit` with the number and the path of every file that has a live document and whose number is
    /// `wanted`.
    pub fn each_live(
        &self,
        wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = self.cursor();
        for number in (0..self.keys.paths()).filter(|&number| self.is_live(number) && wanted(number)) {
            if let Some(path) = cursor.path(number)? {
                visit(number, path)?;
            }
        }
        Ok(())
    }

    /// Calls `visit` with every path whose documents are lines.
    pub fn each_of_lines(&self, mut visit: impl FnMut(&[u8])) -> Result<()> {
        let Some(lines) = &self.lines else { return Ok(()) };
        self.keys.each_path(|number, path| {
            if lines.get(number as usize) == Some(&true) {
                visit(path);
            }
            Ok(())
        })
    }
}

/// The flag of a path, or `other` if there are no flags.
fn is(flags: &Option<Vec<bool>>, number: u32, other: bool) -> bool {
    flags.as_ref().map_or(other, |flags| flags.get(number as usize) == Some(&true))
}
