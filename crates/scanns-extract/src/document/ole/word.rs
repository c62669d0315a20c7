//! Word 6 to 2003 ([MS-DOC]).
//!
//! The file information block at the start of the stream `WordDocument` tells where the piece table is. A
//! piece is a run of characters that stands at some place of the stream, in Windows-1252 or UTF-16. The
//! pieces give the body, then footnotes, headers, comments, endnotes and text boxes. Word 6 and 95 write
//! plain bytes at one place unless the file was saved fast; their encoding follows from the language of the
//! document and from the character sets of its fonts.

use std::io::{Read, Seek};

use encoding_rs::{Encoding, MACINTOSH, WINDOWS_1252};

use super::super::bytes::{size_at, u16_at, u32_at, utf16};
use super::super::charset;
use super::super::flow::{Break, Flow};
use super::compound::Compound;
use super::summary;
use crate::error::ExtractError;
use crate::output::Output;

/// The name of the format in errors.
pub(super) const NAME: &str = "Word 97";
/// The first version of Word 97.
const WORD_97: u16 = 0xc1;
/// Bits of the flags at 10 of the file information block.
const IS_COMPLEX: u16 = 0x0004;
const IS_ENCRYPTED: u16 = 0x0100;
const USES_1TABLE: u16 = 0x0200;
/// The value at 20 of the file information block of Word for the Macintosh.
const MACINTOSH_CHARACTERS: u16 = 0x100;
/// The bit of a piece's place that says Windows-1252; the place is then doubled.
const IS_NARROW: u32 = 1 << 30;

/// Takes the text and the fields of a document.
pub(super) fn extract<S: Read + Seek>(
    compound: &mut Compound<S>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let main = compound.needed("/WordDocument")?;
    let flags = u16_at(&main, 10).unwrap_or(0);
    let version = u16_at(&main, 2).unwrap_or(0);
    if flags & IS_ENCRYPTED != 0 {
        return Err(ExtractError::Encrypted { format: NAME });
    }
    summary::read(compound, out);
    let mut writer = Letters { flow: Flow::new(out), fields: Vec::new(), codes: 0, last: '\0' };
    let short = || ExtractError::damaged(NAME, "the file information block is cut off");
    if version >= WORD_97 {
        let table = compound.needed(if flags & USES_1TABLE == 0 { "/0Table" } else { "/1Table" })?;
        let clx = section(&table, &main, 0x1a2).ok_or_else(short)?;
        pieces(clx, &main, None, &mut writer)
    } else if flags & IS_COMPLEX != 0 {
        let clx = section(&main, &main, 0x160).ok_or_else(short)?;
        pieces(clx, &main, Some(old_encoding(&main)), &mut writer)
    } else {
        let (start, end) = size_at(&main, 0x18).zip(size_at(&main, 0x1c)).ok_or_else(short)?;
        let text = main.get(start..end.min(main.len())).ok_or_else(short)?;
        writer.text(&old_encoding(&main).decode_without_bom_handling(text).0);
        Ok(())
    }
}

/// The bytes of `table` whose place and length stand at `at` of the file information block.
fn section<'t>(table: &'t [u8], block: &[u8], at: usize) -> Option<&'t [u8]> {
    let start = size_at(block, at)?;
    let end = start.checked_add(size_at(block, at + 4)?)?;
    table.get(start..end.min(table.len()))
}

/// The encoding of the bytes of a document of Word 6 and 95. An English document may have text in fonts of
/// another alphabet: if all of them agree, their encoding counts.
fn old_encoding(block: &[u8]) -> &'static Encoding {
    if u16_at(block, 0x14) == Some(MACINTOSH_CHARACTERS) {
        return MACINTOSH;
    }
    let encoding = charset::of_locale(u16_at(block, 6).unwrap_or(0));
    if encoding != WINDOWS_1252 {
        return encoding;
    }
    let mut of_fonts = font_charsets(section(block, block, 0xd0).unwrap_or_default())
        .filter_map(charset::of_font)
        .filter(|encoding| encoding.is_single_byte());
    match of_fonts.next() {
        Some(first) if of_fonts.all(|other| other == first) => first,
        _ => encoding,
    }
}

/// The character sets of the fonts of Word 6 and 95: the table begins with its size, and each entry with the
/// number of bytes that follow, 3 bytes of no use here, and the character set.
fn font_charsets(table: &[u8]) -> impl Iterator<Item = i32> {
    let mut rest = table.get(2..).unwrap_or_default();
    std::iter::from_fn(move || {
        let charset = *rest.get(4)?;
        rest = rest.get(1 + usize::from(*rest.first()?)..).unwrap_or_default();
        Some(i32::from(charset))
    })
}

/// Appends the text of all pieces. `old` is the encoding of Word 6 and 95, whose pieces are all bytes.
fn pieces(
    clx: &[u8],
    main: &[u8],
    old: Option<&'static Encoding>,
    writer: &mut Letters<'_>,
) -> Result<(), ExtractError> {
    let table = piece_table(clx).ok_or_else(|| ExtractError::damaged(NAME, "no piece table"))?;
    let count = table.len().saturating_sub(4) / 12;
    let mut left = main.len().saturating_mul(2);
    for piece in 0..count {
        if writer.flow.is_full() {
            break;
        }
        let bounds = size_at(table, 4 * piece).zip(size_at(table, 4 * piece + 4));
        let letters = bounds.and_then(|(start, end)| end.checked_sub(start));
        let place = u32_at(table, 4 * (count + 1) + 8 * piece + 2);
        let bytes = letters.zip(place).and_then(|(letters, place)| piece_bytes(main, letters, place, old));
        let (bytes, encoding) =
            bytes.ok_or_else(|| ExtractError::damaged(NAME, "a piece is out of place"))?;
        left = left.checked_sub(bytes.len()).ok_or_else(|| ExtractError::damaged(NAME, "pieces overlap"))?;
        match encoding {
            Some(encoding) => writer.text(&encoding.decode_without_bom_handling(bytes).0),
            None => writer.text(&utf16(bytes)),
        }
    }
    Ok(())
}

/// The piece table: the section of type 2, after sections of type 1 with formatting.
fn piece_table(clx: &[u8]) -> Option<&[u8]> {
    let mut rest = clx;
    while let Some((1, after)) = rest.split_first().map(|(kind, after)| (*kind, after)) {
        rest = after.get(2 + usize::from(u16_at(after, 0)?)..)?;
    }
    let (_, after) = rest.split_first().filter(|(kind, _)| **kind == 2)?;
    let size = size_at(after, 0)?;
    after.get(4..)?.get(..size.min(after.len() - 4))
}

/// The bytes of a piece, and their encoding unless it is UTF-16.
fn piece_bytes<'m>(
    main: &'m [u8],
    letters: usize,
    place: u32,
    old: Option<&'static Encoding>,
) -> Option<(&'m [u8], Option<&'static Encoding>)> {
    let start = usize::try_from(place & (IS_NARROW - 1)).ok()?;
    let (start, size, encoding) = match old {
        Some(encoding) => (start, letters, Some(encoding)),
        None if place & IS_NARROW != 0 => (start / 2, letters, Some(WINDOWS_1252)),
        None => (start, letters.checked_mul(2)?, None),
    };
    let rest = main.get(start..)?;
    Some((rest.get(..size.min(rest.len()))?, encoding))
}

/// Writes the characters of a document, some of which are marks.
struct Letters<'o> {
    flow: Flow<'o>,
    /// The open fields: whether the code of each is over and its result follows.
    fields: Vec<bool>,
    /// The open fields whose code is read.
    codes: usize,
    last: char,
}

impl Letters<'_> {
    fn text(&mut self, text: &str) {
        for run in text.split_inclusive(|letter: char| letter < ' ') {
            let mark = run.chars().next_back().filter(|letter| *letter < ' ');
            let words = run.strip_suffix(|letter: char| letter < ' ').unwrap_or(run);
            if self.codes == 0 {
                self.flow.words(words);
            }
            if !words.is_empty() {
                self.last = ' ';
            }
            if let Some(mark) = mark {
                self.mark(mark);
                self.last = mark;
            }
        }
    }

    /// Takes a character that is a mark.
    fn mark(&mut self, mark: char) {
        match mark {
            '\x13' => {
                self.fields.push(false);
                self.codes += 1;
            }
            '\x14' => {
                if let Some(is_result) = self.fields.last_mut().filter(|is_result| !**is_result) {
                    *is_result = true;
                    self.codes -= 1;
                }
            }
            '\x15' => {
                let was_code = self.fields.pop() == Some(false);
                self.codes -= usize::from(was_code);
            }
            _ if self.codes > 0 => {}
            '\r' | '\x0b' | '\x0c' | '\x0e' | '\n' => self.flow.part(Break::Line),
            // A cell ends; a second mark ends the row.
            '\x07' if self.last == '\x07' => self.flow.part(Break::Line),
            '\x07' | '\t' => self.flow.part(Break::Tab),
            '\x1e' => self.flow.text("-"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file information block of Word 95 with fonts of these character sets.
    fn block(language: u16, characters: u16, charsets: &[u8]) -> Vec<u8> {
        let mut table = vec![0, 0];
        for charset in charsets {
            table.extend([7, 0, 0, 0, *charset, 0, b'A', 0]);
        }
        let mut block = vec![0; 0xd8];
        block[6..8].copy_from_slice(&language.to_le_bytes());
        block[0x14..0x16].copy_from_slice(&characters.to_le_bytes());
        block[0xd0] = 0xd8;
        block[0xd4] = u8::try_from(table.len()).unwrap();
        block.extend(table);
        block
    }

    #[test]
    fn old_documents_have_the_encoding_of_their_language_or_fonts() {
        let name = |language, characters, charsets: &[u8]| {
            old_encoding(&block(language, characters, charsets)).name()
        };
        assert_eq!(name(0x409, 0, &[0, 2, 0, 204, 204]), "windows-1251");
        assert_eq!(name(0x409, 0, &[0, 238]), "windows-1250");
        assert_eq!(name(0x409, 0, &[204, 238]), "windows-1252");
        assert_eq!(name(0x409, 0, &[136, 0]), "windows-1252");
        assert_eq!(name(0x419, 0, &[238]), "windows-1251");
        assert_eq!(name(0x40c, 0x100, &[77]), "macintosh");
        assert_eq!(old_encoding(&block(0x409, 0, &[])[..0xd2]), WINDOWS_1252);
        assert_eq!(font_charsets(&[0, 0, 200, 0, 0, 0, 204, 0]).collect::<Vec<_>>(), [204]);
    }
}
