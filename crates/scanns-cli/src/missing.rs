//! What an answer may lack, because a scan was stopped, or could not read or left out something that it is
//! about.

use std::path::Path;

use anyhow::Result;
use scanns::Snapshot;
use scanns::index::Coverage;
use scanns::sources::{Failure, is_at_or_below};

use crate::report::{self, Outcome, path_text};
use crate::units;

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

/// Says on standard error what the answer may lack. Returns true if there is anything.
pub fn note_missing(snapshot: &Snapshot, index: &Path, asked: AskedPlaces<'_>) -> Result<bool> {
    let missing = missing(snapshot, asked)?;
    if let Some((last, others)) = missing.split_last() {
        others.iter().for_each(|text| report::note(text));
        report::note(&format!("{last}; scanns info {} --completeness tells more", path_text(index)));
    }
    Ok(!missing.is_empty())
}

/// What the answer may lack, in sentences without a full stop.
pub fn missing(snapshot: &Snapshot, asked: AskedPlaces<'_>) -> Result<Vec<String>> {
    let all = snapshot.coverage()?;
    let has = |path: &Path| snapshot.hit(path.as_os_str().as_encoded_bytes()).is_ok_and(|hit| hit.is_some());
    let unread = all.iter().filter(|one| !one.is_whole()).filter_map(|one| missing_of(one, asked, &has));
    let left_out = asked.paths.iter().filter_map(|path| left_out_above(&all, path, asked.depth, &has));
    let left_out = left_out.map(|place| format!("entries may be missing: {place}"));
    let mut lacks: Vec<String> = unread.chain(left_out).collect();
    lacks.dedup();
    Ok(lacks)
}

/// Says which place at or above a path was left out on purpose, if the index lacks it for that reason.
pub fn left_out(snapshot: &Snapshot, path: &[u8]) -> Option<String> {
    // What cannot be read is reported by the question that was asked.
    left_out_above(&snapshot.coverage().ok()?, path, None, &|_| false)
}

fn left_out_above(
    all: &[Coverage],
    path: &[u8],
    depth: Option<usize>,
    has: &dyn Fn(&Path) -> bool,
) -> Option<String> {
    let is_above =
        |place: &Path| !path.is_empty() && is_at_or_below(path, place.as_os_str().as_encoded_bytes());
    all.iter().find_map(|coverage| {
        let place = coverage.unlisted.places.iter().find(|place| is_above(place))?;
        let is_itself = place.as_os_str().as_encoded_bytes() == path;
        if is_itself && depth == Some(0) && has(place) {
            return None;
        }
        let tree = if coverage.format.is_some() { "dump" } else { "scan" };
        Some(format!("{} was left out of the {tree}", path_text(place)))
    })
}

fn missing_of(coverage: &Coverage, asked: AskedPlaces<'_>, has: &dyn Fn(&Path) -> bool) -> Option<String> {
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
    let place = path_text(&coverage.path);
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
        let first = path_text(path);
        return Some(match unread.len() as u64 {
            1 => format!("entries may be missing: {first} could not be read: {reason}"),
            count => {
                let paths = units::counted(count, "path");
                format!("entries may be missing: {paths} could not be read; the first is {first}: {reason}")
            }
        });
    }
    if coverage.unread > coverage.failures.len() as u64 && is_whole_asked {
        let paths = units::counted(coverage.unread, "path");
        return Some(format!("entries may be missing: {paths} of {place} could not be read"));
    }
    let lost = coverage.updated.as_ref().map_or(0, |updated| updated.lost);
    (lost > 0 && is_whole_asked).then(|| format!("changes of {place} may be missing"))
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

impl Outcome {
    /// The outcome of an answer that may lack something.
    pub fn lacking(self, is_lacking: bool) -> Self {
        if is_lacking && self == Outcome::Done { Outcome::WithFailures } else { self }
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
    }
}
