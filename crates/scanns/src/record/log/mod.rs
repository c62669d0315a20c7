//! Readers of log files: a record is a line or an entry of several lines, and a document.
//!
//! `access/` reads the access logs of web servers, `syslog/` what syslog and `journalctl` write as text, and
//! `journal/` what `journalctl -o json` writes. `detect.rs` finds out which of them a file is.
//!
//! Every line that is not blank is a document; in syslog with the indented lines behind it, as a stack trace
//! has them. If a line is not of the format, all of it is one value, and the reader reports a deviation.
//! `line.rs` finds lines and their words, `date.rs` writes dates, and `priority.rs` has the names of
//! severities. Start at `access/mod.rs`.

mod access;
mod date;
mod detect;
mod journal;
mod line;
mod priority;
#[cfg(test)]
mod stress;
mod syslog;
#[cfg(test)]
mod test_support;

pub use access::AccessReader;
pub use detect::LogKind;
pub use journal::JournalReader;
pub use line::LogEnds;
pub use syslog::SyslogReader;
