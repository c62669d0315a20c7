//! Entries that own their texts, many together in a few allocations.

use super::entry::Entry;
use super::entry_kind::EntryKind;

/// Entries and the bytes of their texts. An entry takes 136 bytes and its texts.
#[derive(Debug, Default)]
pub struct EntryBatch {
    entries: Vec<KeptEntry>,
    /// Paths, targets, owners, groups and pools, one entry after the other.
    texts: Vec<u8>,
    /// What few entries have, in the order of the entries.
    rare: Vec<RareValues>,
}

/// Values that few entries have.
#[derive(Clone, Copy, Debug)]
struct RareValues {
    /// The number of the entry.
    entry: usize,
    rdev: Option<u64>,
    /// The bytes of the extended attributes, the ACL and the access class, which follow the other texts of
    /// the entry.
    lengths: [Option<u32>; 3],
}

/// An entry without its texts.
#[derive(Debug)]
struct KeptEntry {
    /// Where its texts begin in the bytes of the batch.
    start: usize,
    /// The bytes of its path, target, owner, group and pool.
    lengths: [u32; 5],
    /// A bit for each text but the path, each long and each short number: whether it is known; and [`RARE`].
    known: u32,
    kind: Option<EntryKind>,
    short: [u32; SHORT],
    long: [u64; LONG],
}

/// The number of texts of an entry without its path, of long and of short numbers.
const TEXTS: usize = 4;
const LONG: usize = 11;
const SHORT: usize = 3;

/// The bits in `known` of an entry that has rare values, and of one that has an ACL.
const RARE: u32 = 1 << 31;
const HAS_ACL: u32 = 1 << 30;

/// The values that are known, with their bits in `known` from `bit` on.
#[inline]
fn keep<T: Copy + Default, const N: usize>(values: [Option<T>; N], bit: usize, known: &mut u32) -> [T; N] {
    for (at, value) in values.iter().enumerate() {
        *known |= u32::from(value.is_some()) << (bit + at);
    }
    values.map(Option::unwrap_or_default)
}

/// The opposite of [`keep`].
#[inline]
fn known<T: Copy, const N: usize>(values: [T; N], bit: usize, known: u32) -> [Option<T>; N] {
    let mut at = bit;
    values.map(|value| {
        at += 1;
        (known >> (at - 1) & 1 == 1).then_some(value)
    })
}

impl KeptEntry {
    /// The entry, whose texts are in `texts`.
    fn entry<'t>(&self, texts: &'t [u8], rare: Option<&RareValues>) -> Entry<'t> {
        let mut start = self.start;
        let [path, others @ ..] = self.lengths.map(|length| {
            let text = texts.get(start..start + length as usize).unwrap_or_default();
            start += length as usize;
            text
        });
        let [target, owner, group, pool] = known(others, 0, self.known);
        let [xattrs, acl, access] = rare.map_or([None; 3], |rare| rare.lengths).map(|length| {
            let length = length? as usize;
            let text = texts.get(start..start + length);
            start += length;
            text
        });
        let [mtime, atime, ctime, btime, size, blocks, inode, links, device, stripes, project] =
            known(self.long, TEXTS, self.known);
        let [uid, gid, mode] = known(self.short, TEXTS + LONG, self.known);
        let [mtime, atime, ctime, btime] = [mtime, atime, ctime, btime].map(|t| t.map(u64::cast_signed));
        let kind = self.kind;
        Entry {
            path,
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
            rdev: rare.and_then(|rare| rare.rdev),
            xattrs,
            acl,
            has_acl: self.known & HAS_ACL != 0,
            access,
        }
    }
}

impl EntryBatch {
    /// A batch with space for entries, and bytes of their texts.
    pub(super) fn with_capacity(entries: usize, texts: usize) -> EntryBatch {
        EntryBatch {
            entries: Vec::with_capacity(entries),
            texts: Vec::with_capacity(texts),
            rare: Vec::new(),
        }
    }

    /// Adds an entry. Texts of 4 GiB and more are cut.
    #[inline]
    pub fn push(&mut self, entry: &Entry<'_>) {
        let Entry { path, kind, target, owner, group, mtime, atime, ctime, btime, size, blocks, .. } = *entry;
        let Entry { uid, gid, mode, inode, links, device, stripes, pool, project, .. } = *entry;
        let (start, mut known) = (self.texts.len(), 0);
        let [target, owner, group, pool] = keep([target, owner, group, pool], 0, &mut known);
        let lengths = [path, target, owner, group, pool].map(|text| {
            let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
            self.texts.extend_from_slice(text.get(..length as usize).unwrap_or_default());
            length
        });
        let [mtime, atime, ctime, btime] = [mtime, atime, ctime, btime].map(|t| t.map(i64::cast_unsigned));
        let long = [mtime, atime, ctime, btime, size, blocks, inode, links, device, stripes, project];
        let long = keep(long, TEXTS, &mut known);
        let short = keep([uid, gid, mode], TEXTS + LONG, &mut known);
        if entry.rdev.is_some() || [entry.xattrs, entry.acl, entry.access].iter().any(Option::is_some) {
            known |= RARE;
            self.push_rare(entry);
        }
        if entry.has_acl {
            known |= HAS_ACL;
        }
        self.entries.push(KeptEntry { start, lengths, known, kind, short, long });
    }

    /// Adds the rare values of the next entry, whose other texts have been added.
    #[cold]
    fn push_rare(&mut self, entry: &Entry<'_>) {
        let lengths = [entry.xattrs, entry.acl, entry.access].map(|text| {
            let length = u32::try_from(text?.len()).unwrap_or(u32::MAX);
            self.texts.extend_from_slice(text?.get(..length as usize).unwrap_or_default());
            Some(length)
        });
        self.rare.push(RareValues { entry: self.entries.len(), rdev: entry.rdev, lengths });
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

    /// Bytes that the entries take, without memory that is kept for more.
    pub fn bytes(&self) -> usize {
        self.texts.len()
            + self.entries.len() * size_of::<KeptEntry>()
            + self.rare.len() * size_of::<RareValues>()
    }

    /// Removes all entries; the memory is kept.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.texts.clear();
        self.rare.clear();
    }

    /// The entry with this number.
    pub fn get(&self, number: usize) -> Option<Entry<'_>> {
        let entry = self.entries.get(number)?;
        Some(entry.entry(&self.texts, self.rare_of(number, entry)))
    }

    /// The rare values of an entry.
    #[inline]
    fn rare_of(&self, number: usize, entry: &KeptEntry) -> Option<&RareValues> {
        if entry.known & RARE == 0 {
            return None;
        }
        let at = self.rare.binary_search_by_key(&number, |rare| rare.entry).ok()?;
        self.rare.get(at)
    }

    /// The path of the entry with this number.
    pub fn path(&self, number: usize) -> Option<&[u8]> {
        let KeptEntry { start, lengths: [length, ..], .. } = *self.entries.get(number)?;
        self.texts.get(start..start + length as usize)
    }

    /// The entries, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let entries = self.entries.iter().enumerate();
        entries.map(|(number, entry)| entry.entry(&self.texts, self.rare_of(number, entry)))
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
        assert_eq!(batch.get(1), Some(entries[1]));
        assert_eq!((batch.path(2), batch.path(3)), (Some(full.path), None));
        batch.clear();
        assert!(batch.is_empty() && batch.iter().next().is_none());
    }

    #[test]
    fn each_value_is_known_or_not_by_itself() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut batch = EntryBatch::default();
        let entries: Vec<Entry<'_>> = (0..500)
            .map(|_| {
                let text =
                    |random: &mut fastrand::Rng| random.bool().then_some(&b"text"[..random.usize(..4)]);
                let time = |random: &mut fastrand::Rng| random.bool().then(|| random.i64(..));
                let long = |random: &mut fastrand::Rng| random.bool().then(|| random.u64(..));
                let short = |random: &mut fastrand::Rng| random.bool().then(|| random.u32(..));
                Entry {
                    path: b"/a/path",
                    kind: random.bool().then_some(EntryKind::Fifo),
                    target: text(&mut random),
                    owner: text(&mut random),
                    group: text(&mut random),
                    mtime: time(&mut random),
                    atime: time(&mut random),
                    ctime: time(&mut random),
                    btime: time(&mut random),
                    size: long(&mut random),
                    blocks: long(&mut random),
                    uid: short(&mut random),
                    gid: short(&mut random),
                    mode: short(&mut random),
                    inode: long(&mut random),
                    links: long(&mut random),
                    device: long(&mut random),
                    stripes: long(&mut random),
                    pool: text(&mut random),
                    project: long(&mut random),
                    rdev: long(&mut random),
                    xattrs: text(&mut random),
                    acl: text(&mut random),
                    has_acl: random.bool(),
                    access: text(&mut random),
                }
            })
            .collect();
        entries.iter().for_each(|entry| batch.push(entry));
        assert_eq!(batch.iter().collect::<Vec<_>>(), entries);
        assert!(entries.iter().enumerate().all(|(at, entry)| batch.get(at) == Some(*entry)));
    }
}
