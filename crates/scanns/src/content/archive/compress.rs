//! The format of Unix compress (`.Z`): LZW with codes of 9 to 16 bits.
//!
//! ```text
//! file     1f 9d flags group*
//! flags    bits 0-4: the width of the widest code, 9 to 16; bit 7: block mode, in which code 256 clears the
//!          table; bits 5 and 6 are not used
//! group    eight codes of one width, lowest bits first; the last group of the file may be shorter
//! ```
//!
//! Codes begin with 9 bits and get wider when the table is full for the width. A change of width, or a clear,
//! drops the rest of the group. Files have neither a length nor a checksum, so most cuts go unnoticed.
//! Source: the behaviour of ncompress, with which the tests compare.
//!
//! Cost: an entry of the table keeps the last one to eight bytes of its string and the code of the bytes
//! before them, so a string of n bytes takes n/8 dependent loads from 1 MiB, where a chain of single bytes
//! takes n.

use std::io::{self, BufRead, Read};

use super::error::member_error;

/// The code that clears the table in block mode.
const CLEAR: u16 = 256;
/// The least width of codes.
const LEAST_WIDTH: u32 = 9;
/// The number of codes of the greatest width.
const CODES: usize = 1 << 16;
/// The bytes of output after which decoding pauses.
const OUTPUT: usize = 64 << 10;

/// The string of a code.
#[derive(Clone, Copy, Default)]
struct LzwString {
    /// The last bytes, the first of them lowest: those from the last position that is a multiple of eight.
    tail: u64,
    /// The length of the whole string.
    length: u32,
    /// The code of the string before the tail.
    before: u16,
    /// The first byte.
    first: u8,
}

impl LzwString {
    /// The string of `code`, which is this one, with one more byte.
    fn and(self, code: u16, byte: u8) -> Self {
        let used = self.length % 8;
        let (tail, before) = if used == 0 { (0, code) } else { (self.tail, self.before) };
        let tail = tail | u64::from(byte) << (used * 8);
        Self { tail, length: self.length + 1, before, first: self.first }
    }
}

/// Expands a file of Unix compress.
pub struct Uncompress<R> {
    source: R,
    lzw: Option<Lzw>,
    output: Vec<u8>,
    output_at: usize,
    output_end: usize,
    failed: bool,
}

impl<R: BufRead> Uncompress<R> {
    /// Reads a compressed file from `source`. The first read checks its header.
    pub fn new(source: R) -> Self {
        Self { source, lzw: None, output: Vec::new(), output_at: 0, output_end: 0, failed: false }
    }

    /// Decodes the next bytes of output; none are left after the last code.
    fn decode(&mut self) -> io::Result<()> {
        self.output_at = 0;
        self.output_end = 0;
        let lzw = match &mut self.lzw {
            Some(lzw) => lzw,
            None => {
                self.output.resize(OUTPUT + CODES + 8, 0);
                self.lzw.insert(Lzw::new(&mut self.source)?)
            }
        };
        while self.output_end < OUTPUT {
            let Some(code) = lzw.next_code(&mut self.source)? else { break };
            if let Some(string) = lzw.string_of(code)? {
                let start = self.output_end;
                lzw.write(string, self.output.get_mut(start..).unwrap_or_default());
                self.output_end += string.length as usize;
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Uncompress<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.output_at == self.output_end && !bytes.is_empty() {
            if self.failed {
                return Err(corrupt());
            }
            if let Err(error) = self.decode() {
                // What was decoded before the error is given first.
                self.failed = error.kind() == io::ErrorKind::InvalidData;
                if self.output_end == 0 || !self.failed {
                    return Err(error);
                }
            }
        }
        let ready = self.output.get(self.output_at..self.output_end).unwrap_or_default();
        let count = ready.len().min(bytes.len());
        if let (Some(to), Some(from)) = (bytes.get_mut(..count), ready.get(..count)) {
            to.copy_from_slice(from);
        }
        self.output_at += count;
        Ok(count)
    }
}

/// A code and its string.
#[derive(Clone, Copy)]
struct LzwPrevious {
    code: u16,
    string: LzwString,
}

/// The table and the codes that were read but not used.
struct Lzw {
    strings: Box<[LzwString; CODES]>,
    /// The code that the next new string gets.
    next: usize,
    /// The number of codes of the greatest width of this file.
    codes: usize,
    width: u32,
    block_mode: bool,
    /// The last code and its string; none at the beginning and after a clear.
    previous: Option<LzwPrevious>,
    group: u128,
    group_left: u32,
}

impl Lzw {
    fn new(source: &mut impl BufRead) -> io::Result<Self> {
        let mut header = [0; 3];
        let read = fill(source, &mut header)?;
        let [0x1f, 0x9d, flags] = header else {
            return Err(member_error("the header of Unix compress is missing"));
        };
        let widest = u32::from(flags & 0x1f);
        if read < 3 || !(LEAST_WIDTH..=16).contains(&widest) {
            return Err(member_error("the header of Unix compress has a width of codes that is not valid"));
        }
        let block_mode = flags & 0x80 != 0;
        let mut strings = vec![LzwString::default(); CODES].into_boxed_slice();
        for (string, byte) in strings.iter_mut().zip(0..=u8::MAX) {
            *string = LzwString { tail: byte.into(), length: 1, before: 0, first: byte };
        }
        let Ok(strings) = strings.try_into() else { return Err(corrupt()) };
        Ok(Self {
            strings,
            next: usize::from(CLEAR) + usize::from(block_mode),
            codes: 1 << widest,
            width: LEAST_WIDTH,
            block_mode,
            previous: None,
            group: 0,
            group_left: 0,
        })
    }

    /// The next code; none at the end of the source.
    #[expect(clippy::cast_possible_truncation, reason = "a code has at most 16 bits")]
    fn next_code(&mut self, source: &mut impl BufRead) -> io::Result<Option<u16>> {
        if self.group_left == 0 {
            let mut bytes = [0; 16];
            let group = bytes.get_mut(..self.width as usize).unwrap_or_default();
            let read = fill(source, group)?;
            self.group = u128::from_le_bytes(bytes);
            self.group_left = read as u32 * 8 / self.width;
            if self.group_left == 0 {
                return Ok(None);
            }
        }
        let code = self.group as u32 & ((1 << self.width) - 1);
        self.group >>= self.width;
        self.group_left -= 1;
        Ok(Some(code as u16))
    }

    /// The string of a code; none for the code that clears the table. Adds the string that the code defines.
    fn string_of(&mut self, code: u16) -> io::Result<Option<LzwString>> {
        if code == CLEAR && self.block_mode {
            self.next = usize::from(CLEAR) + 1;
            self.width = LEAST_WIDTH;
            self.group_left = 0;
            self.previous = None;
            return Ok(None);
        }
        let index = usize::from(code);
        match self.previous {
            None if code > 255 => return Err(corrupt()),
            Some(previous) if self.next < self.codes => {
                let first = match index.cmp(&self.next) {
                    std::cmp::Ordering::Less => self.strings[index].first,
                    std::cmp::Ordering::Equal => previous.string.first,
                    std::cmp::Ordering::Greater => return Err(corrupt()),
                };
                self.strings[self.next] = previous.string.and(previous.code, first);
                self.next += 1;
                if self.next == 1 << self.width && self.next < self.codes {
                    self.width += 1;
                    self.group_left = 0;
                }
            }
            _ => {}
        }
        let string = self.strings[index];
        self.previous = Some(LzwPrevious { code, string });
        Ok(Some(string))
    }

    /// Writes a string from its last bytes to its first. Up to seven bytes after it are overwritten, too.
    fn write(&self, string: LzwString, output: &mut [u8]) {
        let mut part = string;
        let mut at = (string.length as usize - 1) & !7;
        while let Some(to) = output.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
            *to = part.tail.to_le_bytes();
            if at == 0 {
                return;
            }
            at -= 8;
            part = self.strings[usize::from(part.before)];
        }
    }
}

/// Fills `bytes`, or as many as are left; returns their number.
fn fill(source: &mut impl BufRead, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match source.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn corrupt() -> io::Error {
    member_error("the data of Unix compress has a code that is not defined yet")
}
