//! Writes the values of directives.

use jiff::tz::TimeZone;

use super::format::StatDirective;
use crate::files::date_text::{WHOLE, date_text};
use crate::files::device_numbers::{major, minor};
use crate::files::find::{DEVICE_NUMBERS, FindType, mode_text};
use crate::source::{Entry, EntryKind};

/// How names are quoted.
pub(super) type QuoteName<'q> = dyn Fn(&[u8]) -> Vec<u8> + 'q;

/// An entry whose values are written.
pub(super) struct StatSubject<'a> {
    pub(super) entry: &'a Entry<'a>,
    /// The path as it was written.
    pub(super) name: &'a [u8],
    pub(super) zone: &'a TimeZone,
    /// Quotes the names of `%N`.
    pub(super) quote: &'a QuoteName<'a>,
}

impl StatDirective {
    /// Writes the value; otherwise gives the name of the value that the index does not know, and writes `?`.
    pub(super) fn write(&self, subject: &StatSubject<'_>, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let known = match self.letter {
            b'n' | b'N' | b'A' | b'F' | b'U' | b'G' => self.text(subject, out),
            b'x' | b'y' | b'z' | b'w' | b'X' | b'Y' | b'Z' | b'W' => self.time(subject, out),
            b'a' | b'f' | b'D' | b'd' | b'r' | b'R' | b't' | b'T' => self.bits(subject.entry, out),
            _ => self.number(subject.entry, out),
        };
        if known.is_err() {
            self.without_precision(b"?", out);
        }
        known
    }

    fn text(&self, subject: &StatSubject<'_>, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let entry = subject.entry;
        let text = match self.letter {
            b'n' => subject.name.to_vec(),
            b'N' => {
                let mut text = (subject.quote)(subject.name);
                if entry.kind == Some(EntryKind::Link) {
                    text.extend_from_slice(b" -> ");
                    text.extend((subject.quote)(entry.target.ok_or("target")?));
                }
                text
            }
            b'A' => mode_text(entry).ok_or("mode")?.to_vec(),
            b'F' => kind_text(entry).ok_or("type")?.as_bytes().to_vec(),
            b'U' => name(entry.owner, entry.uid).ok_or("owner")?,
            _ => name(entry.group, entry.gid).ok_or("group")?,
        };
        self.layout.text(&text, out);
        Ok(())
    }

    fn time(&self, subject: &StatSubject<'_>, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let entry = subject.entry;
        let (time, name) = match self.letter.to_ascii_lowercase() {
            b'x' => (entry.atime, "atime"),
            b'y' => (entry.mtime, "mtime"),
            b'z' => (entry.ctime, "ctime"),
            _ => (entry.btime, "btime"),
        };
        match (self.letter, time) {
            (b'w', None) => self.layout.text(b"-", out),
            (b'W', None) => self.seconds(0, out),
            (_, None) => return Err(name),
            (letter, Some(time)) if letter.is_ascii_lowercase() => {
                self.layout.text(date_text(time, WHOLE, subject.zone).as_bytes(), out);
            }
            (_, Some(time)) => self.seconds(time, out),
        }
        Ok(())
    }

    /// Seconds since 1970, with the digits of the precision, rounded down.
    fn seconds(&self, time: i64, out: &mut Vec<u8>) {
        let digits = self.layout.precision.unwrap_or(0);
        let scale = 10_i128.pow(9 - u32::try_from(digits.min(9)).unwrap_or(9));
        let (value, unit) = (i128::from(time).div_euclid(scale), 1_000_000_000 / scale);
        let (whole, part) =
            (value.unsigned_abs() / unit.unsigned_abs(), value.unsigned_abs() % unit.unsigned_abs());
        let fraction = match digits {
            0 => String::new(),
            digits => format!(
                ".{part:0least$}{:0<more$}",
                "",
                least = digits.min(9),
                more = digits.saturating_sub(9)
            ),
        };
        let sign: &[u8] = match (value < 0, self.layout.plus, self.layout.space) {
            (true, ..) => b"-",
            (false, true, _) => b"+",
            (false, false, true) => b" ",
            _ => b"",
        };
        let mut layout = self.layout;
        layout.precision = None;
        layout.digits(sign, format!("{whole}{fraction}").as_bytes(), out);
    }

    /// Modes and devices.
    fn bits(&self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let hexadecimal = |number: u64| match self.layout.alternate {
            true => format!("{number:#x}"),
            false => format!("{number:x}"),
        };
        match self.letter {
            b'a' => self.layout.octal(entry.mode.ok_or("mode")? & 0o7777, out),
            b'f' => {
                let mode = entry.mode_with_type().ok_or("mode")?;
                self.layout.digits(b"", hexadecimal(mode.into()).as_bytes(), out);
            }
            b'D' => self.layout.digits(b"", hexadecimal(entry.device.ok_or("device")?).as_bytes(), out),
            b'R' => self.layout.digits(b"", hexadecimal(rdev(entry)?).as_bytes(), out),
            b't' => self.layout.digits(b"", hexadecimal(major(rdev(entry)?)).as_bytes(), out),
            b'T' => self.layout.digits(b"", hexadecimal(minor(rdev(entry)?)).as_bytes(), out),
            b'r' => self.layout.number(half_of(rdev(entry)?, self.half), out),
            _ => {
                let device = entry.device.ok_or("device")?;
                self.layout.number(half_of(device, self.half), out);
            }
        }
        Ok(())
    }

    fn number(&self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let number = match self.letter {
            b's' => entry.size.ok_or("size")?,
            b'b' => entry.blocks.ok_or("blocks")?,
            b'B' => 512,
            b'u' => entry.uid.ok_or("uid")?.into(),
            b'g' => entry.gid.ok_or("gid")?.into(),
            b'i' => entry.inode.ok_or("inode")?,
            b'h' => entry.links.ok_or("links")?,
            b'o' => return Err("block size"),
            b'm' => return Err("mount point"),
            b'C' => return Err("security context"),
            _ => {
                self.without_precision(b"?", out);
                return Ok(());
            }
        };
        self.layout.number(number, out);
        Ok(())
    }

    fn without_precision(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut layout = self.layout;
        layout.precision = None;
        layout.text(text, out);
    }
}

/// The device that a device file stands for; 0 for other files.
fn rdev(entry: &Entry<'_>) -> Result<u64, &'static str> {
    match FindType::of(entry) {
        None | Some(FindType::Block | FindType::Character) => entry.rdev.ok_or(DEVICE_NUMBERS),
        Some(_) => Ok(0),
    }
}

/// The name of an owner; `UNKNOWN` for a number without a name.
fn name(name: Option<&[u8]>, id: Option<u32>) -> Option<Vec<u8>> {
    name.map(<[u8]>::to_vec).or_else(|| id.map(|_| b"UNKNOWN".to_vec()))
}

fn kind_text(entry: &Entry<'_>) -> Option<&'static str> {
    Some(match FindType::of(entry)? {
        FindType::Regular if entry.size == Some(0) => "regular empty file",
        FindType::Regular => "regular file",
        FindType::Directory => "directory",
        FindType::Link => "symbolic link",
        FindType::Pipe => "fifo",
        FindType::Socket => "socket",
        FindType::Block => "block special file",
        FindType::Character => "character special file",
    })
}

/// The major (`H`) or minor (`L`) number of a device on Linux, or all of it.
fn half_of(device: u64, half: u8) -> u64 {
    match half {
        b'H' => major(device),
        b'L' => minor(device),
        _ => device,
    }
}
