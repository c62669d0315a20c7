//! The frames of a Zstandard file, with the dictionaries that a `.warc.zst` brings along.
//!
//! ```text
//! file       = frame*                           as many as there are, in any order
//! frame      = data | skippable | dictionary
//! skippable  = 0x184D2A50 to 0x184D2A5F u32 | length u32 | bytes         ignored
//! dictionary = 0x184D2A5D u32 | length u32 | a dictionary, which may be a frame of data itself
//! ```
//!
//! A dictionary serves the frames behind it. The first frame of a `.warc.zst` has the only one
//! (<https://iipc.github.io/warc-specifications/specifications/warc-zstd/>); a later one replaces it, so that
//! `cat a.warc.zst b.warc.zst` is read, too. Numbers are little-endian.

use std::io::{self, ErrorKind, Read};

use zstd::stream::raw::{DParameter, Decoder, Operation};
use zstd::zstd_safe::get_dict_id_from_frame;

use super::fill::fill;

/// The largest dictionary, compressed or not: what the program `zstd` reads. Usual ones have 100 KiB to 1
/// MiB.
const MOST_DICTIONARY: u64 = 32 << 20;

/// The bytes of all dictionaries of a file.
const MOST_DICTIONARIES: u64 = 256 << 20;

/// The longest header of a frame, which has the number of its dictionary.
const FRAME_HEADER: usize = 18;

const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const DICTIONARY_FRAME: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];
const DICTIONARY: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];

const BUFFER: usize = 128 << 10;

/// What is wrong with a dictionary. The messages follow the name of a file.
#[derive(Debug, thiserror::Error)]
pub(super) enum DictionaryError {
    #[error("its Zstandard dictionary is cut off")]
    CutOff,
    #[error("its Zstandard dictionary is damaged: {0}")]
    Damaged(String),
    #[error("its Zstandard dictionary is larger than {} MiB", MOST_DICTIONARY >> 20)]
    TooLarge,
    #[error("its Zstandard dictionaries have more than {} MiB together", MOST_DICTIONARIES >> 20)]
    TooMany,
    #[error(
        "its Zstandard data needs the dictionary {0}, which is not in the file; decompress it yourself with \
         zstd -D"
    )]
    Missing(u32),
    #[error("its Zstandard data needs the dictionary {needed}, but the one in the file is {found}")]
    Other { needed: u32, found: u32 },
}

impl From<DictionaryError> for io::Error {
    fn from(error: DictionaryError) -> Self {
        io::Error::new(ErrorKind::InvalidData, error)
    }
}

/// True for the first bytes of a file of frames. LZ4 has the same skippable frames, so the frame behind them
/// counts, if it is in `head`.
pub(super) fn is_zstandard(head: &[u8]) -> bool {
    let mut rest = head;
    while let Some(length) = skippable_length(rest) {
        let frame = usize::try_from(length).ok().and_then(|length| length.checked_add(8));
        match frame.and_then(|frame| rest.get(frame..)).filter(|behind| !behind.is_empty()) {
            Some(behind) => rest = behind,
            None => return head.starts_with(&DICTIONARY_FRAME),
        }
    }
    rest.starts_with(&FRAME)
}

/// The length of the bytes in the skippable frame that `bytes` begins with.
fn skippable_length(bytes: &[u8]) -> Option<u32> {
    match *bytes {
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d, ..] => Some(u32::from_le_bytes([a, b, c, d])),
        _ => None,
    }
}

/// Reads what the frames of `R` hold, one after the other.
pub(super) struct ZstandardFrames<R> {
    input: Window<R>,
    decoder: Decoder<'static>,
    window_log: u32,
    /// True from the header of a frame to its end.
    in_frame: bool,
    /// True until the first frame begins.
    at_start: bool,
    /// The number of the current dictionary; 0 for none.
    dictionary: u32,
    /// The bytes of all dictionaries so far.
    dictionary_bytes: u64,
}

impl<R: Read> ZstandardFrames<R> {
    /// `window_log` is the logarithm of the largest window that a frame may have.
    pub(super) fn new(inner: R, window_log: u32) -> io::Result<Self> {
        Ok(ZstandardFrames {
            input: Window { inner, buffer: vec![0; BUFFER], start: 0, end: 0 },
            decoder: decoder(&[], window_log)?,
            window_log,
            in_frame: false,
            at_start: true,
            dictionary: 0,
            dictionary_bytes: 0,
        })
    }

    /// Begins the next frame, after the dictionaries before it; false at the end of the file.
    fn begin_frame(&mut self) -> io::Result<bool> {
        loop {
            let start = self.input.peek(FRAME_HEADER)?;
            if start.is_empty() {
                return Ok(false);
            }
            if !start.starts_with(&DICTIONARY_FRAME) {
                // The library takes the kind of a skippable frame for a number.
                let id =
                    Some(start).filter(|start| start.starts_with(&FRAME)).and_then(get_dict_id_from_frame);
                let needed = id.map_or(0, |id| id.get());
                self.at_start = false;
                return match (needed, self.dictionary) {
                    (0, _) => Ok(true),
                    (needed, 0) => Err(DictionaryError::Missing(needed).into()),
                    (needed, found) if needed != found => {
                        Err(DictionaryError::Other { needed, found }.into())
                    }
                    _ => Ok(true),
                };
            }
            let length = skippable_length(start).ok_or(DictionaryError::CutOff)?;
            let content = start.get(8..12);
            let is_dictionary = content == Some(&FRAME) || content == Some(&DICTIONARY);
            if !is_dictionary && !self.at_start {
                // The frame of another program, which the decoder skips.
                return Ok(true);
            }
            self.at_start = false;
            self.input.consume(8);
            self.read_dictionary(length)?;
        }
    }

    /// Reads a dictionary of `length` bytes, and uses it from here on.
    fn read_dictionary(&mut self, length: u32) -> io::Result<()> {
        let length = u64::from(length);
        if length > MOST_DICTIONARY {
            return Err(DictionaryError::TooLarge.into());
        }
        let mut bytes = Vec::new();
        if (&mut self.input).take(length).read_to_end(&mut bytes)? as u64 != length {
            return Err(DictionaryError::CutOff.into());
        }
        if bytes.starts_with(&FRAME) {
            bytes = expanded(&bytes, self.window_log)?;
        }
        self.dictionary_bytes += bytes.len() as u64;
        if self.dictionary_bytes > MOST_DICTIONARIES {
            return Err(DictionaryError::TooMany.into());
        }
        let [0x37, 0xa4, 0x30, 0xec, a, b, c, d, _, ..] = *bytes else {
            return Err(DictionaryError::Damaged("it does not begin as dictionaries do".into()).into());
        };
        // The library reports all damage as a lack of memory.
        let damaged = |_| DictionaryError::Damaged("its tables contradict each other".into());
        self.decoder = decoder(&bytes, self.window_log).map_err(damaged)?;
        self.dictionary = u32::from_le_bytes([a, b, c, d]);
        Ok(())
    }
}

/// A decoder with a dictionary, or with none if it is empty.
fn decoder(dictionary: &[u8], window_log: u32) -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::with_dictionary(dictionary)?;
    decoder.set_parameter(DParameter::WindowLogMax(window_log))?;
    Ok(decoder)
}

/// The content of a compressed dictionary.
fn expanded(bytes: &[u8], window_log: u32) -> io::Result<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)?.single_frame();
    decoder.window_log_max(window_log)?;
    let mut dictionary = Vec::new();
    let damaged = |error: io::Error| DictionaryError::Damaged(error.to_string());
    decoder.take(MOST_DICTIONARY + 1).read_to_end(&mut dictionary).map_err(damaged)?;
    if dictionary.len() as u64 > MOST_DICTIONARY {
        return Err(DictionaryError::TooLarge.into());
    }
    Ok(dictionary)
}

impl<R: Read> Read for ZstandardFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.in_frame && !self.begin_frame()? {
                return Ok(0);
            }
            self.in_frame = true;
            let bytes = self.input.peek(1)?;
            let is_end = bytes.is_empty();
            let status = self.decoder.run_on_buffers(bytes, buffer)?;
            self.input.consume(status.bytes_read);
            self.in_frame = status.remaining > 0;
            if status.bytes_written > 0 {
                return Ok(status.bytes_written);
            }
            if is_end && self.in_frame {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// A reader of which the next few bytes can be seen before they are taken.
struct Window<R> {
    inner: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl<R: Read> Window<R> {
    /// The next bytes, at least `least` unless the file ends before.
    fn peek(&mut self, least: usize) -> io::Result<&[u8]> {
        if self.end - self.start < least {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let rest = self.buffer.get_mut(self.end..).unwrap_or_default();
            self.end += self.inner.read(rest)?;
        }
        if self.end < least {
            let rest = self.buffer.get_mut(self.end..least).unwrap_or_default();
            self.end += fill(&mut self.inner, rest)?;
        }
        Ok(self.buffer.get(self.start..self.end).unwrap_or_default())
    }

    fn consume(&mut self, bytes: usize) {
        self.start = self.end.min(self.start + bytes);
    }
}

impl<R: Read> Read for Window<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.peek(1)?;
        let len = bytes.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..len), bytes.get(..len)) {
            to.copy_from_slice(from);
        }
        self.consume(len);
        Ok(len)
    }
}

#[cfg(test)]
mod tests;
