//! A line of syslog as its parts.

use super::date::LineDate;
use super::tag::SyslogTag;
use crate::record::log::date::LatestTime;
use crate::record::log::line::{split_word, unless_dash};
use crate::record::log::priority::Priority;
use crate::record::raw::BYTE_ORDER_MARK;

/// The parts of a line; those that are missing are empty.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::record::log) struct SyslogLine<'r> {
    pub priority: Option<Priority>,
    /// Whether the line has a header, with a date or with `-` for a date.
    pub has_header: bool,
    pub date: Option<LineDate<'r>>,
    pub host: &'r [u8],
    pub app: &'r [u8],
    pub pid: &'r [u8],
    pub msgid: &'r [u8],
    /// Structured data, as it is written.
    pub data: &'r [u8],
    pub message: &'r [u8],
    /// What is unusual about the header.
    pub remark: Option<&'static str>,
}

impl<'r> SyslogLine<'r> {
    /// The parts of a line. If it has no header, all that follows the priority is the message.
    pub fn parse(line: &'r [u8], latest: &LatestTime) -> Self {
        let split = Priority::split(line);
        let priority = split.map(|(priority, _)| priority);
        let text = split.map_or(line, |(_, rest)| rest);
        let header = split.and_then(|_| Self::rfc5424(text)).or_else(|| Self::dated(text, latest));
        SyslogLine { priority, ..header.unwrap_or(SyslogLine { message: text, ..Self::default() }) }
    }

    /// A line with a date, a host and a tag, as in RFC 3164.
    fn dated(text: &'r [u8], latest: &LatestTime) -> Option<Self> {
        let (date, rest) = LineDate::split(text, latest)?;
        let (host, tag) = SyslogTag::with_host(rest);
        let SyslogTag { app, pid, message } = tag;
        Some(SyslogLine { has_header: true, date: Some(date), host, app, pid, message, ..Self::default() })
    }

    /// A line as in RFC 5424, from its version on.
    fn rfc5424(text: &'r [u8]) -> Option<Self> {
        let (date, rest) = split_word(text.strip_prefix(b"1 ")?);
        let date = if date == b"-" { None } else { Some(LineDate::rfc3339(date)?) };
        let (host, rest) = split_word(rest);
        let (app, rest) = split_word(rest);
        let (pid, rest) = split_word(rest);
        let (msgid, rest) = split_word(rest);
        let [host, app, pid, msgid] = [host, app, pid, msgid].map(unless_dash);
        let (data, remark) = match split_word(rest) {
            (b"-", _) => (&b"-"[..], None),
            _ if rest.is_empty() => (&b""[..], Some(NO_DATA)),
            _ if rest.starts_with(b"[") => match data_len(rest) {
                Some(len) => (rest.get(..len)?, None),
                None => (&b""[..], Some("structured data that is not closed: part of the message")),
            },
            _ => (&b""[..], Some(NO_DATA)),
        };
        let message = rest.get(data.len()..)?;
        let message = message.strip_prefix(b" ").filter(|_| !data.is_empty()).unwrap_or(message);
        let message = message.strip_prefix(BYTE_ORDER_MARK).unwrap_or(message);
        let data = unless_dash(data);
        Some(SyslogLine {
            has_header: true,
            date,
            host,
            app,
            pid,
            msgid,
            data,
            message,
            remark,
            priority: None,
        })
    }
}

const NO_DATA: &str = "header of RFC 5424 without structured data";

/// The length of the structured data that a text begins with: `[id name="value"]`, once or several times. In
/// a value, a backslash escapes the next character. None if it is not closed.
fn data_len(text: &[u8]) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b']' if !is_quoted => match text.get(at + 1) {
                None | Some(b' ') => return Some(at + 1),
                Some(b'[') => {}
                Some(_) => return None,
            },
            _ => {}
        }
    }
    None
}
