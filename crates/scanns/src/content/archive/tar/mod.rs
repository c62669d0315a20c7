//! Tar archives: v7, ustar, pax, GNU and star.
//!
//! ```text
//! archive  member* end; several archives may follow each other
//! member   extension* header content, each padded to blocks of 512 bytes
//! end      two blocks of zeros, and more zeros
//! header   name[100] mode[8] uid[8] gid[8] size[12] mtime[12] checksum[8] type[1] linkname[100], then
//!          ustar: "ustar\0" "00" uname[32] gname[32] devmajor[8] devminor[8] prefix[155]
//!          GNU:   "ustar  \0"    uname[32] gname[32] devmajor[8] devminor[8] …, and the map of a sparse file
//! extension  a header of type x or g with pax records, L with a long name, or K with a long target
//! ```
//!
//! Numbers are octal text, or binary if the first bit is set. A pax record overrides the field of the header,
//! also to skip the content: readers that disagree on the size see different members (RUSTSEC-2026-0067).
//! Sources: pax(1) of POSIX, tar(5) of FreeBSD, the GNU tar manual.

mod header;
mod number;
mod pax;
mod sparse;

use std::io;
use std::ops::ControlFlow;

pub(super) use header::is_tar;

use super::error::ArchiveError;
use super::input::{ArchiveInput, MemberBody};
use super::member::{ArchiveMember, MemberKind, clean, nanoseconds, until_nul};
use super::walker::Walker;
use header::TarHeader;
use number::BLOCK;
use pax::PaxRecords;
use sparse::{SparseMap, SparseReader};

/// The most bytes of pax records that are read of one extension header. Records beyond them are left out.
const PAX_BYTES: u64 = 1 << 20;

/// Gives the members of a tar archive to the visitor.
pub(super) fn walk(input: &mut ArchiveInput<'_>, walker: &mut Walker<'_, '_>) -> Result<(), ArchiveError> {
    let mut tar = TarWalk { input, walker, extensions: Extensions::default(), ahead: None };
    while let Some(header) = tar.next_header()? {
        if tar.walk_header(&header)?.is_break() {
            return Ok(());
        }
    }
    if tar.extensions.pending {
        return Err(ArchiveError::CutOff { at: tar.input.at(), within: "the header of a member" });
    }
    Ok(())
}

/// What the extension headers tell about the next member.
#[derive(Default)]
struct Extensions {
    global: Option<Box<PaxRecords>>,
    local: Option<Box<PaxRecords>>,
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    pending: bool,
}

/// The state of a walk over a tar archive.
struct TarWalk<'t, 's, 'w, 'v> {
    input: &'t mut ArchiveInput<'s>,
    walker: &'t mut Walker<'w, 'v>,
    extensions: Extensions,
    /// A header that was read in search of a member's content.
    ahead: Option<TarHeader>,
}

impl TarWalk<'_, '_, '_, '_> {
    /// The next header, after zeros as well; none at the end of the archive.
    fn next_header(&mut self) -> Result<Option<TarHeader>, ArchiveError> {
        let mut zeros = 0_u64;
        loop {
            let header = match self.ahead.take() {
                Some(header) => header,
                None => match self.read_block(zeros > 0)? {
                    Some(header) => header,
                    None => return Ok(None),
                },
            };
            if header.is_zero() {
                zeros += 1;
                self.walker.report.end_mark = true;
            } else if header.has_valid_checksum() {
                if zeros > 0 {
                    self.extensions = Extensions::default();
                    self.walker.report.end_mark = false;
                }
                return Ok(Some(header));
            } else if zeros > 1 {
                // Bytes after the end that are no header belong to something else.
                return Ok(None);
            } else {
                return Err(self.header_error("has a wrong checksum"));
            }
        }
    }

    /// Reads a block; none at the end of the source. After the end mark, a part of a block counts as the end.
    fn read_block(&mut self, ended: bool) -> Result<Option<TarHeader>, ArchiveError> {
        let mut header = TarHeader::new();
        match self.input.read_up_to(header.bytes_mut())? {
            BLOCK => Ok(Some(header)),
            0 => Ok(None),
            _ if ended => Ok(None),
            _ => Err(ArchiveError::CutOff { at: self.input.at(), within: "a header" }),
        }
    }

    /// The error of the header that was just read.
    fn header_error(&self, reason: &'static str) -> ArchiveError {
        let at = self.input.at().saturating_sub(BLOCK as u64);
        ArchiveError::Header { format: "tar", at, reason }
    }

    /// Takes in an extension, or gives a member to the visitor.
    fn walk_header(&mut self, header: &TarHeader) -> Result<ControlFlow<()>, ArchiveError> {
        let Some(size) = header.size() else {
            return Err(self.header_error("has a size that is not valid"));
        };
        match header.type_flag() {
            b'x' | b'X' => {
                let global = || self.extensions.global.clone();
                let mut records = self.extensions.local.take().or_else(global).unwrap_or_default();
                self.read_pax(size, &mut records)?;
                self.extensions.local = Some(records);
            }
            b'g' => {
                let mut records = self.extensions.global.take().unwrap_or_default();
                self.read_pax(size, &mut records)?;
                self.extensions.global = Some(records);
            }
            b'L' => self.extensions.path = Some(self.read_name(size)?),
            b'K' => self.extensions.target = Some(self.read_name(size)?),
            _ => {
                let extensions = std::mem::take(&mut self.extensions);
                let flow = self.walk_member(header, size, &extensions)?;
                self.extensions.global = extensions.global;
                return Ok(flow);
            }
        }
        self.extensions.pending = header.type_flag() != b'g' || self.extensions.pending;
        Ok(ControlFlow::Continue(()))
    }

    fn read_pax(&mut self, size: u64, records: &mut PaxRecords) -> Result<(), ArchiveError> {
        let taken = size.min(PAX_BYTES);
        let bytes = self.input.take_bytes(taken, "an extension header")?;
        self.walker.report.malformed += records.read(&bytes);
        for name in [&records.path, &records.target, &records.sparse.path].into_iter().flatten() {
            self.walker.check_name(name.len() as u64)?;
        }
        self.skip(size - taken, size)
    }

    fn read_name(&mut self, size: u64) -> Result<Vec<u8>, ArchiveError> {
        self.walker.check_name(size.saturating_sub(1))?;
        let mut name = self.input.take_bytes(size, "a long name")?;
        name.truncate(until_nul(&name).len());
        self.skip(0, size)?;
        Ok(name)
    }

    /// Skips the `left` bytes that were not read of a part of `size` bytes, and the padding after it.
    fn skip(&mut self, left: u64, size: u64) -> Result<(), ArchiveError> {
        self.input.skip(left, "a member")?;
        let padding = size.wrapping_neg() % BLOCK as u64;
        if padding > 0 {
            self.input.skip(padding, "the padding of a member")?;
        }
        Ok(())
    }

    /// Gives a member to the visitor and skips to the next header.
    fn walk_member(
        &mut self,
        header: &TarHeader,
        size: u64,
        extensions: &Extensions,
    ) -> Result<ControlFlow<()>, ArchiveError> {
        let none = PaxRecords::default();
        let records = extensions.local.as_deref().or(extensions.global.as_deref()).unwrap_or(&none);
        let mut member = self.member(header, size, extensions, records);
        let stored = records.size.unwrap_or(size);
        let has_content = !matches!(header.type_flag(), b'1'..=b'6');
        let old_map = header.old_sparse_map();
        if old_map.is_none() && !records.sparse.is_sparse() {
            member.size = if has_content { stored } else { 0 };
            return self.walk_plain(&member, stored, has_content);
        }
        let map = match old_map {
            Some(map) => Ok(self.rest_of_old_map(header, map)?),
            None => records.sparse.map(),
        };
        let mut body = MemberBody::new(self.input, stored);
        let map = match map {
            Ok(map) if records.sparse.map_is_in_content() => map.read_regions(&mut body),
            other => other,
        };
        let reason = map.and_then(|map| map.check(body.left()));
        let flow = match reason {
            Ok(map) => {
                member.size = map.real_size;
                member.offset += stored - body.left();
                self.walker.deliver(&member, &mut SparseReader::new(&mut body, &map))?
            }
            Err(reason) => {
                member.size = records.sparse.real_size.or(header.real_size()).unwrap_or(stored);
                self.walker.deliver(&member, &mut FailedReader(reason))?
            }
        };
        let left = body.left();
        if flow.is_continue() {
            self.skip(left, stored)?;
        }
        Ok(flow)
    }

    /// Walks over a member without holes.
    fn walk_plain(
        &mut self,
        member: &ArchiveMember,
        stored: u64,
        has_content: bool,
    ) -> Result<ControlFlow<()>, ArchiveError> {
        let flow = if has_content && member.kind != MemberKind::Directory {
            self.walker.deliver_body(member, self.input, stored)?
        } else {
            let flow = self.walker.deliver(member, &mut io::empty())?;
            if flow.is_continue() && has_content {
                self.input.skip(stored, "a member")?;
            }
            flow
        };
        if flow.is_continue() && has_content {
            self.skip(0, stored)?;
        } else if flow.is_continue() && stored > 0 {
            self.look_ahead(stored)?;
        }
        Ok(flow)
    }

    /// Some writers store content after a link or a directory with a size, and most do not. The next block
    /// tells: a header follows only where there is no content.
    fn look_ahead(&mut self, stored: u64) -> Result<(), ArchiveError> {
        let Some(block) = self.read_block(true)? else { return Ok(()) };
        if block.is_zero() || block.has_valid_checksum() {
            self.ahead = Some(block);
            return Ok(());
        }
        let left = stored.saturating_sub(BLOCK as u64);
        self.skip(left, left)
    }

    /// Reads the blocks with more regions that follow the header of an old sparse file of GNU tar.
    fn rest_of_old_map(&mut self, header: &TarHeader, mut map: SparseMap) -> Result<SparseMap, ArchiveError> {
        let mut more = header.has_more_regions();
        while more {
            let mut block = [0; BLOCK];
            self.input.fill(&mut block, "the map of a sparse file")?;
            more = map.add_old_block(&block);
        }
        Ok(map)
    }

    /// The name and metadata of a member.
    fn member(
        &mut self,
        header: &TarHeader,
        size: u64,
        extensions: &Extensions,
        records: &PaxRecords,
    ) -> ArchiveMember {
        let own_path;
        let path = match (&records.sparse.path, &records.path, &extensions.path) {
            (Some(path), _, _) | (None, Some(path), _) | (None, None, Some(path)) => path,
            (None, None, None) => {
                own_path = header.path();
                &own_path
            }
        };
        let mut member = ArchiveMember::file(path, size, self.input.at());
        member.kind = header.kind(path);
        if matches!(member.kind, MemberKind::Symlink | MemberKind::HardLink) {
            let target = records.target.as_deref().or(extensions.target.as_deref());
            let target = target.unwrap_or_else(|| header.target());
            // The target of a hard link is the path of a member.
            let cleaned = member.kind == MemberKind::HardLink;
            member.target = Some(if cleaned { clean(target) } else { target.to_vec() });
        }
        let malformed = &mut self.walker.report.malformed;
        let mut count = |value: Option<i64>| {
            *malformed += u64::from(value.is_none());
            value
        };
        let narrow = |value: i64| u32::try_from(value).ok();
        member.mode = count(header.mode()).and_then(narrow).map(|mode| mode & 0o7777);
        member.uid = records.uid.or_else(|| count(header.uid()).and_then(narrow));
        member.gid = records.gid.or_else(|| count(header.gid()).and_then(narrow));
        member.modified = records.modified.or_else(|| count(header.modified().and_then(nanoseconds)));
        member.owner = records.owner.clone().or_else(|| header.owner());
        member.group = records.group.clone().or_else(|| header.group());
        member
    }
}

/// The reader of a member that cannot be read.
struct FailedReader(&'static str);

impl io::Read for FailedReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(super::error::member_error(self.0))
    }
}
