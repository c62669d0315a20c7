//! `scanns delete` and `scanns update`: delete documents, or change their values.

use std::ffi::OsStr;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use anyhow::{Context, Result};
use scanns::index::{DeleteReport, Preview, Selection, UpdateReport};
use scanns::sources::absolute;
use scanns::{Index, Snapshot};
use serde_json::{Map, Value};

use super::about;
use crate::args::{CareArgs, DeleteArgs, UpdateArgs, WhichArgs};
use crate::output::Output;
use crate::quoting::quoted;
use crate::report::{self, Outcome};
use crate::search::fields::column;
use crate::units;

/// The number of documents that a query may select without a question.
const UNASKED: u64 = 1000;

/// The maximum number of keys to show.
const KEYS_SHOWN: usize = 10;

/// Runs `scanns delete`.
pub fn delete(args: &DeleteArgs) -> Result<Outcome> {
    let index = Index::open(&args.index)?;
    let selection = selection(&args.index, &args.which)?;
    if args.care.dry_run {
        let found = index.preview(&selection, KEYS_SHOWN)?;
        return print_preview(&args.index, &found, "deleted", args.json, &args.which);
    }
    if !is_wanted(&index, &selection, &args.care, "delete")? {
        return Ok(Outcome::Stopped);
    }
    let report = index.delete(&selection)?;
    print_deleted(args, &report).context("the deletion is committed")?;
    Ok(outcome(report.deleted, &args.which))
}

fn print_deleted(args: &DeleteArgs, report: &DeleteReport) -> Result<()> {
    let mut out = Output::stdout();
    if args.json {
        let mut object = about(&args.index);
        object.insert("deleted".into(), report.deleted.into());
        object.insert("documents".into(), report.documents.into());
        out.json(&object.into())?;
    } else {
        let deleted = units::counted(report.deleted, "document");
        writeln!(out, "{deleted} deleted, {} left", units::count(report.documents))?;
    }
    Ok(out.flush()?)
}

/// Runs `scanns update`.
pub fn update(args: &UpdateArgs) -> Result<Outcome> {
    let index = Index::open(&args.index)?;
    let selection = selection(&args.index, &args.which)?;
    if args.care.dry_run {
        let snapshot = index.snapshot()?;
        args.set.iter().try_for_each(|(field, _)| column(&snapshot, field).map(drop))?;
        let found = index.preview(&selection, KEYS_SHOWN)?;
        return print_preview(&args.index, &found, "updated", args.json, &args.which);
    }
    if !is_wanted(&index, &selection, &args.care, "update")? {
        return Ok(Outcome::Stopped);
    }
    let report = index.update(&selection, &args.set)?;
    print_updated(args, &report).context("the update is committed")?;
    Ok(outcome(report.documents, &args.which))
}

fn print_updated(args: &UpdateArgs, report: &UpdateReport) -> Result<()> {
    let mut out = Output::stdout();
    if args.json {
        let mut object = about(&args.index);
        object.insert("updated".into(), report.documents.into());
        object.insert("bytes_written".into(), report.bytes_written.into());
        out.json(&object.into())?;
    } else {
        let updated = units::counted(report.documents, "document");
        writeln!(out, "{updated} updated, {} written", units::size(report.bytes_written))?;
    }
    Ok(out.flush()?)
}

/// Prints what would be changed.
fn print_preview(
    index: &Path,
    found: &Preview,
    done: &str,
    json: bool,
    which: &WhichArgs,
) -> Result<Outcome> {
    let mut out = Output::stdout();
    // The order of documents is that in which threads read them.
    let mut keys: Vec<&Vec<u8>> = found.keys.iter().collect();
    keys.sort_unstable();
    if json {
        let mut object = about(index);
        object.insert("dry_run".into(), true.into());
        object.insert("selected".into(), found.selected.into());
        object.insert("documents".into(), found.documents.into());
        let key = |key: &&Vec<u8>| {
            let mut object = Map::new();
            report::put_bytes(&mut object, "key", key);
            Value::from(object)
        };
        object.insert("examples".into(), keys.iter().map(key).collect());
        out.json(&object.into())?;
    } else {
        let documents = units::counted(found.documents, "document");
        writeln!(out, "{} of {documents} would be {done}", units::count(found.selected))?;
        for key in &keys {
            writeln!(out, "  {}", quoted(key))?;
        }
        match found.selected.saturating_sub(keys.len() as u64) {
            0 => {}
            more => writeln!(out, "  … and {} more", units::count(more))?,
        }
    }
    out.flush()?;
    Ok(outcome(found.selected, which))
}

/// False if a query selects many documents, and the user does not want that.
fn is_wanted(index: &Index, selection: &Selection, care: &CareArgs, verb: &str) -> Result<bool> {
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    if care.yes || !can_ask || matches!(selection, Selection::Keys(_)) {
        return Ok(true);
    }
    let Preview { selected, documents, keys, .. } = index.preview(selection, 1)?;
    if selected <= UNASKED && selected.saturating_mul(10) <= documents {
        return Ok(true);
    }
    let such_as = keys.first().map(|key| format!(", such as {}", quoted(key))).unwrap_or_default();
    let all = units::counted(documents, "document");
    let mut err = io::stderr().lock();
    write!(err, "scanns: {verb} {} of {all}{such_as}? [y/N] ", units::count(selected))?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(true);
    }
    report::note("nothing was changed");
    Ok(false)
}

/// The selected documents.
fn selection(index: &Path, args: &WhichArgs) -> Result<Selection> {
    match &args.query {
        Some(query) => Ok(Selection::Query(query.clone(), args.default_operator.into())),
        None => Ok(Selection::Keys(keys(index, args)?)),
    }
}

/// The keys from the command line and from the list.
fn keys(index: &Path, args: &WhichArgs) -> Result<Vec<Vec<u8>>> {
    let mut keys: Vec<Vec<u8>> = args.keys.iter().cloned().map(OsStringExt::into_vec).collect();
    if let Some(path) = &args.keys_from {
        let mut list = Vec::new();
        if path.as_os_str() == "-" {
            std::io::stdin().lock().read_to_end(&mut list).context("cannot read the list of keys")?;
        } else {
            list = std::fs::read(path).with_context(|| format!("cannot read {}", report::path_text(path)))?;
        }
        let end = if args.null { 0 } else { b'\n' };
        keys.extend(list.split(|&byte| byte == end).filter(|key| !key.is_empty()).map(<[u8]>::to_vec));
    }
    let snapshot = Snapshot::open(index)?;
    let mut spelt = Vec::with_capacity(keys.len());
    for key in keys {
        // A program may have given documents keys that are not absolute paths.
        let is_known = key.starts_with(b"/") || snapshot.hit(&key)?.is_some();
        let path = absolute(Path::new(OsStr::from_bytes(&key)));
        spelt.extend(path.ok().filter(|_| !is_known).map(|path| path.into_os_string().into_vec()));
        spelt.push(key);
    }
    Ok(spelt)
}

/// The outcome of a change of `changed` documents; says so if there were none.
fn outcome(changed: u64, which: &WhichArgs) -> Outcome {
    if changed > 0 {
        return Outcome::Done;
    }
    report::note(match &which.query {
        Some(_) => "no document was selected: none matches the query",
        None => "no document was selected: give keys as scanns search prints them, or a directory",
    });
    Outcome::Nothing
}
