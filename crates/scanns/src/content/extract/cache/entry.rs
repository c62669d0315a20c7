//! The bytes of an entry, little-endian.
//!
//! ```text
//! entry  := magic:8 version:u32 zero:u32 hash:16 length:u64 packed:u64 plain:u64 check:u64  body
//! body   := `packed` bytes of Zstandard, which hold `plain` bytes: the frame with which a child answered
//! check  := xxh3-64 of the 56 bytes before it, with xxh3-64 of the body as the seed
//! ```
//!
//! `hash` and `length` are the key of the entry. The name of the file has the hash, too: an entry that was
//! moved to another name is not taken for another document's.

use std::io::{self, Write};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::super::failure::printable;
use super::super::frame::{ExtractedMeta, FrameHeader, FrameKind, HEADER_BYTES, META_BYTES, put_bytes};
use super::super::{ExtractFailure, ExtractLimits, Extracted};
use super::key::ContentKey;

const MAGIC: [u8; 8] = *b"SCANNSXA";
/// The version of these bytes. It changes with [`FRAME_VERSION`](super::super::frame::FRAME_VERSION) too, but
/// that one is part of the key.
const ENTRY_VERSION: u32 = 1;
/// Bytes before the body.
pub(super) const ENTRY_HEADER: usize = 64;
/// Bytes of the header that the checksum is about.
const CHECKED: usize = ENTRY_HEADER - 8;
/// The fastest usual level of Zstandard: text takes a third to a half of its size.
const LEVEL: i32 = 1;

/// What a child said about a document.
pub(in super::super) type ExtractAnswer = Result<Extracted, ExtractFailure>;

/// The largest entry with an answer within `limits`. Zstandard adds less than a byte in 128.
pub(super) fn most_entry(limits: &ExtractLimits) -> u64 {
    let plain = most_plain(limits);
    plain.saturating_add(plain / 128).saturating_add(1 << 10)
}

fn most_plain(limits: &ExtractLimits) -> u64 {
    limits.text.saturating_add((HEADER_BYTES + META_BYTES) as u64)
}

/// The bytes of an entry. `None` if the answer is not one to keep: it says nothing about the document itself.
pub(super) fn encode(key: &ContentKey, answer: &ExtractAnswer) -> io::Result<Option<Vec<u8>>> {
    let Some((header, text, meta)) = frame_of(answer) else { return Ok(None) };
    let plain = HEADER_BYTES + text.len() + meta.len();
    let mut packer = zstd::stream::Encoder::new(vec![0; ENTRY_HEADER], LEVEL)?;
    packer.set_pledged_src_size(Some(plain as u64))?;
    packer.write_all(&header.encode())?;
    packer.write_all(text)?;
    packer.write_all(&meta)?;
    let mut entry = packer.finish()?;
    let packed = entry.len() - ENTRY_HEADER;
    let mut head = Vec::with_capacity(ENTRY_HEADER);
    head.extend_from_slice(&MAGIC);
    head.extend_from_slice(&ENTRY_VERSION.to_le_bytes());
    head.extend_from_slice(&[0; 4]);
    head.extend_from_slice(&key.hash);
    for number in [key.length, packed as u64, plain as u64] {
        head.extend_from_slice(&number.to_le_bytes());
    }
    let check = checksum(&head, entry.get(ENTRY_HEADER..).unwrap_or_default());
    head.extend_from_slice(&check);
    if let Some(room) = entry.first_chunk_mut::<ENTRY_HEADER>() {
        room.copy_from_slice(&head);
    }
    Ok(Some(entry))
}

/// The answer in an entry. `None` if the entry is damaged, or not the one of `key`, or beyond `limits`.
pub(super) fn decode(entry: &[u8], key: &ContentKey, limits: &ExtractLimits) -> Option<ExtractAnswer> {
    let (head, body) = entry.split_at_checked(ENTRY_HEADER)?;
    let (checked, check) = head.split_at_checked(CHECKED)?;
    let mut start = Vec::with_capacity(CHECKED);
    start.extend_from_slice(&MAGIC);
    start.extend_from_slice(&ENTRY_VERSION.to_le_bytes());
    start.extend_from_slice(&[0; 4]);
    start.extend_from_slice(&key.hash);
    start.extend_from_slice(&key.length.to_le_bytes());
    let lengths = checked.strip_prefix(start.as_slice())?;
    let (packed, plain) = lengths.split_first_chunk::<8>()?;
    let plain = u64::from_le_bytes(*plain.first_chunk()?);
    let is_whole = u64::from_le_bytes(*packed) == body.len() as u64 && checksum(checked, body) == check;
    if !is_whole || plain > most_plain(limits) {
        return None;
    }
    answer_of(unpack(body, usize::try_from(plain).ok()?)?, limits)
}

fn checksum(head: &[u8], body: &[u8]) -> [u8; 8] {
    xxh3_64_with_seed(head, xxh3_64(body)).to_le_bytes()
}

/// Exactly `plain` bytes.
fn unpack(body: &[u8], plain: usize) -> Option<Vec<u8>> {
    let bytes = zstd::bulk::decompress(body, plain).ok()?;
    (bytes.len() == plain).then_some(bytes)
}

/// The parts of the frame with which a child gave this answer.
fn frame_of(answer: &ExtractAnswer) -> Option<(FrameHeader, &[u8], Vec<u8>)> {
    let (kind, text, meta) = match answer {
        Ok(Extracted { format, text, fields, cut }) => {
            let mut meta = Vec::new();
            put_bytes(&mut meta, format.as_bytes());
            meta.push(u8::from(*cut));
            for (name, value) in fields {
                put_bytes(&mut meta, name.as_bytes());
                put_bytes(&mut meta, value.as_bytes());
            }
            (FrameKind::Extracted, text.as_slice(), meta)
        }
        Err(ExtractFailure::NotADocument) => (FrameKind::NotADocument, [].as_slice(), Vec::new()),
        Err(ExtractFailure::Failed(reason)) => {
            (FrameKind::Failed, [].as_slice(), reason.clone().into_bytes())
        }
        Err(
            ExtractFailure::Died { .. }
            | ExtractFailure::TimedOut { .. }
            | ExtractFailure::TooMuchMemory { .. }
            | ExtractFailure::Cancelled
            | ExtractFailure::Start(_)
            | ExtractFailure::Protocol(_),
        ) => return None,
    };
    let lengths = (u32::try_from(text.len()).ok()?, u32::try_from(meta.len()).ok()?);
    let header = FrameHeader { kind, last: false, passing: false, text: lengths.0, meta: lengths.1 };
    (meta.len() <= META_BYTES).then_some((header, text, meta))
}

/// The answer in a frame.
fn answer_of(frame: Vec<u8>, limits: &ExtractLimits) -> Option<ExtractAnswer> {
    let header = FrameHeader::decode(*frame.first_chunk::<HEADER_BYTES>()?).ok()?;
    let mut text = frame;
    let end = HEADER_BYTES.checked_add(usize::try_from(header.text).ok()?)?;
    if u64::from(header.text) > limits.text || end > text.len() {
        return None;
    }
    let meta = text.split_off(end);
    text.drain(..HEADER_BYTES);
    if u64::from(header.meta) != meta.len() as u64 {
        return None;
    }
    match header.kind {
        FrameKind::Extracted => {
            simdutf8::basic::from_utf8(&text).ok()?;
            let ExtractedMeta { format, cut, fields } = ExtractedMeta::decode(&meta, limits.fields).ok()?;
            Some(Ok(Extracted { format, text, fields, cut }))
        }
        FrameKind::NotADocument if text.is_empty() && meta.is_empty() => {
            Some(Err(ExtractFailure::NotADocument))
        }
        FrameKind::Failed if text.is_empty() => Some(Err(ExtractFailure::Failed(printable(&meta)))),
        FrameKind::NotADocument | FrameKind::Failed | FrameKind::Request => None,
    }
}
