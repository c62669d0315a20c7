//! The sparse index over the groups of terms: a tree of prefixes that is read in place.
//!
//! ```text
//! section = level … | leaf … | groups u64         levels from the top one down
//! level   = prefix u64 …, zeros up to a multiple of 16
//! leaf    = prefix u64 … | place …                of 16 groups, the last one of what is left
//! place   = offset of the block u64 | length of the block u32
//! ```
//!
//! The prefix of a group is the first eight bytes of its first term, as a big-endian number. The lowest level
//! has the first prefix of each leaf, and each level above has every 16th prefix of the level below, until
//! one level has at most 16. Up to 16 groups have no level. So a search reads 16 neighbouring prefixes per
//! level, which begin at a cache line, and the places are next to the prefixes of the leaf. Opening a segment
//! copies nothing, and a search verifies only the bytes that it reads.

use std::sync::Arc;

use crate::codec::ByteReader;
use crate::error::Result;
use crate::store::{EnvelopeWriter, Section};
use crate::sys::prefetch;

/// Entries of a node.
const NODE: usize = 16;
const PREFIX: usize = 8;
const PLACE: usize = 12;
const COUNT: usize = 8;

/// Bytes of an entry while a segment is written: prefix, offset, length.
pub(in crate::segment) const SPARSE_ENTRY: usize = PREFIX + PLACE;

/// The number of prefixes of each level over `groups` groups, from the lowest level up.
fn levels(groups: usize) -> impl Iterator<Item = usize> {
    let above = |count: usize| (count > NODE).then(|| count.div_ceil(NODE));
    std::iter::successors(above(groups), move |&count| above(count))
}

/// Writes the section, which must be open, from its entries in order.
pub(in crate::segment) fn write_sparse(entries: &[u8], out: &mut EnvelopeWriter) -> Result<()> {
    let entries = entries.as_chunks::<SPARSE_ENTRY>().0;
    let lowest_first: Vec<usize> = levels(entries.len()).collect();
    let mut bytes = Vec::new();
    for above in (1..=lowest_first.len()).rev() {
        let step = u32::try_from(above).ok().and_then(|above| NODE.checked_pow(above)).unwrap_or(usize::MAX);
        for node in entries.chunks(step.saturating_mul(NODE)) {
            bytes.clear();
            node.iter().step_by(step).for_each(|entry| bytes.extend_from_slice(&entry[..PREFIX]));
            bytes.resize(NODE * PREFIX, 0);
            out.write(&bytes)?;
        }
    }
    for leaf in entries.chunks(NODE) {
        bytes.clear();
        leaf.iter().for_each(|entry| bytes.extend_from_slice(&entry[..PREFIX]));
        leaf.iter().for_each(|entry| bytes.extend_from_slice(&entry[PREFIX..]));
        out.write(&bytes)?;
    }
    out.write(&(entries.len() as u64).to_le_bytes())
}

/// The place of a block of terms in its section.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPlace {
    pub(super) offset: u64,
    pub(super) len: u32,
}

/// An entry of the sparse index.
#[derive(Clone, Copy, Debug)]
pub(super) struct TermGroup {
    pub(super) index: usize,
    pub(super) prefix: u64,
    pub(super) place: BlockPlace,
}

/// The sparse index of one segment.
#[derive(Debug)]
pub(super) struct SparseIndex {
    section: Arc<Section>,
    groups: usize,
    /// The offset and the number of prefixes of each level, from the top level down.
    levels: Vec<(usize, usize)>,
    /// Offset of the leaves.
    leaves: usize,
}

/// The entries of up to 16 groups.
struct SparseLeaf<'a> {
    prefixes: &'a [[u8; PREFIX]],
    places: &'a [[u8; PLACE]],
}

impl SparseIndex {
    /// The index over no terms.
    pub(super) fn empty() -> Self {
        SparseIndex { section: Section::empty(), groups: 0, levels: Vec::new(), leaves: 0 }
    }

    /// Opens the section and reads its end.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if its size is wrong.
    pub(super) fn open(section: Arc<Section>) -> Result<Self> {
        let wrong = || section.corrupt("the sparse index of terms has the wrong size");
        let end = section.len().checked_sub(COUNT).ok_or_else(wrong)?;
        let groups = ByteReader::new(section.get(end..section.len())?).u64();
        let groups = groups.and_then(|groups| usize::try_from(groups).ok()).ok_or_else(wrong)?;
        // Every entry takes at least a byte, so nothing below overflows.
        if groups > end {
            return Err(wrong());
        }
        let (mut at, mut found) = (0, Vec::new());
        let lowest_first: Vec<usize> = levels(groups).collect();
        for &count in lowest_first.iter().rev() {
            found.push((at, count));
            at += count.next_multiple_of(NODE) * PREFIX;
        }
        if groups.checked_mul(SPARSE_ENTRY).and_then(|leaves| leaves.checked_add(at)) != Some(end) {
            return Err(wrong());
        }
        Ok(SparseIndex { section, groups, levels: found, leaves: at })
    }

    /// Number of groups.
    #[inline]
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    #[inline]
    fn leaf(&self, leaf: usize) -> Result<SparseLeaf<'_>> {
        let first = (leaf * NODE).min(self.groups);
        let count = (self.groups - first).min(NODE);
        let start = self.leaves + first * SPARSE_ENTRY;
        let bytes = self.section.get(start..start + count * SPARSE_ENTRY)?;
        // The wanted place is in another cache line than its prefix; both are fetched at the same time.
        prefetch_lines::<5>(bytes);
        let (prefixes, places) = bytes.split_at(count * PREFIX);
        Ok(SparseLeaf { prefixes: prefixes.as_chunks().0, places: places.as_chunks().0 })
    }

    /// Group `index`; `None` if there are fewer.
    pub(super) fn group(&self, index: usize) -> Result<Option<TermGroup>> {
        let SparseLeaf { prefixes, places } = self.leaf(index / NODE)?;
        let found = prefixes.get(index % NODE).zip(places.get(index % NODE));
        Ok(found.map(|(prefix, place)| TermGroup {
            index,
            prefix: u64::from_le_bytes(*prefix),
            place: place_of(place),
        }))
    }

    /// The last group whose prefix is at most `prefix`.
    #[inline]
    pub(super) fn last_at_most(&self, prefix: u64) -> Result<Option<TermGroup>> {
        let mut node = 0;
        for &(start, len) in &self.levels {
            let first = (node * NODE).min(len);
            let end = (first + NODE).min(len);
            let bytes = self.section.get(start + first * PREFIX..start + end * PREFIX)?;
            let count = count_at_most(bytes.as_chunks().0, prefix);
            // The first prefix of a node is at most `prefix`, except the first one of the whole tree.
            node = first + count.saturating_sub(1);
        }
        let SparseLeaf { prefixes, places } = self.leaf(node)?;
        let Some(last) = count_at_most(prefixes, prefix).checked_sub(1) else { return Ok(None) };
        Ok(prefixes.get(last).zip(places.get(last)).map(|(prefix, place)| TermGroup {
            index: node * NODE + last,
            prefix: u64::from_le_bytes(*prefix),
            place: place_of(place),
        }))
    }

    /// Number of groups whose prefix is less than `prefix`.
    pub(super) fn count_below(&self, prefix: u64) -> Result<usize> {
        let Some(less) = prefix.checked_sub(1) else { return Ok(0) };
        Ok(self.last_at_most(less)?.map_or(0, |group| group.index + 1))
    }

    /// Verifies that prefixes ascend and that each level matches the level below.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if they do not.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: &str| self.section.corrupt(format!("the sparse index of terms is {what}"));
        let (mut before, mut below) = (0, Vec::with_capacity(self.groups.div_ceil(NODE)));
        for leaf in 0..self.groups.div_ceil(NODE) {
            let prefixes = self.leaf(leaf)?.prefixes;
            for prefix in prefixes.iter().map(|prefix| u64::from_le_bytes(*prefix)) {
                if prefix < before {
                    return Err(wrong("not in order"));
                }
                before = prefix;
            }
            below.extend(prefixes.first().map(|first| u64::from_le_bytes(*first)));
        }
        for &(start, len) in self.levels.iter().rev() {
            let level = self.section.get(start..start + len * PREFIX)?.as_chunks().0;
            if !level.iter().map(|prefix| u64::from_le_bytes(*prefix)).eq(below.iter().copied()) {
                return Err(wrong("inconsistent"));
            }
            below = below.into_iter().step_by(NODE).collect();
        }
        Ok(())
    }
}

/// Prefetches the first `LINES` cache lines of `bytes`, without a branch on their number.
#[inline(always)]
pub(super) fn prefetch_lines<const LINES: usize>(bytes: &[u8]) {
    let last = bytes.len().saturating_sub(1);
    for line in 0..LINES {
        prefetch(bytes.as_ptr().wrapping_add((64 * line).min(last)));
    }
}

/// Number of prefixes, of up to 16 in ascending order, that are at most `prefix`. All are compared, because
/// 16 comparisons take less time than one mispredicted branch.
#[inline(always)]
fn count_at_most(prefixes: &[[u8; PREFIX]], prefix: u64) -> usize {
    let at_most = |found: &[u8; PREFIX]| usize::from(u64::from_le_bytes(*found) <= prefix);
    match prefixes.first_chunk::<NODE>() {
        Some(whole) => whole.iter().map(at_most).sum(),
        None => prefixes.iter().map(at_most).sum(),
    }
}

#[inline]
fn place_of(bytes: &[u8; PLACE]) -> BlockPlace {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
    BlockPlace { offset: u64::from_le_bytes([a, b, c, d, e, f, g, h]), len: u32::from_le_bytes([i, j, k, l]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::layout::SEGMENT;
    use crate::store::{Directory, Envelope, RamDirectory};

    /// The index over groups with these prefixes; group `i` is at `i * 1000` and has `i` bytes.
    fn sparse(prefixes: &[u64]) -> SparseIndex {
        let mut entries = Vec::new();
        for (prefix, i) in prefixes.iter().zip(0u32..) {
            entries.extend_from_slice(&prefix.to_le_bytes());
            entries.extend_from_slice(&(u64::from(i) * 1000).to_le_bytes());
            entries.extend_from_slice(&i.to_le_bytes());
        }
        let directory = RamDirectory::new();
        let mut out = EnvelopeWriter::create(&directory, "sparse", SEGMENT, 1).unwrap();
        out.begin(7).unwrap();
        write_sparse(&entries, &mut out).unwrap();
        out.finish().unwrap().sync().unwrap();
        let file = Envelope::open(&directory, "sparse", SEGMENT).unwrap();
        SparseIndex::open(file.shared_section(7).unwrap().clone()).unwrap()
    }

    #[test]
    fn groups_are_found_as_by_comparing_all_prefixes() {
        let seed = 0x5eed_1103;
        println!("seed {seed:x}");
        let mut random = fastrand::Rng::with_seed(seed);
        for count in [0, 1, 2, 15, 16, 17, 255, 256, 257, 272, 273, 4095, 4096, 4097, 5000, 70_000] {
            for most in [1, 40, 10_000, u64::MAX] {
                let mut prefixes: Vec<u64> = (0..count).map(|_| random.u64(..=most)).collect();
                prefixes.sort_unstable();
                let sparse = sparse(&prefixes);
                sparse.check().unwrap();
                assert_eq!(sparse.groups(), count);
                let near = (0..300).map(|_| random.u64(..=most)).chain([0, 1, u64::MAX - 1, u64::MAX]);
                let near: Vec<u64> = near.chain(prefixes.iter().copied().step_by(count / 50 + 1)).collect();
                for prefix in
                    near.iter().flat_map(|&near| [near.saturating_sub(1), near, near.saturating_add(1)])
                {
                    let below = prefixes.partition_point(|&found| found < prefix);
                    assert_eq!(sparse.count_below(prefix).unwrap(), below, "{count} prefixes up to {most}");
                    let expected = prefixes.partition_point(|&found| found <= prefix).checked_sub(1);
                    let found = sparse.last_at_most(prefix).unwrap();
                    assert_eq!(found.map(|group| group.index), expected, "{count} prefixes up to {most}");
                    if let Some(TermGroup { index, prefix, place }) = found {
                        assert_eq!(prefix, prefixes[index]);
                        assert_eq!((place.offset, place.len as usize), (index as u64 * 1000, index));
                        assert_eq!(sparse.group(index).unwrap().unwrap().place.offset, place.offset);
                    }
                }
                assert!(sparse.group(count).unwrap().is_none());
            }
        }
    }

    #[test]
    fn a_section_of_any_size_and_content_opens_or_is_refused() {
        let seed = 0x5eed_1104;
        println!("seed {seed:x}");
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..4000u64 {
            let len = random.usize(..1200);
            let mut bytes: Vec<u8> = (0..len).map(|_| random.u8(..)).collect();
            if let Some(end) = bytes.last_chunk_mut::<8>() {
                *end = [len as u64 / 20, round, u64::MAX, random.u64(..)][random.usize(..4)].to_le_bytes();
            }
            let directory = RamDirectory::new();
            let mut out = EnvelopeWriter::create(&directory, "sparse", SEGMENT, 1).unwrap();
            out.begin(7).unwrap();
            out.write(&bytes).unwrap();
            out.finish().unwrap().sync().unwrap();
            let file = Envelope::open(&directory, "sparse", SEGMENT).unwrap();
            assert!(directory.open("sparse").unwrap().len() > len);
            let Ok(sparse) = SparseIndex::open(file.shared_section(7).unwrap().clone()) else { continue };
            for prefix in [0, 1, random.u64(..), u64::MAX] {
                let _ = (sparse.last_at_most(prefix), sparse.count_below(prefix), sparse.check());
                let _ = (sparse.group(0), sparse.group(usize::MAX), sparse.group(sparse.groups()));
            }
        }
    }
}
