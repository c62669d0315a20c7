//! Reads one string of a block, or all in order.

use std::ops::{ControlFlow, Range};

use super::super::ByteReader;
use super::super::fsst::SymbolTable;
use super::{CODES, Ends, FRAME, MOST_IN_FRAME, MOST_SAME, RAW, SAME, StringBatch};

/// The size of a batch in bytes at which no more strings are added.
const FULL: usize = 128 << 10;

/// A block, read in place. A table of symbols is decoded when the block is opened.
#[derive(Debug)]
pub struct StringBlock<'a> {
    count: u32,
    form: Layout<'a>,
}

#[derive(Debug)]
enum Layout<'a> {
    Same(&'a [u8]),
    Raw(Ends<'a>, &'a [u8]),
    Codes(Box<SymbolTable>, Ends<'a>, &'a [u8]),
    /// The ends of the strings in the text, the length of the text, and the frame.
    Frame(Ends<'a>, usize, &'a [u8]),
}

impl<'a> StringBlock<'a> {
    /// Opens a block that takes all of `bytes`; `None` if the bytes are invalid.
    pub fn open(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let count = reader.varint32()?;
        let strings = usize::try_from(count).ok()?;
        let form = match reader.u8()? {
            SAME if strings <= MOST_SAME => Layout::Same(reader.remaining()),
            RAW => Layout::Raw(Ends::open(&mut reader, strings)?, reader.remaining()),
            CODES => {
                let table = Box::new(SymbolTable::decode(&mut reader)?);
                Layout::Codes(table, Ends::open(&mut reader, strings)?, reader.remaining())
            }
            FRAME => {
                let len = usize::try_from(reader.varint()?).ok().filter(|&len| len <= MOST_IN_FRAME)?;
                Layout::Frame(Ends::open(&mut reader, strings)?, len, reader.remaining())
            }
            _ => return None,
        };
        let (ends, len) = match &form {
            Layout::Same(_) => return Some(StringBlock { count, form }),
            Layout::Raw(ends, text) | Layout::Codes(_, ends, text) => (ends, text.len()),
            Layout::Frame(ends, len, _) => (ends, *len),
        };
        let last = strings.checked_sub(1).map_or(Some(0), |last| Some(ends.range(last)?.end));
        (last == Some(len)).then_some(StringBlock { count, form })
    }

    /// Returns the number of strings. In damaged bytes it can be greater than the number that the caller
    /// expects.
    pub fn len(&self) -> u32 {
        self.count
    }

    #[cfg(test)]
    /// Returns true if a string can be read only after all strings were unpacked.
    pub fn is_packed(&self) -> bool {
        matches!(self.form, Layout::Frame(..))
    }

    /// Unpacks the text that [`get_from`](Self::get_from) needs into `text`: at most 1 MiB for a block that
    /// [is packed](Self::is_packed), nothing for other blocks.
    pub fn unpack(&self, text: &mut Vec<u8>) -> Option<()> {
        text.clear();
        let Layout::Frame(_, len, frame) = self.form else { return Some(()) };
        text.resize(len, 0);
        let found = zstd::bulk::decompress_to_buffer(frame, &mut text[..]).ok();
        found.filter(|&found| found == len).map(|_| ())
    }

    /// Appends string `i`. `text` must be the result of [`unpack`](Self::unpack) for this block. Returns
    /// `None` and appends nothing if there are fewer strings, or if the string cannot be read.
    #[inline]
    pub fn get_from(&self, text: &[u8], i: usize, out: &mut Vec<u8>) -> Option<()> {
        if let Layout::Codes(table, ends, codes) = &self.form {
            return table.decompress(codes.get(ends.range(i)?)?, usize::MAX, out);
        }
        out.extend_from_slice(self.plain(text, i)?);
        Some(())
    }

    #[cfg(test)]
    /// Appends string `i`, as [`get_from`](Self::get_from) does. If the block is packed, all strings are
    /// unpacked first.
    pub fn get(&self, i: usize, out: &mut Vec<u8>) -> Option<()> {
        let mut text = Vec::new();
        self.unpack(&mut text)?;
        self.get_from(&text, i, out)
    }

    /// Returns string `i` of a block without codes.
    fn plain<'b>(&self, unpacked: &'b [u8], i: usize) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        let (ends, text): (_, &'b [u8]) = match &self.form {
            Layout::Same(text) => return (i < self.count as usize).then_some(text),
            Layout::Raw(ends, text) => (ends, text),
            Layout::Frame(ends, _, _) => (ends, unpacked),
            Layout::Codes(..) => return None,
        };
        text.get(ends.range(i)?)
    }

    /// Calls `each` with the strings of `range` in order, until it breaks; `text` is a buffer for reuse.
    /// Returns `None` if there are fewer strings, or if one cannot be read.
    pub fn each(
        &self,
        range: Range<usize>,
        text: &mut Vec<u8>,
        mut each: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Option<()> {
        if range.end > self.count as usize {
            return None;
        }
        self.unpack(text)?;
        for i in range {
            let flow = match &self.form {
                Layout::Codes(table, ends, codes) => {
                    text.clear();
                    table.decompress(codes.get(ends.range(i)?)?, usize::MAX, text)?;
                    each(text)
                }
                _ => each(self.plain(text, i)?),
            };
            if flow.is_break() {
                break;
            }
        }
        Some(())
    }

    /// Fills a batch with strings from string `from` on, until it has at least 128 KiB or the block ends.
    /// `text` must be the result of [`unpack`](Self::unpack) for this block. Returns `None` if a string
    /// cannot be read.
    pub fn fill(&self, text: &[u8], from: usize, batch: &mut StringBatch) -> Option<()> {
        batch.clear();
        for i in from..self.count as usize {
            match &self.form {
                Layout::Codes(table, ends, codes) => {
                    batch.push_codes(0, codes.get(ends.range(i)?)?, table, usize::MAX)?;
                }
                _ => batch.push(self.plain(text, i)?),
            }
            if batch.text().len() >= FULL {
                break;
            }
        }
        Some(())
    }
}
