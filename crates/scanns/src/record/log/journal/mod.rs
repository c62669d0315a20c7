//! The journal of systemd, as `journalctl -o json` writes it: an object of JSON a line.
//!
//! | value | member |
//! |---|---|
//! | date | `__REALTIME_TIMESTAMP`, or else `_SOURCE_REALTIME_TIMESTAMP`: microseconds since 1970 |
//! | host | `_HOSTNAME` |
//! | app | `SYSLOG_IDENTIFIER`, or else `_COMM` |
//! | unit, pid, uid | `_SYSTEMD_UNIT`, `_PID`, `_UID` |
//! | severity | `PRIORITY`, as a name |
//! | message | `MESSAGE` |
//! | cursor, boot | `__CURSOR`, `_BOOT_ID` |
//!
//! A member is a string; an array of numbers if it has bytes that are not text; an array of these if it was
//! given several times; or null if it is too long and `journalctl` was not called with `--all`. A line that
//! is not an object with one of these members is only a "message". Other members are not read. Source: the
//! manuals of journalctl and systemd.journal-fields. Read [`JournalReader::read`] first, then `entry.rs`.

mod entry;
#[cfg(test)]
mod tests;

use super::line::{line_of, note_encoding};
use crate::record::deviations::Deviations;
use crate::record::error::RecordError;
use crate::record::json::{self, paths::Paths};
use crate::record::made_record::MadeRecord;
use crate::record::raw::RawScalar;
use entry::{JournalMember, JournalValues, MESSAGE};

/// The most scalars of a record that are kept until its end. If there are more, it is parsed twice.
const MOST_WAITING: usize = 1 << 12;

/// What comes in front of each object of `-o json-seq` (RFC 7464).
const RECORD_SEPARATOR: &[u8] = b"\x1e";

/// Reads the lines of a journal.
pub struct JournalReader {
    paths: Paths,
    /// By the number of a name: the member.
    members: Vec<Option<JournalMember>>,
    waiting: Vec<RawScalar>,
    values: JournalValues,
    deviations: Deviations,
}

impl Default for JournalReader {
    fn default() -> Self {
        JournalReader {
            paths: Paths::new(),
            members: Vec::new(),
            waiting: Vec::new(),
            values: JournalValues::default(),
            deviations: Deviations::default(),
        }
    }
}

impl JournalReader {
    /// The names of the values.
    pub const NAMES: [&'static str; 10] =
        ["date", "host", "app", "unit", "pid", "uid", "severity", "message", "cursor", "boot"];

    /// Reads a record. Returns false if it is blank.
    ///
    /// # Errors
    /// A record of 4 GiB or more. A line that is not JSON is a document with a deviation.
    pub fn read(&mut self, record: &[u8], into: &mut MadeRecord) -> Result<bool, RecordError> {
        into.clear();
        self.deviations.clear();
        let Some(line) = line_of(record, &mut self.deviations) else {
            return Ok(false);
        };
        let object = line.strip_prefix(RECORD_SEPARATOR).unwrap_or(line);
        match self.read_object(object, into) {
            Ok(true) => return Ok(true),
            Ok(false) => self.deviations.add("object without members of a journal: all of it is the message"),
            Err(error @ RecordError::TooLong { .. }) => return Err(error),
            Err(_) => self.deviations.add("line that is not an object of JSON: all of it is the message"),
        }
        note_encoding(line, &mut self.deviations);
        into.put(MESSAGE, line);
        Ok(true)
    }

    /// The deviations of the last record.
    pub fn deviations(&self) -> &[&'static str] {
        self.deviations.kinds()
    }

    /// Reads an object. Returns false if it has no member of a journal.
    fn read_object(&mut self, object: &[u8], into: &mut MadeRecord) -> Result<bool, RecordError> {
        let Self { paths, members, waiting, values, deviations } = self;
        if paths.is_full() {
            paths.clear();
            members.clear();
        }
        waiting.clear();
        let mut beyond = false;
        json::parse(object, paths, &mut |raw| match waiting.len() < MOST_WAITING {
            true => waiting.push(raw),
            false => beyond = true,
        })?;
        for number in members.len()..paths.len() {
            members.push(JournalMember::of(paths.source(u32::try_from(number).unwrap_or(u32::MAX))));
        }
        values.start();
        let mut take = |raw: RawScalar| {
            if let Some(Some(member)) = members.get(raw.name as usize) {
                values.take(*member, raw, object, into, deviations);
            }
        };
        match beyond {
            false => waiting.iter().for_each(|raw| take(*raw)),
            true => json::parse(object, paths, &mut take).map(drop)?,
        }
        Ok(values.finish(into, deviations))
    }
}
