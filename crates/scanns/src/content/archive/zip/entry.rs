//! An entry of the directory of a zip archive.
//!
//! ```text
//! entry  "PK\1\2" version[1] host[1] needed[2] flags[2] method[2] time[2] date[2] crc[4] stored[4] size[4]
//!        name_length[2] extra_length[2] comment_length[2] disk[2] internal[2] external[4] offset[4]
//!        name extra comment
//! extra  (id[2] length[2] value)*
//! ```

use super::super::member::{ArchiveMember, MemberKind, nanoseconds};
use super::bytes::{number16, number32, number64};

/// The upper half of code page 437, in which DOS wrote names.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦\
                     ╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
                     αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// The hosts whose external attributes have a mode of Unix: Unix and Darwin.
const UNIX_HOSTS: [u8; 2] = [3, 19];

/// An entry.
pub(super) struct ZipEntry {
    /// The member; its offset is the local header's, without bytes before the archive.
    pub(super) member: ArchiveMember,
    pub(super) method: u16,
    pub(super) encrypted: bool,
    pub(super) crc: u32,
    /// The bytes of the stored content.
    pub(super) stored: u64,
    /// The number of extra fields that are not valid.
    pub(super) malformed: u64,
}

impl ZipEntry {
    /// Parses an entry. None if a size is missing.
    pub(super) fn parse(fixed: &[u8], name: &[u8], extra: &[u8]) -> Option<Self> {
        let host = *fixed.get(5)?;
        let flags = number16(fixed, 8)?;
        let size = number32(fixed, 24)?;
        let name_text = decode_name(name, flags & 0x800 != 0, host);
        let mut entry = Self {
            member: ArchiveMember::file(&name_text, size.into(), number32(fixed, 42)?.into()),
            method: number16(fixed, 10)?,
            encrypted: flags & 0x2001 != 0,
            crc: number32(fixed, 16)?,
            stored: number32(fixed, 20)?.into(),
            malformed: 0,
        };
        entry.member.modified = dos_time(number16(fixed, 12)?, number16(fixed, 14)?);
        let external = number32(fixed, 38)?;
        if UNIX_HOSTS.contains(&host) && external >> 16 != 0 {
            entry.member.set_unix_mode(external >> 16);
        }
        if name.ends_with(b"/") || (external & 0x10 != 0 && size == 0 && !UNIX_HOSTS.contains(&host)) {
            entry.member.kind = MemberKind::Directory;
        }
        entry.read_extra(extra, name);
        Some(entry)
    }

    /// Takes in the extra fields.
    fn read_extra(&mut self, extra: &[u8], name: &[u8]) {
        let mut rest = extra;
        while let (Some(id), Some(length)) = (number16(rest, 0), number16(rest, 2)) {
            let Some((value, after)) = rest.get(4..).and_then(|rest| rest.split_at_checked(length.into()))
            else {
                self.malformed += 1;
                return;
            };
            let valid = match id {
                0x0001 => self.read_zip64(value),
                0x000a => self.read_ntfs(value),
                0x5455 => self.read_unix_time(value),
                0x7075 => self.read_unicode_path(value, name),
                0x7875 => self.read_unix_ids(value),
                _ => Some(()),
            };
            self.malformed += u64::from(valid.is_none());
            rest = after;
        }
    }

    /// The numbers that do not fit the entry, in the order of the entry.
    fn read_zip64(&mut self, value: &[u8]) -> Option<()> {
        let mut at = 0;
        for number in [&mut self.member.size, &mut self.stored, &mut self.member.offset] {
            if *number == u64::from(u32::MAX) {
                *number = number64(value, at)?;
                at += 8;
            }
        }
        Some(())
    }

    /// The time of Windows, in units of 100 ns since 1601.
    fn read_ntfs(&mut self, value: &[u8]) -> Option<()> {
        if number16(value, 4)? == 1 {
            let time = i128::from(number64(value, 8)?) - 116_444_736_000_000_000;
            self.member.modified = Some(i64::try_from(time * 100).ok()?);
        }
        Some(())
    }

    /// The time of Unix in seconds, if the first flag says that there is one.
    fn read_unix_time(&mut self, value: &[u8]) -> Option<()> {
        if value.first()? & 1 != 0 {
            self.member.modified = nanoseconds(number32(value, 1)?.cast_signed().into());
        }
        Some(())
    }

    /// The name in UTF-8, if it belongs to the entry's name.
    fn read_unicode_path(&mut self, value: &[u8], name: &[u8]) -> Option<()> {
        let mut crc = flate2::Crc::new();
        crc.update(name);
        let text = value.get(5..)?;
        if number32(value, 1)? == crc.sum() && std::str::from_utf8(text).is_ok() {
            self.member.path = super::super::member::clean(text);
        }
        Some(())
    }

    /// The numbers of owner and group, each with its length.
    fn read_unix_ids(&mut self, value: &[u8]) -> Option<()> {
        let id = |from: usize| {
            let length = usize::from(*value.get(from)?);
            let bytes = value.get(from + 1..from + 1 + length)?;
            let number =
                bytes.iter().rev().try_fold(0_u32, |id, &byte| Some(id.checked_mul(256)? + u32::from(byte)));
            Some((number?, from + 1 + length))
        };
        let (uid, after) = id(1)?;
        let (gid, _) = id(after)?;
        self.member.uid = Some(uid);
        self.member.gid = Some(gid);
        Some(())
    }
}

/// The name as UTF-8 where its encoding is known. Programs of Unix store the bytes of the file system; those
/// of other hosts use code page 437 if the name is neither marked as UTF-8 nor valid UTF-8.
fn decode_name(name: &[u8], marked: bool, host: u8) -> Vec<u8> {
    if marked || UNIX_HOSTS.contains(&host) || std::str::from_utf8(name).is_ok() {
        return name.to_vec();
    }
    let upper: Vec<char> = CP437.chars().collect();
    let decode = |&byte: &u8| match usize::from(byte).checked_sub(128) {
        Some(index) => upper.get(index).copied().unwrap_or('\u{fffd}'),
        None => char::from(byte),
    };
    name.iter().map(decode).collect::<String>().into_bytes()
}

/// The time of DOS as if it were UTC: the archive does not tell its zone. None for days that do not exist.
fn dos_time(time: u16, date: u16) -> Option<i64> {
    let (year, month, day) = (1980 + i64::from(date >> 9), i64::from(date >> 5 & 15), i64::from(date & 31));
    if !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    // Days since 1970 of a year that begins in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 719_469;
    let seconds = i64::from(time >> 11) * 3600 + i64::from(time >> 5 & 63) * 60 + i64::from(time & 31) * 2;
    nanoseconds(days * 86_400 + seconds)
}

#[cfg(test)]
mod tests {
    use super::{CP437, decode_name, dos_time};

    #[test]
    fn a_name_of_dos_is_read_as_code_page_437() {
        assert_eq!(CP437.chars().count(), 128);
        assert_eq!(decode_name(b"\x84\x94\x81.txt", false, 0), "äöü.txt".as_bytes());
        assert_eq!(decode_name(b"\x84\x94\x81.txt", false, 3), b"\x84\x94\x81.txt");
        assert_eq!(decode_name("ä".as_bytes(), false, 0), "ä".as_bytes());
    }

    #[test]
    fn a_time_of_dos_is_read_as_utc() {
        assert_eq!(dos_time(0, 1 << 5 | 1), Some(315_532_800_000_000_000), "1980-01-01");
        assert_eq!(dos_time(0xbf7d, 0x5c5b), Some(1_772_236_798_000_000_000), "2026-02-27 23:59:58");
        assert_eq!(dos_time(0, 0x285d), Some(951_782_400_000_000_000), "2000-02-29");
        assert_eq!(dos_time(0, 0), None);
    }
}
