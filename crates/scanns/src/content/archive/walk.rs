//! Where a walk begins: the walker of each format of archive.

use std::io::{Read, Seek};

use super::error::ArchiveError;
use super::format::ArchiveFormat;
use super::input::ArchiveInput;
use super::limits::ArchiveLimits;
use super::walker::{ArchiveReport, MemberVisitor, Walker};
use super::{ar, cpio, tar, zip};

/// Walks over a tar, cpio or ar archive. A file as the source should be buffered.
pub fn walk(
    format: ArchiveFormat,
    source: &mut (dyn Read + Send),
    limits: &ArchiveLimits,
    visit: &mut MemberVisitor<'_>,
) -> ArchiveReport {
    let mut walker = Walker::new(limits, visit);
    let mut input = ArchiveInput::new(source, limits.bytes);
    let end = match format {
        ArchiveFormat::Tar => tar::walk(&mut input, &mut walker),
        ArchiveFormat::Cpio => cpio::walk(&mut input, &mut walker),
        ArchiveFormat::Ar => ar::walk(&mut input, &mut walker),
        ArchiveFormat::Zip => Err(ArchiveError::NotSeekable),
    };
    walker.report(end)
}

/// Walks over a zip archive, in the order of its directory.
pub fn walk_zip<R: Read + Seek + Send>(
    source: &mut R,
    limits: &ArchiveLimits,
    visit: &mut MemberVisitor<'_>,
) -> ArchiveReport {
    let mut walker = Walker::new(limits, visit);
    let end = zip::walk(source, &mut walker);
    walker.report(end)
}
