//! `scanns diff`: how two trees differ.
//!
//! `write.rs` writes differences as text, `sums.rs` their sums, and `table.rs` both as tables; `sink.rs`
//! chooses among them. `gaps.rs` tells what one side may have although it lacks it.

mod gaps;
mod sink;
mod sums;
#[cfg(feature = "arrow")]
mod table;
mod write;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use scanns::files::{
    DiffCounts, DiffOptions, DiffReport, DifferenceKind, ENTRY_FIELDS, EntryField, EntryFieldSet, Growth,
    TreeReport, TreeSource, compare_trees,
};
use scanns::sources::DumpFormat;
use scanns::{Error, Snapshot};

use crate::args::{DiffArgs, DiffKindArg, DiffOutputArg};
use crate::export::must_be_built;
use crate::indexed_path::in_index;
use crate::missing::{AskedPlaces, note_missing};
use crate::missing_index;
use crate::quoting::quoted;
use crate::report::{self, Outcome};
use crate::units;
use gaps::{note_left_out, note_unread};
use sink::DifferenceSink;
pub use write::cell;

/// Runs the verb.
pub fn run(args: &DiffArgs) -> Result<Outcome> {
    let (format, written) = (dump_format(args)?, written_format(args)?);
    must_be_built(written == DiffOutputArg::Parquet)?;
    if args.old == args.new && args.old.as_os_str() == "-" {
        bail!("only one of OLD and NEW can be standard input");
    }
    let (old_snapshot, new_snapshot) = (snapshot(&args.old, &args.new)?, snapshot(&args.new, &args.old)?);
    let snapshots = [old_snapshot.as_ref(), new_snapshot.as_ref()];
    let options = options(args, snapshots)?;
    let mut lacks = false;
    for (snapshot, path) in snapshots.into_iter().zip([&args.old, &args.new]) {
        if let Some(snapshot) = snapshot {
            lacks |= note_lacking(snapshot, path, &options, path == &args.old)?;
        }
    }
    let old = source(&args.old, old_snapshot.as_ref(), &format);
    let new = source(&args.new, new_snapshot.as_ref(), &format);
    let mut growth = args.summary.then(|| Growth::new(args.depth));
    let mut sink = DifferenceSink::open(args, written)?;
    let (mut shown, mut failed) = (0_u64, None);
    let compared = compare_trees(&old, &new, &options, &mut |difference| {
        if !is_wanted(&args.only, difference.kind) {
            return Ok(());
        }
        shown += 1;
        if let Some(growth) = &mut growth {
            growth.add(difference);
            return Ok(());
        }
        sink.write(difference).map_err(|error| {
            failed = Some(error);
            Error::io("write to", &args.output, std::io::ErrorKind::Other.into())
        })
    });
    let report = match (compared, failed) {
        (Ok(report), None) => report,
        (compared, failed) => {
            sink.give_up();
            return Err(failed
                .or_else(|| compared.err().map(Into::into))
                .unwrap_or_else(|| anyhow!("failed")));
        }
    };
    sink.finish(growth.as_ref())?;
    notes(args, written, &report);
    note_left_out(snapshots, &report.counts)?;
    incomplete(args, &report)?;
    lacks |= note_unread(args, &report) | note_empty(args, &report);
    Ok(if shown > 0 { Outcome::Different } else { Outcome::Done.lacking(lacks) })
}

/// The format in which differences are written.
fn written_format(args: &DiffArgs) -> Result<DiffOutputArg> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let path = &args.output;
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase()).unwrap_or_default();
    Ok(match extension.as_encoded_bytes() {
        b"" | b"txt" => DiffOutputArg::Lines,
        _ if args.null || path.metadata().is_ok_and(|found| !found.is_file()) => DiffOutputArg::Lines,
        b"csv" => DiffOutputArg::Csv,
        b"json" | b"jsonl" | b"ndjson" => DiffOutputArg::Json,
        b"parquet" => DiffOutputArg::Parquet,
        _ => bail!(
            "{}: the name does not say the format: let it end in .csv, .jsonl, .parquet or .txt, or give \
             --format",
            report::path_text(path)
        ),
    })
}

/// The options; paths are as the first of the indexes that has them has them.
fn options(args: &DiffArgs, snapshots: [Option<&Snapshot>; 2]) -> Result<DiffOptions> {
    let mut ignored = EntryFieldSet::default();
    if !args.atime {
        ignored = ignored.with(EntryField::Atime);
    }
    for name in &args.ignore {
        let known = || ENTRY_FIELDS.map(EntryField::name).join(", ");
        let field = EntryField::named(name);
        ignored = ignored.with(field.with_context(|| format!("unknown field '{name}': use {}", known()))?);
    }
    let [old, new] = snapshots;
    let place = |path: &Option<OsString>, snapshots: &[Option<&Snapshot>]| {
        path.as_deref().map(|written| place_in(snapshots, written))
    };
    let (old_root, new_root) = (place(&args.old_root, &[old]), place(&args.new_root, &[new]));
    // Below a root, paths are relative to it.
    let below = if old_root.is_some() { place(&args.below, &[]) } else { place(&args.below, &snapshots) };
    Ok(DiffOptions {
        ignored,
        old_root,
        new_root,
        below,
        memory: usize::try_from(args.memory).unwrap_or(usize::MAX),
        temporary: args.temporary.clone().unwrap_or_else(std::env::temp_dir),
    })
}

fn dump_format(args: &DiffArgs) -> Result<DumpFormat> {
    match (args.dump.as_deref(), args.dump_format.as_deref()) {
        (None | Some("auto"), None) => Ok(DumpFormat::Detect),
        (None | Some("auto"), details) => DumpFormat::named("find", details).map_err(anyhow::Error::msg),
        (Some(name), details) => DumpFormat::named(name, details).map_err(anyhow::Error::msg),
    }
}

/// The index at a path; `None` if it is not a directory and therefore a dump.
fn snapshot(path: &Path, other: &Path) -> Result<Option<Snapshot>> {
    if path.is_dir() {
        return Ok(Some(Snapshot::open(path)?));
    }
    match missing_index::advice_beside(path, other) {
        Some(advice) if path.as_os_str() != "-" && !path.exists() => {
            bail!("there is no {}: {advice}", report::path_text(path))
        }
        _ => Ok(None),
    }
}

/// A written path as the first index that has it has it.
fn place_in(snapshots: &[Option<&Snapshot>], written: &OsStr) -> Vec<u8> {
    let places = snapshots.iter().flatten().map(|snapshot| (in_index(snapshot, written), snapshot));
    let mut found = places.filter(|(place, snapshot)| snapshot.hit(place).is_ok_and(|hit| hit.is_some()));
    found.next().map_or_else(|| written.as_bytes().to_vec(), |(place, _)| place)
}

/// Says what an index lacks of what is compared. Returns true if there is anything.
fn note_lacking(snapshot: &Snapshot, path: &Path, options: &DiffOptions, is_old: bool) -> Result<bool> {
    let root = if is_old { &options.old_root } else { &options.new_root };
    let place = match (root, &options.below) {
        (Some(root), Some(below)) => Some([root.as_slice(), below].join(&b'/')),
        (root, below) => root.as_ref().or(below.as_ref()).cloned(),
    };
    note_missing(snapshot, path, AskedPlaces { paths: place.as_slice(), depth: None })
}

fn source<'s>(path: &Path, snapshot: Option<&'s Snapshot>, format: &DumpFormat) -> TreeSource<'s> {
    match snapshot {
        Some(snapshot) => TreeSource::Index(snapshot),
        None => TreeSource::Dump { path: path.to_path_buf(), format: format.clone() },
    }
}

fn is_wanted(only: &[DiffKindArg], kind: DifferenceKind) -> bool {
    let kind = match kind {
        DifferenceKind::Added => DiffKindArg::Added,
        DifferenceKind::Removed => DiffKindArg::Removed,
        DifferenceKind::Moved | DifferenceKind::Along => DiffKindArg::Moved,
        DifferenceKind::Changed => DiffKindArg::Changed,
        DifferenceKind::Unseen => DiffKindArg::Unseen,
    };
    only.is_empty() || only.contains(&kind)
}

/// Says what the differences do not show.
fn notes(args: &DiffArgs, format: DiffOutputArg, report: &DiffReport) {
    let counts = &report.counts;
    let is_told = format == DiffOutputArg::Lines || args.output.as_os_str() != "-";
    if !counts.is_same() && is_told && !args.null && !args.summary {
        report::note(&counts_text(counts));
    }
    for (path, tree) in [(&args.old, &report.old), (&args.new, &report.new)] {
        if tree.doubled > 0 {
            let entries = units::counted(tree.doubled, "entry");
            let (path, first) = (report::path_text(path), quoted(&tree.first_doubled).into_owned());
            report::note(&format!("{path}: {entries} with the path of another one; the first is {first}"));
        }
    }
    if !report.unknown.is_empty() {
        let fields: Vec<String> = report
            .unknown
            .iter()
            .map(|(field, count)| format!("{} of {}", field.name(), units::count(*count)))
            .collect();
        report::note(&format!("not compared, since one side does not know them: {}", fields.join(", ")));
    }
    if report.whole_seconds {
        report::note("times are compared in whole seconds, since one side has no fractions");
    }
    if report.moves_unknown {
        report::note(
            "too many entries were added and removed to find those that moved: a larger --memory finds them",
        );
    } else if report.inodes_unknown && counts.added > 0 && counts.removed > 0 {
        report::note("moved entries are listed as added and removed, since one side has no inodes");
    }
    if counts.same + counts.changed + counts.moved == 0 && report.old.entries > 0 && report.new.entries > 0 {
        report::note("OLD and NEW have no path in common; --old-root and --new-root compare relative paths");
    }
}

fn counts_text(counts: &DiffCounts) -> String {
    let DiffCounts { added, removed, moved, changed, along, unseen, same } = *counts;
    let along = match along {
        0 => String::new(),
        along => format!(" ({} along with directories)", units::count(along)),
    };
    let unseen = match unseen {
        0 => String::new(),
        unseen => format!("{} not seen, ", units::count(unseen)),
    };
    let [added, removed, moved, changed, same] = [added, removed, moved, changed, same].map(units::count);
    format!(
        "{added} added, {removed} removed, {moved} moved{along}, {changed} changed, {unseen}{same} the same"
    )
}

/// An error if a tree was not read as a whole.
fn incomplete(args: &DiffArgs, report: &DiffReport) -> Result<()> {
    for (path, tree) in [(&args.old, &report.old), (&args.new, &report.new)] {
        if !tree.is_complete() {
            bail!("{}: {}: the differences are not complete", report::path_text(path), incomplete_text(tree));
        }
    }
    Ok(())
}

/// Says which of the wanted directories have no entries. Returns true if there is one.
fn note_empty(args: &DiffArgs, report: &DiffReport) -> bool {
    let mut is_any = false;
    let mut note = |path: &OsStr, tree: &str| {
        let path = quoted(path.as_bytes()).into_owned();
        report::note(&format!("{path}: {tree} at or below this path"));
        is_any = true;
    };
    match &args.below {
        Some(below) if report.old.entries + report.new.entries == 0 => {
            note(below, "neither OLD nor NEW has anything")
        }
        _ => {
            for (root, tree, name) in [
                (&args.old_root, &report.old, "OLD has nothing"),
                (&args.new_root, &report.new, "NEW has nothing"),
            ] {
                if let Some(root) = root.as_deref().filter(|_| args.below.is_none() && tree.entries == 0) {
                    note(root, name);
                }
            }
        }
    }
    is_any
}

fn incomplete_text(tree: &TreeReport) -> String {
    match (&tree.failure, &tree.tally.first_bad) {
        (Some(failure), _) => failure.clone(),
        (None, Some(bad)) => format!(
            "{} could not be read; the first at byte {}: {}",
            units::counted(tree.tally.bad, "row"),
            units::count(bad.offset),
            bad.reason
        ),
        (None, None) => "the end of the dump is missing".into(),
    }
}
