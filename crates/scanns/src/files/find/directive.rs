//! Writes the directives of `-printf` for an entry.

use jiff::tz::TimeZone;

use super::age::TimeColumn;
use super::clock::LocalTime;
use super::facts::{FindFacts, FindType, FoundTarget};
use super::format::{Directive, PrintField};
use super::subject::Subject;
use crate::source::Entry;

/// What stands for a value that the index does not hold.
const UNKNOWN: &[u8] = b"?";

impl Directive {
    /// Writes the value; false where the index does not hold it.
    pub(super) fn write<F: FindFacts + ?Sized>(
        &self,
        subject: &Subject,
        facts: &F,
        zone: &TimeZone,
        out: &mut Vec<u8>,
    ) -> bool {
        let known = match self.field {
            PrintField::Time(clock) => clock.of(subject.entry).map(|time| {
                self.layout.text(LocalTime::new(time, zone).whole().as_bytes(), out);
            }),
            PrintField::TimePart(clock, letter) => clock.of(subject.entry).map(|time| {
                self.layout.text(&LocalTime::new(time, zone).part(letter), out);
            }),
            PrintField::TargetKind => {
                target_letter(subject.entry, facts).map(|letter| self.layout.text(&[letter], out))
            }
            _ => self.place(subject, out).or_else(|| self.column(subject.entry, out)),
        };
        if known.is_none() {
            // A target may be any text: none at all is what find prints for entries that are not links.
            let is_target = self.field == PrintField::LinkTarget;
            self.layout.text(if is_target { b"" } else { UNKNOWN }, out);
        }
        known.is_some()
    }

    /// Fields that the path and the place in the tree give.
    fn place(&self, subject: &Subject, out: &mut Vec<u8>) -> Option<()> {
        let text = match self.field {
            PrintField::Depth => {
                self.layout.number(u64::try_from(subject.depth).ok()?, out);
                return Some(());
            }
            PrintField::BaseName => subject.last_part(),
            PrintField::Directory => subject.directory(),
            PrintField::StartPoint => subject.start_point(),
            PrintField::Path => subject.shown,
            PrintField::Relative => subject.relative(),
            _ => return None,
        };
        self.layout.text(text, out);
        Some(())
    }

    /// Fields that a column gives.
    fn column(&self, entry: &Entry, out: &mut Vec<u8>) -> Option<()> {
        let number = match self.field {
            PrintField::Mode => {
                self.layout.octal(entry.mode? & 0o7777, out);
                return Some(());
            }
            PrintField::Sparseness => {
                self.layout.general(sparseness(entry.size?, entry.blocks?), out);
                return Some(());
            }
            PrintField::Blocks => entry.blocks?,
            PrintField::KiloBlocks => entry.blocks?.div_ceil(2),
            PrintField::Device => entry.device?,
            PrintField::GroupId => u64::from(entry.gid?),
            PrintField::UserId => u64::from(entry.uid?),
            PrintField::Inode => entry.inode?,
            PrintField::Links => entry.links?,
            PrintField::Size => entry.size?,
            _ => return self.text_column(entry, out),
        };
        self.layout.text(number.to_string().as_bytes(), out);
        Some(())
    }

    fn text_column(&self, entry: &Entry, out: &mut Vec<u8>) -> Option<()> {
        match self.field {
            PrintField::Group => self.layout.text(&named(entry.group, entry.gid)?, out),
            PrintField::User => self.layout.text(&named(entry.owner, entry.uid)?, out),
            PrintField::LinkTarget if FindType::of(entry)? == FindType::Link => {
                self.layout.text(entry.target?, out)
            }
            PrintField::LinkTarget => self.layout.text(b"", out),
            PrintField::ModeText => self.layout.text(&mode_text(entry)?, out),
            PrintField::Kind => self.layout.text(&[FindType::of(entry)?.letter()], out),
            _ => return None,
        }
        Some(())
    }
}

impl TimeColumn {
    /// The time of an entry.
    pub(super) fn of(self, entry: &Entry) -> Option<i64> {
        match self {
            TimeColumn::Modified => entry.mtime,
            TimeColumn::Accessed => entry.atime,
            TimeColumn::Changed => entry.ctime,
            TimeColumn::Born => entry.btime,
        }
    }
}

/// A name, or the number where nobody has it.
fn named(name: Option<&[u8]>, id: Option<u32>) -> Option<Vec<u8>> {
    name.map(<[u8]>::to_vec).or_else(|| Some(id?.to_string().into_bytes()))
}

/// The letter of `%Y`.
fn target_letter<F: FindFacts + ?Sized>(entry: &Entry, facts: &F) -> Option<u8> {
    match FindType::of(entry)? {
        FindType::Link => match facts.target(entry) {
            FoundTarget::Entry(kind) => Some(kind.letter()),
            FoundTarget::Missing => Some(b'N'),
            FoundTarget::Loop => Some(b'L'),
            FoundTarget::Unknown => None,
        },
        kind => Some(kind.letter()),
    }
}

/// The part of the size that takes space.
#[expect(clippy::cast_precision_loss, reason = "find divides in floating point, too")]
fn sparseness(size: u64, blocks: u64) -> f64 {
    match (size, blocks) {
        (0, 0) => 1.0,
        (0, _) => f64::INFINITY,
        (size, blocks) => 512.0 * blocks as f64 / size as f64,
    }
}

/// The mode as `ls -l` shows it.
pub fn mode_text(entry: &Entry) -> Option<[u8; 10]> {
    let mode = entry.mode?;
    let kind = match FindType::of(entry) {
        Some(FindType::Regular) => b'-',
        Some(kind) => kind.letter(),
        None => b'?',
    };
    let bit = |bit: u32, letter: u8| if mode & bit != 0 { letter } else { b'-' };
    let execution = |execute: u32, special: u32, letter: u8| match (mode & execute != 0, mode & special != 0)
    {
        (true, true) => letter,
        (false, true) => letter.to_ascii_uppercase(),
        (true, false) => b'x',
        (false, false) => b'-',
    };
    Some([
        kind,
        bit(0o400, b'r'),
        bit(0o200, b'w'),
        execution(0o100, 0o4000, b's'),
        bit(0o040, b'r'),
        bit(0o020, b'w'),
        execution(0o010, 0o2000, b's'),
        bit(0o004, b'r'),
        bit(0o002, b'w'),
        execution(0o001, 0o1000, b't'),
    ])
}
