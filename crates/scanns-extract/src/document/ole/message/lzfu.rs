//! Compressed RTF ([MS-OXRTFCP]): LZ77 with a window of 4,096 bytes that begins with usual words of RTF.
//!
//! `size u32, expanded size u32, "LZFu" or "MELA", checksum u32, data`. A byte of flags stands before eight
//! items, lowest bit first: 0 is a byte, 1 is 12 bits of a place in the window and 4 bits of a length less 2.

use crate::document::bytes::u32_at;

/// The first bytes of the window.
const START: &[u8; 207] =
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \
\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \
\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
/// The size of the window.
const WINDOW: usize = 4_096;
/// The most bytes that data expand to: an item of two bytes and a flag gives at most 17.
const MOST_RATIO: usize = 9;

/// The expanded bytes. `None`: no compressed RTF. Data that are cut off give what they hold.
pub(super) fn expand(packed: &[u8]) -> Option<Vec<u8>> {
    let data = packed.get(16..)?;
    match u32_at(packed, 8)? {
        0x414c_454d => return Some(data.to_vec()),
        0x7546_5a4c => {}
        _ => return None,
    }
    let mut window = [0_u8; WINDOW];
    window.get_mut(..START.len())?.copy_from_slice(START);
    let mut at = START.len();
    let mut expanded = Vec::with_capacity(data.len());
    let mut put = |window: &mut [u8; WINDOW], at: &mut usize, byte: u8| {
        if let Some(place) = window.get_mut(*at) {
            *place = byte;
        }
        *at = (*at + 1) % WINDOW;
        expanded.push(byte);
    };
    let mut bytes = data.iter().copied();
    'items: while let Some(flags) = bytes.next() {
        for bit in 0..8 {
            let Some(first) = bytes.next() else { break 'items };
            if flags >> bit & 1 == 0 {
                put(&mut window, &mut at, first);
                continue;
            }
            let Some(second) = bytes.next() else { break 'items };
            let place = usize::from(first) << 4 | usize::from(second >> 4);
            if place == at {
                break 'items;
            }
            for step in 0..usize::from(second & 15) + 2 {
                let byte = window.get((place + step) % WINDOW).copied().unwrap_or(0);
                put(&mut window, &mut at, byte);
            }
        }
    }
    debug_assert!(expanded.len() <= data.len().saturating_mul(MOST_RATIO));
    Some(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_specification_expands() {
        let packed =
            b"\x2d\0\0\0\x2b\0\0\0LZFu\xf1\xc5\xc7\xa7\x03\0\x0a\0rcpg125\x42\x32\x0a\xf3\x20hel\x09\0 b\
            \x77\x05\xb0ld}\x0a\x80\x0f\xa0";
        let expected = "{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n";
        assert_eq!(String::from_utf8(expand(packed).unwrap()).unwrap(), expected);
    }
}
