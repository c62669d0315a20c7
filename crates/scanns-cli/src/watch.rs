//! `scanns watch`: follows directories as they change.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use scanns::index::{FollowStep, IndexOptions, IndexReport};
use scanns::sources::{ContentOptions, ScanSettings, SourceOptions};
use scanns::{Index, Snapshot};

use crate::args::WatchArgs;
use crate::index::{default_memory, list_failures, list_remarks};
use crate::output::Output;
use crate::progress;
use crate::report::{self, Outcome};
use crate::units;

/// Names of file systems whose files other machines may change.
const SHARED: [&str; 14] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "lustre",
    "gpfs",
    "ceph",
    "beegfs",
    "afs",
    "9p",
    "glusterfs",
    "orangefs",
    "ocfs2",
    "gfs2",
];

/// Runs the verb until the user stops it.
pub fn run(args: &WatchArgs) -> Result<Outcome> {
    let paths = roots(args)?;
    for path in &paths {
        if std::fs::metadata(path).is_ok_and(|found| !found.is_dir()) {
            bail!("{} is no directory: only directories are watched", report::path_text(path));
        }
        if let Some(kind) = shared(path) {
            let path = report::path_text(path);
            report::note(&format!("{path} is on {kind}: changes by other machines are not seen"));
        }
    }
    let names_only = ContentOptions { names_only: true, ..ContentOptions::default() };
    let options = IndexOptions {
        source: SourceOptions {
            paths,
            include: args.include.clone(),
            exclude: args.exclude.clone(),
            skip_hidden: args.skip_hidden,
            ..SourceOptions::default()
        },
        scan: ScanSettings { one_file_system: args.one_file_system, ..ScanSettings::default() },
        contents: Some(names_only),
        memory: default_memory(),
        ..IndexOptions::default()
    };
    let stop = progress::stop_flag()?;
    let mut failed = Ok(());
    Index::at(&args.index).follow(&options, args.every, &stop, &mut |step| {
        if failed.is_ok() {
            failed = tell(&step, args.quiet);
        }
    })?;
    failed.map(|()| Outcome::Done)
}

/// The given directories, or those that the index has scanned.
fn roots(args: &WatchArgs) -> Result<Vec<PathBuf>> {
    if !args.paths.is_empty() {
        return Ok(args.paths.clone());
    }
    let snapshot = Snapshot::open(&args.index)?;
    let has_entries = snapshot.has_entries();
    let scanned = snapshot.coverage()?.into_iter().filter(|covered| has_entries && covered.format.is_none());
    let paths: Vec<PathBuf> = scanned.map(|covered| covered.path).collect();
    if paths.is_empty() {
        bail!("the index has scanned no directories: give those that are to be watched");
    }
    Ok(paths)
}

fn tell(step: &FollowStep<'_>, quiet: bool) -> Result<()> {
    let line = match step {
        FollowStep::Scanned(report, directories) => {
            let what = changed(report);
            format!("scanned: {what}; {} watched", units::counted(*directories as u64, "directory"))
        }
        FollowStep::Applied(report) => {
            if report.documents + report.removed + report.failed.len() as u64 == 0 {
                return Ok(());
            }
            changed(report)
        }
        FollowStep::Lost => {
            report::note("events were lost, as there were too many: everything is scanned again");
            return Ok(());
        }
        FollowStep::Busy => {
            report::note("another process writes to the index: waiting for its end");
            return Ok(());
        }
    };
    if let FollowStep::Scanned(report, _) | FollowStep::Applied(report) = step {
        list_failures(&report.failed);
        list_remarks(&report.remarks);
    }
    if !quiet {
        let mut out = Output::stdout();
        writeln!(out, "{line}")?;
        out.flush()?;
    }
    Ok(())
}

/// What an update did.
fn changed(report: &IndexReport) -> String {
    let (documents, removed) = (units::count(report.documents), units::count(report.removed));
    format!("{documents} changed, {removed} removed in {}", units::duration(report.seconds))
}

/// The name of the file system of a directory, if other machines may change its files.
fn shared(path: &Path) -> Option<String> {
    let place = path.canonicalize().ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let of_line = |line: &str| {
        let (mount, system) = line.split_once(" - ")?;
        let point = Path::new(mount.split(' ').nth(4)?);
        let kind = system.split(' ').next()?.to_owned();
        place.starts_with(point).then_some((point.as_os_str().len(), kind))
    };
    // Of several file systems at one place, the last one is seen.
    let (_, kind) = mounts.lines().filter_map(of_line).max_by_key(|(length, _)| *length)?;
    SHARED.contains(&kind.as_str()).then_some(kind)
}
