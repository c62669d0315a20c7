//! The entries of a directory, in the wanted order.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::ops::ControlFlow;

use super::options::{ListHidden, ListOptions, ListSort};
use super::version::by_version;
use crate::error::Result;
use crate::files::entries::ALL;
use crate::files::known::IndexFacts;
use crate::files::order::parent;
use crate::files::select::{below, inside};
use crate::source::{Entry, EntryBatch};

/// An entry with the name that is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListEntry<'e> {
    pub(super) name: &'e [u8],
    pub(super) entry: Entry<'e>,
    /// False for a directory above those of the index.
    pub(super) is_known: bool,
}

/// Entries by the directory that they are in.
#[derive(Debug, Default)]
pub(super) struct ListPlaces(HashMap<Vec<u8>, EntryBatch>);

impl ListPlaces {
    /// Reads the entries of a directory, or of all directories below it, too.
    pub(super) fn read(facts: &IndexFacts<'_>, directory: &[u8], recursive: bool) -> Result<Self> {
        let mut places = HashMap::new();
        let query =
            if recursive { below(&facts.reader, directory) } else { inside(&facts.reader, directory) };
        let mut last: (Vec<u8>, EntryBatch) = (directory.to_vec(), EntryBatch::default());
        facts.reader.for_each(&query, &ALL, &mut |entry| {
            if entry.path == directory {
                return Ok(ControlFlow::Continue(()));
            }
            let place = parent(entry.path);
            if place != last.0 {
                let next = (place.to_vec(), places.remove(place).unwrap_or_default());
                let (path, batch) = std::mem::replace(&mut last, next);
                places.insert(path, batch);
            }
            last.1.push(entry);
            Ok(ControlFlow::Continue(()))
        })?;
        places.insert(last.0, last.1);
        Ok(ListPlaces(places))
    }

    /// The entries of a directory, without their order.
    pub(super) fn entries(&self, directory: &[u8], hidden: ListHidden) -> Vec<ListEntry<'_>> {
        let entries = self.0.get(directory).into_iter().flat_map(EntryBatch::iter);
        let named = entries.map(|entry| ListEntry { name: last_name(entry.path), entry, is_known: true });
        named.filter(|entry| hidden != ListHidden::None || !entry.name.starts_with(b".")).collect()
    }
}

/// The part of a path after its last slash.
fn last_name(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).and_then(|slash| path.get(slash + 1..)).unwrap_or(path)
}

/// Sorts entries.
pub(super) fn sort(entries: &mut [ListEntry<'_>], options: &ListOptions) {
    if options.sort == ListSort::Unsorted {
        return;
    }
    entries.sort_by(|one, other| {
        let order = order(one, other, options).then_with(|| one.name.cmp(other.name));
        if options.reverse { order.reverse() } else { order }
    });
}

/// The order of two entries; those that are equal are in the order of their names.
fn order(one: &ListEntry<'_>, other: &ListEntry<'_>, options: &ListOptions) -> Ordering {
    match options.sort {
        ListSort::Unsorted | ListSort::Name => Ordering::Equal,
        ListSort::Time => {
            let time = |entry: &ListEntry<'_>| Reverse(options.date.of(&entry.entry).unwrap_or(0));
            time(one).cmp(&time(other))
        }
        ListSort::Size => {
            let size = |entry: &ListEntry<'_>| Reverse(entry.entry.size.unwrap_or(0));
            size(one).cmp(&size(other))
        }
        ListSort::Extension => extension(one.name).cmp(extension(other.name)),
        ListSort::Version => by_version(one.name, other.name),
    }
}

/// The last dot of a name and what follows it.
fn extension(name: &[u8]) -> &[u8] {
    memchr::memrchr(b'.', name).and_then(|dot| name.get(dot..)).unwrap_or_default()
}
