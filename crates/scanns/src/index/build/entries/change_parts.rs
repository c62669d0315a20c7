//! Reads a list of changes, and applies it in parts, each of which is committed: so memory does not depend on
//! the length of the list.

use std::io::BufReader;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::change_import::{ChangeImport, ChangePart};
use super::dump_reader::{OpenedList, open_list};
use super::run::index_entries;
use crate::content::ContentOptions;
use crate::error::{Error, Result};
use crate::index::build::covered::covered_before;
use crate::index::build::document_source::DocumentSource;
use crate::index::build::index_threads::BuildCall;
use crate::index::build::options::ChangeOptions;
use crate::index::build::report::{ChangesReport, IndexReport};
use crate::index::commit::writer::Writer;
use crate::index::coverage::Coverage;
use crate::index::progress::Progress;
use crate::record::changes::{CHANGE_FORMATS, ChangeFormat, ChangeReader, ListFault};
use crate::source::{ChangedPaths, absolute, is_at_or_below};

/// The memory for the paths of a part: a part of the memory of the build, within these bounds.
const SHARE: u64 = 16;
const LEAST: u64 = 1 << 20;
const MOST: u64 = 256 << 20;

/// Applies a list of changes, and commits.
pub(in crate::index::build) fn apply_changes(
    changes: &ChangeOptions,
    writer: &Writer<'_>,
    call: BuildCall<'_>,
    source: &DocumentSource,
    contents: ContentOptions,
) -> Result<IndexReport> {
    let BuildCall { options, cancel, .. } = call;
    if options.source.follow_symlinks {
        return Err(Error::Unsupported {
            what: "following links with a list of changes".into(),
            remedy: "scan again, without the list".into(),
        });
    }
    let roots = scanned_roots(writer, &options.source.paths)?;
    if let Some(paths) = &changes.named {
        let part = ChangePart { paths: paths.clone(), format: "watch", lost: 0, record: None };
        let import = ChangeImport::new(&roots, part, writer, call);
        return index_entries(&import, writer, call, source, contents);
    }
    // The bytes of the list are not what is counted as progress.
    let progress = Progress::default();
    let failed = |error| Error::io("read the list of changes", &changes.list, error);
    let opened = open_list(&changes.list, &progress, cancel);
    let OpenedList { head, compression, reader, .. } =
        opened.map_err(|error| stopped(call, failed(error)))?;
    let format = format_of(changes, &head)?;
    let record = |root: &Coverage| root.updated.as_ref()?.records.get(&changes.mdt).copied();
    let before = roots.iter().filter_map(record).min().filter(|_| format == ChangeFormat::Lustre);
    let root = roots.first().map(|root| root.path.clone()).unwrap_or_default();
    let mut reader = ChangeReader::new(Box::new(BufReader::new(reader)), format, &root, before);
    let mut told = ChangesReport {
        path: changes.list.clone(),
        format: format.name(),
        compression,
        is_first: before.is_none(),
        ..ChangesReport::default()
    };
    let mut report = IndexReport::default();
    loop {
        let part = next_part(changes, call, &mut reader, &roots, &mut told)?;
        // Earlier parts may have found more that cannot be read.
        let mut now = scanned_roots(writer, &options.source.paths)?;
        now.iter_mut().zip(&roots).for_each(|(root, before)| root.updated.clone_from(&before.updated));
        let import = ChangeImport::new(&now, part, writer, call);
        report.add_part(index_entries(&import, writer, call, source, contents)?);
        report.changes = Some(told.clone());
        if report.cancelled || reader.is_at_end() {
            return Ok(report);
        }
    }
}

/// Reads the next part of a list, and counts what it has.
fn next_part(
    changes: &ChangeOptions,
    call: BuildCall<'_>,
    reader: &mut ChangeReader<'_>,
    roots: &[Coverage],
    told: &mut ChangesReport,
) -> Result<ChangePart> {
    let most = (call.options.memory / SHARE).clamp(LEAST, MOST);
    let paths = reader.part(usize::try_from(most).unwrap_or(usize::MAX));
    let paths = paths.map_err(|fault| stopped(call, refused(changes, fault)))?;
    let paths = take_inside(roots, paths, told);
    told.tally = reader.tally();
    told.number = reader.number();
    Ok(ChangePart {
        paths: Arc::new(paths),
        format: told.format,
        lost: told.tally.lost(),
        record: told.number.map(|number| (changes.mdt.clone(), number)),
    })
}

/// The scans that a list is about: those of the given paths, or all.
fn scanned_roots(writer: &Writer<'_>, paths: &[PathBuf]) -> Result<Vec<Coverage>> {
    let scans: Vec<Coverage> =
        covered_before(writer)?.into_iter().filter(|covered| covered.format.is_none()).collect();
    let refused = |reason: String, path: &PathBuf| {
        Err(Error::Conflict {
            what: format!("a list of changes of {}", path.display()),
            with: reason,
            remedy: "scan it first, without --changes".into(),
        })
    };
    let mut roots = Vec::new();
    for path in paths {
        let place = absolute(path).map_err(|error| Error::io("find", path, error))?;
        match scans.iter().find(|scan| scan.path == place && scan.complete) {
            Some(scan) => roots.push(scan.clone()),
            None => return refused("the index, which has no complete scan of this directory".into(), path),
        }
    }
    if paths.is_empty() {
        if let Some(scan) = scans.iter().find(|scan| !scan.complete) {
            return refused("a scan of it that was stopped".into(), &scan.path);
        }
        roots = scans;
    }
    roots.sort_by(|one, other| one.path.cmp(&other.path));
    roots.dedup_by(|one, other| one.path == other.path);
    if roots.is_empty() {
        return refused("the index, which has no scan".into(), &PathBuf::from("a file system"));
    }
    Ok(roots)
}

/// The format of the list; an empty list has any.
fn format_of(changes: &ChangeOptions, head: &[u8]) -> Result<ChangeFormat> {
    let found = changes.format.or_else(|| ChangeFormat::detect(head));
    found.or_else(|| head.is_empty().then_some(ChangeFormat::Paths)).ok_or_else(|| {
        let names: Vec<_> = CHANGE_FORMATS.iter().map(|(name, _)| format!("--changes={name}")).collect();
        let reason = format!("the format is not certain: name it with {}", names.join(", "));
        Error::Changes { path: changes.list.clone(), reason }
    })
}

fn refused(changes: &ChangeOptions, fault: ListFault) -> Error {
    let reason = match fault {
        ListFault::Input(error) => return Error::io("read the list of changes", &changes.list, error),
        ListFault::Gap(reason) => reason,
        ListFault::Resolver(error) => {
            format!("lfs cannot be run: {error}; lfs fid2path is needed, on a client of the file system")
        }
    };
    Error::Changes { path: changes.list.clone(), reason }
}

/// A failure to read the list means little if the user asked to stop.
fn stopped(call: BuildCall<'_>, error: Error) -> Error {
    if call.cancel.load(Ordering::Relaxed) { Error::Cancelled } else { error }
}

/// The paths that are in the scanned directories, with the names by which these were scanned. The others are
/// counted.
fn take_inside(roots: &[Coverage], paths: ChangedPaths, told: &mut ChangesReport) -> ChangedPaths {
    let named: Vec<&[u8]> = roots.iter().map(|root| root.path.as_os_str().as_bytes()).collect();
    let real = roots.iter().map(|root| root.path.canonicalize().unwrap_or_else(|_| root.path.clone()));
    let real: Vec<Vec<u8>> = real.map(|path| path.into_os_string().into_vec()).collect();
    let is_inside = |path: &[u8]| named.iter().any(|root| is_at_or_below(path, root));
    if paths.iter().all(|(path, _)| is_inside(path)) {
        told.paths += paths.len() as u64;
        return paths;
    }
    let mut kept = ChangedPaths::default();
    for (path, tree) in paths.iter() {
        let real = named.iter().zip(&real).find(|(_, real)| is_at_or_below(path, real));
        match real {
            _ if is_inside(path) => kept.push(path, tree),
            Some((named, real)) => {
                kept.push(&[named, path.get(real.len()..).unwrap_or_default()].concat(), tree);
            }
            None => told.outside.add(path),
        }
    }
    kept.sort();
    told.paths += kept.len() as u64;
    kept
}
