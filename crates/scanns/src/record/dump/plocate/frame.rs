//! Where a zstd frame ends, and how long its content is.
//!
//! ```text
//! frame = 0xfd2fb528:u32 descriptor:u8 [window:u8] dictionary_id[0..4] content_size[0..8] block...
//!         [checksum:u32]
//! block = (size << 3 | type << 1 | is_last):u24 bytes
//! ```
//!
//! From RFC 8878. A stream of blocks of names has no lengths between them, so the frames have to say where
//! they end.

use crate::record::dump::input::{DumpInput, Halt};

const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// The greatest length of a frame, and of its content.
pub(super) const LONGEST: usize = 64 << 20;

/// The lengths that the descriptor of a frame names.
struct FrameDescriptor {
    /// The bytes between the descriptor and the content size.
    skipped: usize,
    /// The bytes of the content size.
    size: usize,
    checksum: bool,
}

impl FrameDescriptor {
    fn of(byte: u8) -> Self {
        let single_segment = byte & 0x20 != 0;
        let dictionary_id = match usize::from(byte & 3) {
            3 => 4,
            length => length,
        };
        let size = match byte >> 6 {
            0 => usize::from(single_segment),
            power => 1 << power,
        };
        FrameDescriptor {
            skipped: usize::from(!single_segment) + dictionary_id,
            size,
            checksum: byte & 4 != 0,
        }
    }
}

/// The length of the content of `frame`, if it names one.
pub(super) fn content_size(frame: &[u8]) -> Option<u64> {
    let (descriptor, rest) = frame.strip_prefix(&MAGIC)?.split_first()?;
    let descriptor = FrameDescriptor::of(*descriptor);
    let digits = rest.get(descriptor.skipped..)?.get(..descriptor.size)?;
    let value = digits.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    match digits.len() {
        0 => None,
        // Two bytes count from 256, because less fits into one.
        2 => Some(value + 256),
        _ => Some(value),
    }
}

/// Reads the frame that is next into `frame`.
pub(super) fn read(input: &mut DumpInput<'_>, frame: &mut Vec<u8>) -> Result<(), Halt> {
    let start = input.offset();
    input.exact(5, frame)?;
    if !frame.starts_with(&MAGIC) {
        return Err(Halt::invalid(start, "expected a block of names (a zstd frame), found other bytes"));
    }
    let descriptor = FrameDescriptor::of(frame.last().copied().unwrap_or_default());
    input.append((descriptor.skipped + descriptor.size) as u64, frame)?;
    loop {
        let block = frame.len();
        input.append(3, frame)?;
        let Some([a, b, c]) = frame.get(block..).and_then(<[u8]>::first_chunk) else { return Err(Halt::End) };
        let head = u32::from_le_bytes([*a, *b, *c, 0]);
        // A block of type 1 is one byte that is repeated.
        let size = if head >> 1 & 3 == 1 { 1 } else { head >> 3 };
        input.append(size.into(), frame)?;
        if frame.len() > LONGEST {
            return Err(Halt::invalid(start, "a block of names is longer than 64 MiB"));
        }
        if head & 1 == 1 {
            break;
        }
    }
    if descriptor.checksum { input.append(4, frame) } else { Ok(()) }
}
