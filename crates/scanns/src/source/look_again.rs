//! Looks again at files that an earlier walk found, in the order of that walk.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{fs, io};

use crate::error::{Error, Result};
use crate::source::entry_kind::EntryKind;
use crate::source::inputs::{Failure, Input};
use crate::source::walk::input_of;

/// The number of files that a thread takes at a time.
const BATCH: usize = 64;

/// Looks at every path with several threads, and returns what is there, in the order of the paths. Symbolic
/// links are followed. With `status`, the metadata of files is kept.
///
/// # Errors
/// [`Error::Cancelled`] if `cancel` was set.
pub fn look_again(
    paths: &[PathBuf],
    status: bool,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Vec<Result<Input, Failure>>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while !cancel.load(Ordering::Relaxed) {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(batch) = paths.get(start..paths.len().min(start.saturating_add(BATCH))) else { break };
            if batch.is_empty() {
                break;
            }
            found.push((start, batch.iter().map(|path| look(path, status)).collect::<Vec<_>>()));
        }
        found
    };
    let threads = threads.min(paths.len().div_ceil(BATCH));
    let mut parts = std::thread::scope(|scope| -> Result<Vec<_>> {
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let helpers: Vec<_> = (1..threads).map_while(spawn).collect();
        let mut parts = work();
        for helper in helpers {
            parts.extend(
                helper.join().map_err(|panic| Error::panicked("a thread that looks at files", &*panic))?,
            );
        }
        Ok(parts)
    })?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    parts.sort_unstable_by_key(|(start, _)| *start);
    Ok(parts.into_iter().flat_map(|(_, found)| found).collect())
}

fn look(path: &Path, status: bool) -> Result<Input, Failure> {
    let failed = |error: io::Error| Failure { path: path.to_path_buf(), reason: error.to_string() };
    let meta = fs::metadata(path).map_err(failed)?;
    let kind = EntryKind::of(meta.file_type());
    if kind != EntryKind::File {
        return Err(failed(io::Error::other("it is not a regular file any more")));
    }
    Ok(input_of(path.to_path_buf(), &meta, None, status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_comes_in_the_order_of_the_paths() {
        let place = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> =
            (0..300).rev().map(|number| place.path().join(number.to_string())).collect();
        for path in paths.iter().skip(1) {
            fs::write(path, path.as_os_str().as_encoded_bytes()).unwrap();
        }
        fs::create_dir(&paths[0]).unwrap();
        fs::remove_file(&paths[200]).unwrap();
        let found = look_again(&paths, true, 3, &AtomicBool::new(false)).unwrap();
        assert_eq!(found.len(), paths.len());
        for (number, (found, path)) in found.iter().zip(&paths).enumerate() {
            match found {
                Ok(input) => {
                    assert_eq!((&input.path, input.bytes), (path, path.as_os_str().len() as u64));
                    assert!(input.status.is_some());
                }
                Err(failure) => assert!([0, 200].contains(&number) && failure.path == *path, "{failure:?}"),
            }
        }
        assert!(found[0].is_err() && found[200].is_err());
        assert!(look_again(&paths, false, 1, &AtomicBool::new(true)).is_err());
        assert!(look_again(&[], false, 4, &AtomicBool::new(false)).unwrap().is_empty());
    }
}
