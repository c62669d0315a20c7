//! Which files a segment has documents of, for whoever brings an index up to date.

use super::read::KeyReader;
use crate::error::Result;
use crate::segment::Segment;
use crate::source::Stamp;

/// Finds the files of which a segment has documents that are not deleted.
pub struct KnownPaths<'a> {
    keys: KeyReader<'a>,
    /// By path: whether a document of it is left; `None` if nothing is deleted.
    left: Option<Vec<bool>>,
}

impl<'a> KnownPaths<'a> {
    /// The files of `segment`.
    pub fn of(segment: &'a Segment) -> Result<Self> {
        let keys = segment.keys()?;
        if segment.live_documents() == u64::from(segment.stats().max_doc) {
            return Ok(KnownPaths { keys, left: None });
        }
        let mut left = vec![false; keys.paths() as usize];
        keys.each_run(|run, docs| {
            if let Some(left) = left.get_mut(run.path as usize) {
                *left = *left || docs.into_iter().any(|doc| segment.is_live(doc));
            }
            Ok(())
        })?;
        Ok(KnownPaths { keys, left: Some(left) })
    }

    /// What the file `path` was like when it was indexed; `None` if no document of it is here.
    pub fn find(&self, path: &[u8]) -> Result<Option<Stamp>> {
        let left = |path: &u32| self.left.as_ref().is_none_or(|left| left.get(*path as usize) == Some(&true));
        match self.keys.find_path(path)?.into_iter().find(left) {
            Some(path) => self.keys.stamp(path).map(Some),
            None => Ok(None),
        }
    }
}
