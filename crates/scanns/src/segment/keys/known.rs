//! Which files a segment has documents of, for whoever brings an index up to date.

use super::WHOLE_FILE;
use super::read::KeyReader;
use crate::error::Result;
use crate::segment::Segment;
use crate::source::Stamp;

/// Finds the files of which a segment has documents that are not deleted.
pub struct KnownPaths<'a> {
    keys: KeyReader<'a>,
    /// By path: whether a document of it is left; `None` if all are.
    left: Option<Vec<bool>>,
    /// By path: whether its documents are lines; `None` if they are files.
    lines: Option<Vec<bool>>,
}

impl<'a> KnownPaths<'a> {
    /// The files of `segment`.
    pub fn of(segment: &'a Segment) -> Result<Self> {
        let keys = segment.keys()?;
        let all = segment.live_documents() == u64::from(segment.stats().max_doc);
        if all && !keys.by_run() {
            return Ok(KnownPaths { keys, left: None, lines: None });
        }
        let mut left = vec![false; keys.paths() as usize];
        let mut lines = vec![false; keys.paths() as usize];
        keys.each_run(|run, docs| {
            if let (Some(left), Some(lines)) =
                (left.get_mut(run.path as usize), lines.get_mut(run.path as usize))
            {
                *left = *left || docs.into_iter().any(|doc| segment.is_live(doc));
                *lines = run.first_line != WHOLE_FILE;
            }
            Ok(())
        })?;
        Ok(KnownPaths { keys, left: Some(left), lines: Some(lines) })
    }

    /// What the file `path` was like when it was indexed, and whether its lines are documents; `None` if no document of
    /// it is here.
    pub fn find(&self, path: &[u8]) -> Result<Option<(Stamp, bool)>> {
        let is = |flags: &Option<Vec<bool>>, path: u32, other: bool| {
            flags.as_ref().map_or(other, |flags| flags.get(path as usize) == Some(&true))
        };
        match self.keys.find_path(path)?.into_iter().find(|&path| is(&self.left, path, true)) {
            Some(path) => Ok(Some((self.keys.stamp(path)?, is(&self.lines, path, false)))),
            None => Ok(None),
        }
    }

    /// Calls `visit` with every path whose lines are documents.
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
