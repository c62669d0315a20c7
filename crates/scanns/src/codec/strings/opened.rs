//! What opening a block of strings decodes, to be kept where single strings of a few blocks are read often.

use super::super::ByteReader;
use super::super::fsst::SymbolTable;
use super::{CODES, Ends, FRAME, MOST_IN_FRAME, StringBlock};

/// The symbols or the unpacked text of a block. Reading a string with them takes a small part of the time
/// that opening the block takes.
#[derive(Debug)]
pub enum OpenedStrings {
    /// Strings that are stored once or as they are: nothing was decoded.
    Plain,
    /// The symbols, and the number of bytes of their table.
    Codes(Box<SymbolTable>, usize),
    /// The unpacked text.
    Frame(Vec<u8>),
}

impl OpenedStrings {
    /// Opens a block of `count` strings that takes all of `bytes`; `None` if the bytes are invalid.
    pub fn of(bytes: &[u8], count: u32) -> Option<Self> {
        let block = StringBlock::open(bytes).filter(|block| block.len() == count)?;
        let mut reader = ByteReader::new(bytes);
        reader.varint32()?;
        match reader.u8()? {
            CODES => {
                let all = reader.remaining().len();
                let table = Box::new(SymbolTable::decode(&mut reader)?);
                Some(OpenedStrings::Codes(table, all - reader.remaining().len()))
            }
            FRAME => {
                let mut text = Vec::new();
                block.unpack(&mut text)?;
                Some(OpenedStrings::Frame(text))
            }
            _ => Some(OpenedStrings::Plain),
        }
    }

    /// Appends string `i` of the block, whose bytes must be those that were opened. Returns `None` and
    /// appends nothing if there is no such string, or if it cannot be read.
    pub fn get(&self, bytes: &[u8], i: usize, out: &mut Vec<u8>) -> Option<()> {
        let mut reader = ByteReader::new(bytes);
        let strings = usize::try_from(reader.varint32()?).ok()?;
        reader.u8()?;
        match self {
            OpenedStrings::Plain => StringBlock::open(bytes)?.get_from(&[], i, out),
            OpenedStrings::Codes(table, bytes) => {
                reader.take(*bytes)?;
                let ends = Ends::open(&mut reader, strings)?;
                table.decompress(reader.remaining().get(ends.range(i)?)?, usize::MAX, out)
            }
            OpenedStrings::Frame(text) => {
                usize::try_from(reader.varint()?).ok().filter(|&len| len <= MOST_IN_FRAME)?;
                let ends = Ends::open(&mut reader, strings)?;
                out.extend_from_slice(text.get(ends.range(i)?)?);
                Some(())
            }
        }
    }
}
