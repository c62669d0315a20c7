//! `scanns dump`: the entries of a file system in the formats of other tools.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use scanns::Snapshot;
use scanns::files::{EntryFormat, ExportOptions, ExportReport, SortSpace, export_entries};
use scanns::sources::RECOMMENDED_FORMAT;

use crate::answer_text::{note_unknown, write_answer};
use crate::args::{DumpOutArgs, DumpOutFormat};
use crate::export::target::Target;
use crate::indexed_path::{all_in_index, in_index, note_not_in_index};
use crate::missing::{AskedPlaces, note_missing};
use crate::quoting::quoted;
use crate::report::{self, Outcome};
use crate::units;

/// Runs the verb.
pub fn run(args: &DumpOutArgs) -> Result<Outcome> {
    let format = format(args)?;
    let snapshot = Snapshot::open(&args.index)?;
    let path = |path: &OsStr| in_index(&snapshot, path);
    let paths = all_in_index(&snapshot, &args.paths);
    let lacks = note_missing(&snapshot, &args.index, AskedPlaces { paths: &paths, depth: None })?;
    if let (EntryFormat::Find(_), Some(path)) = (&format, paths.iter().find(|path| path.starts_with(b"-"))) {
        bail!("{}: find takes this path for a word of an expression: write an absolute path", quoted(path));
    }
    let target = Target::open(&args.output, false, None)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let options = ExportOptions {
        format,
        paths,
        query: args.query.clone(),
        relative_to: args.relative_to.as_deref().map(path),
        space: SortSpace {
            memory: usize::try_from(args.memory).unwrap_or(usize::MAX),
            directory: target.place(),
        },
        now: i64::try_from(now).unwrap_or(i64::MAX),
    };
    match write_answer(target.counted(), |out| export_entries(&snapshot, &options, out)) {
        Ok(report) => {
            target.finish()?;
            note_not_in_index(&snapshot, &report.missing);
            let is_told = !target.is_stream() || io::stderr().is_terminal();
            Ok(outcome(&report, is_told).lacking(lacks))
        }
        Err(error) => {
            target.give_up();
            Err(error)
        }
    }
}

fn format(args: &DumpOutArgs) -> Result<EntryFormat> {
    let details = args.dump_format.as_deref().map(OsStr::as_bytes);
    let can_be_relative = !matches!(args.format, DumpOutFormat::Find | DumpOutFormat::Ncdu);
    if args.relative_to.is_some() && !can_be_relative {
        bail!(
            "--relative-to is for paths, paths0 and gufi: leave it out; find prints relative paths with %P"
        );
    }
    Ok(match (args.format, details) {
        (DumpOutFormat::Find, None) => EntryFormat::Find(RECOMMENDED_FORMAT.as_bytes().to_vec()),
        (DumpOutFormat::Find, Some(format)) => EntryFormat::Find(format.to_vec()),
        (DumpOutFormat::Gufi, None) => EntryFormat::Gufi(0x1e),
        (DumpOutFormat::Gufi, Some(&[separator])) if !separator.is_ascii_alphanumeric() => {
            EntryFormat::Gufi(separator)
        }
        (DumpOutFormat::Gufi, Some(_)) => bail!("the separator of GUFI is one byte, such as '|'"),
        (_, Some(_)) => bail!("--dump-format is for find and gufi: leave it out"),
        (DumpOutFormat::Ncdu, None) => EntryFormat::Ncdu,
        (DumpOutFormat::Paths, None) => EntryFormat::Paths(b'\n'),
        (DumpOutFormat::Paths0, None) => EntryFormat::Paths(0),
    })
}

fn outcome(report: &ExportReport, is_told: bool) -> Outcome {
    note_unknown(&report.unknown);
    for (count, first, what) in [
        (
            report.made_up,
            &report.first_made_up,
            "of which the index has no entry, written with its path alone",
        ),
        (
            report.left_out,
            &report.first_left_out,
            "left out, not below --relative-to or with too long a path",
        ),
        (
            report.divided,
            &report.first_divided,
            "with a line feed in its path, which reads as two: use paths0",
        ),
    ] {
        if count > 0 {
            let what = if count == 1 { what.to_owned() } else { what.replace("its path", "their paths") };
            let noun = if what.starts_with("of") { "directory" } else { "entry" };
            let counted = units::counted(count, noun);
            report::note(&format!("{counted} {what}; the first is {}", quoted(first)));
        }
    }
    if is_told {
        let added = match report.added {
            0 => String::new(),
            added => format!(", and {} above them", units::counted(added, "directory")),
        };
        let (entries, seconds) =
            (units::counted(report.entries, "entry"), units::duration(report::seconds()));
        report::note(&format!("{entries}{added} in {seconds}"));
    }
    if report.is_whole() { Outcome::Done } else { Outcome::WithFailures }
}
