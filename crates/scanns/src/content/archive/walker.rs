//! The state of a walk over an archive: it gives each member to the visitor and keeps to the limits.

use std::io::{self, Read};
use std::ops::ControlFlow;

use super::error::{ArchiveError, copy_error, limit_error};
use super::input::{ArchiveInput, MemberBody};
use super::limits::ArchiveLimits;
use super::member::ArchiveMember;

/// Called with each member and a reader of its content. What it does not read is skipped.
///
/// The reader gives the content of files, and nothing for directories and links. A member that cannot be read
/// makes the reader fail with `InvalidData` and a reason; the visitor should note it and return `Ok`. An
/// error that the visitor returns ends the walk.
pub type MemberVisitor<'v> =
    dyn FnMut(&ArchiveMember, &mut (dyn Read + Send)) -> io::Result<ControlFlow<()>> + 'v;

/// What a walk found.
#[derive(Debug, Default)]
#[must_use]
pub struct ArchiveReport {
    /// The members that the visitor got.
    pub members: u64,
    /// The bytes of content that the visitor read.
    pub bytes: u64,
    /// The members of which the reader failed.
    pub unreadable: u64,
    /// The parts of headers that were not valid and left out: extension records, numbers, times.
    pub malformed: u64,
    /// Whether the mark of the format for the end of an archive was found. Some programs write tar archives
    /// without one; elsewhere its absence means that the archive is cut off between two members.
    pub end_mark: bool,
    /// Whether the visitor ended the walk.
    pub stopped: bool,
    /// What ended the walk before the end of the archive.
    pub error: Option<ArchiveError>,
}

/// The state of a walk.
pub(super) struct Walker<'w, 'v> {
    pub(super) limits: &'w ArchiveLimits,
    visit: &'w mut MemberVisitor<'v>,
    pub(super) report: ArchiveReport,
}

impl<'w, 'v> Walker<'w, 'v> {
    /// Begins a walk.
    pub(super) fn new(limits: &'w ArchiveLimits, visit: &'w mut MemberVisitor<'v>) -> Self {
        Self { limits, visit, report: ArchiveReport::default() }
    }

    /// The report, when the walk ended with `end`.
    pub(super) fn report(mut self, end: Result<(), ArchiveError>) -> ArchiveReport {
        self.report.error = end.err();
        self.report
    }

    /// Gives a member to the visitor.
    pub(super) fn deliver(
        &mut self,
        member: &ArchiveMember,
        content: &mut (dyn Read + Send),
    ) -> Result<ControlFlow<()>, ArchiveError> {
        let limits = self.limits;
        if self.report.members >= limits.members {
            return Err(ArchiveError::Limit { limit: "members", most: limits.members });
        }
        self.report.members += 1;
        let total_left = limits.bytes.saturating_sub(self.report.bytes);
        let mut reader = MemberReader { content, read: 0, total_left, limits, failure: None };
        let flow = (self.visit)(member, &mut reader);
        let failure = reader.failure.take();
        self.report.bytes += reader.read;
        self.report.unreadable += u64::from(failure.is_some());
        let flow = flow.map_err(ArchiveError::Visitor)?;
        if let Some(ArchiveError::Limit { limit: "bytes", most }) =
            failure.as_ref().and_then(ArchiveError::of_reader)
        {
            return Err(ArchiveError::Limit { limit: "bytes", most: *most });
        }
        self.report.stopped = flow.is_break();
        Ok(flow)
    }

    /// Gives a member to the visitor whose content is the next `size` bytes, and skips what is left of them.
    pub(super) fn deliver_body(
        &mut self,
        member: &ArchiveMember,
        input: &mut ArchiveInput<'_>,
        size: u64,
    ) -> Result<ControlFlow<()>, ArchiveError> {
        let mut body = MemberBody::new(input, size);
        let flow = self.deliver(member, &mut body)?;
        let left = body.left();
        if flow.is_continue() && left > 0 {
            input.skip(left, "a member")?;
        }
        Ok(flow)
    }

    /// Fails if a path or target is longer than the limit.
    pub(super) fn check_name(&self, length: u64) -> Result<(), ArchiveError> {
        let most = self.limits.name_bytes as u64;
        if length > most { Err(ArchiveError::Limit { limit: "name_bytes", most }) } else { Ok(()) }
    }
}

/// The reader that the visitor gets: it counts, keeps to the limits, and fails again once it failed.
struct MemberReader<'c> {
    content: &'c mut (dyn Read + Send),
    read: u64,
    total_left: u64,
    limits: &'c ArchiveLimits,
    failure: Option<io::Error>,
}

impl MemberReader<'_> {
    fn fail(&mut self, error: io::Error) -> io::Error {
        self.failure = Some(copy_error(&error));
        error
    }
}

impl Read for MemberReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = &self.failure {
            return Err(copy_error(error));
        }
        if bytes.is_empty() {
            return Ok(0);
        }
        let left = self.limits.member_bytes.min(self.total_left) - self.read;
        if left == 0 {
            return match self.content.read(&mut [0]) {
                Ok(0) => Ok(0),
                Ok(_) if self.total_left <= self.limits.member_bytes => {
                    Err(self.fail(limit_error("bytes", self.limits.bytes)))
                }
                Ok(_) => Err(self.fail(limit_error("member_bytes", self.limits.member_bytes))),
                Err(error) => Err(self.fail(error)),
            };
        }
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        match self.content.read(bytes.get_mut(..most).unwrap_or_default()) {
            Ok(read) => {
                self.read += read as u64;
                Ok(read)
            }
            Err(error) => Err(self.fail(error)),
        }
    }
}
