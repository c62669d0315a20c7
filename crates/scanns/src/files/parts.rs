//! Work on parts of the documents, on several threads.

use std::io;

use super::entries::EntryPart;
use crate::error::{Error, Result};

/// Does `work` for each part, each on a thread of its own, and returns the results in the order of the parts.
///
/// # Errors
/// The first error of `work`.
pub(super) fn for_each_part<T: Send>(
    parts: &[EntryPart],
    work: impl Fn(&EntryPart) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let Some((first, others)) = parts.split_first() else { return Ok(Vec::new()) };
    let work = &work;
    std::thread::scope(|scope| {
        let spawn = |part| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || work(part));
            thread.map_err(|_| part)
        };
        let helpers: Vec<_> = others.iter().map(spawn).collect();
        let mut done = vec![work(first)?];
        for helper in helpers {
            done.push(match helper {
                Ok(helper) => helper.join().map_err(|_| ended())??,
                // The system has no thread for it.
                Err(part) => work(part)?,
            });
        }
        Ok(done)
    })
}

fn ended() -> Error {
    Error::System {
        action: "read the entries",
        source: io::Error::other("a thread ended unexpectedly"),
        remedy: "this is a bug in scanns: please report it",
    }
}
