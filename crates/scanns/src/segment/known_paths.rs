//! The files whose documents a segment contains; used to update an index.

use super::keys::{KeyReader, WHOLE_FILE};
use super::reader::Segment;
use crate::error::Result;
use crate::source::Stamp;

/// Finds the files that have live documents in a segment.
pub struct KnownPaths<'a> {
    keys: KeyReader<'a>,
    /// By path: whether it has a live document; `None` if every path has one.
    live: Option<Vec<bool>>,
    /// By path: whether its documents are lines; `None` if all documents are files.
    lines: Option<Vec<bool>>,
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
        let all = segment.live_documents() == u64::from(segment.stats().max_doc);
        if all && !keys.by_run() {
            return Ok(KnownPaths { keys, live: None, lines: None });
        }
        let mut live = vec![false; keys.paths() as usize];
        let mut lines = vec![false; keys.paths() as usize];
        for run in keys.runs()? {
            let (run, mut docs) = run?;
            if let (Some(live), Some(lines)) =
                (live.get_mut(run.path as usize), lines.get_mut(run.path as usize))
            {
                *live = *live || docs.any(|doc| segment.is_live(doc));
                *lines = run.first_line != WHOLE_FILE;
            }
        }
        Ok(KnownPaths { keys, live: Some(live), lines: Some(lines) })
    }

    /// Returns what the segment knows of the file `path`; `None` if it has no live document of the file.
    pub fn find(&self, path: &[u8]) -> Result<Option<KnownPath>> {
        match self.keys.find_path(path)?.into_iter().find(|&number| is(&self.live, number, true)) {
            Some(number) => {
                let lines = is(&self.lines, number, false);
                Ok(Some(KnownPath { number, stamp: self.keys.stamp(number)?, lines }))
            }
            None => Ok(None),
        }
    }

    /// The number of paths, including those without a live document.
    pub fn count(&self) -> usize {
        self.keys.paths() as usize
    }

    /// Calls `visit` with the number and the path of every file that has a live document.
    pub fn each_live(&self, mut visit: impl FnMut(u32, &[u8])) -> Result<()> {
        self.keys.each_path(|number, path| {
            if is(&self.live, number, true) {
                visit(number, path);
            }
            Ok(())
        })
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
