//! `scanns stat`: entries of an index, as GNU stat shows them.

use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;

use anyhow::Result;
use scanns::Snapshot;
use scanns::files::{StatLayout, StatOptions, stat_entries};

use crate::answer_text::{note_unknown, write_answer};
use crate::args::StatArgs;
use crate::as_user;
use crate::indexed_path::{all_in_index, note_not_in_index};
use crate::ls::listed;
use crate::missing::{AskedPlaces, note_missing};
use crate::quoting::{in_quotes, quoted};
use crate::report::Outcome;

/// Runs the verb.
pub fn run(args: &StatArgs) -> Result<Outcome> {
    let snapshot = as_user::seen(Snapshot::open(&args.index)?, &args.as_user)?;
    let paths = listed(&snapshot, &args.paths);
    let options = StatOptions {
        layout: match (&args.format, &args.printf) {
            (Some(format), _) if format == "json" => StatLayout::Json,
            (Some(format), _) => StatLayout::Format(format.as_bytes().to_vec()),
            (None, Some(format)) => StatLayout::Printf(format.as_bytes().to_vec()),
            (None, None) => StatLayout::Default,
        },
        zone: jiff::tz::TimeZone::system(),
        quote: in_quotes,
        quote_default: io::stdout().is_terminal().then_some(|name| quoted(name).into_owned()),
    };
    let report = write_answer(io::stdout().lock(), |out| stat_entries(&snapshot, &paths, &options, out))?;
    let asked = AskedPlaces { paths: &all_in_index(&snapshot, &args.paths), depth: Some(0) };
    let lacks = note_missing(&snapshot, &args.index, asked)?;
    note_not_in_index(&snapshot, &report.missing);
    note_unknown(&report.unknown);
    let is_whole = report.missing.is_empty() && report.unknown.is_empty();
    Ok(if is_whole { Outcome::Done.lacking(lacks) } else { Outcome::WithFailures })
}
