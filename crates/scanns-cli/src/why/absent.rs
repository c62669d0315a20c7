//! Why a path is not in an index, as far as the index and the file system tell.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Result;
use scanns::Snapshot;
use scanns::files::not_in_index;
use scanns::index::Coverage;
use scanns::schema::{Records, format_date};
use scanns::sources::{absolute, is_at_or_below};

use crate::quoting::quoted;
use crate::report;

/// Says why a path, as it was written, is not in the index.
pub(super) fn note(snapshot: &Snapshot, written: &OsStr) -> Result<()> {
    let shown = quoted(written.as_bytes());
    if snapshot.info().records != Records::File {
        report::note(&format!("no document has the key {shown}: write keys as scanns search prints them"));
        return Ok(());
    }
    let path = absolute(Path::new(written))?.into_os_string().into_encoded_bytes();
    report::note(&format!("{shown}: not in the index: {}", reason(snapshot, &path)?));
    Ok(())
}

fn reason(snapshot: &Snapshot, path: &[u8]) -> Result<String> {
    let all = snapshot.coverage()?;
    // A directory that could not be read hides what is in it.
    let failures = all.iter().flat_map(|coverage| &coverage.failures);
    let failure =
        failures.into_iter().find(|failure| is_at_or_below(path, failure.path.as_os_str().as_bytes()));
    if let Some(failure) = failure {
        let place = quoted(failure.path.as_os_str().as_bytes());
        return Ok(format!("the build could not read {place}: {}", failure.reason));
    }
    let notes = not_in_index(snapshot, &[path.to_vec()], "", &|path| quoted(path).into_owned());
    if let Some((_, left_out)) = notes.first().and_then(|note| note.split_once(", since ")) {
        return Ok(left_out.to_owned());
    }
    let Some(scanned) = all.iter().find(|coverage| covers(coverage, path)) else {
        let places = all.iter().map(|one| quoted(one.path.as_os_str().as_bytes()).into_owned());
        let places = places.collect::<Vec<_>>().join(", ");
        return Ok(match places.is_empty() {
            true => "it does not know what it covers".into(),
            false => format!("it was made of {places}"),
        });
    };
    let meta = match fs::symlink_metadata(Path::new(OsStr::from_bytes(path))) {
        Ok(meta) => meta,
        Err(error) => return Ok(format!("nor is it in the file system now: {error}")),
    };
    let changed = meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec());
    Ok(if changed >= scanned.began {
        let began = format_date(scanned.began);
        format!(
            "it changed after the build of {began}: run the scanns index command again that made the index"
        )
    } else if !meta.is_file() && !snapshot.has_entries() {
        "it is not a regular file: scanns index --content none has all kinds of entries".into()
    } else {
        "it was there when the index was built, so the options of the build left it out, such as --include, \
         --exclude or --gitignore"
            .into()
    })
}

/// True for a scan at or above a path.
fn covers(coverage: &Coverage, path: &[u8]) -> bool {
    coverage.format.is_none() && is_at_or_below(path, coverage.path.as_os_str().as_bytes())
}
