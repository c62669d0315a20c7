//! The bytes of a slice of a listing. Paths are bytes, and share the beginnings of those before them.
//!
//! ```text
//! slice  = input …                                                 as many as the table of the plan says
//! input  = varint(bytes shared with the path before) | varint(length of the rest) | rest |
//!          varint(size) | modified i64 | part
//! part   = 0 u8                                                    the whole file
//!        | 1 u8 | varint(start) | varint(length) | varint(records before) | varint(lines before) |
//!          varint(credit) | varint(length) | header of CSV         see `read/cuts.rs`
//! ```

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::codec::{ByteReader, common_prefix, put_varint};
use crate::index::build::slice::{Extent, SliceInput};
use crate::read::PieceStart;
use crate::source::Stamp;

/// Writes the inputs of a slice one after the other.
#[derive(Debug, Default)]
pub(super) struct SliceEncoder {
    /// The path of the last input.
    before: Vec<u8>,
}

impl SliceEncoder {
    /// Appends an input.
    pub(super) fn put(&mut self, input: &SliceInput, out: &mut Vec<u8>) {
        let SliceInput { path, stamp, extent } = input;
        let path = path.as_os_str().as_bytes();
        let shared = common_prefix(path, &self.before);
        let rest = path.get(shared..).unwrap_or_default();
        put_varint(out, shared as u64);
        put_varint(out, rest.len() as u64);
        out.extend_from_slice(rest);
        put_varint(out, stamp.bytes);
        out.extend_from_slice(&stamp.modified.to_le_bytes());
        out.push(u8::from(extent.is_some()));
        if let Some(Extent { start, end, at }) = extent {
            let PieceStart { head, records, lines, credit } = at;
            for number in [*start, end.saturating_sub(*start), *records, *lines, *credit as u64] {
                put_varint(out, number);
            }
            put_varint(out, head.len() as u64);
            out.extend_from_slice(head);
        }
        self.before.truncate(shared);
        self.before.extend_from_slice(rest);
    }
}

/// Appends a slice.
#[cfg(any(test, feature = "internals"))]
pub(crate) fn encode_slice<'i>(inputs: impl Iterator<Item = &'i SliceInput>, out: &mut Vec<u8>) {
    let mut encoder = SliceEncoder::default();
    inputs.for_each(|input| encoder.put(input, out));
}

/// Reads a slice of `count` inputs; `None` if the bytes are none.
pub(crate) fn decode_slice(bytes: &[u8], count: u64) -> Option<Vec<SliceInput>> {
    let mut reader = ByteReader::new(bytes);
    let mut inputs = Vec::new();
    let mut path = Vec::new();
    for _ in 0..count {
        let shared = usize::try_from(reader.varint()?).ok().filter(|&shared| shared <= path.len())?;
        path.truncate(shared);
        let len = usize::try_from(reader.varint()?).ok()?;
        path.extend_from_slice(reader.take(len)?);
        let stamp = Stamp { bytes: reader.varint()?, modified: reader.u64()?.cast_signed() };
        let extent = match reader.u8()? {
            0 => None,
            1 => Some(decode_extent(&mut reader)?),
            _ => return None,
        };
        let path = PathBuf::from(OsString::from_vec(path.clone()));
        inputs.push(SliceInput { path, stamp, extent });
    }
    reader.remaining().is_empty().then_some(inputs)
}

fn decode_extent(reader: &mut ByteReader<'_>) -> Option<Extent> {
    let start = reader.varint()?;
    let end = start.checked_add(reader.varint()?)?;
    let (records, lines) = (reader.varint()?, reader.varint()?);
    let credit = usize::try_from(reader.varint()?).ok()?;
    let len = usize::try_from(reader.varint()?).ok()?;
    let head = reader.take(len)?.into();
    // A record has at least one byte.
    let at = PieceStart { head, records, lines, credit };
    (start < end && records <= start).then_some(Extent { start, end, at })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn random_input(random: &mut fastrand::Rng) -> SliceInput {
        let mut path = b"/data/".to_vec();
        path.extend((0..random.usize(..30)).map(|_| [b'a', b'/', 0xff, b'\n'][random.usize(..4)]));
        let extent = random.bool().then(|| {
            let start = random.u64(..1 << 50);
            let head = (0..random.usize(..9)).map(|_| random.u8(..)).collect::<Vec<_>>().into();
            let at = PieceStart {
                head,
                records: random.u64(..=start),
                lines: random.u64(..),
                credit: random.usize(..),
            };
            Extent { start, end: start + random.u64(1..1 << 40), at }
        });
        let stamp = Stamp { bytes: random.u64(..), modified: random.i64(..) };
        SliceInput { path: OsStr::from_bytes(&path).into(), stamp, extent }
    }

    #[test]
    fn slices_read_back_and_cut_or_longer_ones_do_not() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..100 {
            let inputs: Vec<_> = (0..random.usize(..20)).map(|_| random_input(&mut random)).collect();
            let mut bytes = Vec::new();
            encode_slice(inputs.iter(), &mut bytes);
            let count = inputs.len() as u64;
            assert_eq!(decode_slice(&bytes, count).unwrap(), inputs, "seed {seed}");
            assert!((0..bytes.len()).all(|len| decode_slice(&bytes[..len], count).is_none()), "seed {seed}");
            assert!(decode_slice(&bytes, count + 1).is_none(), "seed {seed}");
            bytes.push(0);
            assert!(decode_slice(&bytes, count).is_none(), "seed {seed}");
        }
    }

    #[test]
    fn random_bytes_are_no_reason_to_panic_or_to_allocate() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..random.usize(..60)).map(|_| random.u8(..)).collect();
            let _ = decode_slice(&bytes, random.u64(..));
        }
    }
}
