//! `scanns index --snapshot`: keeps a commit under a name, and says so.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use scanns::index::{IndexReport, NamedSnapshot};
use scanns::{Index, schema};
use serde_json::{Map, Value, json};

use crate::args::IndexArgs;
use crate::output::Output;
use crate::report::{self, Outcome};
use crate::units;

/// Keeps the newest commit as it is, if the arguments name a snapshot and nothing to index.
pub fn keep_alone(args: &IndexArgs, index: &Path) -> Result<Option<Outcome>> {
    let Some(name) = args.output.snapshot.as_deref() else { return Ok(None) };
    if !args.input.paths.is_empty() || args.input.files_from.is_some() {
        return Ok(None);
    }
    if args.dump.dump.is_some() || args.scan.changes.is_some() || args.contents.content.is_some() {
        bail!("--dump, --changes and --content need a PATH; --snapshot without PATH keeps the last commit");
    }
    let kept = Index::open(index)?.keep_snapshot(name)?;
    let mut out = Output::stdout();
    if args.output.json {
        out.json(&json!({ "snapshot": as_json(&kept) }))?;
    } else if !args.output.quiet {
        print(&mut out, &kept)?;
    }
    out.flush()?;
    Ok(Some(Outcome::Done))
}

/// Says what `--snapshots` means if it was followed by a name, as if it were `--snapshot`.
pub fn warn_of_snapshots(args: &IndexArgs) {
    let is_name = |path: &&PathBuf| path.file_name() == Some(path.as_os_str()) && !path.exists();
    if let Some(name) = args.input.paths.iter().find(is_name).filter(|_| args.scan.snapshots) {
        let name = report::path_text(name);
        report::note(&format!(
            "there is no {name}: --snapshots enters directories with snapshots of the file system, but \
             --snapshot {name} keeps the index under a name"
        ));
    }
}

/// Prints which snapshot was made.
pub fn print(out: &mut Output, kept: &NamedSnapshot) -> Result<()> {
    write!(out, "snapshot ")?;
    out.quoted(kept.path.as_os_str().as_encoded_bytes())?;
    writeln!(out, ": commit {}, {}", kept.generation, units::counted(kept.documents, "document"))?;
    Ok(())
}

/// Says why there is no snapshot.
pub fn list_failure(output: &Path, built: &IndexReport) {
    if let Some(failure) = &built.snapshot_failure {
        let output = report::path_text(output);
        report::note(&format!("no snapshot was made: {failure}; {output} itself is committed"));
    }
}

/// A snapshot as a JSON object.
pub fn as_json(kept: &NamedSnapshot) -> Value {
    let mut object = Map::new();
    report::put_bytes(&mut object, "name", kept.name.as_encoded_bytes());
    report::put_bytes(&mut object, "path", kept.path.as_os_str().as_encoded_bytes());
    for (name, value) in [
        ("generation", json!(kept.generation)),
        ("committed", json!(schema::format_date(kept.committed))),
        ("documents", json!(kept.documents)),
        ("bytes", json!(kept.bytes)),
        ("own_bytes", json!(kept.own_bytes)),
    ] {
        object.insert(name.into(), value);
    }
    object.into()
}
