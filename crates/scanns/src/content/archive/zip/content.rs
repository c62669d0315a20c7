//! The content of a zip member: found by its local header, expanded, and checked.
//!
//! ```text
//! local  "PK\3\4" needed[2] flags[2] method[2] time[2] date[2] crc[4] stored[4] size[4] name_length[2]
//!        extra_length[2] name extra content
//! ```
//!
//! Sizes and checksum come from the directory: a streamed member has them only there.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};

use liblzma::stream::{Filters, Stream};

use super::super::error::member_error;
use super::super::member::ArchiveMember;
use super::bytes::{local_error, number16, number32, read_at};
use super::entry::ZipEntry;

/// The most memory of an xz or LZMA decoder. It covers the largest preset of xz with room.
const MEMORY: u64 = 256 << 20;

/// The stored bytes of a member.
type StoredBytes<'s, R> = BufReader<Take<&'s mut R>>;

/// Opens the content of a member.
pub(super) fn open<'s, R: Read + Seek + Send>(
    source: &'s mut R,
    member: &ArchiveMember,
    entry: &ZipEntry,
) -> io::Result<Box<dyn Read + Send + 's>> {
    if entry.encrypted {
        return Err(member_error("this member is encrypted"));
    }
    let header = read_at(source, member.offset, 30)?;
    if header.len() < 30 {
        return Err(local_error("lies beyond the end of the archive"));
    }
    if !header.starts_with(b"PK\x03\x04") {
        return Err(local_error("has a wrong signature"));
    }
    let length = |at| u64::from(number16(&header, at).unwrap_or_default());
    let start = member.offset + 30 + length(26) + length(28);
    source.seek(SeekFrom::Start(start))?;
    let stored = BufReader::new(source.take(entry.stored));
    let content = decoder(entry, member.size, stored)?;
    let crc = flate2::Crc::new();
    Ok(Box::new(CheckedContent { content, left: member.size, crc, expected: entry.crc }))
}

/// The decoder of a method.
fn decoder<'s, R: Read + Send>(
    entry: &ZipEntry,
    size: u64,
    mut stored: StoredBytes<'s, R>,
) -> io::Result<Box<dyn Read + Send + 's>> {
    Ok(match entry.method {
        0 => Box::new(stored),
        8 => Box::new(flate2::bufread::DeflateDecoder::new(stored)),
        12 => Box::new(bzip2::bufread::MultiBzDecoder::new(stored)),
        14 => {
            let stream = lzma_stream(&mut stored, size)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(stored, stream))
        }
        20 | 93 => Box::new(zstd::stream::read::Decoder::with_buffer(stored)?),
        95 => {
            let stream = Stream::new_stream_decoder(MEMORY, 0)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(stored, stream))
        }
        method => return Err(member_error(format!("the compression method {method} is not supported"))),
    })
}

/// The decoder of LZMA: the content begins with a version, the length of the properties, and the properties.
/// A dictionary larger than the content has no use, so it gets no memory.
fn lzma_stream(stored: &mut impl BufRead, size: u64) -> io::Result<Stream> {
    let mut header = [0; 9];
    stored.read_exact(&mut header).map_err(|_| member_error("the header of LZMA is cut off"))?;
    let [_, _, 5, 0, properties, dictionary @ ..] = header else {
        return Err(member_error("the header of LZMA is not valid"));
    };
    let declared = number32(&dictionary, 0).unwrap_or_default();
    let used = u32::try_from(size.max(4096)).unwrap_or(u32::MAX).min(declared);
    if u64::from(used) > MEMORY {
        return Err(member_error("the dictionary of LZMA needs too much memory"));
    }
    let [first, second, third, fourth] = used.to_le_bytes();
    let mut filters = Filters::new();
    filters.lzma1_properties(&[properties, first, second, third, fourth])?;
    Ok(Stream::new_raw_decoder(&filters)?)
}

/// The content of a member, which must have the size and the checksum of the directory.
struct CheckedContent<'s> {
    content: Box<dyn Read + Send + 's>,
    left: u64,
    crc: flate2::Crc,
    expected: u32,
}

impl Read for CheckedContent<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            return self.check_end();
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        let part = bytes.get_mut(..most).unwrap_or_default();
        let read = self.content.read(part).map_err(in_plain_english)?;
        if read == 0 {
            return Err(member_error(format!(
                "the content ends {} bytes before its declared size",
                self.left
            )));
        }
        self.crc.update(part.get(..read).unwrap_or_default());
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

impl CheckedContent<'_> {
    /// Checks that the content ends, and its checksum.
    fn check_end(&mut self) -> io::Result<usize> {
        // An LZMA stream without an end mark waits for more input; its size is known.
        if self.content.read(&mut [0]).is_ok_and(|read| read > 0) {
            return Err(member_error("the content is longer than its declared size"));
        }
        if self.crc.sum() != self.expected {
            return Err(member_error("the checksum of the content differs from the directory's"));
        }
        Ok(0)
    }
}

/// The error of a decoder as one of a member. Errors of the source stay as they are.
fn in_plain_english(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::InvalidInput
        | io::ErrorKind::InvalidData
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::Other => member_error(format!("the compressed content is damaged: {error}")),
        _ => error,
    }
}
