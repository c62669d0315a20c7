//! Finds files that were reached by two paths, as `order.rs` does.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use super::file_record::{file_of, key_of, put_file};
use crate::error::{Error, Result};
use crate::source::stamp::Stamp;
use crate::source::walk_found::Identity;
use crate::store::{RecordSorter, SortedRecords};

/// The bytes of a device and an inode.
const IDENTITY: usize = 16;

/// Appends a file with its device and inode before its record.
pub(super) fn put_identified(out: &mut Vec<u8>, identity: Identity, path: &[u8], stamp: Stamp) {
    out.extend_from_slice(&identity.0.to_be_bytes());
    out.extend_from_slice(&identity.1.to_be_bytes());
    put_file(out, path, stamp);
}

/// Adds the keys of all but the first of several paths to the same file to `repeated`. Hard links are
/// different files.
pub(super) fn find_repeated(
    identified: &SortedRecords,
    repeated: &mut RecordSorter,
    cancel: &AtomicBool,
) -> Result<()> {
    let mut cursor = identified.read()?;
    let mut same: Vec<Vec<u8>> = Vec::new();
    let mut identity = Vec::new();
    loop {
        let record = cursor.record();
        let next = record.and_then(|record| record.split_at_checked(IDENTITY));
        match next {
            Some((own, file)) if own == identity.as_slice() => {
                if same.last().is_none_or(|last| key_of(last) != key_of(file)) {
                    same.push(file.to_vec());
                }
            }
            next => {
                add_repeated(&same, repeated)?;
                same.clear();
                let Some((own, file)) = next else { return Ok(()) };
                identity.clear();
                identity.extend_from_slice(own);
                same.push(file.to_vec());
            }
        }
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        cursor.advance()?;
    }
}

/// Of files with one device and inode, adds those whose resolved paths an earlier one has.
fn add_repeated(same: &[Vec<u8>], repeated: &mut RecordSorter) -> Result<()> {
    if same.len() < 2 {
        return Ok(());
    }
    let mut seen = HashSet::new();
    let mut path = Vec::new();
    for record in same {
        let Some(file) = file_of(record) else { continue };
        file.path_into(&mut path);
        let path = PathBuf::from(OsString::from_vec(path.clone()));
        if !seen.insert(path.canonicalize().unwrap_or(path)) {
            repeated.push(key_of(record))?;
        }
    }
    Ok(())
}
