//! Chooses the segments that should become one.
//!
//! A build of a new index should write each segment once, so nothing is merged while there are fewer than
//! [`MergePolicy::least_segments`]; a text that fits the memory cap leaves fewer. Otherwise segments are
//! sorted by size into tiers, each [`MergePolicy::segments`] times as large as the one below. A tier with
//! that number of segments is merged into one segment of the next tier. So every byte is written once for
//! each tier that it passes, and a search reads a few segments per tier. This is the tiered policy of
//! log-structured merge trees (O'Neil et al. 1996) in the form that Lucene's `TieredMergePolicy` made known
//! for search, without its scores. The size of a segment is counted without its deleted documents, and a
//! segment that has lost many documents is rewritten.

use super::manifest::SegmentEntry;

/// When to merge segments in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergePolicy {
    /// The number of segments of about the same size that are merged into one; at least 2.
    pub segments: usize,
    /// The maximum size of a merged segment, in bytes.
    pub most_bytes: u64,
    /// Smaller segments are treated as if they had this size, in bytes.
    pub least_bytes: u64,
    /// The percentage of deleted documents from which a segment is rewritten.
    pub deleted_percent: u64,
    /// With fewer segments, merges only reclaim deleted documents. A query takes about 1.5 µs per term and
    /// segment, so 64 segments cost 0.1 ms per term. Merging them immediately would write nearly every byte
    /// of a new index twice.
    pub least_segments: usize,
    /// The maximum number of bytes that merges write per second; `None` for no limit.
    pub rate: Option<u64>,
}

impl Default for MergePolicy {
    fn default() -> Self {
        MergePolicy {
            segments: 32,
            most_bytes: 64 << 30,
            least_bytes: 4 << 20,
            deleted_percent: 33,
            least_segments: 64,
            rate: None,
        }
    }
}

/// The maximum number of documents in a merged segment.
const MOST_DOCUMENTS: u64 = 1 << 31;

impl MergePolicy {
    /// The policy for a program that commits every few seconds: few segments are left, so that queries and
    /// opening stay fast, and each byte is written again more often. A hundred commits of 20,000 documents
    /// each leave at most ten segments, but for those that are being merged, and a thousand some fourteen.
    pub fn of_frequent_commits() -> Self {
        MergePolicy { segments: 4, least_segments: 6, ..MergePolicy::default() }
    }

    /// Returns the segments to merge next, by identity and in the order of the index; `None` if nothing is
    /// due. None of them is `busy`, and merging them takes at most `room` bytes of memory.
    pub(crate) fn choose(
        &self,
        all: &[SegmentEntry],
        room: u64,
        busy: impl Fn(u128) -> bool,
    ) -> Option<Vec<u128>> {
        let mut free: Vec<(u64, &SegmentEntry)> = all
            .iter()
            .filter(|entry| !busy(entry.id))
            .map(|entry| (live_bytes(entry), entry))
            .filter(|(bytes, _)| *bytes <= self.most_bytes / 2)
            .collect();
        free.sort_by_key(|(bytes, entry)| (*bytes, entry.id));
        let segments = self.segments.max(2);
        let tier = |bytes: u64| {
            let times = bytes.max(self.least_bytes) / self.least_bytes.max(1);
            times.max(1).ilog(segments as u64)
        };
        let mut tiers = free.chunk_by(|a, b| tier(a.0) == tier(b.0));
        let full = tiers.find(|group| group.len() >= segments).filter(|_| all.len() >= self.least_segments);
        let chosen = match full {
            Some(group) => self.as_fits(group, room),
            None => Vec::new(),
        };
        let chosen = if chosen.len() > 1 { chosen } else { self.most_deleted(&free, room) };
        let in_order = all.iter().map(|entry| entry.id).filter(|id| chosen.contains(id));
        (!chosen.is_empty()).then(|| in_order.collect())
    }

    /// The smallest segments of a tier, up to the number that fits into one segment.
    fn as_fits(&self, group: &[(u64, &SegmentEntry)], room: u64) -> Vec<u128> {
        let (mut bytes, mut documents, mut memory) = (0, 0, 0);
        let fits = group.iter().take(self.segments.max(2)).take_while(|(size, entry)| {
            (bytes, documents) = (bytes + size, documents + entry.live());
            memory += merge_memory(entry);
            bytes <= self.most_bytes && documents <= MOST_DOCUMENTS && memory <= room
        });
        fits.map(|(_, entry)| entry.id).collect()
    }

    /// The segment that has lost the largest share of its documents, if the share is large enough to rewrite
    /// it.
    fn most_deleted(&self, free: &[(u64, &SegmentEntry)], room: u64) -> Vec<u128> {
        let percent = |entry: &SegmentEntry| entry.deleted * 100 / entry.documents.max(1);
        let fits = free.iter().map(|(_, entry)| entry).filter(|entry| merge_memory(entry) <= room);
        let most = fits.max_by_key(|entry| percent(entry));
        most.filter(|entry| entry.deleted > 0 && percent(entry) >= self.deleted_percent)
            .map(|entry| vec![entry.id])
            .unwrap_or_default()
    }
}

/// Bytes that a merge holds in memory for one source: for each document a byte for the norm and up to a bit
/// and a half for its number, for each 64 terms 20 bytes of the new sparse index, which grows by doubling,
/// and a block of terms.
fn merge_memory(entry: &SegmentEntry) -> u64 {
    entry.documents + entry.documents / 4 + entry.terms / 8 * 5 + (32 << 10)
}

/// Bytes that a segment would take without its deleted documents.
fn live_bytes(entry: &SegmentEntry) -> u64 {
    let share = u128::from(entry.bytes) * u128::from(entry.live()) / u128::from(entry.documents.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u128, bytes: u64, documents: u64, deleted: u64) -> SegmentEntry {
        SegmentEntry {
            id,
            documents,
            terms: 1,
            tokens: 1,
            bytes,
            deleted,
            deletes: u64::from(deleted > 0),
            updates: 0,
        }
    }

    #[test]
    fn a_full_tier_is_merged_and_other_tiers_are_left_alone() {
        let policy = MergePolicy {
            segments: 4,
            least_bytes: 10,
            most_bytes: 10_000,
            deleted_percent: 33,
            least_segments: 4,
            rate: None,
        };
        let sizes = [11, 500, 12, 13, 600];
        let mut all: Vec<_> = (1..).zip(sizes).map(|(id, bytes)| entry(id, bytes, 10, 0)).collect();
        assert_eq!(policy.choose(&all, u64::MAX, |_| false), None);
        all.push(entry(9, 14, 10, 0));
        assert_eq!(policy.choose(&all, u64::MAX, |_| false), Some(vec![1, 3, 4, 9]));
        assert_eq!(policy.choose(&all, u64::MAX, |id| id == 3), None, "one is in another merge");
        all[0].deleted = 5;
        all[0].deletes = 1;
        assert_eq!(
            policy.choose(&all, u64::MAX, |id| id == 3),
            Some(vec![1]),
            "half of its documents are deleted"
        );
    }

    #[test]
    fn nothing_grows_beyond_the_limits() {
        let policy = MergePolicy {
            segments: 3,
            least_bytes: 10,
            most_bytes: 100,
            least_segments: 0,
            ..MergePolicy::default()
        };
        let large: Vec<_> = (1..4).map(|id| entry(id, 45, 10, 0)).collect();
        assert_eq!(policy.choose(&large, u64::MAX, |_| false), Some(vec![1, 2]));
        let larger: Vec<_> = (1..9).map(|id| entry(id, 51, 10, 0)).collect();
        assert_eq!(policy.choose(&larger, u64::MAX, |_| false), None);
        let crowded: Vec<_> = (1..9).map(|id| entry(id, 12, 1 << 30, 0)).collect();
        assert_eq!(policy.choose(&crowded, u64::MAX, |_| false).map(|chosen| chosen.len()), Some(2));
    }

    #[test]
    fn every_byte_is_written_about_once_per_tier() {
        let policy =
            MergePolicy { segments: 8, least_bytes: 100, least_segments: 0, ..MergePolicy::default() };
        let (mut all, mut written, mut next) = (Vec::new(), 0, 0);
        for _ in 0..1000 {
            next += 1;
            all.push(entry(next, 100, 1, 0));
            written += 100;
            while let Some(chosen) = policy.choose(&all, u64::MAX, |_| false) {
                next += 1;
                let (old, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|e| chosen.contains(&e.id));
                let bytes = old.iter().map(|entry| entry.bytes).sum();
                (all, written) = (rest, written + bytes);
                all.push(entry(next, bytes, old.len() as u64, 0));
            }
        }
        let total: u64 = all.iter().map(|entry| entry.bytes).sum();
        assert_eq!(total, 100_000);
        // 1000 segments are 8^3.3: four tiers.
        assert!(written <= 4 * total && all.len() < 4 * 8, "{written} bytes, {} segments", all.len());
    }

    /// Adds segments of the given sizes. Returns the bytes written per hundred bytes of the index, and the
    /// segments left.
    fn build(policy: &MergePolicy, room: u64, sizes: impl Iterator<Item = u64>) -> (u64, usize) {
        let (mut all, mut written, mut next) = (Vec::new(), 0, 0);
        for bytes in sizes {
            next += 1;
            all.push(entry(next, bytes, 1000, 0));
            written += bytes;
            while let Some(chosen) = policy.choose(&all, room, |_| false) {
                next += 1;
                let (old, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|e| chosen.contains(&e.id));
                let bytes = old.iter().map(|entry| entry.bytes).sum();
                (all, written) = (rest, written + bytes);
                all.push(entry(next, bytes, 1000 * old.len() as u64, 0));
            }
        }
        (100 * written / all.iter().map(|entry| entry.bytes).sum::<u64>(), all.len())
    }

    #[test]
    fn a_build_in_memory_is_written_once_and_one_ten_times_as_large_about_twice() {
        let policy = MergePolicy::default();
        let (written, left) = build(&policy, u64::MAX, (0..39).map(|_| 11 << 20));
        assert_eq!((written, left), (100, 39));
        for count in [64, 76, 129, 400, 900] {
            let (written, left) = build(&policy, u64::MAX, (0..count).map(|i| (10 + i % 7) << 20));
            assert!(written <= 210 && left <= 96, "{count} segments: {written} %, {left} left");
        }
    }

    #[test]
    fn frequent_commits_leave_few_segments() {
        let policy = MergePolicy::of_frequent_commits();
        for commits in 1..100 {
            // Two threads add documents, so a commit has two segments.
            let (written, left) = build(&policy, u64::MAX, (0..2 * commits).map(|i| (7 + i % 3) << 20));
            assert!(left <= 10 && written <= 600, "{commits} commits: {left} segments, {written} % written");
        }
    }

    #[test]
    fn merges_stay_within_their_memory() {
        let policy = MergePolicy { segments: 4, least_segments: 0, ..MergePolicy::default() };
        let all: Vec<_> = (1..9).map(|id| entry(id, 1 << 20, 1 << 20, 0)).collect();
        let chosen = |room| policy.choose(&all, room, |_| false).map(|chosen| chosen.len());
        assert_eq!(chosen(100 << 20), Some(4));
        assert_eq!(chosen(3 << 20), Some(2));
        assert_eq!(chosen(1 << 20), None);
    }
}
