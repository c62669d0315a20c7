//! Cpio archives: the payload of RPM packages and the initial file systems of Linux.
//!
//! ```text
//! archive  member* trailer; the trailer is a member with the name "TRAILER!!!"
//! member   header name NUL padding content padding
//! newc     "070701", or "070702" with a checksum, then 13 numbers of 8 hexadecimal digits:
//!          ino mode uid gid nlink mtime size devmajor devminor rdevmajor rdevminor namesize check;
//!          name and content are padded to 4 bytes
//! odc      "070707", then octal numbers: dev ino mode uid gid nlink rdev of 6 digits, mtime of 11,
//!          namesize of 6, size of 11; no padding
//! binary   16-bit numbers of either byte order: 070707 dev ino mode uid gid nlink rdev mtime[2] namesize
//!          size[2], high halves first; name and content are padded to 2 bytes
//! ```
//!
//! Of the hard links of a file, newc keeps the content with the last one. Source: cpio(5) of FreeBSD.

use std::io::{self, Read};
use std::ops::ControlFlow;

use super::error::{ArchiveError, member_error};
use super::input::{ArchiveInput, MemberBody};
use super::member::{ArchiveMember, MemberKind, nanoseconds, until_nul};
use super::walker::Walker;

/// How many zeros after a trailer are read in search of a further archive.
const ZEROS: u64 = 1 << 20;

/// The form of a header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CpioForm {
    Newc { checked: bool },
    Odc,
    Binary { big: bool },
}

impl CpioForm {
    fn of(magic: [u8; 6]) -> Option<Self> {
        match &magic {
            b"070701" => Some(Self::Newc { checked: false }),
            b"070702" => Some(Self::Newc { checked: true }),
            b"070707" => Some(Self::Odc),
            [0xc7, 0x71, ..] => Some(Self::Binary { big: false }),
            [0x71, 0xc7, ..] => Some(Self::Binary { big: true }),
            _ => None,
        }
    }

    /// The length of the header, and to how many bytes the name and the content are padded.
    fn layout(self) -> (usize, u64) {
        match self {
            Self::Newc { .. } => (110, 4),
            Self::Odc => (76, 1),
            Self::Binary { .. } => (26, 2),
        }
    }
}

/// The numbers of a header.
struct CpioHeader {
    form: CpioForm,
    mode: u32,
    uid: u32,
    gid: u32,
    links: u32,
    modified: u64,
    name_size: u64,
    size: u64,
    check: u32,
}

impl CpioHeader {
    fn parse(form: CpioForm, bytes: &[u8]) -> Option<Self> {
        match form {
            CpioForm::Newc { .. } => Self::newc(form, bytes),
            CpioForm::Odc => Self::odc(bytes),
            CpioForm::Binary { big } => Self::binary(big, bytes),
        }
    }

    fn newc(form: CpioForm, bytes: &[u8]) -> Option<Self> {
        let number = |index: usize| {
            let from = 6 + index * 8;
            u32::from_str_radix(std::str::from_utf8(bytes.get(from..from + 8)?).ok()?, 16).ok()
        };
        Some(Self {
            form,
            mode: number(1)?,
            uid: number(2)?,
            gid: number(3)?,
            links: number(4)?,
            modified: number(5)?.into(),
            name_size: number(11)?.into(),
            size: number(6)?.into(),
            check: number(12)?,
        })
    }

    fn odc(bytes: &[u8]) -> Option<Self> {
        let long = |from: usize, length: usize| {
            u64::from_str_radix(std::str::from_utf8(bytes.get(from..from + length)?).ok()?, 8).ok()
        };
        let number = |from: usize| u32::try_from(long(from, 6)?).ok();
        Some(Self {
            form: CpioForm::Odc,
            mode: number(18)?,
            uid: number(24)?,
            gid: number(30)?,
            links: number(36)?,
            modified: long(48, 11)?,
            name_size: number(59)?.into(),
            size: long(65, 11)?,
            check: 0,
        })
    }

    fn binary(big: bool, bytes: &[u8]) -> Option<Self> {
        let number = |index: usize| {
            let pair = bytes.get(index * 2..index * 2 + 2)?.try_into().ok()?;
            Some(u32::from(if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }))
        };
        let wide = |index: usize| Some(u64::from(number(index)? << 16 | number(index + 1)?));
        Some(Self {
            form: CpioForm::Binary { big },
            mode: number(3)?,
            uid: number(4)?,
            gid: number(5)?,
            links: number(6)?,
            modified: wide(8)?,
            name_size: number(10)?.into(),
            size: wide(11)?,
            check: 0,
        })
    }

    /// The bytes after a part of `length` bytes up to the next multiple of the form's padding.
    fn padding(&self, length: u64) -> u64 {
        let (_, multiple) = self.form.layout();
        length.wrapping_neg() % multiple
    }

    /// The bytes between the name and the content.
    fn name_padding(&self) -> u64 {
        let (length, _) = self.form.layout();
        self.padding(length as u64 + self.name_size)
    }
}

/// Whether a file is a cpio archive. Two bytes of magic are weak, so the binary forms must have a valid mode
/// and a name that ends where it should.
pub(super) fn is_cpio(head: &[u8]) -> bool {
    let Some(magic) = head.first_chunk() else { return false };
    let Some(form) = CpioForm::of(*magic) else { return false };
    let Some(header) = CpioHeader::parse(form, head) else { return false };
    let sane = header.name_size > 0 && matches!(header.mode >> 12, 0 | 1 | 2 | 4 | 6 | 8 | 9 | 10 | 12);
    let (length, _) = form.layout();
    let last = usize::try_from(header.name_size).ok().and_then(|size| head.get(length + size - 1));
    sane && match form {
        CpioForm::Binary { .. } => last.is_none_or(|&byte| byte == 0) && header.name_size <= 4096,
        _ => true,
    }
}

/// Gives the members of a cpio archive to the visitor.
pub(super) fn walk(input: &mut ArchiveInput<'_>, walker: &mut Walker<'_, '_>) -> Result<(), ArchiveError> {
    let mut first = None;
    loop {
        let at = input.at() - u64::from(first.is_some());
        let Some((header, name)) = read_header(input, walker, at, first.take())? else { return Ok(()) };
        if name == b"TRAILER!!!" {
            walker.report.end_mark = true;
            input.skip(header.size.saturating_add(header.padding(header.size)), "the trailer")?;
            first = byte_after_zeros(input)?;
            if first.is_none() {
                return Ok(());
            }
        } else if deliver(&header, &name, input, walker)?.is_break() {
            return Ok(());
        }
    }
}

/// Reads a header and its name. None at the end of the source, and where no header follows a trailer.
fn read_header(
    input: &mut ArchiveInput<'_>,
    walker: &Walker<'_, '_>,
    at: u64,
    first: Option<u8>,
) -> Result<Option<(CpioHeader, Vec<u8>)>, ArchiveError> {
    let mut bytes = [0; 110];
    let known = usize::from(first.is_some());
    bytes[0] = first.unwrap_or_default();
    let (magic, rest) = bytes.split_at_mut(6);
    let read = input.read_up_to(magic.get_mut(known..).unwrap_or_default())?;
    if read == 0 && first.is_none() {
        return Ok(None);
    }
    let form = magic.first_chunk().and_then(|magic| CpioForm::of(*magic));
    let Some(form) = form.filter(|_| read + known == 6) else {
        return match first {
            // Bytes after the trailer that are no cpio belong to something else.
            Some(_) => Ok(None),
            None if read < 6 => Err(ArchiveError::CutOff { at: input.at(), within: "a header" }),
            None => Err(header_error(at, "has no valid magic number")),
        };
    };
    let (length, _) = form.layout();
    input.fill(rest.get_mut(..length - 6).unwrap_or_default(), "a header")?;
    let Some(header) = CpioHeader::parse(form, &bytes) else {
        return Err(header_error(at, "has a number that is not valid"));
    };
    walker.check_name(header.name_size.saturating_sub(1))?;
    let mut name = input.take_bytes(header.name_size, "a name")?;
    name.truncate(until_nul(&name).len());
    input.skip(header.name_padding(), "a name")?;
    Ok(Some((header, name)))
}

/// Gives a member to the visitor and skips to the next header.
fn deliver(
    header: &CpioHeader,
    name: &[u8],
    input: &mut ArchiveInput<'_>,
    walker: &mut Walker<'_, '_>,
) -> Result<ControlFlow<()>, ArchiveError> {
    let mut member = ArchiveMember::file(name, header.size, input.at());
    member.set_unix_mode(header.mode);
    member.uid = Some(header.uid);
    member.gid = Some(header.gid);
    member.modified = i64::try_from(header.modified).ok().and_then(nanoseconds);
    let newc = matches!(header.form, CpioForm::Newc { .. });
    if newc && member.kind == MemberKind::File && header.links > 1 && header.size == 0 {
        member.kind = MemberKind::HardLink;
    }
    let mut left = header.size;
    if member.kind == MemberKind::Symlink {
        walker.check_name(header.size)?;
        member.target = Some(input.take_bytes(header.size, "the target of a link")?);
        left = 0;
    }
    let flow = if member.kind == MemberKind::File {
        let check = (header.form == CpioForm::Newc { checked: true }).then_some(header.check);
        let mut body = SummedBody { body: MemberBody::new(input, left), sum: 0, check };
        let flow = walker.deliver(&member, &mut body)?;
        left = body.body.left();
        flow
    } else {
        walker.deliver(&member, &mut io::empty())?
    };
    if flow.is_continue() {
        input.skip(left, "a member")?;
        let padding = header.padding(header.size);
        input.skip(padding, "the padding of a member")?;
    }
    Ok(flow)
}

/// The first byte that is not zero within the zeros after a trailer.
fn byte_after_zeros(input: &mut ArchiveInput<'_>) -> Result<Option<u8>, ArchiveError> {
    for _ in 0..ZEROS {
        let mut byte = [0];
        if input.read_up_to(&mut byte)? == 0 {
            return Ok(None);
        }
        if byte != [0] {
            return Ok(Some(byte[0]));
        }
    }
    Ok(None)
}

/// A member's content with the sum of its bytes, which the header of the crc form declares.
struct SummedBody<'i, 's> {
    body: MemberBody<'i, 's>,
    sum: u32,
    check: Option<u32>,
}

impl Read for SummedBody<'_, '_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.body.read(bytes)?;
        let Some(check) = self.check else { return Ok(read) };
        let part = bytes.get(..read).unwrap_or_default();
        self.sum = part.iter().fold(self.sum, |sum, &byte| sum.wrapping_add(u32::from(byte)));
        if read == 0 && !bytes.is_empty() && self.sum != check {
            return Err(member_error("the checksum of the content differs from the header's"));
        }
        Ok(read)
    }
}

fn header_error(at: u64, reason: &'static str) -> ArchiveError {
    ArchiveError::Header { format: "cpio", at, reason }
}
