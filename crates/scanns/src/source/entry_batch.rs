//! Entries that own their texts, many together in a few allocations.

use super::entry::Entry;

/// Entries and the bytes of their texts.
#[derive(Debug, Default)]
pub struct EntryBatch {
    entries: Vec<KeptEntry>,
    /// Paths, targets, owners, groups and pools, one entry after the other.
    texts: Vec<u8>,
}

/// An entry without its texts.
#[derive(Debug)]
struct KeptEntry {
    /// With empty texts where it has them.
    values: Entry<'static>,
    /// Where its texts end in the bytes of the batch: of the path, target, owner, group and pool.
    ends: [usize; 5],
}

impl EntryBatch {
    /// A batch with space for entries, and bytes of their texts.
    pub(super) fn with_capacity(entries: usize, texts: usize) -> EntryBatch {
        EntryBatch { entries: Vec::with_capacity(entries), texts: Vec::with_capacity(texts) }
    }

    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, entry: &Entry<'_>) {
        let Entry { path, kind, target, owner, group, mtime, atime, ctime, btime, size, blocks, .. } = *entry;
        let Entry { uid, gid, mode, inode, links, device, stripes, pool, project, .. } = *entry;
        let mut ends = [0; 5];
        for (end, text) in ends.iter_mut().zip([Some(path), target, owner, group, pool]) {
            self.texts.extend_from_slice(text.unwrap_or_default());
            *end = self.texts.len();
        }
        let empty = |text: Option<&[u8]>| text.map(|_| &[][..]);
        let (target, owner, group, pool) = (empty(target), empty(owner), empty(group), empty(pool));
        let values = Entry {
            path: &[],
            kind,
            target,
            owner,
            group,
            mtime,
            atime,
            ctime,
            btime,
            size,
            blocks,
            uid,
            gid,
            mode,
            inode,
            links,
            device,
            stripes,
            pool,
            project,
        };
        self.entries.push(KeptEntry { values, ends });
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if it has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes of all texts.
    pub fn text_bytes(&self) -> usize {
        self.texts.len()
    }

    /// The entries, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut start = 0;
        self.entries.iter().map(move |KeptEntry { values, ends }| {
            let mut texts = [&[][..]; 5];
            for (text, &end) in texts.iter_mut().zip(ends) {
                *text = self.texts.get(start..end).unwrap_or_default();
                start = end;
            }
            let [path, target, owner, group, pool] = texts;
            Entry {
                path,
                target: values.target.map(|_| target),
                owner: values.owner.map(|_| owner),
                group: values.group.map(|_| group),
                pool: values.pool.map(|_| pool),
                ..*values
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::EntryKind;

    #[test]
    fn entries_come_back_as_they_were_added() {
        let full = Entry {
            path: b"/a/b\xff",
            kind: Some(EntryKind::Link),
            target: Some(b"c d"),
            owner: Some(b"root"),
            group: Some(b""),
            mtime: Some(-1),
            size: Some(u64::MAX),
            uid: Some(7),
            pool: Some(b"ssd"),
            project: Some(3),
            ..Entry::default()
        };
        let entries = [full, Entry { path: b"/x", ..Entry::default() }, full];
        let mut batch = EntryBatch::default();
        assert!(batch.is_empty());
        entries.iter().for_each(|entry| batch.push(entry));
        assert_eq!(batch.iter().collect::<Vec<_>>(), entries);
        assert_eq!(batch.len(), 3);
    }
}
