//! Paths that several live documents have, found by a merge of the hashes of all segments.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::known_paths::KnownPaths;
use crate::error::Result;

/// Documents whose paths later documents have, too.
#[derive(Debug, Default)]
pub struct DoublePaths {
    /// These documents, by segment, ascending.
    pub documents: Vec<Vec<u32>>,
    /// The first such path, in the order of bytes.
    pub first: Option<Vec<u8>>,
}

/// The live documents of which a later one has the same path. The latest is in the last segment, and there
/// has the greatest number.
///
/// Time is linear in the number of paths: each segment has the hashes of its paths in order, and paths are
/// only read where hashes are equal.
pub fn double_paths(segments: &[KnownPaths<'_>]) -> Result<DoublePaths> {
    let mut doubles = DoublePaths { documents: vec![Vec::new(); segments.len()], first: None };
    let mut heads = BinaryHeap::new();
    for (at, segment) in segments.iter().enumerate() {
        heads.extend(segment.hash_at(0)?.map(|(hash, number)| Reverse((hash, at, 0, number))));
    }
    let mut same: Vec<(usize, u32)> = Vec::new();
    while let Some(Reverse((hash, at, index, number))) = heads.pop() {
        same.push((at, number));
        if let Some(segment) = segments.get(at) {
            heads.extend(
                segment.hash_at(index + 1)?.map(|(hash, number)| Reverse((hash, at, index + 1, number))),
            );
        }
        if heads.peek().is_some_and(|next| next.0.0 == hash) {
            continue;
        }
        if same.len() > 1 {
            take_doubles(segments, &same, &mut doubles)?;
        }
        same.clear();
    }
    doubles.documents.iter_mut().for_each(|documents| documents.sort_unstable());
    Ok(doubles)
}

/// Adds the documents among those with the same hash that are not the last with their path.
fn take_doubles(segments: &[KnownPaths<'_>], same: &[(usize, u32)], doubles: &mut DoublePaths) -> Result<()> {
    let mut paths: Vec<(Vec<u8>, usize, u32)> = Vec::new();
    for &(at, number) in same {
        let Some(segment) = segments.get(at).filter(|segment| segment.is_live(number)) else { continue };
        paths.push((segment.path(number)?, at, number));
    }
    paths.sort_unstable();
    for pair in paths.windows(2) {
        let [(path, at, number), (next, ..)] = pair else { continue };
        if path != next {
            continue;
        }
        if doubles.first.as_ref().is_none_or(|first| path < first) {
            doubles.first = Some(path.clone());
        }
        if let (Some(segment), Some(documents)) = (segments.get(*at), doubles.documents.get_mut(*at)) {
            documents.push(segment.document(*number));
        }
    }
    Ok(())
}
