//! Compressed files, by their first bytes, and readers of what they hold.
//!
//! All formats may consist of several streams one after the other, as `cat a.gz b.gz` makes them.

use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read};

use super::archive::Uncompress;
use super::zstandard::{DictionaryError, ZstandardFrames, is_zstandard};

/// The memory that one decompressor may take: the largest window of `xz -9` and of `zstd --ultra`, with its
/// tables.
const MOST_MEMORY: u64 = 160 << 20;

/// The same as the logarithm of a Zstandard window. A dictionary takes up to 32 MiB more.
const MOST_WINDOW_LOG: u32 = 27;

/// Decompressed bytes that are always allowed.
const ALWAYS_ALLOWED: u64 = 256 << 20;

/// The number of decompressed bytes per compressed byte beyond which a larger file is taken for a bomb. Real
/// logs reach 50 to 200, and gzip cannot exceed 1,032.
const MOST_RATIO: u64 = 1_100;

const BUFFER: usize = 128 << 10;

/// A format of compressed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompressedFormat {
    Gzip,
    Zstandard,
    Xz,
    Bzip2,
    Lz4,
    /// Of Unix `compress`.
    Compress,
}

impl CompressedFormat {
    /// The format of a file with these first bytes.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            // The digits of pi, or of its square root if there is no data.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..] => Some(Self::Bzip2),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, ..] => Some(Self::Bzip2),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Self::Lz4),
            // The width of codes is 9 to 16 bits.
            [0x1f, 0x9d, flags, ..] if (9..=16).contains(&(flags & 0x7f)) => Some(Self::Compress),
            _ => is_zstandard(head).then_some(Self::Zstandard),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "Zstandard",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
            Self::Lz4 => "LZ4",
            Self::Compress => "compress",
        }
    }

    /// A reader of what `stream` holds, a file of `size` bytes.
    pub(super) fn reader<'a>(
        self,
        stream: Box<dyn Read + Send + 'a>,
        size: u64,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        let buffered = BufReader::with_capacity(BUFFER, stream);
        let inner: Box<dyn Read + Send + 'a> = match self {
            Self::Zstandard => Box::new(ZstandardFrames::new(buffered.into_inner(), MOST_WINDOW_LOG)?),
            Self::Gzip => Box::new(GzipMembers { member: Some(flate2::bufread::GzDecoder::new(buffered)) }),
            Self::Xz => {
                let flags = liblzma::stream::CONCATENATED;
                let decoder = liblzma::stream::Stream::new_stream_decoder(MOST_MEMORY, flags)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(buffered, decoder))
            }
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered)),
            Self::Compress => Box::new(Uncompress::new(buffered)),
            Self::Lz4 => Box::new(Lz4Frames { frame: Some(lz4_flex::frame::FrameDecoder::new(buffered)) }),
        };
        Ok(Box::new(Limited { inner, format: self, size, given: 0 }))
    }
}

/// Refuses to expand small files without end, and names the format in errors.
struct Limited<'a> {
    inner: Box<dyn Read + Send + 'a>,
    format: CompressedFormat,
    size: u64,
    given: u64,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer).map_err(|error| explained(self.format, &error))?;
        self.given += got as u64;
        if self.given > ALWAYS_ALLOWED && self.given / MOST_RATIO > self.size {
            let what = format!(
                "its {} data expands to more than {MOST_RATIO} times its size; decompress it yourself if you \
                 trust it",
                self.format.name()
            );
            return Err(Error::new(ErrorKind::InvalidData, what));
        }
        Ok(got)
    }
}

/// The error of a decompressor, in words for users.
fn explained(format: CompressedFormat, error: &io::Error) -> io::Error {
    let name = format.name();
    match error.kind() {
        ErrorKind::UnexpectedEof => Error::new(ErrorKind::InvalidData, format!("its {name} data is cut off")),
        // An error of the file itself.
        _ if error.raw_os_error().is_some() => Error::new(error.kind(), error.to_string()),
        _ if error.get_ref().is_some_and(|error| error.is::<DictionaryError>()) => {
            Error::new(ErrorKind::InvalidData, error.to_string())
        }
        _ => Error::new(ErrorKind::InvalidData, format!("its {name} data is damaged: {error}")),
    }
}

/// The members of a gzip file, which may be followed by zeros, as on tapes.
struct GzipMembers<R> {
    /// Empty only while the next member begins.
    member: Option<flate2::bufread::GzDecoder<R>>,
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let got = member.read(buffer)?;
            if got > 0 || buffer.is_empty() {
                return Ok(got);
            }
            let Some(ended) = self.member.take() else { break };
            let mut rest = ended.into_inner();
            loop {
                match rest.fill_buf()? {
                    [] => return Ok(0),
                    [0x1f, ..] => break,
                    [0, ..] => rest.consume(1),
                    _ => return Err(Error::new(ErrorKind::InvalidData, "other data follows it")),
                }
            }
            self.member = Some(flate2::bufread::GzDecoder::new(rest));
        }
        Ok(0)
    }
}

/// The frames of an LZ4 file. Each gets a decoder of its own, since one decoder cannot change the size of its
/// blocks.
struct Lz4Frames<R: Read> {
    /// Empty only while the next frame begins.
    frame: Option<lz4_flex::frame::FrameDecoder<R>>,
}

impl<R: BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(frame) = &mut self.frame {
            let got = frame.read(buffer)?;
            if got > 0 || buffer.is_empty() {
                return Ok(got);
            }
            let Some(ended) = self.frame.take() else { break };
            let mut rest = ended.into_inner();
            if rest.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.frame = Some(lz4_flex::frame::FrameDecoder::new(rest));
        }
        Ok(0)
    }
}
