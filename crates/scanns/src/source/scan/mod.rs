//! Lists file trees with the values of all entries, without keeping them: batches of entries go to the caller
//! while the scan goes on.
//!
//! Threads list directories by descriptors and read the values of each part of a listing at once, which
//! network file systems answer from what they read ahead. Memory depends on the depth of the trees, the
//! threads, and the subdirectories of the directories that are being listed; it does not grow with the number
//! of files.
//!
//! Start with [`scan`], or with [`look`] for chosen paths (`look.rs`, `places.rs`). `listing.rs` has the loop
//! of a thread, `entries.rs` decides what happens with a name, and `worker.rs` has what both use.
//! `directory.rs` and `opening.rs` keep and open directories, and `queue.rs` distributes work. `roots.rs` and
//! `links.rs` say what is scanned, and `special.rs` and `rules.rs` what is left out. `attributes.rs` adds
//! extended attributes and ACLs (`attribute_reader.rs`, `acl_text.rs`), and `entry_access.rs` the rights of
//! users (`access.rs`).

mod access;
mod acl_text;
mod attribute_reader;
mod attributes;
mod batch_writer;
mod directory;
mod entries;
mod entry_access;
mod found_link;
mod links;
mod listing;
mod look;
mod names;
mod opening;
mod options;
mod pace;
mod places;
mod queue;
mod report;
mod roots;
mod rules;
mod special;
mod status;
mod worker;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};

use rustix::process::{Resource, getrlimit};

use crate::error::{Error, Result};
use crate::source::access::Way;
use crate::source::entry_batch::EntryBatch;
use crate::source::filter::Filter;
use crate::source::ignore::UserRules;
use crate::source::options::SourceOptions;
use crate::sys::unpoisoned;
use directory::KeptDescriptors;
use found_link::FoundLinks;
use links::FollowedLinks;
use opening::Opener;
pub use options::ScanOptions;
use pace::Pace;
pub use places::{KnownPlace, Look, LookReport};
use queue::ScanQueue;
pub use report::{ScanReport, ScannedRoot};
use worker::{ScanShared, ScanWorker};

/// Lists the trees that `options` name, and passes their entries to `send`, with absolute paths and in no
/// order. Several threads call `send` at once. The scan ends early if it returns false, or when `stop` is
/// set; entries that were found until then have been sent.
///
/// A directory is listed as an entry before anything below it is listed, by the same thread or another one.
///
/// # Errors
/// Invalid globs. What cannot be read is no error, but in [`ScanReport::unread`].
pub fn scan(
    options: &ScanOptions,
    stop: &AtomicBool,
    send: &(dyn Fn(EntryBatch) -> bool + Sync),
) -> Result<ScanReport> {
    scan_with(options, None, stop, send, most_descriptors())
}

/// Looks only at some paths at and below the named ones, see `look.rs`. Links in directories are not
/// followed.
///
/// # Errors
/// As of [`scan`].
pub fn look(
    options: &ScanOptions,
    look: Look<'_>,
    stop: &AtomicBool,
    send: &(dyn Fn(EntryBatch) -> bool + Sync),
) -> Result<(ScanReport, LookReport)> {
    let report = scan_with(options, Some(&look), stop, send, most_descriptors())?;
    Ok((report, unpoisoned(look.report.into_inner())))
}

/// A quarter of the descriptors that this process may have: others are needed for the index.
fn most_descriptors() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(limit / 4).unwrap_or(usize::MAX).min(4096)
}

fn scan_with<'a>(
    options: &'a ScanOptions,
    look: Option<&'a Look<'a>>,
    stop: &'a AtomicBool,
    send: &'a (dyn Fn(EntryBatch) -> bool + Sync),
    most_descriptors: usize,
) -> Result<ScanReport> {
    let ScanOptions { include, exclude, skip_hidden, .. } = options.clone();
    let filter = Filter::new(&SourceOptions { include, exclude, skip_hidden, ..SourceOptions::default() })?;
    let mut report = ScanReport::default();
    let opener = Opener::new();
    let named = roots::named_paths(&options.paths, &opener, &mut report);
    let user = options.gitignore.then(|| UserRules::of_process(&mut report.rule_faults));
    let mut shared = ScanShared {
        options,
        filter: &filter,
        user,
        stop,
        send,
        refused: AtomicBool::new(false),
        queue: ScanQueue::default(),
        opener,
        kept: Arc::new(KeptDescriptors::new(most_descriptors)),
        pace: options.max_operations.map(Pace::new),
        left_out: options.leave_out.as_deref().and_then(identity),
        failures: AtomicUsize::new(report.unread.len()),
        visited: Mutex::new(roots::directories(&named)),
        claims: roots::claims(&named),
        without_attributes: Mutex::default(),
        way: options.access.as_ref().map(|covered| Mutex::new(Way::new(covered, &options.paths))),
        look,
    };
    let mut links = round(&shared, &mut report, |worker| match look {
        Some(look) => worker.begin_look(&named, look),
        None => worker.begin_named(&named),
    })?;
    let mut followed = FollowedLinks::default();
    while !links.is_empty() && !shared.stopped() {
        shared.queue = ScanQueue::default();
        links = round(&shared, &mut report, |worker| worker.begin_links(links, &mut followed))?;
    }
    let files = std::mem::take(&mut followed.others);
    if !files.is_empty() {
        shared.queue = ScanQueue::default();
        round(&shared, &mut report, |worker| worker.follow_all(files, &mut followed))?;
    }
    report.roots = named.iter().map(|named| named.root.report()).collect();
    report.complete = !shared.stopped();
    report.unused_globs = filter.unused();
    report.arrange();
    Ok(report)
}

/// What identifies a directory, if it exists.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Scans with all threads what `begin` makes pending; returns the links to follow.
fn round<'a>(
    shared: &'a ScanShared<'a>,
    report: &mut ScanReport,
    begin: impl FnOnce(&mut ScanWorker<'a>),
) -> Result<FoundLinks> {
    let mut first = ScanWorker::new(shared);
    begin(&mut first);
    let parts = std::thread::scope(|scope| {
        let helper = || {
            let mut worker = ScanWorker::new(shared);
            worker.run();
            (worker.report, worker.links)
        };
        let spawn = |_| {
            shared.queue.join();
            let spawned = std::thread::Builder::new().spawn_scoped(scope, helper);
            spawned.inspect_err(|_| shared.queue.leave()).ok()
        };
        let helpers: Vec<_> = (1..shared.options.threads).map_while(spawn).collect();
        first.run();
        let ended = helpers.into_iter().map(|helper| helper.join().map_err(|_| panicked()));
        ended.collect::<Result<Vec<_>>>()
    })?;
    let mut links = std::mem::take(&mut first.links);
    report.append(first.report);
    for (part, mut more) in parts {
        report.append(part);
        links.append(&mut more);
    }
    Ok(links)
}

fn panicked() -> Error {
    Error::System {
        action: "scan the directories",
        source: io::Error::other("a thread ended unexpectedly"),
        remedy: "this is a bug in scanns: please report it",
    }
}

#[cfg(test)]
mod tests;
