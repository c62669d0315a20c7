//! Places of file systems that are not mounted now: their entries are not found, but they were not deleted.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::known::KnownEntries;
use super::tops::ancestors;
use crate::error::Result;

/// Finds such places above paths that a scan did not find.
pub(super) struct LostMounts<'k, 's> {
    known: &'k KnownEntries<'s>,
    /// The last directory that was looked at, and the place above it.
    last: Option<(Vec<u8>, Option<PathBuf>)>,
}

impl<'k, 's> LostMounts<'k, 's> {
    /// `known` is the index before the scan.
    pub(super) fn new(known: &'k KnownEntries<'s>) -> Self {
        LostMounts { known, last: None }
    }

    /// The directory above `path`, which is below `root`, that is the place of a lost file system: of the
    /// directories above it that exist, the lowest one is empty now, and was on another device before.
    pub(super) fn above(&mut self, path: &[u8], root: &[u8]) -> Result<Option<PathBuf>> {
        let Some(parent) = ancestors(path).nth(1) else { return Ok(None) };
        if let Some((last, place)) = &self.last
            && last == parent
        {
            return Ok(place.clone());
        }
        let place = self.lowest(parent, root)?;
        self.last = Some((parent.to_vec(), place.clone()));
        Ok(place)
    }

    fn lowest(&self, parent: &[u8], root: &[u8]) -> Result<Option<PathBuf>> {
        for bytes in ancestors(parent).take_while(|place| place.len() >= root.len()) {
            let place = Path::new(OsStr::from_bytes(bytes));
            let Ok(meta) = fs::symlink_metadata(place) else { continue };
            if !meta.is_dir() || fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some()) {
                return Ok(None);
            }
            let is_other = self.known.device_of(bytes)?.is_some_and(|device| device != meta.dev());
            return Ok(is_other.then(|| place.to_path_buf()));
        }
        Ok(None)
    }
}
