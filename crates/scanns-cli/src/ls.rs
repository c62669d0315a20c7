//! `scanns ls`: directories of an index, as GNU ls lists them.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;

use anyhow::{Result, bail};
use scanns::Snapshot;
use scanns::files::{
    ListDate, ListHidden, ListMark, ListOptions, ListSort, ListTime, ListedPath, list_entries,
};

use crate::answer_text::{note_unknown, write_answer};
use crate::args::LsArgs;
use crate::as_user;
use crate::indexed_path::{all_in_index, in_index, note_not_in_index};
use crate::missing::{AskedPlaces, note_missing};
use crate::quoting::quoted;
use crate::report::{self, Outcome};

/// Runs the verb.
pub fn run(args: &LsArgs) -> Result<Outcome> {
    let options = options(args)?;
    let snapshot = as_user::seen(Snapshot::open(&args.index)?, &args.as_user)?;
    let paths = listed(&snapshot, &args.paths);
    let report = write_answer(io::stdout().lock(), |out| list_entries(&snapshot, &paths, &options, out))?;
    let depth = match (options.directories, options.recursive) {
        (true, _) => Some(0),
        (false, true) => None,
        (false, false) => Some(1),
    };
    let asked = AskedPlaces { paths: &all_in_index(&snapshot, &args.paths), depth };
    for (path, reason) in &report.unread {
        report::note(&format!("{}: could not be read when it was indexed: {reason}", quoted(path)));
    }
    let lacks = note_missing(&snapshot, &args.index, asked)?;
    note_not_in_index(&snapshot, &report.missing);
    note_unknown(&report.unknown);
    Ok(match (report.missing.is_empty(), report.unknown.is_empty()) {
        (false, _) => Outcome::NotFound,
        (true, false) => Outcome::WithFailures,
        (true, true) => Outcome::Done.lacking(lacks),
    })
}

/// The paths as they were written and as the index has them.
pub fn listed(snapshot: &Snapshot, paths: &[OsString]) -> Vec<ListedPath> {
    let listed =
        |path: &OsString| ListedPath { written: path.as_bytes().to_vec(), path: in_index(snapshot, path) };
    paths.iter().map(listed).collect()
}

fn options(args: &LsArgs) -> Result<ListOptions> {
    let now = jiff::Timestamp::now().as_nanosecond();
    Ok(ListOptions {
        hidden: match (args.all, args.almost_all) {
            (true, _) => ListHidden::All,
            (false, true) => ListHidden::Almost,
            (false, false) => ListHidden::None,
        },
        directories: args.directory,
        recursive: args.recursive && !args.directory,
        long: args.long || args.numeric_uid_gid,
        numeric: args.numeric_uid_gid,
        inode: args.inode,
        blocks: args.size,
        human: args.human_readable,
        sort: sort(args),
        date: match (args.status, args.access) {
            (true, _) => ListDate::Changed,
            (false, true) => ListDate::Accessed,
            (false, false) => ListDate::Modified,
        },
        reverse: args.reverse,
        mark: match (args.classify, args.slash) {
            (true, _) => ListMark::Type,
            (false, true) => ListMark::Slash,
            (false, false) => ListMark::None,
        },
        time: time_style(&args.time_style)?,
        end: if args.zero { 0 } else { b'\n' },
        zone: jiff::tz::TimeZone::system(),
        now: i64::try_from(now).unwrap_or(i64::MAX),
        quote: (io::stdout().is_terminal() && !args.zero).then_some(|name| quoted(name).into_owned()),
    })
}

/// The order. Dates of access and change sort lists that do not show them, as in ls.
fn sort(args: &LsArgs) -> ListSort {
    let is_hidden_date = (args.status || args.access) && !args.long && !args.numeric_uid_gid;
    match args {
        LsArgs { unsorted: true, .. } => ListSort::Unsorted,
        LsArgs { by_size: true, .. } => ListSort::Size,
        LsArgs { by_time: true, .. } => ListSort::Time,
        LsArgs { by_extension: true, .. } => ListSort::Extension,
        LsArgs { by_version: true, .. } => ListSort::Version,
        _ if is_hidden_date => ListSort::Time,
        _ => ListSort::Name,
    }
}

/// The formats of a time style.
fn time_style(style: &str) -> Result<ListTime> {
    let both = |old: &str, recent: &str| ListTime { old: old.into(), recent: recent.into() };
    Ok(match style.strip_prefix("posix-").unwrap_or(style) {
        "locale" => both("%b %e  %Y", "%b %e %H:%M"),
        "full-iso" => both("%Y-%m-%d %H:%M:%S.%N %z", "%Y-%m-%d %H:%M:%S.%N %z"),
        "long-iso" => both("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M"),
        "iso" => both("%Y-%m-%d ", "%m-%d %H:%M"),
        style => {
            match style.strip_prefix('+').map(|format| format.split_once('\n').unwrap_or((format, format))) {
                Some((old, recent)) => both(old, recent),
                None => bail!("'{style}' is no time style: write full-iso, long-iso, iso, locale or +FORMAT"),
            }
        }
    })
}
