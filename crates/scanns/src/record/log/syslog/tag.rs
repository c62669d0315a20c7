//! Who wrote a line of syslog: `host app[pid]: message`, in which every part but the message may be missing.

use crate::record::log::line::{split_word, unless_dash};

/// The most bytes of the name of a program, and of a process id.
const MOST_APP: usize = 256;
const MOST_PID: usize = 32;

/// The program that wrote a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SyslogTag<'r> {
    pub app: &'r [u8],
    pub pid: &'r [u8],
    pub message: &'r [u8],
}

impl<'r> SyslogTag<'r> {
    /// Splits the text behind a date into a host and the rest. Messages that a program sends itself have no
    /// host.
    pub fn with_host(text: &'r [u8]) -> (&'r [u8], Self) {
        let (host, text) = match Self::split(text) {
            Some(_) => (&b""[..], text),
            None => split_word(text),
        };
        (unless_dash(host), Self::split(text).unwrap_or(SyslogTag { message: text, ..SyslogTag::default() }))
    }

    /// Splits off the tag that a text begins with: a word with a colon behind it, or with a number in square
    /// brackets.
    fn split(text: &'r [u8]) -> Option<Self> {
        for (at, byte) in text.iter().enumerate().take(MOST_APP) {
            match byte {
                b':' if at > 0 && matches!(text.get(at + 1), None | Some(b' ' | b'\t' | b'[')) => {
                    let message = text.get(at + 1..)?;
                    return Some(SyslogTag {
                        app: text.get(..at)?,
                        pid: b"",
                        message: without_blank(message),
                    });
                }
                b'[' if at > 0 => {
                    if let Some((pid, message)) = split_pid(text.get(at + 1..)?) {
                        return Some(SyslogTag {
                            app: text.get(..at)?,
                            pid,
                            message: without_blank(message),
                        });
                    }
                }
                b' ' | b'\t' | b'"' | b'\'' | b'=' | b'{' | b'}' | b'<' | b'>' | b',' | b';' => return None,
                _ => {}
            }
        }
        None
    }
}

/// Splits a process id and a closing bracket off. If no colon follows, it must be a number.
fn split_pid(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().take(MOST_PID).position(|byte| matches!(byte, b']' | b' ' | b'['))?;
    let (pid, rest) = text.split_at_checked(end).filter(|_| end > 0)?;
    match rest {
        [b']', b':', rest @ ..] => Some((pid, rest)),
        [b']'] | [b']', b' ', ..] if pid.iter().all(u8::is_ascii_digit) => Some((pid, rest.get(1..)?)),
        _ => None,
    }
}

fn without_blank(message: &[u8]) -> &[u8] {
    message.strip_prefix(b" ").unwrap_or(message)
}
