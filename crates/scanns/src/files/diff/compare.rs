//! Reads two sorted trees side by side and tells how they differ.

use super::super::place::common;
use super::super::unread::{UnreadPlaces, UnreadReason};
use super::fields::{ENTRY_FIELDS, EntryField, EntryFieldSet, FieldRules};
use super::moves::{Moves, PathEntries, side_by_side};
use super::tree::{DiffOptions, SortedTree, TreeReport};
use crate::error::Result;
use crate::source::Entry;

/// What has happened to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DifferenceKind {
    /// It is only in the new tree.
    Added,
    /// It is only in the old tree.
    Removed,
    /// It has another path.
    Moved,
    /// It has other values under its path, or under the path to which its directory has moved.
    Changed,
    /// It is the same, but its directory has moved.
    Along,
    /// It is in one tree, and the other one could not be read or was not looked at where it would be.
    Unseen,
}

/// A difference between two trees.
#[derive(Clone, Copy, Debug)]
pub struct Difference<'a> {
    /// What has happened.
    pub kind: DifferenceKind,
    /// The entry in the old tree, unless it was added.
    pub old: Option<Entry<'a>>,
    /// The entry in the new tree, unless it was removed.
    pub new: Option<Entry<'a>>,
    /// The fields that differ, if it is in both.
    pub fields: EntryFieldSet,
    /// The deepest directory that has all entries of both trees; empty if there is none.
    pub top: &'a [u8],
}

/// Takes differences, in the order of their paths: of removed entries the old one, of others the new one.
pub type VisitDifference<'v> = dyn FnMut(&Difference<'_>) -> Result<()> + 'v;

/// The number of entries by what has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiffCounts {
    /// Entries that are only in the new tree.
    pub added: u64,
    /// Entries that are only in the old tree.
    pub removed: u64,
    /// Entries with another path.
    pub moved: u64,
    /// Entries with other values.
    pub changed: u64,
    /// Entries whose directory has moved.
    pub along: u64,
    /// Entries of one tree where the other one could not be read or was not looked at.
    pub unseen: u64,
    /// Entries that do not differ.
    pub same: u64,
}

impl DiffCounts {
    /// True if there is no difference.
    pub fn is_same(&self) -> bool {
        self.added + self.removed + self.moved + self.changed + self.along + self.unseen == 0
    }

    fn add(&mut self, kind: DifferenceKind) {
        let count = match kind {
            DifferenceKind::Added => &mut self.added,
            DifferenceKind::Removed => &mut self.removed,
            DifferenceKind::Moved => &mut self.moved,
            DifferenceKind::Changed => &mut self.changed,
            DifferenceKind::Along => &mut self.along,
            DifferenceKind::Unseen => &mut self.unseen,
        };
        *count += 1;
    }
}

/// The result of [`compare_trees`](super::compare_trees).
#[derive(Clone, Debug, Default)]
pub struct DiffReport {
    /// The number of entries by what has happened.
    pub counts: DiffCounts,
    /// What was read of the old tree.
    pub old: TreeReport,
    /// What was read of the new tree.
    pub new: TreeReport,
    /// Fields that only one of two entries has, and the number of such pairs.
    pub unknown: Vec<(EntryField, u64)>,
    /// True if added and removed entries were too many to find moves.
    pub moves_unknown: bool,
    /// True if a tree has no inodes, by which moves are found.
    pub inodes_unknown: bool,
    /// True if times were compared in whole seconds, because one tree has no fractions.
    pub whole_seconds: bool,
}

/// Compares two sorted trees.
pub(super) fn compare_sorted(
    old: &SortedTree,
    new: &SortedTree,
    options: &DiffOptions,
    visit: &mut VisitDifference<'_>,
) -> Result<DiffReport> {
    let whole_seconds = old.facts.is_fine() != new.facts.is_fine();
    let rules = FieldRules { ignored: options.ignored, whole_seconds };
    let with_devices = old.facts.knows_devices() && new.facts.knows_devices();
    let moves = Moves::find(old, new, rules, with_devices, options.memory / 3 * 2)?;
    let unknown = [0; ENTRY_FIELDS.len()];
    let mut comparison = TreeComparison {
        rules,
        moves: &moves,
        removed: 0,
        added: 0,
        counts: DiffCounts::default(),
        unknown,
        unseen_in_old: UnseenEntries::new(&old.unread),
        unseen_in_new: UnseenEntries::new(&new.unread),
        top: top(old, new),
    };
    let (olds, news) = side_by_side(&old.entries, &new.entries, |entries| {
        if let Some(difference) = comparison.difference(&entries) {
            visit(&difference)?;
        }
        Ok(true)
    })?;
    let unknown = ENTRY_FIELDS.into_iter().zip(comparison.unknown);
    Ok(DiffReport {
        counts: comparison.counts,
        unknown: unknown.filter(|(_, count)| *count > 0).collect(),
        moves_unknown: moves.given_up,
        inodes_unknown: !(old.facts.has_inodes && new.facts.has_inodes),
        whole_seconds,
        old: comparison.unseen_in_old.report(old.report(&olds.doubled)),
        new: comparison.unseen_in_new.report(new.report(&news.doubled)),
    })
}

/// The deepest directory that has all entries of two trees; empty if there is none.
fn top<'t>(old: &'t SortedTree, new: &'t SortedTree) -> &'t [u8] {
    match (old.top.as_deref(), new.top.as_deref()) {
        (Some(old), Some(new)) => common(old, new).unwrap_or_default(),
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

/// The places that are named which a tree does not cover.
const UNCOVERED: usize = 10;

/// The entries of one tree where the other one could not be read.
struct UnseenEntries<'u> {
    /// Where the other one could not be read.
    unread: &'u UnreadPlaces,
    count: u64,
    /// The place of the first entry.
    first: Vec<u8>,
    /// The number of entries where the other one was not looked at.
    uncovered: u64,
    /// Some of these places.
    uncovered_places: Vec<Vec<u8>>,
}

impl<'u> UnseenEntries<'u> {
    fn new(unread: &'u UnreadPlaces) -> Self {
        UnseenEntries { unread, count: 0, first: Vec::new(), uncovered: 0, uncovered_places: Vec::new() }
    }

    /// True if the other tree has a gap where an entry would be that it does not have.
    fn is_in_gap(&mut self, path: &[u8]) -> bool {
        match self.unread.reason(path) {
            None => return false,
            Some(UnreadReason::Place(place)) => self.count_at(place),
            Some(UnreadReason::Above) => self.uncovered += 1,
            Some(UnreadReason::Uncovered(place)) => {
                self.uncovered += 1;
                let is_new = self.uncovered_places.last().is_none_or(|last| last != place);
                if is_new && self.uncovered_places.len() <= UNCOVERED {
                    self.uncovered_places.push(place.to_vec());
                }
            }
        }
        true
    }

    /// The kind of an entry that the other tree does not have and that is in no known gap: `kind`, unless
    /// it has gaps at places that are not known.
    fn kind(&mut self, kind: DifferenceKind) -> DifferenceKind {
        let Some(place) = self.unread.anywhere() else { return kind };
        self.count_at(place);
        DifferenceKind::Unseen
    }

    fn count_at(&mut self, place: &[u8]) {
        if self.count == 0 {
            self.first = place.to_vec();
        }
        self.count += 1;
    }

    fn report(self, report: TreeReport) -> TreeReport {
        let UnseenEntries { count, first, uncovered, mut uncovered_places, .. } = self;
        let uncovered_more = uncovered_places.len() > UNCOVERED;
        uncovered_places.truncate(UNCOVERED);
        TreeReport {
            unseen: count,
            unseen_place: first,
            uncovered,
            uncovered_places,
            uncovered_more,
            ..report
        }
    }
}

/// A comparison of sorted trees whose moves are known.
struct TreeComparison<'m> {
    rules: FieldRules,
    moves: &'m Moves,
    /// The number of entries of the old tree alone that were read, without those in gaps of the new one.
    removed: usize,
    /// The number of entries of the new tree alone that were read, without those in gaps of the old one.
    added: usize,
    counts: DiffCounts,
    /// By field, the pairs of which only one has it.
    unknown: [u64; ENTRY_FIELDS.len()],
    unseen_in_old: UnseenEntries<'m>,
    unseen_in_new: UnseenEntries<'m>,
    /// The deepest directory of both trees.
    top: &'m [u8],
}

impl<'m> TreeComparison<'m> {
    /// The difference at a path; `None` if there is none, or if it is one of another path.
    fn difference<'e>(&mut self, entries: &PathEntries<'e>) -> Option<Difference<'e>>
    where
        'm: 'e,
    {
        let PathEntries { old, new } = *entries;
        let difference = match (old, new) {
            (Some(old_entry), Some(new_entry)) => {
                let fields = self.fields(self.rules, &old_entry, &new_entry);
                if fields.is_empty() {
                    self.counts.same += 1;
                    return None;
                }
                Difference { kind: DifferenceKind::Changed, old, new, fields, top: self.top }
            }
            (None, Some(entry)) if self.unseen_in_old.is_in_gap(entry.path) => self.unseen(old, new),
            (Some(entry), None) if self.unseen_in_new.is_in_gap(entry.path) => self.unseen(old, new),
            (None, Some(new)) => {
                self.added += 1;
                self.added(&new)
            }
            (Some(_), None) => {
                self.removed += 1;
                if self.moves.is_kept(self.removed - 1) {
                    return None;
                }
                let kind = self.unseen_in_new.kind(DifferenceKind::Removed);
                Difference { kind, old, new, fields: EntryFieldSet::default(), top: self.top }
            }
            (None, None) => return None,
        };
        self.counts.add(difference.kind);
        Some(difference)
    }

    /// The difference of an entry that the other tree may have, too.
    fn unseen<'e>(&self, old: Option<Entry<'e>>, new: Option<Entry<'e>>) -> Difference<'e>
    where
        'm: 'e,
    {
        let (kind, fields) = (DifferenceKind::Unseen, EntryFieldSet::default());
        Difference { kind, old, new, fields, top: self.top }
    }

    /// The difference of an entry whose path is only in the new tree.
    fn added<'e>(&mut self, new: &Entry<'e>) -> Difference<'e>
    where
        'm: 'e,
    {
        let (moves, at) = (self.moves, self.added - 1);
        let Some(old) = moves.old_of(at) else {
            let kind = self.unseen_in_old.kind(DifferenceKind::Added);
            let fields = EntryFieldSet::default();
            return Difference { kind, old: None, new: Some(*new), fields, top: self.top };
        };
        let is_along = moves.is_along(at);
        let mut rules = self.rules;
        if !is_along {
            // A move changes the status of what is moved.
            rules.ignored = rules.ignored.with(EntryField::Ctime);
        }
        let fields = self.fields(rules, &old, new);
        let kind = match (is_along, fields.is_empty()) {
            (false, _) => DifferenceKind::Moved,
            (true, true) => DifferenceKind::Along,
            (true, false) => DifferenceKind::Changed,
        };
        Difference { kind, old: Some(old), new: Some(*new), fields, top: self.top }
    }

    /// The fields that differ; those that are not known are counted.
    fn fields(&mut self, rules: FieldRules, old: &Entry<'_>, new: &Entry<'_>) -> EntryFieldSet {
        let (changed, unknown) = rules.compare(old, new);
        for (field, count) in ENTRY_FIELDS.into_iter().zip(&mut self.unknown) {
            *count += u64::from(unknown.contains(field));
        }
        changed
    }
}
