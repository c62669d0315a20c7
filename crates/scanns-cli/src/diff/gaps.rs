//! What one side of a comparison may have although it lacks it: it could not be read, was left out, or was
//! not looked at.

use std::collections::BTreeSet;

use anyhow::Result;
use scanns::Snapshot;
use scanns::files::{DiffCounts, DiffReport, TreeReport};
use scanns::sources::UnreadPath;

use crate::args::DiffArgs;
use crate::quoting::quoted;
use crate::report;
use crate::units;

/// What coverage calls entries that were left out by a pattern or by their names.
const BY_PATTERNS: [&str; 2] = ["filtered", "hidden"];

/// Says what dumps could not read, and what is therefore not known. Returns true if there is anything.
pub fn note_unread(args: &DiffArgs, report: &DiffReport) -> bool {
    let mut is_any = false;
    for (path, tree, names) in
        [(&args.old, &report.old, ["OLD", "NEW"]), (&args.new, &report.new, ["NEW", "OLD"])]
    {
        let (path, [name, other]) = (report::path_text(path), names);
        if let Some(UnreadPath { path: first, reason, .. }) = tree.tally.first_unread(false) {
            let (paths, first) = (units::counted(tree.tally.unread, "path"), quoted(first));
            report::note(&format!(
                "{path}: the dump says that {paths} could not be read; the first is {first}: {reason}"
            ));
            is_any = true;
        }
        if tree.unseen > 0 {
            let (entries, place) = (units::counted(tree.unseen, "entry"), quoted(&tree.unseen_place));
            report::note(&format!(
                "{entries} of {other} may be in {path}, too, which does not have everything there; the first \
                 such place is {place}"
            ));
        }
        if tree.uncovered > 0 {
            let entries = units::counted(tree.uncovered, "entry");
            report::note(&format!("{name} does not cover {}: {entries} of {other}", uncovered(tree)));
        }
    }
    is_any
}

/// The directories that a tree does not cover.
fn uncovered(tree: &TreeReport) -> String {
    let places: Vec<_> = tree.uncovered_places.iter().map(|place| quoted(place)).collect();
    match places.is_empty() {
        true => "what is above its directories".into(),
        false => format!("{}{}", places.join(", "), if tree.uncovered_more { ", …" } else { "" }),
    }
}

/// Says that patterns left out entries of one side, which the other side may have.
pub fn note_left_out(snapshots: [Option<&Snapshot>; 2], counts: &DiffCounts) -> Result<()> {
    let [old, new] = snapshots;
    let (old, new) = (by_patterns(old)?, by_patterns(new)?);
    for (name, left_out, differences, how) in [
        ("OLD", old, counts.added, "added may have been there"),
        ("NEW", new, counts.removed, "removed may be still there"),
    ] {
        // The same patterns leave out the same entries.
        if left_out > 0 && differences > 0 && old != new {
            let entries = units::counted(left_out, "entry");
            report::note(&format!("{name} left out {entries} by patterns: some of what is {how}"));
        }
    }
    Ok(())
}

/// The number of entries that an index left out by patterns.
fn by_patterns(snapshot: Option<&Snapshot>) -> Result<u64> {
    let Some(snapshot) = snapshot else { return Ok(0) };
    // What one scan left out is noted for each of its directories.
    let mut scans = BTreeSet::new();
    for coverage in snapshot.coverage()? {
        for (what, skipped) in coverage.left_out {
            if BY_PATTERNS.contains(&what.as_str()) {
                scans.insert((what, skipped.count, skipped.first));
            }
        }
    }
    Ok(scans.iter().map(|(_, count, _)| count).sum())
}
