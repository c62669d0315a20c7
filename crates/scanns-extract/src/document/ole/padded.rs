//! A compound file that seems to be as long as its table of sectors says.
//!
//! Some programs leave the last sectors out, and Office reads such files. The missing bytes are zeros.

use std::io::{self, Read, Seek, SeekFrom};

use super::super::bytes::{u16_at, u32_at};

/// The most bytes that a file may seem to have.
const MOST: u64 = 1 << 31;

/// A source with zeros behind it.
pub(super) struct Padded<S> {
    inner: S,
    at: u64,
    real: u64,
    length: u64,
}

impl<S: Read + Seek> Padded<S> {
    /// The source as it is.
    pub(super) fn new(mut inner: S) -> io::Result<Self> {
        let real = inner.seek(SeekFrom::End(0))?;
        inner.seek(SeekFrom::Start(0))?;
        Ok(Self { inner, at: 0, real, length: real })
    }

    /// The source with as many zeros as its header asks for: a sector of the table has a number of 4 bytes
    /// for each sector of the file, and the header is as long as a sector.
    pub(super) fn into_whole_table(mut self) -> io::Result<Self> {
        let mut head = Vec::new();
        self.seek(SeekFrom::Start(0))?;
        self.by_ref().take(512).read_to_end(&mut head)?;
        let size = 1_u64.checked_shl(u16_at(&head, 30).map_or(9, u32::from)).unwrap_or(512).clamp(512, 4_096);
        let tables = u64::from(u32_at(&head, 44).unwrap_or(0));
        let wanted = (tables * (size / 4) + 1) * size;
        self.length = self.real.max(wanted.min(MOST));
        self.seek(SeekFrom::Start(0))?;
        Ok(self)
    }
}

impl<S: Read + Seek> Read for Padded<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = if self.at < self.real { self.real } else { self.length };
        let left = usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let count = left.min(buffer.len());
        let part = buffer.get_mut(..count).unwrap_or_default();
        let count = if self.at < self.real {
            self.inner.read(part)?
        } else {
            part.fill(0);
            count
        };
        self.at += u64::try_from(count).unwrap_or(0);
        Ok(count)
    }
}

impl<S: Read + Seek> Seek for Padded<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.at.checked_add_signed(offset),
        };
        self.at = place.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        self.inner.seek(SeekFrom::Start(self.at.min(self.real)))?;
        Ok(self.at)
    }
}
