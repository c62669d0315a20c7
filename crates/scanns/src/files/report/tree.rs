//! The tree of directories, cut to the large ones.
//!
//! A directory of the tree has all its large directories as children, and one node for everything else in it.
//! So the sums of the children of a directory are exactly its own.

use super::directories::DirectoryTable;
use super::sums::EntrySums;
use crate::files::order::walk_order;

/// The most directories of the tree. With a rest for each there are at most twice as many nodes.
const MOST_DIRECTORIES: usize = 1000;

/// A directory of the tree has at least this part of the whole space.
const LEAST_PART: u64 = 2000;

/// A node of the tree of directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportNode {
    /// The node that it is in, by its place in the list; `None` for the first.
    pub parent: Option<usize>,
    /// The name of the directory, the path for the first; `None` for the rest of the directory that it is in.
    pub name: Option<Vec<u8>>,
    /// Everything at and below the directory, or the rest.
    pub sums: EntrySums,
}

/// The tree of directories, the first node first, each after the one that it is in. `top` is the directory of
/// the first node, around all others, and `whole` has the sums of directories.
pub(super) fn cut_tree(table: &DirectoryTable, whole: &[EntrySums], top: usize) -> Vec<ReportNode> {
    let sums_of = |at: usize| whole.get(at).copied().unwrap_or_default();
    let least = (sums_of(top).space / LEAST_PART).max(1);
    let mut places: Vec<Option<usize>> = vec![None; whole.len()];
    let root = table.path(u32::try_from(top).unwrap_or(DirectoryTable::TOP));
    let mut tree = vec![ReportNode { parent: None, name: Some(root), sums: sums_of(top) }];
    let mut rests = vec![sums_of(top)];
    if let Some(place) = places.get_mut(top) {
        *place = Some(0);
    }
    for at in largest(table, whole, top, least) {
        let around = table.nodes().get(at).and_then(|node| usize::try_from(node.parent).ok());
        let Some(parent) = around.and_then(|around| places.get(around).copied().flatten()) else { continue };
        if let Some(place) = places.get_mut(at) {
            *place = Some(tree.len());
        }
        let name = table.name(u32::try_from(at).unwrap_or(DirectoryTable::TOP)).to_vec();
        tree.push(ReportNode { parent: Some(parent), name: Some(name), sums: sums_of(at) });
        rests.push(sums_of(at));
        if let Some(rest) = rests.get_mut(parent) {
            *rest = rest.without(sums_of(at));
        }
    }
    add_rests(&mut tree, &rests);
    tree
}

/// The largest directories below `top`, each after the one that it is in.
fn largest(table: &DirectoryTable, whole: &[EntrySums], top: usize, least: u64) -> Vec<usize> {
    let is_large = |&(at, sums): &(usize, &EntrySums)| at > top && sums.space >= least;
    let large = whole.iter().enumerate().filter(is_large).map(|(at, sums)| {
        let path = table.path(u32::try_from(at).unwrap_or(DirectoryTable::TOP));
        (sums.space, path, at)
    });
    let mut large: Vec<(u64, Vec<u8>, usize)> = large.collect();
    // A directory has at least the space of those in it.
    large.sort_unstable_by(|one, other| other.0.cmp(&one.0).then_with(|| walk_order(&one.1, &other.1)));
    large.truncate(MOST_DIRECTORIES - 1);
    large.into_iter().map(|(_, _, at)| at).collect()
}

/// Adds a node for the rest of each directory that has others in the tree.
fn add_rests(tree: &mut Vec<ReportNode>, rests: &[EntrySums]) {
    let mut has_children = vec![false; tree.len()];
    for parent in tree.iter().filter_map(|node| node.parent) {
        if let Some(has) = has_children.get_mut(parent) {
            *has = true;
        }
    }
    for (parent, (has, &sums)) in has_children.into_iter().zip(rests).enumerate() {
        if has && sums != EntrySums::default() {
            tree.push(ReportNode { parent: Some(parent), name: None, sums });
        }
    }
}
