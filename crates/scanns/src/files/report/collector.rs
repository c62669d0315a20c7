//! Collects what a report tells, from entries in any order.
//!
//! Memory holds a node for each directory, the files with several names, and the different owners, groups and
//! extensions (about a million at most). Everything else is of fixed size.

use hashbrown::HashMap;

use super::classes::AgeTable;
use super::directories::DirectoryTable;
use super::facts::{EntryFacts, LinkedKey, extension, linked_key};
use super::lists::ReportLists;
use super::names::NameTable;
use super::options::ReportOptions;
use super::unknown::UnknownCounter;
use crate::files::order::walk_order;
use crate::source::{Entry, EntryKind};

/// A file with several names: the first of them, and what is counted.
#[derive(Debug)]
struct LinkedNames {
    path: Vec<u8>,
    facts: EntryFacts,
}

/// Collects what a report tells.
#[derive(Debug)]
pub(super) struct ReportCollector {
    pub(super) options: ReportOptions,
    pub(super) directories: DirectoryTable,
    pub(super) lists: ReportLists,
    pub(super) owners: NameTable,
    pub(super) groups: NameTable,
    pub(super) extensions: NameTable,
    pub(super) types: NameTable,
    pub(super) cold: NameTable,
    pub(super) modified: AgeTable,
    pub(super) accessed: AgeTable,
    pub(super) unknown: UnknownCounter,
    /// Names of files that were counted by another name.
    pub(super) further_names: u64,
    linked: HashMap<LinkedKey, LinkedNames>,
    /// An extension in lower case.
    lower: Vec<u8>,
}

impl ReportCollector {
    pub(super) fn new(options: ReportOptions) -> Self {
        ReportCollector {
            options,
            directories: DirectoryTable::new(),
            lists: ReportLists::new(&options),
            owners: NameTable::new(),
            groups: NameTable::new(),
            extensions: NameTable::new(),
            types: NameTable::new(),
            cold: NameTable::new(),
            modified: AgeTable::default(),
            accessed: AgeTable::default(),
            unknown: UnknownCounter::default(),
            further_names: 0,
            linked: HashMap::new(),
            lower: Vec::new(),
        }
    }

    /// Takes an entry.
    pub(super) fn push(&mut self, entry: &Entry<'_>) {
        let owner = number_of(&mut self.owners, entry.owner, entry.uid);
        let group = number_of(&mut self.groups, entry.group, entry.gid);
        let facts = EntryFacts::new(entry, owner, group, &self.options);
        self.unknown.add(entry);
        let (directory, name) = split(entry.path);
        let around = self.directories.number(directory);
        let depth = self.directories.depth() + usize::from(!name.is_empty());
        self.lists.path(entry.path, name.len(), depth);
        if let Some(node) = self.directories.node(around).filter(|_| !name.is_empty()) {
            node.direct += 1;
        }
        match linked_key(entry) {
            Some(key) => self.linked(key, entry.path, facts),
            None => self.count(entry.path, around, &facts),
        }
    }

    /// Keeps a name of a file with several names if it is the first.
    fn linked(&mut self, key: LinkedKey, path: &[u8], facts: EntryFacts) {
        let Some(known) = self.linked.get_mut(&key) else {
            self.linked.insert(key, LinkedNames { path: path.to_vec(), facts });
            return;
        };
        self.further_names += 1;
        if walk_order(path, &known.path).is_lt() {
            *known = LinkedNames { path: path.to_vec(), facts };
        }
    }

    /// Counts an entry, once for all its names.
    fn count(&mut self, path: &[u8], around: u32, facts: &EntryFacts) {
        let is_directory = facts.kind == Some(EntryKind::Directory);
        let place = if is_directory { self.directories.number(path) } else { around };
        if let Some(node) = self.directories.node(place) {
            node.own += facts.sums;
            node.is_known |= is_directory;
        }
        let kind = facts.kind.map_or(NameTable::NONE, |kind| self.types.number(kind.name().as_bytes()));
        self.types.add(kind, facts.sums);
        self.owners.add(facts.owner, facts.sums);
        self.groups.add(facts.group, facts.sums);
        let owner = self.owners.name(facts.owner);
        self.lists.entry(path, facts, owner);
        if facts.is_file() {
            if facts.is_cold {
                let owner = owner.map_or(NameTable::NONE, |owner| self.cold.number(owner));
                self.cold.add(owner, facts.sums);
            }
            self.file(split(path).1, facts);
        }
    }

    /// Counts a file by extension, age and size.
    fn file(&mut self, name: &[u8], facts: &EntryFacts) {
        let extension = match extension(name) {
            None => NameTable::NONE,
            Some(extension) if extension.iter().any(u8::is_ascii_uppercase) => {
                self.lower.clear();
                self.lower.extend(extension.iter().map(u8::to_ascii_lowercase));
                self.extensions.number(&self.lower)
            }
            Some(extension) => self.extensions.number(extension),
        };
        self.extensions.add(extension, facts.sums);
        self.modified.add(facts.modified, facts.size_class, facts.sums);
        self.accessed.add(facts.accessed, facts.size_class, facts.sums);
    }

    /// Adds what another collector has collected of other entries.
    pub(super) fn merge(&mut self, other: ReportCollector) {
        self.directories.merge(&other.directories);
        self.lists.merge(other.lists);
        let owners = self.owners.merge(&other.owners);
        let groups = self.groups.merge(&other.groups);
        self.extensions.merge(&other.extensions);
        self.types.merge(&other.types);
        self.cold.merge(&other.cold);
        self.modified.merge(&other.modified);
        self.accessed.merge(&other.accessed);
        self.unknown.merge(&other.unknown);
        self.further_names += other.further_names;
        let renumbered = |numbers: &[u32], number: u32| {
            let number = usize::try_from(number).ok().and_then(|number| numbers.get(number));
            number.copied().unwrap_or(NameTable::NONE)
        };
        for (key, LinkedNames { path, mut facts }) in other.linked {
            facts.owner = renumbered(&owners, facts.owner);
            facts.group = renumbered(&groups, facts.group);
            self.linked(key, &path, facts);
        }
    }

    /// Counts the files with several names. Nothing can be collected afterwards.
    pub(super) fn end(&mut self) {
        for LinkedNames { path, facts } in std::mem::take(&mut self.linked).into_values() {
            let around = self.directories.number(split(&path).0);
            self.count(&path, around, &facts);
        }
    }
}

/// The number of the name of an owner, or else of the digits of its number.
fn number_of(names: &mut NameTable, name: Option<&[u8]>, id: Option<u32>) -> u32 {
    match (name, id) {
        (Some(name), _) => names.number(name),
        (None, Some(id)) => names.number(id.to_string().as_bytes()),
        (None, None) => NameTable::NONE,
    }
}

/// The directory and the name of a path. The root has no name, and a relative name is in the directory with
/// the empty path.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', path) {
        Some(slash) => {
            let (directory, name) = path.split_at(slash);
            let directory = if slash == 0 { path.get(..1).unwrap_or_default() } else { directory };
            (directory, name.get(1..).unwrap_or_default())
        }
        None => (b"", path),
    }
}
