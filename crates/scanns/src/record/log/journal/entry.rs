//! The values of an entry of a journal, from its scalars.

use crate::record::deviations::Deviations;
use crate::record::json::string;
use crate::record::log::date::DateWriter;
use crate::record::log::line::note_encoding;
use crate::record::log::priority::severity;
use crate::record::made_record::MadeRecord;
use crate::record::raw::{RawScalar, ScalarKind};
use crate::schema::{EpochUnit, parse_epoch};

const DATE: u32 = 0;
const HOST: u32 = 1;
const APP: u32 = 2;
const UNIT: u32 = 3;
const PID: u32 = 4;
const UID: u32 = 5;
const SEVERITY: u32 = 6;
pub(super) const MESSAGE: u32 = 7;
const CURSOR: u32 = 8;
const BOOT: u32 = 9;

/// A member of which an entry takes the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JournalMember {
    /// The number of the name of its values.
    name: u32,
    /// Whether it is only used if the other member for this name has no values.
    is_spare: bool,
}

impl JournalMember {
    /// The member with a name of the journal.
    pub fn of(source: &str) -> Option<Self> {
        let (name, is_spare) = match source {
            "__REALTIME_TIMESTAMP" => (DATE, false),
            "_SOURCE_REALTIME_TIMESTAMP" => (DATE, true),
            "_HOSTNAME" => (HOST, false),
            "SYSLOG_IDENTIFIER" => (APP, false),
            "_COMM" => (APP, true),
            "_SYSTEMD_UNIT" => (UNIT, false),
            "_PID" => (PID, false),
            "_UID" => (UID, false),
            "PRIORITY" => (SEVERITY, false),
            "MESSAGE" => (MESSAGE, false),
            "__CURSOR" => (CURSOR, false),
            "_BOOT_ID" => (BOOT, false),
            _ => return None,
        };
        Some(JournalMember { name, is_spare })
    }
}

/// Makes the values of one entry after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct JournalValues {
    /// The names that have a value, as bits.
    found: u32,
    /// Whether a member of a journal was there.
    is_entry: bool,
    /// The member whose bytes are in `run`.
    running: Option<JournalMember>,
    /// The bytes of the array of numbers that is being read.
    run: Vec<u8>,
    /// The first values of spare members, by the number of their names: dates and programs.
    spare: [Vec<u8>; 3],
    /// A string without its escapes.
    text: Vec<u8>,
    dates: DateWriter,
}

impl JournalValues {
    /// Starts an entry.
    pub fn start(&mut self) {
        (self.found, self.is_entry, self.running) = (0, false, None);
        self.run.clear();
        self.spare.iter_mut().for_each(Vec::clear);
    }

    /// Takes the next scalar of an entry.
    pub fn take(
        &mut self,
        member: JournalMember,
        raw: RawScalar,
        record: &[u8],
        into: &mut MadeRecord,
        deviations: &mut Deviations,
    ) {
        self.is_entry = true;
        let bytes = raw.bytes(record);
        let element = match raw.kind {
            ScalarKind::Whole if is_in_array(record, raw) => byte_of(bytes),
            _ => None,
        };
        if element.is_none() || self.running != Some(member) {
            self.end_run(into, deviations);
        }
        match raw.kind {
            _ if element.is_some() => {
                self.running = Some(member);
                self.run.extend(element);
            }
            ScalarKind::Null => deviations.add("value that journalctl left out: its option --all writes it"),
            ScalarKind::Escaped => {
                let mut text = std::mem::take(&mut self.text);
                string::unescape(bytes, &mut text);
                self.put(member, &text, into, deviations);
                self.text = text;
            }
            _ => self.put(member, bytes, into, deviations),
        }
    }

    /// Ends an entry. Returns false if it had no member of a journal.
    pub fn finish(&mut self, into: &mut MadeRecord, deviations: &mut Deviations) -> bool {
        self.end_run(into, deviations);
        for name in [DATE, APP] {
            let mut value = self.spare.get_mut(name as usize).map(std::mem::take).unwrap_or_default();
            if self.found & 1 << name == 0 {
                self.put(JournalMember { name, is_spare: false }, &value, into, deviations);
            }
            value.clear();
            self.spare
                .get_mut(name as usize)
                .into_iter()
                .for_each(|spare| *spare = std::mem::take(&mut value));
        }
        if self.is_entry && self.found & 1 << DATE == 0 {
            deviations.add("entry without a date");
        }
        self.is_entry
    }

    /// Adds the value of an array of bytes.
    fn end_run(&mut self, into: &mut MadeRecord, deviations: &mut Deviations) {
        let Some(member) = self.running.take() else { return };
        let mut run = std::mem::take(&mut self.run);
        note_encoding(&run, deviations);
        self.put(member, &run, into, deviations);
        run.clear();
        self.run = run;
    }

    fn put(
        &mut self,
        member: JournalMember,
        value: &[u8],
        into: &mut MadeRecord,
        deviations: &mut Deviations,
    ) {
        if value.is_empty() {
            return;
        }
        if member.is_spare {
            let spare = self.spare.get_mut(member.name as usize);
            return spare.filter(|spare| spare.is_empty()).into_iter().for_each(|spare| spare.extend(value));
        }
        self.found |= 1 << member.name;
        match member.name {
            DATE => match parse_epoch(value, EpochUnit::Microseconds) {
                Some(nanoseconds) => return into.make(DATE, |bytes| self.dates.push(nanoseconds, bytes)),
                None => deviations.add("date that cannot be read"),
            },
            SEVERITY => match severity_of(value) {
                Some(name) => return into.put(SEVERITY, name.as_bytes()),
                None => deviations.add("priority that is not 0 to 7"),
            },
            _ => {}
        }
        into.put(member.name, value);
    }
}

/// True for a scalar that is an element of an array, and not the value of a member itself.
fn is_in_array(record: &[u8], raw: RawScalar) -> bool {
    let before = record.get(..raw.start as usize).unwrap_or_default().trim_ascii_end();
    before.last() != Some(&b':')
}

/// The byte that a number stands for.
fn byte_of(number: &[u8]) -> Option<u8> {
    let digits = number.iter().map(|digit| char::from(*digit).to_digit(10));
    let sum = digits.take(4).try_fold(0, |sum, digit| Some(sum * 10 + digit?))?;
    u8::try_from(sum).ok().filter(|_| number.len() <= 3)
}

fn severity_of(number: &[u8]) -> Option<&'static str> {
    let &[digit @ b'0'..=b'7'] = number else { return None };
    severity(usize::from(digit - b'0'))
}
