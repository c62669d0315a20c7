//! The source of a streamed archive: it knows its offset, keeps to the limit of bytes, and remembers that it
//! broke.

use std::io::{self, Read};

use super::error::{ArchiveError, copy_error, limit_error, member_error};

/// The size of the buffer into which skipped bytes are read.
const SKIP: usize = 64 << 10;

/// The source of an archive that is read from its beginning to its end.
pub(super) struct ArchiveInput<'s> {
    source: &'s mut (dyn Read + Send),
    at: u64,
    most: u64,
    broken: Option<io::Error>,
    skipped: Vec<u8>,
}

impl<'s> ArchiveInput<'s> {
    /// Reads at most `most` bytes of `source`.
    pub(super) fn new(source: &'s mut (dyn Read + Send), most: u64) -> Self {
        Self { source, at: 0, most, broken: None, skipped: Vec::new() }
    }

    /// The offset of the next byte.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Reads up to the end of the source and returns the number of bytes.
    pub(super) fn read_up_to(&mut self, bytes: &mut [u8]) -> Result<usize, ArchiveError> {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read(rest).map_err(into_archive_error)? {
                0 => break,
                read => filled += read,
            }
        }
        Ok(filled)
    }

    /// Fills `bytes`, which are a part of `within`.
    pub(super) fn fill(&mut self, bytes: &mut [u8], within: &'static str) -> Result<(), ArchiveError> {
        if self.read_up_to(bytes)? < bytes.len() {
            return Err(ArchiveError::CutOff { at: self.at, within });
        }
        Ok(())
    }

    /// Reads `count` bytes. The memory grows with the bytes that come, not with `count`.
    pub(super) fn take_bytes(&mut self, count: u64, within: &'static str) -> Result<Vec<u8>, ArchiveError> {
        let mut bytes = Vec::new();
        let read = Read::take(&mut *self, count).read_to_end(&mut bytes).map_err(into_archive_error)?;
        if (read as u64) < count {
            return Err(ArchiveError::CutOff { at: self.at, within });
        }
        Ok(bytes)
    }

    /// Reads over `count` bytes, which are a part of `within`.
    pub(super) fn skip(&mut self, count: u64, within: &'static str) -> Result<(), ArchiveError> {
        let mut left = count;
        let mut scratch = std::mem::take(&mut self.skipped);
        scratch.resize(SKIP, 0);
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(SKIP).min(SKIP);
            let Some(part) = scratch.get_mut(..most) else { break };
            match self.read(part).map_err(into_archive_error)? {
                0 => return Err(ArchiveError::CutOff { at: self.at, within }),
                read => left = left.saturating_sub(read as u64),
            }
        }
        self.skipped = scratch;
        Ok(())
    }
}

/// The error of a source as the end of a walk.
fn into_archive_error(error: io::Error) -> ArchiveError {
    match ArchiveError::of_reader(&error) {
        Some(ArchiveError::Limit { limit, most }) => ArchiveError::Limit { limit, most: *most },
        _ => ArchiveError::Source(error),
    }
}

impl Read for ArchiveInput<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = &self.broken {
            return Err(copy_error(error));
        }
        if self.at >= self.most {
            // One more byte tells an archive that ends at the limit from a larger one.
            return match read_source(self.source, &mut [0])? {
                0 => Ok(0),
                _ => {
                    let error = limit_error("bytes", self.most);
                    self.broken = Some(copy_error(&error));
                    Err(error)
                }
            };
        }
        let most = usize::try_from(self.most - self.at).unwrap_or(usize::MAX).min(bytes.len());
        match read_source(self.source, bytes.get_mut(..most).unwrap_or_default()) {
            Ok(read) => {
                self.at += read as u64;
                Ok(read)
            }
            Err(error) => {
                self.broken = Some(copy_error(&error));
                Err(error)
            }
        }
    }
}

/// Reads again where a signal interrupted the read.
fn read_source(source: &mut (dyn Read + Send), bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// The content of a member: the next `left` bytes of the source.
pub(super) struct MemberBody<'i, 's> {
    input: &'i mut ArchiveInput<'s>,
    left: u64,
}

impl<'i, 's> MemberBody<'i, 's> {
    /// The next `size` bytes of `input`.
    pub(super) fn new(input: &'i mut ArchiveInput<'s>, size: u64) -> Self {
        Self { input, left: size }
    }

    /// The bytes that were not read.
    pub(super) fn left(&self) -> u64 {
        self.left
    }
}

impl Read for MemberBody<'_, '_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        if most == 0 {
            return Ok(0);
        }
        let read = self.input.read(bytes.get_mut(..most).unwrap_or_default())?;
        if read == 0 {
            let left = self.left;
            return Err(member_error(format!("the archive ends {left} bytes before the end of this member")));
        }
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}
