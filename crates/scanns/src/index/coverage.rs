//! What an index covers: which trees were scanned and which dumps were read, when, and what could not be read
//! of them. Kept in a note of the commit, so it is always the truth about this commit.
//!
//! ```text
//! note "scanns.coverage" = JSON, an array of objects with the members of [`Coverage`]
//! path                   = see `path_json.rs`
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::path_json::{put_path, read_path};
use crate::error::{Error, Result};
use crate::source::{Failure, Skipped, UnlistedDirectories};

/// The name of the note.
const NOTE: &[u8] = b"scanns.coverage";

/// The number of failures that are kept.
const FAILURES: usize = 10_000;

/// What a scan or a dump covered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The directory that was scanned, or the dump.
    pub path: PathBuf,
    /// The format of the dump; `None` for a scan.
    pub format: Option<String>,
    /// When the scan began, or when the dump was made as far as that is known, in nanoseconds since 1970.
    pub began: i64,
    /// When the scan ended; of a dump the same as `began`.
    pub ended: i64,
    /// The number of entries found.
    pub entries: u64,
    /// The number of directories that were listed; 0 for a dump.
    pub directories: u64,
    /// False if the scan was stopped, or the dump is cut off or has rows that could not be read.
    pub complete: bool,
    /// The number of paths that could not be read.
    pub unread: u64,
    /// The first 10,000 of them, and why.
    pub failures: Vec<Failure>,
    /// What was left out on purpose, and an example of each kind.
    pub left_out: Vec<(String, Skipped)>,
    /// Directories that seem to be empty because of that.
    pub unlisted: UnlistedDirectories,
    /// The lists of changes that were applied since the scan.
    pub updated: Option<ListUpdates>,
}

/// Lists of changes that were applied to what a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListUpdates {
    /// The format of the last list.
    pub format: String,
    /// When its last part was applied, in nanoseconds since 1970.
    pub applied: i64,
    /// The number of lists.
    pub lists: u64,
    /// The number of rows and files of all lists whose changes may be missing in the index.
    pub lost: u64,
    /// By metadata target of Lustre, the number of the last record that was applied.
    pub records: BTreeMap<String, u64>,
}

impl Coverage {
    /// True if nothing is missing.
    pub fn is_whole(&self) -> bool {
        let lost = self.updated.as_ref().map_or(0, |updated| updated.lost);
        self.complete && self.unread == 0 && lost == 0
    }

    /// Forgets what could not be read, or was left out, at and below a place that was scanned since.
    fn settle(&mut self, place: &Path) {
        let before = self.failures.len();
        self.failures.retain(|failure| !failure.path.starts_with(place));
        self.unread = self.unread.saturating_sub((before - self.failures.len()) as u64);
        self.unlisted.paths.retain(|path| !path.starts_with(place));
        self.unlisted.places.retain(|path| !path.starts_with(place));
    }
}

/// The coverage in the notes of a commit, by path.
///
/// # Errors
/// [`Error::Corrupt`] if the note cannot be read.
pub(crate) fn coverage_of(notes: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<Vec<Coverage>> {
    let Some(note) = notes.get(NOTE) else { return Ok(Vec::new()) };
    let damaged = || Error::corrupt("the manifest", "the note about what the index covers cannot be read");
    let Ok(Value::Array(all)) = serde_json::from_slice(note) else { return Err(damaged()) };
    all.iter().map(|one| read(one).ok_or_else(damaged)).collect()
}

/// Adds coverage to the notes of a commit. A complete one replaces what was known of its path and of the
/// paths below it, and settles what could not be read there; an incomplete one replaces only incomplete ones
/// of its path.
///
/// # Errors
/// [`Error::Corrupt`] if the note cannot be read.
pub(crate) fn cover(notes: &mut BTreeMap<Vec<u8>, Vec<u8>>, new: Vec<Coverage>) -> Result<()> {
    let mut all = coverage_of(notes)?;
    for new in new {
        if new.complete && new.format.is_none() {
            all.iter_mut().for_each(|old| old.settle(&new.path));
        }
        all.retain(|old| {
            let same = old.path == new.path;
            let below = new.format.is_none() && old.format.is_none() && old.path.starts_with(&new.path);
            if new.complete { !(same || below) } else { !same || old.complete }
        });
        all.push(new);
    }
    all.sort_by(|one, other| (&one.path, one.began).cmp(&(&other.path, other.began)));
    put_all(notes, &all);
    Ok(())
}

/// Forgets the trees at and below places whose documents were deleted, and what could not be read there.
///
/// # Errors
/// [`Error::Corrupt`] if the note cannot be read.
pub(crate) fn forget(notes: &mut BTreeMap<Vec<u8>, Vec<u8>>, places: &[&Path]) -> Result<()> {
    let mut all = coverage_of(notes)?;
    let before = all.clone();
    for place in places {
        all.iter_mut().for_each(|known| known.settle(place));
        all.retain(|known| known.format.is_some() || !known.path.starts_with(place));
    }
    if all != before {
        put_all(notes, &all);
    }
    Ok(())
}

fn put_all(notes: &mut BTreeMap<Vec<u8>, Vec<u8>>, all: &[Coverage]) {
    let note = Value::Array(all.iter().map(put).collect());
    notes.insert(NOTE.to_vec(), note.to_string().into_bytes());
}

/// At most 10,000 failures, and the number of all.
pub(crate) fn some_of<'f>(failures: impl Iterator<Item = &'f Failure>) -> (Vec<Failure>, u64) {
    let (mut kept, mut count) = (Vec::new(), 0);
    for failure in failures {
        count += 1;
        if kept.len() < FAILURES {
            kept.push(failure.clone());
        }
    }
    (kept, count)
}

fn put(coverage: &Coverage) -> Value {
    let Coverage { path, format, began, ended, entries, directories, complete, unread, .. } = coverage;
    let failures: Vec<Value> = coverage
        .failures
        .iter()
        .map(|Failure { path, reason }| json!({ "path": put_path(path), "reason": reason }))
        .collect();
    let left_out: Map<String, Value> = coverage
        .left_out
        .iter()
        .map(|(what, skipped)| {
            let first = skipped.first.as_deref().map(put_path);
            (what.clone(), json!({ "count": skipped.count, "first": first }))
        })
        .collect();
    json!({
        "path": put_path(path),
        "format": format,
        "began": began,
        "ended": ended,
        "entries": entries,
        "directories": directories,
        "complete": complete,
        "unread": unread,
        "failures": failures,
        "left_out": left_out,
        "unlisted": {
            "paths": put_paths(&coverage.unlisted.paths),
            "more": coverage.unlisted.more,
            "places": put_paths(&coverage.unlisted.places),
        },
        "updated": coverage.updated.as_ref().map(put_updates),
    })
}

fn put_updates(updates: &ListUpdates) -> Value {
    let ListUpdates { format, applied, lists, lost, records } = updates;
    json!({ "format": format, "applied": applied, "lists": lists, "lost": lost, "records": records })
}

fn put_paths(paths: &[PathBuf]) -> Value {
    paths.iter().map(|path| put_path(path)).collect()
}

fn read(value: &Value) -> Option<Coverage> {
    let failure = |value: &Value| {
        let (path, reason) = (read_path(value.get("path")?)?, value.get("reason")?.as_str()?.to_owned());
        Some(Failure { path, reason })
    };
    let skipped = |(what, value): (&String, &Value)| {
        let first = value.get("first")?;
        let first = if first.is_null() { None } else { Some(read_path(first)?) };
        Some((what.clone(), Skipped { count: value.get("count")?.as_u64()?, first }))
    };
    let format = value.get("format")?;
    Some(Coverage {
        path: read_path(value.get("path")?)?,
        format: if format.is_null() { None } else { Some(format.as_str()?.to_owned()) },
        began: value.get("began")?.as_i64()?,
        ended: value.get("ended")?.as_i64()?,
        entries: value.get("entries")?.as_u64()?,
        directories: value.get("directories")?.as_u64()?,
        complete: value.get("complete")?.as_bool()?,
        unread: value.get("unread")?.as_u64()?,
        failures: value.get("failures")?.as_array()?.iter().map(failure).collect::<Option<_>>()?,
        left_out: value.get("left_out")?.as_object()?.iter().map(skipped).collect::<Option<_>>()?,
        unlisted: match value.get("unlisted") {
            // Indexes of earlier versions do not have it.
            None => UnlistedDirectories::default(),
            Some(unlisted) => UnlistedDirectories {
                paths: read_paths(unlisted.get("paths")?)?,
                more: unlisted.get("more")?.as_u64()?,
                places: unlisted.get("places").map_or_else(|| Some(Vec::new()), read_paths)?,
            },
        },
        updated: match value.get("updated") {
            None | Some(Value::Null) => None,
            Some(updates) => Some(read_updates(updates)?),
        },
    })
}

fn read_updates(value: &Value) -> Option<ListUpdates> {
    let record = |(mdt, number): (&String, &Value)| Some((mdt.clone(), number.as_u64()?));
    Some(ListUpdates {
        format: value.get("format")?.as_str()?.to_owned(),
        applied: value.get("applied")?.as_i64()?,
        lists: value.get("lists")?.as_u64()?,
        lost: value.get("lost")?.as_u64()?,
        records: value.get("records")?.as_object()?.iter().map(record).collect::<Option<_>>()?,
    })
}

fn read_paths(value: &Value) -> Option<Vec<PathBuf>> {
    value.as_array()?.iter().map(read_path).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    fn of(path: &str, complete: bool) -> Coverage {
        Coverage { path: path.into(), complete, began: 1, ended: 2, ..Coverage::default() }
    }

    #[test]
    fn coverage_comes_back_as_it_was_noted() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/a/\xff\n\""));
        let full = Coverage {
            path: odd.clone(),
            format: Some("find".into()),
            began: -5,
            ended: i64::MAX,
            entries: u64::MAX,
            directories: 7,
            complete: false,
            unread: 2,
            failures: vec![Failure { path: odd.clone(), reason: "Permission denied".into() }],
            left_out: vec![("pseudo".into(), Skipped { count: 1, first: Some(odd.clone()) })],
            unlisted: UnlistedDirectories {
                paths: vec!["/a/proc".into(), odd.clone()],
                more: 3,
                places: vec![odd],
            },
            updated: Some(ListUpdates {
                format: "lustre".into(),
                applied: 9,
                lists: 2,
                lost: 1,
                records: BTreeMap::from([("fs-MDT0000".into(), u64::MAX)]),
            }),
        };
        let mut notes = BTreeMap::from([(b"mine".to_vec(), b"kept".to_vec())]);
        cover(&mut notes, vec![full.clone()]).unwrap();
        assert_eq!(coverage_of(&notes).unwrap(), [full]);
        assert_eq!(notes.len(), 2);
    }

    #[test]
    fn a_complete_scan_replaces_what_is_below_it_and_an_incomplete_one_does_not() {
        let mut notes = BTreeMap::new();
        cover(&mut notes, vec![of("/a/b", true), of("/ab", true), of("/c", true)]).unwrap();
        let paths = |notes: &BTreeMap<_, _>| -> Vec<(String, bool)> {
            let all = coverage_of(notes).unwrap();
            all.iter().map(|one| (one.path.display().to_string(), one.complete)).collect()
        };
        cover(&mut notes, vec![of("/a", false), of("/c", false)]).unwrap();
        let expected = [("/a", false), ("/a/b", true), ("/ab", true), ("/c", true), ("/c", false)];
        assert_eq!(paths(&notes), expected.map(|(path, complete)| (path.to_owned(), complete)));
        cover(&mut notes, vec![of("/a", true), of("/c", true)]).unwrap();
        let expected = [("/a", true), ("/ab", true), ("/c", true)];
        assert_eq!(paths(&notes), expected.map(|(path, complete)| (path.to_owned(), complete)));
    }

    #[test]
    fn a_later_scan_of_the_place_settles_what_an_earlier_one_could_not_read() {
        let failure = |path: &str| Failure { path: path.into(), reason: "no".into() };
        let first =
            Coverage { failures: vec![failure("/a/x/y"), failure("/a/xy")], unread: 3, ..of("/a", true) };
        let dump = |path: &str| Coverage { format: Some("find".into()), ..of(path, true) };
        for (later, expected) in [
            (of("/a/x", true), (2, 1)),
            (of("/a/x/y", true), (2, 1)),
            (of("/a/x", false), (3, 2)),
            (of("/a/z", true), (3, 2)),
            (dump("/a/x"), (3, 2)),
        ] {
            let mut notes = BTreeMap::new();
            cover(&mut notes, vec![first.clone()]).unwrap();
            cover(&mut notes, vec![later.clone()]).unwrap();
            let all = coverage_of(&notes).unwrap();
            let first = all.iter().find(|one| one.path == Path::new("/a")).unwrap();
            assert_eq!((first.unread, first.failures.len()), expected, "{later:?}");
        }
    }

    #[test]
    fn deleted_places_are_forgotten() {
        let failure = |path: &str| Failure { path: path.into(), reason: "no".into() };
        let failures = vec![failure("/a/x/y"), failure("/a/xy")];
        let dump = Coverage { format: Some("find".into()), ..of("/a/dump", true) };
        let first = Coverage { failures, unread: 2, ..of("/a", true) };
        for (place, expected) in [
            ("/a", &["/a/dump 0", "/ab 0"][..]),
            ("/a/x", &["/a 1", "/a/dump 0", "/ab 0"]),
            ("/a/dump", &["/a 2", "/a/dump 0", "/ab 0"]),
            ("/", &["/a/dump 0"]),
        ] {
            let mut notes = BTreeMap::new();
            cover(&mut notes, vec![first.clone(), dump.clone(), of("/ab", true)]).unwrap();
            forget(&mut notes, &[Path::new(place)]).unwrap();
            let all = coverage_of(&notes).unwrap();
            let left: Vec<_> =
                all.iter().map(|one| format!("{} {}", one.path.display(), one.unread)).collect();
            assert_eq!(left, expected, "{place}");
        }
        let mut none = BTreeMap::new();
        forget(&mut none, &[Path::new("/")]).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn a_damaged_note_is_an_error() {
        for text in ["", "{}", "[1]", r#"[{"path":{"hex":"0"}}]"#] {
            let notes = BTreeMap::from([(NOTE.to_vec(), text.as_bytes().to_vec())]);
            assert!(matches!(coverage_of(&notes), Err(Error::Corrupt { .. })), "{text}");
        }
    }
}
