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

    /// Returns the stamp of the file `path` when it was indexed, and whether its documents are lines; `None`
    /// if the segment has no live document of the file.
    pub fn find(&self, path: &[u8]) -> Result<Option<(Stamp, bool)>> {
        let is = |flags: &Option<Vec<bool>>, path: u32, other: bool| {
            flags.as_ref().map_or(other, |flags| flags.get(path as usize) == Some(&true))
        };
        match self.keys.find_path(path)?.into_iter().find(|&path| is(&self.live, path, true)) {
            Some(path) => Ok(Some((self.keys.stamp(path)?, is(&self.lines, path, false)))),
            None => Ok(None),
        }
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
