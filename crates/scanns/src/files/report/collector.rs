//! Collects what a report tells, from entries in any order.
//!
//! Memory holds a node for each directory, the files with several names, and the different owners, groups and
//! extensions (about a million at most). Everything else is of fixed size.

use hashbrown::HashMap;

use super::classes::AgeTable;
use super::columns::{ReportColumns, SplitPath, directory_of};
use super::directories::DirectoryTable;
use super::facts::{EntryFacts, LinkedKey, extension};
use super::lists::ReportLists;
use super::names::{KindSums, NameTable, SumsByName};
use super::numbered::NumberedStrings;
use super::options::ReportOptions;
use super::unknown::UnknownCounter;
use crate::source::EntryKind;

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
    pub(super) types: KindSums,
    /// By owner, the sums of cold files.
    pub(super) cold: SumsByName,
    pub(super) modified: AgeTable,
    pub(super) accessed: AgeTable,
    pub(super) unknown: UnknownCounter,
    /// Names of files that were counted by another name.
    pub(super) further_names: u64,
    linked: HashMap<LinkedKey, LinkedNames>,
    known: NumberedStrings,
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
            types: KindSums::default(),
            cold: SumsByName::default(),
            modified: AgeTable::default(),
            accessed: AgeTable::default(),
            unknown: UnknownCounter::default(),
            further_names: 0,
            linked: HashMap::new(),
            known: NumberedStrings::default(),
            lower: Vec::new(),
        }
    }

    /// Takes the first `rows` entries of a batch.
    pub(super) fn push(&mut self, columns: &ReportColumns<'_>, rows: usize) {
        let mut known = std::mem::take(&mut self.known);
        known.fill(columns, &mut self.directories, &mut self.owners, &mut self.groups);
        for row in 0..rows {
            let (around, depth) = known.directory(columns, row);
            let path = columns.path(row);
            let values = known.values(columns, row, &mut self.owners, &mut self.groups);
            self.unknown.add(path, &values);
            self.lists.path(path, depth + usize::from(!path.name.is_empty()));
            if let Some(node) = self.directories.node(around).filter(|_| !path.name.is_empty()) {
                node.direct += 1;
            }
            let facts = EntryFacts::new(&values, &self.options);
            let has_several = columns.links.first(row).is_some_and(|links| links > 1)
                && values.kind != Some(EntryKind::Directory);
            match columns.inode.first(row).filter(|_| has_several) {
                Some(inode) => self.linked((columns.device.first(row), inode), path, facts),
                None => self.count(path, around, &facts),
            }
        }
        self.known = known;
    }

    /// Keeps a name of a file with several names if it is the first.
    fn linked(&mut self, key: LinkedKey, path: SplitPath<'_>, facts: EntryFacts) {
        let Some(known) = self.linked.get_mut(&key) else {
            self.linked.insert(key, LinkedNames { path: path.to_vec(), facts });
            return;
        };
        self.further_names += 1;
        if path.walk_order(&known.path).is_lt() {
            *known = LinkedNames { path: path.to_vec(), facts };
        }
    }

    /// Counts an entry, once for all its names. `around` is the number of its directory.
    fn count(&mut self, path: SplitPath<'_>, around: u32, facts: &EntryFacts) {
        let is_directory = facts.kind == Some(EntryKind::Directory);
        let place = if is_directory { self.place(path, around) } else { around };
        if let Some(node) = self.directories.node(place) {
            node.own += facts.sums;
            node.is_known |= is_directory;
        }
        self.types.add(facts.kind, facts.sums);
        self.owners.add(facts.owner, facts.sums);
        self.groups.add(facts.group, facts.sums);
        self.lists.entry(path, facts, self.owners.name(facts.owner));
        if facts.is_file() {
            if facts.is_cold {
                self.cold.add(facts.owner, facts.sums);
            }
            self.file(path.name, facts);
        }
    }

    /// The number of a directory in the directory with the number `around`.
    fn place(&mut self, path: SplitPath<'_>, around: u32) -> u32 {
        match path {
            SplitPath { name: [], .. } => around,
            // An empty name is below the root.
            SplitPath { directory: b"//", .. } => self.directories.number(&path.to_vec()),
            SplitPath { name, .. } => self.directories.child(around, name),
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
        self.cold.merge(&other.cold, &owners);
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
            self.linked(key, SplitPath::of(&path), facts);
        }
    }

    /// Counts the files with several names. Nothing can be collected afterwards.
    pub(super) fn end(&mut self) {
        for LinkedNames { path, facts } in std::mem::take(&mut self.linked).into_values() {
            let path = SplitPath::of(&path);
            let around = self.directories.number(directory_of(path.directory));
            self.count(path, around, &facts);
        }
    }
}
