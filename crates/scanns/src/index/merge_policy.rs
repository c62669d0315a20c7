//! Which segments should become one.
//!
//! Segments are sorted by size into tiers, each [`MergePolicy::segments`] times as large as the one below; a tier that
//! holds that many is merged into one segment of the next. So every byte is written once for each tier that it passes,
//! and a search looks into a few segments per tier. This is the tiered policy of log-structured merge trees (O'Neil et
//! al. 1996) as Lucene's `TieredMergePolicy` made it known for search, without its scores. Segments are taken at the
//! size that they would have without their deleted documents; one that lost many is written anew for their sake.

use super::manifest::SegmentEntry;

/// When segments are merged in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergePolicy {
    /// Segments of about the same size that become one; at least 2.
    pub segments: usize,
    /// No segment larger than this comes of it, in bytes.
    pub most_bytes: u64,
    /// Segments smaller than this are taken to be of the same size, in bytes.
    pub least_bytes: u64,
    /// Deleted documents, in percent of a segment, from which on it is written anew.
    pub deleted_percent: u64,
}

impl Default for MergePolicy {
    fn default() -> Self {
        MergePolicy { segments: 32, most_bytes: 64 << 30, least_bytes: 4 << 20, deleted_percent: 33 }
    }
}

/// Documents that a merged segment may have.
const MOST_DOCUMENTS: u64 = 1 << 31;

impl MergePolicy {
    /// The segments to merge next, none of which is `busy`, by identity in the order of the index; none if all is well.
    pub(super) fn choose(&self, all: &[SegmentEntry], busy: impl Fn(u128) -> bool) -> Option<Vec<u128>> {
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
        let full = free.chunk_by(|a, b| tier(a.0) == tier(b.0)).find(|group| group.len() >= segments);
        let chosen = match full {
            Some(group) => self.as_fits(group),
            None => Vec::new(),
        };
        let chosen = if chosen.len() > 1 { chosen } else { self.most_deleted(&free) };
        let in_order = all.iter().map(|entry| entry.id).filter(|id| chosen.contains(id));
        (!chosen.is_empty()).then(|| in_order.collect())
    }

    /// The first of a tier, as many as one segment can hold.
    fn as_fits(&self, group: &[(u64, &SegmentEntry)]) -> Vec<u128> {
        let (mut bytes, mut documents) = (0, 0);
        let fits = group.iter().take(self.segments.max(2)).take_while(|(size, entry)| {
            (bytes, documents) = (bytes + size, documents + entry.live());
            bytes <= self.most_bytes && documents <= MOST_DOCUMENTS
        });
        fits.map(|(_, entry)| entry.id).collect()
    }

    /// The segment that lost the largest part of its documents, if that is worth it.
    fn most_deleted(&self, free: &[(u64, &SegmentEntry)]) -> Vec<u128> {
        let percent = |entry: &SegmentEntry| entry.deleted * 100 / entry.documents.max(1);
        let most = free.iter().map(|(_, entry)| entry).max_by_key(|entry| percent(entry));
        most.filter(|entry| entry.deleted > 0 && percent(entry) >= self.deleted_percent)
            .map(|entry| vec![entry.id])
            .unwrap_or_default()
    }
}

/// What a segment would take without its deleted documents.
fn live_bytes(entry: &SegmentEntry) -> u64 {
    let share = u128::from(entry.bytes) * u128::from(entry.live()) / u128::from(entry.documents.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u128, bytes: u64, documents: u64, deleted: u64) -> SegmentEntry {
        SegmentEntry { id, documents, terms: 1, tokens: 1, bytes, deleted, deletes: u64::from(deleted > 0) }
    }

    #[test]
    fn a_full_tier_is_merged_and_others_are_left_alone() {
        let policy = MergePolicy { segments: 4, least_bytes: 10, most_bytes: 10_000, deleted_percent: 33 };
        let sizes = [11, 500, 12, 13, 600];
        let mut all: Vec<_> = (1..).zip(sizes).map(|(id, bytes)| entry(id, bytes, 10, 0)).collect();
        assert_eq!(policy.choose(&all, |_| false), None);
        all.push(entry(9, 14, 10, 0));
        assert_eq!(policy.choose(&all, |_| false), Some(vec![1, 3, 4, 9]));
        assert_eq!(policy.choose(&all, |id| id == 3), None, "one is in another merge");
        all[0].deleted = 5;
        all[0].deletes = 1;
        assert_eq!(policy.choose(&all, |id| id == 3), Some(vec![1]), "half of its documents are deleted");
    }

    #[test]
    fn nothing_grows_beyond_the_limits() {
        let policy = MergePolicy { segments: 3, least_bytes: 10, most_bytes: 100, deleted_percent: 33 };
        let large: Vec<_> = (1..4).map(|id| entry(id, 45, 10, 0)).collect();
        assert_eq!(policy.choose(&large, |_| false), Some(vec![1, 2]));
        let larger: Vec<_> = (1..9).map(|id| entry(id, 51, 10, 0)).collect();
        assert_eq!(policy.choose(&larger, |_| false), None);
        let crowded: Vec<_> = (1..9).map(|id| entry(id, 12, 1 << 30, 0)).collect();
        assert_eq!(policy.choose(&crowded, |_| false).map(|chosen| chosen.len()), Some(2));
    }

    #[test]
    fn every_byte_is_written_about_once_per_tier() {
        let policy = MergePolicy { segments: 8, least_bytes: 100, ..MergePolicy::default() };
        let (mut all, mut written, mut next) = (Vec::new(), 0, 0);
        for _ in 0..1000 {
            next += 1;
            all.push(entry(next, 100, 1, 0));
            written += 100;
            while let Some(chosen) = policy.choose(&all, |_| false) {
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
}
