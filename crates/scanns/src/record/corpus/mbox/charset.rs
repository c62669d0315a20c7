//! Text of mail as UTF-8. Three charsets are built in; a hook of the caller may know others.

use crate::record::corpus::latin1::{push_char, push_latin1};
use crate::record::deviations::Deviations;
use std::fmt;

/// Appends bytes in the charset with a label as UTF-8. Returns false if it does not know the charset.
pub type CharsetHook = fn(&[u8], &[u8], &mut Vec<u8>) -> bool;

/// Decodes text, and notes what deviates.
#[derive(Clone)]
pub(super) struct MailText {
    hook: CharsetHook,
    /// What deviated in this message.
    pub(super) deviations: Deviations,
}

impl fmt::Debug for MailText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MailText").field("deviations", &self.deviations).finish_non_exhaustive()
    }
}

impl Default for MailText {
    fn default() -> Self {
        Self::new(|_, _, _| false)
    }
}

impl MailText {
    /// Decodes with a hook for further charsets.
    pub(super) fn new(hook: CharsetHook) -> Self {
        Self { hook, deviations: Deviations::default() }
    }

    /// Appends text in a charset; an empty label is US-ASCII.
    pub(super) fn push(&mut self, label: &[u8], text: &[u8], into: &mut Vec<u8>) {
        match label.trim_ascii().to_ascii_lowercase().as_slice() {
            b"utf-8" | b"utf8" => self.push_utf8(text, into),
            b"iso-8859-1" | b"latin1" | b"iso8859-1" => push_latin1(text, into),
            b"" | b"us-ascii" | b"ascii" => self.push_guessed(text, "8-bit text without a charset", into),
            label => {
                let start = into.len();
                if !(self.hook)(label, text, into) {
                    into.truncate(start);
                    self.deviations.add("unknown charset");
                    self.push_guessed(text, "unknown charset", into);
                }
            }
        }
    }

    fn push_utf8(&mut self, text: &[u8], into: &mut Vec<u8>) {
        for chunk in text.utf8_chunks() {
            into.extend_from_slice(chunk.valid().as_bytes());
            if !chunk.invalid().is_empty() {
                self.deviations.add("invalid UTF-8");
                push_char(char::REPLACEMENT_CHARACTER, into);
            }
        }
    }

    /// Text that says nothing of use about its charset is UTF-8 if it can be, or else Latin-1.
    fn push_guessed(&mut self, text: &[u8], kind: &'static str, into: &mut Vec<u8>) {
        if !text.is_ascii() {
            self.deviations.add(kind);
        }
        if std::str::from_utf8(text).is_ok() {
            into.extend_from_slice(text);
        } else {
            push_latin1(text, into);
        }
    }
}
