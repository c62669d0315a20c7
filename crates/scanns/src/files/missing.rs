//! What an answer may lack, because a scan was stopped, or could not read or left out something that it is
//! about; and why a path is not in an index.
//!
//! The command and the Python package say it in these sentences.

use std::path::Path;

use super::indexed_path::indexed_path;
use crate::error::Result;
use crate::index::Coverage;
use crate::index::snapshot::Snapshot;
use crate::query::Query;
use crate::search::Model;
use crate::source::{Failure, is_at_or_below};

/// Writes a path for people.
pub type ShowPath<'a> = &'a dyn Fn(&[u8]) -> String;

/// What a question is about.
#[derive(Clone, Copy, Debug)]
pub struct AskedPlaces<'a> {
    /// The paths in the index; none for everything.
    pub paths: &'a [Vec<u8>],
    /// The greatest level below them that is asked for; 0 are the paths themselves.
    pub depth: Option<usize>,
}

impl AskedPlaces<'_> {
    /// Everything in the index.
    pub const ALL: AskedPlaces<'static> = AskedPlaces { paths: &[], depth: None };
}

/// What an answer may lack, in sentences without a full stop.
///
/// # Errors
/// The errors of [`Snapshot::coverage`].
pub fn missing_entries(
    snapshot: &Snapshot,
    asked: AskedPlaces<'_>,
    show: ShowPath<'_>,
) -> Result<Vec<String>> {
    let all = snapshot.coverage()?;
    let has = |path: &Path| snapshot.hit(path.as_os_str().as_encoded_bytes()).is_ok_and(|hit| hit.is_some());
    let unread =
        all.iter().filter(|one| !one.is_whole()).filter_map(|one| missing_of(one, asked, &has, show));
    let left_out = asked.paths.iter().filter_map(|path| {
        let (place, tree) = left_out_above(&all, path, asked.depth, &has)?;
        Some(format!("entries may be missing: {}", left_out_text(place, tree, show)))
    });
    let mut lacks: Vec<String> = unread.chain(left_out).collect();
    lacks.dedup();
    Ok(lacks)
}

/// Says of each path, which is not in the index, why, or how the paths of the index look if nothing above the
/// first of them is in it. `files_alone` describes an index of the text of files, which has no directories.
pub fn not_in_index(
    snapshot: &Snapshot,
    missing: &[Vec<u8>],
    files_alone: &str,
    show: ShowPath<'_>,
) -> Vec<String> {
    let Some(first) = missing.first() else { return Vec::new() };
    let place = indexed_path(snapshot, first);
    let has = |path: &[u8]| !path.is_empty() && snapshot.hit(path).is_ok_and(|hit| hit.is_some());
    let is_near = crate::source::ancestors(&place).any(has);
    let form = match example(snapshot) {
        _ if !snapshot.has_entries() => format!(", which has {files_alone}"),
        _ if is_near => String::new(),
        None => ", which is empty".into(),
        Some(path) if path.starts_with(b"/") && !first.starts_with(b"/") => {
            format!(", whose paths are absolute, such as {}", show(&path))
        }
        Some(path) => format!(", which has paths such as {}", show(&path)),
    };
    // What cannot be read is reported by the question that was asked.
    let all = snapshot.coverage().unwrap_or_default();
    let note = |path: &Vec<u8>| {
        let form = match left_out_above(&all, &indexed_path(snapshot, path), None, &|_| false) {
            Some((place, tree)) => format!(", since {}", left_out_text(place, tree, show)),
            None if path == first => form.clone(),
            None => String::new(),
        };
        format!("{}: not in the index{form}", show(path))
    };
    missing.iter().map(note).collect()
}

/// A path that the index has: a directory that was scanned, or else the first of its entries.
fn example(snapshot: &Snapshot) -> Option<Vec<u8>> {
    // What cannot be read is reported by the question that was asked.
    let covered = snapshot.coverage().unwrap_or_default();
    let scanned = covered.into_iter().find(|coverage| coverage.format.is_none());
    if let Some(scanned) = scanned {
        return Some(scanned.path.into_os_string().into_encoded_bytes());
    }
    let hits = snapshot.searcher().top_k(&Query::All, Model::Classic, 1).ok()?;
    snapshot.key(hits.first()?).ok()
}

/// The place at or above a path that was left out on purpose, if the index lacks the path for that reason,
/// and what left it out.
fn left_out_above<'c>(
    all: &'c [Coverage],
    path: &[u8],
    depth: Option<usize>,
    has: &dyn Fn(&Path) -> bool,
) -> Option<(&'c Path, &'static str)> {
    let is_above =
        |place: &Path| !path.is_empty() && is_at_or_below(path, place.as_os_str().as_encoded_bytes());
    all.iter().find_map(|coverage| {
        let place = coverage.unlisted.places.iter().find(|place| is_above(place))?;
        let is_itself = place.as_os_str().as_encoded_bytes() == path;
        if is_itself && depth == Some(0) && has(place) {
            return None;
        }
        Some((place.as_path(), if coverage.format.is_some() { "dump" } else { "scan" }))
    })
}

fn left_out_text(place: &Path, tree: &str, show: ShowPath<'_>) -> String {
    format!("{} was left out of the {tree}", show(place.as_os_str().as_encoded_bytes()))
}

fn missing_of(
    coverage: &Coverage,
    asked: AskedPlaces<'_>,
    has: &dyn Fn(&Path) -> bool,
    show: ShowPath<'_>,
) -> Option<String> {
    let root = [coverage.path.as_os_str().as_encoded_bytes().to_vec()];
    let asked = match (asked.paths, &coverage.format) {
        ([], None) => AskedPlaces { paths: &root, ..asked },
        _ => asked,
    };
    // It is not known which directories a dump should have.
    let is_asked = |path: &Path| asked.has(path, asked.depth.is_some() && has(path));
    let is_whole_asked = match coverage.format {
        Some(_) => asked.depth != Some(0),
        None => is_asked(&coverage.path),
    };
    let place = show(coverage.path.as_os_str().as_encoded_bytes());
    match (&coverage.format, coverage.complete) {
        (Some(_), false) if is_whole_asked => {
            return Some(format!("entries may be missing: the dump {place} was not read completely"));
        }
        (None, false) if is_whole_asked => {
            return Some(format!("entries may be missing: the scan of {place} was stopped"));
        }
        _ => {}
    }
    let unread: Vec<&Failure> = coverage.failures.iter().filter(|failure| is_asked(&failure.path)).collect();
    if let Some(Failure { path, reason }) = unread.first() {
        let first = show(path.as_os_str().as_encoded_bytes());
        return Some(match unread.len() as u64 {
            1 => format!("entries may be missing: {first} could not be read: {reason}"),
            count => {
                let paths = paths_text(count);
                format!("entries may be missing: {paths} could not be read; the first is {first}: {reason}")
            }
        });
    }
    if coverage.unread > coverage.failures.len() as u64 && is_whole_asked {
        let paths = paths_text(coverage.unread);
        return Some(format!("entries may be missing: {paths} of {place} could not be read"));
    }
    let lost = coverage.updated.as_ref().map_or(0, |updated| updated.lost);
    (lost > 0 && is_whole_asked).then(|| format!("changes of {place} may be missing"))
}

/// A number of paths: `1 path`, `1,234 paths`.
fn paths_text(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{text} path{}", if count == 1 { "" } else { "s" })
}

impl AskedPlaces<'_> {
    /// True if entries that are asked for are in `place`, or are `place` itself if the index lacks it.
    fn has(&self, place: &Path, is_known: bool) -> bool {
        let place = place.as_os_str().as_encoded_bytes();
        let most = self.depth.unwrap_or(usize::MAX);
        let is_in = |path: &Vec<u8>| {
            if path.is_empty() {
                return true;
            }
            if is_at_or_below(path, place) {
                return path.len() > place.len() || !is_known || most > 0;
            }
            let rest = place.get(path.len()..).unwrap_or_default();
            let levels = rest.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).count();
            is_at_or_below(place, path) && levels + usize::from(is_known) <= most
        };
        self.paths.is_empty() || self.paths.iter().any(is_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_matters_where_entries_in_it_are_asked_for() {
        for (path, depth, place, is_known, expected) in [
            ("/r", None, "/r/a/b", true, true),
            ("/r", Some(2), "/r/a/b", true, false),
            ("/r", Some(2), "/r/a/b", false, true),
            ("/r", Some(3), "/r/a/b", true, true),
            ("/r/a/b", Some(0), "/r/a/b", true, false),
            ("/r/a/b", Some(1), "/r/a/b", true, true),
            ("/r/a/b/c", Some(0), "/r/a/b", true, true),
            ("/r/other", None, "/r/a/b", true, false),
            ("/r/a/bc", None, "/r/a/b", true, false),
            ("/", None, "/r", true, true),
        ] {
            let paths = [path.as_bytes().to_vec()];
            let asked = AskedPlaces { paths: &paths, depth };
            assert_eq!(asked.has(Path::new(place), is_known), expected, "{path} {depth:?} {place}");
        }
        assert_eq!(
            [1, 12, 1234, 1_234_567].map(paths_text),
            ["1 path", "12 paths", "1,234 paths", "1,234,567 paths"]
        );
    }
}
