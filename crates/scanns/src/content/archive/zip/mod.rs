//! Zip archives, read by their directory.
//!
//! ```text
//! archive    anything (member: local header, content, data descriptor)* directory end
//! directory  entry*
//! end        zip64 end, zip64 locator, "PK\5\6" with the place of the directory and a comment
//! ```
//!
//! Offsets count from the first member, so a program may stand before the archive. The directory is read in
//! parts, and equal names stay apart. Entries may share content, as in the bombs of David Fifield; the limit
//! of bytes counts it each time. Source: APPNOTE.TXT 6.3.10 of PKWARE.

mod bytes;
mod content;
mod directory;
mod end;
mod entry;

use std::io::{self, Read, Seek};
use std::ops::ControlFlow;

use super::error::{ArchiveError, copy_error};
use super::member::{ArchiveMember, MemberKind};
use super::walker::Walker;
use directory::ZipDirectory;
use entry::ZipEntry;

/// Gives the members of a zip archive to the visitor.
pub(super) fn walk<R: Read + Seek + Send>(
    source: &mut R,
    walker: &mut Walker<'_, '_>,
) -> Result<(), ArchiveError> {
    let end = end::find(source)?;
    walker.report.end_mark = true;
    let mut directory = ZipDirectory::new(&end);
    while let Some(entry) = directory.next_entry(source)? {
        walker.report.malformed += entry.malformed;
        walker.check_name(entry.member.path.len() as u64)?;
        if walk_entry(source, entry, end.shift, walker)?.is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// Gives a member to the visitor.
fn walk_entry<R: Read + Seek + Send>(
    source: &mut R,
    mut entry: ZipEntry,
    shift: u64,
    walker: &mut Walker<'_, '_>,
) -> Result<ControlFlow<()>, ArchiveError> {
    entry.member.offset = entry.member.offset.saturating_add(shift);
    if entry.member.kind == MemberKind::Directory {
        return walker.deliver(&entry.member, &mut io::empty());
    }
    let mut member = std::mem::replace(&mut entry.member, ArchiveMember::file(b"", 0, 0));
    let mut content = content::open(source, &member, &entry).unwrap_or_else(|error| Box::new(Failed(error)));
    if member.kind != MemberKind::Symlink {
        return walker.deliver(&member, &mut *content);
    }
    walker.check_name(member.size)?;
    let mut target = Vec::new();
    match (&mut *content).take(walker.limits.name_bytes as u64).read_to_end(&mut target) {
        Ok(_) => {
            member.target = Some(target);
            walker.deliver(&member, &mut io::empty())
        }
        Err(error) => walker.deliver(&member, &mut Failed(error)),
    }
}

/// The reader of a member that cannot be read.
struct Failed(io::Error);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(copy_error(&self.0))
    }
}
