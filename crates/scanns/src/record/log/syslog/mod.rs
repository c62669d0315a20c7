//! System logs: what syslog writes to files, and what `journalctl` prints.
//!
//! ```text
//! line   = [ "<" priority ">" ] ( header5424 | header ) message
//! header = date " " [ host " " ] [ app [ "[" pid "]" ] ":" " " ]                  RFC 3164
//! header5424 = "1 " date " " host " " app " " pid " " msgid " " data " "          RFC 5424
//! data   = "-" | ( "[" id ( " " name "=" quoted(value) )* "]" )+
//! ```
//! The forms of dates are in `date.rs`. "date" is in UTC as in RFC 3339, "facility" and "severity" are names,
//! "data" is structured data as it is written, and "message" is the text behind the header. A date as in
//! RFC 3164 has neither a year nor a zone: the year is the latest one that makes it at most a day later than
//! the time the reader was made with, and the zone is UTC. A line without a date is only a "message", after
//! its priority. Indented lines behind an entry belong to its "message". Read [`SyslogReader::read`] first,
//! then `line.rs`.

mod date;
mod line;
#[cfg(test)]
mod oracle;
mod tag;
#[cfg(test)]
mod tests;

pub(super) use line::SyslogLine;

use super::date::{DateWriter, LatestTime};
use super::line::{line_of, note_encoding};
use crate::record::deviations::Deviations;
use crate::record::error::RecordError;
use crate::record::made_record::MadeRecord;

const DATE: u32 = 0;
const HOST: u32 = 1;
const APP: u32 = 2;
const PID: u32 = 3;
const FACILITY: u32 = 4;
const SEVERITY: u32 = 5;
const MSGID: u32 = 6;
const DATA: u32 = 7;
const MESSAGE: u32 = 8;

/// The remark on an entry of several lines.
const INDENTED: &str = "indented lines behind an entry: part of its message";

/// Reads the lines of a system log.
#[derive(Clone, Debug)]
pub struct SyslogReader {
    latest: LatestTime,
    dates: DateWriter,
    deviations: Deviations,
}

impl SyslogReader {
    /// The names of the values.
    pub const NAMES: [&'static str; 9] =
        ["date", "host", "app", "pid", "facility", "severity", "msgid", "data", "message"];

    /// A reader of lines that were written before `now`, in seconds since 1970, or up to a day later.
    pub fn new(now: i64) -> Self {
        SyslogReader {
            latest: LatestTime::after(now),
            dates: DateWriter::default(),
            deviations: Deviations::default(),
        }
    }

    /// Reads a record. Returns false if it is blank.
    ///
    /// # Errors
    /// None: a line without a header is a document with a deviation.
    pub fn read(&mut self, record: &[u8], into: &mut MadeRecord) -> Result<bool, RecordError> {
        into.clear();
        self.deviations.clear();
        let Some(line) = line_of(record, &mut self.deviations) else {
            return Ok(false);
        };
        note_encoding(line, &mut self.deviations);
        let first = memchr::memchr(b'\n', line).and_then(|end| line.get(..end));
        if first.is_some() {
            self.deviations.add(INDENTED);
        }
        let first = first.map_or(line, |first| first.strip_suffix(b"\r").unwrap_or(first));
        let parts = SyslogLine::parse(first, &self.latest);
        // The message is the rest of the first line, and the lines behind it.
        let start = first.len().saturating_sub(parts.message.len());
        let message = line.get(start..).unwrap_or(parts.message);
        let message = if parts.message.is_empty() { message.trim_ascii_start() } else { message };
        self.put_date(&parts, into);
        into.put(HOST, parts.host);
        into.put(APP, parts.app);
        into.put(PID, parts.pid);
        if let Some(priority) = parts.priority {
            into.put(FACILITY, priority.facility.as_bytes());
            into.put(SEVERITY, priority.severity.as_bytes());
        }
        into.put(MSGID, parts.msgid);
        into.put(DATA, parts.data);
        into.put(MESSAGE, message);
        parts.remark.into_iter().for_each(|remark| self.deviations.add(remark));
        Ok(true)
    }

    /// The deviations of the last record.
    pub fn deviations(&self) -> &[&'static str] {
        self.deviations.kinds()
    }

    fn put_date(&mut self, parts: &SyslogLine<'_>, into: &mut MadeRecord) {
        let Some(date) = parts.date else {
            let what = match parts.has_header {
                true => "header without a date",
                false => "line without a date: all of it is the message",
            };
            return self.deviations.add(what);
        };
        date.remark.into_iter().for_each(|remark| self.deviations.add(remark));
        match date.nanoseconds {
            Some(nanoseconds) => into.make(DATE, |bytes| self.dates.push(nanoseconds, bytes)),
            None => {
                self.deviations.add("date that cannot be read");
                into.put(DATE, date.text);
            }
        }
    }
}
