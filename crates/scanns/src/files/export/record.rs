//! An entry as bytes, to be sorted in memory and in temporary files.
//!
//! ```text
//! record = length:u32 known:u32 kind:u8 path:text (number:u64)* (text)*
//! text   = length:u32 bytes
//! ```
//!
//! The length counts what follows it. Bit `n` of `known` says that number `n` is there, and bits above
//! [`NUMBERS`] the texts. The path stands in the same place of each record, so that records can be compared
//! without reading them.

use crate::source::{Entry, EntryKind};

/// Numbers of an entry, in the order of the record.
const NUMBERS: usize = 14;

/// Bytes before the length of the path.
const PATH_AT: usize = 9;

const KINDS: [EntryKind; 6] = [
    EntryKind::File,
    EntryKind::Directory,
    EntryKind::Link,
    EntryKind::Fifo,
    EntryKind::Socket,
    EntryKind::Device,
];

/// Appends the record of an entry; false, and nothing is appended, if it is longer than 4 GiB.
pub(super) fn put(entry: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let (numbers, texts) = (numbers(entry), [entry.target, entry.owner, entry.group, entry.pool]);
    let mut known = 0_u32;
    for (bit, is_known) in
        numbers.iter().map(Option::is_some).chain(texts.iter().map(Option::is_some)).enumerate()
    {
        known |= u32::from(is_known) << bit;
    }
    let kind = entry.kind.and_then(|kind| KINDS.iter().position(|known| *known == kind));
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&known.to_le_bytes());
    out.push(kind.and_then(|kind| u8::try_from(kind).ok()).unwrap_or(u8::MAX));
    let mut fits = put_text(entry.path, out);
    for number in numbers.into_iter().flatten() {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for text in texts.into_iter().flatten() {
        fits &= put_text(text, out);
    }
    let length = u32::try_from(out.len() - start - 4).ok().filter(|_| fits);
    match (length, out.get_mut(start..start + 4)) {
        (Some(length), Some(slot)) => slot.copy_from_slice(&length.to_le_bytes()),
        _ => out.truncate(start),
    }
    length.is_some()
}

fn put_text(text: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(length) = u32::try_from(text.len()) else { return false };
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text);
    true
}

/// The entry of the record at the start of `bytes`; `None` if it is not a record.
pub(super) fn take(bytes: &[u8]) -> Option<Entry<'_>> {
    let mut rest = bytes;
    let length = take_length(&mut rest)?;
    let mut rest = rest.get(..length)?;
    let known = u32::from_le_bytes(*take_array(&mut rest)?);
    let [kind] = *take_array::<1>(&mut rest)?;
    let path = take_text(&mut rest)?;
    let has = |bit: usize| known >> bit & 1 == 1;
    let mut numbers = [None; NUMBERS];
    for (bit, number) in numbers.iter_mut().enumerate() {
        if has(bit) {
            *number = Some(u64::from_le_bytes(*take_array(&mut rest)?));
        }
    }
    let mut texts = [None; 4];
    for (at, text) in texts.iter_mut().enumerate() {
        if has(NUMBERS + at) {
            *text = Some(take_text(&mut rest)?);
        }
    }
    Some(with_values(
        Entry { path, kind: KINDS.get(usize::from(kind)).copied(), ..Entry::default() },
        numbers,
        texts,
    ))
}

/// What a record is sorted by: its path, and whether it is a directory.
pub(super) fn key(bytes: &[u8]) -> (&[u8], bool) {
    let is_directory = bytes.get(PATH_AT - 1) == Some(&1);
    let mut rest = bytes.get(PATH_AT..).unwrap_or_default();
    (take_text(&mut rest).unwrap_or_default(), is_directory)
}

/// The number of bytes of the record at the start of `bytes`, with its length.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    take_length(&mut rest)?.checked_add(4)
}

fn take_array<'b, const N: usize>(rest: &mut &'b [u8]) -> Option<&'b [u8; N]> {
    let (array, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(array)
}

fn take_length(rest: &mut &[u8]) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*take_array(rest)?)).ok()
}

fn take_text<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = take_length(rest)?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(text)
}

fn numbers(entry: &Entry<'_>) -> [Option<u64>; NUMBERS] {
    let time = |time: Option<i64>| time.map(i64::cast_unsigned);
    let short = |number: Option<u32>| number.map(u64::from);
    [
        time(entry.mtime),
        time(entry.atime),
        time(entry.ctime),
        time(entry.btime),
        entry.size,
        entry.blocks,
        short(entry.uid),
        short(entry.gid),
        short(entry.mode),
        entry.inode,
        entry.links,
        entry.device,
        entry.stripes,
        entry.project,
    ]
}

fn with_values<'b>(
    entry: Entry<'b>,
    numbers: [Option<u64>; NUMBERS],
    texts: [Option<&'b [u8]>; 4],
) -> Entry<'b> {
    let time = |time: Option<u64>| time.map(u64::cast_signed);
    let short = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    let [mtime, atime, ctime, btime, size, blocks, uid, gid, mode, inode, links, device, stripes, project] =
        numbers;
    let [target, owner, group, pool] = texts;
    Entry {
        target,
        owner,
        group,
        pool,
        mtime: time(mtime),
        atime: time(atime),
        ctime: time(ctime),
        btime: time(btime),
        size,
        blocks,
        uid: short(uid),
        gid: short(gid),
        mode: short(mode),
        inode,
        links,
        device,
        stripes,
        project,
        ..entry
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::random_entries;
    use super::*;

    #[test]
    fn entries_come_back_from_records_and_cut_records_are_none() {
        let mut random = super::super::tests::seeded();
        for owned in random_entries(&mut random, 200) {
            let entry = owned.entry();
            let mut bytes = Vec::new();
            assert!(put(&entry, &mut bytes));
            assert_eq!(take(&bytes), Some(entry));
            assert_eq!(length(&bytes), Some(bytes.len()));
            assert_eq!(key(&bytes), (entry.path, entry.kind == Some(EntryKind::Directory)));
            let cut = random.usize(0..bytes.len());
            assert_eq!(take(&bytes[..cut]), None);
        }
    }
}
