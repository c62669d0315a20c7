//! A line of an access log as its parts.
//!
//! The date is found first, by its brackets: names of users may contain blanks, and so may all that comes in
//! front of it.

use super::quoted::split_quoted;
use crate::record::log::date::LogDate;
use crate::record::log::line::{split_word, unless_dash};
use memchr::{memchr, memchr_iter};

/// The most bytes of a date.
const MOST_DATE: usize = 48;

/// The parts of a line; those that are missing are empty.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::record::log) struct AccessLine<'r> {
    /// Without its port.
    pub vhost: &'r [u8],
    pub host: &'r [u8],
    pub user: &'r [u8],
    /// As it is written.
    pub date_text: &'r [u8],
    /// None if it cannot be read.
    pub date: Option<LogDate>,
    /// With escapes.
    pub request: &'r [u8],
    pub status: &'r [u8],
    pub bytes: &'r [u8],
    /// With escapes.
    pub referer: &'r [u8],
    /// With escapes.
    pub agent: &'r [u8],
    /// Whether a part up to the number of bytes is missing or malformed, or a quote is not closed.
    pub is_damaged: bool,
}

impl<'r> AccessLine<'r> {
    /// The parts of a line; None if it is not of an access log.
    pub fn parse(line: &'r [u8]) -> Option<Self> {
        let (mut parts, rest) = Self::dated(line)?;
        parts.put_result(rest);
        // A date that can be read and a quote behind it are enough. Otherwise all parts must be there.
        (parts.date.is_some() || !parts.is_damaged).then_some(parts)
    }

    /// The parts up to the date, and the text behind the quote that follows the date.
    fn dated(line: &'r [u8]) -> Option<(Self, &'r [u8])> {
        let mut unreadable = None;
        for at in memchr_iter(b'[', line) {
            let (names, date) = line.split_at_checked(at)?;
            let Some(names) = names.strip_suffix(b" ") else { continue };
            let date = date.get(1..)?;
            let Some(end) = memchr(b']', date.get(..MOST_DATE).unwrap_or(date)) else { continue };
            let (date_text, rest) = date.split_at_checked(end)?;
            let Some(rest) = rest.strip_prefix(b"] \"") else { continue };
            let date = LogDate::common(date_text).or_else(|| LogDate::rfc3339(date_text));
            if date.is_some() {
                return Some((AccessLine { date_text, date, ..Self::named(names) }, rest));
            }
            unreadable = unreadable.or(Some((names, date_text, rest)));
        }
        let (names, date_text, rest) = unreadable?;
        Some((AccessLine { date_text, ..Self::named(names) }, rest))
    }

    /// The names in front of the date: `[ vhost ] host ident user`.
    fn named(names: &'r [u8]) -> Self {
        let (first, behind_first) = split_word(names);
        let (second, behind_second) = split_word(behind_first);
        let (third, behind_third) = split_word(behind_second);
        // Nearly every ident is "-", and no host is.
        let is_vhost =
            !behind_third.is_empty() && second != b"-" && (third == b"-" || without_port(first) != first);
        let (vhost, host, user) = match is_vhost {
            true => (without_port(first), second, behind_third),
            false => (&b""[..], first, behind_second),
        };
        let user = if user == br#""""# { b"" } else { unless_dash(user) };
        AccessLine { vhost: unless_dash(vhost), host: unless_dash(host), user, ..Self::default() }
    }

    /// Adds the parts from the request on; `text` begins behind its opening quote.
    fn put_result(&mut self, text: &'r [u8]) {
        let Some((request, rest)) = split_quoted(text, is_before_status) else {
            self.request = text;
            self.is_damaged = true;
            return;
        };
        self.request = unless_dash(request);
        let (status, rest) = split_word(rest.get(1..).unwrap_or_default());
        let (bytes, rest) = split_word(rest);
        self.is_damaged = !(is_status(status) && is_number(bytes));
        self.status = if is_status(status) { unless_dash(status) } else { b"" };
        self.bytes = if is_number(bytes) { unless_dash(bytes) } else { b"" };
        let mut rest = rest;
        self.referer = self.next_quoted(&mut rest);
        self.agent = self.next_quoted(&mut rest);
    }

    /// Takes the value in quotes that `rest` begins with, if there is one.
    fn next_quoted(&mut self, rest: &mut &'r [u8]) -> &'r [u8] {
        let Some(text) = rest.strip_prefix(b"\"") else { return b"" };
        let Some((value, behind)) = split_quoted(text, is_before_field) else {
            self.is_damaged = true;
            *rest = b"";
            return text;
        };
        *rest = behind.get(1..).unwrap_or_default();
        unless_dash(value)
    }
}

/// A name without a port behind it. An address of IPv6 with a port is in brackets.
fn without_port(name: &[u8]) -> &[u8] {
    let Some(colon) = memchr::memrchr(b':', name) else { return name };
    let (host, port) = name.split_at_checked(colon).unwrap_or((name, b""));
    let is_port = port.len() > 1 && port.iter().skip(1).all(u8::is_ascii_digit);
    let is_host = !host.is_empty() && (!host.contains(&b':') || host.ends_with(b"]"));
    if is_port && is_host { host } else { name }
}

fn is_before_status(rest: &[u8]) -> bool {
    rest.is_empty() || matches!(rest, [b' ', b'0'..=b'9' | b'-', ..])
}

fn is_before_field(rest: &[u8]) -> bool {
    matches!(rest, [] | [b' ', ..])
}

fn is_status(word: &[u8]) -> bool {
    matches!(word, b"-" | [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9'])
}

fn is_number(word: &[u8]) -> bool {
    word == b"-" || (!word.is_empty() && word.iter().all(u8::is_ascii_digit))
}
