//! The uppermost entries of an index: those that are below no other.
//!
//! They are found in the sorted directories of the segments. From each directory that no entry covers, its
//! entries are read, and what is below them is skipped, so a tree with one root takes a few look-ups.

use super::entries::EntryReader;
use super::order::{below_prefix, walk_order};
use crate::column::{Column, DictionaryReader};
use crate::error::Result;
use crate::schema::Value;
use crate::segment::Segment;
use crate::source::is_below;

/// The most uppermost entries that are listed.
const MOST_TOPS: usize = 100;

/// The most ranges of documents of one directory.
const MOST_RANGES: usize = 4_096;

/// The directories of a segment that have not been passed.
struct RestOfDirectories<'s> {
    segment: &'s Segment,
    paths: &'s Column,
    terms: &'s DictionaryReader,
    /// The number of the next directory.
    next: u32,
    /// The next directory, if there is one.
    directory: Vec<u8>,
}

impl RestOfDirectories<'_> {
    fn is_at_end(&self) -> bool {
        self.next >= self.terms.len()
    }

    /// Goes on to the directory with this number.
    fn seek(&mut self, number: u32) -> Result<()> {
        self.next = number;
        self.directory.clear();
        if self.is_at_end() { Ok(()) } else { self.terms.term(number, &mut self.directory) }
    }

    /// Skips all directories that begin with `prefix`, which the next one does.
    fn skip_below(&mut self, prefix: &[u8]) -> Result<()> {
        let below = self.terms.prefix_range(prefix)?;
        self.seek(below.end.max(self.next + 1))
    }

    /// Adds the paths of the live entries in the next directory. Returns false if there are too many.
    fn add_entries(&self, found: &mut Vec<Vec<u8>>) -> Result<bool> {
        let number = u64::from(self.next);
        let Some(ranges) = self.paths.ranges_within(number, number, MOST_RANGES)? else { return Ok(false) };
        let mut values = Vec::new();
        for doc in ranges.into_iter().flatten().filter(|&doc| self.segment.is_live(doc)) {
            if found.len() > MOST_TOPS {
                return Ok(false);
            }
            values.clear();
            self.paths.values_of(doc, &mut values)?;
            found.extend(values.drain(..).filter_map(|value| match value {
                Value::Text(path) => Some(path),
                _ => None,
            }));
        }
        Ok(true)
    }
}

/// Returns the uppermost entries, in the order of a walk; `None` if there are many, as of a list of files.
pub(super) fn tops(reader: &EntryReader<'_>) -> Result<Option<Vec<Vec<u8>>>> {
    let mut rests = Vec::new();
    for segment in reader.snapshot.leaves() {
        let Some(paths) = segment.column(reader.field("path")) else { continue };
        let Some(terms) = paths.terms() else { continue };
        let mut rest = RestOfDirectories { segment, paths, terms, next: 0, directory: Vec::new() };
        rest.seek(0)?;
        rests.push(rest);
    }
    let mut tops: Vec<Vec<u8>> = Vec::new();
    loop {
        rests.retain(|rest| !rest.is_at_end());
        let Some(directory) = rests.iter().map(|rest| &rest.directory).min().cloned() else { break };
        // An entry covers directories that begin with its path and a slash; the root covers all that begin
        // so.
        if let Some(prefix) = tops.iter().map(|top| below_prefix(top)).find(|top| directory.starts_with(top))
        {
            for rest in rests.iter_mut().filter(|rest| rest.directory.starts_with(&prefix)) {
                rest.skip_below(&prefix)?;
            }
            continue;
        }
        let mut here = Vec::new();
        for rest in rests.iter_mut().filter(|rest| rest.directory == directory) {
            if !rest.add_entries(&mut here)? {
                return Ok(None);
            }
            rest.seek(rest.next + 1)?;
        }
        tops.append(&mut here);
        tops.sort_unstable_by(|one, other| walk_order(one, other));
        tops.dedup_by(|next, top| next == top || is_below(next, top));
        if tops.len() > MOST_TOPS {
            return Ok(None);
        }
    }
    Ok(Some(tops))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::{fs, path};

    use super::*;
    use crate::index::build::options::DumpOptions;
    use crate::index::handle::Index;
    use crate::index::snapshot::Snapshot;
    use crate::index::{IndexOptions, Progress};
    use crate::record::dump::DumpFormat;

    #[test]
    fn the_uppermost_entries_are_those_below_no_other() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..12 {
            let place = tempfile::tempdir().unwrap();
            let (dump, index) = (place.path().join("dump"), place.path().join("index"));
            let names = ["a", "a-", "a!", "b", "ab", "\u{e9}"];
            let mut all = BTreeSet::new();
            for _ in 0..random.usize(1..60) {
                let depth = random.usize(1..5);
                let path: String =
                    (0..depth).map(|_| format!("/{}", random.choice(names).unwrap())).collect();
                all.insert(path);
            }
            if random.u8(..8) == 0 {
                all.insert("/".into());
            }
            // Each half becomes a segment.
            let rows: Vec<String> = all.iter().map(|path| format!("{path}\td\n")).collect();
            for half in rows.chunks(rows.len().div_ceil(2)) {
                fs::write(&dump, half.concat()).unwrap();
                build(&index, &dump);
            }
            let snapshot = Snapshot::open(&index).unwrap();
            let found = tops(&EntryReader::new(&snapshot).unwrap()).unwrap();
            let above = |path: &String| all.iter().any(|other| is_below(path.as_bytes(), other.as_bytes()));
            let mut expected: Vec<Vec<u8>> =
                all.iter().filter(|path| !above(path)).map(|path| path.clone().into_bytes()).collect();
            expected.sort_by(|one, other| walk_order(one, other));
            assert_eq!(found, Some(expected), "seed {seed} round {round} {all:?}");
        }
    }

    fn build(index: &path::Path, dump: &path::Path) {
        let format = DumpFormat::Named { name: "find", details: Some("%p\\t%y\\n".into()) };
        let dump = DumpOptions { files: vec![dump.to_path_buf()], format, ..DumpOptions::default() };
        let options = IndexOptions { dump: Some(dump), keep_removed: true, ..IndexOptions::default() };
        Index::at(index).build(&options, &Progress::new(), &Arc::default()).unwrap();
    }
}
