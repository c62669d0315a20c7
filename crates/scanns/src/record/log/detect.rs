//! Finds out whether a file is a log, by its first lines.

use super::access::AccessLine;
use super::date::LatestTime;
use super::syslog::SyslogLine;
use crate::record::raw::BYTE_ORDER_MARK;
use memchr::{memchr, memmem};

/// The number of first bytes and of first lines that tell the kind of a log.
const DETECTED: usize = 4 << 10;
const MOST_LINES: usize = 10;

/// The number of lines after which a host that stays the same is as certain as a process id.
const SURE_LINES: usize = 3;

/// The member that every entry of a journal has.
const JOURNAL_MEMBER: &[u8] = b"\"__REALTIME_TIMESTAMP\"";

/// Words that stand in other logs where a host or a program stands in those of syslog.
const LEVELS: [&str; 16] = [
    "trace",
    "debug",
    "info",
    "information",
    "notice",
    "warn",
    "warning",
    "error",
    "err",
    "severe",
    "critical",
    "crit",
    "fatal",
    "panic",
    "stdout",
    "stderr",
];

/// A kind of log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// Access logs of web servers.
    Access,
    /// System logs as text.
    Syslog,
    /// Entries of a journal in JSON.
    Journal,
}

impl LogKind {
    /// The kind of the log with these first bytes, after decompression; None if it is not certain.
    ///
    /// The last line may be cut, and does not count. Nearly all others must be of one kind.
    pub fn detect(head: &[u8]) -> Option<Self> {
        let head = head.get(..DETECTED).unwrap_or(head);
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        if is_journal(head) {
            return Some(LogKind::Journal);
        }
        let lines = || complete_lines(head).take(MOST_LINES);
        if SyslogSigns::of(lines()).are_certain() {
            return Some(LogKind::Syslog);
        }
        let access = lines().filter(|line| is_access(line)).count();
        are_nearly_all(access, lines().count()).then_some(LogKind::Access)
    }
}

/// The lines with a line feed that are not blank.
fn complete_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = head.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    lines.filter(|line| !line.trim_ascii().is_empty())
}

/// True if at most one in five lines is not of a kind.
fn are_nearly_all(some: usize, lines: usize) -> bool {
    some > 0 && some * 5 >= lines * 4
}

/// True if the first lines are objects with the member that every entry of a journal has. Entries may be
/// longer than the first bytes of a file.
fn is_journal(head: &[u8]) -> bool {
    let first = memchr(b'\n', head).unwrap_or(head.len());
    let is_entry = |line: &[u8]| {
        let object = line.strip_prefix(b"\x1e").unwrap_or(line);
        let member =
            memmem::find(object, JOURNAL_MEMBER).and_then(|at| object.get(at + JOURNAL_MEMBER.len()..));
        object.starts_with(b"{") && member.is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
    };
    head.get(..first).is_some_and(is_entry) && complete_lines(head).take(MOST_LINES).all(is_entry)
}

/// True for a line of an access log with all parts of the common log format.
fn is_access(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let is_name = |name: &[u8]| name.iter().all(is_of_host);
    AccessLine::parse(line).is_some_and(|parts| {
        let are_names = is_name(parts.vhost) && !parts.host.is_empty() && is_name(parts.host);
        are_names && parts.date.is_some() && !parts.is_damaged && !parts.request.starts_with(b"\"")
    })
}

fn is_of_host(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'%' | b'[' | b']')
}

/// What the first lines of a file have of a system log.
#[derive(Clone, Copy, Debug, Default)]
struct SyslogSigns<'l> {
    lines: usize,
    /// Lines with a date, a host and a program.
    headers: usize,
    /// Those of them with a priority, with a process id, or from the kernel.
    certain: usize,
    /// Those of them with a date as in RFC 3164.
    traditional: usize,
    host: &'l [u8],
    has_other_host: bool,
}

impl<'l> SyslogSigns<'l> {
    fn of(lines: impl Iterator<Item = &'l [u8]>) -> Self {
        lines.fold(SyslogSigns::default(), SyslogSigns::with)
    }

    fn with(mut self, line: &'l [u8]) -> Self {
        let is_rest = self.headers > 0 && matches!(line, [b' ' | b'\t', ..]);
        if is_rest || line.starts_with(b"-- ") {
            // The rest of a message, or what `journalctl` says about boots.
            return self;
        }
        self.lines += 1;
        let parts = SyslogLine::parse(line, &LatestTime::after(0));
        let is_dated = parts.date.map_or(parts.has_header, |date| date.nanoseconds.is_some());
        if !is_dated || !is_host(parts.host) || !is_program(parts.app) {
            return self;
        }
        if self.headers > 0 && parts.host != self.host {
            self.has_other_host = true;
        }
        self.host = parts.host;
        self.headers += 1;
        let is_number = !parts.pid.is_empty() && parts.pid.iter().all(u8::is_ascii_digit);
        self.certain += usize::from(parts.priority.is_some() || is_number || parts.app == b"kernel");
        self.traditional += usize::from(line.first().is_some_and(u8::is_ascii_uppercase));
        self
    }

    fn are_certain(&self) -> bool {
        let is_one_host = self.traditional >= SURE_LINES && !self.has_other_host;
        are_nearly_all(self.headers, self.lines) && (self.certain > 0 || is_one_host)
    }
}

fn is_host(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(is_of_host) && !is_level(word)
}

/// True for a name of a program, and not for a level or a path of modules.
fn is_program(word: &[u8]) -> bool {
    !word.is_empty() && !is_level(word) && memmem::find(word, b"::").is_none()
}

fn is_level(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"[").unwrap_or(word);
    let word = word.strip_suffix(b"]").unwrap_or(word);
    LEVELS.iter().any(|level| level.as_bytes().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;
