//! How results leave the program: exit codes, errors, and keys and terms that may hold any bytes.
//!
//! Results go to standard output and nothing else does; notes, progress and errors go to standard error.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use scanns::Error;
use serde_json::{Map, Value};

/// How a verb ended, short of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything that was asked for was done.
    Done,
    /// Done, but some inputs failed and were listed.
    WithFailures,
    /// The user asked to stop.
    Stopped,
}

/// The exit code for what a verb came to, after its error, if any, is on standard error.
///
/// A reader that went away, as `head` does, is no error.
pub fn exit_code(result: Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::WithFailures) => ExitCode::from(1),
        Ok(Outcome::Stopped) => ExitCode::from(130),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            match error.downcast_ref::<Error>() {
                Some(Error::Query { query, message, at }) => note(&query_fault(query, message, *at)),
                Some(known) => note(&format!("{error:#}{}", advice(known))),
                None => note(&format!("{error:#}")),
            }
            ExitCode::from(2)
        }
    }
}

/// An error of the library, with the command that helps.
pub fn message(error: &Error) -> String {
    format!("{error}{}", advice(error))
}

/// How the command line can act on an error, to be appended to its message.
fn advice(error: &Error) -> &'static str {
    match error {
        Error::NotAnIndex { .. } => " (scanns index builds an index)",
        Error::Corrupt { .. } => " (scanns check --salvage keeps the intact segments)",
        Error::SourceChanged { .. } => {
            " (scanns index brings the index up to date, --store content keeps the text in it)"
        }
        Error::Unsupported { what, .. } if what.contains("positions of") => {
            " (scanns index --positions builds such an index)"
        }
        Error::Unsupported { what, .. } if what.contains("offsets of") => {
            " (scanns index --offsets builds such an index)"
        }
        Error::InvalidValue { what, .. } if what == "memory for reordering" => " (--memory gives more)",
        _ => "",
    }
}

/// What is wrong with a query, with a mark under the character `at`, counted from 1.
fn query_fault(query: &str, message: &str, at: usize) -> String {
    // Whatever moves the cursor would move the mark.
    let plain: String = query.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    format!("query: {message}\n  {plain}\n  {}^", " ".repeat(at.saturating_sub(1)))
}

/// Prints clap's answer to what was typed: help on standard output, or what is wrong with it.
pub fn usage(answer: &clap::Error) -> ExitCode {
    if answer.use_stderr() {
        let text = answer.render().to_string();
        note(text.strip_prefix("error: ").unwrap_or(&text).trim_end());
        return ExitCode::from(2);
    }
    // Help whose reader went away needs no second message.
    let _ = answer.print();
    ExitCode::SUCCESS
}

/// A line for the person at the terminal; standard error that is closed is not worth stopping for.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "scanns: {text}");
}

/// Only the program's own output counts: an index whose disk reports this code is an error like any other.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Standard output, buffered, that knows whether a person reads it.
#[derive(Debug)]
pub struct Output {
    out: BufWriter<StdoutLock<'static>>,
    terminal: bool,
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Self {
        let out = io::stdout().lock();
        Output { terminal: out.is_terminal(), out: BufWriter::with_capacity(64 << 10, out) }
    }

    /// True if a person reads along.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Writes bytes that may be anything: as they are to a program, escaped to a terminal, which they could
    /// otherwise control.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.terminal { self.out.write_all(escaped(bytes).as_bytes()) } else { self.out.write_all(bytes) }
    }

    /// Writes `value` as one line.
    pub fn json(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{value}")
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Text that shows every byte and controls no terminal: what is printable stays, the rest is `\xHH` or
/// `\u{…}`.
pub fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '\n' | '\r' | '\t' => text.extend(c.escape_default()),
                c if c.is_ascii_control() => text.push_str(&format!("\\x{:02x}", u32::from(c))),
                c if c.is_control() || reorders(c) => text.extend(c.escape_unicode()),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Characters that change the order or the place of others: line and paragraph separators, bidi controls.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A path for people.
pub fn path_text(path: &Path) -> String {
    escaped(path.as_os_str().as_encoded_bytes())
}

/// Puts `bytes` into `object` as the string `name`; bytes that are no UTF-8 are replaced there and given in
/// full as `name_bytes`, in hexadecimal.
pub fn put_bytes(object: &mut Map<String, Value>, name: &str, bytes: &[u8]) {
    object.insert(name.into(), String::from_utf8_lossy(bytes).into());
    if std::str::from_utf8(bytes).is_err() {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        object.insert(format!("{name}_bytes"), hex.into());
    }
}

/// A 32-bit float as the shortest number that reads back as it.
pub fn short_float(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_holds_nothing_that_controls_a_terminal() {
        assert_eq!(escaped(b"a/b c.txt"), "a/b c.txt");
        assert_eq!(escaped("grün/日本".as_bytes()), "grün/日本");
        assert_eq!(escaped(b"a\nb\\\x1b[31m\xff\xc3"), "a\\nb\\\\\\x1b[31m\\xff\\xc3");
        assert_eq!(escaped("\u{202e}txt\u{9b}".as_bytes()), "\\u{202e}txt\\u{9b}");
        for byte in 0..=255u8 {
            assert!(escaped(&[byte]).chars().all(|c| !c.is_control()), "byte {byte}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_given_in_full() {
        let mut object = Map::new();
        put_bytes(&mut object, "key", b"plain");
        put_bytes(&mut object, "term", b"\xffa");
        assert_eq!(Value::from(object).to_string(), r#"{"key":"plain","term":"�a","term_bytes":"ff61"}"#);
    }

    #[test]
    fn floats_are_short_and_read_back() {
        for number in [0.1f32, 1.0 / 3.0, 12.345_679, 1e-20, f32::MAX] {
            let text = short_float(number).to_string();
            assert!(text.len() <= 13, "{text}");
            assert_eq!(text.parse::<f32>(), Ok(number));
        }
        assert_eq!(short_float(f32::INFINITY), Value::Null);
    }
}
