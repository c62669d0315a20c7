//! `scanns ls`: directories of an index, as GNU ls lists them.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;

use anyhow::{Result, bail};
use scanns::Snapshot;
use scanns::files::{ListHidden, ListMark, ListOptions, ListSort, ListTime, ListedPath, list_entries};

use crate::answer_text::{note_unknown, write_answer};
use crate::args::LsArgs;
use crate::indexed_path::in_index;
use crate::info::completeness::note_missing;
use crate::quoting::quoted;
use crate::report::{self, Outcome};

/// Runs the verb.
pub fn run(args: &LsArgs) -> Result<Outcome> {
    let options = options(args)?;
    let snapshot = Snapshot::open(&args.index)?;
    note_missing(&snapshot, &args.index)?;
    let paths = listed(&snapshot, &args.paths);
    let report = write_answer(io::stdout().lock(), |out| list_entries(&snapshot, &paths, &options, out))?;
    for path in &report.missing {
        report::note(&format!("{}: not in the index", quoted(path)));
    }
    for (path, reason) in &report.unread {
        report::note(&format!("{}: could not be read when it was indexed: {reason}", quoted(path)));
    }
    note_unknown(&report.unknown);
    Ok(match (report.missing.is_empty(), report.unknown.is_empty() && report.unread.is_empty()) {
        (false, _) => Outcome::NotFound,
        (true, false) => Outcome::WithFailures,
        (true, true) => Outcome::Done,
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
        sort: match (args.unsorted, args.by_size, args.by_time) {
            (true, ..) => ListSort::Unsorted,
            (_, true, _) => ListSort::Size,
            (_, _, true) => ListSort::Time,
            _ => ListSort::Name,
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
