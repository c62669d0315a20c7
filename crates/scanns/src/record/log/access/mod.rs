//! Access logs of web servers: the common and the combined log format of Apache and nginx.
//!
//! ```text
//! line = [ vhost [ ":" port ] " " ] host " " ident " " user " [" date "] " quoted(request)
//!        " " status " " bytes [ " " quoted(referer) [ " " quoted(agent) ] ] [ " " anything ]
//! date = DD "/" Mmm "/" YYYY ":" HH ":" MM ":" SS " " zone | RFC 3339
//! ```
//! `-` stands for a missing part. "date" is in UTC as in RFC 3339. "method", "path" and "protocol" are the
//! parts of the request line. Values are without the escapes of the server; "text" is the line as it is, with
//! what follows the parts above. A line that has not even a date and a request has only "text". Source: the
//! documentation of mod_log_config and of ngx_http_log_module.
//!
//! Cost: about 1.5 ns a byte in the combined format, with all values; the largest part is the check of every
//! value as UTF-8 (example `log_speed`). Read [`AccessReader::read`] first, then `line.rs`.

mod line;
#[cfg(test)]
mod oracle;
mod quoted;
mod request;
#[cfg(test)]
mod tests;

pub(super) use line::AccessLine;

use super::date::DateWriter;
use super::line::{REPLACED, line_of};
use crate::record::deviations::Deviations;
use crate::record::error::RecordError;
use crate::record::made_record::MadeRecord;
use memchr::memchr;
use quoted::push_unescaped;
use request::RequestLine;

const VHOST: u32 = 0;
const HOST: u32 = 1;
const USER: u32 = 2;
const DATE: u32 = 3;
const METHOD: u32 = 4;
const PATH: u32 = 5;
const PROTOCOL: u32 = 6;
const STATUS: u32 = 7;
const BYTES: u32 = 8;
const REFERER: u32 = 9;
const AGENT: u32 = 10;
const TEXT: u32 = 11;

/// Reads the lines of an access log.
#[derive(Clone, Debug, Default)]
pub struct AccessReader {
    dates: DateWriter,
    deviations: Deviations,
}

impl AccessReader {
    /// The names of the values.
    pub const NAMES: [&'static str; 12] = [
        "vhost", "host", "user", "date", "method", "path", "protocol", "status", "bytes", "referer", "agent",
        "text",
    ];

    /// Reads a record. Returns false if it is blank.
    ///
    /// # Errors
    /// None: a line that is not of the format is a document with a deviation.
    pub fn read(&mut self, record: &[u8], into: &mut MadeRecord) -> Result<bool, RecordError> {
        into.clear();
        self.deviations.clear();
        let Some(line) = line_of(record, &mut self.deviations) else {
            return Ok(false);
        };
        match AccessLine::parse(line) {
            Some(parts) => self.put_parts(&parts, into),
            None => self.deviations.add("line that is not of an access log: only its text is read"),
        }
        let start = into.bytes().len();
        into.put(TEXT, line);
        if into.bytes().get(start..) != Some(line) {
            self.deviations.add(REPLACED);
        }
        Ok(true)
    }

    /// The deviations of the last record.
    pub fn deviations(&self) -> &[&'static str] {
        self.deviations.kinds()
    }

    fn put_parts(&mut self, parts: &AccessLine<'_>, into: &mut MadeRecord) {
        into.put(VHOST, parts.vhost);
        into.put(HOST, parts.host);
        put_escaped(USER, parts.user, into);
        self.put_date(parts, into);
        match RequestLine::split(parts.request) {
            Some(request) => {
                into.put(METHOD, request.method);
                put_escaped(PATH, request.path, into);
                into.put(PROTOCOL, request.protocol);
            }
            None if parts.request.is_empty() => {}
            None => self.deviations.add("request without a method and a path"),
        }
        into.put(STATUS, parts.status);
        into.put(BYTES, parts.bytes);
        put_escaped(REFERER, parts.referer, into);
        put_escaped(AGENT, parts.agent, into);
        if parts.is_damaged {
            self.deviations.add("line that is cut or has a malformed status or number of bytes");
        }
    }

    fn put_date(&mut self, parts: &AccessLine<'_>, into: &mut MadeRecord) {
        let Some(date) = parts.date else {
            self.deviations.add("date that cannot be read");
            return into.put(DATE, parts.date_text);
        };
        if !date.has_zone {
            self.deviations.add("date without a zone: read as UTC");
        }
        into.make(DATE, |bytes| self.dates.push(date.nanoseconds, bytes));
    }
}

/// Adds a value that may have escapes.
fn put_escaped(name: u32, value: &[u8], into: &mut MadeRecord) {
    match memchr(b'\\', value) {
        None => into.put(name, value),
        Some(_) => into.make(name, |bytes| push_unescaped(value, bytes)),
    }
}
