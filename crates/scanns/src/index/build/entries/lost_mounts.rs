//! Places of file systems that are not mounted now: their entries are not found, but they were not deleted.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::known::KnownEntries;
use crate::error::Result;
use crate::source::ancestors;

/// Finds such places above paths that a scan did not find.
pub(super) struct LostMounts<'k, 's> {
    known: &'k KnownEntries<'s>,
    /// The last directory that was looked at, and the empty directory that is left of it.
    last: Option<(Vec<u8>, Option<EmptyPlace>)>,
}

/// An empty directory, and its device.
#[derive(Clone)]
struct EmptyPlace {
    path: PathBuf,
    device: u64,
}

impl<'k, 's> LostMounts<'k, 's> {
    /// `known` is the index before the scan.
    pub(super) fn new(known: &'k KnownEntries<'s>) -> Self {
        LostMounts { known, last: None }
    }

    /// The directory above `path`, which is below `root`, that is the place of a lost file system: of the
    /// directories above it that exist, the lowest one is empty now and on another device than `path` was.
    pub(super) fn above(&mut self, path: &[u8], root: &[u8]) -> Result<Option<PathBuf>> {
        let Some(parent) = ancestors(path).nth(1) else { return Ok(None) };
        let place = match &self.last {
            Some((last, place)) if last == parent => place.clone(),
            _ => lowest(parent, root),
        };
        self.last = Some((parent.to_vec(), place.clone()));
        let Some(EmptyPlace { path: place, device }) = place else { return Ok(None) };
        // The place itself may have been indexed since the file system was lost, but not what was below it.
        let was = self.known.device_of(path)?;
        Ok(was.is_some_and(|was| was != device).then_some(place))
    }
}

/// The lowest directory at or above `parent` that exists, if it is empty.
fn lowest(parent: &[u8], root: &[u8]) -> Option<EmptyPlace> {
    for bytes in ancestors(parent).take_while(|place| place.len() >= root.len()) {
        let place = Path::new(OsStr::from_bytes(bytes));
        let Ok(meta) = fs::symlink_metadata(place) else { continue };
        if !meta.is_dir() || fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some()) {
            return None;
        }
        return Some(EmptyPlace { path: place.to_path_buf(), device: meta.dev() });
    }
    None
}
