//! Character encodings other than UTF-8: finding and converting them.
//!
//! UTF-16 is recognised by its byte order mark, or by zeros in every other byte; other encodings by the
//! statistics of chardetng, which browsers use, and only if the bytes are not UTF-8 with a few faults.

use std::io::{self, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::fill::fill;
use super::html::declared_charset;

/// The mark that some programs put in front of UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The number of bytes in which zeros are counted.
const COUNTED: usize = 4 << 10;

/// True if the bytes are UTF-8; if they are not the `whole` text, the last character may be cut.
pub(super) fn is_utf8(bytes: &[u8], whole: bool) -> bool {
    if simdutf8::basic::from_utf8(bytes).is_ok() {
        return true;
    }
    let cut = std::str::from_utf8(bytes).err().is_some_and(|error| error.error_len().is_none());
    cut && !whole
}

/// The byte order of UTF-16, if the bytes are UTF-16.
pub(super) fn utf16(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [0xff, 0xfe, 0, 0, ..] => return None, // UTF-32
        [0xff, 0xfe, ..] => return Some(UTF_16LE),
        [0xfe, 0xff, ..] => return Some(UTF_16BE),
        _ => {}
    }
    let counted = head.get(..COUNTED).unwrap_or(head);
    let (pairs, _) = counted.as_chunks::<2>();
    if pairs.len() < 2 || memchr::memchr(0, counted).is_none() {
        return None;
    }
    let is_text = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    // Pairs that are a printable character of ASCII in either order. Texts in other scripts have some, too:
    // spaces, digits and line ends.
    let little = pairs.iter().filter(|[low, high]| *high == 0 && is_text(*low)).count();
    let big = pairs.iter().filter(|[high, low]| *high == 0 && is_text(*low)).count();
    let zeros = |at: usize| pairs.iter().filter(|pair| pair.get(at) == Some(&0)).count();
    let most = pairs.len() * 7 / 10;
    match (little > most && zeros(0) == 0, big > most && zeros(1) == 0) {
        (true, false) => Some(UTF_16LE),
        (false, true) => Some(UTF_16BE),
        _ => None,
    }
}

/// The encoding that a page declares, if it is known. A page that declares UTF-16 in bytes that can be read
/// as ASCII is in UTF-8.
pub(super) fn declared(page: &[u8]) -> Option<&'static Encoding> {
    if page.starts_with(BYTE_ORDER_MARK) {
        return Some(UTF_8);
    }
    let encoding = Encoding::for_label(declared_charset(page)?)?;
    Some(if encoding.is_ascii_compatible() { encoding } else { UTF_8 })
}

/// The encoding of a text that is not UTF-8; `None` for UTF-8, also if some of it is damaged.
pub(super) fn legacy(head: &[u8], whole: bool) -> Option<&'static Encoding> {
    if is_utf8(head, whole) {
        return None;
    }
    let (mut valid, mut invalid) = (0, 0);
    for chunk in head.utf8_chunks() {
        valid += chunk.valid().bytes().filter(|byte| *byte >= 0xc0).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    if valid >= invalid {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(head, whole);
    Some(detector.guess(None, Utf8Detection::Deny))
}

/// A reader that converts to UTF-8. What has no meaning in the encoding becomes U+FFFD.
pub(super) struct Transcoder<R> {
    inner: R,
    decoder: Decoder,
    /// Bytes that are not converted yet.
    input: Vec<u8>,
    at: usize,
    ended: bool,
    /// Converted bytes that did not fit into the reader's buffer.
    output: Vec<u8>,
    taken: usize,
}

const BUFFER: usize = 64 << 10;

impl<R: Read> Transcoder<R> {
    pub(super) fn new(inner: R, encoding: &'static Encoding) -> Self {
        let decoder = encoding.new_decoder_with_bom_removal();
        let (input, output) = (Vec::new(), Vec::new());
        Transcoder { inner, decoder, input, at: 0, ended: false, output, taken: 0 }
    }

    /// Converts some more bytes. Nothing is converted only at the end.
    fn convert(&mut self) -> io::Result<()> {
        self.output.clear();
        self.taken = 0;
        while self.output.is_empty() && !(self.ended && self.at == self.input.len()) {
            if self.at == self.input.len() {
                self.input.resize(BUFFER, 0);
                let got = fill(&mut self.inner, &mut self.input)?;
                self.input.truncate(got);
                (self.at, self.ended) = (0, got < BUFFER);
            }
            let rest = self.input.get(self.at..).unwrap_or_default();
            self.output.resize(3 * BUFFER, 0);
            let (_, read, written, _) = self.decoder.decode_to_utf8(rest, &mut self.output, self.ended);
            self.output.truncate(written);
            self.at += read;
        }
        Ok(())
    }
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.output.len() {
            self.convert()?;
        }
        let rest = self.output.get(self.taken..).unwrap_or_default();
        let got = rest.len().min(buffer.len());
        if let (Some(into), Some(from)) = (buffer.get_mut(..got), rest.get(..got)) {
            into.copy_from_slice(from);
        }
        self.taken += got;
        Ok(got)
    }
}
