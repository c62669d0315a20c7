//! Ar archives: static libraries (`.a`) and Debian packages (`.deb`).
//!
//! ```text
//! archive  "!<arch>\n" member*
//! member   name[16] mtime[12] uid[6] gid[6] mode[8, octal] size[10] "`\n" content ("\n" after an odd length)
//! name     GNU: "NAME/", "/OFFSET" in the table of long names "//"; symbol tables are "/" and "/SYM64/"
//!          BSD: "NAME", "#1/LENGTH" with the name before the content; symbol tables are "__.SYMDEF…"
//! ```
//!
//! Numbers are decimal text, padded with spaces. Source: ar(5) of FreeBSD, and the writers of binutils.

use super::error::ArchiveError;
use super::input::ArchiveInput;
use super::member::{ArchiveMember, nanoseconds, until_nul};
use super::walker::Walker;

/// The first bytes of an ar archive.
pub(super) const MAGIC: &[u8] = b"!<arch>\n";

/// The most bytes that a table of long names may have; the largest libraries have a few MiB.
const TABLE_BYTES: u64 = 16 << 20;

/// The header of a member.
struct ArHeader<'b>(&'b [u8; 60]);

impl<'b> ArHeader<'b> {
    fn field(&self, from: usize, length: usize) -> &'b [u8] {
        self.0.get(from..from + length).unwrap_or_default().trim_ascii()
    }

    fn number(&self, from: usize, length: usize, radix: u32) -> Option<u64> {
        let text = std::str::from_utf8(self.field(from, length)).ok()?;
        u64::from_str_radix(text, radix).ok()
    }

    fn narrow(&self, from: usize, length: usize, radix: u32) -> Option<u32> {
        u32::try_from(self.number(from, length, radix)?).ok()
    }
}

/// Gives the members of an ar archive to the visitor.
pub(super) fn walk(input: &mut ArchiveInput<'_>, walker: &mut Walker<'_, '_>) -> Result<(), ArchiveError> {
    let mut magic = [0; 8];
    input.fill(&mut magic, "the first header")?;
    if magic != MAGIC {
        return Err(header_error(0, "does not begin with !<arch>"));
    }
    let mut table = Vec::new();
    loop {
        let at = input.at();
        let mut bytes = [0; 60];
        let read = input.read_up_to(&mut bytes)?;
        // Some writers pad the archive, with newlines or zeros.
        if bytes.iter().all(|byte| matches!(byte, b'\n' | 0)) {
            break;
        }
        if read < bytes.len() {
            return Err(ArchiveError::CutOff { at: input.at(), within: "a header" });
        }
        let header = ArHeader(&bytes);
        if !bytes.ends_with(b"`\n") {
            return Err(header_error(at, "has no end mark"));
        }
        let Some(size) = header.number(48, 10, 10) else {
            return Err(header_error(at, "has no valid size"));
        };
        if header.field(0, 16) == b"//" {
            table = long_names(input, size)?;
        } else if walk_member(&header, &table, size, input, walker)? {
            return Ok(());
        }
        if input.at() % 2 == 1 {
            input.read_up_to(&mut [0])?;
        }
    }
    walker.report.end_mark = true;
    Ok(())
}

/// Delivers one member; returns whether the visitor ended the walk.
fn walk_member(
    header: &ArHeader<'_>,
    table: &[u8],
    size: u64,
    input: &mut ArchiveInput<'_>,
    walker: &mut Walker<'_, '_>,
) -> Result<bool, ArchiveError> {
    let field = header.field(0, 16);
    if matches!(field, b"/" | b"/SYM64/") {
        input.skip(size, "a symbol table")?;
        return Ok(false);
    }
    let (name, size) = match field.strip_prefix(b"#1/") {
        Some(length) => bsd_name(length, size, input, walker)?,
        None => (gnu_name(field, table, walker), size),
    };
    if name.starts_with(b"__.SYMDEF") {
        input.skip(size, "a symbol table")?;
        return Ok(false);
    }
    walker.check_name(name.len() as u64)?;
    let mut member = ArchiveMember::file(&name, size, input.at());
    member.modified = header.number(16, 12, 10).and_then(|time| nanoseconds(i64::try_from(time).ok()?));
    member.uid = header.narrow(28, 6, 10);
    member.gid = header.narrow(34, 6, 10);
    member.mode = header.narrow(40, 8, 8).map(|mode| mode & 0o7777);
    Ok(walker.deliver_body(&member, input, size)?.is_break())
}

/// Reads the table of long names.
fn long_names(input: &mut ArchiveInput<'_>, size: u64) -> Result<Vec<u8>, ArchiveError> {
    if size > TABLE_BYTES {
        return Err(ArchiveError::Limit { limit: "bytes of the table of long names", most: TABLE_BYTES });
    }
    input.take_bytes(size, "the table of long names")
}

/// Reads the name before the content; returns it and the size of the content.
fn bsd_name(
    length: &[u8],
    size: u64,
    input: &mut ArchiveInput<'_>,
    walker: &Walker<'_, '_>,
) -> Result<(Vec<u8>, u64), ArchiveError> {
    let at = input.at();
    let length = std::str::from_utf8(length).ok().and_then(|text| text.parse::<u64>().ok());
    let Some((length, left)) = length.and_then(|length| Some((length, size.checked_sub(length)?))) else {
        return Err(header_error(at.saturating_sub(60), "has no valid length of its name"));
    };
    walker.check_name(length)?;
    let name = input.take_bytes(length, "a name")?;
    Ok((until_nul(&name).to_vec(), left))
}

/// The name in the header, or in the table of long names. A name that the table lacks is kept as written.
fn gnu_name(field: &[u8], table: &[u8], walker: &mut Walker<'_, '_>) -> Vec<u8> {
    let offset = field.strip_prefix(b"/").and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    let Some(offset) = offset else {
        return field.strip_suffix(b"/").unwrap_or(field).to_vec();
    };
    let long = table.get(offset..).filter(|rest: &&[u8]| !rest.is_empty());
    let Some(long) = long else {
        walker.report.malformed += 1;
        return field.to_vec();
    };
    // binutils ends a name with a slash and a newline, other writers with a newline or a NUL.
    let end = memchr::memchr2(b'\n', 0, long).unwrap_or(long.len());
    let name = long.get(..end).unwrap_or_default();
    name.strip_suffix(b"/").unwrap_or(name).to_vec()
}

fn header_error(at: u64, reason: &'static str) -> ArchiveError {
    ArchiveError::Header { format: "ar", at, reason }
}
