//! What the bytes of a file are: text in UTF-8, text that has to be decompressed or converted first, or
//! something else.
//!
//! In: the first bytes of a file, and the file as a stream. Out: [`Content`], for encoded text with a reader
//! of its decoded bytes. `magic.rs` knows the first bytes of formats, `compression.rs` decompresses,
//! `charset.rs` finds and converts character encodings.

mod charset;
mod compression;
mod fill;
mod magic;
#[cfg(test)]
mod tests;

use std::io::{self, Cursor, Read};

use charset::Transcoder;
use compression::CompressedFormat;
pub(in crate::read) use fill::fill;

/// The number of first bytes that decide what a file is.
pub(crate) const HEAD: usize = 64 << 10;

/// What to do with files that are not plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentOptions {
    /// Whether to read no file at all. Documents then have only names and metadata, and directories, symbolic
    /// links and special files are documents too.
    pub names_only: bool,
    /// Whether to leave out the content of binary files. If false, it is indexed as if it were text.
    pub skip_binary: bool,
    /// Whether to decompress gzip, Zstandard, xz, bzip2 and LZ4.
    pub decompress: bool,
    /// Whether to convert text in other encodings to UTF-8.
    pub transcode: bool,
}

impl Default for ContentOptions {
    fn default() -> Self {
        ContentOptions { names_only: false, skip_binary: true, decompress: true, transcode: true }
    }
}

impl ContentOptions {
    /// Every byte of a file is its text.
    pub const RAW: ContentOptions =
        ContentOptions { names_only: false, skip_binary: false, decompress: false, transcode: false };
}

/// What the bytes of a file are.
pub(crate) enum Content<'a> {
    /// Text as it is.
    Plain,
    /// Text that had to be decoded.
    Decoded(DecodedText<'a>),
    /// Not text; the kind of file.
    Binary(&'static str),
}

/// The decoded text of a file.
pub(crate) struct DecodedText<'a> {
    /// How the file is encoded, for reports: `gzip`, `UTF-16LE`, or `xz, windows-1252`.
    pub(crate) encoding: String,
    reader: Box<dyn Read + Send + 'a>,
}

impl<'a> DecodedText<'a> {
    /// Text that needs no decoding.
    pub(crate) fn plain(reader: Box<dyn Read + Send + 'a>) -> Self {
        DecodedText { encoding: String::new(), reader }
    }

    /// A reader of the text.
    pub(crate) fn into_reader(self) -> Box<dyn Read + Send + 'a> {
        self.reader
    }

    /// Fills `buffer` as far as the text goes, and returns the number of bytes.
    ///
    /// # Errors
    /// The file cannot be read or decoded, or its text is suspiciously long.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        fill(&mut self.reader, buffer)
    }
}

/// Decides what the bytes of a file are. `head` are its first bytes, at most [`HEAD`], and `stream` reads the
/// file from its start; `size` is its size.
///
/// # Errors
/// The start of compressed data cannot be decompressed.
pub(crate) fn examine<'a>(
    head: &[u8],
    size: u64,
    stream: impl FnOnce() -> Box<dyn Read + Send + 'a>,
    options: ContentOptions,
) -> io::Result<Content<'a>> {
    let Some(format) = CompressedFormat::of(head).filter(|_| options.decompress) else {
        let whole = size == head.len() as u64;
        return Ok(match classify(head, whole, options) {
            HeadClass::Plain => Content::Plain,
            HeadClass::Binary(kind) => Content::Binary(kind),
            HeadClass::Charset(charset) => {
                let reader = Box::new(Transcoder::new(stream(), charset));
                Content::Decoded(DecodedText { encoding: charset.name().into(), reader })
            }
        });
    };
    let mut reader = format.reader(stream(), size)?;
    let mut start = vec![0; HEAD];
    let got = fill(&mut reader, &mut start)?;
    start.truncate(got);
    let class = classify(&start, got < HEAD, options);
    let rest: Box<dyn Read + Send + 'a> = Box::new(Cursor::new(start).chain(reader));
    Ok(match class {
        HeadClass::Plain => Content::Decoded(DecodedText { encoding: format.name().into(), reader: rest }),
        HeadClass::Binary(kind) => Content::Binary(kind),
        HeadClass::Charset(charset) => Content::Decoded(DecodedText {
            encoding: format!("{}, {}", format.name(), charset.name()),
            reader: Box::new(Transcoder::new(rest, charset)),
        }),
    })
}

/// A reader of what `stream` holds, decompressed if its first bytes `head` say that it is compressed, and the
/// name of the compression. `size` is the size of the file, or a number that no file reaches.
///
/// # Errors
/// The start of compressed data cannot be decompressed.
pub(crate) fn decompressed<'a>(
    head: &[u8],
    size: u64,
    stream: Box<dyn Read + Send + 'a>,
) -> io::Result<(Box<dyn Read + Send + 'a>, Option<&'static str>)> {
    match CompressedFormat::of(head) {
        Some(format) => Ok((format.reader(stream, size)?, Some(format.name()))),
        None => Ok((stream, None)),
    }
}

/// True for a file whose bytes are its text, as [`examine`] decides it.
pub(crate) fn is_plain(head: &[u8], size: u64, options: ContentOptions) -> bool {
    let is_compressed = options.decompress && CompressedFormat::of(head).is_some();
    let whole = size == head.len() as u64;
    !is_compressed && matches!(classify(head, whole, options), HeadClass::Plain)
}

/// What the first bytes of a file say about it, after decompression.
enum HeadClass {
    Plain,
    Binary(&'static str),
    Charset(&'static encoding_rs::Encoding),
}

/// Classifies a file by its first bytes; `whole` if there are no others.
fn classify(head: &[u8], whole: bool, options: ContentOptions) -> HeadClass {
    if options.transcode
        && let Some(charset) = charset::utf16(head)
    {
        return HeadClass::Charset(charset);
    }
    if options.skip_binary
        && let Some(kind) = magic::binary_kind(head)
    {
        return HeadClass::Binary(kind);
    }
    match charset::legacy(head, whole).filter(|_| options.transcode) {
        Some(charset) => HeadClass::Charset(charset),
        None => HeadClass::Plain,
    }
}
